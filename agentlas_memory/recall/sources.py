"""What must not be recalled, however well it fits."""

from agentlas_memory.lean import WINDOWS, last_change, read_file, sha256, system
from agentlas_memory.ontology.store import ChunkRow, Store

_LARGEST = 2 << 20  # files above are not indexed, so a longer one has changed


CURRENT, MOVED, CHANGED, GONE = "", "moved", "changed", "gone"
STALE = (CHANGED, GONE)


def source_state(row: ChunkRow, root: str, store: Store) -> str:
    """Tell what became of a chunk in its file since it was indexed; one that moved gets new lines.

    Where the file says since then that it does not hold, all of it has changed.
    """
    state, text = file_state(row, root, store.folder)
    return CHANGED if state == MOVED and _fell_since(row, text, store) else state


def file_state(row: ChunkRow, root: str, store_folder: str) -> tuple[str, str]:
    """Return what became of a chunk in its file, and the file's text where that is another one.

    Size and time decide; where they differ, the content does: a chunk whose lines still stand in
    the file, together and unchanged, has moved. A record without a file is always current. A linked
    worktree is compared with its own files; notes alone stand where the store does.
    """
    if row.changed_ns is None:
        return CURRENT, ""
    path = row.path.removeprefix(".agentlas/")
    base = root if path == row.path else store_folder
    try:
        folder, name = open_parent(base, path)
        try:
            info = system.stat(name, dir_fd=folder, follow_symlinks=False)
            if (info.st_size, last_change(info)) == (row.size, row.changed_ns):
                return CURRENT, ""
            data = read_file(name, _LARGEST + 1, follow=False, folder=folder)
        finally:
            if folder is not None:
                system.close(folder)
    except (OSError, ValueError):
        return GONE, ""
    if sha256(data).digest() == row.content_hash:
        return CURRENT, ""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return MOVED if _find_again(row, text) else CHANGED, text


def _fell_since(row: ChunkRow, text: str, store: Store) -> bool:
    from agentlas_memory.recall.fallen import has_newly_fallen

    known: set[str] = set()
    for heading, body in store.rows(_KNOWN, [row.path]):
        known.update(str(heading).split(" > "), str(body).split("\n"))
    return has_newly_fallen(text, known)


def gone_citations(store: Store, chunk_ids: list[int], root: str) -> dict[int, list[str]]:
    """Return for each chunk the files it refers to that were there once and are not any more.

    A file that the branch of a linked worktree lacks has not vanished: it stands beside the store.
    """
    roots = dict.fromkeys((root, store.folder.removesuffix("/.agentlas")))
    marks = ",".join("?" * len(chunk_ids))
    cited = store.rows(
        "SELECT m.chunk_id, e.name FROM mentions m JOIN entities e USING (entity_id)"
        f" WHERE m.chunk_id IN ({marks}) AND m.relation = 'cites' ORDER BY e.name LIMIT {_CITED}",
        chunk_ids,
    )
    gone: dict[int, list[str]] = {}
    for chunk_id, name in cited:
        if isinstance(name, str) and not any(_stands(base, name) for base in roots):
            gone.setdefault(chunk_id, []).append(name)  # type: ignore[arg-type]
    return gone


_KNOWN = (
    "SELECT c.heading, c.text FROM chunks c JOIN sources USING (source_id)"
    " WHERE path = ? LIMIT 2000"
)
_CITED = 200  # of the few chunks that are shown


def _stands(root: str, name: str) -> bool:
    """Tell whether a path is in the project, as far as it may be looked at: only inside."""
    try:
        folder, leaf = open_parent(root, name)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    try:
        system.stat(leaf, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    finally:
        if folder is not None:
            system.close(folder)
    return True


def open_parent(base: str, path: str) -> tuple[int | None, str]:
    """Return a descriptor of the folder that holds a file below `base`, and the file's name.

    A crafted store may name any path, and what lies behind a link was never indexed: OSError for
    either. Each folder is opened from the one before it, so that none can be swapped for a link.
    """
    *folders, name = path.split("/")
    if not {"", ".", ".."}.isdisjoint((*folders, name)):
        raise OSError(f"not a path inside the project: {path}")
    if WINDOWS:
        if not {":", "\\"}.isdisjoint(path):
            raise OSError(f"not a path inside the project: {path}")
        return None, f"{base}/{path}"
    handle = system.open(base, _FOLDER)
    for part in folders:
        above = handle
        try:
            handle = system.open(part, _FOLDER | system.O_NOFOLLOW, dir_fd=above)
        finally:
            system.close(above)
    return handle, name


# To pass through a folder is enough: where there is O_PATH, it need not be readable.
_FOLDER = 0 if WINDOWS else system.O_DIRECTORY | system.O_CLOEXEC | getattr(system, "O_PATH", 0)


def _find_again(row: ChunkRow, text: str) -> bool:
    """Look for a chunk's lines in the changed file, and take over their numbers."""
    text = f"\n{text}\n"
    at = text.find(f"\n{row.text}\n")
    if at < 0 or text.find(f"\n{row.text}\n", at + 1) >= 0:
        return False  # gone, or no telling which of two it is
    if row.heading.rpartition(" > ")[2] not in text:
        return False  # under another heading it may mean something else
    moved = text.count("\n", 0, at) + 1 - row.start_line
    row.start_line += moved
    row.end_line += moved
    return True
