"""What unrelated prompts score in a store, measured when it is written: the gate rises with it.

A store whose texts resemble any question of a developer answers too much behind a fixed gate; one
about something else altogether, a talk say, too little.
"""

from __future__ import annotations

from pathlib import Path

from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.asset import Asset
from agentlas_memory.embedding.model import open_model
from agentlas_memory.home import data_home
from agentlas_memory.ontology.database import writable_database
from agentlas_memory.ontology.store import Store, open_store
from agentlas_memory.ontology.writer import set_meta
from agentlas_memory.recall.engine import JUDGED, recall

# Prompts about 21 public projects, three of each: about this project, at most a few of them.
_UNRELATED = Path(__file__).with_name("unrelated.txt")
_QUANTILE = 0.8
_VERSION = "1"  # raised with the evidence that the gate weighs
_FEWEST = 100  # chunks: fewer cannot tell, and the usual gate holds
_CHANGED = 0.1  # share of the chunks that makes it worth while to measure again
_PATIENCE_MS = 60_000.0


def calibrate(database: Path) -> None:
    """Measure a store that was never measured or has changed a good deal since."""
    asset = open_model(data_home())
    store = open_store(str(database), Deadline(_PATIENCE_MS))
    try:
        chunks = store.number("chunks")
        if asset is None or chunks < _FEWEST or not _is_due(store, chunks):
            return
        noise = measure_noise(store, asset)
    finally:
        store.close()
    with writable_database(database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        set_meta(connection, "noise", noise)
        set_meta(connection, "noise_measured", f"{_VERSION}/{chunks}")
        connection.execute("COMMIT")


def measure_noise(store: Store, asset: Asset) -> float:
    """Return the evidence that four of five unrelated prompts stay below."""
    prompts = _UNRELATED.read_text(encoding="utf-8").splitlines()
    best = sorted(_best_evidence(store, asset, prompt) for prompt in prompts)
    return round(best[int(_QUANTILE * len(best))], 2)


def _best_evidence(store: Store, asset: Asset, prompt: str) -> float:
    found = recall(
        store,
        prompt,
        scopes=("public", "internal"),
        limit=JUDGED,
        root=None,
        asset=asset,
        deadline=Deadline(_PATIENCE_MS),
    )
    return max((candidate.evidence for candidate in found.candidates), default=0.0)


def _is_due(store: Store, chunks: int) -> bool:
    version, _, measured = store.text("noise_measured").partition("/")
    if version != _VERSION:
        return True
    return abs(chunks - int(measured)) > _CHANGED * int(measured)
