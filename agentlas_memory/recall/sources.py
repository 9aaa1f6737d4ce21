"""What must not be recalled, however well it fits."""

from agentlas_memory.lean import last_change, read_file, sha256, system
from agentlas_memory.ontology.store import ChunkRow, Store

_LARGEST = 2 << 20  # files above are not indexed, so a longer one has changed


CURRENT, MOVED, CHANGED, GONE = "", "moved", "changed", "gone"
STALE = (CHANGED, GONE)


def source_state(row: ChunkRow, root: str, store: Store) -> str:
    """Tell what became of a chunk in its file since it was indexed; one that moved gets new lines.

    Size and time decide; where they differ, the content does: a chunk whose lines still stand in
    the file, together and unchanged, has moved. A record without a file is always current. A linked
    worktree is compared with its own files; notes alone stand where the store does.
    """
    if row.changed_ns is None:
        return CURRENT
    name = row.path.removeprefix(".agentlas/")
    path = f"{root}/{row.path}" if name == row.path else f"{store.folder}/{name}"
    try:
        info = system.stat(path)
        if (info.st_size, last_change(info)) == (row.size, row.changed_ns):
            return CURRENT
        data = read_file(path, _LARGEST + 1)
    except (OSError, ValueError):
        return GONE
    if sha256(data).digest() == row.content_hash:
        return CURRENT
    return MOVED if _find_again(row, data) else CHANGED


def gone_citations(store: Store, chunk_ids: list[int], root: str) -> dict[int, list[str]]:
    """Return for each chunk the files it refers to that were there once and are not any more."""
    marks = ",".join("?" * len(chunk_ids))
    cited = store.rows(
        "SELECT m.chunk_id, e.name FROM mentions m JOIN entities e USING (entity_id)"
        f" WHERE m.chunk_id IN ({marks}) AND m.relation = 'cites' ORDER BY e.name LIMIT {_CITED}",
        chunk_ids,
    )
    gone: dict[int, list[str]] = {}
    for chunk_id, name in cited:
        if isinstance(name, str) and not _stands(root, name):
            gone.setdefault(chunk_id, []).append(name)  # type: ignore[arg-type]
    return gone


_CITED = 200  # of the few chunks that are shown


def _stands(root: str, name: str) -> bool:
    """Tell whether a path is in the project, as far as it may be looked at: only inside."""
    if name.startswith("/") or ".." in name.split("/"):
        return True
    try:
        system.stat(f"{root}/{name}")
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return True


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
