"""What of each hit would reach the host: its lines, what was redacted, and whether it fits."""

from __future__ import annotations

from typing import Any

from agentlas_memory.capsule import render_capsule
from agentlas_memory.recall.engine import Recall
from agentlas_memory.recall.evidence import evidence_of


def shown_parts(found: Recall) -> dict[int, dict[str, Any]]:
    """Return the shown part of each hit by chunk id."""
    evidence = [evidence_of(hit) for hit in found.hits]
    capsule = render_capsule(evidence, found.retrieval)
    fitting = capsule.text.count("\nproject[") if capsule else 0  # evidence cannot begin a line so
    return {
        hit.chunk_id: {
            "lines": [piece.start_line, piece.end_line],
            "characters": len(piece.text),
            "redacted": piece.text.count("[redacted:"),
            "fits": number < fitting,
        }
        for number, (hit, piece) in enumerate(zip(found.hits, evidence, strict=True))
    }
