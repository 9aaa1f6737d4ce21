"""A run may end at any moment; the next one leaves the store as if nothing had happened."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

INDEX = """
import resource, sys
from pathlib import Path
from agentlas_memory.ontology import writer
from agentlas_memory.ontology.index import index_project
writer.SEGMENT_VECTORS = 32  # small transactions, so that there are many to fall between
if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
print(flush=True)
index_project(Path(sys.argv[1]), progress=lambda *_: print(flush=True))
"""
WORDS = [
    "ledger",
    "gateway",
    "rollout",
    "token",
    "cluster",
    "pager",
    "schema",
    "vault",
    "cursor",
    "quota",
    "shard",
    "lease",
]


def fill(root, files, words=120, seed=1):
    """Write files that differ, some with links and code names, some long."""
    chance = random.Random(seed)
    for number in range(files):
        text = (
            f"# Part {number}\n\nSee [next](f{(number + 1) % files}.md) and `part{number}.py`.\n\n"
        )
        text += " ".join(f"{chance.choice(WORDS)}{chance.randrange(99)}" for _ in range(words))
        (root / f"f{number}.md").write_text(text + "\n")


def start(project, *arguments, **options):
    command = [sys.executable, "-c", INDEX, project.root, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options
    )
    process.stdout.readline()
    return process


def wait_for_writing(process):
    """Wait for the first file, so that slow machines are killed as early as quick ones."""
    process.stdout.readline()


def end(process, number):
    if process.poll() is None:
        os.killpg(process.pid, number)
    return process.communicate(timeout=30)


@pytest.mark.slow
def test_run_killed_at_any_moment_is_completed_by_the_next(project, twin, assert_same):
    fill(project.root, 300)
    fill(twin.root, 300)
    twin.index()
    chance = random.Random(7)
    progress = []
    for _ in range(12):
        process = start(project)
        wait_for_writing(process)
        time.sleep(chance.uniform(0, 0.08))
        end(process, signal.SIGKILL)
        progress.append(project.database.stat().st_size if project.database.exists() else 0)
    project.index()
    assert len(set(progress)) > 2, "the kills must fall between transactions"
    assert_same(project.content(), twin.content())


@pytest.mark.slow
def test_changes_killed_half_way_are_completed_too(project, twin, assert_same):
    fill(project.root, 300)
    project.index()
    chance = random.Random(8)
    for seed in range(5):
        fill(project.root, 300, words=60, seed=100 + seed)
        for number in range(250 + 10 * seed, 300):
            (project.root / f"f{number}.md").unlink()
        process = start(project)
        wait_for_writing(process)
        time.sleep(chance.uniform(0, 0.3))
        end(process, signal.SIGKILL)
    project.index()
    fill(twin.root, 300, words=60, seed=104)
    for number in range(290, 300):
        (twin.root / f"f{number}.md").unlink()
    twin.index()
    assert_same(project.content(), twin.content())


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.3, 0.8])
def test_interrupt_ends_the_run_and_its_workers_in_order(project, delay):
    fill(project.root, 40, words=9000)
    process = start(project)
    time.sleep(delay)
    _, errors = end(process, signal.SIGINT)
    assert process.returncode != 0
    assert errors.decode().rstrip().endswith("KeyboardInterrupt")
    assert b"spawn_main" not in errors, "a worker complained of its own"
    assert_ended(process)


@pytest.mark.slow
def test_workers_end_with_a_killed_run(project):
    fill(project.root, 40, words=9000)
    process = start(project)
    until = time.monotonic() + 20
    while len(processes_of(process.pid)) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(processes_of(process.pid)) >= 3
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert_ended(process)


def assert_ended(process):
    until = time.monotonic() + 10
    while (left := processes_of(process.pid)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left


def processes_of(session):
    """Return the living processes of a session."""
    listed = subprocess.run(["ps", "-eo", "sid=,stat="], capture_output=True, text=True, check=True)
    fields = [line.split() for line in listed.stdout.splitlines()]
    return [stat for sid, stat in fields if int(sid) == session and not stat.startswith("Z")]


def test_file_of_many_transactions_killed_between_them_is_done_again(project, twin, assert_same):
    text = "".join(f"# Part {number}\n\nThe lease {number} ends.\n\n" for number in range(2500))
    project.write(big=text)
    twin.write(big=text)
    twin.index()

    class Killed(BaseException):
        pass

    from agentlas_memory.ontology.writer import StoreWriter

    def kill_second(writer, real=StoreWriter.commit):
        real(writer)
        if writer._connection.execute("SELECT count(*) FROM chunks").fetchone()[0] > 1024:
            raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(StoreWriter, "commit", kill_second)
        project.index()
    assert project.rows("SELECT count(*) FROM chunks") == [(2048,)]
    assert project.rows("SELECT content_hash FROM sources") == [(None,)]
    assert project.index().changed == 1
    assert_same(project.content(), twin.content())


def test_full_disk_is_an_error_and_the_old_content_is_whole(project):
    fill(project.root, 30)
    project.index()
    before = project.content()
    fill(project.root, 300, seed=2)
    process = start(project, project.database.stat().st_size + 40_000)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "disk I/O error" in errors.decode() or "disk is full" in errors.decode()
    assert project.content() == before
    assert project.index().added == 270


@pytest.mark.slow
def test_memory_of_the_writer_does_not_grow_with_the_project(project):
    fill(project.root, 1500, words=30)
    few = peak_kib(project, project.root / "f1.md")
    assert peak_kib(project) < few + 60_000


MEASURE = """
import resource, sys
from pathlib import Path
from agentlas_memory.ontology.index import index_project
index_project(*map(Path, sys.argv[1:2]), list(map(Path, sys.argv[2:])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kib(project, *paths):
    command = [sys.executable, "-c", MEASURE, project.root, *paths]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)
