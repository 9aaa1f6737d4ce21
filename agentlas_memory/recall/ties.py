"""Order among equally scored lexical hits when the model is rejected: hash-96 vectors.

At full weight they halve recall, so they decide nothing but ties.
"""

from agentlas_memory.embedding.hash96 import cosine, hash_vector
from agentlas_memory.ontology.analyzer import analyze
from agentlas_memory.ontology.store import Store
from agentlas_memory.recall.question import Question

_LOOKED_AT = 24  # hits beyond are not shown


def break_ties(
    store: Store, question: Question, hits: list[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Return the hits with those of one score ordered by their likeness to the question."""
    head = hits[:_LOOKED_AT]
    scores = [score for _, score in head]
    tied = [chunk_id for chunk_id, score in head if scores.count(score) > 1]
    if not tied:
        return hits
    query = hash_vector(list(question.terms))
    likeness = {
        chunk_id: cosine(query, hash_vector(analyze(row.text)))
        for chunk_id, row in store.chunks(tied).items()
    }
    head.sort(key=lambda hit: (-hit[1], -likeness.get(hit[0], 0.0)))
    return head + hits[_LOOKED_AT:]
