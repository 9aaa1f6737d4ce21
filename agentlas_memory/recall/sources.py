"""What must not be recalled, however well it fits."""

from agentlas_memory.lean import read_file, sha256, system
from agentlas_memory.ontology.store import ChunkRow, Store

# Hosts load these themselves, live; a second, older copy would only contradict them.
POLICY_FILES = ("agent.md", "agents.md", "claude.md", "claude.local.md", "gemini.md")
# A host's own memory is loaded by that host too; anywhere else `MEMORY.md` is a document.
_HOST_FOLDERS = (".claude", ".codex", ".gemini", ".grok", ".opencode")
_LARGEST = 2 << 20  # files above are not indexed, so a longer one has changed


def is_policy_file(path: str) -> bool:
    """Tell whether a source is an instruction file that its host loads by itself."""
    folder, _, name = path.casefold().rpartition("/")
    if name == "memory.md":
        return any(part in _HOST_FOLDERS for part in folder.split("/"))
    return name in POLICY_FILES


def is_stale(row: ChunkRow, root: str, store: Store) -> bool:
    """Tell whether the file behind a chunk changed or vanished since it was indexed.

    Size and time decide; where they differ, the content does. A record without a file never is. A
    linked worktree is compared with its own files; notes alone stand where the store does.
    """
    if row.mtime_ns is None:
        return False
    name = row.path.removeprefix(".agentlas/")
    path = f"{root}/{row.path}" if name == row.path else f"{store.folder}/{name}"
    try:
        info = system.stat(path)
        if (info.st_size, info.st_mtime_ns) == (row.size, row.mtime_ns):
            return False
        return bool(sha256(read_file(path, _LARGEST + 1)).digest() != row.content_hash)
    except (OSError, ValueError):
        return True
