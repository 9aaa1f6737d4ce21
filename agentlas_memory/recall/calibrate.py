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

# Prompts about 21 public projects, three of each: about this project, at most a few of them.
_UNRELATED = Path(__file__).with_name("unrelated.txt")
_SCOPES = ("public", "internal")  # those that a hook may see
_QUANTILE = 0.8
_VERSION = "1"  # raised with the evidence that the gate weighs
_FEWEST = 100  # chunks: fewer cannot tell, and the usual gate holds
_CHANGED = 0.1  # share of the chunks that makes it worth while to measure again
_PATIENCE_MS = 60_000.0


def calibrate(database: Path) -> None:
    """Measure a store that was never measured or has changed a good deal since."""
    store = open_store(str(database), Deadline(_PATIENCE_MS))
    try:
        visible = sum(store.number(f"chunks_{scope}") for scope in _SCOPES)
        if not _is_due(store, visible):
            return
        asset = open_model(data_home())
        noise = None
        if asset is not None and visible >= _FEWEST:
            noise = measure_noise(store, asset)
    finally:
        store.close()
    with writable_database(database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        set_meta(connection, "noise", noise)
        set_meta(connection, "noise_measured", f"{_VERSION}/{visible}")
        connection.execute("COMMIT")


def measure_noise(store: Store, asset: Asset) -> float:
    """Return the evidence that four of five unrelated prompts stay below."""
    prompts = _UNRELATED.read_text(encoding="utf-8").splitlines()
    best = sorted(_best_evidence(store, asset, prompt) for prompt in prompts)
    return round(best[int(_QUANTILE * len(best))], 2)


def _best_evidence(store: Store, asset: Asset, prompt: str) -> float:
    from agentlas_memory.recall.engine import JUDGED, recall  # 20 ms that most runs need not pay

    found = recall(
        store,
        prompt,
        scopes=_SCOPES,
        limit=JUDGED,
        root=None,
        asset=asset,
        deadline=Deadline(_PATIENCE_MS),
    )
    return max((candidate.evidence for candidate in found.candidates), default=0.0)


def _is_due(store: Store, visible: int) -> bool:
    version, _, measured = store.text("noise_measured").partition("/")
    if version != _VERSION or not (measured.isascii() and measured.isdigit()):
        return visible >= _FEWEST
    if (store.measure("noise") is None) != (visible < _FEWEST):
        return True
    return abs(visible - int(measured)) > _CHANGED * int(measured) and visible >= _FEWEST
