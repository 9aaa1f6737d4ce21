"""A hit as evidence: the lines that matter, and where they stand."""

from agentlas_memory.capsule import MAX_SNIPPET, Evidence, visible
from agentlas_memory.ontology.store import ChunkRow
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.snippet import cut_snippet
from agentlas_memory.redact import redact

_NOTE_KINDS = ("constraint", "decision", "todo")


def evidence_of(candidate: Candidate) -> Evidence:
    """Return the part of a hit that holds most of the prompt's terms."""
    assert candidate.row is not None
    return evidence_of_row(candidate.row, candidate.matched)


def evidence_of_row(row: ChunkRow, wanted: list[str] | None = None) -> Evidence:
    """Return a chunk's best lines; without wanted words, its first ones."""
    text = row.text
    if len(text) > MAX_SNIPPET:
        text = redact(visible(text))  # before the cut, which would leave half a key
    snippet = cut_snippet(text, row.start_line, row.end_line, wanted or [], MAX_SNIPPET)
    heading = row.heading.rpartition(" > ")[2]
    if not heading and row.kind in _NOTE_KINDS:
        heading = row.kind  # a constraint is read otherwise than something to do
    return Evidence(row.path, heading, snippet.start_line, snippet.end_line, snippet.text)
