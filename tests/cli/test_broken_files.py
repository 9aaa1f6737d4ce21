"""What stands where a file of ours should: named with the right advice, and never waited for."""

import os
import re
import socket
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agentlas_memory.settings_file import KEYS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and links of POSIX")


def make_pipe(path):
    os.mkfifo(path)


def make_loop(path):
    path.symlink_to(path)


def make_device(path):
    path.symlink_to("/dev/zero")


def make_socket(path):
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path must be short
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)


BROKEN = {
    "pipe": make_pipe,
    "folder": Path.mkdir,
    "loop": make_loop,
    "device": make_device,
    "socket": make_socket,
    "nested": lambda path: path.write_text("[" * 200_000),
    "list": lambda path: path.write_text("[]"),
    "text": lambda path: path.write_text("{"),
    "bytes": lambda path: path.write_bytes(b"\xff\xfe{}"),
    "large": lambda path: path.write_text("{" + " " * (1 << 20) + "}"),
}
ADVICE = "repair the file, or move it away"


def put(path, kind):
    if path.exists():
        path.unlink()
    BROKEN[kind](path)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_trusted_json_is_the_thing_to_repair(project, process, trusted_json, kind):
    put(trusted_json, kind)
    for line in ("index", "trust", "off", "remember|x y z", "init"):
        outcome = process(*line.split("|"), "--json")
        assert outcome.code == 3, (line, outcome.err)
        assert "trusted.json" in outcome.json["error"]
        assert outcome.json["next"] == ADVICE
    shown = process("status").out
    assert "trusted.json" in shown
    assert ADVICE in shown
    assert "agentlas-memory trust" not in shown


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_settings_json_is_named_and_holds_up_nothing(project, process, home, kind):
    put(home / ".agentlas/settings.json", kind)
    assert process("index").code == process("trust").code == process("off").code == 0
    assert process("off", "--all", "--json").json["next"] == ADVICE
    shown = process("status").out
    assert "settings.json" in shown
    assert ADVICE in shown


def check_settings(am):
    [check] = [one for one in am("doctor", "--json").json["checks"] if one["id"] == "settings"]
    return check


def test_doctor_and_status_name_the_line_of_broken_settings(project, home, am):
    (home / ".agentlas/settings.json").write_text('{\n  "off": true\n  "delivery": 1\n}\n')
    found = check_settings(am)
    assert (found["status"], found["fix"]) == ("failed", ADVICE)
    for told in (found["detail"], am("status").out):
        assert "memory is silent everywhere" in told
        assert "settings.json" in told
        assert "line 3" in told


def test_settings_that_nothing_heeds_are_named(project, home, am):
    file = home / ".agentlas/settings.json"
    file.write_text('{\n  "of": true,\n  "deadline_ms": true,\n  "delivery": "once"\n}\n')
    found = check_settings(am)
    assert found["status"] == "warning"
    for told in (found["detail"], am("status").out):
        assert f'{file}:2: "of" is no setting, perhaps "off" is meant' in told
        assert f'{file}:3: "deadline_ms" must be a number from 50 to 4000' in told
    assert "delivery" not in found["detail"]


def test_settings_that_hold_are_well(project, home, am):
    (home / ".agentlas/settings.json").write_text('{"off": false, "worktree": "isolated"}')
    assert check_settings(am)["status"] == "ok"


def test_the_page_of_settings_lists_every_key():
    page = (Path(__file__).parents[2] / "docs/settings.md").read_text()
    table = page.partition("## `trusted.json`")[0]
    assert re.findall(r"^\| `([a-z_.]+)` \|", table, re.MULTILINE) == list(KEYS)


def test_update_says_that_the_settings_are_broken(project, home, am):
    (home / ".agentlas/settings.json").write_text('{"update.channel": "/srv",}')
    told = am("update", "--json").json["error"]
    assert "settings.json is not valid JSON" in told
    assert "No channel" not in told


def test_status_does_not_speak_of_settings_that_hold(project, home, am):
    (home / ".agentlas/settings.json").write_text('{"off": false}')
    assert "settings" not in am("status").out


@pytest.fixture
def inbox(project):
    folder = project / ".agentlas/ontology-inbox"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "device", "socket"])
def test_what_is_no_file_in_the_inbox_is_named_and_left_alone(inbox, process, kind):
    put(inbox / "x.md", kind)
    listed = process("notes", "list", "--json")
    assert (listed.code, listed.json["notes"]) == (0, [])
    assert "x.md cannot be read: not a regular file" in listed.err
    assert "x.md" in str(process("index", "--json").json["skipped"])
    outcome = process("forget", "x", "--json")
    assert outcome.code == 3
    assert "and so no note" in outcome.json["error"]
    assert os.path.lexists(inbox / "x.md")


@pytest.mark.parametrize("kind", ["pipe", "folder", "nested", "loop"])
def test_a_receipt_that_is_none_is_no_receipt(project, process, store, home, kind):
    folder = home / ".agentlas/state/last"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(store)) as connection:
        sql = "SELECT value FROM meta WHERE key = 'store_id'"
        [identity] = connection.execute(sql).fetchone()
    put(folder / f"{identity}.json", kind)
    assert process("status", "--json").json["last_silence"] is None
    assert "No prompt has been asked" in process("why", "--last").err


def test_a_pipe_in_place_of_the_log_does_not_hold_a_command(project, home, process):
    (home / ".agentlas/state").mkdir(exist_ok=True)
    os.mkfifo(home / ".agentlas/state/cli.log")
    (project / ".agentlas/.gitignore").unlink()
    os.mkfifo(project / ".agentlas/.gitignore")
    outcome = process("init")
    assert outcome.code == 1
    assert ".gitignore" in outcome.err
    assert stat.S_ISFIFO((project / ".agentlas/.gitignore").stat().st_mode)


# A hot journal, or memory switched off from outside


def test_after_an_interrupted_run_status_advises_index_alone(project, store, am):
    store.with_name(store.name + "-journal").write_bytes(hot_journal(store))
    shown = am("status").out
    assert "interrupted" in shown
    assert f"agentlas-memory index --project '{project}'" in shown
    assert "agentlas-memory trust" not in shown


def hot_journal(store):
    """Return a rollback journal as a kill leaves it: a header, and one page as it was."""
    page = 4096
    data = store.read_bytes()
    header = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"".join(
        number.to_bytes(4, "big") for number in (1, 7, len(data) // page, 512, page)
    )
    return header.ljust(512, b"\0") + (1).to_bytes(4, "big") + data[:page] + bytes(4)


def test_an_untrusted_store_that_cannot_be_read_is_to_be_moved_away(project, store, am):
    am("distrust")
    store.write_text("hello")
    assert "move " in am("status").out


def test_memory_switched_off_by_the_environment_is_said(project, am, monkeypatch):
    monkeypatch.setenv("AGENTLAS_MEMORY", "off")
    shown = am("status").out
    assert "AGENTLAS_MEMORY=off" in shown
    assert "agentlas-memory on" not in shown
    assert "AGENTLAS_MEMORY=off" in am("on").err


def test_a_pause_everywhere_names_what_ends_it(project, am):
    am("off", "--all")
    assert "agentlas-memory on --all" in am("status").out
