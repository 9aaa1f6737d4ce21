"""What `doctor` checks of stores: what they lie on, who locks them, damage, other programs."""

import hashlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agentlas_memory.installer.checks import mounts
from agentlas_memory.installer.checks.holders import lock_holders
from agentlas_memory.installer.checks.mounts import network_file_system
from agentlas_memory.project import DATABASE

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
    assert checks("stores") == [("ok", "1 store of projects that you said yes to")]
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


def test_an_emptied_store_is_built_anew_and_still_trusted(project, am, checks):
    (project / DATABASE).write_text("")
    assert checks("store")[0][0] == "failed"
    assert am("index").code == 0
    assert checks("store") == []
    assert am("status", "--json").json["trusted"] is True


def test_a_store_that_took_the_place_of_the_trusted_one_is_named(project, am, checks, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert am("init", "--project", str(other)).code == 0
    (other / DATABASE).replace(project / DATABASE)
    [(status, told)] = checks("store")
    assert (status, "is not trusted as it is now" in told) == ("failed", True)


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
