"""The entity list: chunks that name exactly what the prompt names."""

from agentlas_memory.ontology.store import Store
from agentlas_memory.recall.question import Question


def search_entities(store: Store, question: Question) -> list[int]:
    """Return chunk ids."""
    return []
