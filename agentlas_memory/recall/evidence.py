"""A hit as evidence: the lines that matter, and where they stand."""

from agentlas_memory.capsule import MAX_EXPERIENCE, MAX_SNIPPET, Evidence, Learned, visible
from agentlas_memory.ontology.store import ChunkRow
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.snippet import cut_snippet
from agentlas_memory.redact import redact

_NOTE_KINDS = ("constraint", "decision", "todo")


def evidence_of(candidate: Candidate) -> Evidence:
    """Return the part of a hit that holds most of the prompt's terms."""
    assert candidate.row is not None
    evidence = evidence_of_row(candidate.row, candidate.matched)
    evidence.gone = candidate.gone
    return evidence


def learned_of(candidate: Candidate) -> Learned:
    """Return the part of an agent's row that holds most of the prompt's terms."""
    row = candidate.row
    assert row is not None
    text = _fitting(row.text, MAX_EXPERIENCE)
    snippet = cut_snippet(text, 0, 0, candidate.matched, MAX_EXPERIENCE)
    return Learned(snippet.text, row.heading)


def evidence_of_row(row: ChunkRow, wanted: list[str] | None = None) -> Evidence:
    """Return a chunk's best lines; without wanted words, its first ones."""
    text = _fitting(row.text, MAX_SNIPPET)
    snippet = cut_snippet(text, row.start_line, row.end_line, wanted or [], MAX_SNIPPET)
    heading = row.heading.rpartition(" > ")[2]
    if not heading and row.kind in _NOTE_KINDS:
        heading = row.kind  # a constraint is read otherwise than something to do
    evidence = Evidence(row.path, heading, snippet.start_line, snippet.end_line, snippet.text)
    evidence.standing = row.status
    return evidence


def _fitting(text: str, limit: int) -> str:
    """Return a text that can be cut: without credentials, or the cut would leave half a key."""
    return redact(visible(text)) if len(text) > limit else text
