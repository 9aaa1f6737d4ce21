"""Which project a command is about, and whether its store may be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentlas_memory.commands.errors import REFUSED, WRONG_USE, UserError, command_line
from agentlas_memory.commands.output import say
from agentlas_memory.deadline import Deadline
from agentlas_memory.home import data_home, read_settings, user_home
from agentlas_memory.lean import identity
from agentlas_memory.ontology.foreign import UPSTREAM
from agentlas_memory.ontology.store import Store, StoreUnusable, check_header, open_store
from agentlas_memory.project import ROUTING_CARD, Project, find_project, normal_path
from agentlas_memory.trust import read_trust

CONFIG = ".agentlas/memory.toml"
_PATIENCE_MS = 60_000.0


def find(named: str | None) -> Project | None:
    """Return the project named, or the nearest one above the current folder; None without one.

    A fresh clone of a team's project has `memory.toml` and no store yet: it is a project too.
    """
    start = normal_path(named or ".")
    home = user_home()
    share = settings().get("worktree") != "isolated"
    stored = find_project(start, home, share, data_home())
    configured = _nearest(lambda folder: Path(folder, CONFIG).is_file(), start, home)
    if stored is None or len(configured) > len(stored.root):
        stored = Project(configured, configured) if configured else None
    # A folder that was named is meant: its parent's memory is another project's.
    return stored if stored is None or not named or stored.root == start else None


def require(named: str | None) -> Project:
    """Return the project, or say how to make one."""
    project = find(named)
    if project is None:
        where = normal_path(named or ".")
        raise UserError(
            f"There is no memory in {where}" + (" or above it." if not named else "."),
            next_step=command_line("init", where),
            code=WRONG_USE,
        )
    return project


def require_card(named: str | None) -> Project:
    """Return the project, or a nearer folder with a routing card, whatever the card proves."""
    start = normal_path(named or ".")
    carded = _nearest(_has_some_card, start, user_home())
    project = find(named)
    if carded and (project is None or len(carded) > len(project.root)):
        return Project(carded, carded)
    return project or require(named)


def _has_some_card(folder: str) -> bool:
    return os.path.lexists(f"{folder}/{ROUTING_CARD}")  # `card check` tells what is wrong with it


def open_project_store(project: Project, patience_ms: float = _PATIENCE_MS) -> Store:
    """Return the project's store, open for reading."""
    if not os.path.lexists(project.database):
        raise UserError(
            f"{project.store_root} has no store yet.",
            next_step=command_line("index", project.store_root),
            code=WRONG_USE,
        )
    refuse_upstream(project)
    return open_store(project.database, Deadline(patience_ms))


def read_store_id(project: Project) -> str:
    """Return the id in the store, blank when it cannot be read now."""
    try:
        store = open_store(project.database, Deadline(_PATIENCE_MS))
    except StoreUnusable:
        return ""
    try:
        return store.text("store_id")
    finally:
        store.close()


def settings() -> dict[str, object]:
    """Return the user's settings, none without a home."""
    home = data_home()
    return read_settings(home) if home else {}


def require_home() -> str:
    """Return the folder of the user's own data, where trust is kept."""
    home = data_home()
    if not home:
        raise UserError(
            "No home directory is known, so it cannot be kept which stores you trust.",
            next_step="set HOME, or AGENTLAS_HOME to an absolute path",
        )
    return home


@contextmanager
def writing(project: Project) -> Iterator[None]:
    """Let a trusted store be written, and trust it again if it had to be made anew."""
    prepare_writing(project)
    before, emptied = _damaged_copies(project), not Path(project.database).stat().st_size
    try:
        yield
    finally:
        aside = _damaged_copies(project) - before
        for name in sorted(aside):
            say(f"The store was damaged: it was moved to {name} and built anew.")
        if aside or emptied:
            _trust(project)


def prepare_writing(project: Project) -> None:
    """Make the store where there is none; refuse one that the user has not said yes to."""
    if os.path.lexists(project.database):
        refuse_untrusted(project)
    else:
        create_store(project)
    _hide_from_git(project)


def _hide_from_git(project: Project) -> None:
    """See that git ignores the store and private notes, also where the file of `init` is gone."""
    from agentlas_memory.commands.init import make_gitignore

    with suppress(OSError, UnicodeDecodeError):  # a folder that cannot be written is told elsewhere
        make_gitignore(project.store_root)


def create_store(project: Project) -> None:
    """Make an empty store and trust it."""
    from agentlas_memory.ontology.database import writable_database
    from agentlas_memory.trust_file import check_trust_file

    check_trust_file(require_home())  # first: a store that cannot be trusted would stay silent
    with writable_database(Path(project.database)):
        pass
    _trust(project)


def refuse_untrusted(project: Project) -> None:
    """Raise UserError unless the user said yes to the store: its rows may be a stranger's."""
    refuse_upstream(project)
    trust = read_trust(require_home(), project.store_root)
    store_id = read_store_id(project)
    # A store that cannot be read is healed, or made anew; a link is written wherever it leads.
    known = trust is not None and store_id in ("", trust.store_id)
    if known and not Path(project.database).is_symlink():
        return
    from agentlas_memory.trust_file import read_trust_file

    read_trust_file(require_home())  # a broken one is to be repaired, and trust would not help
    name = project.store_root
    yes = f"{command_line('trust', name)}, or " if store_id else ""
    raise UserError(
        f"The store in {name} is not trusted on this machine."
        + ("" if store_id else " It cannot be read now."),
        next_step=f"{yes}move {project.database} away and run {command_line('index', name)}",
        code=REFUSED,
    )


def refuse_upstream(project: Project) -> None:
    """Raise UserError where a store of Agentlas OS is in the store's place."""
    try:
        check_header(project.database)
    except StoreUnusable as error:
        if str(error) == UPSTREAM:
            raise UserError(
                f"{project.database} is {UPSTREAM}.",
                kept="It was left as it is.",
                next_step=command_line("import-store", project.store_root),
                code=REFUSED,
            ) from error


def _trust(project: Project) -> None:
    from agentlas_memory.trust_file import add_trust  # `tempfile` would cost every `index` 8 ms

    add_trust(require_home(), project.store_root, read_store_id(project))


def _nearest(is_here: Callable[[str], bool], start: str, home: str) -> str:
    """Return the nearest folder above where something is, blank without one."""
    home_identity = identity(home) if home else None
    folder = start
    while folder:
        linked = Path(folder, ".agentlas").is_symlink()  # leads out of the project
        if is_here(folder) and not linked and identity(folder) != home_identity:
            return folder
        folder = folder.rpartition("/")[0]
    return ""


def _damaged_copies(project: Project) -> set[str]:
    copies = Path(project.database).parent.glob("*.damaged-*")
    return {str(path) for path in copies if not path.name.endswith("-journal")}
