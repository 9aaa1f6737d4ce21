"""The Markdown files of a folder that somebody else wrote: bounded, and through no link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.importing.items import Left, SourceError
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.documents import MAX_FILE_BYTES
from agentlas_memory.ontology.walk import is_utf8
from agentlas_memory.project import is_policy_file

POLICY = "a policy file or an index that assistants load themselves"

_SUFFIXES = (".md", ".markdown")
_MOST_FILES = 100_000
_PASSED_OVER = ("node_modules", "vendor")


class Page(NamedTuple):
    """One file: its path below the folder, its bytes and the day of its last change."""

    path: str
    data: bytes
    touched: str


def read_pages(folder: Path, *, host: bool = False) -> Iterator[Page | Left]:
    """Yield what is in a folder, in the order of the paths; `host`: it is a host's own memory."""
    try:
        root = folder.resolve(strict=True)
        if not root.is_dir():
            raise SourceError(f"{folder} is no folder")
        entries = list(_walk(root))
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        raise SourceError(f"{folder} cannot be read: {error}") from error
    for path, entry in sorted(entries, key=lambda pair: pair[0])[:_MOST_FILES]:
        yield _read(root, path, entry, host)
    if len(entries) > _MOST_FILES:
        yield Left(str(folder), f"has more than {_MOST_FILES} files: not all were looked at")


def _walk(root: Path) -> Iterator[tuple[str, os.DirEntry[str] | None]]:
    """Yield files and what stands in the place of some; None for a folder that cannot be read."""
    pending = [""]  # no recursion: folders may be nested deeper than Python's calls
    seen = 0
    while pending and seen <= _MOST_FILES:
        prefix = pending.pop()
        try:
            with os.scandir(root / prefix) as found:
                entries = list(found)
        except OSError:
            if not prefix:
                raise
            yield prefix, None
            continue
        for entry in entries:
            path = prefix + entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending += [f"{path}/"] if entry.name not in _PASSED_OVER else []
            elif entry.name.lower().endswith(_SUFFIXES) or _is_linked_folder(entry):
                seen += 1
                yield path, entry


def _is_linked_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() and entry.is_dir()


def _read(root: Path, path: str, entry: os.DirEntry[str] | None, host: bool) -> Page | Left:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    if entry is None:
        return Left(shown, "cannot be read")
    if shown != path and not is_utf8(path):
        return Left(shown, "its name is not UTF-8")
    if entry.is_symlink():
        return Left(shown, "a symbolic link")
    if _is_policy(root, path, host):
        return Left(shown, POLICY)
    try:
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            return Left(shown, "not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            return Left(shown, f"larger than {MAX_FILE_BYTES >> 20} MiB")
        data = read_file(str(root / path), MAX_FILE_BYTES, follow=False)
        day = datetime.fromtimestamp(status.st_mtime, timezone.utc).date().isoformat()
    except (OSError, ValueError, OverflowError) as error:
        return Left(shown, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    return Page(path, data, day)


def _is_policy(root: Path, path: str, host: bool) -> bool:
    name = path.rpartition("/")[2].casefold()
    return is_policy_file(f"{root.as_posix()}/{path}") or (host and name == "memory.md")
