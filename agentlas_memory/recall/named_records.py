"""Decision records that a prompt names by number: theirs comes first, other records are not meant.

Records of one project share most of their words, so no score tells ADR 4 from ADR 5.
"""

from agentlas_memory.ontology.store import Store
from agentlas_memory.recall.candidate import MENTIONS, OTHER, OWN, Candidate
from agentlas_memory.recall.question import Question, numbered_keys, plain_words

_NAMED = "WITH named AS (SELECT entity_id FROM entities WHERE key IN ({keys}))"
_OWN = f"""{_NAMED}, meant AS (SELECT entity_id FROM named UNION SELECT subject_id FROM relations
 WHERE relation = 'supersedes' AND object_id IN named)
 SELECT c.chunk_id FROM chunks c WHERE c.chunk_id IN ({{chunks}}) AND c.source_id IN (
 SELECT d.source_id FROM mentions m JOIN chunks d USING (chunk_id)
 WHERE m.relation = 'defined_in' AND m.entity_id IN meant)"""
_MENTIONING = f"""{_NAMED} SELECT chunk_id FROM mentions
 WHERE entity_id IN named AND chunk_id IN ({{chunks}})"""


def mark_own(store: Store, question: Question, candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates, those of the named records first, each marked as what it is of them.

    What superseded a named record is told in its place.
    """
    own = _chunks(store, _OWN, question, candidates)
    mentioning = _chunks(store, _MENTIONING, question, candidates)
    for candidate in candidates:
        if candidate.chunk_id in own:
            candidate.record = OWN
        elif candidate.chunk_id in mentioning:
            candidate.record = MENTIONS
    return _own_first(candidates)


def mark_others(question: Question, candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates, own ones first, with the chunks of other records marked as such.

    Several records may stand in one file, each under a heading that names it.
    """
    for candidate in candidates:
        row = candidate.row
        if row is None:
            continue
        under = _records_of(row.heading)
        if not under.isdisjoint(question.records):
            candidate.record = OWN
        elif not candidate.record and (under or row.kind == "adr"):
            candidate.record = OTHER
    return _own_first(candidates)


def _records_of(heading: str) -> set[str]:
    """Return the records that the headings of a path begin with, such as `ADR 7: Ledger`."""
    parts = (plain_words(part)[:2] for part in heading.split(" > "))
    return {key for part in parts for key in numbered_keys(part) if key.startswith("adr:")}


def _own_first(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: candidate.record != OWN)


def _chunks(store: Store, sql: str, question: Question, candidates: list[Candidate]) -> set[object]:
    keys, chunks = question.records, [candidate.chunk_id for candidate in candidates]
    marks = {"keys": ",".join("?" * len(keys)), "chunks": ",".join("?" * len(chunks))}
    return {row[0] for row in store.rows(sql.format(**marks), [*keys, *chunks])}
