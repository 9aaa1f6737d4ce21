"""Which versions may go, and which stay because somebody may need them or made them."""

import shutil
import subprocess
import sys
import time

import pytest

from agentlas_memory.installer.runtimes.layout import remove_tree
from agentlas_memory.installer.runtimes.prune import is_used, standing


def test_pruning_all_does_not_wait_and_keeps_what_is_needed(runtimes, make_versions, activate, am):
    make_versions("1.0.0", "1.1.0", "1.2.0", "1.3.0")
    activate("1.0.0", "1.1.0", "1.2.0", "1.3.0")
    with subprocess.Popen(["sleep", "60"], cwd=runtimes.folder / "1.0.0") as process:
        assert am("runtime", "prune", "--all", "--json").json["removed"] == ["1.1.0"]
        process.kill()
    assert am("runtime", "prune", "--all", "--json").json["removed"] == ["1.0.0"]
    assert am("runtime", "prune", "--all", "--json").json["removed"] == []


def test_pruning_keeps_what_somebody_may_need(runtimes, make_versions, activate, age, am):
    make_versions("1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0")
    activate("1.0.0", "1.1.0")
    age(8)
    activate("1.2.0")
    age(2)
    activate("1.3.0", "1.4.0")
    (runtimes.folder / "1.5.0").mkdir()  # never finished
    reasons = {one.id: reason for one, reason in standing(runtimes)}
    assert reasons == {
        "1.0.0": "",
        "1.1.0": "unused for less than 7 days",
        "1.2.0": "unused for less than 7 days",
        "1.3.0": "the one to roll back to",
        "1.4.0": "current",
        "1.5.0": "",
    }
    outcome = am("runtime", "prune", "--json")
    assert outcome.code == 0, outcome.err
    assert sorted(outcome.json["removed"]) == ["1.0.0", "1.5.0"]
    assert not (runtimes.folder / "1.0.0").exists()
    assert set(am("runtime", "prune", "--json").json["kept"]) == {
        "1.1.0",
        "1.2.0",
        "1.3.0",
        "1.4.0",
    }


def test_a_version_that_a_process_uses_stays(runtimes, make_versions, activate, age, am):
    make_versions("1.0.0", "1.1.0", "1.2.0")
    activate("1.0.0", "1.1.0", "1.2.0")
    age(30)
    program = runtimes.folder / "1.0.0/bin/sleep"
    shutil.copy(shutil.which("sleep"), program)
    process = subprocess.Popen([program, "60"])
    try:
        assert is_used(runtimes.folder / "1.0.0") and not is_used(runtimes.folder / "1.1.0")
        assert am("runtime", "prune", "--json").json["removed"] == []
        assert "used by a process" in am("runtime", "list", "--json").out
    finally:
        process.kill()
        process.wait()
    assert am("runtime", "prune", "--json").json["removed"] == ["1.0.0"]


def test_a_process_that_stands_in_a_version_uses_it(runtimes, make_versions):
    make_versions("1.0.0")
    command = [sys.executable, "-c", "input()"]
    process = subprocess.Popen(command, cwd=runtimes.folder / "1.0.0", stdin=subprocess.PIPE)
    try:
        time.sleep(0.2)
        assert is_used(runtimes.folder / "1.0.0")
    finally:
        process.communicate(b"\n")
    assert not is_used(runtimes.folder / "1.0.0")


def test_while_none_is_current_every_whole_version_stays(
    runtimes, make_versions, activate, age, am
):
    make_versions("1.0.0", "1.1.0")
    activate("1.0.0", "1.1.0")
    age(30)
    (runtimes.folder / "current").unlink()
    (runtimes.folder / "1.2.0").mkdir()
    assert am("runtime", "prune", "--json").json["removed"] == ["1.2.0"]


def test_what_a_kill_leaves_is_cleared_and_nothing_else(runtimes, make_versions, activate):
    make_versions("1.0.0", "1.1.0")
    activate("1.0.0", "1.1.0")
    (runtimes.folder / "1.2.0/bin").mkdir(parents=True)
    (runtimes.folder / "1.2.0/pyvenv.cfg").touch()
    (runtimes.folder / "1.3.0").mkdir()
    (runtimes.folder / ".agentlas-bundle").mkdir()
    (runtimes.folder / ".current.new").symlink_to("1.0.0")
    (runtimes.folder / ".history.json.new").write_text("{")
    assert sorted(runtimes.clear_leftovers()) == [
        ".agentlas-bundle",
        ".current.new",
        ".history.json.new",
        "1.2.0",
        "1.3.0",
    ]
    assert {path.name for path in runtimes.folder.iterdir()} == {
        "1.0.0",
        "1.1.0",
        "current",
        "history.json",
    }


@pytest.mark.parametrize("linked", [False, True], ids=["named with --prefix", "a link"])
def test_what_is_somebody_else_s_stays(runtimes, make_versions, activate, tmp_path, linked, am):
    if linked:
        runtimes.folder.parent.mkdir()
        (tmp_path / "disk").mkdir()
        runtimes.folder.symlink_to(tmp_path / "disk")
    make_versions("1.0.0")
    activate("1.0.0")
    for name in ("photos", "src", "2.0.0", ".bundle"):
        (runtimes.folder / name).mkdir()
        (runtimes.folder / name / "theirs").touch()
    (runtimes.folder / "thesis.tex").touch()
    (runtimes.folder / "a-link").symlink_to(tmp_path)
    before = sorted(path.name for path in runtimes.folder.iterdir())
    assert list(runtimes.leftovers()) == []
    assert am("runtime", "prune", "--json").json["removed"] == []
    assert am("uninstall", "--purge", "--yes").code == 0
    left = sorted(path.name for path in runtimes.folder.iterdir())
    ours = {"1.0.0", "current", "history.json", "update.lock"}
    assert left == [name for name in before if name not in ours]


@pytest.mark.parametrize("spelling", ["{folder}/1.0.0", "./1.0.0", "1.0.0/", "../runtime/1.0.0"])
def test_the_version_that_serves_is_known_however_the_link_is_spelt(
    runtimes, make_versions, activate, age, am, spelling
):
    make_versions("1.0.0", "1.1.0", "1.2.0")
    activate("1.0.0", "1.1.0", "1.2.0")
    age(30)
    (runtimes.folder / "current").unlink()
    (runtimes.folder / "current").symlink_to(spelling.format(folder=runtimes.folder))
    assert "1.0.0" not in am("runtime", "prune", "--json").json["removed"]
    assert (runtimes.folder / "1.0.0/runtime.json").exists()


def test_a_version_half_removed_counts_as_a_leftover(runtimes, make_versions, monkeypatch):
    make_versions("1.0.0")

    def killed(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        remove_tree(runtimes.folder / "1.0.0")
    assert [path.name for path in runtimes.leftovers()] == ["1.0.0"]
