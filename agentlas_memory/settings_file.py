"""The user's `settings.json`: its writing side, and what is wrong with what it says."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from agentlas_memory.lean import read_file
from agentlas_memory.private_json import edit_private_json, read_private_json
from agentlas_memory.redact import redact

SETTINGS_FILE = "settings.json"
_SWITCH, _TEXT, _MILLISECONDS = "true or false", "a text", "a number from 50 to 4000"
KEYS: dict[str, str | tuple[str, ...]] = {  # as docs/settings.md lists them -> what a value may be
    "delivery": ("once", "every_turn"),
    "subagents": _SWITCH,
    "worktree": ("shared", "isolated"),
    "antigravity.read_prompt": ("off", "transcript"),
    "deadline_ms": _MILLISECONDS,
    "off": _SWITCH,
    "opencode.slot": ("message", "system"),
    "update.channel": _TEXT,
}


def settings_problems(home: str) -> list[str]:
    """Return what the settings say that nothing heeds; raise BrokenFile, OSError."""
    path = Path(home, SETTINGS_FILE)
    values = read_private_json(path)
    if not values:
        return []
    lines = read_file(str(path)).decode("utf-8-sig").splitlines()
    return [f"{path}{_line_of(key, lines)}: {told}" for key, told in _problems(values)]


def _problems(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        wanted = KEYS.get(key)
        if wanted is None:
            near = get_close_matches(key, KEYS, 1)
            more = f', perhaps "{near[0]}" is meant' if near else ""
            yield key, f'"{redact(key[:80])}" is no setting{more}'
        elif not _fits(value, wanted):
            may_be = wanted if isinstance(wanted, str) else " or ".join(f'"{w}"' for w in wanted)
            yield key, f'"{key}" must be {may_be}; the default holds'


def _fits(value: object, wanted: str | tuple[str, ...]) -> bool:
    if isinstance(wanted, tuple):
        return value in wanted
    if wanted is _SWITCH:
        return isinstance(value, bool)
    if wanted is _TEXT:
        return isinstance(value, str)
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 50 <= value <= 4000


def _line_of(key: str, lines: list[str]) -> str:
    """Return `:` and the line that a key stands in, blank where it is not found."""
    found = (number for number, line in enumerate(lines, 1) if f'"{key}"' in line)
    number = next(found, 0)
    return f":{number}" if number else ""


def set_paused_everywhere(home: str, paused: bool) -> None:
    """Pause or resume memory in all projects of this user."""
    with edit_private_json(home, SETTINGS_FILE) as values:
        if paused:
            values["off"] = True
        else:
            values.pop("off", None)
