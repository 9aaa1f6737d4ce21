"""From a ledger to `experience.sqlite`: built aside whole, and put in place by one rename.

So a reader meets the old rows or the new ones, never a journal; the same ledger gives the same
content.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.asset import DIMENSIONS
from agentlas_memory.embedding.query import distances
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.database import ForeignStore, refuse_foreign
from agentlas_memory.ontology.embedder import model_identity, open_embedder
from agentlas_memory.ontology.experience import (
    ACTIVE,
    MOST_CHARACTERS,
    MOST_ROWS,
    SIMILAR,
    SUPERSEDES,
    experience_digest,
    governance_digest,
    has_expired,
)
from agentlas_memory.ontology.ledger import Ledger, Row
from agentlas_memory.ontology.migrations import NewerStore
from agentlas_memory.ontology.naming import (
    TERMS_VERSION,
    IndexTerms,
    embedded_text,
    index_terms,
)
from agentlas_memory.ontology.schema import (
    EXPERIENCE,
    EXPERIENCE_ID,
    EXPERIENCE_TABLES,
    EXPERIENCE_VERSION,
)
from agentlas_memory.ontology.store import StoreUnusable, open_store
from agentlas_memory.redact import REDACTION_VERSION
from agentlas_memory.whole_file import new_version

_PATIENCE_MS = 10_000.0
_OLDER, _LENT = 5, 1000  # rows of a history that lend their words, and characters of them
_ALIKE, _MOST_ALIKE = 0.8, 3  # cosine of rows that say much the same, and how many are linked


class Projected(NamedTuple):
    """What a projection holds, and the ids of the rows that a full scope left out."""

    rows: int
    left_out: tuple[str, ...]


@contextmanager
def projection_of(
    ledger: Ledger, agent_id: str, database: Path, *, anew: bool = False
) -> Iterator[Projected]:
    """Make an agent's `experience.sqlite` aside, and put it in place when the block ends well.

    Vectors that are there are taken over, unless `anew`. Raises ForeignStore for what is not ours;
    a damaged file of ours is moved aside.
    """
    vectors = {} if anew and not database.exists() else _known_vectors(database)
    rows, left_out = _within_caps(ledger)
    vectors = _embed(rows, {} if anew else vectors)
    with new_version(database, 0o600) as new:
        with closing(sqlite3.connect(new.path, isolation_level=None)) as connection:
            _fill(connection, rows, ledger, agent_id, vectors)
        new.sync()
        yield Projected(len(rows), tuple(left_out))
        _make_way(database)


def project_ledger(
    ledger: Ledger, agent_id: str, database: Path, *, anew: bool = False
) -> Projected:
    """Replace an agent's `experience.sqlite` by what its ledger says."""
    with projection_of(ledger, agent_id, database, anew=anew) as projected:
        return projected


def is_outdated(database: Path) -> bool:
    """Tell whether a projection is unreadable, or another version's or model's."""
    try:
        store = open_store(str(database), Deadline(_PATIENCE_MS), EXPERIENCE)
    except StoreUnusable:
        return True
    try:
        current = dict(_meta(store.text("agent_id")))
        return any(store.meta.get(key) != value for key, value in current.items()) or (
            "governance" not in store.meta
        )
    finally:
        store.close()


def has_rows(database: Path) -> bool:
    """Tell whether there is a sound database with rows."""
    try:
        store = open_store(str(database), Deadline(_PATIENCE_MS), EXPERIENCE)
    except StoreUnusable:
        return False
    try:
        return bool(store.rows("SELECT 1 FROM experience LIMIT 1"))
    finally:
        store.close()


def _known_vectors(database: Path) -> dict[str, bytes]:
    """Return the vectors of the texts that are there already, by the text that was embedded."""
    _refuse_foreign(database)
    if not database.exists():
        return {}
    try:
        store = open_store(str(database), Deadline(_PATIENCE_MS), EXPERIENCE)
    except StoreUnusable:
        return {}
    try:
        if store.text("embedding") != model_identity():
            return {}
        rows = store.rows("SELECT tags, text, vector FROM experience")
        return {_told(str(tags), str(text)): bytes(v) for tags, text, v in rows}  # type: ignore
    except (sqlite3.DatabaseError, TypeError):
        return {}
    finally:
        store.close()


def _refuse_foreign(database: Path) -> None:
    """Raise ForeignStore or NewerStore for what is not ours to replace, OSError as it comes."""
    try:
        regular = stat.S_ISREG(database.lstat().st_mode)
    except FileNotFoundError:
        return
    if not regular:
        raise ForeignStore(f"{database} is no regular file; it was left as it is")
    refuse_foreign(database, EXPERIENCE_ID)
    head = read_file(str(database), 100)
    version = int.from_bytes(head[60:64], "big")
    if head[68:72] == EXPERIENCE_ID.to_bytes(4, "big") and version > EXPERIENCE_VERSION:
        raise NewerStore(
            f"{database} has schema {version}, this version knows {EXPERIENCE_VERSION}: install"
            " the newer agentlas-memory again, or move the file away and rebuild it"
        )


def _make_way(database: Path) -> None:
    """Move what is damaged aside; a journal left there would be played into the new file."""
    suffix = f".damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    journal = database.with_name(f"{database.name}-journal")
    if os.path.lexists(journal):
        journal.rename(journal.with_name(journal.name + suffix))
    if database.exists() and not _is_sound(database):
        os.link(database, database.with_name(database.name + suffix))


def _is_sound(database: Path) -> bool:
    try:
        open_store(str(database), Deadline(_PATIENCE_MS), EXPERIENCE).close()
    except StoreUnusable:
        return False
    return True


def _within_caps(ledger: Ledger) -> tuple[list[Row], list[str]]:
    """Return the rows that are kept, by id, and the ids of those that a full scope has no room for.

    What does not hold any more goes first, then what is least salient and oldest; with a row goes
    all that it supersedes, which would count as current without it.
    """
    now = time.time()
    replaced = {
        old
        for newer, relation, old in ledger.links
        if relation == SUPERSEDES and ledger.rows[newer].status == ACTIVE
    }
    out: set[str] = set()
    for scope in {row.scope for row in ledger.rows.values()}:
        ranked = sorted(
            (row for row in ledger.rows.values() if row.scope == scope),
            key=lambda row: (
                row.status == ACTIVE
                and row.id not in replaced
                and not has_expired(row.expiry, now),
                row.salience,
                row.created,
                row.id,
            ),
            reverse=True,
        )
        characters = 0
        for number, row in enumerate(ranked):
            characters += len(row.text)
            if number >= MOST_ROWS or characters > MOST_CHARACTERS:
                out.add(row.id)
                if row.status == ACTIVE:
                    out |= {old.id for old in ledger.replaced_by(row.id)}
    kept = [row for row in ledger.rows.values() if row.id not in out]
    return sorted(kept, key=lambda row: row.id), sorted(out)


def _embed(rows: Sequence[Row], vectors: dict[str, bytes]) -> dict[str, bytes]:
    """Return the vectors with those of the texts that had none yet."""
    missing = [told for told in dict.fromkeys(map(_told_of, rows)) if told not in vectors]
    if missing:
        embedder = open_embedder(many=False)  # whether one is added or all are: the same bytes
        vectors.update(zip(missing, embedder.embed(missing), strict=True))
    return vectors


def _told_of(row: Row) -> str:
    return _told(_tags(row), row.text)


def _told(tags: str, text: str) -> str:
    return embedded_text("", tags, text)


def _tags(row: Row) -> str:
    return ", ".join(row.tags)


def _fill(
    connection: sqlite3.Connection,
    rows: Sequence[Row],
    ledger: Ledger,
    agent_id: str,
    vectors: Mapping[str, bytes],
) -> None:
    for pragma in ("journal_mode=OFF", "synchronous=OFF"):  # nobody else knows the file yet
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")
    connection.execute(f"PRAGMA application_id = {EXPERIENCE_ID}")
    connection.execute(f"PRAGMA user_version = {EXPERIENCE_VERSION}")
    for sql in EXPERIENCE_TABLES.values():
        connection.execute(sql)
    connection.executemany(
        "INSERT INTO experience VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            _values(number, row, agent_id, _terms(row, ledger), vectors[_told_of(row)])
            for number, row in enumerate(rows, 1)
        ),
    )
    kept = {row.id for row in rows}
    told = {link for link in ledger.links if kept.issuperset((link[0], link[2]))}
    links = sorted(told | set(_similar(rows, vectors)))
    connection.executemany("INSERT INTO links VALUES (?, ?, ?)", links)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", _meta(agent_id))
    governed = [
        (number, row.id, row.scope, row.status, row.expiry, row.salience, row.created)
        for number, row in enumerate(rows, 1)
    ]
    supersedes = [(newer, old) for newer, relation, old in links if relation == SUPERSEDES]
    connection.execute(
        "INSERT INTO meta VALUES ('governance', ?)", (governance_digest(governed, supersedes),)
    )
    connection.execute("COMMIT")


def _meta(agent_id: str) -> list[tuple[str, object]]:
    return [
        ("agent_id", agent_id),
        ("embedding", model_identity()),
        ("redaction", REDACTION_VERSION),
        ("terms_version", TERMS_VERSION),
    ]


def _terms(row: Row, ledger: Ledger) -> IndexTerms:
    """Return what a row is found by: its own words, and those of what it replaced.

    People ask in the words they know: "what is the SSH port" for "we moved sshd to 49222".
    """
    older = [one for one in ledger.replaced_by(row.id) if one.status == ACTIVE][:_OLDER]
    tags = ", ".join(filter(None, map(_tags, [row, *older])))
    lent = "\n".join(one.text for one in older)[:_LENT]
    return index_terms("", tags, f"{row.text}\n{lent}")


def _values(
    number: int, row: Row, agent_id: str, terms: IndexTerms, vector: bytes
) -> tuple[object, ...]:
    tags = _tags(row)
    governed = (agent_id, row.id, row.scope, row.status, row.expiry, row.salience, tags, row.text)
    return (
        number,
        row.id,
        agent_id,
        row.scope,
        row.status,
        row.expiry,
        row.salience,
        row.created,
        tags,
        row.text,
        _padded(terms),
        terms.language,
        vector,
        experience_digest(*governed),
    )


def _padded(terms: IndexTerms) -> str:
    """Return the terms between blanks, those of the tags on a line of their own."""
    return "\n".join(f" {column} " for column in terms.columns)


def _similar(rows: Sequence[Row], vectors: Mapping[str, bytes]) -> Iterator[tuple[str, str, str]]:
    """Yield a link from each row to the few in its scope that say much the same."""
    for scope in sorted({row.scope for row in rows}):
        here = [row for row in rows if row.scope == scope]
        found = [vectors[_told_of(row)] for row in here]
        if all(len(vector) == DIMENSIONS for vector in found):
            yield from _alike(here, found)


def _alike(rows: Sequence[Row], vectors: Sequence[bytes]) -> Iterable[tuple[str, str, str]]:
    block = b"".join(vectors)
    for at, vector in enumerate(vectors):
        if not any(vector):
            continue
        near = sorted((far, other) for other, far in enumerate(distances(vector, block)))
        close = [other for far, other in near if other != at and far <= 1 - _ALIKE]
        yield from ((rows[at].id, SIMILAR, rows[other].id) for other in close[:_MOST_ALIKE])
