"""What `doctor` checks of our own: the program, its model and its log."""

import os
import shutil
import sqlite3
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import agentlas_memory
from agentlas_memory.installer.checks.failures import check_failures
from agentlas_memory.installer.checks.program import check_program
from agentlas_memory.installer.surfaces import Place

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
