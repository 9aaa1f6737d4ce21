"""What a person should look at in an agent's experience; the ledger holds what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agentlas_memory.capsule import inert_line
from agentlas_memory.ontology.experience import ACTIVE, CONTRADICTS
from agentlas_memory.ontology.learned import Learned
from agentlas_memory.review.contradictions import Contradiction, find_contradictions
from agentlas_memory.review.findings import (
    APPROVED,
    OPEN,
    QUARANTINED,
    STALE,
    Finding,
    Passage,
    contradiction_findings,
    finding_id,
    in_order,
    instruction_in,
    secret_in,
)

_PLACE = "experience/"


def review_experience(rows: Sequence[Learned], slug: str, approved: Iterable[str]) -> list[Finding]:
    """Judge an agent's rows that are recalled, have expired or are in quarantine."""
    current = [row for row in rows if row.state == ACTIVE]
    kept_out = [row for row in rows if row.state == QUARANTINED]
    findings = [*_of_texts([*current, *kept_out], slug), *_expired(rows, slug)]
    findings += _contradictions(current, slug)
    known = {row_of(finding) for finding in findings}
    findings += [_decided(row, slug) for row in kept_out if row.id not in known]
    states = dict.fromkeys(approved, APPROVED) | {row.id: QUARANTINED for row in kept_out}
    return in_order(one._replace(state=states.get(row_of(one), OPEN)) for one in findings)


def row_of(finding: Finding) -> str:
    """Return the id of the row that a finding is about, blank where it is about no row."""
    path = finding.passage.path
    return path.rpartition("/")[2] if path.startswith(_PLACE) else ""


def _of_texts(rows: Iterable[Learned], slug: str) -> Iterator[Finding]:
    for row in rows:
        passage = _passage(row, slug)
        if finding := instruction_in(passage):
            yield finding
        if "[redacted:" in row.text:
            secret = secret_in(passage, "")
            if secret is not None:
                yield secret._replace(detail=_SECRET)


_SECRET = "a credential was taken out of it: revoke it, and look whether the ledger holds it"


def _expired(rows: Iterable[Learned], slug: str) -> Iterator[Finding]:
    for row in rows:
        if row.state == "expired":
            passage = _passage(row, slug)
            identity = finding_id(STALE, passage.digest, row.expires)
            detail = f"it expired on {row.expires}: supersede it, or leave it as history"
            yield Finding(identity, STALE, passage, _excerpt(row), detail)


def _contradictions(rows: Sequence[Learned], slug: str) -> Iterator[Finding]:
    """Yield what was said to contradict, and what differs in a number or a negation alone."""
    passages = [_passage(row, slug) for row in rows]
    at = {row.id: number for number, row in enumerate(rows)}
    pairs = {
        (min(pair), max(pair))
        for row in rows
        for other in row.related.get(CONTRADICTS, ())
        if other in at and (pair := (at[row.id], at[other]))
    }
    found = {
        pair: Contradiction(*pair, _excerpt(rows[pair[0]]), _excerpt(rows[pair[1]]), "statement")
        for pair in pairs
    }
    for one in find_contradictions((p.path, p.text) for p in passages).pairs:
        if rows[one.one].scope == rows[one.other].scope:
            found.setdefault((one.one, one.other), one)
    for pair in sorted(found):
        yield from contradiction_findings(found[pair], passages)


def _decided(row: Learned, slug: str) -> Finding:
    passage = _passage(row, slug)
    identity = finding_id(QUARANTINED, passage.digest)
    return Finding(identity, "instruction", passage, _excerpt(row), "it is in quarantine")


def _passage(row: Learned, slug: str) -> Passage:
    return Passage(f"{_PLACE}{slug}/{row.id}", row.tags, 0, 0, row.text)


def _excerpt(row: Learned) -> str:
    return inert_line(row.text)
