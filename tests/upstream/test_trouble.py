"""Logs and journals that are full, locks, damage, malice: nothing is lost, nothing is obeyed."""

import os
import random
import signal
import sqlite3
import subprocess
import sys

import pytest

ZORKMID = "A zorkmid is the coin of the realm."
HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement)
print("held", flush=True)
sys.stdin.read()
"""
CHANGE = "UPDATE chunks SET text = 'The gateway listens on port 4711 of every blue host.'"


def beside(place):
    """Return the bytes of a store, and of its log and journal, by what follows its name."""
    files = [place.with_name(place.name + suffix) for suffix in ("", "-wal", "-journal")]
    return {f.name.removeprefix(place.name): f.read_bytes() for f in files if f.exists()}


@pytest.fixture
def hold(place):
    """Start a process that opens the store and runs statements; it ends with the test."""
    children = []

    def start(*statements):
        command = [sys.executable, "-c", HOLD, place, *statements]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        children.append(child)
        assert child.stdout.readline() == b"held\n"
        return child

    yield start
    for child in children:
        child.communicate()


@pytest.fixture
def notes(am):
    return lambda: [one["text"] for one in am("notes", "list", "--json").json["notes"]]


def test_what_a_live_log_alone_holds_is_carried_and_kept(upstream, hold, am, place, kept, notes):
    store = upstream()
    store.source("note:1", "old text")
    store.close()
    hold("PRAGMA wal_autocheckpoint=0", CHANGE)
    before = beside(place)
    assert set(before) == {"", "-wal"}
    outcome = am("import-store", "--yes")
    assert outcome.code == 0
    assert "is open in another program" in outcome.err
    assert "port 4711" in notes()[0]
    assert beside(kept) == before
    assert not place.with_name(f"{place.name}-wal").exists()


def test_what_the_log_of_a_killed_process_holds_is_carried(upstream, hold, am, place, kept, notes):
    store = upstream()
    store.source("note:1", "old text")
    store.close()
    child = hold("PRAGMA wal_autocheckpoint=0", CHANGE)
    child.kill()
    child.wait()
    before = beside(place)
    assert am("import-store", "--yes").code == 0
    assert "port 4711" in notes()[0]
    assert beside(kept) == before


def test_a_journal_of_a_killed_process_is_played_back_into_a_copy(
    upstream, hold, am, place, kept, notes
):
    store = upstream(wal=False)
    store.source("note:1", ZORKMID)
    for number in range(40):
        store.source(f"pad:{number}", f"Padding {number}. " * 300)
    store.close()
    child = hold("PRAGMA cache_size=1", "BEGIN IMMEDIATE", CHANGE)
    child.kill()
    child.wait()
    before = beside(place)
    assert "-journal" in before
    assert b"port 4711" in before[""]  # half of what was never committed
    assert am("import-store", "--yes").code == 0
    assert any(ZORKMID in note for note in notes())
    assert not any("4711" in note for note in notes())
    assert beside(kept) == before


@pytest.mark.parametrize("statement", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
def test_a_store_that_is_being_written_is_left_alone(upstream, hold, am, place, kept, statement):
    store = upstream(wal=False)
    store.source("note:1", ZORKMID)
    store.close()
    hold(statement)
    before = beside(place)
    outcome = am("import-store", "--yes")
    assert outcome.code == 1
    assert "locked" in outcome.err
    assert beside(place) == before
    assert not kept.exists()


def test_a_store_that_may_only_be_read_is_taken_over(filled, am, kept):
    filled.chmod(0o400)
    assert am("import-store", "--yes").code == 0
    assert kept.stat().st_mode & 0o777 == 0o400


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


def test_a_store_can_be_made_to_have_a_reason_for_each_row(upstream, am):
    store = upstream()
    for number in range(500):
        store.learn(f"t{number}", "x", status=f"odd {number}", agent=f"hub:a{number % 250}")
    store.close()
    outcome = am("import-store", "--yes", "--json")
    assert len(outcome.json["not_carried"]) < 70
    assert sum(one["count"] for one in outcome.json["not_carried"]) == 500


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


@pytest.mark.slow
def test_values_of_50_mb_are_passed_over(upstream, am, notes):
    store = upstream(lexical=False)
    store.source("note:1", ZORKMID, metadata_json="[" * 50_000_000)
    store.connection.execute("UPDATE chunks SET vector_json = ?", ("[0.1]" * 10_000_000,))
    store.source("note:2", "y" * 50_000_000)
    store.learn("t1", "Ledgers are kept", tags_json="[" * 50_000_000)
    store.close()
    outcome = am("import-store", "--yes", "--json")
    assert outcome.code == 0
    assert outcome.json["carried"]["notes"] == 1
    assert outcome.left()["chunks", "longer than is read"] == 1
    assert am("import-store", "--agent", "ledger-keeper", "--yes").code == 0


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


STEPS = {  # a name -> what is replaced, so that the process dies there
    "before the scopes": "import agentlas_memory.upstream.scopes as m; m.add_rules = die",
    "scopes written": "import agentlas_memory.commands.import_store as m; m._move = die",
    "log has two names": "import agentlas_memory.upstream.moving as m; m._rename = die",
    "store has two names": "import agentlas_memory.upstream.moving as m; m.Path.unlink = die",
    "log has lost its old name": "import agentlas_memory.upstream.moving as m; m.finish_move = die",
    "moved": "import agentlas_memory.commands.index as m; m.run = die",
    "store made": "import agentlas_memory.ontology.index as m; m.index_project = die",
    "indexed": "import agentlas_memory.upstream.texts as m; m.write_texts = die",
    "a note half written": "import agentlas_memory.ontology.notes as m; m.os.fsync = third",
    "notes written": "import agentlas_memory.commands.import_store as m; m._count_files = die",
    "report unwritten": "import agentlas_memory.commands.import_store as m; m._keep_report = die",
    "before the ledger": "import agentlas_memory.ontology.agents as m; m.append_events = die",
    "ledger written": "import agentlas_memory.ontology.projection as m; m._make_way = die",
}
DIE = """
count = 0
def die(*args, **more):
    os.kill(os.getpid(), signal.SIGKILL)
def third(handle, real=os.fsync):
    global count
    count += 1
    die() if count == 3 else real(handle)
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_nothing_is_lost_and_a_second_run_goes_on(
    upstream, hold, am, process, make_card, root, place, kept, memory, notes, step
):
    store = upstream()
    make_card(root)
    store.source("docs/ledger.md", "We settle", scope="private")
    for number in range(5):
        store.source(f"note:{number}", f"The gateway number {number} is drained on Mondays.")
    store.learn("t1", "Ledgers are kept in cents")
    store.close()
    hold("PRAGMA wal_autocheckpoint=0", CHANGE.replace("4711", "' || rowid || '")).kill()
    trust_card(am, root)
    before = beside(place)
    died = process(DIE + STEPS[step], "import-store", "--yes")
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert before in (beside(place), beside(kept))
    assert am("import-store", "--yes").code == 0
    assert beside(kept) == before
    assert sorted(note[note.index("port") :][:6] for note in notes()) == [
        f"port {n}" for n in range(2, 7)
    ]
    assert am("query", "why settle the ledger in minor units?", "--json").json["hits"] == []
    assert (memory / "experience.jsonl").read_text().count("Ledgers are kept") == 1
    leftovers = [p.name for p in root.rglob("*") if p.name.endswith(".tmp") or ".tmp" in p.name]
    assert leftovers == []


def trust_card(am, root):
    """Say yes to the card alone: there is no store of ours yet."""
    from agentlas_memory.home import data_home
    from agentlas_memory.routing_card import read_card
    from agentlas_memory.trust_file import add_trust

    add_trust(data_home(), str(root), "0" * 32, card=read_card(str(root))[1])


MEASURE = """
import sys
from agentlas_memory.cli import cli
cli(["import-store", "--yes", "--json"], standalone_mode=False)
# Not ru_maxrss: that begins with what the process that started this one had.
peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(*peak, file=sys.stderr)
"""


@pytest.mark.slow
def test_a_store_of_100_000_chunks_is_streamed(upstream, root):
    store = upstream(lexical=False)
    words = ["ledger", "gateway", "rollout", "token", "cluster", "pager", "vault", "cursor"]
    for number in range(50):
        chance = random.Random(number)
        texts = [" ".join(chance.choices(words, k=25)) + f" {n}." for n in range(2000)]
        store.source(f"docs/ledger.md?{number}" if number else "docs/ledger.md", *texts)
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE sources SET uri = 'docs/' || rowid || '/../ledger.md' WHERE rowid > 2"
        )
    connection.close()
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr
    peak_kib = int(done.stderr.splitlines()[-1])
    assert peak_kib < 400_000
