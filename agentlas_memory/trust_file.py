"""The writing side of `trusted.json`; what the hook reads of it is in `trust.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

from agentlas_memory.lean import identity
from agentlas_memory.private_json import BrokenFile, edit_private_json, read_private_json
from agentlas_memory.trust import TRUSTED_FILE


def add_trust(
    home: str, store_root: str, store_id: str, *, shared: bool = False, card: str = ""
) -> None:
    """Say yes to this store at this place; a pause of the project stays.

    `shared` says yes even if others own the store or may write it, `card` to the routing card with
    that hash; only a person may say so.
    """
    with edit_private_json(home, TRUSTED_FILE) as values:
        entries = _entries(values, home)
        entry = _entry_of(entries, store_root)
        if entry is None:
            entry = {}
            values["projects"] = [*entries, entry]
        entry.update(path=os.path.realpath(store_root), store_id=store_id)
        if shared:
            entry["shared"] = True
        if card:
            entry["card"] = card


def remove_trust(home: str, store_root: str) -> bool:
    """Take the yes back; False when there was none."""
    with edit_private_json(home, TRUSTED_FILE) as values:
        entries = _entries(values, home)
        entry = _entry_of(entries, store_root) or _entry_named(entries, store_root)
        if entry is not None:
            entries.remove(entry)
        return entry is not None


def remove_gone(home: str) -> list[str]:
    """Take back the yes to projects whose folder is gone, and return their paths."""
    with edit_private_json(home, TRUSTED_FILE) as values:
        entries = _entries(values, home)
        gone = [entry for entry in entries if _is_gone(entry)]
        if gone:
            values["projects"] = [entry for entry in entries if entry not in gone]
    return [str(entry["path"]) for entry in gone]


def set_paused(home: str, store_root: str, paused: bool) -> bool:
    """Pause or resume a trusted project; False when it is not trusted."""
    with edit_private_json(home, TRUSTED_FILE) as values:
        entry = _entry_of(_entries(values, home), store_root)
        if entry is None:
            return False
        if paused:
            entry["on"] = False
        else:
            entry.pop("on", None)
        return True


def read_trust_file(home: str) -> list[Any]:
    """Return the entries of `trusted.json`; raise BrokenFile where the hook can read none."""
    return _entries(read_private_json(Path(home, TRUSTED_FILE)), home)


def check_trust_file(home: str) -> None:
    """Raise BrokenFile or OSError when `trusted.json` could not be changed later."""
    with edit_private_json(home, TRUSTED_FILE) as values:
        _entries(values, home)


def _entries(values: dict[str, Any], home: str) -> list[Any]:
    entries = values.get("projects", [])
    if not isinstance(entries, list):
        raise BrokenFile(f'{home}/{TRUSTED_FILE}: "projects" is not a list')
    return entries


def _entry_named(entries: list[Any], store_root: str) -> dict[str, Any] | None:
    """Return the entry of a folder that is gone, which has no other identity than its path."""
    return next((e for e in entries if _is_gone(e) and e["path"] == store_root), None)


def _is_gone(entry: object) -> bool:
    """Tell whether an entry names a folder of which nothing is left."""
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(path, str) or not Path(path).is_absolute():
        return False
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False  # it cannot be looked at now
    return False


def _entry_of(entries: list[Any], store_root: str) -> dict[str, Any] | None:
    """Return the project's entry, found as the hook finds it: by device and inode."""
    here = identity(store_root)
    if here is None:
        return None
    known = [entry for entry in entries if isinstance(entry, dict)]
    for entry in sorted(known, key=lambda entry: entry.get("path") != store_root):
        path = entry.get("path")
        if isinstance(path, str) and identity(path) == here:
            return cast("dict[str, Any]", entry)
    return None
