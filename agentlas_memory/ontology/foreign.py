"""What stands in the place of a store and is not ours: whose it is, without touching it."""

from agentlas_memory.lean import load_sqlite, read_file
from agentlas_memory.ontology.store import read_only_uri

UPSTREAM = "a store of Agentlas OS"  # the reason a reader gives; `import-store` takes it over
UPSTREAM_TABLES = ("schema_migrations", "memory_candidates")
_SQLITE = b"SQLite format 3\0"
_MOST_LOGGED = 4 << 20  # of a write-ahead log; the tables are made first


def is_upstream(path: str) -> bool:
    """Tell whether a SQLite file, known not to be ours, is a store of Agentlas OS.

    It is read as a file that nobody can change: no lock is taken, no journal played back, nothing
    made beside it. Tables that a write-ahead log alone holds are looked for there by their names.
    """
    try:
        if read_file(path, 16) != _SQLITE:
            return False
        return _names_in_file(path) or _names_in_log(path)
    except (OSError, ValueError):
        return False


def _names_in_file(path: str) -> bool:
    sqlite = load_sqlite()
    marks = ",".join("?" * len(UPSTREAM_TABLES))
    sql = (
        f"SELECT count(DISTINCT name) FROM sqlite_schema WHERE type = 'table' AND name IN ({marks})"
    )
    try:
        connection = sqlite.connect(read_only_uri(path) + "&immutable=1", uri=True)
        try:
            connection.execute("PRAGMA trusted_schema=0")
            connection.execute("PRAGMA writable_schema=1")  # one cut short is recognised, too
            (found,) = connection.execute(sql, UPSTREAM_TABLES).fetchone()
            return bool(found == len(UPSTREAM_TABLES))
        finally:
            connection.close()
    except sqlite.Error:
        return False


def _names_in_log(path: str) -> bool:
    try:
        log = read_file(path + "-wal", _MOST_LOGGED)
    except OSError:
        return False
    return all(name.encode() in log for name in UPSTREAM_TABLES)


def holds_nothing(path: str) -> bool:
    """Tell whether a SQLite file is one page at most, with no write-ahead log: nobody's tables."""
    try:
        if read_file(path + "-wal", 1):
            return False
    except FileNotFoundError:
        pass
    head = read_file(path, 1 << 17)
    size = int.from_bytes(head[16:18], "big")
    return len(head) <= (1 << 16 if size == 1 else size)
