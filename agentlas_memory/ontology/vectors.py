"""Vector segments, the authority in the database, and how the writer keeps them."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Sequence

from agentlas_memory.ontology.schema import SEGMENT_VECTORS


def append_vectors(
    connection: sqlite3.Connection,
    scope: str,
    embedding: str,
    vectors: Sequence[tuple[int, bytes]],
) -> None:
    """Add (chunk id, vector) pairs, ids ascending, behind the newest segment of their kind.

    Only the newest segment grows, so ids ascend through a scope's segments, and the sidecar that
    is read from them can be searched by bisection.
    """
    row = connection.execute(
        "SELECT segment_id, chunk_ids, vectors FROM vector_segments"
        " WHERE scope = ? AND embedding = ? ORDER BY segment_id DESC LIMIT 1",
        (scope, embedding),
    ).fetchone()
    pending = list(vectors)
    if row is not None and (room := SEGMENT_VECTORS - len(row[1]) // 4) > 0:
        head, pending = pending[:room], pending[room:]
        ids, blob = _pack(head)
        connection.execute(
            "UPDATE vector_segments SET chunk_ids = ?, vectors = ? WHERE segment_id = ?",
            (row[1] + ids, row[2] + blob, row[0]),
        )
        _assign(connection, row[0], head)
    for at in range(0, len(pending), SEGMENT_VECTORS):
        part = pending[at : at + SEGMENT_VECTORS]
        cursor = connection.execute(
            "INSERT INTO vector_segments(scope, embedding, chunk_ids, vectors) VALUES (?, ?, ?, ?)",
            (scope, embedding, *_pack(part)),
        )
        _assign(connection, cursor.lastrowid, part)


def remove_vectors(connection: sqlite3.Connection, segment_id: int, gone: set[int]) -> None:
    """Take the vectors of the chunks `gone` out of a segment; an empty segment goes."""
    ids_blob, blob = connection.execute(
        "SELECT chunk_ids, vectors FROM vector_segments WHERE segment_id = ?", (segment_id,)
    ).fetchone()
    ids = unpack_ids(ids_blob)
    width = len(blob) // len(ids)
    kept = [
        (chunk_id, blob[at * width : (at + 1) * width])
        for at, chunk_id in enumerate(ids)
        if chunk_id not in gone
    ]
    if kept:
        connection.execute(
            "UPDATE vector_segments SET chunk_ids = ?, vectors = ? WHERE segment_id = ?",
            (*_pack(kept), segment_id),
        )
    else:
        connection.execute("DELETE FROM vector_segments WHERE segment_id = ?", (segment_id,))


def unpack_ids(blob: bytes) -> tuple[int, ...]:
    """Return the chunk ids of a segment: little-endian u32 each."""
    return struct.unpack(f"<{len(blob) // 4}I", blob)


def _pack(vectors: Sequence[tuple[int, bytes]]) -> tuple[bytes, bytes]:
    ids = struct.pack(f"<{len(vectors)}I", *(chunk_id for chunk_id, _ in vectors))
    return ids, b"".join(vector for _, vector in vectors)


def _assign(
    connection: sqlite3.Connection, segment_id: int | None, vectors: Iterable[tuple[int, bytes]]
) -> None:
    connection.executemany(
        "UPDATE chunks SET segment_id = ? WHERE chunk_id = ?",
        ((segment_id, chunk_id) for chunk_id, _ in vectors),
    )
