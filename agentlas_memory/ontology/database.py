"""The store's file for the writing side: open, heal, or set aside and begin anew."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agentlas_memory.lean import read_file
from agentlas_memory.ontology.foreign import UPSTREAM, holds_nothing, is_upstream
from agentlas_memory.ontology.lock import writer_lock
from agentlas_memory.ontology.migrations import migrate, renew_lexical_index
from agentlas_memory.ontology.schema import APPLICATION_ID
from agentlas_memory.ontology.store import StoreUnusable, check_tables

_BUSY_SECONDS = 10.0  # a reader holds its snapshot for milliseconds


class ForeignStore(Exception):
    """The file at the store's place is a database of another program."""


class UpstreamStore(ForeignStore):
    """It is a store of Agentlas OS, which `import-store` takes over."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is {UPSTREAM}; it was left as it is")
        self.path = path


class DamagedStore(Exception):
    """The file was broken: it was moved aside, and its place is free for a new one."""


@contextmanager
def writable_database(path: Path, wait: float = 10.0) -> Iterator[sqlite3.Connection]:
    """Open the store at `path` for writing, made new where there is none, under the writer lock.

    Damage is found on opening or only while writing. Either way the file is moved aside, never
    deleted, and DamagedStore raised: only the caller knows what to fill a new store with.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with writer_lock(path.parent, wait):
        try:
            with closing(_open(path)) as connection:
                yield connection
        except (sqlite3.DatabaseError, StoreUnusable) as error:
            if not _is_damage(error):
                raise
            aside = _set_aside(path)
            raise DamagedStore(
                f"the store was damaged ({error}); it was moved to {aside}"
            ) from error


def _is_damage(error: Exception) -> bool:
    """Tell damage from DatabaseError's subclasses: locked, a full disk are not the file's fault."""
    return isinstance(error, StoreUnusable) or type(error) is sqlite3.DatabaseError


def _open(path: Path) -> sqlite3.Connection:
    refuse_foreign(path, APPLICATION_ID)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            _refuse_views(connection, path)
        # Readers must never wait for a long transaction: pages stay in memory until the commit.
        for pragma in ("journal_mode=DELETE", "secure_delete=ON", "cache_spill=OFF"):
            connection.execute("PRAGMA " + pragma)
        if not connection.execute("PRAGMA page_count").fetchone()[0]:
            # What merging frees, a seventh of the file, can be given back. Only now: setting it
            # again would write to a store in which nothing changed.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA foreign_keys=OFF")
        migrate(connection)
        check_tables(connection)
        _check_pages(connection)
        renew_lexical_index(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_pages(connection: sqlite3.Connection) -> None:
    """Raise DatabaseError when a page is damaged; quick, as it is done at every run."""
    size: int = connection.execute("PRAGMA page_count").fetchone()[0]
    if size > _PAGES_CHECKED:
        return
    report = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if report != "ok":
        raise sqlite3.DatabaseError(report)


_PAGES_CHECKED = 5000  # 20 MB, about 20 ms; a larger store is checked by `doctor`


def refuse_foreign(path: Path, application_id: int) -> None:
    """Raise ForeignStore for another program's database; it is not opened.

    To open one for writing would play its journal back, and on closing its write-ahead log.
    """
    try:
        head = read_file(str(path), 100)
    except FileNotFoundError:
        return
    ours = int.from_bytes(head[68:72], "big") == application_id
    if head[:16] != b"SQLite format 3\0" or ours:
        return
    if is_upstream(str(path)):
        raise UpstreamStore(path)
    if not holds_nothing(str(path)):
        raise ForeignStore(f"{path} is a database of another program; it was left as it is")


def _refuse_views(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise ForeignStore(f"{path} is a database of another program; it was left as it is")


def _set_aside(path: Path) -> Path:
    """Rename a damaged store and its journal to names that are free; return the store's."""
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    while aside.exists():
        aside = aside.with_name(aside.name + "-")
    journal = path.with_name(path.name + "-journal")
    if journal.exists():  # first: left alone, it would be played back into the new store
        journal.rename(aside.with_name(aside.name + "-journal"))
    path.rename(aside)
    return aside
