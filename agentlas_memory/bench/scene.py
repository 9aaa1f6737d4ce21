"""A throwaway home and a trusted project with a store, as after `init` and `index`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agentlas_memory.bench.corpus import Text
from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.verify import refresh_stamp
from agentlas_memory.ontology import OntologyRuntime
from agentlas_memory.ontology.records import Record
from agentlas_memory.ontology.store import open_store
from agentlas_memory.project import DATABASE
from agentlas_memory.trust_file import add_trust

_PATIENCE_MS = 10_000.0


@dataclass(frozen=True)
class Scene:
    """The folders of one measurement; `elsewhere` lies in no project."""

    home: Path
    project: Path
    elsewhere: Path

    def read_stages(self) -> dict[str, float]:
        """Return the stage milliseconds of the last recall."""
        (receipt,) = self.home.glob(".agentlas/state/last/*.json")
        return cast("dict[str, float]", json.loads(receipt.read_text())["stages"])


def build_scene(folder: Path, chunks: Sequence[Text]) -> Scene:
    """Make the folders, write the chunks into a store and trust it."""
    scene = Scene(folder / "home", folder / "project", folder / "elsewhere")
    for place in (scene.home, scene.project, scene.elsewhere):
        place.mkdir()
    database = scene.project / DATABASE
    records = (Record(str(n), chunk.text, chunk.title, chunk.doc) for n, chunk in enumerate(chunks))
    OntologyRuntime(database).ingest_records(records)
    home = scene.home / ".agentlas"
    with closing(open_store(str(database), Deadline(_PATIENCE_MS))) as store:
        add_trust(str(home), str(scene.project), store.text("store_id"))
    refresh_stamp(str(home))
    return scene
