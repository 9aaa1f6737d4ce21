"""What an agent learned, as people are told it: rows, states, relations, history."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.agents import Agent
from agentlas_memory.ontology.experience import (
    CONTRADICTS,
    QUARANTINED,
    SIMILAR,
    SUPERSEDES,
    Experience,
    experience_rows,
    has_expired,
    read_experience,
    read_links,
    superseded_ids,
)
from agentlas_memory.ontology.ledger import read_events, without_secrets
from agentlas_memory.ontology.schema import EXPERIENCE
from agentlas_memory.ontology.store import ChunkRow, Store, open_store

_PATIENCE_MS = 10_000.0
_SUPERSEDED_BY = "superseded_by"


@dataclass(frozen=True, slots=True)
class Learned:
    """One row; `related` holds ids by relation, `state` tells whether it may be recalled."""

    id: str
    text: str
    tags: str
    scope: str
    state: str
    salience: float
    expires: str
    created: str
    related: dict[str, list[str]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return asdict(self)

    def facts(self) -> Iterable[tuple[str, str]]:
        """Return all but the text, as lines for a person."""
        told = self.document()
        related = {key: " ".join(ids) for key, ids in told.pop("related").items()}
        pairs = (told | related).items()
        return [(key, str(value)) for key, value in pairs if key != "text" and value != ""]


def read_learned(agent: Agent, now: float) -> list[Learned]:
    """Return all rows of an agent's database as they stand at a moment; raise StoreUnusable."""
    if not os.path.lexists(agent.database):
        return []
    store = open_store(str(agent.database), Deadline(_PATIENCE_MS), EXPERIENCE)
    try:
        rows = read_experience(store, agent.agent_id)
        texts = experience_rows(store, agent.agent_id, [row.row_id for row in rows])
        related = _related(store)
        gone = superseded_ids(rows, read_links(store, SUPERSEDES))
    finally:
        store.close()
    return [
        _learned(row, texts[row.row_id], related.get(row.id, {}), _state(row, gone, now))
        for row in rows
        if row.row_id in texts
    ]


def _related(store: Store) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for relation in (SUPERSEDES, CONTRADICTS, SIMILAR):
        for one, other in read_links(store, relation):
            found.setdefault(one, {}).setdefault(relation, []).append(other)
            if relation == SUPERSEDES:
                found.setdefault(other, {}).setdefault(_SUPERSEDED_BY, []).append(one)
            elif relation == CONTRADICTS:
                found.setdefault(other, {}).setdefault(relation, []).append(one)
    return found


def _state(row: Experience, gone: set[str], now: float) -> str:
    if row.status == QUARANTINED:
        return QUARANTINED
    if has_expired(row.expiry, now):
        return "expired"
    return "superseded" if row.id in gone else row.status


def _learned(row: Experience, text: ChunkRow, related: dict[str, list[str]], state: str) -> Learned:
    return Learned(
        id=row.id,
        text=text.text,
        tags=text.heading,
        scope=row.scope,
        state=state,
        salience=row.salience,
        expires=row.expiry,
        created=row.created,
        related=related,
    )


def history_of(agent: Agent, identity: str) -> list[dict[str, Any]]:
    """Return the ledger's lines that name a row, with their numbers and without credentials."""
    return [
        {"line": number, "event": without_secrets(event)}
        for number, event in read_events(agent.ledger, agent.agent_id)
        if identity in _named(event)
    ]


def _named(event: dict[str, Any]) -> list[Any]:
    named = [event.get("id"), event.get("by")]
    for relation in (SUPERSEDES, CONTRADICTS):
        others = event.get(relation, [])
        named += others if isinstance(others, list) else [others]
    return named
