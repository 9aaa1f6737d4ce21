"""What still names us: in a host's own folders after we left, or without a ledger."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentlas_memory.installer.files import Untouchable, read_text
from agentlas_memory.installer.formats import Unparsable
from agentlas_memory.installer.formats.json_entry import remove_entry
from agentlas_memory.installer.formats.marked_block import remove_block
from agentlas_memory.installer.surfaces import HostCommands, JsonEntry, MarkedBlock, Surface

NAME = b"agentlas-memory"
_LARGEST = 64 << 20  # bytes; a host's database may hold what was said
_MOST_FILES = 20_000
_SAID = (  # what was said and done, not what is set: as the hosts name it in their folders
    *("projects", "sessions", "conversations", "brain", "history.jsonl"),
    *("logs", "log", "snapshot"),
)
_MOST_SAID = 500  # transcripts that are looked into, the newest first: one is enough


def files_that_name_us(homes: Sequence[Path]) -> list[Path]:
    """Return the files and folders that hold our name, in their path or in their text.

    Transcripts, which keep what the model was told, stand for themselves as one folder.
    """
    found = []
    for home in dict.fromkeys(homes):
        for number, path in enumerate(_below(home)):
            if number > _MOST_FILES:
                break
            if NAME.decode() in path.name or _holds_name(path):
                found.append(path)
        found += [home / name for name in _SAID if _says_name(home / name)]
    return found


def parts_that_stand(surfaces: Sequence[Surface], data_home: Path) -> list[Path]:
    """Return the hosts' files, not those in our own folder, that hold a part of ours."""
    return [
        surface.path
        for surface in surfaces
        if not isinstance(surface, HostCommands)
        and data_home not in surface.path.parents
        and _stands(surface)
    ]


def _stands(surface: Surface) -> bool:
    if isinstance(surface, HostCommands):
        return False
    try:
        text = read_text(surface.path)
        if text is None:
            return False
        if isinstance(surface, JsonEntry):
            return remove_entry(text, surface.key) != text
        if isinstance(surface, MarkedBlock):
            return remove_block(text, surface.begin, surface.end) != text
    except (Untouchable, Unparsable):
        return False
    return NAME.decode() in text


def _below(home: Path) -> Iterator[Path]:
    if home.is_file():
        yield home
    for folder, folders, files in os.walk(home):
        said = _SAID if Path(folder) == home else ()
        folders[:] = sorted(name for name in folders if name not in said)
        yield from (Path(folder, name) for name in folders if NAME.decode() in name)
        yield from (Path(folder, name) for name in sorted(files) if name not in said)


def _says_name(path: Path) -> bool:
    files = [Path(folder, name) for folder, _, names in os.walk(path) for name in names]
    newest = sorted(files or [path], key=_written, reverse=True)[:_MOST_SAID]
    return any(map(_holds_name, newest))


def _written(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _holds_name(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _LARGEST and NAME in path.read_bytes()
    except OSError:
        return False
