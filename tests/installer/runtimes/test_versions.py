"""The versions on a machine: which serves, which is the way back, and who may switch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentlas_memory.installer.launchers import LAUNCHERS
from agentlas_memory.installer.runtimes.activate import settle_from_here
from agentlas_memory.installer.runtimes.history import History
from agentlas_memory.installer.runtimes.layout import remove_tree
from agentlas_memory.installer.runtimes.pointer import read_current, switch_current
from agentlas_memory.installer.runtimes.routine import locked
from agentlas_memory.installer.runtimes.trouble import UpdateFailed


def previous(runtimes):
    found = History(runtimes).previous()
    return found and found.id


def test_the_version_before_is_the_way_back(runtimes, make_versions, activate):
    make_versions("1.0.0", "1.1.0", "1.2.0")
    assert previous(runtimes) is None
    activate("1.0.0")
    assert previous(runtimes) is None
    activate("1.1.0", "1.2.0")
    assert previous(runtimes) == "1.1.0"
    activate("1.1.0")
    assert previous(runtimes) == "1.2.0", "rollback after rollback returns"
    remove_tree(runtimes.folder / "1.2.0")
    assert previous(runtimes) == "1.0.0"


def test_a_switch_that_was_only_announced_is_forgotten(runtimes, make_versions, activate):
    make_versions("1.0.0", "1.1.0", "1.2.0")
    activate("1.0.0", "1.1.0")
    History(runtimes).add("1.2.0")  # and killed before the switch
    assert previous(runtimes) == "1.0.0"
    activate("1.2.0")
    assert previous(runtimes) == "1.1.0"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"entries": [1, {"id": 5}]}', '{"entries": 7}'])
def test_a_history_that_cannot_be_read_loses_the_way_back_alone(
    runtimes, make_versions, activate, text
):
    make_versions("1.0.0", "1.1.0")
    activate("1.0.0")
    (runtimes.folder / "history.json").write_text(text)
    assert previous(runtimes) is None
    activate("1.1.0")
    assert previous(runtimes) == "1.0.0"


def test_an_environment_of_the_person_s_own_is_a_way_back_and_never_removed(
    runtimes, make_versions, activate, age, am, home
):
    assert am("install").code == 0  # from the environment that runs the tests
    assert runtimes.current().folder.samefile(sys.prefix)
    assert runtimes.current().version == "0.1.0"
    make_versions("1.0.0")
    activate("1.0.0")
    assert previous(runtimes) == sys.prefix
    age(30)
    assert am("runtime", "prune", "--json").json == {"removed": [], "kept": {"1.0.0": "current"}}


def test_a_name_that_is_taken_is_never_built_in(runtimes, make_versions):
    assert runtimes.free_folder("1.0.0").name == "1.0.0"
    make_versions("1.0.0", "1.0.0~2")
    assert runtimes.free_folder("1.0.0").name == "1.0.0~3"


def test_another_copy_of_the_current_release_is_no_way_back_and_goes(
    runtimes, make_versions, activate, am
):
    make_versions("0.9.0", "1.0.0", "1.0.0~2")
    for name in ("1.0.0", "1.0.0~2"):
        facts = {"version": "1.0.0", "id": name, "release_sha256": "5" * 64}
        (runtimes.folder / name / "runtime.json").write_text(json.dumps(facts))
    activate("0.9.0", "1.0.0", "1.0.0~2")
    assert previous(runtimes) == "0.9.0"
    assert am("runtime", "prune", "--json").json["removed"] == ["1.0.0"]


def test_current_is_switched_where_links_are_not_allowed(runtimes, make_versions):
    make_versions("1.0.0", "1.1.0")
    for name in ("1.0.0", "1.1.0"):
        for launcher in LAUNCHERS:
            (runtimes.folder / name / "bin" / launcher).touch()
        switch_current(runtimes.folder, name, links=False)
        assert read_current(runtimes.folder) == name
        assert runtimes.current().id == name
    files = sorted(path.name for path in (runtimes.folder / "current").iterdir())
    assert files == ["bin", "runtime.txt"]
    assert [one.id for one in runtimes.all()] == ["1.0.0", "1.1.0"]


def test_current_is_never_missing_while_it_is_switched(runtimes, make_versions):
    make_versions("1.0.0", "1.1.0")
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


def test_the_programs_are_posix_sh():
    folder = Path(sys.modules["agentlas_memory.installer.runtimes.layout"].__file__).parent
    subprocess.run(["/bin/sh", "-n", folder / "agentlas-memory.sh"], check=True)


def test_what_install_notes_is_written_under_the_updates_lock(
    runtimes, make_versions, activate, monkeypatch
):
    make_versions("1.0.0")
    activate("1.0.0")
    monkeypatch.setattr(sys, "prefix", str(runtimes.folder / "1.0.0"))
    with locked(runtimes):
        settle_from_here(runtimes.data_home)
    assert History(runtimes).settled == ""
    settle_from_here(runtimes.data_home)
    assert History(runtimes).settled == "1.0.0"
