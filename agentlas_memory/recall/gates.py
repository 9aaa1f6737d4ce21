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
    if rank < 0 and term.surface.endswith("s"):
        rank = asset.vocabulary.find(term.surface[:-1])
    if rank < 0:
        return 1.0  # made of pieces: rarer than any whole word
    return max(0.0, min(1.0, log(max(rank, 1) / _FIRST_RANK) / log(_LAST_RANK / _FIRST_RANK)))


def term_weight(specific: float, count: int, chunks: int) -> float:
    """Return a term's weight as evidence: specific in general text and rare in this store."""
    total = chunks + _BACKGROUND_CHUNKS
    return specific * log((total + 1) / (count + 0.5)) / log((total + 1) / 0.5)


class Gates:
    """The gates of one question in one store."""

    __slots__ = (
        "_asks",
        "_brief",
        "_foreign",
        "_named",
        "_of_word",
        "_specific",
        "_total",
        "_weights",
    )

    def __init__(
        self,
        question: Question,
        frequencies: dict[str, int],
        chunks: int,
        asset: Asset | None,
        foreign: bool = False,
    ) -> None:
        self._foreign = foreign  # the model does not know the question's language
        terms = question.terms
        self._specific = {name: specificity(term, asset) for name, term in terms.items()}
        self._of_word = {term.surface: self._specific[name] for name, term in terms.items()}
        self._weights = {
            name: term_weight(specific, frequencies.get(name, 0), chunks)
            for name, specific in self._specific.items()
        }
        self._total = sum(self._weights.values())
        self._asks = question.is_question
        self._brief = self._asks and len(terms) <= 2
        rare = max(3, chunks // 100)
        self._named = {
            name
            for name, term in terms.items()
            if term.identifier and frequencies.get(name, 0) <= rare
        }

    def judge(self, candidate: Candidate) -> str:
        """Return blank for a candidate that passes, else the gate's code; sets its evidence."""
        mass = sum(self._weights[term] for term in candidate.matched)
        if self._foreign:
            candidate.evidence, gate = self._of_words(candidate, mass), _LEXICAL_GATE
        else:
            candidate.evidence, gate = self._of_all(candidate, mass), _GATE
        candidate.margin = candidate.evidence - gate
        if candidate.margin < 0:
            return "evidence"
        return "thin" if self._says_nothing(candidate) else ""

    def _says_nothing(self, candidate: Candidate) -> bool:
        """Tell a chunk like `Status: Accepted`, which is found by its heading alone."""
        row = candidate.row
        if row is None or len(row.text.split(None, _THIN)) > _THIN:
            return False
        return not self._weights.keys() & analyze(row.text)

    def _of_all(self, candidate: Candidate, mass: float) -> float:
        """Weigh likeness and matched words against all that was asked.

        Much matched is good, in a heading more so, and a thing that is named exactly most; much
        asked and not matched is bad; and of a prompt of two or three words (a high share as soon as
        one matches) more likeness is wanted.
        """
        matched = len(candidate.matched)
        cosine = _UNKNOWN if candidate.cosine is None else candidate.cosine
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
        """Weigh what is named exactly: surest a decision or a quoted heading, then rare words."""
        entity = candidate.entity
        if entity is not None and entity.certain:
            return _CERTAIN
        bonus = _NAMED if self._named.intersection(candidate.matched) else 0.0
        if entity is not None:
            told = max((self._of_word.get(word, 0.0) for word in entity.words), default=0.0)
            bonus = max(bonus, told * (_NAMED if self._asks else _MENTIONED))
        specific = max((self._specific[term] for term in candidate.matched), default=0.0)
        if self._brief and specific >= _TELLING:
            bonus = max(bonus, _BRIEF)
        return bonus

    def _of_words(self, candidate: Candidate, mass: float) -> float:
        """Weigh matched words alone, where the model does not know the text."""
        if not candidate.matched or not self._total:
            return 0.0
        alone = len(candidate.matched) == 1 and len(self._weights) > 1
        return 0.0 if alone else mass / self._total


# Logistic regression on right answers and on prompts about something else; the gate keeps 97 % of
# the right ones.
_COSINE, _MASS, _MATCHED, _ASKED, _SHARE = 7.0, 3.5, 1.2, 1.5, 4.0
_IN_HEADING = 1.35
_GATE = 4.6
_UNKNOWN = 0.3  # a chunk's cosine where it has none: neither like nor unlike
_LEXICAL_GATE = 0.45  # share of the prompt's weight that a chunk must hold
# By judgement, as the data hold few short questions, no identifiers and no entities: `ADR-5` and a
# heading that is quoted are meant; so is `src/auth.py`, standing in one chunk of a hundred; and a
# question of one or two words is about them, if one of them says something.
_CERTAIN, _NAMED, _BRIEF = 9.0, 4.0, 3.0
_MENTIONED = 1.6  # an order names things in passing
_THIN = 4  # words
_TELLING = 0.6  # specificity: "fail" is below, "backup" above
