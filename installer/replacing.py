"""Putting a text in the place of another in one step, and nothing in the place of a third.

Between our reading of a file and our writing, another program may write it. So the new file is
swapped with the old one, and what comes out must be what was read; else it is swapped back.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path

from agentlas_memory.installer.files import digest
from agentlas_memory.installer.renaming import Way, rename

_MOST_SWAPS = 100


class Changed(Exception):
    """Somebody else wrote the file meanwhile; theirs is in place."""


def put_text(path: Path, before: str | None, after: str) -> None:
    """Put `after` in the place of `before`, None for no file; link, mode and group stay.

    Raises Changed when `before` is not what is there, and OSError; the file is then as it was.
    """
    target = Path(os.path.realpath(path))
    aside = _aside(target)
    try:
        _write_aside(aside, target, _bytes(after))
        if before is None:
            _move_in(aside, target)
        else:
            _swap_in(aside, target, _bytes(before), _bytes(after))
    finally:
        remove_leftover(path)


def remove_file(path: Path, before: str) -> None:
    """Remove a file that holds `before`, and the link that leads to it; raise Changed, OSError."""
    target = Path(os.path.realpath(path))
    aside = _aside(target)
    if target.read_bytes() != _bytes(before):
        raise Changed
    link = str(path.readlink()) if path.is_symlink() else ""
    if link:
        path.unlink()  # first: one that leads nowhere would be refused by the next run
    target.replace(aside)
    if aside.read_bytes() != _bytes(before):
        if link:
            path.symlink_to(link)
        with contextlib.suppress(Changed):  # what was written since is newer
            _move_in(aside, target)
        raise Changed
    remove_leftover(target)


def remove_leftover(path: Path) -> None:
    """Remove what a killed run left beside a file, if anything."""
    with contextlib.suppress(OSError):
        _aside(Path(os.path.realpath(path))).unlink(missing_ok=True)


def _aside(target: Path) -> Path:
    """Return the one name beside a file that we write under: so the next run finds it."""
    return target.with_name(f".agentlas-memory-{digest(target.name)[:12]}.new")


def _write_aside(aside: Path, target: Path, data: bytes) -> None:
    """Write a file that nobody can read who cannot read the one it stands for."""
    aside.unlink(missing_ok=True)
    is_new = not target.exists()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(aside, flags, 0o666 if is_new else 0o600), "wb") as file:
        if not is_new:
            _take_over(target, aside)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _take_over(target: Path, aside: Path) -> None:
    """Give a file the group, the attributes (access lists are some) and the mode of another."""
    status = target.stat()
    if os.name != "nt" and aside.stat().st_gid != status.st_gid:
        os.chown(aside, -1, status.st_gid)  # before the mode: it speaks of this group
    if sys.platform == "linux":
        for name in os.listxattr(target):
            with contextlib.suppress(OSError):  # some are the system's to set
                os.setxattr(aside, name, os.getxattr(target, name))
    aside.chmod(stat.S_IMODE(status.st_mode))


def _move_in(aside: Path, target: Path) -> None:
    try:
        rename(aside, target, Way.NEW)
    except FileExistsError:
        raise Changed from None


def _swap_in(aside: Path, target: Path, before: bytes, after: bytes) -> None:
    try:
        if target.read_bytes() != before:
            raise Changed
        if not rename(aside, target, Way.SWAP):
            return  # no swapping here: it was put in place, in one step all the same
    except FileNotFoundError:
        raise Changed from None
    in_place, out = after, aside.read_bytes()
    if out == before:
        return
    for _ in range(_MOST_SWAPS):  # put back what came out, until nobody has written in between
        rename(aside, target, Way.SWAP)
        in_place, out, was = out, aside.read_bytes(), in_place
        if out == was:
            break
    raise Changed


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
