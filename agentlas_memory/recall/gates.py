"""The absolute test a candidate must pass, whatever the others score.

Ranks cannot tell a good answer from the least bad one; these numbers can. How they were chosen,
and what they keep and let through: docs/quality.md.
"""

from agentlas_memory.ontology.analyzer import QueryTerm, analyze
from agentlas_memory.recall.candidate import OTHER, OWN, Candidate
from agentlas_memory.recall.lexical import bm25_idf, rarest_terms
from agentlas_memory.recall.question import Question
from agentlas_memory.recall.weights import Weights

WITH_MODEL, WITHOUT_MODEL, OTHER_LANGUAGE = range(3)


class Gates:
    """The gates of one question in one store.

    `typical` is the cosine that the question has with any chunk here, `noise` the evidence that
    unrelated prompts reach in this store; None where nobody measured it.
    """

    def __init__(
        self,
        question: Question,
        frequencies: dict[str, int],
        chunks: int,
        weights: Weights,
        *,
        kind: int = WITH_MODEL,
        typical: float | None = None,
        noise: float | None = None,
    ) -> None:
        self._kind = kind
        self._language = question.language
        self.weights = weights
        self.noise = noise
        self.typical = _TYPICAL if typical is None else typical
        self.height = {WITHOUT_MODEL: _SHARE_GATE, OTHER_LANGUAGE: _WORDS_GATE}.get(
            kind, _GATE if noise is None else gate_above(noise)
        )  # the evidence that a candidate needs
        self._of_word = {term.surface: weights.specific[n] for n, term in question.terms.items()}
        self._searched = {
            name: bm25_idf(frequencies[name], chunks) for name in rarest_terms(frequencies)
        }
        self._pieces = {
            piece.term: terms[0].term
            for _, terms in question.words
            if terms and terms[0].identifier
            for piece in terms[1:]
        }
        self._asks = question.is_question
        self._alone = len(question.terms) == 1
        self._brief = self._asks and len(question.terms) <= 2
        rare = max(3, chunks // 100)
        self._named = {
            name
            for name, term in question.terms.items()
            if term.identifier and frequencies.get(name, 0) <= rare and _is_own(term, question)
        }

    def judge(self, candidate: Candidate) -> str:
        """Return blank for a candidate that passes, else the gate's code; sets its evidence."""
        if candidate.record == OTHER:
            return "other_record"
        matched = self._without_pieces(candidate.matched)
        mass = sum(self.weights.of[term] for term in matched)
        if self._kind == WITHOUT_MODEL:
            candidate.evidence = self._share(candidate, mass) + self._of_number(candidate)
        elif self._kind == OTHER_LANGUAGE:
            candidate.evidence = self._of_words(candidate, mass) + self._of_number(candidate)
        elif candidate.cosine == 0.0:  # the model does not know the chunk: it has no direction
            candidate.evidence = self._of_words(candidate, mass) - _WORDS_GATE + self.height
        else:
            candidate.evidence = self._of_all(candidate, matched, mass)
        candidate.margin = candidate.evidence - self.height
        if candidate.margin < 0:
            return "evidence"
        return "thin" if self._says_nothing(candidate) else ""

    def _without_pieces(self, matched: list[str]) -> list[str]:
        """Return the matched terms without the pieces of an identifier that is matched whole."""
        return [term for term in matched if self._pieces.get(term) not in matched]

    def _says_nothing(self, candidate: Candidate) -> bool:
        """Tell a chunk like `Status: Accepted`, which is found by its heading alone."""
        row = candidate.row
        if row is None or len(row.text.split(None, _THIN)) > _THIN:
            return False
        return not self.weights.of.keys() & analyze(row.text, self._language)

    def _of_all(self, candidate: Candidate, matched: list[str], mass: float) -> float:
        """Weigh likeness and matched words against all that was asked.

        Much matched is good, and more likeness than the question has with any chunk here; much
        asked and not matched is bad. That the question's words are typical of this store tells it
        from the questions of another project.
        """
        cosine = _UNKNOWN if candidate.cosine is None else candidate.cosine
        return (
            _COSINE * (cosine - 2 * self.typical)
            + _LEXICAL * self._lexical(candidate, matched)
            + _MATCHED * len(matched)
            + _MASS * mass
            - _MISSED
            * (self.weights.total - sum(self.weights.of[term] for term in candidate.matched))
            + _ASKS * self._asks
            + _MOST_TYPICAL * self.weights.most_typical
            + _ALL_TYPICAL * self.weights.typical
            + self._bonus_for_names(candidate)
        )

    def _lexical(self, candidate: Candidate, matched: list[str]) -> float:
        """Return BM25 as it would be in a larger store: in a small one its idf means nothing."""
        rarity = sum(self.weights.rarity[term] for term in matched)
        own = sum(self._searched.get(term, 0.0) for term in candidate.matched)
        if candidate.lexical_rank is None or not own:
            return rarity
        return rarity * candidate.lexical_score / own

    def _bonus_for_names(self, candidate: Candidate) -> float:
        """Weigh what is named exactly: surest a decision or a quoted heading, then rare words."""
        entity = candidate.entity
        if entity is not None and entity.certain:
            return _CERTAIN
        named = candidate.record == OWN or (entity is not None and entity.named)
        bonus = _NAMED if named or self._named.intersection(candidate.matched) else 0.0
        if named and self._alone:
            bonus += _BRIEF
        if entity is not None:
            told = max((self._of_word.get(word, 0.0) for word in entity.words), default=0.0)
            bonus = max(bonus, told * (_NAMED if self._asks else _MENTIONED))
        specific = max((self.weights.specific[term] for term in candidate.matched), default=0.0)
        if self._brief and specific >= _TELLING:
            bonus = max(bonus, _BRIEF)
        return bonus

    def _of_number(self, candidate: Candidate) -> float:
        """Return enough for what is named by its number: it is the same in every language."""
        entity = candidate.entity
        return self.height if entity is not None and entity.named else 0.0

    def _of_words(self, candidate: Candidate, mass: float) -> float:
        """Weigh matched words alone, where the model does not know the text.

        Words that begin like one of the chunk count too, beside one that matches: stemmers leave
        some forms of a word apart.
        """
        row = candidate.row
        if row is None or not candidate.matched:
            return 0.0
        if mass >= _WHOLE * self.weights.total:
            return mass + _WORDS_GATE
        missing = self.weights.of.keys() - set(candidate.matched)
        beginnings = {
            term[:_BEGINNING]
            for term in analyze(f"{row.title} {row.heading} {row.text}", self._language)
            if len(term) >= _BEGINNING
        }
        akin = (self.weights.of[term] for term in missing if term[:_BEGINNING] in beginnings)
        return mass + _AKIN * sum(akin)

    def _share(self, candidate: Candidate, mass: float) -> float:
        """Return the share of the prompt's weight that a chunk holds, 0 for one or two words."""
        return mass / self.weights.total if len(candidate.matched) > 2 else 0.0


def gate_above(noise: float) -> float:
    """Return the gate of a store in which four of five unrelated prompts stay below `noise`."""
    return _GATE + max(_LOWEST, min(_HIGHEST, _WITH_NOISE * (noise - _NOISE)))


def _is_own(term: QueryTerm, question: Question) -> bool:
    """Tell an identifier of somebody's code: `JavaScript`, `RabbitMQ` and `UTF-8` are no such."""
    if any(sign in term.surface for sign in "_./"):
        return True
    words = (word.strip("`'\"(),;:?!.") for word, terms in question.words if term in terms)
    return any(_is_camel_case(word) or _is_header(word) for word in words)


def _is_camel_case(word: str) -> bool:
    return word[:1].islower() and word != word.lower()


def _is_header(word: str) -> bool:
    """Tell `X-Request-Budget` from `end-to-end`."""
    parts = word.split("-")
    return len(parts) > 2 and (
        word[:2] in ("x-", "X-") or all(part[:1].isupper() for part in parts)
    )


# Logistic regression on right answers and on prompts about something else.
_COSINE, _LEXICAL, _MATCHED, _MASS, _MISSED, _ASKS = 7.0, 2.2, 0.26, 0.32, 0.57, 0.56
_MOST_TYPICAL, _ALL_TYPICAL = 0.25, 0.75
_GATE = 6.3
# The noise of most stores, how far the gate follows that of others, and its bounds.
_NOISE, _WITH_NOISE, _LOWEST, _HIGHEST = 5.2, 0.25, -1.5, 0.75
_UNKNOWN, _TYPICAL = 0.36, 0.14  # cosines where there are none: neither like nor unlike
_SHARE_GATE = 0.45
_WORDS_GATE = 1.2  # more than one word
_WHOLE = 0.99  # of a prompt: of a single word, there is no more to find
_AKIN, _BEGINNING = 0.6, 5
# By judgement, as the data hold few short questions, no identifiers and no entities: `ADR-5` and a
# heading that is quoted are meant; so is `src/auth.py`, standing in one chunk of a hundred; and a
# question of one or two words is about them, if one of them says something.
_CERTAIN, _NAMED, _BRIEF = 9.0, 4.0, 3.0
_MENTIONED = 1.6  # an order names things in passing
_THIN = 4  # words
_TELLING = 0.6  # specificity: "fail" is below, "backup" above
