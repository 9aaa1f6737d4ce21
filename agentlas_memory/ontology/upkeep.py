"""What ends every writing run: superseded sources, orphans, the sidecar, the store's own facts."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from agentlas_memory.ontology.analyzer import ANALYZER_VERSION
from agentlas_memory.ontology.schema import SCOPES
from agentlas_memory.ontology.sidecar import write_sidecar
from agentlas_memory.ontology.writer import has_lexical_index, set_meta
from agentlas_memory.redact import REDACTION_VERSION

# Once the superseding document goes, what it replaced holds again.
_SUPERSEDE = """
UPDATE sources SET superseded = source_id IN (
 SELECT c.source_id FROM relations r
 JOIN mentions m ON m.entity_id = r.object_id AND m.relation = 'defined_in'
 JOIN chunks c ON c.chunk_id = m.chunk_id
 JOIN chunks evidence ON evidence.chunk_id = r.chunk_id
 WHERE r.relation = 'supersedes' AND c.source_id <> evidence.source_id)
WHERE superseded OR EXISTS (SELECT 1 FROM relations WHERE relation = 'supersedes')"""


def content_version() -> str:
    """Return what the stored terms and texts depend on; another one means indexing again."""
    return f"{ANALYZER_VERSION}+{REDACTION_VERSION}"


def is_up_to_date(connection: sqlite3.Connection, embedding: str) -> bool:
    """Tell whether the last run was finished, by this version with this model."""
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    return (
        meta.get("sidecar_stale") == 0
        and meta.get("content_version") == content_version()
        and meta.get("embedding") == embedding
    )


def finish_run(
    connection: sqlite3.Connection, folder: Path, embedding: str, *, forget: bool = False
) -> None:
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
    set_meta(connection, "embedding", embedding)
    set_meta(connection, "content_version", content_version())
    set_meta(connection, "indexed_at", int(time.time()))
    connection.execute("COMMIT")
    if has_lexical_index(connection) and (forget or _many_segments(connection)):
        connection.execute("INSERT INTO chunk_fts(chunk_fts) VALUES ('optimize')")
    write_sidecar(connection, folder)


def _many_segments(connection: sqlite3.Connection) -> bool:
    """Tell whether the lexical index lies in so many pieces that a query feels it."""
    row = connection.execute("SELECT count(DISTINCT segid) FROM chunk_fts_idx").fetchone()
    return bool(row[0] > 4)
