"""Two sessions that write into one project while a third reads."""

import subprocess
import sys

import pytest

from agentlas_memory.ontology.notes import list_notes

WRITE = """
import sys
from pathlib import Path
from agentlas_memory.ontology.index import index_project
from agentlas_memory.ontology.notes import write_note
root, name = Path(sys.argv[1]), sys.argv[2]
for number in range(200):
    write_note(root, f"Session {name} found the lease {number} in shard {name}.")
    if number % 20 == 19:
        index_project(root, wait=60)
"""


@pytest.mark.slow
def test_two_sessions_lose_no_note_and_a_reader_sees_none_twice(project, am):
    command = [sys.executable, "-c", WRITE, str(project)]
    writers = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    seen, most = set(), 0
    while any(writer.poll() is None for writer in writers):
        notes, broken = list_notes(project)
        ids = [note.id for note in notes]
        assert len(ids) == len(set(ids)) >= most
        assert (seen <= set(ids), broken) == (True, ())
        seen, most = set(ids), len(ids)
    assert [writer.returncode for writer in writers] == [0, 0]
    texts = {note.text for note in list_notes(project).notes}
    assert sum(text.startswith("Session ") for text in texts) == 400
    am("index")
    assert am("query", "which shard has the lease 199 of session b", "--json").json["hits"]
