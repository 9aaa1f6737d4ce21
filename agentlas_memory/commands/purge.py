"""`uninstall --purge`: what we keep on this machine, shown, asked about and removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from agentlas_memory.commands.errors import REFUSED, UserError
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
_TAKEN_OVER = "ontology-runtime.upstream."  # made by nobody here
_YOURS = ("ontology-inbox", "memory.toml", "routing-card.json", "hooks.yaml")


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
    for one in found:
        say(f"  {one.path} ({one.size / 1024:,.0f} KiB): {one.what}")
    for path in _kept(roots):
        say(f"  kept: {path}")
    if dry_run or not found:
        return
    if not asked and not _said_yes():
        raise UserError("Nothing was purged: nobody said yes.", kept="", code=REFUSED)
    # The home last, and in it last of all what tells of the projects: a second run must find them.
    _remove(in_projects)
    unlink_program(place)
    for root in roots:
        _remove_if_empty(root / ".agentlas")
    _remove(sorted(in_home, key=lambda one: one.path.name == TRUSTED_FILE))
    _remove_if_empty(place.data_home)


def _remove(found: Iterable[Found]) -> None:
    for one in found:
        if one.path.is_dir() and not one.path.is_symlink():
            shutil.rmtree(one.path)
        else:
            one.path.unlink(missing_ok=True)


def _said_yes() -> bool:
    try:
        return click.confirm("Remove all of that?", err=True)
    except click.Abort:  # there is nobody to ask
        return False


def _in_projects(roots: list[Path]) -> Iterator[Found]:
    for root in roots:
        folder = (root / DATABASE).parent
        for path in sorted(folder.glob(_INDEX)):
            if not path.name.startswith(_TAKEN_OVER) and not is_upstream(str(path)):
                yield Found(path, _size(path), "a project's index, made from its files")
        ignored = folder / _GITIGNORE
        if ignored.is_file() and not any(_kept([root])):
            yield Found(ignored, _size(ignored), "what git was not to see of it")


def _on_path(place: Place) -> Iterator[Found]:
    from agentlas_memory.installer.runtimes.program import linked_program

    link = linked_program(place)
    if link is not None:
        yield Found(link, 0, "the command, as a link")


def _in_home(place: Place) -> Iterator[Found]:
    words = {
        "networking": "what agents learned: there is no other copy",
        "state": "receipts, delivery marks, logs",
        "backups": "copies of host files from before they were changed",
        "trusted.json": "which projects you said yes to",
        "settings.json": "your settings",
        "runtime": "installed versions",
        "release-key.pub": "the key that releases are checked by",
        "venv": "the environment that this program runs in",
        "marketplace": "the plugin that Claude Code and Codex were given",
    }
    if place.data_home.is_dir():
        for path in sorted(place.data_home.iterdir()):
            yield Found(path, _size(path), words.get(path.name, "ours"))


def _kept(roots: list[Path]) -> Iterator[Path]:
    for root in roots:
        folder = root / ".agentlas"
        yield from (folder / name for name in _YOURS if (folder / name).exists())
        old = sorted(folder.glob("ontology-runtime*"))
        yield from (p for p in old if p.name.startswith(_TAKEN_OVER) or is_upstream(str(p)))


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
