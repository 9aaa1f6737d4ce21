"""Whatever is wrong, the message is clear, the exit code is not 0, and nothing is lost."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import click
import pytest

from agentlas_memory.commands.errors import says_yes, tell
from agentlas_memory.ontology import database
from agentlas_memory.ontology.schema import SCHEMA_VERSION


def damaged_copies(store):
    return sorted(path.name for path in store.parent.glob("*.damaged-*"))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"\0" * 4096 + data[4096:], id="first page zeroed"),
        pytest.param(lambda data: data[:1000], id="cut"),
        pytest.param(lambda data: b"hello", id="text"),
    ],
)
def test_a_damaged_store_is_moved_aside_and_built_anew(project, am, store, damage):
    damaged = damage(store.read_bytes())
    store.write_bytes(damaged)
    assert am("query", "the ledger").code == 1
    outcome = am("index", "--json")
    assert (outcome.code, outcome.json["sources"]) == (0, 2)
    assert [(store.parent / name).read_bytes() for name in damaged_copies(store)] == [damaged]
    assert "moved to" in outcome.err
    assert am("status", "--json").json["trusted"] is True


def test_notes_outlive_a_damaged_store(project, am, store):
    am("remember", "The quokka cluster is old")
    store.write_text("hello")
    am("index")
    assert am("query", "the quokka cluster", "--json").json["hits"] != []


def test_a_newer_store_is_read_and_never_taken_down(project, am, store):
    connection = sqlite3.connect(store)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = store.read_bytes()
    assert am("query", "how is the ledger settled", "--json").json["hits"] != []
    outcome = am("index")
    assert outcome.code == 3
    assert "newer" in outcome.err
    assert store.read_bytes() == before


def test_another_programs_database_is_left_alone(project, am, store):
    store.unlink()
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE theirs(x)")
    connection.close()
    before = store.read_bytes()
    assert am("index").code == 3
    assert am("trust").code == 1
    assert store.read_bytes() == before


def test_a_locked_store_is_an_error_that_can_be_repeated(project, am, locked, monkeypatch):
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.1)
    outcome = am("index", "--json")
    assert outcome.code == 1
    assert "locked" in outcome.json["error"]
    assert outcome.json["next"] == "try again when it is done"
    assert am("query", "the ledger").code == 1
    locked()
    assert am("index").code == 0


def test_a_home_that_is_nowhere(project, am, monkeypatch):
    monkeypatch.setenv("AGENTLAS_HOME", "not/absolute")
    for line in (["index"], ["trust"], ["off"], ["off", "--all"]):
        outcome = am(*line)
        assert (outcome.code, "home" in outcome.err) == (1, True)
    assert am("query", "how is the ledger settled", "--json").json["hits"] != []
    assert am("status", "--json").json["trusted"] is False
    assert not Path("not").exists()


def test_home_and_userprofile_unset(project, am, home, monkeypatch):
    monkeypatch.setenv("AGENTLAS_HOME", str(home / ".agentlas"))
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("USERPROFILE")
    assert am("index").code == 0
    assert am("status", "--json").json["trusted"] is True
    assert not Path("~").exists()


def test_a_home_that_is_a_file(folder, am, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    outcome = am("init")
    assert outcome.code == 1
    assert "Not a directory" in outcome.err
    assert not (folder / ".agentlas").exists()


@pytest.fixture
def read_only(project):
    """A project whose memory may be read alone."""
    folder = project / ".agentlas"
    paths = [folder, *folder.iterdir()]
    for path in paths:
        path.chmod(path.stat().st_mode & ~0o222)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    yield project
    for path in paths:
        path.chmod(path.stat().st_mode | 0o200)


def test_a_read_only_project_can_be_asked(read_only, am):
    assert am("query", "how is the ledger settled", "--json").json["hits"] != []
    assert am("status", "--json").json["store"]["state"] == "ok"


@pytest.mark.parametrize("line", ["index", "remember|x y z"])
def test_a_read_only_project_is_not_called_written(read_only, am, line):
    (read_only / "docs/new.md").write_text("# New\n")
    outcome = am(*line.split("|"), "--json")
    assert outcome.code == 1
    assert "ermission" in outcome.json["error"] or "read-only" in outcome.json["error"]


def test_a_full_disk_is_said(project, am, monkeypatch):
    def full(*arguments, **options):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("agentlas_memory.ontology.index.index_project", full)
    assert "The disk is full." in am("index").err


def test_a_bug_leaves_its_traceback_in_the_log(project, home, am, monkeypatch):
    def bug(*arguments, **options):
        raise ZeroDivisionError("half a bug")

    monkeypatch.setattr("agentlas_memory.ontology.index.index_project", bug)
    outcome = am("index", "--json")
    log = home / ".agentlas/state/cli.log"
    assert outcome.code == 1
    assert "Traceback" not in outcome.err
    assert str(log) in outcome.json["next"]
    assert "ZeroDivisionError: half a bug" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_an_interrupt_says_what_was_kept(project, am, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("agentlas_memory.ontology.index.index_project", interrupted)
    outcome = am("index")
    assert outcome.code == 130
    assert "What was indexed before is kept" in outcome.err
    assert "The note is kept in" in am("remember", "x y z").err


@pytest.mark.parametrize("answer", [KeyboardInterrupt, EOFError])
def test_ctrl_c_at_a_question_is_no_answer(monkeypatch, answer):
    def prompted(*_words, **_options):
        raise answer

    monkeypatch.setattr("click.termui.visible_prompt_func", prompted)
    if answer is EOFError:
        assert not says_yes("Write that?")
        return
    with pytest.raises(click.Abort) as interrupt:
        says_yes("Write that?")
    assert tell(interrupt.value, as_json=False) == 130


def start(*arguments, cwd="."):
    command = [sys.executable, "-m", "agentlas_memory", *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL)


def test_writers_at_the_same_time_lose_nothing(project, am):
    children = [start("remember", f"Fact {number} holds") for number in range(4)]
    assert [child.wait(60) for child in children] == [0] * 4
    assert len(am("notes", "list", "--json").json["notes"]) == 4
    assert am("index", "--json").json["unchanged"] == 6


def test_projects_trusted_at_the_same_time_are_all_trusted(tmp_path, trusted_json):
    folders = [tmp_path / str(number) for number in range(4)]
    for folder in folders:
        folder.mkdir()
    children = [start("init", "--json", cwd=folder) for folder in folders]
    assert [child.wait(60) for child in children] == [0] * 4
    entries = json.loads(trusted_json.read_text())["projects"]
    assert {entry["path"] for entry in entries} == set(map(str, folders))
