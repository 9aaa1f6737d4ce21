"""Which files the hook reads, and which it refuses with a reason."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.database import DamagedStore, ForeignStore, writable_database
from agentlas_memory.ontology.migrations import NewerStore
from agentlas_memory.ontology.schema import TABLES
from agentlas_memory.ontology.store import Store, StoreUnusable, open_store
from agentlas_memory.runtime import OntologyRuntime

KEYS = "# Keys\n\nWe rotate the signing keys every 90 days.\n"


@pytest.fixture
def indexed(project):
    project.write(keys=KEYS)
    project.index()
    return project


def opened(path) -> Store:
    return open_store(str(path), Deadline(5000))


def refusal(path) -> str:
    with pytest.raises(StoreUnusable) as caught:
        opened(path)
    return str(caught.value)


def test_reads_what_was_indexed(indexed):
    store = opened(indexed.database)
    [chunk] = store.select_chunks("")
    assert (chunk.path, chunk.heading, chunk.start_line) == ("keys.md", "Keys", 3)
    assert chunk.intact()
    store.close()


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE TRIGGER t AFTER DELETE ON chunks BEGIN SELECT 1; END", "holds a trigger"),
        ("CREATE VIEW v AS SELECT * FROM chunks", "holds a view"),
        ("ALTER TABLE sources ADD COLUMN more", "not ours: sources"),
        ("DROP TABLE mentions", "not ours: mentions"),
        ("DROP TABLE chunk_fts; CREATE TABLE chunk_fts(heading, body)", "not ours: chunk_fts"),
        ("PRAGMA application_id = 7", "not a store of agentlas-memory"),
        ("PRAGMA user_version = 9; ALTER TABLE chunks ADD COLUMN x", "newer version: chunks"),
        ("PRAGMA journal_mode = WAL", "another journal mode"),
    ],
)
def test_refuses_what_is_not_exactly_ours(indexed, statement, reason):
    indexed.run_sql(*statement.split(";", 1) if "BEGIN" not in statement else [statement])
    assert reason in refusal(indexed.database)


def test_refusing_a_store_makes_no_file_beside_it(indexed):
    indexed.run_sql("PRAGMA journal_mode = WAL")
    before = sorted(indexed.folder.iterdir())
    refusal(indexed.database)
    assert sorted(indexed.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: b"", "not a SQLite file"),
        (lambda data: b"just some text\n" * 50, "not a SQLite file"),
        (lambda data: bytes(4096) + data[4096:], "not a SQLite file"),
        (lambda data: data[:1000], "malformed"),
        (lambda data: data[:100] + bytes(3996) + data[4096:], "malformed"),
    ],
    ids=["empty", "text", "zeroed first page", "truncated", "zeroed behind the header"],
)
def test_damage_is_refused_then_moved_aside_and_built_anew(indexed, damage, reason):
    damaged = damage(indexed.database.read_bytes())
    indexed.database.write_bytes(damaged)
    assert reason in refusal(indexed.database)
    indexed.index()
    assert indexed.sources_of("how often do we rotate the signing keys?") == ["keys.md"]
    asides = [file.read_bytes() for file in indexed.folder.glob("*.damaged-*")]
    assert asides == ([damaged] if damaged else [])


def test_two_damaged_files_of_one_second_are_both_kept(indexed):
    for number in range(3):
        indexed.database.write_bytes(b"text %d" % number)
        indexed.index()
    asides = [file.read_bytes() for file in indexed.folder.glob("*.damaged-*")]
    assert sorted(asides) == [b"text 0", b"text 1", b"text 2"]


def test_damage_that_shows_only_while_writing_is_healed_with_the_whole_project(indexed):
    indexed.write(
        ports="# Ports\n\nThe ssh daemon listens on port 49222.\n", keys=KEYS + "\nOften.\n"
    )
    indexed.run_sql("UPDATE chunk_fts_data SET block = x'00'")  # no check of pages sees this
    indexed.index(indexed.root / "keys.md")
    assert set(indexed.content()["sources"]) == {"keys.md", "ports.md"}
    assert len(list(indexed.folder.glob("*.damaged-*"))) == 1


def test_damage_that_a_narrowed_run_finds_is_healed_with_the_whole_project(indexed):
    indexed.write(ports="# Ports\n\nThe ssh daemon listens on port 49222.\n")
    indexed.database.write_bytes(b"just some text")
    assert indexed.index(indexed.root / "ports.md").sources == 2


def test_records_of_a_damaged_store_are_lost_aloud(tmp_path):
    (tmp_path / "s.sqlite").write_bytes(b"just some text")
    runtime = OntologyRuntime(tmp_path / "s.sqlite")
    with pytest.raises(DamagedStore, match=r"moved to .*s\.sqlite\.damaged-"):
        runtime.ingest_records([("keys", KEYS)])
    assert runtime.ingest_records([("keys", KEYS)]) == 1


def test_store_of_a_newer_version_is_read_when_its_tables_are_the_same(indexed):
    indexed.run_sql("PRAGMA user_version = 9")
    assert indexed.sources_of("how often do we rotate the signing keys?") == ["keys.md"]


def test_store_of_a_newer_version_is_never_written(indexed):
    indexed.run_sql("PRAGMA user_version = 9")
    before = indexed.database.read_bytes()
    with pytest.raises(NewerStore, match="install the newer"):
        indexed.index()
    assert indexed.database.read_bytes() == before


def test_database_of_another_program_is_left_as_it_is(project):
    project.run_sql("CREATE TABLE theirs(x)")
    before = project.database.read_bytes()
    with pytest.raises(ForeignStore):
        project.index()
    assert project.database.read_bytes() == before


def test_log_of_another_journal_mode_is_turned_back(indexed):
    indexed.run_sql("PRAGMA journal_mode = WAL")
    indexed.index()
    assert indexed.sources_of("how often do we rotate the signing keys?") == ["keys.md"]


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "what?mode=rwc",
        "a#b",
        "100%25",
        "Ünïcödé-日本",
        "quote'\"",
        os.fsdecode(b"bytes-\xff\xfe"),
        "new\nline",
    ],
)
def test_any_path_can_be_opened(indexed, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(indexed.database, folder / "s.sqlite")
    opened(folder / "s.sqlite").close()
    assert os.listdir(folder) == ["s.sqlite"]


@pytest.mark.parametrize("path", ["/nowhere/store", "a\0b", "\ud83c", "/dev/null", "/tmp"])
def test_what_is_no_file_is_refused(path):
    assert "cannot be opened" in refusal(path)


def test_fifo_in_the_place_of_a_store_does_not_hold_the_reader(tmp_path):
    os.mkfifo(tmp_path / "s")
    assert "not a regular file" in refusal(tmp_path / "s")


def test_path_with_two_slashes_in_front_is_no_host(indexed):
    opened("/" + str(indexed.database)).close()


def test_reading_runs_no_function_and_maps_no_memory(indexed):
    store = opened(indexed.database)
    for name, value in (("query_only", 1), ("trusted_schema", 0), ("mmap_size", 0)):
        assert store.rows(f"PRAGMA {name}") in ([(value,)], [])
    store.close()


def test_deadline_interrupts_a_query(indexed):
    store = open_store(str(indexed.database), Deadline(50))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(Exception, match="interrupted"):
        store.rows(endless)
    store.close()


HOT = """
import sqlite3, os, signal, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN")
connection.execute("UPDATE chunks SET text = 'half ' || text, heading = hex(zeroblob(9000))")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_journal_left_by_a_kill_silences_readers_until_the_next_run(project):
    project.write(**{f"keys{number}": KEYS for number in range(40)})
    project.index()
    before = project.content()
    killed = subprocess.run([sys.executable, "-c", HOT, project.database], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert project.database.with_name(project.database.name + "-journal").stat().st_size
    refusal(project.database)
    assert project.index().unchanged == 40
    assert project.content() == before


def test_every_table_is_made_word_for_word(project):
    with writable_database(project.database) as connection:
        made = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
    assert {name: made[name] for name in TABLES} == TABLES


@pytest.mark.parametrize(("key", "value"), [("chunks", "many"), ("sidecar", 7), ("store_id", None)])
def test_meta_of_another_type_reads_as_blank(indexed, key, value):
    indexed.run_sql(
        f"UPDATE meta SET value = {value!r} WHERE key = '{key}'".replace("None", "NULL")
    )
    store = opened(indexed.database)
    assert (store.number if key == "chunks" else store.text)(key) in (0, "")
    store.close()
    indexed.ask("how often do we rotate the signing keys?")
