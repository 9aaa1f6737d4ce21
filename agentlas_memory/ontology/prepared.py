"""A source on its way into the store: what the preparing side hands to the writing side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from agentlas_memory.ontology.naming import IndexTerms


class Job(NamedTuple):
    """A file to be prepared, as the walk saw it."""

    path: str  # POSIX, relative to the project
    size: int
    changed_ns: int
    scope: str
    commit_time: int | None
    left_out: frozenset[str] = frozenset()  # digests of passages in quarantine


class Unprepared(NamedTuple):
    """A file that could not become a source, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk with everything that was derived from it."""

    heading: str
    start_line: int
    end_line: int
    text: str
    terms: IndexTerms
    vector: bytes = b""  # int8, empty without a model


@dataclass(frozen=True, slots=True)
class PreparedMention:
    """An entity named in a chunk, given by its position in the source."""

    key: str
    name: str
    kind: str
    chunk: int
    relation: str


@dataclass(frozen=True, slots=True)
class PreparedRelation:
    """A relation between two entities, with the chunk that is its evidence."""

    subject: str
    relation: str
    object: str
    chunk: int


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """One file, note or record, ready to be written."""

    path: str
    title: str
    kind: str
    status: str
    scope: str
    chunks: tuple[PreparedChunk, ...]
    mentions: tuple[PreparedMention, ...] = ()
    relations: tuple[PreparedRelation, ...] = ()
    size: int | None = None  # None: there is no file to go stale
    changed_ns: int | None = None
    content_hash: bytes = b""
    commit_time: int | None = None
    embedding: str = ""  # identity of the vectors' model
