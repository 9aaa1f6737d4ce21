"""The receipt of the last hook run, read back; names and lines come from the store."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from agentlas_memory.commands.projects import open_project_store
from agentlas_memory.commands.standing import agent_of, without_agent
from agentlas_memory.deadline import Deadline
from agentlas_memory.home import data_home
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.experience import experience_rows
from agentlas_memory.ontology.schema import EXPERIENCE
from agentlas_memory.ontology.store import Store, open_store
from agentlas_memory.project import Project
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.sources import CHANGED, CURRENT
from agentlas_memory.routing_card import Agent
from agentlas_memory.trust import read_trust

_PATIENCE_MS = 10_000.0

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
    experience: list[Candidate]  # of the project's agent


def read_last(project: Project) -> LastRecall | None:
    """Return the last recall in this project, None when there was none or it cannot be read."""
    trust = read_trust(data_home(), project.store_root)
    receipt = read_receipt(trust.store_id) if trust else None
    if receipt is None:
        return None
    candidates, experience = (_candidates(receipt.get(key)) for key in ("candidates", "experience"))
    if project.has_store:
        _look_up(open_project_store(project), candidates)
    agent = agent_of(project)
    if agent is not None and agent.slug == receipt.get("agent"):
        with without_agent(project, agent.slug):
            _look_up_learned(agent, experience)
    retrieval, silence = (_text(receipt.get(key)) for key in ("retrieval", "silence_reason"))
    return LastRecall(retrieval, silence, candidates, experience)


def moment_of_last(project: Project) -> datetime | None:
    """Return when the last recall in this project was, None where that is not known."""
    trust = read_trust(data_home(), project.store_root)
    if trust is None:
        return None
    try:
        info = Path(data_home(), "state", "last", f"{trust.store_id}.json").stat()
    except OSError:
        return None
    return datetime.fromtimestamp(info.st_mtime, timezone.utc)


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


def _candidates(values: object) -> list[Candidate]:
    """Return the candidates of a receipt, those of another shape left out."""
    rows = [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []
    return [_candidate(one) for one in rows if _is_id(one.get("chunk_id"))]


def _candidate(values: dict[str, Any]) -> Candidate:
    """Return a candidate of the receipt; another version may have written fewer numbers."""
    candidate = Candidate(values["chunk_id"])
    for name in _NUMBERS:
        if isinstance(number := values.get(name), (int, float)):
            setattr(candidate, name, number)
    candidate.gate = _text(values.get("gate"))
    unsaid = CHANGED if candidate.gate == "stale" else CURRENT  # by another version
    candidate.source_state = _text(values.get("source_state", unsaid))
    return candidate


def _is_id(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << 63  # what SQLite can be asked for


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _look_up(store: Store, candidates: list[Candidate]) -> None:
    """Give the candidates their rows; ids are never used again, so a missing one is gone."""
    try:
        rows = store.chunks([candidate.chunk_id for candidate in candidates])
    finally:
        store.close()
    for candidate in candidates:
        candidate.row = rows.get(candidate.chunk_id)


def _look_up_learned(agent: Agent, candidates: list[Candidate]) -> None:
    """Give an agent's candidates their rows, if its database is the one that was asked."""
    store = open_store(agent.database, Deadline(_PATIENCE_MS), EXPERIENCE)
    try:
        ids = [candidate.chunk_id for candidate in candidates]
        rows = experience_rows(store, agent.agent_id, ids)
    finally:
        store.close()
    for candidate in candidates:
        candidate.row = rows.get(candidate.chunk_id)
