"""Reading and replacing one file of somebody else's, with all that is theirs about it."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

LARGEST = 16 << 20


class Untouchable(Exception):
    """A file that is not edited; the text says why."""


def read_text(path: Path) -> str | None:
    """Return a file's text byte for byte (`surrogateescape`), None where there is none.

    Raises Untouchable for what is no regular file of this user, or not there by permission.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise Untouchable("a symbolic link that leads nowhere") from None
        return None
    except OSError as error:
        raise Untouchable(error.strerror or "cannot be read") from error
    if not stat.S_ISREG(status.st_mode):
        raise Untouchable("not a regular file")
    if status.st_size > LARGEST:
        raise Untouchable(f"larger than {LARGEST >> 20} MiB")
    _refuse_others(path, status)
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise Untouchable(error.strerror or "cannot be read") from error


def _refuse_others(path: Path, status: os.stat_result) -> None:
    """Raise Untouchable for a file that an earlier `sudo` left to another user."""
    if os.name != "nt" and status.st_uid != os.getuid():
        raise Untouchable(f"it belongs to {_user(path, status)}; chown {os.getuid()} {path}")


def _user(path: Path, status: os.stat_result) -> str:
    try:
        return path.owner()
    except KeyError:
        return f"user {status.st_uid}"


def replace_text(path: Path, text: str) -> None:
    """Put a text in place in one step; link, mode and group of a file that is there stay."""
    target = Path(os.path.realpath(path))
    data = text.encode("utf-8", "surrogateescape")
    descriptor, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _take_over(target, aside)
        Path(aside).replace(target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def _take_over(target: Path, aside: str) -> None:
    try:
        status = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        Path(aside).chmod(0o666 & ~mask)
        return
    Path(aside).chmod(stat.S_IMODE(status.st_mode))
    if os.name != "nt":
        os.chown(aside, status.st_uid, status.st_gid)


def make_folders(folder: Path) -> list[Path]:
    """Make a folder with its parents; return those that were made, outermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir()
    return missing[::-1]


def missing_folders(folder: Path) -> list[Path]:
    """Return the folders that `make_folders` would make, outermost first."""
    return [one for one in (folder, *folder.parents) if not one.exists()][::-1]


def digest(text: str) -> str:
    """Return the SHA-256 of a text's bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
