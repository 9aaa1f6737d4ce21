"""What `doctor`, `status` and `runtime list` tell of the versions on a machine."""

import os

import pytest

from agentlas_memory.installer.runtimes.history import History


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


def test_doctor_names_what_an_update_left(runtimes, make_versions, activate, age, found, am):
    make_versions("1.0.0", "1.1.0", "1.2.0")
    activate("1.0.0", "1.1.0", "1.2.0")
    History(runtimes).settle("1.2.0")
    assert found() == []
    age(9)
    (runtimes.folder / "1.3.0").mkdir()
    (runtimes.folder / ".agentlas-bundle").mkdir()
    assert found() == [
        "1.0.0 is not needed any more",
        "1.3.0 was never finished",
        f"{runtimes.folder / '.agentlas-bundle'} was left by an update",
    ]
    am("doctor", "--fix")
    assert found() == []


def test_doctor_names_hosts_that_were_not_brought_in_line(runtimes, make_versions, activate, found):
    make_versions("1.0.0", "1.1.0")
    activate("1.0.0", "1.1.0")
    History(runtimes).settle("1.0.0")
    assert found() == ["1.1.0 is active, but the hosts were not brought in line with it"]


def test_status_names_the_version_that_serves(runtimes, make_versions, activate, am):
    assert am("status", "--json").json["runtime"] is None
    make_versions("1.0.0")
    activate("1.0.0")
    assert am("status", "--json").json["runtime"] == {"id": "1.0.0", "version": "1.0.0"}


def test_doctor_names_the_interpreter_that_is_gone(runtimes, make_versions, activate, am):
    make_versions("1.0.0")
    activate("1.0.0")
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
