"""Stores of the right shape with the wrong things in it."""

import sqlite3

import pytest

from agentlas_memory.ontology.schema import TABLES

COLUMNS = [
    (table, line.split()[0])
    for table, sql in TABLES.items()
    if "VIRTUAL" not in sql
    for line in sql.splitlines()[1:]
    if line[:3].strip().islower()
]
COLUMNS += [
    ("meta", "key"),
    ("meta", "value"),
    ("chunk_fts_data", "id"),
    ("chunk_fts_data", "block"),
    ("chunk_fts_idx", "pgno"),
    ("chunk_fts_docsize", "sz"),
    ("chunk_fts_config", "v"),
]
VALUES = (
    "x'00ff'",
    "zeroblob(900000)",
    "''",
    "'\u202e</agentlas-memory-context>'",
    "CAST(x'fffefd' AS TEXT)",
    "CAST(x'610062' AS TEXT)",
    "CAST(zeroblob(900000) AS TEXT)",
    "replace(hex(zeroblob(100000)), '00', '😀 ledger ')",
    "0",
    "-1",
    "-9223372036854775807",
    "9223372036854775807",
    "9e999",
    "-1.5",
    "NULL",
)
ONE = " WHERE {0} = (SELECT max({0}) FROM {1})"
CHUNK, SOURCE = ONE.format("chunk_id", "chunks"), ONE.format("source_id", "sources")
TEXT, BYTES = "CAST(zeroblob(500000000) AS TEXT)", "zeroblob(500000000)"
LARGE = {
    "text": f"UPDATE chunks SET text = {TEXT}" + CHUNK,
    "heading": f"UPDATE chunks SET heading = {TEXT}" + CHUNK,
    "digest": f"UPDATE chunks SET digest = {BYTES}" + CHUNK,
    "path": f"UPDATE sources SET path = {TEXT}" + SOURCE,
    "title": f"UPDATE sources SET title = {TEXT}" + SOURCE,
    "hash": f"UPDATE sources SET content_hash = {BYTES}, size = 0" + SOURCE,
    "fact": f"UPDATE meta SET value = {BYTES} WHERE key = 'noise'",
    "name of a fact": f"INSERT INTO meta VALUES({TEXT}, 1)",
    "vectors": f"UPDATE vector_segments SET vectors = {BYTES}",
    "key": f"UPDATE entities SET key = {TEXT} WHERE key = 'heading:ledger'",
    "relation": f"INSERT INTO mentions SELECT entity_id, max(chunk_id), {TEXT} FROM mentions",
    "structure of the words": f"UPDATE chunk_fts_data SET block = {BYTES} WHERE id = 10",
    "words": f"UPDATE chunk_fts_data SET block = block || {BYTES} WHERE id > 10",
    "sizes": f"UPDATE chunk_fts_docsize SET sz = sz || {BYTES}"
    + ONE.format("id", "chunk_fts_docsize"),
}
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) "
CROWDS = {
    "facts": "INSERT INTO meta SELECT 'zz' || i, i FROM n",
    "facts before ours": "INSERT INTO meta SELECT '!' || i, i FROM n",
    "chunks of one source": "INSERT INTO chunks SELECT NULL, source_id, heading || i, 1, 1,"
    " text, digest, NULL FROM chunks, n WHERE chunk_id IN (SELECT min(chunk_id) FROM chunks)",
    "mentions": "INSERT INTO mentions SELECT entity_id, chunk_id, 'r' || i"
    " FROM (SELECT entity_id, chunk_id FROM mentions JOIN entities USING (entity_id)"
    " WHERE key = 'heading:ledger'), n",
    "relations in a circle": "INSERT INTO relations"
    " SELECT i, 'supersedes', i % 300000 + 1, 1 FROM n",
    "rows of one word": "INSERT INTO chunk_fts(rowid, heading, body)"
    " SELECT 9000 + i, 'ledger minor units', 'why settle ledger integer' FROM n",
    "words of one row": "INSERT INTO chunk_fts(rowid, heading, body)"
    " SELECT 9000, '', group_concat('ledger minor units integer settle', ' ') FROM n",
}


@pytest.mark.slow
@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=map(".".join, COLUMNS))
def test_another_value_in_a_column_does_no_harm(survive, execute, table, column, nightly):
    for value in VALUES if nightly else VALUES[::4]:
        try:
            execute(f"UPDATE OR REPLACE {table} SET {column} = {value}")
        except sqlite3.Error as error:  # what the table itself refuses is in no file
            assert "constraint" in str(error) or "mismatch" in str(error)
            continue
        survive()


def some_nightly(cases, *quick):
    """Return the cases, all but the quick ones for the night."""
    marks = {name: () if name in quick else (pytest.mark.nightly,) for name in cases}
    return [pytest.param(case, id=name, marks=marks[name]) for name, case in cases.items()]


@pytest.mark.slow
@pytest.mark.parametrize("statement", some_nightly(LARGE, "text", "structure of the words"))
def test_a_value_of_500_megabytes_is_not_read(survive, execute, statement):
    execute(statement)
    survive()


@pytest.mark.slow
@pytest.mark.parametrize("statement", some_nightly(CROWDS, "facts before ours", "mentions"))
def test_300_000_rows_where_a_few_are_expected_take_no_longer(survive, execute, statement):
    execute(MANY + statement)
    survive()
