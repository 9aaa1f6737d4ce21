"""Records that a program hands over: (id, text, title, path)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.ontology.database import writable_database
from agentlas_memory.ontology.embedder import Embedder, open_embedder
from agentlas_memory.ontology.naming import embedded_text, index_terms, source_name
from agentlas_memory.ontology.prepared import PreparedChunk, PreparedSource
from agentlas_memory.ontology.schema import SCOPES
from agentlas_memory.ontology.upkeep import finish_run
from agentlas_memory.ontology.writer import StoreWriter
from agentlas_memory.redact import redact

_BATCH = 512


class Record(NamedTuple):
    """A piece of text with the name it is known by; replaces the record of the same id."""

    id: str
    text: str
    title: str = ""
    path: str = ""


def ingest_records(path: Path, records: Iterable[Record | Sequence[str]], *, scope: str) -> int:
    """Write records into the store at `path` and return how many; one record is one chunk."""
    if scope not in SCOPES:
        raise ValueError(f"scope {scope!r}: one of {', '.join(SCOPES)}")
    written = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with writable_database(path) as connection:
        writer = StoreWriter(connection)
        embedder = open_embedder(many=True)
        for batch in _batches(Record(*record) for record in records):
            for source in _prepare(batch, scope, embedder):
                writer.put(source)
            writer.commit()
            written += len(batch)
        finish_run(connection, path.parent, embedder.name)
    return written


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    while batch := list(islice(records, _BATCH)):
        yield batch


def _prepare(records: Sequence[Record], scope: str, embedder: Embedder) -> Iterator[PreparedSource]:
    texts = [redact(_storable(record.text)) for record in records]
    names = [source_name(record.id, record.path, "record") for record in records]
    headings = [redact(_storable(record.title)) for record in records]
    vectors = embedder.embed([embedded_text(*parts) for parts in zip(names, headings, texts)])
    for record, name, heading, text, vector in zip(records, names, headings, texts, vectors):
        terms = index_terms(name, heading, text)
        chunk = PreparedChunk(heading, 0, 0, text, *terms, vector)
        yield PreparedSource(
            path=_storable(record.id),
            title=_storable(record.path),
            kind="record",
            status="",
            scope=scope,
            chunks=(chunk,),
            content_hash=b"record",
            embedding=embedder.name,
        )


def _storable(text: str) -> str:
    """Return text that SQLite takes: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
