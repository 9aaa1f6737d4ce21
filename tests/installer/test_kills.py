"""Killed at any step: each file is the old one or the new one, and the next run mends the rest.

All steps with FUZZ_NIGHTLY=1; each N-th without.
"""

import json
import os
import shutil
import stat

import pytest
from host_files.kills import Dying, Traced, run

NIGHTLY = os.environ.get("FUZZ_NIGHTLY") == "1"
SOME = 20  # without it, one step in so many

pytestmark = pytest.mark.slow


@pytest.fixture
def home(home, in_memory, monkeypatch):
    """The throwaway home moved to where nobody waits for a disk: each step has several runs."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(in_memory))
    return in_memory


@pytest.fixture(params=["strace", "itself"])
def killer(request, program):
    traced = Traced(program)
    if request.param == "strace" and not traced.works():
        pytest.skip("strace may not trace here")
    if request.param == "itself" and traced.works() and not NIGHTLY:
        pytest.skip("strace does better")
    return traced if request.param == "strace" else Dying()


@pytest.fixture
def scene(hosts, hooks, home, fake_host):
    """Four hosts: one with commands of its own, one whose file lies behind a link."""
    fake_host("claude")
    kept = home / "dotfiles"
    kept.mkdir()
    hooks.rename(kept / "hooks.json")
    hooks.symlink_to("../../dotfiles/hooks.json")
    (kept / "hooks.json").chmod(0o640)
    return home


@pytest.fixture
def am(program):
    return lambda *words: run(str(program), *words)


def state(home):
    """Return all files of the hosts, and the ledger: of a link where it leads, of others bytes."""
    found = {}
    for path in sorted(home.rglob("*")):
        name = str(path.relative_to(home))
        if path.is_dir() and not path.is_symlink():
            if ".agentlas" not in name:
                found[name] = "folder"
        elif path.is_symlink():
            found[name] = os.readlink(path)
        elif ".agentlas" not in name and path.name != "calls":
            found[name] = (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
    return found | {"ledger": ledger(home)}


def ledger(home):
    """Return the ledger's hosts; which run made the folders in our own one tells nothing."""
    path = home / ".agentlas/install-ledger.json"
    hosts = json.loads(path.read_text())["hosts"] if path.exists() else {}
    for record in (one for host in hosts.values() for one in host["surfaces"]):
        if ".agentlas/" in record.get("path", ""):
            record["folders"] = []
    for host in hosts.values():
        host["surfaces"].sort(key=str)  # in the order in which they came to be
    return hosts


def strays(home):
    return [path for path in home.rglob("*") if path.name.endswith(".new")]


def restore(home, copy):
    """Put a home back as it was copied, under its own name: the ledger holds absolute paths."""
    for path in home.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.copytree(copy, home, symlinks=True, dirs_exist_ok=True)


def check_whole(found, old, new):
    """Every file is as it was or as it is to be; what is missing was missing then."""
    for name in {*old, *new, *found} - {"ledger"}:
        if not name.endswith(".new"):
            assert found.get(name) in (old.get(name), new.get(name)), name


@pytest.fixture
def check_kills(scene, killer, am, tmp_path):
    """Kill a command at its steps; `aims` are (words of the next run, the state it must end in)."""

    def check(words, aims, also=lambda: True):
        start, killed = tmp_path / "start", tmp_path / "killed"
        shutil.copytree(scene, start, symlinks=True)
        old = state(scene)
        steps = list(killer.steps(tmp_path / "trace", words))
        new = state(scene)
        assert len(steps) > 20
        for step in steps if NIGHTLY else steps[::SOME]:
            restore(scene, start)
            assert killer.kill(step, words) in (-9, 137), step
            check_whole(state(scene), old, new)
            shutil.copytree(scene, killed, symlinks=True)
            for next_words, aim in aims:
                restore(scene, killed)
                done = am(*next_words)
                assert done.returncode == 0, (step, next_words, done.stderr)
                assert state(scene) == aim, (step, next_words)
                assert not strays(scene), (step, next_words)
                assert also(), (step, next_words)
            shutil.rmtree(killed)

    return check


@pytest.fixture
def states(scene, am):
    """The state before an installation, and the state after it."""
    before = state(scene)
    assert am("install").returncode == 0
    installed = state(scene)
    assert am("uninstall").returncode == 0
    assert state(scene) == before
    return before, installed


def test_a_killed_install(states, check_kills):
    before, installed = states
    check_kills(["install"], [(["install"], installed), (["uninstall"], before)])


def test_a_killed_uninstall(states, check_kills, am):
    before, installed = states
    assert am("install").returncode == 0
    check_kills(["uninstall"], [(["uninstall"], before), (["install"], installed)])


def test_a_killed_repair(check_kills, am, plugin, hooks):
    assert am("install").returncode == 0
    plugin.unlink()
    hooks.write_text("{}\n")
    repair = ["doctor", "--fix"]
    assert am("install").returncode == 0
    repaired = state(hooks.parents[2])
    plugin.unlink()
    hooks.write_text("{}\n")
    check_kills(repair, [(repair, repaired)])


def test_a_killed_purge(states, check_kills, am, home, monkeypatch):
    before, _ = states
    project = home / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs/a.md").write_text("# A\n\nText.\n")
    monkeypatch.chdir(project)
    before = state(home)
    for words in (["init"], ["index"], ["install"]):
        assert am(*words).returncode == 0
    monkeypatch.chdir("/")  # the home is put back again and again

    def all_gone():
        return not (home / ".agentlas").exists() and not list(project.rglob("ontology-runtime*"))

    words = ["uninstall", "--purge", "--yes"]
    check_kills(words, [(words, before)], all_gone)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("word", ["install", "uninstall"])
def test_a_step_that_fails(scene, states, program, am, tmp_path, word, error):
    """It is told, every file is whole, and the next run does what is left to do."""
    killer = Traced(program)
    if not killer.works():
        pytest.skip("strace may not trace here")
    before, installed = states
    if word == "uninstall":
        assert am("install").returncode == 0
    aim = installed if word == "install" else before
    start, old = tmp_path / "start", state(scene)
    shutil.copytree(scene, start, symlinks=True)
    steps = killer.steps(tmp_path / "trace", [word])
    for step in steps if NIGHTLY else steps[::SOME]:
        restore(scene, start)
        done = killer.inject(step, [word], f"error={error}")
        assert done.returncode in (0, 1, 3), (step, done.stderr)
        assert "This is a bug" not in done.stderr, (step, done.stderr)
        check_whole(state(scene), old, aim)
        assert done.returncode or state(scene) == aim, step
        assert am(word).returncode == 0, step
        assert state(scene) == aim, step
        assert not strays(scene), step


def test_killed_while_a_hosts_own_command_runs(states, scene, path, am):
    """The host goes on, and has our plugin; the ledger knows of it."""
    before, installed = states
    program = path / "claude"
    script = program.read_text()
    program.write_text(script.replace('*) echo "$3"', '*) kill -9 $PPID; echo "$3"', 1))
    assert am("install").returncode == -9
    program.write_text(script)
    assert am("uninstall").returncode == 0
    assert state(scene) == before
    assert am("install").returncode == 0
    assert state(scene) == installed
