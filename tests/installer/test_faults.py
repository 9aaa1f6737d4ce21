"""Disks that are full, folders that cannot be written, files that belong to somebody else."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NOBODY = 65534
ROOT = os.name != "nt" and os.getuid() == 0
only_root = pytest.mark.skipif(not ROOT, reason="only root can give files away")


@pytest.fixture
def person(in_memory, monkeypatch, program):
    """Run the program as somebody without privileges whose home this is."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(in_memory))
    before = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if ROOT else []

    def run(*words, **options):
        command = [*before, str(program), *words]
        return subprocess.run(
            command, capture_output=True, text=True, cwd="/", timeout=60, **options
        )

    if ROOT:
        os.chown(in_memory, NOBODY, NOBODY)
        if not shutil.which("setpriv") or run("--version").returncode:
            pytest.skip("nobody else can run the program here")
    return run


@pytest.fixture
def mine(in_memory):
    """Make a file of the person's."""

    def make(name, text):
        path = in_memory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for one in (path, *path.parents):
            if ROOT and in_memory in one.parents:
                os.chown(one, NOBODY, NOBODY)
        return path

    return make


@pytest.fixture
def files(mine):
    return mine(".gemini/config/hooks.json", '{"theirs": {}}\n'), mine(
        ".grok/AGENTS.md", "# Mine\n"
    )


@only_root
def test_a_file_of_another_user_is_named_with_what_to_do(person, files):
    hooks, rules = files
    os.chown(hooks, 0, 0)
    hooks.chmod(0o644)
    done = person("install")
    assert done.returncode == 1
    assert (
        f"left as it is {hooks}: {hooks} belongs to root: sudo chown nobody {hooks}" in done.stderr
    )
    assert f"updated {rules}" in done.stderr, "what is done for other hosts is told"
    assert hooks.read_text() == '{"theirs": {}}\n'
    assert person("uninstall").returncode == 0
    assert rules.read_text() == "# Mine\n"


@only_root
def test_a_folder_of_another_user_is_named_with_what_to_do(person, files, in_memory):
    folder = in_memory / ".grok/hooks"
    folder.mkdir(mode=0o755)
    done = person("install")
    assert done.returncode == 1
    assert f"{folder} belongs to root: sudo chown nobody {folder}" in done.stderr


@only_root
def test_our_own_folder_of_another_user_stops_everything(person, files, in_memory):
    (in_memory / ".agentlas").mkdir(mode=0o700)
    done = person("install")
    assert done.returncode == 1
    assert f"{in_memory}/.agentlas belongs to root: sudo chown nobody" in done.stderr
    assert [path.read_text() for path in files] == ['{"theirs": {}}\n', "# Mine\n"]


@only_root
def test_root_is_told_to_be_the_owner(files, in_memory, program, monkeypatch):
    monkeypatch.setenv("HOME", str(in_memory))
    done = subprocess.run([program, "install"], capture_output=True, text=True)
    assert f"{files[0]} belongs to nobody: run this as nobody, without sudo" in done.stderr
    assert "chown" not in done.stderr


def test_a_folder_that_cannot_be_written_is_told_and_left(person, files):
    hooks, _ = files
    hooks.parent.chmod(0o555)
    done = person("install")
    hooks.parent.chmod(0o755)
    assert done.returncode == 1
    assert f"left as it is {hooks}: Permission denied" in done.stderr
    assert list(hooks.parent.iterdir()) == [hooks]
    assert person("install").returncode == 0


@pytest.mark.parametrize("more", [0, 50], ids=["not even for the copy", "for the copy"])
def test_a_file_that_may_not_grow_stays_whole(person, mine, more):
    text = '{"theirs": "' + "x" * 50_000 + '"}\n'
    hooks = mine(".gemini/config/hooks.json", text)
    most = 50_000 + more
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # noqa: E731
    done = person("install", preexec_fn=limit)
    assert (done.returncode, "File too large" in done.stderr) == (1, True), done.stderr
    assert (hooks.read_text(), list(hooks.parent.iterdir())) == (text, [hooks])
    assert not list(Path(os.environ["HOME"]).rglob("*.new"))
    assert person("install").returncode == 0
    assert person("uninstall").returncode == 0
    assert hooks.read_text() == text


@pytest.fixture
def full_disk():
    """Mount a disk that is too small; the test says where."""
    mounted = []

    def mount(folder):
        command = ["mount", "-t", "tmpfs", "-o", f"size=64k,uid={NOBODY},mode=755", "none", folder]
        if not ROOT or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("nothing may be mounted here")
        mounted.append(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("where", [".gemini/config", ".agentlas"])
def test_on_a_full_disk_nothing_is_lost(person, mine, full_disk, in_memory, where):
    (in_memory / where).mkdir(parents=True)
    full_disk(in_memory / where)
    hooks = mine(".gemini/config/hooks.json", '{"theirs": {}}\n')
    filler = mine(f"{where}/filler", "")
    with pytest.raises(OSError, match="No space"), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    done = person("install")
    assert (done.returncode, "No space left" in done.stderr) == (1, True), done.stderr
    assert hooks.read_text() == '{"theirs": {}}\n'
    filler.unlink()
    assert person("install").returncode == 0
    assert not list(in_memory.rglob("*.new"))
    assert person("uninstall").returncode == 0
    assert hooks.read_text() == '{"theirs": {}}\n'


def test_a_copy_is_never_open_to_more_people_than_the_file(hooks, home, am):
    """Looked at before each line of the installer."""
    hooks.chmod(0o640)
    group = NOBODY if ROOT else os.getgid()
    os.chown(hooks, -1, group)
    seen = []

    def look(frame, event, argument):
        if "/installer/" not in frame.f_code.co_filename:
            return None
        for folder in (hooks.parent, home / ".agentlas/backups"):
            infos = [path.stat() for path in folder.iterdir()] if folder.is_dir() else []
            seen.extend((info.st_mode & 0o777, info.st_gid) for info in infos)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        codes = am("install").code, am("uninstall").code
    finally:
        sys.settrace(before)
    assert codes == (0, 0)
    assert (0o600, os.getgid()) in seen, "a copy was there"
    assert all(not mode & ~0o640 and (gid == group or not mode & 0o070) for mode, gid in seen)
