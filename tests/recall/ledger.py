"""One document, its question, and what came of asking."""

from agentlas_memory.capsule import render_capsule
from agentlas_memory.recall.evidence import evidence_of

LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units because floats lose cents.\n"
ASK = "why do we settle the ledger in integer minor units?"


def capsule_of(found):
    """Return what a host would be told."""
    return render_capsule([evidence_of(hit) for hit in found.hits], found.retrieval).text


def gates(project, question=ASK, **options):
    """Return the gate of each candidate by its source."""
    found = project.runtime.explain(question, **options)
    return {candidate.row.path: candidate.gate for candidate in found.candidates}
