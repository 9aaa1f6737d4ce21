"""Reading a store: strictly read-only, bounded in time, and only a file whose tables are ours."""

from agentlas_memory.deadline import Deadline
from agentlas_memory.lean import WINDOWS, load_sqlite, read_file, sha256, system
from agentlas_memory.ontology.schema import PROJECT, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _sqlite3
    from collections.abc import Sequence
    from os import stat_result

_BUSY_SECONDS = 0.05  # a writer commits in a few milliseconds; longer than this is not our wait
_STEPS_BETWEEN_CHECKS = 4000  # about 0.1 ms of SQLite's virtual machine
# No text, blob or definition that is read here comes near; a crafted one would fill the memory.
_LARGEST_VALUE = 1 << 20  # bytes
_REGULAR = 0o100000
_LIMITS = (0, 1)  # SQLITE_LIMIT_LENGTH, SQLITE_LIMIT_SQL_LENGTH
_MOST_FACTS = 1000  # rows of `meta`: there are some twenty


class StoreUnusable(Exception):
    """The store cannot be read; the text says why."""


_CHUNK_FIELDS = (
    "chunk_id",
    "heading",
    "start_line",
    "end_line",
    "text",
    "digest",
    "path",
    "title",
    "kind",
    "status",
    "scope",
    "size",
    "changed_ns",
    "content_hash",
    "commit_time",
)


class ChunkRow:
    """A chunk with what its source says of it; columns as in docs/store.md."""

    __slots__ = (*_CHUNK_FIELDS, "_store_id")

    if TYPE_CHECKING:
        chunk_id: int
        heading: str
        start_line: int
        end_line: int
        text: str
        digest: bytes
        path: str
        title: str
        kind: str
        status: str
        scope: str
        size: int | None
        changed_ns: int | None
        content_hash: bytes | None
        commit_time: int | None

    def __init__(self, row: "Sequence[object]", store_id: str) -> None:
        self._store_id = store_id
        for name, value in zip(_CHUNK_FIELDS, row):  # noqa: B905 - `strict` costs a check a row
            setattr(self, name, value)

    def intact(self) -> bool:
        """Tell whether the row is byte for byte what was indexed, and in this store."""
        return self.digest == chunk_digest(
            self._store_id,
            self.scope,
            self.path,
            self.heading,
            self.start_line,
            self.end_line,
            self.text,
        )


_SELECT_CHUNKS = """SELECT c.chunk_id, c.heading, c.start_line, c.end_line, c.text, c.digest,
 s.path, s.title, s.kind, CASE WHEN s.superseded THEN 'superseded' ELSE s.status END, s.scope,
 s.size, s.changed_ns, s.content_hash, s.commit_time
 FROM chunks c JOIN sources s USING (source_id) """


# What decision records call the part that decides (MADR, Nygard, people), and what sounds like it.
_DECIDING = ("decision outcome", "decision", "the decision", "what we decided", "решение")
_NOT_DECIDING = ("driver", "maker", "decider", "log")
_SHORT = 40  # characters: `Status: accepted` says nothing
# Orders the chunks `d` of a record: what decides, then what says something, then as they stand.
DECISION_FIRST = (
    "CASE "
    + " ".join(
        f"WHEN lower(d.heading) LIKE '%{words}' OR d.heading LIKE '%{words.capitalize()}' THEN {n}"
        for n, words in enumerate(_DECIDING)
    )
    + f" ELSE 9 END, length(d.text) < {_SHORT}, d.chunk_id"
)


def decides(heading: str) -> bool:
    """Tell whether a heading path ends in what decision records call their decision."""
    last = heading.rpartition(" > ")[2].lower()
    return last.startswith(_DECIDING) and not any(word in last for word in _NOT_DECIDING)


def chunk_digest(
    store_id: str, scope: str, path: str, heading: str, start_line: int, end_line: int, text: str
) -> bytes:
    """Return 16 bytes over all of a chunk that can be shown, to whom, and whose it is.

    Without the store's id, a page of another store's would pass for one of this store's.
    """
    shown = f"{store_id}\0{scope}\0{path}\0{heading}\0{start_line}\0{end_line}\0{text}"
    return sha256(shown.encode("utf-8", "replace")).digest()[:16]


class Store:
    """One snapshot of a store, open for one query."""

    def __init__(self, path: str, connection: "_sqlite3.Connection") -> None:
        self.path = path
        self.folder = path.rpartition("/")[0]
        self.connection = connection
        self.meta: dict[str, object] = dict(
            connection.execute(f"SELECT key, value FROM meta LIMIT {_MOST_FACTS}")
        )

    def text(self, key: str) -> str:
        """Return a text of the meta table, blank when it is missing or of another type."""
        value = self.meta.get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int:
        """Return a whole number of the meta table, 0 when it is missing or of another type."""
        value = self.meta.get(key)
        return value if isinstance(value, int) else 0

    def measure(self, key: str) -> float | None:
        """Return a measured value of the meta table, None when it is missing or no number."""
        value = self.meta.get(key)
        return value if isinstance(value, float) and -1e6 < value < 1e6 else None

    def rows(self, sql: str, values: "Sequence[object]" = ()) -> "list[tuple[object, ...]]":
        """Return all rows of a query."""
        return self.connection.execute(sql, values).fetchall()

    def chunks(self, chunk_ids: "Sequence[int]") -> dict[int, ChunkRow]:
        """Return the rows of these chunks by id; unknown ids are left out."""
        marks = ",".join("?" * len(chunk_ids))
        rows = self.rows(f"{_SELECT_CHUNKS} WHERE c.chunk_id IN ({marks})", chunk_ids)
        store_id = self.text("store_id")
        return {row[0]: ChunkRow(row, store_id) for row in rows}  # type: ignore[misc]

    def select_chunks(self, clause: str, values: "Sequence[object]" = ()) -> list[ChunkRow]:
        """Return chunks (`c`) of sources (`s`) by a WHERE or ORDER BY clause of ours."""
        store_id = self.text("store_id")
        return [ChunkRow(row, store_id) for row in self.rows(_SELECT_CHUNKS + clause, values)]

    def config_changed(self) -> bool:
        """Tell whether `memory.toml` is another one than the last whole `index` followed.

        What it newly calls private cannot be told from the rest before the next one.
        """
        known = self.text("config")
        return bool(known) and known != config_mark(self.folder)

    def close(self) -> None:
        """End the snapshot."""
        self.connection.close()


def config_mark(folder: str) -> str:
    """Return what names the content of the `memory.toml` in a store's folder."""
    try:
        return sha256(read_file(f"{folder}/memory.toml")).hexdigest()
    except FileNotFoundError:
        return "none"
    except OSError:
        return "unreadable"


def open_store(path: str, deadline: Deadline, schema: Schema = PROJECT) -> Store:
    """Open a store for reading, or raise StoreUnusable.

    `mode=ro` never writes: a hot journal that a kill left behind is an error here, and is healed by
    the next `index`. The settings keep a crafted file from running code or mapping memory.
    """
    check_header(path, schema)
    check_journals(path)
    sqlite = load_sqlite()
    try:
        connection = sqlite.connect(
            read_only_uri(path), timeout=_BUSY_SECONDS, isolation_level=None, uri=True
        )
        try:
            connection.set_progress_handler(deadline.passed, _STEPS_BETWEEN_CHECKS)
            if hasattr(connection, "setlimit"):  # since Python 3.11; the launcher has a limit, too
                for limit in _LIMITS:
                    connection.setlimit(limit, _LARGEST_VALUE)
            for pragma in ("query_only=1", "trusted_schema=0", "mmap_size=0"):
                connection.execute("PRAGMA " + pragma)
            connection.execute("BEGIN")
            check_tables(connection, schema)
            return Store(path, connection)
        except BaseException:
            connection.close()
            raise
    except sqlite.Error as error:
        raise StoreUnusable(f"{type(error).__name__}: {error}") from error


def check_header(path: str, schema: Schema = PROJECT) -> None:
    """Raise StoreUnusable unless the first page says that the file is a store of ours."""
    try:
        head = read_file(path, 100)
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        raise StoreUnusable(f"cannot be opened: {error}") from error
    if head[:16] != b"SQLite format 3\0":
        raise StoreUnusable("not a SQLite file")
    if int.from_bytes(head[68:72], "big") != schema.application_id:
        from agentlas_memory.ontology.foreign import UPSTREAM, is_upstream

        raise StoreUnusable(
            UPSTREAM if is_upstream(path) else f"not {schema.name} of agentlas-memory"
        )
    if head[18:20] != b"\1\1":  # reading a write-ahead log would make files in the project
        raise StoreUnusable("has another journal mode")


def check_journals(path: str) -> None:
    """Raise StoreUnusable for files beside the store that SQLite would wait for or write to.

    It opens a journal by its name, and a FIFO's other end may never come. A write-ahead log it
    reads whatever the header says, and makes an index of it in the project; an empty one is none.
    """
    journal, log = map(_stat_beside, (path + "-journal", path + "-wal"))
    if journal is not None and journal.st_mode & 0o170000 != _REGULAR:
        raise StoreUnusable("has a journal that is no file")
    if log is not None and (log.st_mode & 0o170000 != _REGULAR or log.st_size):
        raise StoreUnusable("has a write-ahead log")


def _stat_beside(path: str) -> "stat_result | None":
    try:
        return system.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnusable(f"cannot be opened: {error}") from error


def check_tables(connection: "_sqlite3.Connection", schema: Schema = PROJECT) -> None:
    """Raise StoreUnusable unless the tables are exactly the expected ones.

    A newer program's store passes when the tables this version reads are unchanged. Triggers and
    views are never ours. The lexical index may be missing: it needs a module of SQLite's.
    """
    found: dict[str, str] = {}
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        if kind not in ("table", "index"):
            raise StoreUnusable(f"holds a {kind}")
        found[name] = sql
    for name, sql in schema.tables.items():
        if found.get(name) != sql and (name != schema.optional or name in found):
            newer = connection.execute("PRAGMA user_version").fetchone()[0] > schema.version
            reason = "was written by a newer version" if newer else "has a table that is not ours"
            raise StoreUnusable(f"{reason}: {name}")


def read_only_uri(path: str) -> str:
    """Return a SQLite URI for reading a path with any bytes in it.

    `/` is written as its code as well: two of them at the start would name a host.
    """
    data = path.encode("utf-8", "surrogateescape")
    safe = "".join([chr(byte) if chr(byte) in _SAFE else f"%{byte:02x}" for byte in data])
    return f"file:{'%2f' if WINDOWS else ''}{safe}?mode=ro"


_SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
