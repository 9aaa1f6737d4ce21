"""The entity list: chunks that name exactly what the prompt names."""

from agentlas_memory.ontology.stopwords import STOP_WORDS
from agentlas_memory.ontology.store import DECISION_FIRST, Store
from agentlas_memory.recall.question import Question, plain_words

DEPTH = 20
_KINDS = ("path", "adr", "issue", "id", "heading")  # of keys; an identifier's has none
_DOCUMENTS = ("path", "adr", "id")
_COMMON = 30  # an entity of more chunks than this points nowhere
_WORDS_READ = 48
_LONGEST_HEADING = 6  # words of a heading that people quote


class EntityHit:
    """A chunk that names something of the prompt."""

    __slots__ = ("certain", "chunk_id", "named", "score", "words")

    def __init__(self, chunk_id: int) -> None:
        self.chunk_id = chunk_id
        self.score = 0.0  # larger for what is rarer
        self.certain = False  # defines a path, a decision, an issue or a heading of several words
        self.named = False  # names a decision, an issue or an id, without defining it maybe
        self.words: set[str] = set()  # single words that are headings or identifiers here


def search_entities(store: Store, question: Question, scopes: tuple[str, ...]) -> list[EntityHit]:
    """Return the chunks that define or name the rarest things of the prompt, rarest first."""
    keys = list(entity_keys(question))
    if not keys:
        return []
    marks = ",".join("?" * len(keys))
    hits: dict[int, EntityHit] = {}
    found = store.rows(f"SELECT entity_id, key FROM entities WHERE key IN ({marks})", keys)
    for entity_id, key in found:
        kind, _, name = str(key).partition(":")
        places = _places(store, entity_id, kind in _DOCUMENTS, scopes)
        if kind == "adr" and len(places) > _COMMON:  # what all refer to is still one record
            places = _places(store, entity_id, True, scopes, "AND m.relation = 'defined_in'")
        if len(places) <= _COMMON:
            _count(hits, *((kind, name) if kind in _KINDS else ("", str(key))), places)
            if kind == "id" or question.numbered.get(str(key)):
                _mark(hits, places)
    return sorted(hits.values(), key=lambda hit: (-hit.score, hit.chunk_id))[:DEPTH]


def _places(
    store: Store, entity_id: object, whole: bool, scopes: tuple[str, ...], further: str = ""
) -> "list[tuple[int, int]]":
    """Return where an entity stands: (chunk id, 1 where it is defined).

    Where it is a document, it is defined where something is decided, else by its first chunk.
    """
    allowed = ",".join("?" * len(scopes))
    named = "m.chunk_id"
    if whole:
        named = (
            "(CASE m.relation WHEN 'defined_in' THEN (SELECT d.chunk_id FROM chunks d"
            f" WHERE d.source_id = c.source_id ORDER BY {DECISION_FIRST} LIMIT 1)"
            " ELSE m.chunk_id END)"
        )
    sql = (
        f"SELECT {named}, m.relation = 'defined_in' FROM mentions m JOIN chunks c USING (chunk_id)"
        " JOIN sources s USING (source_id)"
        f" WHERE m.entity_id = ? AND s.scope IN ({allowed}) {further} LIMIT {_COMMON + 1}"
    )
    return store.rows(sql, (entity_id, *scopes))  # type: ignore[return-value]


def _count(hits: dict[int, EntityHit], kind: str, name: str, places: list[tuple[int, int]]) -> None:
    telling = [word for word in name.split() if word not in STOP_WORDS]
    single = kind in ("", "heading") and len(telling) < 2 and name.count(" ") < 2
    for chunk_id, defines in places:
        hit = hits.get(chunk_id) or hits.setdefault(chunk_id, EntityHit(chunk_id))
        hit.score += (2.0 if defines else 1.0) / len(places)
        if single and (defines or not kind):
            hit.words.update(telling)
        hit.certain |= bool(defines) and not single and bool(telling)


def _mark(hits: dict[int, EntityHit], places: list[tuple[int, int]]) -> None:
    for chunk_id, _ in places:
        hits[chunk_id].named = True


def entity_keys(question: Question) -> dict[str, None]:
    """Return the keys (see `ontology/keys.py`) of all that the prompt may be naming."""
    keys: dict[str, None] = {}
    for term in question.terms.values():
        keys[term.surface] = None
        if term.identifier:
            keys["path:" + term.surface] = None
            if any(char.isdigit() for char in term.surface):  # `getting-started` is a plain word
                keys["id:" + term.surface] = None
    keys |= dict.fromkeys(question.numbered)
    words = plain_words(question.text)[:_WORDS_READ]
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
