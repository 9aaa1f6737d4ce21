"""Writing a file of ours whole or not at all: aside, synced, then in its place in one step."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Put `data` in the place of a file; `mode` is what the umask takes from.

    One process at a time: callers hold the folder's lock.
    """
    remove_half_file(path)
    aside = _aside(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(aside, flags, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        remove_half_file(path)
        raise


def remove_half_file(path: Path) -> None:
    """Remove what a killed process left of a new version of a file."""
    _aside(path).unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    """Return the one name that new versions are written under: so the next process finds it."""
    return path.with_name(f".{path.name}.new")
