"""An agent's experience as recall may see it: read, and governed before anything is ranked.

Rows live in the agent's own `experience.sqlite`, a projection of its ledger (docs/experience.md).
"""

from time import gmtime, localtime, strftime, time

from agentlas_memory.lean import sha256
from agentlas_memory.ontology.store import ChunkRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentlas_memory.ontology.store import Store

KIND = "experience"  # of a row among chunks
ACTIVE, QUARANTINED = "active", "quarantined"
SUPERSEDES, CONTRADICTS, SIMILAR = "supersedes", "contradicts", "similar_to"
MOST_ROWS = 1000  # of a scope: each row is scored at every prompt
SCOPES = 3


class Experience:
    """What decides whether a row may be recalled, and what it is found by."""

    __slots__ = (
        "created",
        "expiry",
        "id",
        "language",
        "row_id",
        "salience",
        "scope",
        "status",
        "terms",
        "vector",
    )

    def __init__(
        self,
        row_id: int,
        id: str,
        scope: str,
        status: str,
        expiry: str,
        salience: float,
        created: str,
        terms: str,
        language: str,
        vector: bytes,
    ) -> None:
        self.row_id = row_id
        self.id = id
        self.scope = scope
        self.status = status
        self.expiry = expiry  # blank, a date, or a moment of UTC
        self.salience = salience  # 0..1
        self.created = created
        self.terms = terms  # those of the tags on the first line
        self.language = language
        self.vector = vector


_FIELDS = (
    "row_id",
    "id",
    "scope",
    "status",
    "expiry",
    "salience",
    "created",
    "terms",
    "language",
    "vector",
)
_TYPES = (int, str, str, str, str, float, str, str, str, bytes)


def read_experience(store: "Store", agent_id: str) -> list[Experience]:
    """Return the rows of exactly this agent; one of another shape than ours is none."""
    sql = f"SELECT {', '.join(_FIELDS)} FROM experience WHERE agent_id = ? ORDER BY id LIMIT ?"
    rows = store.rows(sql, (agent_id, SCOPES * MOST_ROWS))
    return [Experience(*row) for row in rows if tuple(map(type, row)) == _TYPES]  # type: ignore


def read_links(store: "Store", relation: str) -> list[tuple[str, str]]:
    """Return (from, to) ids of a relation."""
    sql = "SELECT from_id, to_id FROM links WHERE relation = ? ORDER BY from_id, to_id LIMIT ?"
    return store.rows(sql, (relation, 10 * SCOPES * MOST_ROWS))  # type: ignore[return-value]


def eligible_experience(
    store: "Store", agent_id: str, scopes: "Sequence[str]", now: float | None = None
) -> list[Experience]:
    """Return the rows that may be ranked: this agent's, in scope, and holding at this moment."""
    rows = read_experience(store, agent_id)
    moment = time() if now is None else now
    gone = superseded_ids(rows, read_links(store, SUPERSEDES))
    return [
        row for row in rows if row.scope in scopes and is_live(row, moment) and row.id not in gone
    ]


def is_live(row: Experience, now: float) -> bool:
    """Tell whether a row is active and has not expired."""
    return row.status == ACTIVE and not has_expired(row.expiry, now)


def has_expired(expiry: str, now: float) -> bool:
    """Tell whether an expiry has passed: blank never does, a date lasts through that local day.

    Any other text than `2026-12-31` and `2026-12-31T08:00:00Z` counts as passed.
    """
    if not expiry:
        return False
    if len(expiry) == len("2026-12-31"):
        digits, today = expiry.replace("-", ""), strftime("%Y-%m-%d", localtime(now))
        return not digits.isdigit() or expiry < today
    return expiry[-1:] != "Z" or expiry <= strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(now))


def superseded_ids(rows: "Iterable[Experience]", links: "Iterable[tuple[str, str]]") -> set[str]:
    """Return the ids that an active row of the same scope supersedes.

    One that has expired too: the end of what replaced a fact does not make the fact true again.
    """
    scopes = {row.id: row.scope for row in rows if row.status == ACTIVE}
    return {
        older
        for newer, older in links
        if newer != older and newer in scopes and scopes[newer] == scopes.get(older)
    }


def experience_rows(store: "Store", agent_id: str, row_ids: "Sequence[int]") -> dict[int, ChunkRow]:
    """Return rows as chunks by row id: the id as path, the tags as heading; damaged ones are none.

    The digest covers all that governs a row beside what it says.
    """
    marks = ",".join("?" * len(row_ids))
    found = store.rows(
        "SELECT row_id, tags, text, digest, id, status, scope, expiry, salience FROM experience"
        f" WHERE agent_id = ? AND row_id IN ({marks})",
        (agent_id, *row_ids),
    )
    rows: dict[int, ChunkRow] = {}
    for row_id, tags, text, digest, identity, status, scope, expiry, salience in found:
        values = (agent_id, identity, scope, status, expiry, salience, tags, text)
        if digest == experience_digest(*values):
            rows[row_id] = ChunkRow(  # type: ignore[index]
                (row_id, tags, 0, 0, text, digest, identity, "", KIND, status, scope, *_NO_FILE),
                "",
            )
    return rows


_NO_FILE = (None,) * 4  # size, time, hash and commit of a source


def experience_digest(*values: object) -> bytes:
    """Return 16 bytes over agent, id, scope, status, expiry, salience, tags and text."""
    told = "\0".join(map(str, values))
    return sha256(told.encode("utf-8", "replace")).digest()[:16]
