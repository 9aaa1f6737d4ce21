"""The absolute test a candidate must pass, whatever the others score.

Ranks cannot tell a good answer from the least bad one; these numbers can. How they were chosen,
and what they keep and let through: docs/quality.md.
"""

from math import log

from agentlas_memory.embedding.asset import Asset
from agentlas_memory.ontology.analyzer import QueryTerm
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.question import Question

# A word of everyday English says little about a project. The model's vocabulary is ordered by how
# frequent a word is in general text, so a word's place is its Zipf rank.
_FIRST_RANK, _LAST_RANK = 1500, 29528
_BACKGROUND_CHUNKS = 200  # as if a store held that many more, so that one fact has a meaning


def specificity(term: QueryTerm, asset: Asset | None) -> float:
    """Return how much a word says in general text: 0 for the most common, 1 for the rarest."""
    if asset is None or term.identifier:
        return 1.0
    rank = asset.vocabulary.find(term.surface)
    if rank < 0:
        return 1.0  # made of pieces: rarer than any whole word
    return max(0.0, min(1.0, log(max(rank, 1) / _FIRST_RANK) / log(_LAST_RANK / _FIRST_RANK)))


def term_weight(specific: float, count: int, chunks: int) -> float:
    """Return a term's weight as evidence: specific in general text and rare in this store."""
    total = chunks + _BACKGROUND_CHUNKS
    return specific * log((total + 1) / (count + 0.5)) / log((total + 1) / 0.5)


class Gates:
    """The gates of one question in one store."""

    __slots__ = ("weights",)

    def __init__(
        self, question: Question, frequencies: dict[str, int], chunks: int, asset: Asset | None
    ) -> None:
        self.weights = {
            name: term_weight(specificity(term, asset), frequencies.get(name, 0), chunks)
            for name, term in question.terms.items()
        }

    def judge(self, candidate: Candidate) -> str:
        """Return blank for a candidate that passes, else the code of the gate that dropped it."""
        return ""
