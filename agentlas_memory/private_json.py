"""Changing a JSON file of the user's own folder without losing a word that others wrote into it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentlas_memory.lean import getenv, make_private_folder, read_file
from agentlas_memory.ontology.lock import LOCK_NAME, writer_lock
from agentlas_memory.ontology.lock import StoreLocked as StoreLocked
from agentlas_memory.whole_file import replace_file

_LARGEST = 1 << 20  # bytes; the hook reads no more either
_PATIENCE = 5.0  # seconds; the lock is held for a few milliseconds


class BrokenFile(Exception):
    """A file of ours that cannot be understood, and so is not overwritten."""


@contextmanager
def edit_private_json(home: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the object in `home`/`name` and write it back, in one step, if it was changed.

    One process at a time. A missing file counts as empty; keys nobody here knows stay as they are.
    """
    make_private_folder(home)
    _close_to_others(home)
    path = Path(home, name)
    with lock_private_folder(Path(home), LOCK_NAME, _PATIENCE):
        values = read_private_json(path)
        before = json.dumps(values)
        yield values
        if json.dumps(values) != before:
            # People keep such files in a repository and link them.
            text = json.dumps(values, indent=2) + "\n"
            replace_file(Path(os.path.realpath(path)), text.encode(), 0o600)


@contextmanager
def lock_private_folder(folder: Path, name: str, seconds: float) -> Iterator[int]:
    """Hold a lock of its own name on a folder of ours, made where it is missing."""
    make_private_folder(str(folder))
    (folder / name).touch(mode=0o600)
    with writer_lock(folder, seconds, name) as handle:
        yield handle


def _close_to_others(home: str) -> None:
    """Take others' access to `~/.agentlas` away: what makes a folder in it first leaves it open.

    A folder that the user named is the user's to close.
    """
    if os.name == "nt" or getenv("AGENTLAS_HOME"):
        return
    info = Path(home).stat()
    if info.st_uid == os.getuid() and info.st_mode & 0o077:
        Path(home).chmod(0o700)


def read_private_json(path: Path) -> dict[str, Any]:
    """Return the object in a file, an empty one without a file; else raise BrokenFile."""
    try:
        data = read_file(str(path), _LARGEST + 1)
    except FileNotFoundError:
        return {}
    except PermissionError:
        raise
    except OSError as error:  # a folder, a FIFO, a device, links in a circle
        reason = error.strerror or "not a regular file"
        raise BrokenFile(f"{path} cannot be read: {reason}") from error
    if len(data) > _LARGEST:
        raise BrokenFile(f"{path} is larger than 1 MiB")
    try:
        values = json.loads(data.decode("utf-8-sig"), strict=False)  # as the hook
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
        raise BrokenFile(f"{path} is not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise BrokenFile(f"{path} does not hold a JSON object")
    return values
