"""Writing sources into the store, a bounded transaction at a time."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence

from agentlas_memory.ontology.naming import index_terms, source_name
from agentlas_memory.ontology.prepared import PreparedChunk, PreparedSource
from agentlas_memory.ontology.schema import SEGMENT_VECTORS
from agentlas_memory.ontology.store import chunk_digest
from agentlas_memory.ontology.vectors import append_vectors, remove_vectors


class StoreWriter:
    """Replaces sources in the store; nothing is kept of an unfinished transaction.

    A source is complete once its row has a content hash. One that is too long for a transaction is
    written in parts, and an interrupted one has no hash, so the next run writes it again.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lexical = has_lexical_index(connection)
        sql = "SELECT value FROM meta WHERE key = 'store_id'"
        self._store_id: str = connection.execute(sql).fetchone()[0]
        self._pending = 0
        self._portuguese = False  # whether that was noted
        self._talk = ""  # that the chunk with the highest id is a turn of
        # Changes of segments, each of which is rewritten once a transaction.
        self._vectors: dict[tuple[str, str], list[tuple[int, bytes]]] = defaultdict(list)
        self._gone: dict[int, set[int]] = defaultdict(set)

    def put(self, source: PreparedSource) -> None:
        """Replace what the store holds of this source's path."""
        self._begin_change(source.path, len(source.chunks))
        self._delete_source(source.path)
        source_id = self._insert_source(source)
        chunk_ids: list[int] = []
        for at in range(0, len(source.chunks), SEGMENT_VECTORS):
            if at:
                self.commit()
                self._begin()
                self._pending = len(source.chunks) - at
            part = source.chunks[at : at + SEGMENT_VECTORS]
            chunk_ids += self._insert_chunks(source_id, source, part)
        self._insert_graph(source, chunk_ids)
        self._connection.execute(
            "UPDATE sources SET content_hash = ? WHERE source_id = ?",
            (source.content_hash, source_id),
        )

    def remove(self, path: str) -> None:
        """Forget a source."""
        self._begin_change(path, 0)
        self._delete_source(path)

    def touch(self, path: str, size: int, changed_ns: int) -> None:
        """Note a file's new time when its content is what was indexed."""
        self._begin()
        self._connection.execute(
            "UPDATE sources SET size = ?, changed_ns = ? WHERE path = ?", (size, changed_ns, path)
        )

    def commit(self) -> None:
        """End the open transaction, if there is one."""
        if not self._connection.in_transaction:
            return
        for segment_id, chunk_ids in self._gone.items():
            remove_vectors(self._connection, segment_id, chunk_ids)
        for (scope, embedding), vectors in self._vectors.items():
            append_vectors(self._connection, scope, embedding, vectors)
        self._forget_pending()
        self._connection.execute(
            "INSERT OR REPLACE INTO meta SELECT 'chunks', count(*) FROM chunks"
        )
        self._connection.execute("COMMIT")

    def rollback(self) -> None:
        """Drop the open transaction."""
        self._forget_pending()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _forget_pending(self) -> None:
        self._vectors.clear()
        self._gone.clear()
        self._pending = 0

    def _begin_change(self, path: str, added: int) -> None:
        """Begin a transaction, or go on with one that has room for this source's change."""
        old = "SELECT count(*) FROM chunks JOIN sources USING (source_id) WHERE path = ?"
        size = added + self._connection.execute(old, (path,)).fetchone()[0]
        if self._pending + size > SEGMENT_VECTORS:
            self.commit()
        self._begin()
        self._pending += size
        set_meta(self._connection, "sidecar_stale", 1)

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def _insert_source(self, source: PreparedSource) -> int:
        cursor = self._connection.execute(
            "INSERT INTO sources(path, title, kind, status, scope, size, changed_ns, commit_time)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                source.path,
                source.title,
                source.kind,
                source.status,
                source.scope,
                source.size,
                source.changed_ns,
                source.commit_time,
            ),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _insert_chunks(
        self, source_id: int, source: PreparedSource, chunks: Sequence[PreparedChunk]
    ) -> range:
        """Insert rows with new ids: one writer, and ids are never used again."""
        first = self._next_chunk_id(source)
        ids = range(first, first + 2 * len(chunks), 2)
        self._connection.executemany(
            "INSERT INTO chunks(chunk_id, source_id, heading, start_line, end_line, text, digest)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                _chunk_row(chunk_id, source_id, self._digest(source, c), c)
                for chunk_id, c in zip(ids, chunks, strict=True)
            ),
        )
        if self._lexical:
            self._connection.executemany(
                "INSERT INTO chunk_fts(rowid, heading, body) VALUES (?, ?, ?)",
                ((i, *c.terms.columns) for i, c in zip(ids, chunks, strict=True)),
            )
        self._note_language(chunks)
        self._vectors[source.scope, source.embedding] += [
            (chunk_id, c.vector) for chunk_id, c in zip(ids, chunks, strict=True) if c.vector
        ]
        return ids

    def _digest(self, source: PreparedSource, chunk: PreparedChunk) -> bytes:
        return chunk_digest(
            self._store_id,
            source.scope,
            source.path,
            chunk.heading,
            chunk.start_line,
            chunk.end_line,
            chunk.text,
        )

    def _note_language(self, chunks: Sequence[PreparedChunk]) -> None:
        """Note once that some words here are not stemmed as English: recall asks for both then."""
        if not self._portuguese and any(c.terms.language for c in chunks):
            self._portuguese = True
            set_meta(self._connection, "portuguese", 1)

    def _next_chunk_id(self, source: PreparedSource) -> int:
        """Return the next id: one that follows the last only in a talk, else one apart.

        So recall sees by their ids that two chunks are turns of one talk, without looking it up.
        """
        sql = "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"
        last = self._connection.execute(sql).fetchone()
        talk, self._talk = self._talk, _talk_of(source)
        return (last[0] if last else 0) + (1 if talk and talk == self._talk else 2)

    def _insert_graph(self, source: PreparedSource, chunk_ids: Sequence[int]) -> None:
        named = {m.key: (m.key, m.name, m.kind) for m in source.mentions}  # all that are related
        ids = self._entity_ids(list(named.values()))
        self._connection.executemany(
            "INSERT OR IGNORE INTO mentions(entity_id, chunk_id, relation) VALUES (?, ?, ?)",
            ((ids[m.key], chunk_ids[m.chunk], m.relation) for m in source.mentions),
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO relations(subject_id, relation, object_id, chunk_id)"
            " VALUES (?, ?, ?, ?)",
            (
                (ids[r.subject], r.relation, ids[r.object], chunk_ids[r.chunk])
                for r in source.relations
            ),
        )

    def _entity_ids(self, entities: Sequence[tuple[str, str, str]]) -> dict[str, int]:
        self._connection.executemany(
            "INSERT OR IGNORE INTO entities(key, name, kind) VALUES (?, ?, ?)", entities
        )
        found: dict[str, int] = {}
        for at in range(0, len(entities), 500):  # SQLite's smallest limit of variables is 999
            keys = [key for key, _, _ in entities[at : at + 500]]
            marks = ",".join("?" * len(keys))
            sql = f"SELECT key, entity_id FROM entities WHERE key IN ({marks})"
            found.update(self._connection.execute(sql, keys))
        return found

    def _delete_source(self, path: str) -> None:
        execute = self._connection.execute
        row = execute(
            "SELECT source_id, title, kind FROM sources WHERE path = ?", (path,)
        ).fetchone()
        if row is None:
            return
        chunks = execute(
            "SELECT chunk_id, heading, text, segment_id FROM chunks WHERE source_id = ?", row[:1]
        ).fetchall()
        if self._lexical:
            self._delete_terms(source_name(path, row[1], row[2]), chunks)
        ids = [(chunk[0],) for chunk in chunks]
        for table in ("mentions", "relations", "chunks"):
            self._connection.executemany(f"DELETE FROM {table} WHERE chunk_id = ?", ids)
        self._delete_vectors(chunks)
        execute("DELETE FROM sources WHERE source_id = ?", row[:1])

    def _delete_terms(self, name: str, chunks: Iterable[tuple[int, str, str, int]]) -> None:
        # A contentless FTS5 table is told what to forget: exactly the terms it was given.
        self._connection.executemany(
            "INSERT INTO chunk_fts(chunk_fts, rowid, heading, body) VALUES ('delete', ?, ?, ?)",
            ((i, *index_terms(name, heading, text).columns) for i, heading, text, _ in chunks),
        )

    def _delete_vectors(self, chunks: Iterable[tuple[int, str, str, int]]) -> None:
        unwritten: set[int] = set()
        for chunk_id, _, _, segment_id in chunks:
            (unwritten if segment_id is None else self._gone[segment_id]).add(chunk_id)
        if not unwritten:
            return
        for key, vectors in self._vectors.items():
            self._vectors[key] = [pair for pair in vectors if pair[0] not in unwritten]


def has_lexical_index(connection: sqlite3.Connection) -> bool:
    """Tell whether the store has its FTS5 table, which needs a module of SQLite's."""
    sql = "SELECT 1 FROM sqlite_master WHERE name = 'chunk_fts'"
    return connection.execute(sql).fetchone() is not None


def set_meta(connection: sqlite3.Connection, key: str, value: object) -> None:
    """Write one row of the meta table."""
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, value))


def _talk_of(source: PreparedSource) -> str:
    """Return what names the talk a source is a turn of, blank for none.

    Records that name no document, but one title after the other, are turns of a talk.
    """
    heading = source.chunks[0].heading
    is_turn = source.kind == "record" and heading and not source.title
    return f"{source.scope}\0{heading}" if is_turn else ""


def _chunk_row(
    chunk_id: int, source_id: int, digest: bytes, chunk: PreparedChunk
) -> tuple[object, ...]:
    return (
        chunk_id,
        source_id,
        chunk.heading,
        chunk.start_line,
        chunk.end_line,
        chunk.text,
        digest,
    )
