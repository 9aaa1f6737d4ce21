"""An agent's experience as recall may see it: read, and governed before anything is ranked.

Rows live in the agent's own `experience.sqlite`, a projection of its ledger (docs/experience.md).
"""

from time import gmtime, localtime, strftime, time

from agentlas_memory.lean import sha256
from agentlas_memory.ontology.store import ChunkRow, StoreUnusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentlas_memory.ontology.store import Store

KIND = "experience"  # of a row among chunks
ACTIVE, QUARANTINED = "active", "quarantined"
SUPERSEDES, CONTRADICTS, SIMILAR = "supersedes", "contradicts", "similar_to"
# Of a scope: each row is scored at every prompt.
MOST_ROWS, MOST_CHARACTERS = 1000, 500_000
MOST_LINKS = 10_000  # of one relation
SCOPES = 3


class Experience:
    """What decides whether a row may be recalled."""

    __slots__ = ("created", "expiry", "id", "row_id", "salience", "scope", "status")

    def __init__(
        self,
        row_id: int,
        id: str,
        scope: str,
        status: str,
        expiry: str,
        salience: float,
        created: str,
    ) -> None:
        self.row_id = row_id
        self.id = id
        self.scope = scope
        self.status = status
        self.expiry = expiry  # blank, a date, or a moment of UTC
        self.salience = salience  # 0..1
        self.created = created


class Findable:
    """What a row is found by."""

    __slots__ = ("language", "row_id", "salience", "terms", "vector")

    def __init__(
        self, row_id: int, salience: float, terms: str, language: str, vector: bytes
    ) -> None:
        self.row_id = row_id
        self.salience = salience
        self.terms = terms  # each between blanks, those of the tags on the first line
        self.language = language
        self.vector = vector


_FIELDS = "row_id, id, scope, status, expiry, salience, created"
_TYPES = (int, str, str, str, str, float, str)


def read_experience(store: "Store", agent_id: str) -> list[Experience]:
    """Return the rows of exactly this agent; one of another shape than ours is none."""
    sql = f"SELECT {_FIELDS} FROM experience WHERE agent_id = ? ORDER BY id LIMIT ?"
    rows = store.rows(sql, (agent_id, SCOPES * MOST_ROWS))
    return [Experience(*row) for row in rows if tuple(map(type, row)) == _TYPES]  # type: ignore


def read_links(store: "Store", relation: str) -> list[tuple[str, str]]:
    """Return (from, to) ids of a relation; raise StoreUnusable where there are absurdly many."""
    sql = "SELECT from_id, to_id FROM links WHERE relation = ? ORDER BY from_id, to_id LIMIT ?"
    links = store.rows(sql, (relation, MOST_LINKS + 1))
    if len(links) > MOST_LINKS:
        raise StoreUnusable("has more links than a ledger makes")
    return links  # type: ignore[return-value]


def eligible_experience(
    store: "Store", agent_id: str, scopes: "Sequence[str]", now: float | None = None
) -> list[Findable]:
    """Return the rows that may be ranked: this agent's, in scope, and holding at this moment.

    Only of these is read what they are found by: history may be long.
    """
    rows, links = read_experience(store, agent_id), read_links(store, SUPERSEDES)
    if store.meta.get("governance") != governance_digest([*map(_governed, rows)], links):
        raise StoreUnusable("does not hold what was written")  # what is gone might hide what is not
    moment = time() if now is None else now
    gone = superseded_ids(rows, links)
    eligible = {
        row.row_id
        for row in rows
        if row.scope in scopes and is_live(row, moment) and row.id not in gone
    }
    found: list[Findable] = []
    for part in _parts(sorted(eligible)):
        sql = (
            "SELECT row_id, salience, terms, language, vector FROM experience"
            f" WHERE row_id IN ({','.join('?' * len(part))}) ORDER BY id"
        )
        found += [Findable(*row) for row in store.rows(sql, part) if _is_findable(row)]  # type: ignore
    return found


def _governed(row: Experience) -> "tuple[object, ...]":
    return row.row_id, row.id, row.scope, row.status, row.expiry, row.salience, row.created


def governance_digest(
    rows: "Sequence[Sequence[object]]", links: "Sequence[Sequence[object]]"
) -> bytes:
    """Return 16 bytes over all that governs an agent's rows, and which supersedes which."""
    told = "\n".join(["\0".join(map(str, values)) for values in (*rows, (), *links)])
    return sha256(told.encode("utf-8", "replace")).digest()[:16]


def _is_findable(row: "Sequence[object]") -> bool:
    return tuple(map(type, row)) == (int, float, str, str, bytes)


def _parts(row_ids: list[int]) -> "Iterator[list[int]]":
    for at in range(0, len(row_ids), 500):  # SQLite's smallest limit of variables is 999
        yield row_ids[at : at + 500]


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
    """Return the ids that an active row of the same scope supersedes, directly or through others.

    Through one that has expired or is in quarantine too: the end of what replaced a fact does not
    make the fact true again.
    """
    known = {row.id: row for row in rows}
    older: dict[str, list[str]] = {}
    for newer_id, older_id in links:
        newer, old = known.get(newer_id), known.get(older_id)
        if newer and old and newer is not old and newer.scope == old.scope:
            older.setdefault(newer_id, []).append(older_id)
    gone: set[str] = set()
    ahead = [identity for identity in older if known[identity].status == ACTIVE]
    while ahead:
        for older_id in older.get(ahead.pop(), ()):
            if older_id not in gone:
                gone.add(older_id)
                ahead.append(older_id)
    return gone


def experience_rows(store: "Store", agent_id: str, row_ids: "Sequence[int]") -> dict[int, ChunkRow]:
    """Return rows as chunks by row id: the id as path, the tags as heading; damaged ones are none.

    The digest covers all that governs a row beside what it says.
    """
    rows: dict[int, ChunkRow] = {}
    for part in _parts([*row_ids]):
        marks = ",".join("?" * len(part))
        found = store.rows(
            "SELECT row_id, tags, text, digest, id, status, scope, expiry, salience FROM experience"
            f" WHERE agent_id = ? AND row_id IN ({marks})",
            (agent_id, *part),
        )
        for row_id, tags, text, digest, identity, status, scope, expiry, salience in found:
            values = (agent_id, identity, scope, status, expiry, salience, tags, text)
            if digest == experience_digest(*values):
                rows[row_id] = ChunkRow(  # type: ignore[index]
                    (
                        row_id,
                        tags,
                        0,
                        0,
                        text,
                        digest,
                        identity,
                        "",
                        KIND,
                        status,
                        scope,
                        *_NO_FILE,
                    ),
                    "",
                )
    return rows


_NO_FILE = (None,) * 4  # size, time, hash and commit of a source


def experience_digest(*values: object) -> bytes:
    """Return 16 bytes over agent, id, scope, status, expiry, salience, tags and text."""
    told = "\0".join(map(str, values))
    return sha256(told.encode("utf-8", "replace")).digest()[:16]
