"""The graph, asked by name: an entity, what it is related to, and the chunks that say so."""

from __future__ import annotations

import difflib
import unicodedata
from typing import Any, NamedTuple

from agentlas_memory.ontology.keys import ADR, adr_entity
from agentlas_memory.ontology.store import Store

_COMPARED = 5000  # names that are compared for a suggestion, the most mentioned first
_SUGGESTIONS = 5


class Entity(NamedTuple):
    """A thing the documents name; `key` is its normalised name with its kind."""

    entity_id: int
    key: str
    name: str
    kind: str


class Relation(NamedTuple):
    """A statement with the chunk that is its evidence."""

    subject: str
    relation: str
    object: str
    chunk_id: int
    source: str
    heading: str
    start_line: int
    end_line: int


# An entity's own statements, and those of others about it.
_RELATIONS = """
SELECT subject.key, r.relation, object.key, c.chunk_id, s.path, c.heading, c.start_line, c.end_line
FROM relations r
JOIN entities subject ON subject.entity_id = r.subject_id
JOIN entities object ON object.entity_id = r.object_id
JOIN chunks c USING (chunk_id) JOIN sources s USING (source_id)
WHERE r.subject_id = :entity OR r.object_id = :entity
ORDER BY r.relation, s.path, c.start_line"""
# `x defined_in source`, `source mentions x`, `source cites x`: the chunk is the other side.
_MENTIONS = """
SELECT CASE m.relation WHEN 'defined_in' THEN e.key ELSE s.path END, m.relation,
 CASE m.relation WHEN 'defined_in' THEN s.path ELSE e.key END,
 c.chunk_id, s.path, c.heading, c.start_line, c.end_line
FROM mentions m JOIN entities e USING (entity_id)
JOIN chunks c USING (chunk_id) JOIN sources s USING (source_id)
WHERE m.entity_id = :entity
ORDER BY m.relation, s.path, c.start_line"""
_BY_NAME = """
SELECT entity_id, key, name, kind FROM entities
WHERE folded(key) = :name OR folded(name) = :name OR folded(key) = kind || ':' || :name
ORDER BY folded(key) <> :name,
 (SELECT count(*) FROM mentions m WHERE m.entity_id = entities.entity_id) DESC, key LIMIT 1"""
_MOST_MENTIONED = """
SELECT name FROM entities
ORDER BY (SELECT count(*) FROM mentions m WHERE m.entity_id = entities.entity_id) DESC
LIMIT ?"""


def find_entity(store: Store, name: str) -> Entity | None:
    """Return the entity with this key or name, whatever its case; the most mentioned of several."""
    _teach_folding(store)
    if number := ADR.fullmatch(name.strip()):
        name = adr_entity(number[1]).key
    rows: list[Any] = store.connection.execute(_BY_NAME, {"name": fold(name)}).fetchall()
    return Entity(*rows[0]) if rows else None


def relations_of(store: Store, entity: Entity) -> list[Relation]:
    """Return what is said of an entity: its relations first, then where it is named."""
    rows: list[Any] = []
    for sql in (_RELATIONS, _MENTIONS):
        rows += store.connection.execute(sql, {"entity": entity.entity_id}).fetchall()
    return [Relation(*row) for row in rows]


def similar_names(store: Store, name: str) -> list[str]:
    """Return names of entities that the user may have meant."""
    _teach_folding(store)
    sought = fold(name)
    holding = "SELECT name FROM entities WHERE instr(folded(name), ?) ORDER BY length(name) LIMIT ?"
    names = [str(row[0]) for row in store.rows(holding, (sought, _SUGGESTIONS))]
    frequent = (str(row[0]) for row in store.rows(_MOST_MENTIONED, (_COMPARED,)))
    spellings = {fold(one): one for one in frequent}
    close = difflib.get_close_matches(sought, spellings, n=_SUGGESTIONS)
    return list(dict.fromkeys([*names, *(spellings[one] for one in close)]))[:_SUGGESTIONS]


def fold(name: str) -> str:
    """Return a name as it is compared."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _teach_folding(store: Store) -> None:
    # SQLite's own NOCASE knows ASCII alone.
    store.connection.create_function("folded", 1, fold, deterministic=True)
