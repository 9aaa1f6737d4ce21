"""A memory as the file of a note: without credentials, and judged before it is written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from agentlas_memory.importing.items import Item, joined, one_line
from agentlas_memory.importing.secrets import Redactor
from agentlas_memory.ontology.chunker import chunk_document
from agentlas_memory.ontology.documents import IMPORTED_SUFFIX, INBOX
from agentlas_memory.ontology.formats import read_document
from agentlas_memory.ontology.notes import parse_note, render_note
from agentlas_memory.review.findings import Passage, instruction_in

_ID_DIGITS = 10
_LONGEST_TAG = 40
_LONGEST_STATUS = 40


class NoteFile(NamedTuple):
    """A note that may be written: its id, its text for comparing, and its file."""

    identity: str
    name: str
    data: bytes

    @property
    def digest(self) -> str:
        """What names these bytes in the list of what was imported."""
        return hashlib.sha256(self.data).hexdigest()


def note_identity(item: Item, origin: str, redactor: Redactor) -> str:
    """Return the id of an item's note: the same at every import, and nothing a key could be in."""
    if item.identity:
        return item.identity
    named = f"{origin}\0{redactor.clean(item.key, item.place)}"
    return hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:_ID_DIGITS]


def note_name(identity: str, item: Item) -> str:
    """Return a new note's file name, which tells assistants how old the memory is."""
    words = identity if item.identity or not item.day else f"{item.day}-{identity}"
    return f"{words}{IMPORTED_SUFFIX}"


def write_up(
    item: Item,
    text: str,
    identity: str,
    name: str,
    *,
    source: str,
    scope: str,
    ids: Mapping[str, str],
    redactor: Redactor,
) -> NoteFile:
    """Return the file of an item's note; raise NoteError for what could not be read back."""
    older = [ids[one.casefold()] for one in item.supersedes if one.casefold() in ids]
    older = sorted({one for one in older if one != identity})
    tags = [one_line(redactor.clean(joined(tag), item.place), _LONGEST_TAG) for tag in item.tags]
    status = "superseded" if item.replaced else one_line(item.status, _LONGEST_STATUS)
    values: dict[str, object] = {
        "id": identity,
        "kind": "note",
        "scope": "private" if item.private else scope,
        "title": one_line(item.title),
        "tags": tags,
        "status": status,
        "supersedes": older,
        "created": item.created or item.changed,
        "updated": item.changed,
        "imported": source,
        "origin": one_line(item.place),
    }
    data = render_note({key: value for key, value in values.items() if value}, text)
    parse_note(f"{INBOX}/{name}", data)
    return NoteFile(identity, name, data)


def instruction_of(note: NoteFile) -> str:
    """Return why a note looks like an instruction to a model, as `review` says it; else blank."""
    path = f"{INBOX}/{note.name}"
    for chunk in chunk_document(read_document(path, note.data)):
        heading = " > ".join(chunk.heading_path)
        passage = Passage(path, heading, chunk.start_line, chunk.end_line, chunk.text)
        if found := instruction_in(passage):
            return f"{found.detail}: {found.excerpt}"
    return ""
