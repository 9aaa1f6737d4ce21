"""Keep a store of this schema for the tests, which open it with every later version.

python scripts/keep_schema.py FOLDER NAME

Makes `NAME.sqlite.gz` in FOLDER from FOLDER/project with the notes in FOLDER/inbox, and
`NAME-experience.sqlite.gz` from FOLDER/experience.jsonl. The code that is imported makes them: with
PYTHONPATH set to an older checkout, that one's. What a version lacks is left out.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
from pathlib import Path

RECORD = ("runbook/7", "The zorkmid gateway is drained before it is restarted.", "Gateway", "ops/7")
AGENT = "hub:ledger-keeper"
DATABASE = ".agentlas/ontology-runtime.sqlite"


def main() -> int:
    """Make the files."""
    folder, name = Path(sys.argv[1]).absolute(), sys.argv[2]
    with tempfile.TemporaryDirectory() as aside:
        os.environ["AGENTLAS_HOME"] = aside  # the model's stamp
        work = Path(aside, "project")
        shutil.copytree(folder / "project", work)
        shutil.copytree(folder / "inbox", work / ".agentlas/ontology-inbox")
        make_store(work)
        keep(work / DATABASE, folder / f"{name}.sqlite.gz")
        experience = work / "experience.sqlite"
        if make_experience(folder / "experience.jsonl", experience):
            keep(experience, folder / f"{name}-experience.sqlite.gz")
    return 0


def make_store(project: Path) -> None:
    """Index a project and hand over a record: its text is in the store alone."""
    from agentlas_memory.runtime import OntologyRuntime

    try:
        from agentlas_memory.ontology.index import index_project

        index_project(project)
    except ImportError:  # the first version took records and nothing else
        pass
    OntologyRuntime(project / DATABASE).ingest_records([RECORD])


def make_experience(ledger: Path, database: Path) -> bool:
    """Project a ledger, where there are any."""
    try:
        from agentlas_memory.ontology.ledger import read_ledger
        from agentlas_memory.ontology.projection import project_ledger
    except ImportError:
        return False
    project_ledger(read_ledger(ledger, AGENT), AGENT, database)
    return True


def keep(database: Path, file: Path) -> None:
    """Compress a database; the same one gives the same bytes."""
    file.write_bytes(gzip.compress(database.read_bytes(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
