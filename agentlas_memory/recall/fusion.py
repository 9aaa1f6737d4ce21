"""Reciprocal rank fusion, and the blend of scores that enters it as one of the lists."""

from agentlas_memory.ontology.store import decides
from agentlas_memory.recall.candidate import Candidate

# Weights and k by measurement: docs/quality.md.
RRF_K = 20
WEIGHTS = {"blend": 20.0, "lexical": 1.0, "dense": 1.0, "entity": 3.0, "certain": 20.0}
_COSINE_SHARE = 0.6  # of the blend; the rest is BM25 over the best BM25
# Of what was asked; a best hit that holds less of it is no full score.
_WHOLE_ANSWER = 0.8
_DECISION = 0.97  # of the score of the best chunk of its record


def fuse(candidates: list[Candidate], asked: float) -> list[Candidate]:
    """Return the candidates by weighted RRF of all lists, best first; sets their scores.

    `asked` is the idf of all the prompt's terms together.
    """
    blend = {c.chunk_id: rank for rank, c in enumerate(_by_blend(candidates, asked), 1)}
    for candidate in candidates:
        entity_rank = candidate.entity_rank
        ranks = (
            (WEIGHTS["blend"], blend.get(candidate.chunk_id)),
            (WEIGHTS["lexical"], candidate.lexical_rank),
            (WEIGHTS["dense"], candidate.dense_rank),
            (WEIGHTS["entity"], entity_rank),
            (WEIGHTS["certain"], entity_rank if _is_certain(candidate) else None),
        )
        candidate.score = sum(weight / (RRF_K + rank) for weight, rank in ranks if rank is not None)
    return sorted(candidates, key=lambda c: (-c.score, c.chunk_id))


def lift_decisions(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates with what a record decides right behind the best chunk of the record.

    People ask in the words of the problem, which stand in the context and the options; what they
    want is the decision.
    """
    best: dict[str, float] = {}
    for candidate in candidates:
        if candidate.row is not None and candidate.row.kind == "adr":
            path = candidate.row.path
            best[path] = max(best.get(path, 0.0), candidate.score)
    for candidate in candidates:
        if (
            candidate.row is not None
            and candidate.row.path in best
            and decides(candidate.row.heading)
        ):
            candidate.score = max(candidate.score, _DECISION * best[candidate.row.path])
    return sorted(candidates, key=lambda c: (-c.score, c.chunk_id)) if best else candidates


def _is_certain(candidate: Candidate) -> bool:
    """Tell whether the prompt names what is defined here, such as `ADR-7`: no other list knows."""
    return candidate.entity is not None and candidate.entity.certain


def _by_blend(candidates: list[Candidate], asked: float) -> list[Candidate]:
    """Order by cosine and BM25 together; a candidate without either is not in this list."""
    best = max((c.lexical_context for c in candidates), default=0.0)
    whole = max(best, _WHOLE_ANSWER * asked) or 1.0

    def blend(candidate: Candidate) -> float:
        lexical = candidate.lexical_context / whole
        return _COSINE_SHARE * (candidate.cosine or 0.0) + (1 - _COSINE_SHARE) * lexical

    scored = [c for c in candidates if c.lexical_rank is not None or c.cosine is not None]
    return sorted(scored, key=lambda c: (-blend(c), c.chunk_id))
