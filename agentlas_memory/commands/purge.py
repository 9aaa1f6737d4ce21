"""`uninstall --purge`: what we keep on this machine, shown, asked about and removed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentlas_memory.commands.errors import REFUSED, UserError, says_yes
from agentlas_memory.commands.output import say
from agentlas_memory.ontology.foreign import is_upstream
from agentlas_memory.private_json import read_private_json
from agentlas_memory.project import DATABASE
from agentlas_memory.trust import TRUSTED_FILE

if TYPE_CHECKING:
    from agentlas_memory.installer.surfaces import Place

# Made from other files, so it can be made again; notes, settings and cards are the user's.
_INDEX = "ontology-runtime.*"
_GITIGNORE = ".gitignore"
_TAKEN_OVER = ".upstream."  # in the name of what nobody here made
_YOURS = ("ontology-inbox", "memory.toml", "routing-card.json", "hooks.yaml")


# What of our own folder it is -> where it lies there.
_IN_HOME = {
    "what agents learned: there is no other copy": (
        "networking/hub-agents/*/memory/experience.*",
        "networking/hub-agents/*/memory/.experience.*.new",
        "networking/hub-agents/*/memory/ontology-runtime.lock",
    ),
    "receipts, delivery marks, logs": (
        "state/last",
        "state/delivery",
        "state/*.log*",
        "state/model-*.stamp",
    ),
    "what Grok was told": ("runtime-memory-context/grok",),
    "copies of host files from before they were changed": (
        "backups/[0-9]*-[0-9]*-*",
        "backups/.new",
    ),
    "the plugin that Claude Code and Codex were given": (
        "marketplace/plugins/agentlas-memory",
        "marketplace/.claude-plugin/marketplace.json",
        "marketplace/.agents/plugins/marketplace.json",
    ),
    "the key that releases are checked by": ("release-key.pub",),
    "your settings": ("settings.json", ".settings.json.new"),
    "what is where": (
        "install-ledger.json",
        ".install-ledger.json.new",
        "installer.lock",
        "ontology-runtime.lock",
    ),
    # Last of all: a second run must find the projects.
    "which projects you said yes to": (".trusted.json.new", TRUSTED_FILE),
}
# The folders that these lie in, the innermost first.
_FOLDERS = (
    *("networking/hub-agents/*/memory", "networking/hub-agents/*", "networking/hub-agents"),
    *("marketplace/plugins", "marketplace/.claude-plugin", "marketplace/.agents/plugins"),
    *("marketplace/.agents", "marketplace", "networking", "state", "backups", "runtime"),
    "runtime-memory-context",
)
_ENVIRONMENT = "venv"


class Found(NamedTuple):
    """A file or folder that would go, with its size in bytes and what it is."""

    path: Path
    size: int
    what: str


def purge_data(place: Place, *, dry_run: bool, asked: bool) -> None:
    """Show all that is ours on this machine, and remove it once the person said yes."""
    from agentlas_memory.installer.runtimes.program import unlink_program

    roots = _projects(place)
    in_projects, in_home = list(_in_projects(roots)), list(_in_home(place))
    found = [*in_projects, *_on_path(place), *in_home]
    _show(found, [*_kept(roots), *_strange(place, in_home)])
    if dry_run:
        return
    if found and not asked and not says_yes("Remove all of that?"):
        raise UserError(
            "Nothing was purged: nobody said yes.", next_step="--yes says so", code=REFUSED
        )
    # The home last, and in it last of all what tells of the projects: a second run must find them.
    _remove(in_projects)
    unlink_program(place)
    for root in roots:
        _remove_if_empty(root / ".agentlas")
    _remove(sorted(in_home, key=lambda one: one.path.name == TRUSTED_FILE))
    _remove_empty_folders(place)


def _remove_empty_folders(place: Place) -> None:
    """Remove what is empty now of our folders; a run that was killed may have emptied it before."""
    for pattern in _FOLDERS:
        for folder in place.data_home.glob(pattern):
            _remove_if_empty(folder)
    _remove_if_empty(place.data_home)


def _show(found: list[Found], kept: Iterable[Path]) -> None:
    """Tell what would go, things of one kind in one folder in a line, and what stays."""
    groups: dict[tuple[Path, str], list[Found]] = {}
    for one in found:
        groups.setdefault((one.path.parent, one.what), []).append(one)
    for (folder, what), ones in groups.items():
        place = ones[0].path if len(ones) == 1 else folder
        size = sum(one.size for one in ones) / 1024
        say(f"  {place} ({size:,.0f} KiB): {what}")
    for path in kept:
        say(f"  kept: {path}")


def _strange(place: Place, in_home: list[Found]) -> list[Path]:
    """Return what lies in our folder and is not ours."""
    if not place.data_home.is_dir():
        return []
    ours = {part for one in in_home for part in (one.path, *one.path.parents)}
    return [path for path in sorted(place.data_home.iterdir()) if path not in ours]


def _remove(found: Iterable[Found]) -> None:
    for one in found:
        if one.path.is_dir() and not one.path.is_symlink():
            shutil.rmtree(one.path)
        else:
            one.path.unlink(missing_ok=True)


def _in_projects(roots: list[Path]) -> Iterator[Found]:
    for root in roots:
        folder = (root / DATABASE).parent
        for path in sorted(folder.glob(_INDEX)):
            if _TAKEN_OVER not in path.name and not is_upstream(str(path)):
                yield Found(path, _size(path), "a project's index, made from its files")
        ignored = folder / _GITIGNORE
        if ignored.is_file() and not any(_kept([root])):
            yield Found(ignored, _size(ignored), "what git was not to see of it")


def _on_path(place: Place) -> Iterator[Found]:
    from agentlas_memory.installer.runtimes.program import linked_programs

    for link in linked_programs(place):
        yield Found(link, 0, "our programs, as links")


def _in_home(place: Place) -> Iterator[Found]:
    """Yield what of our folder is ours: a person may have named one that holds other things."""
    for what, patterns in _IN_HOME.items():
        for pattern in patterns:
            for path in sorted(place.data_home.glob(pattern)):
                if _TAKEN_OVER not in path.name and not is_upstream(str(path)):
                    yield Found(path, _size(path), what)
    yield from _versions(place)
    if place.data_home in Path(sys.prefix).parents and Path(sys.prefix).name == _ENVIRONMENT:
        environment = Path(sys.prefix)
        yield Found(environment, _size(environment), "the environment that this program runs in")


def _versions(place: Place) -> Iterator[Found]:
    from agentlas_memory.installer.runtimes.layout import HISTORY, LOCK, Runtimes
    from agentlas_memory.installer.runtimes.pointer import CURRENT, read_current

    runtimes = Runtimes(place.data_home)
    for path in dict.fromkeys([*(one.folder for one in runtimes.all()), *runtimes.leftovers()]):
        yield Found(path, _size(path), "an installed version")
    names = [HISTORY, LOCK]
    if read_current(runtimes.folder):
        names.append(CURRENT)
    for path in (runtimes.folder / name for name in names):
        if os.path.lexists(path):
            yield Found(path, _size(path), "which version serves")


def _kept(roots: list[Path]) -> Iterator[Path]:
    for root in roots:
        folder = root / ".agentlas"
        yield from (folder / name for name in _YOURS if (folder / name).exists())
        old = sorted(folder.glob("ontology-runtime*"))
        yield from (p for p in old if _TAKEN_OVER in p.name or is_upstream(str(p)))


def _projects(place: Place) -> list[Path]:
    """Return the folders that this machine's user said yes to, as far as they are there."""
    entries = read_private_json(place.data_home / TRUSTED_FILE).get("projects", [])
    paths = (entry.get("path") for entry in entries if isinstance(entry, dict))
    roots = [Path(path) for path in paths if isinstance(path, str) and path.startswith("/")]
    return [root for root in roots if not (root / ".agentlas").is_symlink() and root.is_dir()]


def _size(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(one.lstat().st_size for one in path.rglob("*"))


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
