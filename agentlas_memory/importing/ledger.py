"""`.agentlas/ontology-inbox/imports.json`: which notes were imported, and as which bytes.

    {"version": 1, "notes": {"3f9c2a71d0": {"origin": "claude", "file": "...", "digest": "..."}}}

It tells a note that a person forgot from one that never was, and one that a person changed from
one that is as it was written. It holds no text, and belongs to this machine like the notes.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, NoReturn

from agentlas_memory.cut import clean
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.documents import IMPORTED_SUFFIX, IMPORTS
from agentlas_memory.private_json import BrokenFile
from agentlas_memory.whole_file import replace_file

_VERSION = 1
_LARGEST = 64 << 20


class Taken(NamedTuple):
    """A note that was imported: from where, its file's name and the digest of its bytes."""

    origin: str
    file: str
    digest: str


def read_taken(project: Path) -> dict[str, Taken]:
    """Return what was imported by the notes' ids; raise BrokenFile for what cannot be read."""
    file = project / IMPORTS
    try:
        data = read_file(str(file), _LARGEST + 1, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        _refuse(file, f"cannot be read: {error.strerror or 'it is not a regular file'}")
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        _refuse(file, f"is not valid JSON: {error}")
    if not isinstance(document, dict) or document.get("version") != _VERSION:
        _refuse(file, f"is not of version {_VERSION}")
    notes = document.get("notes")
    if not isinstance(notes, dict):
        _refuse(file, "does not hold an object with `notes`")
    return {
        identity: _taken(value)
        or _refuse(file, clean(f"has an entry that is unclear: {identity!r}", 120))
        for identity, value in notes.items()
    }


def write_taken(project: Path, taken: dict[str, Taken]) -> None:
    """Put the list in place whole."""
    notes = {identity: one._asdict() for identity, one in sorted(taken.items())}
    text = json.dumps({"version": _VERSION, "notes": notes}, indent=1) + "\n"
    replace_file(project / IMPORTS, text.encode())


def _taken(value: object) -> Taken | None:
    if not isinstance(value, dict):
        return None
    fields: list[Any] = [value.get(name) for name in Taken._fields]
    if not all(isinstance(one, str) for one in fields):
        return None
    taken = Taken(*fields)
    # The name is a file's in the inbox: never one above or beside it.
    is_name = PurePosixPath(taken.file).name == taken.file and "\\" not in taken.file
    return taken if is_name and taken.file.endswith(IMPORTED_SUFFIX) else None


def _refuse(file: Path, reason: str) -> NoReturn:
    raise BrokenFile(f"{file} {reason}")
