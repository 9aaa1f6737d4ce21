"""What stands in the place of a file of ours: told in a sentence, never waited for, never a bug."""

import json
import os

import pytest

from agentlas_memory.installer.runtimes.checks import check_versions
from agentlas_memory.installer.surfaces import Place

OLD = "0.1.0"
NESTED = b"[" * 200_000


def fifo(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def zeros(path):
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def nested(path):
    path.write_bytes(b'{"entries": ' + NESTED)


ODD = pytest.mark.parametrize("put", [fifo, zeros, nested])


@pytest.mark.skipif(os.name == "nt", reason="neither FIFOs nor devices")
@pytest.mark.parametrize("put", [fifo, zeros, os.mkdir])
def test_a_pin_that_is_no_file_is_named(runtime_folder, am, tmp_path, put):
    pin = runtime_folder.parent / "release-key.pub"
    put(pin)
    (tmp_path / "release.json").write_text("{}")
    outcome = am("update", "--from", str(tmp_path), "--json")
    assert outcome.code == 3
    assert f"{pin} cannot be read" in outcome.json["error"]


def lay_open(pin):
    pin.chmod(0o666)


def lay_open_to_the_group(pin):
    pin.chmod(0o620)


def open_the_folder(pin):
    pin.parent.chmod(0o777)


def link_elsewhere(pin):
    folder = pin.parent.parent / "shared"
    folder.mkdir()
    pin.rename(folder / "key")
    folder.chmod(0o777)
    pin.symlink_to(folder / "key")


def give_away(pin):
    if os.getuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(pin, 65534, -1)


RISKS = {
    lay_open: "chmod 600",
    lay_open_to_the_group: "chmod 600",
    open_the_folder: "chmod go-w",
    link_elsewhere: "chmod go-w",
    give_away: "chown",
}


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
@pytest.mark.parametrize(
    ("risk", "mend"), RISKS.items(), ids=lambda one: getattr(one, "__name__", one)
)
def test_a_pin_that_others_may_change_is_not_believed(
    runtime_folder, am, pin, tmp_path, risk, mend
):
    (tmp_path / "release.json").write_text("{}")
    risk(pin)
    outcome = am("update", "--from", str(tmp_path), "--json")
    assert outcome.code == 3 and "not believed" in outcome.json["error"]
    assert mend in outcome.json["next"]
    [check] = checks_of(am, "release key")
    assert check["status"] == "warning" and mend in check["fix"]


def test_a_file_in_the_place_of_our_folder_is_no_bug(home):
    (home / ".agentlas").write_text("")
    assert list(check_versions(Place(home, home / ".agentlas", {})))


def test_a_pin_of_one_s_own_is_well(runtime_folder, am, pin):
    assert [one["status"] for one in checks_of(am, "release key")] == ["ok"]
    pin.unlink()
    assert not checks_of(am, "release key")


@ODD
def test_an_odd_history_is_named_and_holds_nothing(runtime_folder, am, put):
    put(runtime_folder / "history.json")
    outcome = am("runtime", "list")
    assert outcome.code == 0 and f"{runtime_folder / 'history.json'}" in outcome.err
    outcome = am("rollback", "--json")
    assert outcome.code == 1 and "history.json" in outcome.json["error"]
    assert any("history.json" in one for one in versions_of(am))


@ODD
def test_odd_facts_are_named_and_hold_nothing(runtime_folder, am, put):
    put(runtime_folder / OLD / "runtime.json")
    outcome = am("runtime", "list")
    assert outcome.code == 0 and "0.1.0/runtime.json" in outcome.err
    assert any("0.1.0/runtime.json" in one for one in versions_of(am))


def versions_of(am):
    """Return what `doctor` says of the versions."""
    return [one["detail"] for one in checks_of(am, "version")]


def checks_of(am, name):
    return [one for one in am("doctor", "--json").json["checks"] if one["id"] == name]


@pytest.mark.parametrize("since", [10**300, "NaN", 1e300])
def test_a_time_that_is_none_is_no_entry(runtime_folder, am, since):
    text = f'{{"entries": [{{"id": "0.1.0", "since": {since}}}, {{"id": "a\\u0000", "since": 1}}]}}'
    (runtime_folder / "history.json").write_text(text)
    assert am("runtime", "list").code == 0
    assert am("rollback", "--json").code == 1


@pytest.mark.parametrize("name", ["1.0.0/runtime.json", "history.json"])
def test_what_cannot_be_read_is_no_reason_to_remove_a_version(runtime_folder, am, name):
    for version in ("1.0.0", "1.1.0"):
        (runtime_folder / version).mkdir(parents=True)
        (runtime_folder / version / "runtime.json").write_text(json.dumps({"version": version}))
        os.utime(runtime_folder / version / "runtime.json", (0, 0))
    (runtime_folder / "current").unlink(missing_ok=True)
    (runtime_folder / "current").symlink_to("1.1.0")
    (runtime_folder / name).write_text("{broken")
    assert "1.0.0" not in am("runtime", "prune", "--all", "--json").json["removed"]
    assert (runtime_folder / "1.0.0").is_dir()
