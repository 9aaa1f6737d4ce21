"""Records that a program hands over: (id, text, title, path)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.ontology.database import writable_database
from agentlas_memory.ontology.decisions import Quarantine, follow_decisions, passage_digest
from agentlas_memory.ontology.embedder import Embedder, model_identity, open_embedder
from agentlas_memory.ontology.naming import embedded_text, index_terms, source_name
from agentlas_memory.ontology.prepared import PreparedChunk, PreparedSource
from agentlas_memory.ontology.schema import SCOPES
from agentlas_memory.ontology.upkeep import expire_sources, finish_run, has_unwritten_sources
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
    """Write records into the store at `path` and return how many; one record is one chunk.

    What a person put into quarantine is left out.
    """
    written = 0
    with writable_database(path) as connection:
        writer = StoreWriter(connection)
        embedder = open_embedder(many=True)
        expire_sources(connection, model_identity())
        quarantine = follow_decisions(connection, path.parent)
        expired = has_unwritten_sources(connection)
        renew_records(connection, writer, quarantine)
        for batch in _batches(Record(*record) for record in records):
            written += _put(writer, batch, scope, embedder, quarantine)
        finish_run(connection, path.parent, forget=expired)
    return written


def renew_records(
    connection: sqlite3.Connection, writer: StoreWriter, quarantine: Quarantine
) -> None:
    """Prepare the records again that another version or model prepared: the store holds them."""
    embedder: Embedder | None = None
    sql = (
        "SELECT path, text, heading, title FROM sources JOIN chunks USING (source_id)"
        f" WHERE kind = 'record' AND content_hash IS NULL AND scope = ? LIMIT {_BATCH}"
    )
    for scope in SCOPES:
        while rows := connection.execute(sql, (scope,)).fetchall():
            embedder = embedder or open_embedder(many=True)
            for path, *_ in rows:
                writer.remove(path)  # newer rules of redaction may change the id itself
            _put(writer, [Record(*row) for row in rows], scope, embedder, quarantine)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    while batch := list(islice(records, _BATCH)):
        yield batch


def _put(
    writer: StoreWriter,
    records: Sequence[Record],
    scope: str,
    embedder: Embedder,
    quarantine: Quarantine,
) -> int:
    clean = [Record(*(redact(_storable(value)) for value in record)) for record in records]
    kept = []
    for record in clean:
        left_out = quarantine.of(record.id)
        if left_out and passage_digest(record.id, record.text) in left_out:
            writer.remove(record.id)
        else:
            kept.append(record)
    for source in _prepare(kept, scope, embedder):
        writer.put(source)
    writer.commit()
    return len(kept)


def _prepare(clean: Sequence[Record], scope: str, embedder: Embedder) -> Iterator[PreparedSource]:
    names = [source_name(record.id, record.path, "record") for record in clean]
    texts = [embedded_text(name, r.title, r.text) for name, r in zip(names, clean, strict=True)]
    for record, name, vector in zip(clean, names, embedder.embed(texts), strict=True):
        terms = index_terms(name, record.title, record.text)
        chunk = PreparedChunk(record.title, 0, 0, record.text, terms, vector)
        yield PreparedSource(
            path=record.id,
            title=record.path,
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
