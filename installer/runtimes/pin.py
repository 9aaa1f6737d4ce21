"""The pin: the public key whose releases this machine takes."""

from __future__ import annotations

import os
from pathlib import Path

from agentlas_memory.installer.runtimes.release import KEY
from agentlas_memory.installer.runtimes.signature import read_key
from agentlas_memory.installer.runtimes.trouble import UpdateRefused
from agentlas_memory.lean import read_file

_LARGEST = 4096  # bytes; a key is one line


def pin_file(data_home: Path) -> Path:
    """Return where the pin lies."""
    return data_home / KEY


def read_pin(data_home: Path) -> bytes | None:
    """Return the pinned key, None where there is none."""
    path = pin_file(data_home)
    try:
        text = read_file(str(path), _LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:  # a folder, a FIFO, a device; without access
        raise UpdateRefused(
            f"{path} cannot be read: {error.strerror or 'not a regular file'}.",
            f"put the maker's {KEY} there; a version is only taken by its key",
        ) from error
    return read_key(text, str(path))


def write_pin(data_home: Path, text: bytes) -> None:
    """Pin a key where none is; one that is there is never changed."""
    path = pin_file(data_home)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.unlink(missing_ok=True)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text)
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        if not path.exists():
            aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def not_by_pin(data_home: Path) -> UpdateRefused:
    """Return the refusal of a signature that is not the pinned key's."""
    return UpdateRefused(
        "The release's signature does not hold under the key that this machine has pinned.",
        f"do not install it; only if you know from its maker that the key has changed, replace "
        f"{pin_file(data_home)} by hand",
    )
