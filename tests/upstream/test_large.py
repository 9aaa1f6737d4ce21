"""Much of everything: a store is streamed, its report stays short, what is too long is left."""

import random
import sqlite3
import subprocess
import sys

import pytest

MEASURE = """
import sys
from agentlas_memory.cli import cli
cli(["import-store", "--yes", "--json"], standalone_mode=False)
# Not ru_maxrss: that begins with what the process that started this one had.
peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(*peak, file=sys.stderr)
"""


@pytest.mark.slow
def test_values_of_50_mb_are_passed_over(upstream, am, notes):
    store = upstream(lexical=False)
    store.source("note:1", "A zorkmid is a coin", metadata_json="[" * 50_000_000)
    store.connection.execute("UPDATE chunks SET vector_json = ?", ("[0.1]" * 10_000_000,))
    store.source("note:2", "y" * 50_000_000)
    store.learn("t1", "Ledgers are kept", tags_json="[" * 50_000_000)
    store.close()
    outcome = am("import-store", "--yes", "--json")
    assert outcome.code == 0
    assert outcome.json["carried"]["notes"] == 1
    assert outcome.left()["chunks", "longer than is read"] == 1
    assert am("import-store", "--agent", "ledger-keeper", "--yes").code == 0


def test_a_store_can_be_made_to_have_a_reason_for_each_row(upstream, am):
    store = upstream()
    for number in range(500):
        store.learn(f"t{number}", "x", status=f"odd {number}", agent=f"hub:a{number % 250}")
    store.close()
    outcome = am("import-store", "--yes", "--json")
    assert len(outcome.json["not_carried"]) < 70
    assert sum(one["count"] for one in outcome.json["not_carried"]) == 500


@pytest.mark.slow
def test_a_store_of_100_000_chunks_is_streamed(upstream, root):
    store = upstream(lexical=False)
    words = ["ledger", "gateway", "rollout", "token", "cluster", "pager", "vault", "cursor"]
    for number in range(50):
        chance = random.Random(number)
        texts = [" ".join(chance.choices(words, k=25)) + f" {n}." for n in range(2000)]
        store.source(f"docs/ledger.md?{number}" if number else "docs/ledger.md", *texts)
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE sources SET uri = 'docs/' || rowid || '/../ledger.md' WHERE rowid > 2"
        )
    connection.close()
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr
    peak_kib = int(done.stderr.splitlines()[-1])
    assert peak_kib < 400_000
