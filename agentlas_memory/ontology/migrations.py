"""Numbered steps from an empty file to the newest schema; there is no way down."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator

from agentlas_memory.ontology.naming import TERMS_VERSION, IndexTerms, index_terms, source_name
from agentlas_memory.ontology.schema import APPLICATION_ID, INDEXES, SCHEMA_VERSION, TABLES
from agentlas_memory.ontology.writer import has_lexical_index, set_meta


class NewerStore(Exception):
    """The store was written by a newer version of this program."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store up to SCHEMA_VERSION, each step in a transaction of its own."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"the store has schema {version}, this version knows {SCHEMA_VERSION}:"
            " install the newer agentlas-memory again, or move the store away and index anew"
        )
    for number in range(version, SCHEMA_VERSION):
        connection.execute("BEGIN IMMEDIATE")
        _STEPS[number](connection)
        connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")


def renew_lexical_index(connection: sqlite3.Connection) -> None:
    """Fill the FTS5 table from the chunks, where it is missing or holds another analyzer's terms.

    A contentless table forgets only the terms it is told, so another analyzer's cannot be taken out
    one by one. Where this SQLite lacks the module there is no table, and recall scans the chunks.
    """
    version = connection.execute("SELECT value FROM meta WHERE key = 'terms_version'").fetchone()
    if has_lexical_index(connection) and version == (TERMS_VERSION,):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("DROP TABLE IF EXISTS chunk_fts")
        connection.execute(TABLES["chunk_fts"])
    except sqlite3.OperationalError as error:
        connection.execute("ROLLBACK")
        if "no such module" in str(error):
            return
        raise
    for chunk_id, terms in _terms_of_all(connection):
        connection.execute(
            "INSERT INTO chunk_fts(rowid, heading, body) VALUES (?, ?, ?)",
            (chunk_id, *terms.columns),
        )
        if terms.language:
            set_meta(connection, "portuguese", 1)
    set_meta(connection, "terms_version", TERMS_VERSION)
    connection.execute("COMMIT")


def _terms_of_all(connection: sqlite3.Connection) -> Iterator[tuple[int, IndexTerms]]:
    rows = connection.execute(
        "SELECT chunk_id, path, title, kind, heading, text FROM chunks JOIN sources"
        " USING (source_id) ORDER BY chunk_id"
    )
    for chunk_id, path, title, kind, heading, text in rows:
        yield chunk_id, index_terms(source_name(path, title, kind), heading, text)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for name, sql in (*TABLES.items(), *INDEXES.items()):
        if name != "chunk_fts":
            connection.execute(sql)
    set_meta(connection, "store_id", secrets.token_hex(16))


_STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create,)
