"""Logs and journals that are full, locks, kills: nothing is lost, and a next run goes on."""

import signal
import subprocess
import sys

import pytest

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
    store.source("note:1", "old text")
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
    assert any("old text" in note for note in notes())
    assert not any("4711" in note for note in notes())
    assert beside(kept) == before


@pytest.mark.parametrize("statement", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
def test_a_store_that_is_being_written_is_left_alone(upstream, hold, am, place, kept, statement):
    store = upstream(wal=False)
    store.source("note:1", "old text")
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


STEPS = {  # a name -> what is replaced, so that the process dies there
    "before the scopes": "import agentlas_memory.upstream.scopes as m; m.add_rules = die",
    "scopes half written": "import agentlas_memory.whole_file as m; m.NewVersion.sync = die",
    "scopes written": "import agentlas_memory.commands.import_store as m; m._move = die",
    "log has two names": "import agentlas_memory.upstream.moving as m; m._rename = die",
    "store has two names": "import agentlas_memory.upstream.moving as m; m.Path.unlink = die",
    "log has lost its old name": "import agentlas_memory.upstream.moving as m; m.finish_move = die",
    "moved": "import agentlas_memory.commands.index as m; m.run = die",
    "store made": "import agentlas_memory.ontology.index as m; m.index_project = die",
    "indexed": "import agentlas_memory.upstream.texts as m; m.write_texts = die",
    "a note half written": "import agentlas_memory.ontology.notes as m; m.os.fsync = at_note",
    "notes written": "import agentlas_memory.commands.import_store as m; m._count_files = die",
    "report unwritten": "import agentlas_memory.commands.import_store as m; m._keep_report = die",
    "before the ledger": "import agentlas_memory.ontology.agents as m; m.append_events = die",
    "ledger written": "import agentlas_memory.ontology.projection as m; m._make_way = die",
}
DIE = """
def die(*args, **more):
    os.kill(os.getpid(), signal.SIGKILL)
def at_note(handle, real=os.fsync):
    die() if os.readlink(f"/proc/self/fd/{handle}").endswith(".md.tmp") else real(handle)
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
    names = [path.name for path in (*root.rglob("*"), *memory.iterdir())]
    assert [name for name in names if ".tmp" in name or name.endswith(".new")] == []


def trust_card(am, root):
    """Say yes to the card alone: there is no store of ours yet."""
    from agentlas_memory.home import data_home
    from agentlas_memory.routing_card import read_card
    from agentlas_memory.trust_file import add_trust

    add_trust(data_home(), str(root), "0" * 32, card=read_card(str(root))[1])
