"""Damage and malice in a store: what can be read is carried, nothing in it is obeyed."""

import os
import random

import pytest

ZORKMID = "A zorkmid is the coin of the realm."


@pytest.mark.parametrize("seed", range(6))
def test_what_can_be_read_of_a_damaged_store_is_carried(upstream, am, kept, notes, seed):
    store = upstream(lexical=False, wal=False)
    for number in range(60):
        store.source(f"note:{number}", f"The gateway number {number} is drained. " * 60)
    store.close()
    data = bytearray(store.path.read_bytes())
    chance = random.Random(seed)
    pages = len(data) // 4096
    for page in chance.sample(range(pages // 2, pages), 3):  # behind the schema
        data[page * 4096 : page * 4096 + 4096] = chance.randbytes(4096)
    store.path.write_bytes(data)
    outcome = am("import-store", "--yes", "--json")
    assert outcome.code == 0, outcome.err
    assert 30 < outcome.json["carried"]["notes"] <= 60
    damaged = [one for one in outcome.json["not_carried"] if one["what"] == "tables"]
    assert damaged or outcome.left()
    assert kept.read_bytes() == bytes(data)


def test_a_store_that_was_cut_short_is_carried_as_far_as_it_goes(upstream, am, kept):
    store = upstream(lexical=False, wal=False)
    for number in range(60):
        store.source(f"note:{number}", f"The gateway number {number} is drained. " * 60)
    store.close()
    data = store.path.read_bytes()
    store.path.write_bytes(data[: len(data) * 4 // 5])
    outcome = am("import-store", "--yes", "--json")
    assert outcome.code == 0, outcome.err
    assert 5 < outcome.json["carried"]["notes"] < 60


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param(
            "CREATE TRIGGER t AFTER INSERT ON chunks BEGIN DELETE FROM sources; END", id="trigger"
        ),
        pytest.param(
            "ALTER TABLE entities RENAME TO e; CREATE VIEW entities AS WITH RECURSIVE c(x) AS"
            " (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS entity_id FROM c",
            id="a view without end",
        ),
        pytest.param(
            "DROP TABLE working_memory; CREATE VIRTUAL TABLE working_memory USING fts5(item_id)",
            id="virtual table",
        ),
        pytest.param("DROP TABLE memory_links", id="a table is missing"),
        pytest.param("ALTER TABLE chunks DROP COLUMN privacy_scope", id="a column is missing"),
        pytest.param(
            "DROP TABLE relations; CREATE TABLE relations(a, PRIMARY KEY(a)) WITHOUT ROWID",
            id="without rowids",
        ),
        pytest.param(
            "CREATE TABLE big(x, text AS (hex(zeroblob(500000000))))", id="computed column"
        ),
        pytest.param(
            "DROP TABLE memory_links; CREATE TABLE memory_links(rowid TEXT, from_ticket)",
            id="a column called rowid",
        ),
    ],
)
def test_a_schema_that_means_harm_is_not_obeyed(upstream, am, notes, statements):
    store = upstream(lexical=False)
    store.source("note:1", ZORKMID)
    for statement in [statements] if "BEGIN" in statements else statements.split("; "):
        store.connection.execute(statement)
    store.close()
    assert am("import-store", "--yes").code == 0
    assert ZORKMID in notes()[0]


def test_a_store_whose_sources_are_a_view_has_none(upstream, am, place):
    store = upstream(lexical=False)
    store.source("note:1", ZORKMID)
    store.connection.execute("ALTER TABLE sources RENAME TO s")
    store.connection.execute("CREATE VIEW sources AS SELECT * FROM s")
    store.close()
    outcome = am("import-store", "--yes", "--json")
    assert (outcome.code, outcome.json["carried"]) == (0, {"files": 0})


@pytest.mark.parametrize(
    "column", ["uri", "display_name", "version", "privacy_scope", "updated_at"]
)
@pytest.mark.parametrize(
    "value",
    [
        None,
        -(1 << 63),
        1.5e308,
        b"\xff\x00",
        "",
        "\0",
        "../../etc/passwd",
        "a" * 100_000,
        "9999-99-99",
    ],
    ids=["null", "integer", "real", "blob", "blank", "nul", "path", "long", "no date"],
)
def test_a_column_may_hold_anything(upstream, am, notes, column, value):
    store = upstream()
    store.source("note:1", ZORKMID)
    store.connection.execute(f"UPDATE sources SET {column} = ?", (value,))
    store.close()
    outcome = am("import-store", "--yes", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["carried"]["notes"] == 1
    assert ZORKMID in notes()[0]


@pytest.mark.parametrize(
    "column", ["candidate_text", "agent_id", "tags_json", "salience", "status"]
)
@pytest.mark.parametrize("value", [None, 7, b"\xff", "\ud800".encode("utf-8", "surrogatepass")])
def test_a_row_of_memory_may_hold_anything(upstream, am, memory, column, value):
    store = upstream()
    store.learn("t1", "Ledgers are kept in cents")
    store.learn("t2", "Ledgers are kept in pence")
    sql = f"UPDATE memory_candidates SET {column} = CAST(? AS TEXT) WHERE ticket_id = 't1'"
    store.connection.execute(
        sql if isinstance(value, bytes) else sql.replace("CAST(? AS TEXT)", "?"), (value,)
    )
    store.close()
    outcome = am("import-store", "--agent", "ledger-keeper", "--yes", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["carried"]["experience"] >= 1


def test_text_that_is_no_utf8_is_carried_as_far_as_it_is(upstream, am, notes):
    store = upstream(lexical=False)
    store.source("note:1", "x")
    sql = "UPDATE chunks SET text = CAST(? AS TEXT)"
    store.connection.execute(sql, (b"A zorkmid \xff\xfe is a coin of gold.",))
    store.close()
    assert am("import-store", "--yes").code == 0
    assert "is a coin of gold." in notes()[0]


def test_files_beside_it_that_are_none_are_refused(filled, am, place):
    os.mkfifo(f"{place}-journal")
    outcome = am("import-store", "--yes")
    assert outcome.code == 1
    assert "no regular file" in outcome.err


def test_a_link_in_the_stores_place_is_not_followed(filled, am, place, tmp_path):
    place.rename(tmp_path / "elsewhere.sqlite")
    place.symlink_to(tmp_path / "elsewhere.sqlite")
    assert am("import-store", "--yes").code == 2
    assert place.is_symlink()


@pytest.mark.parametrize(
    "uri", ["/etc/hosts", "../../secret.md", "file:///etc/hosts", "docs/link.md", "file:///%00"]
)
def test_no_address_leads_out_of_the_project(upstream, am, root, uri, notes):
    (root.parent / "secret.md").write_text("# Secret\n\nThe quokka sleeps.\n")
    (root / "docs/link.md").symlink_to(root.parent / "secret.md")
    store = upstream()
    store.source(uri, ZORKMID)
    store.close()
    assert am("import-store", "--yes", "--json").json["carried"]["notes"] == 1
    assert "quokka" not in notes()[0]
