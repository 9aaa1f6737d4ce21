"""The vectors once more, in a file the hook can map.

Format `AGVEC001`, little endian: magic (8 bytes), store id (16 bytes), number of
vectors (u32), dimensions (u32), embedding identity (32 bytes, padded), then for each scope of
`schema.SCOPES` the first position and the number of its vectors (u32 each); zeros up to byte 128;
chunk ids (u32 each, ascending within a scope); zeros up to a multiple of 64; vectors (int8).

A sidecar never changes. A new one has the next generation in its name, is written aside and
renamed; the transaction that names it in `meta` makes it current, and the old one goes afterwards.
"""

from sys import byteorder, maxsize

from agentlas_memory.lean import system
from agentlas_memory.ontology.schema import SCOPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path

MAGIC = b"AGVEC001"
PREFIX = "ontology-runtime.vec-"
_HEADER = 128


class SidecarRejected(Exception):
    """The sidecar is missing or is not the one the store names."""


def sidecar_path(folder: str, name: str) -> str:
    """Return where a store's sidecar lies; a crafted store may name any file."""
    if not name.startswith(PREFIX) or "/" in name:
        raise SidecarRejected("has a name that is not a sidecar's")
    return f"{folder}/{name}"


class Sidecar:
    """A mapped sidecar: chunk ids and vectors by position, a range of positions a scope."""

    __slots__ = ("_map", "chunk_ids", "dimensions", "embedding", "ranges", "vectors")

    def __init__(self, path: str, store_id: str, largest: int = maxsize) -> None:
        """Map a file of at most `largest` bytes; raise SidecarRejected for any other."""
        self._map = _map_file(path, largest)
        head = memoryview(self._map)[:_HEADER]
        if byteorder != "little":
            raise SidecarRejected("cannot be mapped on this machine")
        if bytes(head[:8]) != MAGIC or bytes(head[8:24]).hex() != store_id:
            raise SidecarRejected("not of this store")
        numbers = head.cast("I")
        count, self.dimensions = numbers[6], numbers[7]
        if len(head) < _HEADER or len(self._map) != _size(count, self.dimensions):
            raise SidecarRejected("has the wrong size")
        self.embedding = bytes(head[32:64]).rstrip(b"\0").decode("ascii", "replace")
        self.ranges = {
            scope: (numbers[16 + 2 * at], numbers[16 + 2 * at] + numbers[17 + 2 * at])
            for at, scope in enumerate(SCOPES)
        }
        if any(end > count or start > end for start, end in self.ranges.values()):
            raise SidecarRejected("has a scope outside the file")
        whole = memoryview(self._map)
        self.chunk_ids = whole[_HEADER : _HEADER + 4 * count].cast("I")
        start = _vectors_at(count)
        self.vectors = whole[start : start + count * self.dimensions]

    def checksum(self) -> int:
        """Return the CRC-32 of the whole file; `index` asks (8 ms for 100,000 vectors)."""
        from zlib import crc32

        return crc32(self._map)

    def position(self, chunk_id: int, scopes: tuple[str, ...]) -> int | None:
        """Return where a chunk's vector stands, None when it is not in these scopes."""
        from _bisect import bisect_left

        for start, end in map(self.ranges.__getitem__, scopes):
            at = bisect_left(self.chunk_ids, chunk_id, start, end)
            if at < end and self.chunk_ids[at] == chunk_id:
                return at
        return None


# Not through a link, and not waiting for the other end of a FIFO.
_FLAGS = system.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(system, _name, 0)


def _map_file(path: str, largest: int) -> "memoryview":
    import mmap

    try:
        handle = system.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        raise SidecarRejected(f"cannot be opened: {error}") from error
    try:
        info = system.fstat(handle)
        if info.st_mode & 0o170000 != 0o100000 or not _HEADER <= info.st_size <= largest:
            raise SidecarRejected("is no file of a sidecar's size")
        if not hasattr(mmap, "MAP_POPULATE"):
            return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)  # type: ignore[return-value]
        # All of it is read: mapped in one go, page by page it takes a tenth longer.
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        return mmap.mmap(handle, 0, flags=flags, prot=mmap.PROT_READ)  # type: ignore[return-value]
    except (OSError, ValueError) as error:
        raise SidecarRejected(f"cannot be mapped: {error}") from error
    finally:
        system.close(handle)


def _vectors_at(count: int) -> int:
    return (_HEADER + 4 * count + 63) // 64 * 64


def _size(count: int, dimensions: int) -> int:
    return _vectors_at(count) + count * dimensions


def write_sidecar(connection: "sqlite3.Connection", folder: "Path") -> str:
    """Write the next generation from the segments, make it current, and return its name.

    Called under the writer lock, outside a transaction.
    """
    from zlib import crc32

    row = connection.execute("SELECT value FROM meta WHERE key = 'sidecar'").fetchone()
    generation = int(row[0].removeprefix(PREFIX)) + 1 if row and row[0] else 1
    name = f"{PREFIX}{generation}"
    aside = folder / f"{name}.new"
    checksum = 0
    with aside.open("wb") as file:
        for part in _parts(connection):
            file.write(part)
            checksum = crc32(part, checksum)
        file.flush()
        system.fsync(file.fileno())
    aside.replace(folder / name)
    connection.execute("BEGIN IMMEDIATE")
    facts = {"sidecar": name, "sidecar_crc32": checksum, "sidecar_stale": 0}
    for key, value in facts.items():
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
    connection.execute("COMMIT")
    for old in folder.glob(PREFIX + "*"):
        if old.name != name:
            old.unlink(missing_ok=True)
    return name


def _parts(connection: "sqlite3.Connection") -> "Iterable[bytes]":
    """Yield the sidecar's bytes a segment at a time, so that memory stays flat."""
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    rows = connection.execute(
        "SELECT scope, segment_id, length(chunk_ids) / 4, length(vectors)"
        " FROM vector_segments WHERE embedding = ?",
        (meta["embedding"],),
    ).fetchall()
    rows.sort(key=lambda row: (SCOPES.index(row[0]), row[1]))
    count = sum(row[2] for row in rows)
    dimensions = rows[0][3] // rows[0][2] if rows else 0
    ranges, start = b"", 0
    for scope in SCOPES:
        size = sum(row[2] for row in rows if row[0] == scope)
        ranges += _u32(start) + _u32(size)
        start += size
    head = MAGIC + bytes.fromhex(meta["store_id"]) + _u32(count) + _u32(dimensions)
    embedding = meta["embedding"].encode("ascii").ljust(32, b"\0")
    yield (head + embedding + ranges).ljust(_HEADER, b"\0")
    for column in ("chunk_ids", "vectors"):
        for row in rows:
            sql = f"SELECT {column} FROM vector_segments WHERE segment_id = ?"
            yield connection.execute(sql, (row[1],)).fetchone()[0]
        if column == "chunk_ids":
            yield bytes(_vectors_at(count) - _HEADER - 4 * count)


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "little")
