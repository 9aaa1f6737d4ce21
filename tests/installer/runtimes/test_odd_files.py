"""What stands in the place of a file of ours: told in a sentence, never waited for, never a bug."""

import json
import os

import pytest

OLD = "0.1.0"
NESTED = b"[" * 200_000


@pytest.fixture
def runtimes(home):
    """A machine on which 0.1.0 is active."""
    folder = home / ".agentlas/runtime"
    (folder / OLD / "bin").mkdir(parents=True)
    (folder / OLD / "runtime.json").write_text(json.dumps({"version": OLD, "id": OLD}))
    (folder / "current").symlink_to(OLD)
    return folder


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
def test_a_pin_that_is_no_file_is_named(runtimes, am, tmp_path, put):
    pin = runtimes.parent / "release-key.pub"
    put(pin)
    (tmp_path / "release.json").write_text("{}")
    outcome = am("update", "--from", str(tmp_path), "--json")
    assert outcome.code == 3
    assert f"{pin} cannot be read" in outcome.json["error"]


@ODD
def test_an_odd_history_is_named_and_holds_nothing(runtimes, am, put):
    put(runtimes / "history.json")
    outcome = am("runtime", "list")
    assert outcome.code == 0 and f"{runtimes / 'history.json'}" in outcome.err
    outcome = am("rollback", "--json")
    assert outcome.code == 1 and "history.json" in outcome.json["error"]
    assert any("history.json" in one for one in versions_of(am))


@ODD
def test_odd_facts_are_named_and_hold_nothing(runtimes, am, put):
    put(runtimes / OLD / "runtime.json")
    outcome = am("runtime", "list")
    assert outcome.code == 0 and "0.1.0/runtime.json" in outcome.err
    assert any("0.1.0/runtime.json" in one for one in versions_of(am))


def versions_of(am):
    """Return what `doctor` says of the versions."""
    checks = am("doctor", "--json").json["checks"]
    return [one["detail"] for one in checks if one["id"] == "version"]


@pytest.mark.parametrize("since", [10**300, "NaN", 1e300])
def test_a_time_that_is_none_is_no_entry(runtimes, am, since):
    text = f'{{"entries": [{{"id": "0.1.0", "since": {since}}}, {{"id": "a\\u0000", "since": 1}}]}}'
    (runtimes / "history.json").write_text(text)
    assert am("runtime", "list").code == 0
    assert am("rollback", "--json").code == 1
