"""Everything a person should look at in one project's store, and what was decided before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.capsule import inert_line
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.decisions import Decision
from agentlas_memory.ontology.documents import MAX_FILE_BYTES, UnreadableDocument
from agentlas_memory.ontology.store import ChunkRow, Store
from agentlas_memory.recall.sources import CURRENT, GONE, file_state
from agentlas_memory.review.contradictions import find_contradictions
from agentlas_memory.review.findings import (
    INSTRUCTION,
    QUARANTINED,
    SECRET,
    Finding,
    Passage,
    contradiction_findings,
    instruction_in,
    secret_in,
    stale_finding,
    with_states,
)

_MOST_NOTES = 20_000  # chunks of notes and decision records that are compared
_MOST_PAIRS = 200
# In a history each commit says what changed, and so gainsays the one before.
_HISTORY = ".agentlas/ontology-inbox/git-%.imported.md"
_COMPARED = f"""
 WHERE (s.kind IN ('note', 'decision', 'constraint', 'todo') AND s.status NOT IN
  ('superseded', 'rejected', 'deprecated', 'proposed') AND s.path NOT LIKE '{_HISTORY}'
  OR s.kind = 'adr' AND s.status = 'accepted')
 AND NOT s.superseded ORDER BY s.path, c.start_line, c.chunk_id LIMIT ?"""
_ALL = "SELECT path, heading, start_line, end_line, text FROM chunks JOIN sources USING (source_id)"
_FIRST = " WHERE s.changed_ns IS NOT NULL AND c.chunk_id IN (SELECT min(chunk_id) FROM chunks"
_FIRST += " GROUP BY source_id) ORDER BY s.path"


class Rows(NamedTuple):
    """What is read of the store in one go, so that no writer waits while it is judged."""

    passages: list[Passage]
    compared: list[Passage]
    first: list[ChunkRow]  # of each source that has a file


class Review(NamedTuple):
    """The findings with their states, and whether there were too many notes to compare all."""

    findings: list[Finding]
    cut_short: bool


def read_rows(store: Store) -> Rows:
    """Read all passages of a store."""
    passages = [Passage(*row) for row in store.rows(_ALL)]  # type: ignore[arg-type]
    compared = [_passage(row) for row in store.select_chunks(_COMPARED, (_MOST_NOTES + 1,))]
    return Rows(passages, compared, store.select_chunks(_FIRST))


def review_rows(rows: Rows, store: Store, root: Path, decisions: Mapping[str, Decision]) -> Review:
    """Judge what was read; `root` holds the files."""
    findings = [*_instructions(rows.passages), *_secrets(rows.passages, root)]
    findings += _stale(rows.first, root, store)
    found = find_contradictions((p.path, p.text) for p in rows.compared[:_MOST_NOTES])
    for pair in found.pairs[:_MOST_PAIRS]:
        findings += contradiction_findings(pair, rows.compared)
    known = {finding.id for finding in findings}
    findings += [one for one in _in_quarantine(root, decisions) if one.id not in known]
    too_many = len(rows.compared) > _MOST_NOTES or len(found.pairs) > _MOST_PAIRS
    return Review(with_states(findings, decisions), found.cut_short or too_many)


def _instructions(passages: Sequence[Passage]) -> Iterator[Finding]:
    return filter(None, map(instruction_in, passages))


def _secrets(passages: Sequence[Passage], root: Path) -> Iterator[Finding]:
    written: dict[str, str] = {}
    for passage in passages:
        if "[redacted:" not in passage.text:
            continue
        if passage.path not in written:
            written[passage.path] = _written(root, passage.path)
        if finding := secret_in(passage, written[passage.path]):
            yield finding


def _written(root: Path, path: str) -> str:
    """Return a file's own text, blank where it cannot be read or there is none."""
    try:
        data = read_file(str(root / path), MAX_FILE_BYTES, follow=False)
    except (OSError, ValueError):
        return ""
    return data.decode("utf-8", "replace")


def _stale(rows: Sequence[ChunkRow], root: Path, store: Store) -> Iterator[Finding]:
    for row in rows:
        passage = _passage(row)
        state, _ = file_state(row, str(root), store.folder)
        if state != CURRENT:
            yield stale_finding(
                passage, "gone" if state == GONE else "changed", row.content_hash or b""
            )


def _in_quarantine(root: Path, decisions: Mapping[str, Decision]) -> Iterator[Finding]:
    """Yield what is kept out of the store, found again in its file as far as it still stands."""
    chunks: dict[str, list[Passage]] = {}
    for identity, decision in decisions.items():
        if decision.state != QUARANTINED:
            continue
        if decision.path not in chunks:
            chunks[decision.path] = _passages_of(root, decision.path)
        here = [one for one in chunks[decision.path] if one.digest == decision.text]
        for passage in here[:1]:
            yield from _judged_again(identity, decision.kind, passage)
        if not here:
            gone = Passage(decision.path, "", 0, 0, "")
            detail = "its text changed or is gone, so the decision does not apply any more"
            yield Finding(identity, decision.kind, gone, "", detail)


def _judged_again(identity: str, kind: str, passage: Passage) -> Iterator[Finding]:
    judged = {INSTRUCTION: instruction_in(passage), SECRET: secret_in(passage, "")}.get(kind)
    if judged is not None:
        yield judged._replace(id=identity)
    else:
        excerpt = inert_line(passage.text.partition("\n")[0])
        yield Finding(identity, kind, passage, excerpt, "kept out of the store")


def _passages_of(root: Path, path: str) -> list[Passage]:
    from agentlas_memory.ontology.prepare import read_chunks  # 0.1 s for the readers of all formats

    try:
        chunks = read_chunks(root, path)
    except (OSError, ValueError, UnreadableDocument):
        return []
    return [
        Passage(path, " > ".join(c.heading_path), c.start_line, c.end_line, c.text) for c in chunks
    ]


def _passage(row: ChunkRow) -> Passage:
    return Passage(row.path, row.heading, row.start_line, row.end_line, row.text)
