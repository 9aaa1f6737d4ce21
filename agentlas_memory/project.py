"""Which project a folder belongs to: the nearest ancestor with a store or an agent of its own."""

from agentlas_memory.lean import WINDOWS, identity, read_file, system

DATABASE = ".agentlas/ontology-runtime.sqlite"
ROUTING_CARD = ".agentlas/routing-card.json"

# Hosts load these themselves, live: a second, older copy would only contradict them, and as
# evidence they would speak with the host's voice.
_POLICY_FILES = ("agent.md", "agents.md", "claude.md", "claude.local.md", "gemini.md")
# A host's own memory is loaded by that host too; anywhere else `MEMORY.md` is a document.
_HOST_FOLDERS = (
    ".claude", ".codex", ".gemini", ".grok", ".opencode", ".qwen", ".copilot", ".cursor", ".kiro",
)  # fmt: skip

_FORMAT = 0o170000
_REGULAR = 0o100000
_FOLDER = 0o040000


class Project:
    """A project root and the store that answers for it (a linked worktree has its main one's)."""

    __slots__ = ("root", "store_root")

    def __init__(self, root: str, store_root: str) -> None:
        self.root = root
        self.store_root = store_root

    @property
    def database(self) -> str:
        """Path of the store's file."""
        return f"{self.store_root}/{DATABASE}"

    @property
    def has_store(self) -> bool:
        """Whether there is one: a routing card alone makes a project too."""
        return has_marker(self.store_root)


def is_policy_file(path: str) -> bool:
    """Tell whether a file of a project, by its relative path, is one that a host loads itself."""
    folder, _, name = path.casefold().rpartition("/")
    if name == "memory.md":
        return any(part in _HOST_FOLDERS for part in folder.split("/"))
    return name in _POLICY_FILES


def find_project(
    cwd: str, home: str, share_worktrees: bool = True, data_home: str = ""
) -> Project | None:
    """Return the project that `cwd` lies in, or None; a card is one that `data_home` verifies.

    Only ancestors are looked at. The home directory and the file-system root are never a project:
    a store there would speak for everything below it.
    """
    folder = normal_path(cwd)
    home_identity = identity(home) if home else None
    while not _is_root(folder):
        if not _is_home(folder, home_identity):
            if has_marker(folder) or has_agent(folder, data_home):
                return Project(folder, folder)
            main = main_worktree(folder)
            if main and not share_worktrees:
                return None  # it may lie inside the main worktree: nothing above is its own
            if (
                main
                and (has_marker(main) or has_agent(main, data_home))
                and not _is_home(main, home_identity)
            ):
                return Project(folder, main)
        folder = folder.rpartition("/")[0]
    return None


def _is_root(folder: str) -> bool:
    return folder in ("", "/") or (WINDOWS and folder[1:] == ":")


def _is_home(folder: str, home_identity: tuple[int, int] | None) -> bool:
    return home_identity is not None and identity(folder) == home_identity


def has_marker(folder: str) -> bool:
    """Tell whether a regular store file, reached through no symbolic link of ours, is here."""
    return _is_ours(folder, DATABASE)


def has_agent(folder: str, data_home: str) -> bool:
    """Tell whether a routing card here proves an agent whose experience may be recalled."""
    if not data_home or not has_card(folder):
        return False
    from agentlas_memory.routing_card import CardRejected, verify_card
    from agentlas_memory.trust import read_trust

    trust = read_trust(data_home, folder)
    try:
        return trust is not None and bool(verify_card(folder, data_home, trust.card).slug)
    except CardRejected:
        return False


def has_card(folder: str) -> bool:
    """Tell whether a regular routing card, reached through no symbolic link of ours, is here."""
    return _is_ours(folder, ROUTING_CARD)


def _is_ours(folder: str, name: str) -> bool:
    return (
        _mode(f"{folder}/{name}") & _FORMAT == _REGULAR
        and _mode(f"{folder}/.agentlas") & _FORMAT == _FOLDER
    )


def main_worktree(folder: str) -> str | None:
    """Return the main worktree of a linked git worktree, if the main repository agrees.

    `folder/.git` of a linked worktree names `<main>/.git/worktrees/<name>`, whose `gitdir` file
    must name `folder/.git` in turn: a clone cannot claim another repository's memory by itself.
    """
    if _mode(folder + "/.git") & _FORMAT != _REGULAR:
        return None
    try:
        pointer = _line(folder + "/.git")
        if not pointer.startswith("gitdir:"):
            return None
        git_dir = normal_path(pointer[7:].strip(), folder)
        if identity(normal_path(_line(git_dir + "/gitdir"), git_dir)) != identity(folder + "/.git"):
            return None
    except (OSError, ValueError):
        return None
    main_git, _, _ = git_dir.rpartition("/worktrees/")
    return main_git[: -len("/.git")] if main_git.endswith("/.git") else None


def normal_path(path: str, base: str = "") -> str:
    """Return an absolute path with `/` between parts and without `.` and `..`.

    Links are not resolved: identity is compared by device and inode, which needs no resolving.
    """
    if WINDOWS:
        path, base = path.replace("\\", "/"), base.replace("\\", "/")
    if not path.startswith("/") and path[1:2] != ":":
        path = f"{base or system.getcwd()}/{path}"
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return ("" if WINDOWS else "/") + "/".join(parts)


def _mode(path: str) -> int:
    try:
        return system.lstat(path).st_mode
    except (OSError, ValueError):  # a NUL in the path is a ValueError
        return 0


def _line(path: str) -> str:
    return read_file(path, 4096).decode("utf-8", "surrogateescape").strip()
