"""Stores in every condition, and sources that moved on since they were indexed."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading

import pytest

from agentlas_memory.ontology import OntologyRuntime, schema
from agentlas_memory.ontology.index import index_project
from agentlas_memory.project import DATABASE

FACT = "integer minor units"


@pytest.fixture
def project(make_project):
    return make_project()


@pytest.fixture
def store(project):
    return project / ".agentlas/ontology-runtime.sqlite"


def execute(store, sql):
    connection = sqlite3.connect(store)
    connection.executescript(sql)
    connection.close()


DAMAGE = {
    "empty": lambda data: b"",
    "text": lambda data: b"this is no database\n" * 400,
    "first page zero": lambda data: bytes(4096) + data[4096:],
    "cut to 1,000 bytes": lambda data: data[:1000],
    "cut to 100 bytes": lambda data: data[:100],
    "cut to two pages": lambda data: data[:8192],
    "schema page zero": lambda data: data[:100] + bytes(3996) + data[4096:],
    "all but the header noise": lambda data: data[:4096] + b"\xa5" * (len(data) - 4096),
    "all but the header zero": lambda data: data[:4096] + bytes(len(data) - 4096),
    "another program's": lambda data: data[:68] + b"GPKG" + data[72:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_store_is_silent_and_said_to_be(project, store, ask, receipt, damage):
    data = damage(store.read_bytes())
    store.write_bytes(data)
    assert ask(project, logs=True) == ""
    assert receipt()["silence_reason"] == "store_error"
    assert store.read_bytes() == data


def test_a_chunk_that_was_changed_in_the_store_is_not_shown(project, store, ask):
    execute(store, "UPDATE chunks SET text = replace(text, 'floats', 'demons')")
    assert ask(project) == ""


FOREIGN = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON meta BEGIN SELECT 1; END",
    "view": "CREATE VIEW v AS SELECT 1",
    "a view for a table": "ALTER TABLE sources RENAME TO s; CREATE VIEW sources AS SELECT * FROM s",
    "a column more": "ALTER TABLE chunks ADD COLUMN note TEXT",
    "a table less": "DROP TABLE mentions",
}


@pytest.mark.parametrize("sql", FOREIGN.values(), ids=FOREIGN)
def test_a_store_with_tables_that_are_not_ours_is_silent(project, store, ask, receipt, sql):
    execute(store, sql)
    assert ask(project, logs=True) == ""
    assert receipt()["silence_reason"] == "store_error"


def test_a_newer_store_is_read_where_its_tables_are_the_known_ones(project, store, ask):
    execute(store, "PRAGMA user_version = 99; CREATE TABLE new_one(x)")
    assert FACT in ask(project)


def test_a_newer_store_with_other_tables_is_silent(project, store, ask, data):
    execute(store, "PRAGMA user_version = 99; ALTER TABLE sources ADD COLUMN weight")
    assert ask(project, logs=True) == ""
    assert "newer version" in (data / "state/hook.log").read_text()


def test_a_locked_store_is_silent_within_its_time(project, store, ask, receipt):
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    assert ask(project, logs=True) == ""
    assert receipt()["silence_reason"] == "store_error"
    connection.execute("ROLLBACK")
    connection.close()


def test_a_writer_that_has_not_committed_is_no_hindrance(project, store, ask):
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM chunks")
    assert FACT in ask(project)
    connection.execute("ROLLBACK")
    connection.close()


WRITE_HALF = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.executescript("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
connection.execute("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                   " SELECT i + 1 FROM n LIMIT 9999) SELECT i, randomblob(99) FROM n")
connection.execute("UPDATE chunks SET text = hex(randomblob(9999))")
os._exit(0)
"""


def test_a_hot_journal_is_left_to_the_next_index(project, store, ask, index):
    """A process that is killed while it writes leaves one."""
    subprocess.run([sys.executable, "-c", WRITE_HALF, store], check=True)
    journal = store.with_name(store.name + "-journal")
    before = store.read_bytes(), journal.read_bytes()
    assert ask(project, logs=True) == ""
    assert (store.read_bytes(), journal.read_bytes()) == before
    index(project)
    assert FACT in ask(project, logs=True)


def test_hooks_and_writers_at_once(project, ask, data):
    """Each hook sees a whole state, or is silent because it did not wait for a commit."""
    stop = threading.Event()

    def write():
        for number in range(10_000):
            if stop.is_set():
                return
            (project / f"docs/more-{number % 7}.md").write_text(f"# More\n\nNumber {number}.\n")
            index_project(project)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        answers = [ask(project, logs=None) for _ in range(20)]
    finally:
        stop.set()
        writer.join()
    assert {FACT in answer for answer in answers if answer} == {True}
    log = data / "state/hook.log"
    assert all("locked" in line for line in (log.read_text() if log.exists() else "").splitlines())


def test_without_fts5_a_scan_finds_it(make_project, ask, receipt, monkeypatch):
    sql = schema.TABLES["chunk_fts"].replace("fts5", "no_such_module")
    monkeypatch.setitem(schema.TABLES, "chunk_fts", sql)
    root = make_project()
    capsule = ask(root)
    assert FACT in capsule
    assert "retrieval=degraded_lexical;" in capsule
    assert receipt()["retrieval"] == "degraded_lexical"


def test_a_missing_sidecar_costs_the_cosines_only(project, ask):
    for file in (project / ".agentlas").glob("*.vec-*"):
        file.unlink()
    assert "retrieval=degraded_lexical;" in ask(project)


def test_a_store_with_nothing_in_it_is_silent(make_project, ask, receipt):
    assert ask(make_project({})) == ""
    assert receipt()["silence_reason"] == "gated"


def test_an_edited_file_is_left_out(project, ask, receipt):
    file = project / "docs/ledger.md"
    file.write_text(file.read_text().replace("cents", "money"))
    assert ask(project) == ""
    assert receipt()["silence_reason"] == "stale"


def test_a_file_edited_without_changing_its_size_is_left_out(project, ask):
    file = project / "docs/ledger.md"
    file.write_text(file.read_text().replace("floats", "Floats"))
    os.utime(file, (1, 1))
    assert ask(project) == ""


def test_a_touched_file_is_shown(project, ask):
    os.utime(project / "docs/ledger.md", (1, 1))
    assert FACT in ask(project)


def unlink(file):
    file.unlink()


def make_folder(file):
    file.unlink()
    file.mkdir()


def make_fifo(file):
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("replace", [unlink, make_folder, make_fifo])
def test_a_vanished_file_is_left_out(project, ask, receipt, replace):
    replace(project / "docs/ledger.md")
    assert ask(project) == ""
    assert receipt()["silence_reason"] == "stale"


def test_only_the_changed_file_is_left_out(make_project, ask):
    text = "# {0}\n\nWe settle the {0} ledger in integer minor units, since floats lose cents.\n"
    root = make_project({f"docs/{name}.md": text.format(name) for name in ("first", "second")})
    (root / "docs/first.md").write_text("changed")
    capsule = ask(root)
    assert "docs/second.md" in capsule
    assert "docs/first.md" not in capsule


def test_a_superseded_document_is_not_shown(make_project, ask):
    text = "# {}\n\n## Status\n\n{}\n\n## Decision\n\nThe SSH port of the bastion is {}\n"
    old = text.format("1. Port", "Superseded by [ADR 2](0002-port.md)", "22.")
    new = text.format("2. Port", "Accepted", "49222 now.")
    root = make_project({"docs/adr/0001-port.md": old, "docs/adr/0002-port.md": new})
    capsule = ask(root, "what is the SSH port of the bastion?")
    assert "49222" in capsule
    assert "is 22." not in capsule


def test_a_private_document_is_not_shown(make_project, ask, start):
    config = '[scopes]\n"docs/private/" = "private"\n"docs/open/" = "public"\n'
    text = "# Bastion\n\nThe SSH port of the bastion is {}.\n"
    root = make_project(
        {
            ".agentlas/memory.toml": config,
            "docs/private/port.md": text.format(49222),
            "docs/open/port.md": text.format("in the vault"),
        }
    )
    capsule = ask(root, "what is the SSH port of the bastion?")
    assert "vault" in capsule
    assert "49222" not in capsule


NAMES = {
    "AGENT.md": False,
    "AGENTS.md": False,
    "CLAUDE.md": False,
    "CLAUDE.local.md": False,
    "GEMINI.md": False,
    "docs/agents.MD": False,
    "packages/web/Claude.md": False,
    ".claude/memory/MEMORY.md": False,
    "home/.codex/memories/memory.md": False,
    "docs/MEMORY.md": True,
    "docs/agents.md.txt": True,
    "CLAUDE.md/notes.md": True,
}


@pytest.mark.parametrize(("name", "shown"), NAMES.items(), ids=NAMES)
def test_what_a_host_loads_itself_is_not_quoted(make_project, ask, receipt, name, shown):
    root = make_project({})
    text = "We settle the ledger in integer minor units because floats lose cents."
    OntologyRuntime(root / DATABASE).ingest_records([(name, text, "Ledger", name)])
    assert (FACT in ask(root)) is shown
    assert receipt()["silence_reason"] == ("" if shown else "policy_source")


@pytest.fixture
def without_writing():
    """Take the right to write in a folder away for the time of a test."""
    changed = {}

    def take(folder):
        for path in [folder, *folder.rglob("*")]:
            changed[path] = path.stat().st_mode
            path.chmod(changed[path] & 0o555)

    yield take
    for path, mode in changed.items():
        path.chmod(mode)


@pytest.fixture
def bound(launcher):
    """The launcher, bound by permissions even where the tests run as root."""
    if os.getuid():
        return launcher
    if shutil.which("setpriv") is None:
        pytest.skip("permissions do not bind root")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", launcher]


@pytest.mark.parametrize("which", ["project", "home"])
def test_a_read_only_folder_is_no_hindrance(
    project, home, bound, run_hook, prompt_event, context, without_writing, which
):
    without_writing({"project": project, "home": home}[which])
    assert FACT in context(run_hook(prompt_event(project), program=bound))


def test_a_store_that_may_not_be_read_is_silent(
    project, store, bound, run_hook, prompt_event, data
):
    store.chmod(0o000)
    assert run_hook(prompt_event(project), program=bound, logs=True) == b""
    assert "Permission denied" in (data / "state/hook.log").read_text()


def test_a_home_that_is_a_file_is_survived(project, environment, ask, tmp_path):
    (tmp_path / "file").write_text("")
    environment["HOME"] = str(tmp_path / "file")
    assert ask(project) == ""


def test_a_state_folder_that_is_a_file_is_no_hindrance(project, data, ask):
    shutil.rmtree(data / "state", ignore_errors=True)
    (data / "state").write_text("")
    assert FACT in ask(project)
