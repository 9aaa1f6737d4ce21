"""Writers and readers of one store at the same time."""

import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.lock import StoreLocked, writer_lock
from agentlas_memory.ontology.store import StoreUnusable, open_store

KEYS = "# Keys\n\nWe rotate the signing keys every 90 days.\n"

WRITER = """
import sys, time
from pathlib import Path
from agentlas_memory.ontology.index import index_project
root, name, until = Path(sys.argv[1]), sys.argv[2], time.monotonic() + float(sys.argv[3])
number = 0
while time.monotonic() < until:
    file = root / f"{name}-{number}.md"
    file.write_text(f"# Fact {number}\\n\\nWriter {name} keeps lease {number} in shard {name}.\\n")
    report = index_project(root, [file], wait=60)
    assert (report.added, report.removed) == (1, 0), report
    number += 1
print(number)
"""

READER = """
import sys, time
from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.store import StoreUnusable, open_store
path, until = sys.argv[1], time.monotonic() + float(sys.argv[2])
longest, read, last = 0.0, 0, 0
while time.monotonic() < until:
    began = time.process_time(), time.monotonic()
    try:
        store = open_store(path, Deadline(1500))
    except StoreUnusable as error:
        assert "locked" in str(error), error
    else:
        rows = store.select_chunks("")
        assert all(row.intact() for row in rows)
        assert len(rows) >= last
        last, read = len(rows), read + 1
        store.close()
        continue
    longest = max(longest, time.monotonic() - began[1] - (time.process_time() - began[0]))
print(read, longest)
"""


@pytest.mark.slow
def test_eight_writers_and_eight_readers_lose_nothing(project):
    project.write(keys=KEYS)
    project.index()
    writers = [run(WRITER, project.root, f"w{number}", 4) for number in range(8)]
    readers = [run(READER, project.database, 4) for _ in range(8)]
    written = sum(int(result(writer)) for writer in writers)
    seen = [result(reader).split() for reader in readers]
    assert project.rows("SELECT count(*) FROM sources") == [(written + 1,)]
    assert project.rows("PRAGMA integrity_check") == [("ok",)]
    project.content()
    assert sum(int(read) for read, _ in seen) > 8
    # 50 ms are the limit; what a loaded machine takes to wake a process up comes on top.
    assert max(float(longest) for _, longest in seen) < 0.5


def run(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process):
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


@pytest.fixture
def indexed(project):
    project.write(keys=KEYS)
    project.index()
    return project


def test_reader_gives_up_on_an_exclusive_lock_within_its_limit(indexed):
    holder = sqlite3.connect(indexed.database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    with pytest.raises(StoreUnusable, match="locked"):
        open_store(str(indexed.database), Deadline(1500))
    assert time.monotonic() - began < 0.5
    holder.close()


def test_reader_sees_its_snapshot_while_a_writer_has_not_committed(indexed):
    holder = sqlite3.connect(indexed.database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    holder.execute("DELETE FROM chunks")
    assert indexed.sources_of("how often do we rotate the signing keys?") == ["keys.md"]
    holder.close()


def test_writer_that_cannot_get_the_lock_names_the_one_who_has_it(indexed):
    indexed.write(keys=KEYS + "\nOften.\n")
    with (
        writer_lock(indexed.folder, 1),
        pytest.raises(StoreLocked, match=r"process \d+ is writing"),
    ):
        indexed.index(wait=0.1)
    assert indexed.index().changed == 1


def test_writer_waits_for_another(indexed):
    with writer_lock(indexed.folder, 1):
        thread = threading.Thread(target=indexed.index)
        thread.start()
        time.sleep(0.2)
        assert thread.is_alive()
    thread.join()
    assert indexed.sources_of("how often do we rotate the signing keys?") == ["keys.md"]


def test_killed_holder_leaves_no_lock_behind(indexed):
    code = "import os,sys,time; from pathlib import Path\n"
    code += "from agentlas_memory.ontology.lock import writer_lock\n"
    code += "with writer_lock(Path(sys.argv[1]), 1): print(flush=True); time.sleep(60)"
    holder = run(code, indexed.folder)
    holder.stdout.readline()
    with pytest.raises(StoreLocked, match=f"process {holder.pid} is writing"):
        indexed.index(wait=0)
    holder.kill()
    holder.communicate()
    indexed.index(wait=1)


def test_database_locked_by_another_program_is_an_error_not_a_loss(indexed, monkeypatch):
    monkeypatch.setattr("agentlas_memory.ontology.database._BUSY_SECONDS", 0.05)
    indexed.write(keys=KEYS + "\nOften.\n")
    holder = sqlite3.connect(indexed.database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        indexed.index()
    holder.close()
    assert indexed.index().changed == 1


def test_read_only_store_is_an_error_not_a_silence(indexed, monkeypatch):
    def read_only(path, real=sqlite3.connect, **options):
        return real(f"file:{path}?mode=ro", uri=True, **options)

    indexed.write(keys=KEYS + "\nOften.\n")
    monkeypatch.setattr("agentlas_memory.ontology.database.sqlite3.connect", read_only)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        indexed.index()
