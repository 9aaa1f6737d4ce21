"""Candidates of a recall as the user sees them: JSON keys, table rows, one sentence of silence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from agentlas_memory.capsule import STANDINGS
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.runtime import hit_of

COLUMNS = (
    "rank",
    "source",
    "lexical",
    "cosine",
    "entity",
    "score",
    "gate",
    "margin",
    "scope",
    "age",
    "matched",
)
_DAY = 86_400
GATES = {  # code -> what it means, for the sentence of silence
    "scope": "is in a scope that was not asked for",
    "policy_source": "is an instruction file that hosts load themselves",
    "superseded": "was superseded by a later document",
    "rejected": "was rejected, as it says itself",
    "deprecated": "is deprecated, as it says itself",
    "beside_fallen": "does not speak of what the best answer, which no longer holds, is about",
    "other_record": "belongs to another decision record than the one that was named",
    "damaged": "does not match its digest",
    "budget": "came after as many hits as are shown",
    "duplicate": "repeats a hit above it",
    "stale": "changed or vanished since it was indexed",
}


def hit_document(candidate: Candidate) -> dict[str, Any]:
    """Return a hit under the keys of `query`."""
    document = asdict(hit_of(candidate))
    document["lines"] = list(document["lines"])
    return document


def candidate_document(candidate: Candidate, rank: int | None) -> dict[str, Any]:
    """Return a candidate under the keys of `why`; `rank` is its place among the hits."""
    row = candidate.row
    return {
        "chunk_id": candidate.chunk_id,
        "source": row and row.path,
        "heading": row and row.heading,
        "lines": row and [row.start_line, row.end_line],
        "rank": rank,
        "score": candidate.score,
        "lexical_rank": candidate.lexical_rank,
        "lexical_score": candidate.lexical_score,
        "dense_rank": candidate.dense_rank,
        "cosine": candidate.cosine,
        "entity_rank": candidate.entity_rank,
        "gate": candidate.gate or None,
        "margin": candidate.margin,
        "scope": row and row.scope,
        "standing": row.status if row and row.status in STANDINGS else None,
        "stale": candidate.stale,
        "source_state": candidate.source_state or None,
        "gone": candidate.gone,
        "age_days": _age_days(candidate),
        "matched": candidate.matched,
    }


def table_row(document: dict[str, Any]) -> list[str]:
    """Return a candidate's document as a row under `COLUMNS`."""
    age = document["age_days"]
    return [
        _text(document["rank"]),
        place(document),
        _ranked(document["lexical_rank"], document["lexical_score"]),
        _number(document["cosine"], 3),
        _text(document["entity_rank"]),
        _number(document["score"], 4),
        _gate(document),
        f"{document['margin']:+.2f}",
        _text(document["scope"]),
        "" if age is None else f"{age:.0f} d",
        " ".join(document["matched"]),
    ]


def place(document: dict[str, Any]) -> str:
    """Return source and lines, as editors and `grep -n` write them."""
    if document["source"] is None:
        return f"chunk {document['chunk_id']} (gone since)"
    first, last = document["lines"]
    return f"{document['source']}:{first}-{last}" if first else str(document["source"])


def why_nothing(documents: Sequence[dict[str, Any]], reason: str | None) -> str:
    """Return one sentence on why no candidate is a hit."""
    if reason == "no_terms":
        return "Silent: the prompt holds no word that could be looked up."
    if not documents:
        return "Silent: nothing in the store shares a word or a meaning with this."
    told = [one for one in documents if one["gate"] == reason] or [
        one for one in documents if one["gate"] not in GATES
    ]
    closest = max(told or documents, key=lambda one: float(one["margin"]))
    if closest["gate"] in GATES:
        return f"Silent: the closest was {place(closest)}, which {GATES[closest['gate']]}."
    return (
        f"Silent: the closest was {place(closest)};"
        f" it missed the gate `{closest['gate']}` by {-closest['margin']:.2f}."
    )


def _age_days(candidate: Candidate) -> float | None:
    """Return the days since the source's last commit, or else since its file changed."""
    row = candidate.row
    if row is None:
        return None
    seconds = row.commit_time or (row.changed_ns and row.changed_ns / 1e9)
    return round(max(0.0, time.time() - seconds) / _DAY, 1) if seconds else None


def _gate(document: dict[str, Any]) -> str:
    """Return which gate dropped a candidate, and what became of its file."""
    gate, state = document["gate"] or "passed", document["source_state"]
    return f"{gate} ({state})" if state else str(gate)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _ranked(rank: int | None, score: float) -> str:
    return "" if rank is None else f"#{rank} {score:.2f}"
