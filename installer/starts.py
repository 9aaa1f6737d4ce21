"""How hosts start what is registered with them; `doctor` does the same on a sample project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# What the sample project is asked; no prompt of a person's is ever used.
SAMPLE_PROMPT = "why is the sample ledger settled in integer minor units?"


@dataclass(frozen=True, slots=True)
class Start:
    """How a host starts a registered command: in which shell, where, and with which event."""

    argv: tuple[str, ...]
    folder: Path
    event: bytes


def json_commands(text: str, host: str) -> list[str]:
    """Return the commands in a JSON file that run the hook for a host."""
    found = list(_commands_in(json.loads(text)))
    return [one for one in dict.fromkeys(found) if f" --host {host} " in one]


def _commands_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(command := value.get("command"), str):
            yield command
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _commands_in(one)


def event_in(command: str) -> str:
    """Return the event that a command of ours names."""
    return command.partition(" --event ")[2].split(";")[0].split()[0]
