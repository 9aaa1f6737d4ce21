"""The receipt of the last hook run, read back; names and lines come from the store."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from agentlas_memory.commands.projects import open_project_store
from agentlas_memory.home import data_home
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.store import Store
from agentlas_memory.project import Project
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.sources import CHANGED, CURRENT

_NUMBERS = (
    "lexical_rank",
    "lexical_score",
    "cosine",
    "entity_rank",
    "score",
    "margin",
)


class LastRecall(NamedTuple):
    """What the last hook run did."""

    retrieval: str
    silence_reason: str
    candidates: list[Candidate]


def read_last(project: Project) -> LastRecall | None:
    """Return the last recall in this project, None when there was none or it cannot be read."""
    store = open_project_store(project)
    try:
        receipt = read_receipt(store.text("store_id"))
        if receipt is None:
            return None
        candidates = [_candidate(one) for one in receipt.get("candidates", [])]
        _look_up(store, candidates)
    finally:
        store.close()
    return LastRecall(receipt.get("retrieval", ""), receipt.get("silence_reason", ""), candidates)


def read_receipt(store_id: str) -> dict[str, Any] | None:
    """Return a store's receipt as it was written."""
    home = data_home()
    if not home:
        return None
    try:
        receipt = json.loads(read_file(f"{home}/state/last/{store_id}.json"))
    except (OSError, ValueError, RecursionError):
        return None
    return receipt if isinstance(receipt, dict) else None


def _candidate(values: dict[str, Any]) -> Candidate:
    """Return a candidate of the receipt; another version may have written fewer numbers."""
    candidate = Candidate(values["chunk_id"])
    for name in _NUMBERS:
        setattr(candidate, name, values.get(name, getattr(candidate, name)))
    candidate.gate = values.get("gate", "")
    unsaid = CHANGED if candidate.gate == "stale" else CURRENT  # by another version
    candidate.source_state = values.get("source_state", unsaid)
    return candidate


def _look_up(store: Store, candidates: list[Candidate]) -> None:
    """Give the candidates their rows; ids are never used again, so a missing one is gone."""
    rows = store.chunks([candidate.chunk_id for candidate in candidates])
    for candidate in candidates:
        candidate.row = rows.get(candidate.chunk_id)
