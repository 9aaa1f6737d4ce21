"""Reading one file of somebody else's, and saying why it cannot be read or written."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from pathlib import Path

LARGEST = 16 << 20
_JUST_NOW = 1.0  # seconds
_PATIENCE = 0.05  # seconds: writing a file in place takes less


class Untouchable(Exception):
    """A file that is not edited; the text says why."""


def read_text(path: Path) -> str | None:
    """Return a file's text byte for byte (`surrogateescape`), None where there is none.

    Raises Untouchable for what is no regular file of this user, or not there by permission.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        if leads_nowhere(path):
            raise Untouchable("a symbolic link that leads nowhere") from None
        return None
    except OSError as error:
        raise Untouchable(explain(error, path)) from error
    if not stat.S_ISREG(status.st_mode):
        raise Untouchable("not a regular file")
    if status.st_size > LARGEST:
        raise Untouchable(f"larger than {LARGEST >> 20} MiB")
    if _is_anothers(status):
        raise Untouchable(_whose(path, status))
    if not status.st_size and abs(time.time() - status.st_mtime) < _JUST_NOW:
        time.sleep(_PATIENCE)  # somebody may have cut it short to write it anew
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise Untouchable(explain(error, path)) from error


def leads_nowhere(path: Path) -> bool:
    """Tell whether a path is a link to a file that is gone."""
    return path.is_symlink() and not path.exists()


def explain(error: OSError, path: Path) -> str:
    """Return why a file cannot be read or written: whose it is, where that is the reason."""
    if isinstance(error, PermissionError):
        for one in (path, *path.parents):
            try:
                status = one.stat()
            except OSError:
                continue
            if _is_anothers(status):
                return _whose(one, status)
            break  # what stands above is the system's
    return error.strerror or str(error)


def _is_anothers(status: os.stat_result) -> bool:
    return os.name != "nt" and status.st_uid != os.getuid()


def _whose(path: Path, status: os.stat_result) -> str:
    """Say whose a file is and what to do: an earlier `sudo` left it, or this is one."""
    owner = user_name(status.st_uid)
    if os.getuid() == 0:
        return f"{path} belongs to {owner}: run this as {owner}, without sudo"
    return f"{path} belongs to {owner}: sudo chown {user_name(os.getuid())} {path}"


def user_name(number: int) -> str:
    """Return a user's name, the number where nobody has it."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def make_folders(folder: Path) -> None:
    """Make a folder with its parents."""
    for one in missing_folders(folder):
        one.mkdir(exist_ok=True)


def missing_folders(folder: Path) -> list[Path]:
    """Return the folders that `make_folders` would make, outermost first."""
    return [one for one in (folder, *folder.parents) if not one.exists()][::-1]


def digest(text: str) -> str:
    """Return the SHA-256 of a text's bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
