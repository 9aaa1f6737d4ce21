"""An agent's two files: closed to others and to secrets; whatever lies there, no row is lost."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from cli.learning import CHECKLIST, content, ledger


def test_only_the_owner_reads_ledger_and_database(agent, add, memory):
    add(CHECKLIST)
    for file in memory.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


def test_foreign_database_is_left_as_it_is(agent, am, memory):
    memory.mkdir(parents=True)
    with closing(sqlite3.connect(memory / "experience.sqlite")) as connection:
        connection.execute("CREATE TABLE memory_candidates(ticket_id TEXT)")
    before = (memory / "experience.sqlite").read_bytes()
    outcome = am("experience", "add", CHECKLIST)
    assert outcome.code == 3
    assert "another program" in outcome.err
    assert (memory / "experience.sqlite").read_bytes() == before


def test_damaged_database_is_moved_aside_and_built_anew(agent, add, rows, memory):
    add(CHECKLIST)
    (memory / "experience.sqlite").write_bytes(b"not a database")
    add("SSH port is 22")
    assert len(rows()) == 2
    assert [file.read_bytes() for file in memory.glob("*.damaged-*")] == [b"not a database"]


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_is_not_waited_for(agent, am, memory, kind):
    memory.mkdir(parents=True)
    (memory / "experience.sqlite").mkdir() if kind == "folder" else os.mkfifo(
        memory / "experience.sqlite"
    )
    for words in (["add", CHECKLIST], ["list"]):
        assert am("experience", *words).code in (1, 3)
    assert not (memory / "experience.jsonl").exists()


def test_without_its_ledger_a_database_is_not_emptied(agent, add, am, memory):
    add(CHECKLIST)
    (memory / "experience.jsonl").unlink()
    before = content(memory)
    outcome = am("experience", "add", "SSH port is 22")
    assert (outcome.code, "is gone" in outcome.err) == (3, True)
    assert content(memory) == before


def test_without_its_database_a_ledger_is_not_taken_for_nothing(agent, add, am, memory):
    add(CHECKLIST)
    (memory / "experience.sqlite").unlink()
    outcome = am("experience", "list")
    assert (outcome.code, "experience rebuild" in outcome.err) == (1, True)


def test_what_fails_changes_neither_ledger_nor_database(agent, add, am, memory, monkeypatch):
    add(CHECKLIST)
    before = ledger(memory), content(memory)

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentlas_memory.ontology.projection._fill", full)
    outcome = am("experience", "add", "SSH port is 22")
    assert (outcome.code, "No space left" in outcome.err) == (1, True)
    monkeypatch.undo()
    assert (ledger(memory), content(memory)) == before


def test_leftovers_of_a_killed_run_are_removed(agent, add, memory):
    memory.mkdir(parents=True)
    for name in (".experience.sqlite.new", ".experience.jsonl.new"):
        (memory / name).write_text("private")
    add(CHECKLIST)
    assert not list(memory.glob(".*"))


@pytest.mark.parametrize("place", ["key", "agent", "scope"])
def test_a_secret_anywhere_in_a_ledger_is_not_printed(agent, am, memory, place):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    odd = {"key": {key: 1, "id": "x"}, "agent": {"agent": key}, "scope": {"scope": {key: 1}}}[place]
    memory.mkdir(parents=True)
    (memory / "experience.jsonl").write_text(json.dumps({"text": "x"} | odd) + "\n")
    told = [am("experience", *words) for words in (["rebuild"], ["show", "x", "--json"])]
    assert not any(key in one.out + one.err for one in told)


def test_left_journal_is_moved_out_of_the_way(agent, add, rows, memory):
    add(CHECKLIST)
    (memory / "experience.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + bytes(600))
    add("SSH port is 22")
    assert len(rows()) == 2
    assert not (memory / "experience.sqlite-journal").exists()


@pytest.mark.parametrize("part", ["memory", "hub-agents"])
def test_nothing_is_written_through_a_link(agent, am, memory, tmp_path, part):
    place = next(path for path in (memory, *memory.parents) if path.name == part)
    place.parent.mkdir(parents=True, exist_ok=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.symlink_to(elsewhere)
    assert am("experience", "add", CHECKLIST).code == 1
    assert not list(elsewhere.rglob("*.jsonl"))


def test_secret_reaches_neither_ledger_nor_database(agent, am, memory, rows):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    outcome = am("experience", "add", f"The token {key} pushes to the mirror", "--tag", key)
    assert "credential" in outcome.err
    assert not any(key.encode() in file.read_bytes() for file in memory.iterdir())
    assert "[redacted:" in next(iter(rows().values()))["text"]


def test_secret_in_a_ledger_written_by_hand_is_named_and_kept_out(agent, am, memory, tmp_path):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.mkdir(parents=True)
    (memory / "experience.jsonl").write_text(json.dumps({"text": f"push with {key}"}) + "\n")
    outcome = am("experience", "rebuild")
    assert "line 1" in outcome.err
    assert key.encode() not in (memory / "experience.sqlite").read_bytes()
    assert key not in am("experience", "list").out


@pytest.mark.slow
def test_two_sessions_add_at_once_and_nothing_is_lost(agent, memory, rows, am):
    code = (
        "import sys; from click.testing import CliRunner; from agentlas_memory.cli import cli\n"
        "for n in range(25): assert CliRunner().invoke(cli, ['experience', 'add',"
        " f'{sys.argv[1]} lesson {n}']).exit_code == 0"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, name]) for name in ("one", "two")]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert len(rows()) == len(ledger(memory)) == 50
    before = content(memory)
    assert am("experience", "rebuild").code == 0
    assert content(memory) == before
