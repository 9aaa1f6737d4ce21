"""What ends every writing run: superseded sources, orphans, the sidecar, the store's own facts."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from agentlas_memory.ontology.schema import SCOPES
from agentlas_memory.ontology.sidecar import Sidecar, SidecarRejected, sidecar_path, write_sidecar
from agentlas_memory.ontology.writer import has_lexical_index, set_meta
from agentlas_memory.redact import REDACTION_VERSION

# A proposal replaces nothing yet. Once the superseding document goes, the other holds again.
_SUPERSEDE = """
UPDATE sources SET superseded = source_id IN (
 SELECT c.source_id FROM relations r
 JOIN mentions m ON m.entity_id = r.object_id AND m.relation = 'defined_in'
 JOIN chunks c ON c.chunk_id = m.chunk_id
 JOIN chunks evidence ON evidence.chunk_id = r.chunk_id
 JOIN sources successor ON successor.source_id = evidence.source_id
 WHERE r.relation = 'supersedes' AND c.source_id <> successor.source_id
 AND successor.status NOT IN ('proposed', 'rejected'))
WHERE superseded OR EXISTS (SELECT 1 FROM relations WHERE relation = 'supersedes')"""

# FTS5 merges by itself; beyond this many pieces a query feels them, and one pass (2 s for 100,000
# chunks) makes them one.
_MOST_SEGMENTS = 8

# Raised when readers, chunks, their ids and digests, entities or the embedded text change.
_PREPARED_VERSION = 6


def content_version() -> str:
    """Return what the stored texts depend on; another one means preparing them again."""
    return f"{_PREPARED_VERSION}+{REDACTION_VERSION}"


def expire_sources(connection: sqlite3.Connection, embedding: str) -> None:
    """Take the hashes off sources that another version or model prepared: they count as unwritten.

    The versions are noted at the same moment, so what was prepared anew before a kill is not lost.
    """
    current = {"content_version": content_version(), "embedding": embedding}
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if all(meta.get(key) == value for key, value in current.items()):
        return
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE sources SET content_hash = NULL")
    for key, value in current.items():
        set_meta(connection, key, value)
    set_meta(connection, "sidecar_stale", 1)
    connection.execute("COMMIT")


def has_unwritten_sources(connection: sqlite3.Connection) -> bool:
    """Tell whether some source is expired or was interrupted."""
    sql = "SELECT EXISTS (SELECT 1 FROM sources WHERE content_hash IS NULL)"
    return bool(connection.execute(sql).fetchone()[0])


def is_up_to_date(connection: sqlite3.Connection, folder: Path) -> bool:
    """Tell whether the last run was finished, and its sidecar is still what it wrote."""
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if meta.get("sidecar_stale") != 0:
        return False
    try:
        path = sidecar_path(str(folder), str(meta["sidecar"]))
        sidecar = Sidecar(path, str(meta["store_id"]))
    except SidecarRejected:
        return False
    return bool(sidecar.checksum() == meta.get("sidecar_crc32"))


def finish_run(connection: sqlite3.Connection, folder: Path, *, forget: bool = False) -> None:
    """Bring everything derived up to date with the sources.

    `forget` also rewrites the lexical index, so that no term of a removed text is left in it.
    """
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_SUPERSEDE)
    connection.execute(
        "DELETE FROM entities WHERE entity_id NOT IN (SELECT entity_id FROM mentions)"
        " AND entity_id NOT IN (SELECT subject_id FROM relations)"
        " AND entity_id NOT IN (SELECT object_id FROM relations)"
    )
    for scope in SCOPES:
        count = connection.execute(
            "SELECT count(*) FROM chunks JOIN sources USING (source_id) WHERE scope = ?", (scope,)
        ).fetchone()[0]
        set_meta(connection, f"chunks_{scope}", count)
    set_meta(connection, "indexed_at", int(time.time()))
    connection.execute("COMMIT")
    if has_lexical_index(connection) and (forget or _many_segments(connection)):
        connection.execute("INSERT INTO chunk_fts(chunk_fts) VALUES ('optimize')")
    connection.execute("PRAGMA incremental_vacuum").fetchall()
    write_sidecar(connection, folder)


def _many_segments(connection: sqlite3.Connection) -> bool:
    """Tell whether the lexical index lies in so many pieces that a query feels it."""
    row = connection.execute("SELECT count(DISTINCT segid) FROM chunk_fts_idx").fetchone()
    return bool(row[0] > _MOST_SEGMENTS)
