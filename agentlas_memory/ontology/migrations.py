"""Numbered steps from every earlier schema to the newest; there is no way down."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping

from agentlas_memory.ontology.naming import TERMS_VERSION, IndexTerms, index_terms, source_name
from agentlas_memory.ontology.schema import APPLICATION_ID, INDEXES, SCHEMA_VERSION, TABLES
from agentlas_memory.ontology.writer import has_lexical_index, set_meta


class NewerStore(Exception):
    """The store was written by a newer version of this program."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store up to SCHEMA_VERSION, each step in a transaction of its own.

    A run that is killed leaves a journal, which the next one plays back before it looks.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"the store has schema {version}, this version knows {SCHEMA_VERSION}:"
            " install the newer agentlas-memory again, or move the store away and index anew"
        )
    for number in range(version + 1, SCHEMA_VERSION + 1) if version else [SCHEMA_VERSION]:
        connection.execute("BEGIN IMMEDIATE")
        (_STEPS[number] if version else _create)(connection)
        connection.execute(f"PRAGMA user_version = {number}")
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


def _one_shape_of_sources(connection: sqlite3.Connection) -> None:
    """Give `sources` the shape it has now: three in a row bore the number 1."""
    _reshape(connection, "sources", {"mtime_ns": "changed_ns"})


def _reshape(connection: sqlite3.Connection, table: str, renamed: Mapping[str, str]) -> None:
    """Make a table anew as schema.py has it now, word for word, with its rows and its indexes.

    ALTER TABLE would leave a text of its own in the file, and readers compare texts. A step thus
    leads to today's shape whatever its number, and is nothing where that is reached.
    """
    sql = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    if connection.execute(sql, (table,)).fetchone() in (None, (TABLES[table],)):
        return
    connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM main.{table}")
    connection.execute(f"DROP TABLE main.{table}")
    connection.execute(TABLES[table])
    now = _columns(connection, f"main.{table}")
    shared = {old: renamed.get(old, old) for old in _columns(connection, "temp.kept")}
    shared = {old: new for old, new in shared.items() if new in now}
    try:
        connection.execute(
            f"INSERT INTO main.{table}({', '.join(shared.values())})"
            f" SELECT {', '.join(shared)} FROM temp.kept"
        )
    except sqlite3.IntegrityError as error:  # no version of ours wrote such a row
        raise sqlite3.DatabaseError(f"a row of {table} fits no schema: {error}") from error
    connection.execute("DROP TABLE temp.kept")
    for index in INDEXES.values():
        connection.execute(index.replace("INDEX ", "INDEX IF NOT EXISTS ", 1))


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    schema, _, name = table.partition(".")
    return [row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({name})")]


# The step that leads to a number from the one before.
_STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {2: _one_shape_of_sources}
