"""What must not be recalled, however well it fits."""

from agentlas_memory.lean import last_change, read_file, sha256, system
from agentlas_memory.ontology.store import ChunkRow, Store

_LARGEST = 2 << 20  # files above are not indexed, so a longer one has changed


def is_stale(row: ChunkRow, root: str, store: Store) -> bool:
    """Tell whether a chunk is no longer what its file says; one that moved gets its new lines.

    Size and time decide; where they differ, the content does: a chunk whose lines still stand in
    the file, together and unchanged, is current. A record without a file never is stale. A linked
    worktree is compared with its own files; notes alone stand where the store does.
    """
    if row.changed_ns is None:
        return False
    name = row.path.removeprefix(".agentlas/")
    path = f"{root}/{row.path}" if name == row.path else f"{store.folder}/{name}"
    try:
        info = system.stat(path)
        if (info.st_size, last_change(info)) == (row.size, row.changed_ns):
            return False
        data = read_file(path, _LARGEST + 1)
    except (OSError, ValueError):
        return True
    return sha256(data).digest() != row.content_hash and not _find_again(row, data)


def _find_again(row: ChunkRow, data: bytes) -> bool:
    """Look for a chunk's lines in the changed file, and take over their numbers."""
    text = "\n" + data.decode("utf-8", "replace").replace("\r\n", "\n") + "\n"
    at = text.find(f"\n{row.text}\n")
    if at < 0 or text.find(f"\n{row.text}\n", at + 1) >= 0:
        return False  # gone, or no telling which of two it is
    if row.heading.rpartition(" > ")[2] not in text:
        return False  # under another heading it may mean something else
    moved = text.count("\n", 0, at) + 1 - row.start_line
    row.start_line += moved
    row.end_line += moved
    return True
