"""A project of no one's, made for a moment, that the hook must know something of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agentlas_memory.installer.checks.runs import Sample

_WORD = "minor units"
_RULE = f"The sample ledger is settled in integer {_WORD}, because floats lose cents."


@contextmanager
def sample_project() -> Iterator[Sample]:
    """Yield a trusted project with one note in a home of its own; both go again.

    The note is a constraint: it answers a prompt about it, and the start of a session too.
    """
    from agentlas_memory.commands.projects import read_store_id
    from agentlas_memory.embedding.verify import refresh_stamp
    from agentlas_memory.ontology.index import index_project
    from agentlas_memory.ontology.notes import write_note
    from agentlas_memory.project import Project
    from agentlas_memory.trust_file import add_trust

    with TemporaryDirectory(prefix="agentlas-memory-") as folder:
        sample = Sample(Path(folder, "home"), Path(folder, "project"), _WORD)
        for one in (sample.home, sample.project):
            one.mkdir(mode=0o700)
        write_note(sample.project, _RULE, kind="constraint")
        index_project(sample.project)
        root, data = str(sample.project), str(sample.data_home)
        add_trust(data, root, read_store_id(Project(root, root)))
        refresh_stamp(data)
        yield sample
