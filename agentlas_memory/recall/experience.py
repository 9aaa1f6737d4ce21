"""The road of one question through an agent's experience, apart from the project's store.

Every row that governance lets through gets a lexical score and a cosine; the best of both that pass
the gates enter the fusion together with a bounded prior. Only eligible rows count for what is rare:
one that has expired changes nothing, not even a score.
"""

from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.asset import DIMENSIONS, Asset
from agentlas_memory.embedding.query import cosine, distances
from agentlas_memory.ontology.experience import Findable, eligible_experience, experience_rows
from agentlas_memory.ontology.language import ENGLISH
from agentlas_memory.ontology.schema import EXPERIENCE
from agentlas_memory.ontology.store import Store, open_store
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.embed import idf
from agentlas_memory.recall.engine import DEGRADED_LEXICAL, Recall, gates_of, question_vector
from agentlas_memory.recall.fusion import RRF_K, WEIGHTS, fuse
from agentlas_memory.recall.lexical import bm25_idf, rarest_terms, try_other_language
from agentlas_memory.recall.question import read_question
from agentlas_memory.routing_card import Agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SCOPES = ("public", "internal", "private")  # all: the rows are the agent's own
BUDGET = 2000  # characters of a capsule's 6,000: four snippets of the project leave room for them
MOST = 8  # rows, where not all that pass fit into the budget
_DEPTH = 50  # best rows of each list that are judged, as of a project's chunks
_TAGS, _FRAME = 200, 12  # characters of a capsule's line beside the text: tags, `experience: `
_K1, _B = 1.2, 0.75  # as in SQLite's bm25()
_TAG_WEIGHT = 2.0
_RELEVANCE, _SALIENCE = 0.85, 0.15  # of the score
_BEST = sum(WEIGHTS[name] for name in ("blend", "lexical", "dense")) / (RRF_K + 1)


def recall_as_agent(agent: Agent, prompt: str, asset: Asset | None, deadline: Deadline) -> Recall:
    """Return what a verified agent learned that bears on a prompt; raise StoreUnusable."""
    store = open_store(agent.database, deadline, EXPERIENCE)
    try:
        return recall_experience(
            store,
            prompt,
            agent_id=agent.agent_id,
            asset=asset,
            deadline=deadline,
            budget=BUDGET,
        )
    finally:
        store.close()


def recall_experience(
    store: Store,
    prompt: str,
    *,
    agent_id: str,
    asset: Asset | None,
    deadline: Deadline,
    budget: int,
    most: int = MOST,
    scopes: tuple[str, ...] = SCOPES,
    gated: bool = True,
    now: float | None = None,
) -> Recall:
    """Return the agent's rows that bear on a prompt: all if they fit `budget` characters, else at
    most `most` that do.

    Raises DeadlineReached when the time is up: rows are used whole or not at all.
    """
    result = Recall(read_question(prompt))
    if not result.question.terms:
        result.silence_reason = "no_terms"
        return result
    eligible = _Eligible(eligible_experience(store, agent_id, scopes, now))
    deadline.check()
    if not eligible.rows:
        result.silence_reason = "gated"
        return result
    result.frequencies = eligible.frequencies(result.question.terms)
    if result.question.language != ENGLISH or any(row.language for row in eligible.rows):
        try_other_language(result.question, result.frequencies, eligible.frequencies)
    result.candidates = _best(eligible, result, asset, deadline)
    deadline.check()
    _load_rows(store, agent_id, result)
    _judge(result, gated)
    _rank(result, eligible)
    result.hits = _within([one for one in result.candidates if not one.gate], budget, most)
    if not result.hits:
        result.silence_reason = "gated"
    return result


class _Eligible:
    """The rows that governance lets through, and which of them hold a term."""

    __slots__ = ("_holders", "rows")

    def __init__(self, rows: list[Findable]) -> None:
        self.rows = rows
        self._holders: dict[str, list[int]] = {}

    def holders(self, term: str) -> list[int]:
        """Return the positions of the rows that hold a term."""
        found = self._holders.get(term)
        if found is None:
            padded = f" {term} "  # the terms of a row stand between blanks
            found = [at for at, row in enumerate(self.rows) if padded in row.terms]
            self._holders[term] = found
        return found

    def frequencies(self, terms: "Iterable[str]") -> dict[str, int]:
        """Return how many rows hold each term."""
        return {term: len(self.holders(term)) for term in terms}

    def bm25(self, terms: list[str]) -> dict[int, float]:
        """Return the BM25 of each row that holds one of the terms, by position."""
        count = len(self.rows)
        mean = sum(row.terms.count(" ") for row in self.rows) / count
        scores: dict[int, float] = {}
        for term in terms:
            weight = bm25_idf(len(self.holders(term)), count) * (_K1 + 1)
            for at in self.holders(term):
                told = self.rows[at].terms
                tags, _, body = told.partition("\n")
                times = _TAG_WEIGHT * tags.split().count(term) + body.split().count(term)
                length = _K1 * (1 - _B + _B * told.count(" ") / mean)
                scores[at] = scores.get(at, 0.0) + weight * times / (times + length)
        return scores


def _best(
    eligible: _Eligible, result: Recall, asset: Asset | None, deadline: Deadline
) -> list[Candidate]:
    """Return the rows that are best in words or nearest in meaning; sets what judges them."""
    rows = eligible.rows
    lexical = eligible.bm25(rarest_terms(result.frequencies))
    query = question_vector(result, asset, len(rows), deadline)
    dense = _Cosines(rows, query, lexical) if query else None
    if dense is not None and not dense.whole:
        result.retrieval = DEGRADED_LEXICAL
    result.gates = gates_of(result, asset, dense, len(rows), None)
    found = dict.fromkeys(sorted(lexical, key=lambda at: (-lexical[at], at))[:_DEPTH])
    found.update(dict.fromkeys(dense.nearest() if dense else ()))
    candidates = []
    for at in found:
        candidate = Candidate(rows[at].row_id)
        candidate.lexical_score = candidate.lexical_context = lexical.get(at, 0.0)
        candidate.cosine = dense.of[at] if dense else None
        candidate.matched = [t for t in result.question.terms if at in eligible.holders(t)]
        candidates.append(candidate)
    return candidates


class _Cosines:
    """The cosine of the question with every row, None where it was not computed."""

    __slots__ = ("of", "query", "whole")

    def __init__(self, rows: list[Findable], query: bytes, lexical: dict[int, float]) -> None:
        self.query = query
        self.whole = True
        unknown = bytes(DIMENSIONS)  # no direction: the model does not know the text
        vectors = [row.vector if len(row.vector) == DIMENSIONS else unknown for row in rows]
        self.of: list[float | None]
        try:
            self.of = [1.0 - far for far in distances(query, b"".join(vectors))]
        except ImportError:  # without simsimd, as in the project's store: of what shares a word
            self.whole = False
            self.of = [
                cosine(query, vector) if at in lexical else None
                for at, vector in enumerate(vectors)
            ]

    def mean(self) -> tuple[float, int]:
        """Return the mean over all rows, and how many they are."""
        known = [value for value in self.of if value is not None] if self.whole else []
        return (sum(known) / len(known) if known else 0.0), len(known)

    def nearest(self) -> list[int]:
        """Return the positions of the nearest rows, nearest first."""
        scored = sorted((-value, at) for at, value in enumerate(self.of) if value is not None)
        return [at for _, at in scored[:_DEPTH]]


def _load_rows(store: Store, agent_id: str, result: Recall) -> None:
    """Keep the candidates whose rows are what was written."""
    rows = experience_rows(store, agent_id, [one.chunk_id for one in result.candidates])
    for candidate in result.candidates:
        candidate.row = rows.get(candidate.chunk_id)
    result.candidates = [one for one in result.candidates if one.row is not None]


def _judge(result: Recall, gated: bool) -> None:
    """Give each candidate the gate that it fails."""
    assert result.gates is not None
    _set_ranks(result.candidates)
    for candidate in result.candidates:
        gate = result.gates.judge(candidate)
        candidate.gate = gate if gated else ""


def _set_ranks(candidates: list[Candidate]) -> None:
    """Number the candidates in the lexical and in the dense list."""
    by_words = sorted(candidates, key=lambda one: (-one.lexical_score, one.chunk_id))
    for rank, one in enumerate(by_words, 1):
        one.lexical_rank = rank if one.lexical_score else None
    known = [one for one in candidates if one.cosine is not None]
    for rank, one in enumerate(
        sorted(known, key=lambda one: (-(one.cosine or 0), one.chunk_id)), 1
    ):
        one.dense_rank = rank


def _rank(result: Recall, eligible: _Eligible) -> None:
    """Order the survivors by fusion and prior, best first, and what was dropped behind them."""
    survivors = [one for one in result.candidates if not one.gate]
    dropped = [one for one in result.candidates if one.gate]
    _set_ranks(survivors)
    count = len(eligible.rows)
    asked = sum(idf(holders, count) for holders in result.frequencies.values())
    saliences = {row.row_id: row.salience for row in eligible.rows}
    for one in fuse(survivors, asked):
        prior = max(0.0, min(1.0, saliences[one.chunk_id]))
        one.score = _RELEVANCE * min(1.0, one.score / _BEST) + _SALIENCE * prior
    survivors.sort(key=lambda one: (-one.score, one.chunk_id))
    dropped.sort(key=lambda one: (-one.margin, one.chunk_id))
    result.candidates = survivors + dropped


def _within(survivors: list[Candidate], budget: int, most: int) -> list[Candidate]:
    """Return all survivors if they fit, else the best that do; what is left out says so."""
    from agentlas_memory.capsule import MAX_EXPERIENCE

    sizes = [
        min(len(one.row.text), MAX_EXPERIENCE) + min(len(one.row.heading), _TAGS) + _FRAME
        for one in survivors
        if one.row is not None
    ]
    most = len(survivors) if sum(sizes) <= budget else most
    hits: list[Candidate] = []
    for one, size in zip(survivors, sizes):  # noqa: B905
        budget -= size
        if budget < 0 or len(hits) == most:
            one.gate = "budget"
        else:
            hits.append(one)
    return hits
