"""Stores whose definitions were made by somebody else."""

import pytest

FACT = "integer minor units"
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "


def define(name, sql, kind="table", root=2):
    """Return a statement that puts a definition into the schema, unread."""
    sql = sql.replace("'", "''")
    return f"INSERT INTO sqlite_schema VALUES('{kind}', '{name}', '{name}', {root}, '{sql}')"


def redefine(column, value, name="chunks"):
    return f"UPDATE sqlite_schema SET {column} = {value} WHERE name = '{name}'"


SHADOW = "DROP TABLE chunk_fts_{}"
OTHERS = {
    "another program's table": ["CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url)"],
    "generated columns": ["CREATE TABLE g(a, b AS (hex(zeroblob(1000000))), c AS (b) STORED)"],
    "without rowid": ["CREATE TABLE w(a PRIMARY KEY, b) WITHOUT ROWID"],
    "a table of tokens": ["CREATE VIRTUAL TABLE v USING fts5vocab(chunk_fts, instance)"],
    "another full-text index": ["CREATE VIRTUAL TABLE f USING fts5(a)"],
    "an older full-text index": ["CREATE VIRTUAL TABLE f USING fts3(a)"],
    "a module nobody has": [define("m", "CREATE VIRTUAL TABLE m USING evil(a)", root=0)],
    "an index with an expression": ["CREATE INDEX i ON chunks(length(text) + abs(start_line))"],
    "an index with a part": ["CREATE INDEX i ON chunks(text) WHERE start_line > 0"],
    "an index that goes astray": [
        "CREATE INDEX i ON chunks(heading)",
        redefine("rootpage", 3, "i"),
    ],
    "statistics that mislead": [
        "ANALYZE",
        "UPDATE sqlite_stat1 SET stat = '9223372036854775807 1 1 1'",
    ],
    "statistics of another shape": [
        "ANALYZE",
        "UPDATE sqlite_stat1 SET stat = zeroblob(99), idx = 7",
    ],
    "10,000 tables": ["BEGIN", *(f"CREATE TABLE t{n}(a, b, c)" for n in range(10_000)), "COMMIT"],
    "300,000 columns": [
        "BEGIN",
        *(f"CREATE TABLE t{n}({','.join(f'c{m}' for m in range(2000))})" for n in range(150)),
        "COMMIT",
    ],
    "a definition of 50 MB": [f"CREATE TABLE t(a DEFAULT '{'x' * 50_000_000}')"],
    "a trigger of 50 MB": [
        f"CREATE TRIGGER t AFTER INSERT ON meta BEGIN SELECT '{'x' * 50_000_000}'; END"
    ],
    "brackets in brackets": [define("d", f"CREATE TABLE d(a DEFAULT {'(' * 5000}1{')' * 5000})")],
    "views upon views": [
        "CREATE VIEW v0 AS SELECT 1 AS a",
        *(f"CREATE VIEW v{n} AS SELECT * FROM v{n - 1}, v{n - 1}" for n in range(1, 40)),
    ],
    "a view for the words": [
        SHADOW.format("data"),
        "CREATE VIEW chunk_fts_data AS SELECT 10 AS id, zeroblob(900000) AS block",
    ],
    "a full-text index for the words": [
        SHADOW.format("data"),
        "CREATE VIRTUAL TABLE chunk_fts_data USING fts5(id, block)",
    ],
    "tokens for the words": [
        SHADOW.format("idx"),
        "CREATE VIRTUAL TABLE chunk_fts_idx USING fts5vocab(chunk_fts, instance)",
    ],
    "no words": [SHADOW.format("data")],
    "no sizes": [SHADOW.format("docsize")],
    "no configuration": [SHADOW.format("config")],
    "another ranking": ["INSERT OR REPLACE INTO chunk_fts_config VALUES('rank', 'evil(1, 2)')"],
    "another page size": ["INSERT OR REPLACE INTO chunk_fts_config VALUES('pgsz', -1)"],
    "another configuration": ["UPDATE chunk_fts_config SET v = 99"],
    "a table at another's place": [redefine("rootpage", 3)],
    "a table in the schema's place": [redefine("rootpage", 1)],
    "a table nowhere": [redefine("rootpage", 0)],
    "a table beyond the end": [redefine("rootpage", 2_000_000_000)],
    "a table at a negative place": [redefine("rootpage", -1)],
    "a table twice": [
        "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'chunks'",
    ],
    "no definition": [redefine("sql", "NULL")],
    "a definition of bytes": [redefine("sql", "zeroblob(999)")],
    "a number for a definition": [redefine("sql", "7")],
    "a kind of bytes": [redefine("type", "x'7461626c65'")],
    "a name of another type": ["CREATE TABLE t(a)", redefine("name", "x'ff'", "t")],
    "a name that is no text": ["CREATE TABLE t(a)", redefine("name", "CAST(x'ff' AS TEXT)", "t")],
    "other white space": [redefine("sql", "replace(sql, ' TEXT', '  TEXT')")],
    "columns in another order": [redefine("sql", "replace(sql, 'heading', 'start_line ')")],
    "a definition of two": [redefine("sql", "sql || '; DROP TABLE meta'")],
}


@pytest.mark.slow
@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS)
def test_definitions_of_others_do_no_harm(survive, execute, statements):
    execute(*statements)
    survive()


@pytest.mark.parametrize("name", ["another program's table", "generated columns"])
def test_what_is_not_read_is_no_hindrance(survive, execute, name):
    execute(*OTHERS[name])
    assert FACT in survive()[0]


@pytest.mark.parametrize("name", ["a view for the words", "columns in another order"])
def test_what_would_be_read_in_another_shape_is_not(survive, execute, name):
    execute(*OTHERS[name])
    assert survive() == ["", ""]
