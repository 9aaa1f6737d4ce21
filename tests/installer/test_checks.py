"""What `doctor` checks beside the hosts: our program, its log, the stores and what they lie on."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import agentlas_memory
from agentlas_memory.installer.checks import mounts
from agentlas_memory.installer.checks.failures import check_failures
from agentlas_memory.installer.checks.holders import lock_holders
from agentlas_memory.installer.checks.mounts import network_file_system
from agentlas_memory.installer.checks.program import check_program
from agentlas_memory.installer.surfaces import Place
from agentlas_memory.project import DATABASE

NOW = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)


@pytest.fixture
def place(home):
    return Place(home, home / ".agentlas", {})


def program(place):
    return [(one.id, one.status, one.detail) for one in check_program(place)]


@pytest.fixture
def runtime(place):
    """A launcher and an interpreter in `current`."""
    folder = place.hook.parent
    folder.mkdir(parents=True)
    place.hook.write_text("#!/bin/sh\n")
    place.hook.chmod(0o755)
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    return folder


def test_launcher_interpreter_and_sqlite_are_told(place, runtime):
    version = ".".join(map(str, sys.version_info[:3]))
    assert program(place) == [
        ("hook", "ok", str(place.hook)),
        ("interpreter", "ok", f"{os.path.realpath(sys.executable)}, Python {version}"),
        ("sqlite", "ok", f"SQLite {sqlite3.sqlite_version} with FTS5"),
    ]


def test_a_launcher_that_is_missing_or_may_not_be_run_is_named(place, runtime):
    place.hook.chmod(0o644)
    assert program(place) == [("hook", "failed", f"{place.hook} may not be run")]
    place.hook.unlink()
    assert program(place) == [("hook", "failed", f"{place.hook} is missing")]


def test_a_version_that_is_gone_is_named(place, runtime, tmp_path):
    current = place.data_home / "runtime/current"
    current.rename(tmp_path / "0.1.0")
    current.symlink_to(tmp_path / "0.1.0")
    shutil.rmtree(tmp_path / "0.1.0")
    told = f"{place.hook} is missing: {current} leads to {tmp_path}/0.1.0, which is gone"
    assert program(place) == [("hook", "failed", told)]


def test_the_interpreter_that_is_gone_is_named_by_its_own_path(place, runtime, tmp_path):
    python = runtime / "python3"
    python.unlink()
    assert program(place)[1] == ("interpreter", "failed", f"the interpreter {python} is missing")
    (tmp_path / "link").symlink_to("python3.11")
    python.symlink_to(tmp_path / "link")
    told = f"the interpreter {tmp_path}/python3.11 is missing, to which {python} leads"
    assert program(place)[1] == ("interpreter", "failed", told)


STUBS = {
    "a store's stub": ("echo Python was not found >&2; exit 49", "Python was not found"),
    "a silent one": ("exit 3", "exit code 3"),
    "another program": ("echo hello", "hello"),
    "another answer": ("echo 1", "it tells nothing of itself"),
}


@pytest.mark.parametrize(("script", "told"), STUBS.values(), ids=STUBS)
def test_an_interpreter_that_does_not_run_is_named(place, runtime, script, told):
    (runtime / "python3").unlink()
    (runtime / "python3").write_text(f"#!/bin/sh\n{script}\n")
    (runtime / "python3").chmod(0o755)
    assert program(place)[1:] == [
        ("interpreter", "failed", f"{runtime}/python3 does not run: {told}")
    ]


def test_an_interpreter_without_fts5_is_named(place, runtime):
    (runtime / "python3").unlink()
    answer = '{"version": "3.11.0", "sqlite": "3.40.1", "fts5": false}'
    (runtime / "python3").write_text(f"#!/bin/sh\necho '{answer}'\n")
    (runtime / "python3").chmod(0o755)
    assert program(place)[2] == (
        "sqlite",
        "warning",
        "SQLite 3.40.1 lacks FTS5: recall scans texts",
    )


@pytest.fixture
def checks(am):
    """Run `doctor`, and return what it found of one kind: (status, detail) of each."""

    def run(kind, *options):
        found = am("doctor", "--json", *options).json["checks"]
        return [(one["status"], one["detail"]) for one in found if one["id"] == kind]

    return run


def test_the_model_beside_the_hook_is_hashed(place, checks):
    [(status, told)] = checks("model")
    assert (status, "potion" in told) == ("ok", True)
    models = "lib/python3/site-packages/agentlas_memory/models"
    copy = place.data_home / "runtime/current" / models
    shutil.copytree(Path(agentlas_memory.__file__).parent / "models", copy)
    assert checks("model")[0][0] == "ok"
    [vocabulary] = copy.rglob("wordpiece.vocab")
    data = bytearray(vocabulary.read_bytes())
    data[0] ^= 1
    vocabulary.write_bytes(data)
    [(status, told)] = checks("model")
    assert (status, str(vocabulary) in told) == ("failed", True)


def failures(place, *lines):
    log = place.data_home / "state/hook.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(f"{line}\n" for line in lines))
    found = check_failures(place, NOW)
    return found.status, found.detail


def ago(**time):
    return f"{NOW - timedelta(**time):%Y-%m-%dT%H:%M:%SZ} claude ValueError at engine.py:1"


def test_failures_of_this_week_are_counted_and_the_last_is_shown(place):
    lines = (ago(days=30), ago(days=6, hours=23), ago(minutes=5))
    assert failures(place, *lines) == ("warning", f"2 within a week, the last: {lines[-1]}")


def test_old_failures_are_no_alarm_for_ever(place):
    assert check_failures(place, NOW).status == "ok"  # there is no log
    well = ("ok", "none within a week")
    assert failures(place) == failures(place, ago(days=8), "not a line of ours") == well


def test_failures_before_the_log_was_rotated_count(place):
    failures(place)
    (place.data_home / "state/hook.log.1").write_text(ago(days=1) + "\n")
    assert failures(place) == ("warning", f"1 within a week, the last: {ago(days=1)}")


MOUNTS = r"""22 27 0:21 / /proc rw - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/root rw
30 27 0:40 / /mnt/my\040share rw shared:7 - {type} server:/x rw,vers=4
31 27 0:41 / /mnt/my\040share/local rw - tmpfs tmpfs rw
32 27 0:42 / /twice rw - nfs old rw
33 27 0:43 / /twice rw - ext4 new rw
broken line
"""


@pytest.fixture
def table(tmp_path):
    def make(kind="nfs4"):
        file = tmp_path / "mountinfo"
        file.write_text(MOUNTS.replace("{type}", kind))
        return file

    return make


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "9p", "cifs", "smb3", "fuse", "fuse.sshfs"])
def test_a_network_file_system_is_known_by_the_mount_table(table, kind):
    assert network_file_system(Path("/mnt/my share/project/a.sqlite"), table(kind)) == kind
    assert network_file_system(Path("/mnt/my share"), table(kind)) == kind


@pytest.mark.parametrize(
    "path", ["/home/me/a.sqlite", "/mnt/my share/local/x", "/mnt/my shared", "/twice/x", "/proc/1"]
)
def test_a_local_one_is_none(table, path):
    assert network_file_system(Path(path), table()) == ""


@pytest.mark.parametrize("kind", ["fuseblk", "ext4", "btrfs", "overlay", "tmpfs", "zfs", "ntfs3"])
def test_a_disk_is_none(table, kind):
    assert network_file_system(Path("/mnt/my share/x"), table(kind)) == ""


def test_without_a_mount_table_nothing_is_said(tmp_path):
    assert network_file_system(tmp_path, tmp_path / "none") == ""


@pytest.fixture
def project(tmp_path, am, monkeypatch):
    """A project with a store that is trusted."""
    root = tmp_path / "my project"
    (root / "docs").mkdir(parents=True)
    (root / "docs/a.md").write_text("# A\n\nWe ship on Fridays.\n")
    monkeypatch.chdir(root)
    assert am("init").code == am("index").code == 0
    return root


def test_stores_that_are_well_are_counted(project, checks):
    assert checks("stores") == [("ok", "1 of projects that you said yes to")]
    assert checks("store") == checks("file-system") == []


def test_a_store_on_a_network_file_system_is_warned_of(project, checks, monkeypatch, tmp_path):
    file = tmp_path / "mountinfo"
    file.write_text(f"1 1 0:1 / / rw - ext4 x rw\n2 1 0:2 / {tmp_path}/my\\040project rw - 9p x rw")
    monkeypatch.setattr(mounts, "MOUNTS", file)
    told = f"{project / DATABASE} lies on 9p: locks of the store may not hold between machines"
    assert checks("file-system") == [("warning", told)]


def test_our_own_folder_on_one_too(home, checks, monkeypatch, tmp_path):
    file = tmp_path / "mountinfo"
    file.write_text(f"2 1 0:2 / {home} rw - nfs4 x rw")
    monkeypatch.setattr(mounts, "MOUNTS", file)
    assert [status for status, _ in checks("file-system")] == ["warning"]


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(project):
    """Another process that holds the project's store."""
    command = [sys.executable, "-c", HOLD, str(project / DATABASE)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system tells no locks")
def test_a_locked_store_is_told_with_who_locks_it(project, holder, checks):
    [(status, told)] = checks("store")
    assert status == "warning"
    assert told.startswith(f"{project / DATABASE}: locked by {holder.pid} ({sys.executable} ")


def test_where_the_system_tells_no_locks_it_is_another_process(
    project, holder, checks, monkeypatch
):
    monkeypatch.setattr("agentlas_memory.installer.checks.holders.LOCKS", project / "none")
    told = f"{project / DATABASE}: locked by another process"
    assert checks("store") == [("warning", told)]


def test_a_store_that_nobody_locks_has_no_holder(project):
    assert lock_holders(project / DATABASE) == lock_holders(project / "none") == []


def test_a_damaged_store_is_named_moved_aside_and_built_anew(project, am, checks):
    (project / DATABASE).write_bytes(b"\0" * 4096)
    [(status, told)] = checks("store")
    assert (status, str(project / DATABASE) in told) == ("failed", True)
    fix = [one["fix"] for one in am("doctor", "--json").json["checks"] if one["id"] == "store"]
    assert fix == [f"agentlas-memory index --project '{project}'"]
    outcome = am("doctor", "--fix")
    assert f"{project}: the store was damaged; indexed, 1 sources" in outcome.err
    assert checks("store") == []
    assert [one for one in (project / ".agentlas").iterdir() if "damaged" in one.name]


def test_a_store_that_is_another_program_s_is_not_touched(project, am, checks):
    other = project / DATABASE
    other.unlink()
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = hashlib.sha256(other.read_bytes()).digest()
    assert checks("store", "--fix")[0][0] == "failed"
    assert hashlib.sha256(other.read_bytes()).digest() == before


def test_a_broken_list_of_trusted_projects_is_named(project, home, checks):
    (home / ".agentlas/trusted.json").write_text("{")
    [(status, told)] = checks("stores")
    assert (status, "trusted.json is not valid JSON" in told) == ("failed", True)


CODEX = """#!{python}
import json, sys
if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.171.0")
if sys.argv[1:3] == ["plugin", "list"]:
    print("agentlas-memory@agentlas")
if sys.argv[1:2] == ["app-server"]:
    for line in sys.stdin:
        message = json.loads(line)
        open({log}, "a").write(line)
        hooks = [{"key": "k", "trustStatus": status, "currentHash": "h", "enabled": enabled,
                  "pluginId": "agentlas-memory@agentlas"} for status, enabled in {statuses}]
        result = {"data": [{"hooks": hooks}]} if message.get("method") == "hooks/list" else {}
        if "id" in message:
            print(json.dumps({"id": message["id"], "result": result}), flush=True)
"""
TRUST = {
    "trusted": ([("trusted", True), ("trusted", True)], "ok", "trusted"),
    "managed": ([("managed", True)], "ok", "managed"),
    "installed only": ([("untrusted", True)], "failed", "Codex does not run the hook: untrusted"),
    "changed since": (
        [("trusted", True), ("modified", True)],
        "failed",
        "Codex does not run the hook: modified",
    ),
    "off": ([("trusted", False)], "failed", "Codex does not run the hook: disabled"),
    "not there": ([], "failed", "Codex does not run the hook: absent"),
}


@pytest.fixture
def codex(path, tmp_path):
    """Put a Codex on the PATH that tells how hooks stand; return the log of what it is asked."""

    def make(hooks):
        log = tmp_path / "asked"
        # Its real name: a first line with a blank in its path would not be understood.
        values = {
            "python": os.path.realpath(sys.executable),
            "statuses": repr(hooks),
            "log": repr(str(log)),
        }
        text = CODEX
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        (path / "codex").write_text(text)
        (path / "codex").chmod(0o755)
        return log

    return make


@pytest.mark.parametrize(("hooks", "status", "told"), TRUST.values(), ids=TRUST)
def test_codex_is_asked_whether_it_trusts_the_hook(codex, am, checks, hooks, status, told):
    codex(hooks)
    assert am("install", "--host", "codex").code == 0
    assert checks("trust") == [(status, told)]


def test_install_says_what_a_person_has_to_approve_and_approves_nothing(codex, am):
    log = codex([("untrusted", True)])
    outcome = am("install", "--host", "codex")
    assert outcome.err.count("once you trust it: in its /hooks screen") == 1
    assert "hooks/list" in log.read_text()
    am("doctor", "--fix")
    assert "Write" not in log.read_text()
    am("install", "--host", "codex", "--trust-codex")
    assert "config/batchWrite" in log.read_text()


def test_a_hook_that_codex_trusts_is_not_said_to_need_trust(codex, am):
    codex([("trusted", True)])
    assert "once you trust it" not in am("install", "--host", "codex", "--trust-codex").err
    [told] = am("install", "--host", "codex", "--json").json["hosts"]
    assert (told["trust"], told["notes"]) == ("trusted", [])
