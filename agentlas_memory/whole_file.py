"""Writing a file of ours whole or not at all: aside, synced, then in its place in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple


class NewVersion(NamedTuple):
    """What is to take a file's place: its own path until then, and the file, open for writing."""

    path: Path
    file: IO[bytes]

    def sync(self) -> None:
        """Bring all of it to the disk, by whatever name it was written."""
        self.file.flush()
        os.fsync(self.file.fileno())


@contextmanager
def new_version(path: Path, mode: int = 0o666) -> Iterator[NewVersion]:
    """Yield an empty file that takes the place of `path` when the block ends well.

    `mode` is what the umask takes from. The block syncs it, before whatever is only to be done for
    a file that is whole. One process at a time: callers hold the folder's lock.
    """
    remove_half_file(path)
    aside = _aside(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(aside, flags, mode), "wb") as file:
            yield NewVersion(aside, file)
        aside.replace(path)
    except BaseException:
        remove_half_file(path)
        raise


def replace_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Put `data` in the place of a file, as `new_version` does."""
    with new_version(path, mode) as new:
        new.file.write(data)
        new.sync()


def remove_half_file(path: Path) -> None:
    """Remove what a killed process left of a new version of a file."""
    _aside(path).unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    """Return the one name that new versions are written under: so the next process finds it."""
    return path.with_name(f".{path.name}.new")
