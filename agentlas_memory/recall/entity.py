"""The entity list: chunks that name exactly what the prompt names."""

from agentlas_memory.ontology.store import Store
from agentlas_memory.recall.question import Question

DEPTH = 20
_COMMON = 30  # an entity of more chunks than this points nowhere
_WORDS_READ = 48
_LONGEST_HEADING = 6  # words of a heading that people quote
_AROUND = "?!.,:;()[]{}<>'\"`*“”‘’…"


def search_entities(
    store: Store, question: Question, scopes: tuple[str, ...]
) -> list[tuple[int, bool]]:
    """Return (chunk id, whether it defines one) by how rare the named things are, rarest first."""
    keys = list(entity_keys(question))
    if not keys:
        return []
    marks, allowed = ",".join("?" * len(keys)), ",".join("?" * len(scopes))
    scores: dict[int, float] = {}
    defining = set()
    for (entity_id,) in store.rows(f"SELECT entity_id FROM entities WHERE key IN ({marks})", keys):
        places = store.rows(
            "SELECT m.chunk_id, m.relation FROM mentions m JOIN chunks USING (chunk_id)"
            " JOIN sources s USING (source_id)"
            f" WHERE m.entity_id = ? AND s.scope IN ({allowed}) LIMIT {_COMMON + 1}",
            (entity_id, *scopes),
        )
        if len(places) > _COMMON:
            continue
        chunk_id: int
        for chunk_id, relation in places:  # type: ignore[assignment]
            weight = (2.0 if relation == "defined_in" else 1.0) / len(places)
            scores[chunk_id] = scores.get(chunk_id, 0.0) + weight
            if relation == "defined_in":
                defining.add(chunk_id)
    best = sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:DEPTH]
    return [(chunk_id, chunk_id in defining) for chunk_id in best]


def entity_keys(question: Question) -> dict[str, None]:
    """Return the keys (see `ontology/keys.py`) of all that the prompt may be naming."""
    keys: dict[str, None] = {}
    for term in question.terms.values():
        keys[term.surface] = None
        if term.identifier:
            keys["path:" + term.surface] = None
    words = [word.strip(_AROUND).casefold() for word, _ in question.words[:_WORDS_READ]]
    for at, word in enumerate(words):
        if number := _number_after(word, "adr") or _number(word == "adr", words[at + 1 : at + 2]):
            keys[f"adr:{number}"] = None
        if number := _number_after(word, "#") or _number_after(word, "gh-"):
            keys[f"issue:{number}"] = None
    for phrase in _phrases(words):
        keys["heading:" + phrase] = None
    return keys


def _phrases(words: list[str]) -> list[str]:
    return [
        " ".join(words[start : start + length])
        for start in range(len(words))
        for length in range(1, _LONGEST_HEADING + 1)
        if start + length <= len(words)
    ]


def _number_after(word: str, mark: str) -> str:
    """Return the number in `adr-0007` or `#12` without leading zeros, blank when there is none."""
    rest = word[len(mark) :].lstrip("-_#") if word.startswith(mark) else ""
    return rest.lstrip("0") if rest.isascii() and rest.isdigit() else ""


def _number(named: bool, following: list[str]) -> str:
    return _number_after(following[0], "") if named and following else ""
