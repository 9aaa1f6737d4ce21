"""Numbered steps from an empty file to the newest schema; there is no way down."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable

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


def add_lexical_index(connection: sqlite3.Connection) -> bool:
    """Make the FTS5 table where it is missing; False when this SQLite lacks the module.

    A store without it is searched by scanning. Once the module is there, clearing the version has
    every source indexed again.
    """
    if has_lexical_index(connection):
        return True
    try:
        connection.execute(TABLES["chunk_fts"])
    except sqlite3.OperationalError as error:
        if "no such module" in str(error):
            return False
        raise
    set_meta(connection, "content_version", "")
    return True


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for name, sql in (*TABLES.items(), *INDEXES.items()):
        if name != "chunk_fts":
            connection.execute(sql)
    set_meta(connection, "store_id", secrets.token_hex(16))


_STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create,)
