"""The lexical list without FTS5: a plain scan, for interpreters whose SQLite lacks the module."""

from agentlas_memory.ontology.store import Store

DEPTH = 100
_MOST_TERMS = 200  # SQLite takes sums of a thousand; each is looked for in every text


def search_by_scan(
    store: Store, terms: list[str], scopes: tuple[str, ...]
) -> list[tuple[int, float]]:
    """Return (chunk id, score) by the number of terms that the text holds, best first.

    A stem is looked for as a part of the text, so that most of its word forms are found.
    """
    if not terms:
        return []
    terms = terms[:_MOST_TERMS]
    hits = " + ".join(["(instr(lower(c.heading || ' ' || c.text), ?) > 0)"] * len(terms))
    marks = ",".join("?" * len(scopes))
    sql = (
        f"SELECT c.chunk_id, {hits} AS score FROM chunks c JOIN sources s USING (source_id)"
        f" WHERE s.scope IN ({marks}) AND score > 0 ORDER BY score DESC, c.chunk_id LIMIT {DEPTH}"
    )
    rows = store.rows(sql, (*map(_stem, terms), *scopes))
    return [(row[0], float(row[1])) for row in rows]  # type: ignore[misc, arg-type]


def _stem(term: str) -> str:
    """Return the part of a term that all forms of the word begin with: polici -> polic."""
    return term[:-1] if len(term) > 3 and term[-1] in "ie" else term
