"""What still names us below a host's home after its own command has removed us."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

NAME = b"agentlas-memory"
_LARGEST = 4 << 20
_MOST_FILES = 20_000
_NOT_OURS = ("projects", "sessions", "logs", "history.jsonl")  # what was said, not what is set


def files_that_name_us(homes: Sequence[Path]) -> list[Path]:
    """Return the files and folders that hold our name, in their path or in their text."""
    found = []
    for home in homes:
        for number, path in enumerate(_below(home)):
            if number > _MOST_FILES:
                break
            if NAME.decode() in path.name or _holds_name(path):
                found.append(path)
    return found


def _below(home: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(home):
        folders[:] = sorted(name for name in folders if name not in _NOT_OURS)
        yield from (Path(folder, name) for name in folders if NAME.decode() in name)
        yield from (Path(folder, name) for name in sorted(files) if name not in _NOT_OURS)


def _holds_name(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _LARGEST and NAME in path.read_bytes()
    except OSError:
        return False
