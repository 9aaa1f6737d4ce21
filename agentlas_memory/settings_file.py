"""The writing side of the user's `settings.json`."""

from __future__ import annotations

from agentlas_memory.private_json import edit_private_json


def set_paused_everywhere(home: str, paused: bool) -> None:
    """Pause or resume memory in all projects of this user."""
    with edit_private_json(home, "settings.json") as values:
        if paused:
            values["off"] = True
        else:
            values.pop("off", None)
