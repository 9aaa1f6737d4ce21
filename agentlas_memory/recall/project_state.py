"""The answer to events without a prompt: what holds in this project, and what is open.

One fixed query, no model: notes of kind `constraint`, accepted decision records, `todo` notes; the
newest commit first, then by path.
"""

from agentlas_memory.ontology.store import DECISION_FIRST, ChunkRow, Store
from agentlas_memory.project import is_policy_file
from agentlas_memory.recall.sources import STALE, source_state

MAX_CHARACTERS = 1500
_LOOKED_AT = 40
_STATE = """
 WHERE (s.kind IN ('constraint', 'todo') OR s.kind = 'adr' AND s.status = 'accepted')
 AND NOT s.superseded AND s.status NOT IN ('superseded', 'rejected', 'deprecated', 'proposed')
 AND s.scope IN ({scopes})
 AND c.chunk_id = (SELECT d.chunk_id FROM chunks d WHERE d.source_id = c.source_id
  ORDER BY {first} LIMIT 1)
 ORDER BY CASE s.kind WHEN 'constraint' THEN 0 WHEN 'adr' THEN 1 ELSE 2 END,
 s.commit_time IS NULL, s.commit_time DESC, s.path LIMIT {limit}"""


def project_state(store: Store, scopes: tuple[str, ...], root: str) -> list[ChunkRow]:
    """Return the chunks that state where the project stands, most binding first."""
    marks = ",".join("?" * len(scopes))
    rows = store.select_chunks(
        _STATE.format(scopes=marks, first=DECISION_FIRST, limit=_LOOKED_AT), scopes
    )
    return [
        row
        for row in rows
        if row.intact()
        and not is_policy_file(row.path)
        and source_state(row, root, store) not in STALE
    ]
