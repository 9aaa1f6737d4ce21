"""Write the vector of documentation that `recall/dense.py` compares questions with.

    python scripts/build_background.py FOLDER...

Each FOLDER holds the documentation of one project (Markdown, reStructuredText, text). What is
written is the mean of their means, so that a large project counts no more than a small one; what is
printed is its length before it was scaled to int8. The shipped one was made from 21 public
projects: alembic, black, borgbackup, buildbot, celery, dask, datalad, dragonflow, gunicorn, hatch,
numpy (its enhancement proposals), octavia, openedx-filters, ophyd-async, pip, pytest, salt, scrapy,
structlog, trio, tuf.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.index import index_project
from agentlas_memory.ontology.sidecar import Sidecar
from agentlas_memory.ontology.store import open_store
from agentlas_memory.project import DATABASE
from agentlas_memory.recall import dense


def main(folders: list[str]) -> None:
    mean = np.mean([mean_of(Path(folder)) for folder in folders], axis=0)
    vector = np.rint(mean * (127 / np.abs(mean).max())).astype(np.int8)
    Path(dense.DOCUMENTATION).write_bytes(vector.tobytes())
    print(f"length {np.linalg.norm(mean):.3f}")


def mean_of(folder: Path) -> np.ndarray:
    """Return the mean of the unit vectors of a folder's chunks."""
    with TemporaryDirectory() as place:
        project = Path(place) / "project"
        shutil.copytree(folder, project)
        (project / DATABASE).parent.mkdir()
        index_project(project)
        store = open_store(str(project / DATABASE), Deadline(60_000))
        sidecar = Sidecar(f"{store.folder}/{store.text('sidecar')}", store.text("store_id"))
        rows = np.frombuffer(bytes(sidecar.vectors), dtype=np.int8).astype(np.float64)
        store.close()
    rows = rows.reshape(-1, sidecar.dimensions)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.mean(rows[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0], axis=0)


if __name__ == "__main__":
    main(sys.argv[1:])
