"""One writer at a time, and a name for who it is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_NAME = "ontology-runtime.lock"


class StoreLocked(Exception):
    """Another process is writing the store."""


@contextmanager
def writer_lock(folder: Path, seconds: float, name: str = LOCK_NAME) -> Iterator[int]:
    """Hold a folder's writer lock, by its name the store's, and wait at most `seconds` for it.

    The lock is the kernel's, on an open file, so a killed writer never leaves it behind; the file
    holds its process id for the message alone. A child that is given the descriptor yielded here
    holds the lock too, until it ends.
    """
    with (folder / name).open("a+", encoding="ascii") as file:
        deadline = time.monotonic() + seconds
        while not _try_lock(file.fileno()):
            if time.monotonic() >= deadline:
                file.seek(0)
                raise StoreLocked(f"process {file.read(20).strip() or '?'} is writing {folder}")
            time.sleep(0.05)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield file.fileno()


if os.name == "nt":
    import msvcrt

    _FAR_BYTE = 1 << 20  # others must be able to read the process id

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, _FAR_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
