"""The absolute test a candidate must pass, whatever the others score.

Ranks cannot tell a good answer from the least bad one; these numbers can. How they were chosen,
and what they keep and let through: docs/quality.md.
"""

from math import log

from agentlas_memory.embedding.asset import Asset
from agentlas_memory.ontology.analyzer import QueryTerm, analyze
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

    __slots__ = ("_named", "_specific", "_total", "_weights")

    def __init__(
        self, question: Question, frequencies: dict[str, int], chunks: int, asset: Asset | None
    ) -> None:
        self._specific = {n: specificity(term, asset) for n, term in question.terms.items()}
        self._weights = {
            name: term_weight(specific, frequencies.get(name, 0), chunks)
            for name, specific in self._specific.items()
        }
        self._total = sum(self._weights.values())
        rare = max(3, chunks // 100)
        self._named = {
            name
            for name, term in question.terms.items()
            if term.identifier and frequencies.get(name, 0) <= rare
        }

    def judge(self, candidate: Candidate) -> str:
        """Return blank for a candidate that passes, else the gate's code; sets its evidence."""
        mass = sum(self._weights[term] for term in candidate.matched)
        if candidate.cosine is None:
            candidate.evidence, gate = self._without_cosine(candidate, mass), _LEXICAL_GATE
        else:
            candidate.evidence, gate = self._with_cosine(candidate, candidate.cosine, mass), _GATE
        candidate.margin = candidate.evidence - gate
        return "" if candidate.margin >= 0 else "evidence"

    def _with_cosine(self, candidate: Candidate, cosine: float, mass: float) -> float:
        """Weigh likeness and matched words against all that was asked.

        Much matched is good, in a heading more so, and a thing that is named exactly most; much
        asked and not matched is bad; and of a prompt of two or three words (a high share as soon as
        one matches) more likeness is wanted.
        """
        matched = len(candidate.matched)
        return (
            _COSINE * cosine
            + _MASS * min(mass, 3.0)
            + _MATCHED * min(matched, 5)
            + _IN_HEADING * min(self._matched_in_heading(candidate), 4)
            - _ASKED * min(self._total, 6.0)
            - _SHARE * matched / max(1, len(self._weights))
            + self._bonus_for_names(candidate)
        )

    def _matched_in_heading(self, candidate: Candidate) -> int:
        row = candidate.row
        if row is None or not candidate.matched:
            return 0
        return len(self._weights.keys() & analyze(f"{row.title} {row.heading}"))

    def _bonus_for_names(self, candidate: Candidate) -> float:
        """Weigh a rare identifier, or an entity that is defined here, in no word too common."""
        if self._named.intersection(candidate.matched):
            return _NAMED
        if candidate.defines:
            return _DEFINED * max((self._specific[term] for term in candidate.matched), default=0.0)
        return 0.0

    def _without_cosine(self, candidate: Candidate, mass: float) -> float:
        """Weigh matched words alone: where the model does not know the text, or is not there."""
        if not candidate.matched or not self._total:
            return 0.0
        alone = len(candidate.matched) == 1 and len(self._weights) > 1
        return 0.0 if alone else mass / self._total


# Logistic regression on right answers and on prompts about something else; the gate keeps 95 % of
# the right ones. The last two are by judgement, as the data hold neither identifiers nor entities:
# `src/auth.py`, standing in one chunk of a hundred, is meant; so is a heading that is quoted.
_COSINE, _MASS, _MATCHED, _ASKED, _SHARE = 7.0, 3.5, 1.2, 1.5, 4.0
_IN_HEADING = 1.35
_GATE = 4.6
_NAMED, _DEFINED = 4.0, 2.0
_LEXICAL_GATE = 0.45  # share of the prompt's weight that a chunk must hold
