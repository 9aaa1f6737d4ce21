"""The values that travel from a file to the store: documents, sections, chunks, entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

INBOX = ".agentlas/ontology-inbox"
PRIVATE_SUFFIX = ".private.md"  # of notes that git is told to leave alone
IMPORTED_SUFFIX = ".imported.md"  # of notes made of what others kept: of this machine alone
IMPORTS = f"{INBOX}/imports.json"  # the list of them
MAX_FILE_BYTES = 2 * 1024 * 1024


class UnreadableDocument(Exception):
    """A file that cannot become a document; the message is the reason shown to the user."""


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading, down to the next one.

    Lines are 1-based inclusive line numbers of the file. `text` holds exactly the lines
    `start_line` to `end_line`; the body begins at `body_line`, which is past `end_line` when
    there is only a heading. `fences` are line ranges of code blocks.
    """

    heading_path: tuple[str, ...]
    start_line: int
    body_line: int
    end_line: int
    text: str
    fences: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read; `kind` is its format (`markdown`, `rst`, `code`, ...)."""

    path: str
    title: str
    kind: str
    front_matter: Mapping[str, Any]
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one section, small enough to be ranked and shown."""

    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    text: str


class Mention(NamedTuple):
    """An entity that the chunk with this index defines (`defined_in`) or `mentions`."""

    key: str
    name: str
    kind: str
    chunk: int
    relation: str


class Link(NamedTuple):
    """A relation between two entities (`links_to`, `supersedes`, `part_of`) and its evidence."""

    source_key: str
    relation: str
    target_key: str
    chunk: int
