"""The versions on a machine: which serves, which is the way back, which may go, and who says so."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentlas_memory.installer.launchers import LAUNCHERS
from agentlas_memory.installer.runtimes.activate import settle_from_here
from agentlas_memory.installer.runtimes.history import History
from agentlas_memory.installer.runtimes.layout import Runtimes, remove_tree
from agentlas_memory.installer.runtimes.pointer import read_current, switch_current
from agentlas_memory.installer.runtimes.prune import is_used, standing
from agentlas_memory.installer.runtimes.routine import locked
from agentlas_memory.installer.runtimes.trouble import UpdateFailed

DAY = 86_400


@pytest.fixture
def runtimes(home):
    return Runtimes(home / ".agentlas")


@pytest.fixture
def make(runtimes):
    """Put versions there as an update leaves them."""

    def versions(*names):
        for name in names:
            (runtimes.folder / name / "bin").mkdir(parents=True)
            facts = {"version": name.partition("~")[0], "id": name}
            (runtimes.folder / name / "runtime.json").write_text(json.dumps(facts))

    return versions


@pytest.fixture
def serve(runtimes):
    """Let versions be current, one after the other, the last of them now."""

    def switch(*names):
        for name in names:
            History(runtimes).add(name)
            switch_current(runtimes.folder, name)

    return switch


def age(runtimes, days):
    """Let all that the history tells be so much longer ago."""
    file = runtimes.folder / "history.json"
    values = json.loads(file.read_text())
    for entry in values["entries"]:
        entry["since"] -= days * DAY
    file.write_text(json.dumps(values))


def previous(runtimes):
    found = History(runtimes).previous()
    return found and found.id


def test_the_version_before_is_the_way_back(runtimes, make, serve):
    make("1.0.0", "1.1.0", "1.2.0")
    assert previous(runtimes) is None
    serve("1.0.0")
    assert previous(runtimes) is None
    serve("1.1.0", "1.2.0")
    assert previous(runtimes) == "1.1.0"
    serve("1.1.0")
    assert previous(runtimes) == "1.2.0", "rollback after rollback returns"
    remove_tree(runtimes.folder / "1.2.0")
    assert previous(runtimes) == "1.0.0"


def test_a_switch_that_was_only_announced_is_forgotten(runtimes, make, serve):
    make("1.0.0", "1.1.0", "1.2.0")
    serve("1.0.0", "1.1.0")
    History(runtimes).add("1.2.0")  # and killed before the switch
    assert previous(runtimes) == "1.0.0"
    serve("1.2.0")
    assert previous(runtimes) == "1.1.0"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"entries": [1, {"id": 5}]}', '{"entries": 7}'])
def test_a_history_that_cannot_be_read_loses_the_way_back_alone(runtimes, make, serve, text):
    make("1.0.0", "1.1.0")
    serve("1.0.0")
    (runtimes.folder / "history.json").write_text(text)
    assert previous(runtimes) is None
    serve("1.1.0")
    assert previous(runtimes) == "1.0.0"


def test_an_environment_of_the_person_s_own_is_a_way_back_and_never_removed(
    runtimes, make, serve, am, home
):
    assert am("install").code == 0  # from the environment that runs the tests
    assert runtimes.current().folder.samefile(sys.prefix)
    assert runtimes.current().version == "0.1.0"
    make("1.0.0")
    serve("1.0.0")
    assert previous(runtimes) == sys.prefix
    age(runtimes, 30)
    assert am("runtime", "prune", "--json").json == {"removed": [], "kept": {"1.0.0": "current"}}


def test_a_name_that_is_taken_is_never_built_in(runtimes, make):
    assert runtimes.free_folder("1.0.0").name == "1.0.0"
    make("1.0.0", "1.0.0~2")
    assert runtimes.free_folder("1.0.0").name == "1.0.0~3"


def test_another_copy_of_the_current_release_is_no_way_back_and_goes(runtimes, make, serve, am):
    make("0.9.0", "1.0.0", "1.0.0~2")
    for name in ("1.0.0", "1.0.0~2"):
        facts = {"version": "1.0.0", "id": name, "release_sha256": "5" * 64}
        (runtimes.folder / name / "runtime.json").write_text(json.dumps(facts))
    serve("0.9.0", "1.0.0", "1.0.0~2")
    assert previous(runtimes) == "0.9.0"
    assert am("runtime", "prune", "--json").json["removed"] == ["1.0.0"]


def test_pruning_all_does_not_wait_and_keeps_what_is_needed(runtimes, make, serve, am):
    make("1.0.0", "1.1.0", "1.2.0", "1.3.0")
    serve("1.0.0", "1.1.0", "1.2.0", "1.3.0")
    with subprocess.Popen(["sleep", "60"], cwd=runtimes.folder / "1.0.0") as process:
        assert am("runtime", "prune", "--all", "--json").json["removed"] == ["1.1.0"]
        process.kill()
    assert am("runtime", "prune", "--all", "--json").json["removed"] == ["1.0.0"]
    assert am("runtime", "prune", "--all", "--json").json["removed"] == []


def test_pruning_keeps_what_somebody_may_need(runtimes, make, serve, am):
    make("1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0")
    serve("1.0.0", "1.1.0")
    age(runtimes, 8)
    serve("1.2.0")
    age(runtimes, 2)
    serve("1.3.0", "1.4.0")
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


def test_a_version_that_a_process_uses_stays(runtimes, make, serve, am):
    make("1.0.0", "1.1.0", "1.2.0")
    serve("1.0.0", "1.1.0", "1.2.0")
    age(runtimes, 30)
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


def test_a_process_that_stands_in_a_version_uses_it(runtimes, make):
    make("1.0.0")
    command = [sys.executable, "-c", "input()"]
    process = subprocess.Popen(command, cwd=runtimes.folder / "1.0.0", stdin=subprocess.PIPE)
    try:
        time.sleep(0.2)
        assert is_used(runtimes.folder / "1.0.0")
    finally:
        process.communicate(b"\n")
    assert not is_used(runtimes.folder / "1.0.0")


def test_while_none_is_current_every_whole_version_stays(runtimes, make, serve, am):
    make("1.0.0", "1.1.0")
    serve("1.0.0", "1.1.0")
    age(runtimes, 30)
    (runtimes.folder / "current").unlink()
    (runtimes.folder / "1.2.0").mkdir()
    assert am("runtime", "prune", "--json").json["removed"] == ["1.2.0"]


def test_what_a_kill_leaves_is_cleared_and_nothing_else(runtimes, make, serve):
    make("1.0.0", "1.1.0")
    serve("1.0.0", "1.1.0")
    (runtimes.folder / "1.2.0/bin").mkdir(parents=True)
    (runtimes.folder / "1.2.0/pyvenv.cfg").touch()
    (runtimes.folder / "1.3.0").mkdir()
    (runtimes.folder / ".agentlas-bundle").mkdir()
    (runtimes.folder / ".current.new").symlink_to("1.0.0")
    (runtimes.folder / "history.json.5").write_text("{")
    assert sorted(runtimes.clear_leftovers()) == [
        ".agentlas-bundle",
        ".current.new",
        "1.2.0",
        "1.3.0",
        "history.json.5",
    ]
    assert {path.name for path in runtimes.folder.iterdir()} == {
        "1.0.0",
        "1.1.0",
        "current",
        "history.json",
    }


@pytest.mark.parametrize("linked", [False, True], ids=["named with --prefix", "a link"])
def test_what_is_somebody_else_s_stays(runtimes, make, serve, tmp_path, linked, am):
    if linked:
        runtimes.folder.parent.mkdir()
        (tmp_path / "disk").mkdir()
        runtimes.folder.symlink_to(tmp_path / "disk")
    make("1.0.0")
    serve("1.0.0")
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
    runtimes, make, serve, am, spelling
):
    make("1.0.0", "1.1.0", "1.2.0")
    serve("1.0.0", "1.1.0", "1.2.0")
    age(runtimes, 30)
    (runtimes.folder / "current").unlink()
    (runtimes.folder / "current").symlink_to(spelling.format(folder=runtimes.folder))
    assert "1.0.0" not in am("runtime", "prune", "--json").json["removed"]
    assert (runtimes.folder / "1.0.0/runtime.json").exists()


def test_a_version_half_removed_counts_as_a_leftover(runtimes, make, monkeypatch):
    make("1.0.0")

    def killed(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        remove_tree(runtimes.folder / "1.0.0")
    assert [path.name for path in runtimes.leftovers()] == ["1.0.0"]


def test_current_is_switched_where_links_are_not_allowed(runtimes, make):
    make("1.0.0", "1.1.0")
    for name in ("1.0.0", "1.1.0"):
        for launcher in LAUNCHERS:
            (runtimes.folder / name / "bin" / launcher).touch()
        switch_current(runtimes.folder, name, links=False)
        assert read_current(runtimes.folder) == name
        assert runtimes.current().id == name
    files = sorted(path.name for path in (runtimes.folder / "current").iterdir())
    assert files == ["bin", "runtime.txt"]
    assert [one.id for one in runtimes.all()] == ["1.0.0", "1.1.0"]


def test_current_is_never_missing_while_it_is_switched(runtimes, make):
    make("1.0.0", "1.1.0")
    switch_current(runtimes.folder, "1.0.0")
    watch = (
        "import os, sys, time; end = time.monotonic() + 1.0\n"
        "while time.monotonic() < end: os.stat(sys.argv[1])"
    )
    process = subprocess.Popen([sys.executable, "-c", watch, runtimes.folder / "current/bin"])
    for number in range(2_000):
        switch_current(runtimes.folder, f"1.{number % 2}.0")
    assert process.wait() == 0


def test_a_second_update_waits_and_then_says_who_is_at_work(runtimes, monkeypatch):
    code = (
        "import sys; from pathlib import Path\n"
        "from agentlas_memory.installer.runtimes.children import update_lock\n"
        "from agentlas_memory.installer.runtimes.layout import Runtimes\n"
        "with update_lock(Runtimes(Path(sys.argv[1])), 1): print(flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-I", "-c", code, runtimes.data_home],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    other.stdout.readline()
    monkeypatch.setattr("agentlas_memory.installer.runtimes.routine.PATIENCE", 0.1)
    with pytest.raises(UpdateFailed, match=f"process {other.pid} "), locked(runtimes):
        pass
    other.communicate(b"\n")
    with locked(runtimes):
        pass


@pytest.fixture
def found(am):
    """The checks of versions that are not well."""

    def run():
        checks = am("doctor", "--json").json["checks"]
        return [
            one["detail"]
            for one in checks
            if one["id"] == "version" and not one["host"] and one["status"] != "ok"
        ]

    return run


def test_doctor_names_what_an_update_left(runtimes, make, serve, found, am):
    make("1.0.0", "1.1.0", "1.2.0")
    serve("1.0.0", "1.1.0", "1.2.0")
    History(runtimes).settle("1.2.0")
    assert found() == []
    age(runtimes, 9)
    (runtimes.folder / "1.3.0").mkdir()
    (runtimes.folder / ".agentlas-bundle").mkdir()
    assert found() == [
        "1.0.0 is not needed any more",
        "1.3.0 was never finished",
        f"{runtimes.folder / '.agentlas-bundle'} was left by an update",
    ]
    am("doctor", "--fix")
    assert found() == []


def test_doctor_names_hosts_that_were_not_brought_in_line(runtimes, make, serve, found):
    make("1.0.0", "1.1.0")
    serve("1.0.0", "1.1.0")
    History(runtimes).settle("1.0.0")
    assert found() == ["1.1.0 is active, but the hosts were not brought in line with it"]


def test_status_names_the_version_that_serves(runtimes, make, serve, am):
    assert am("status", "--json").json["runtime"] is None
    make("1.0.0")
    serve("1.0.0")
    assert am("status", "--json").json["runtime"] == {"id": "1.0.0", "version": "1.0.0"}


def test_doctor_names_the_interpreter_that_is_gone(runtimes, make, serve, am):
    make("1.0.0")
    serve("1.0.0")
    folder = runtimes.folder / "1.0.0/bin"
    (folder / "agentlas-memory-hook").touch(mode=0o755)
    (folder / "python3").symlink_to("python3.11")
    (folder / "python3.11").symlink_to("/gone/python3.11")
    checks = am("doctor", "--json").json["checks"]
    [found] = [one for one in checks if one["id"] == "interpreter"]
    assert found["status"] == "failed" and "/gone/python3.11" in found["detail"]
    assert "install.sh" in found["fix"]


def test_without_any_version_there_is_nothing_to_list(am, runtimes):
    assert am("runtime", "list", "--json").json == {"current": None, "runtimes": []}
    assert am("rollback").code == 1
    assert not os.path.lexists(runtimes.folder / "current")


def test_the_programs_are_posix_sh():
    folder = Path(sys.modules["agentlas_memory.installer.runtimes.layout"].__file__).parent
    subprocess.run(["/bin/sh", "-n", folder / "agentlas-memory.sh"], check=True)


def test_what_install_notes_is_written_under_the_updates_lock(runtimes, make, serve, monkeypatch):
    make("1.0.0")
    serve("1.0.0")
    monkeypatch.setattr(sys, "prefix", str(runtimes.folder / "1.0.0"))
    with locked(runtimes):
        settle_from_here(runtimes.data_home)
    assert History(runtimes).settled == ""
    settle_from_here(runtimes.data_home)
    assert History(runtimes).settled == "1.0.0"
