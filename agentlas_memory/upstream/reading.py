"""Reading a store of Agentlas OS, which nobody promised is whole, honest or at rest.

The file itself is never opened for writing, and never by SQLite where that would play a journal
back into it: what lies in a journal or a write-ahead log is played into a copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from agentlas_memory.ontology.foreign import UPSTREAM_TABLES
from agentlas_memory.ontology.store import read_only_uri

TABLES = (  # that are read, or counted; what else there is does not matter
    *UPSTREAM_TABLES,
    "sources",
    "chunks",
    "memory_links",
    "working_memory",
    "entities",
    "relations",
)
COMPANIONS = ("-wal", "-shm", "-journal")
LONGEST_VALUE = 1 << 20  # characters of a text that are read; no page, note or list comes near
_LARGEST_VALUE = 128 << 20  # bytes that SQLite may hold for one
_LENGTH = 0  # SQLITE_LIMIT_LENGTH
_COUNTING_SECONDS = 10.0
_MOST_GAPS = 10_000  # damaged places that are gone around
_FURTHEST = 1 << 40  # rows
_TRIES = 5

Value = object  # a column may hold anything, whatever its type says


class UpstreamBusy(Exception):
    """Another process is writing the store; nothing of it can be told for sure."""


class NotUpstream(Exception):
    """The file is no store of Agentlas OS, or too damaged to tell."""


class UpstreamReader:
    """The tables of one store; views, virtual tables and computed columns are none."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.columns = _columns_of_tables(connection)
        if not set(UPSTREAM_TABLES) <= self.columns.keys():
            raise NotUpstream("it has not the tables of Agentlas OS")
        self.damaged: set[str] = set()  # tables of which some rows could not be read

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Value, ...]]:
        """Yield rowid and columns of every row that can be read, in the order of their rowids."""
        if table not in self.columns:
            return
        sql = f"SELECT rowid, {self._select(table, columns)} FROM main.{table}"
        sql += " WHERE rowid > ? ORDER BY rowid"
        after = -(1 << 63)
        for _ in range(_MOST_GAPS):
            try:
                for row in self._connection.execute(sql, (after,)):
                    if row[0] <= after:
                        raise sqlite3.DatabaseError("rows come again")
                    after = row[0]
                    yield row
                return
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self.damaged.add(table)
                beyond = 0 if after < 0 else self._beyond(sql, after)  # most begin at 1
                if beyond is None:
                    return
                after = beyond

    def row(self, table: str, columns: Sequence[str], rowid: int) -> tuple[Value, ...] | None:
        """Return the columns of one row, None where it cannot be read."""
        sql = f"SELECT {self._select(table, columns)} FROM main.{table} WHERE rowid = ?"
        try:
            found: tuple[Value, ...] | None = self._connection.execute(sql, (rowid,)).fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            self.damaged.add(table)
            return None
        return found

    def count(self, table: str) -> int | None:
        """Return how many rows a table has, None where they cannot be counted."""
        if table not in self.columns:
            return 0
        end = time.monotonic() + _COUNTING_SECONDS
        self._connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
        try:
            sql = f"SELECT count(*) FROM main.{table}"
            return int(self._connection.execute(sql).fetchone()[0])
        except sqlite3.DatabaseError:
            self.damaged.add(table)
            return None
        finally:
            self._connection.set_progress_handler(None, 0)

    def _select(self, table: str, columns: Sequence[str]) -> str:
        """Return expressions that yield numbers and texts of a bounded length, and no blobs."""
        known = self.columns[table]
        return ", ".join(_bounded(c) if c in known else "NULL" for c in columns)

    def _beyond(self, sql: str, after: int) -> int | None:
        """Return a rowid behind a damaged place from where reading goes on, None for none."""
        bad, step = 0, 1
        while not (found := self._can_read(sql, after + step)):
            if found is None or step > _FURTHEST:
                return None
            bad, step = step, step * 2
        while step - bad > 1:  # the last that fails and the first that does not
            middle = (bad + step) // 2
            if self._can_read(sql, after + middle):
                step = middle
            else:
                bad = middle
        return after + step

    def _can_read(self, sql: str, after: int) -> bool | None:
        """Tell whether the next row can be read; None where there is none."""
        if after >= 1 << 63:
            return None
        try:
            row = self._connection.execute(f"{sql} LIMIT 1", (after,)).fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return False
        return None if row is None else True


def _columns_of_tables(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the stored columns of those tables that are ordinary ones with rowids."""
    sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
    found = {}
    try:
        for name in TABLES:
            row = connection.execute(sql, (name,)).fetchone()
            if row and isinstance(row[0], str) and row[0][:12].upper() == "CREATE TABLE":
                info = connection.execute(f"PRAGMA main.table_xinfo({name})").fetchall()
                found[name] = {one[1] for one in info if one[6] == 0}
    except sqlite3.DatabaseError as error:
        raise NotUpstream(f"it cannot be read: {error}") from error
    return {name: columns for name, columns in found.items() if _has_rowids(connection, name)}


def _has_rowids(connection: sqlite3.Connection, table: str) -> bool:
    try:
        cursor = connection.execute(f"SELECT * FROM main.{table} LIMIT 0")
        connection.execute(f"SELECT rowid FROM main.{table} LIMIT 0")
    except sqlite3.DatabaseError:
        return False
    return all(column[0].lower() != "rowid" for column in cursor.description)


def _bounded(column: str) -> str:
    text = f"WHEN 'text' THEN substr({column}, 1, {LONGEST_VALUE + 1})"
    return f"CASE typeof({column}) {text} WHEN 'blob' THEN NULL ELSE {column} END"


@contextmanager
def open_upstream(path: Path) -> Iterator[UpstreamReader]:
    """Open a store for reading; raise NotUpstream, or UpstreamBusy where it changes meanwhile."""
    if path.is_symlink() or not path.is_file():
        raise NotUpstream("it is no regular file")
    with at_rest(path) as file:
        before = _stamps(path)
        with _readable(path, file) as connection:
            yield UpstreamReader(connection)
        if _stamps(path) != before:
            raise UpstreamBusy(f"{path} was written while it was read")


@contextmanager
def at_rest(path: Path) -> Iterator[IO[bytes]]:
    """Keep writers of a rollback journal away, and yield the open file; raise UpstreamBusy.

    SQLite's own bytes: whoever writes has PENDING and RESERVED alone, so that sharing them waits
    for nobody and lets nobody begin. The kernel forgets the lock with any handle of this process on
    the file that is closed: nothing else may open it within. A write-ahead log knows no such
    moment; it is compared before and after.
    """
    with path.open("rb") as file:
        _share_lock(file, path)
        yield file


def _share_lock(file: IO[bytes], path: Path) -> None:
    if os.name == "nt":  # there a file that is open elsewhere cannot be renamed
        return
    import fcntl

    for attempt in range(_TRIES):
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 2, _PENDING_BYTE)
            return
        except OSError as error:
            if not isinstance(error, (BlockingIOError, PermissionError)):
                return  # a file system without locks
            if attempt == _TRIES - 1:
                raise UpstreamBusy(f"another process is writing {path}") from error
            time.sleep(0.2)


_PENDING_BYTE = 0x40000000  # RESERVED is the next


def is_open_elsewhere(path: Path) -> bool:
    """Tell whether another process has the store open, as far as its locks say so."""
    if os.name == "nt":
        return False
    import fcntl

    try:
        with path.open("rb+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, _PENDING_BYTE + 2)
    except (BlockingIOError, PermissionError):
        return os.access(path, os.W_OK)
    except OSError:
        return False
    return False


@contextmanager
def _readable(path: Path, file: IO[bytes]) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the store, or to a copy that its journal and log were played into."""
    if not any(_size(path, suffix) for suffix in ("-wal", "-journal")):
        with closing(sqlite3.connect(f"{read_only_uri(str(path))}&immutable=1", uri=True)) as found:
            yield _guarded(found)
        return
    with tempfile.TemporaryDirectory(prefix="agentlas-memory-") as folder:  # for the owner alone
        copy = _copy(path, file, Path(folder))
        with closing(sqlite3.connect(copy)) as found:
            yield _guarded(found)


def _guarded(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    if hasattr(connection, "setlimit"):  # since Python 3.11
        connection.setlimit(_LENGTH, _LARGEST_VALUE)
    # The first lets a file be read that is shorter than it says; nothing can be written anyway.
    settings = ("writable_schema=1", "trusted_schema=0", "query_only=1", "cell_size_check=1")
    for pragma in settings:
        with contextlib.suppress(sqlite3.DatabaseError):  # what is damaged says so when it is read
            connection.execute(f"PRAGMA {pragma}")
    return connection


def _copy(path: Path, file: IO[bytes], folder: Path) -> Path:
    """Copy the store, its log and its journal as they stood at one moment."""
    copy = folder / "store.sqlite"
    for _ in range(_TRIES):
        before = _stamps(path)
        file.seek(0)
        with copy.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
        for suffix in ("-wal", "-journal"):
            if _size(path, suffix):
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}", follow_symlinks=False)
        if _stamps(path) == before:
            return copy
        time.sleep(0.2)
    raise UpstreamBusy(f"another process is writing {path}")


def _size(path: Path, suffix: str) -> int:
    try:
        info = Path(f"{path}{suffix}").lstat()
    except FileNotFoundError:
        return 0
    if info.st_mode & 0o170000 != 0o100000:
        raise NotUpstream(f"{path}{suffix} is no regular file")
    return info.st_size


def _stamps(path: Path) -> list[tuple[int, int, int] | None]:
    return [_stamp(Path(f"{path}{suffix}")) for suffix in ("", "-wal", "-journal")]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        info = path.stat()
    except FileNotFoundError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns
