"""Kill -9 at every step, a full disk, a disk that cannot be written: the old version answers.

And a second run heals: it ends with the new version, the hosts' files, and nothing else.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

OLD, NEW = "0.1.0", "0.2.0"
DEADLY = Path(__file__).with_name("deadly.py")
STEPS = [
    "open",
    "read the release",
    "check the signature",
    "check the version",
    "check the machine",
    "take the lock",
    "clear leftovers",
    "make room",
    "fetch the bundle",
    "check every digest",
    "make its folder",
    "make its environment",
    "install the wheels",
    "leave pip out",
    "compile",
    "check the model and the hosts' files",
    "write the programs",
    "self-test",
    "mark it whole",
    "look at the hosts",
    "stamp the model",
    "activate",
    "bring the hosts in line",
    "prune",
]
LONG = ["make its environment", "install the wheels", "compile", "self-test", "look at the hosts"]
MERGE = ["look at the hosts", "bring the hosts in line"]
BEFORE = STEPS[: STEPS.index("activate") + 1]  # the step `activate` begins before the switch


def kill(machine, step, moment, *words):
    python = machine.runtimes / "current/bin/python3"
    done = machine.run([python, "-I", DEADLY, step, moment, *words])
    assert done.returncode == -9, f"{step}: {done.returncode} {done.stderr}"
    return done


def is_whole(machine):
    return (machine.runtimes / machine.current / "runtime.json").exists()


def processes_of(machine):
    """Return the processes that name a folder of the machine."""
    mark = os.fsencode(machine.runtimes)
    found = []
    for one in Path("/proc").iterdir():
        try:
            if one.name.isdigit() and mark in (one / "cmdline").read_bytes():
                found.append((one / "cmdline").read_bytes())
        except OSError:
            continue
    return found


def heals(machine, bundle):
    """Run the update again; see that all is as if nothing had happened."""
    done = machine.am("update", "--from", bundle, "--json")
    assert done.returncode == 0, done.stderr
    assert NEW in machine.am("--version").stdout
    assert is_whole(machine) and machine.answers()
    assert not machine.run(
        ["find", machine.runtimes, "-name", "*.part", "-o", "-name", ".*.new"]
    ).stdout
    for name in machine.versions:
        assert (machine.runtimes / name / "runtime.json").exists(), name
    left = {path.name for path in machine.runtimes.iterdir()} - machine.versions
    assert left == {"current", "history.json", "update.lock"}
    checks = json.loads(machine.am("doctor", "--json").stdout)["checks"]
    assert not [
        one
        for one in checks
        if one["id"] == "version" and not one["host"] and one["status"] != "ok"
    ]
    assert not processes_of(machine)


def test_the_steps_are_these(machine, new_bundle):
    done = machine.am("update", "--from", new_bundle)
    assert [line.strip() for line in done.stderr.splitlines() if line[:2] == "  "] == STEPS


def test_one_kill_after_the_other_leaves_a_version_that_answers(machine, new_bundle):
    files = machine.host_files()
    for step in BEFORE:
        for moment in ("before", "during") if step in LONG else ("before",):
            kill(machine, step, moment, "update", "--from", new_bundle)
            assert machine.current == OLD and is_whole(machine), step
            assert machine.answers(), step
            assert machine.host_files() == files, step
    heals(machine, new_bundle)
    assert machine.host_files() == files


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("step", "moment"), [(step, "before") for step in BEFORE] + [(step, "during") for step in LONG]
)
def test_a_kill_before_the_switch_is_healed_by_the_next_run(machine, new_bundle, step, moment):
    kill(machine, step, moment, "update", "--from", new_bundle)
    assert machine.current == OLD and machine.answers()
    heals(machine, new_bundle)


@pytest.mark.parametrize(
    ("step", "moment"), [(MERGE[1], "before"), (MERGE[1], "during"), ("prune", "before")]
)
def test_a_kill_after_the_switch_leaves_the_new_version_and_the_next_run_finishes(
    machine, new_bundle, step, moment
):
    files = machine.host_files()
    kill(machine, step, moment, "update", "--from", new_bundle)
    assert machine.current == NEW
    assert is_whole(machine) and machine.answers()
    assert machine.host_files() == files
    heals(machine, new_bundle)
    assert machine.host_files() == files


@pytest.mark.parametrize("step", ["self-test", "look at the hosts", "activate", MERGE[1], "prune"])
def test_a_killed_rollback_leaves_a_version_that_answers(machine, new_bundle, step):
    assert machine.am("update", "--from", new_bundle).returncode == 0
    kill(machine, step, "before", "rollback")
    assert is_whole(machine) and machine.answers()
    switched = step in (MERGE[1], "prune")
    assert machine.current == (OLD if switched else NEW)
    done = machine.am("rollback", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["version"] == (NEW if switched else OLD)
    assert machine.answers()


@pytest.fixture
def small_disk(machine):
    """Mount a small file system where versions are built: the old one is a link out of it."""
    if shutil.which("mount") is None or os.getuid():
        pytest.skip("mounting takes root")
    aside = machine.data / "aside"
    machine.runtimes.rename(aside)
    machine.runtimes.mkdir()

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", machine.runtimes]
        if machine.run(command).returncode:
            pytest.skip("mounting is not possible here")
        assert machine.run(["cp", "-a", f"{aside}/.", machine.runtimes]).returncode == 0

    yield mount
    subprocess.run(["umount", machine.runtimes], check=True)


def free_megabytes(machine):
    status = os.statvfs(machine.runtimes)
    return status.f_bavail * status.f_frsize >> 20


@pytest.mark.parametrize("free", [0, 3, 14, 30, 60])
def test_a_full_disk_leaves_the_old_version(machine, new_bundle, small_disk, free):
    small_disk("size=1g")
    filling = machine.runtimes / OLD / "filling"
    with filling.open("wb") as file:
        file.write(b"\0" * max(0, (free_megabytes(machine) - free) << 20))
    files = machine.host_files()
    if free == 0:
        with filling.open("ab", buffering=0) as file, pytest.raises(OSError):
            while True:
                file.write(b"\0" * 4096)
    done = machine.am("update", "--from", new_bundle)
    assert done.returncode == 1, done.stderr
    assert "Error: " in done.stderr and "Traceback" not in done.stderr
    assert "active still" in done.stderr
    assert machine.current == OLD and machine.answers()
    assert machine.host_files() == files
    filling.unlink(missing_ok=True)
    heals(machine, new_bundle)


def test_a_disk_that_cannot_be_written_leaves_the_old_version(machine, new_bundle, small_disk):
    small_disk("size=1g")
    assert machine.run(["mount", "-o", "remount,ro", machine.runtimes]).returncode == 0
    done = machine.am("update", "--from", new_bundle)
    assert done.returncode == 1
    assert "Read-only file system" in done.stderr and "Traceback" not in done.stderr
    assert machine.current == OLD and machine.answers()
    assert machine.am("doctor").returncode == 0
    assert machine.run(["mount", "-o", "remount,rw", machine.runtimes]).returncode == 0
    heals(machine, new_bundle)


def test_files_may_not_grow_leaves_the_old_version(machine, new_bundle):
    program = machine.runtimes / "current/bin/agentlas-memory"
    limited = f'ulimit -f 2000; trap "" XFSZ; exec "{program}" update --from "{new_bundle}"'
    done = machine.run(["sh", "-c", limited])
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert machine.current == OLD and machine.answers()
    heals(machine, new_bundle)


def test_an_interrupt_ends_what_was_started_and_leaves_nothing(machine, new_bundle):
    command = [machine.runtimes / "current/bin/agentlas-memory", "update", "--from", new_bundle]
    process = subprocess.Popen(command, env=machine.environment, stderr=subprocess.PIPE, text=True)
    while "install the wheels" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert "Interrupted" in process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert machine.versions == {OLD} and not processes_of(machine)
    assert machine.answers()


def test_what_a_killed_update_started_ends_before_the_next_begins(machine, new_bundle):
    kill(machine, "install the wheels", "during", "update", "--from", new_bundle)
    assert processes_of(machine), "pip goes on for a while"
    started = time.monotonic()
    heals(machine, new_bundle)
    assert time.monotonic() - started < 120
