"""`init`: give a project a memory of its own."""

from __future__ import annotations

import os
from pathlib import Path

import click

from agentlas_memory.commands.errors import REFUSED, UserError
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, say
from agentlas_memory.commands.projects import CONFIG, create_store, refuse_untrusted, require_home
from agentlas_memory.home import user_home
from agentlas_memory.lean import identity, read_file
from agentlas_memory.ontology.documents import IMPORTED_SUFFIX, IMPORTS, PRIVATE_SUFFIX
from agentlas_memory.project import DATABASE, Project, normal_path
from agentlas_memory.trust_file import check_trust_file

GITIGNORE = ".agentlas/.gitignore"
_IGNORED = (
    "ontology-runtime*",
    f"ontology-inbox/*{PRIVATE_SUFFIX}",
    f"ontology-inbox/*{IMPORTED_SUFFIX}",
    IMPORTS.removeprefix(".agentlas/"),
)
_IGNORE_TEXT = (
    "# The store is made anew by `agentlas-memory index`. memory.toml may be committed, and notes\n"
    "# that are neither private nor imported.\n"
)


@click.command()
@common_options
def init(named: str | None, as_json: bool) -> None:
    """Make .agentlas/ with memory.toml, a .gitignore and an empty store, and trust the store.

    The project is DIR, else the top of the git repository, else the current folder.
    """
    root = normal_path(named) if named else _git_top(normal_path("."))
    created = make_memory(root)
    if as_json:
        print_json({"project": root, "created": created})
    elif created:
        say(f"Made in {root}: {', '.join(created)}")
        say("Next: agentlas-memory index")
    else:
        say(f"{root} has a memory already; nothing was changed.")


def make_memory(root: str) -> list[str]:
    """Make what is missing of a project's memory, and return the names of what was made."""
    check_trust_file(require_home())  # before anything is made
    _refuse_root(root)
    if os.path.lexists(f"{root}/{DATABASE}"):
        refuse_untrusted(Project(root, root))
    Path(root, ".agentlas").mkdir(exist_ok=True)
    return [name for name, make in _PARTS.items() if make(root)]


def make_settings(root: str) -> None:
    """Make what is missing beside the store: `memory.toml`, and what git ignores."""
    _refuse_root(root)
    _make_config(root)
    make_gitignore(root)


def _refuse_root(root: str) -> None:
    home = user_home()
    if not root.strip("/") or (home and identity(root) == identity(home)):
        raise UserError(
            f"{root or '/'} cannot be a project: its memory would speak for everything below it.",
            next_step="run agentlas-memory init inside a project, or name one with --project DIR",
            code=REFUSED,
        )
    if Path(root, ".agentlas").is_symlink():
        raise UserError(
            f"{root}/.agentlas is a symbolic link, and hooks follow none.",
            next_step="put a real folder in its place",
            code=REFUSED,
        )


def _make_config(root: str) -> bool:
    from agentlas_memory.ontology.config import default_config_text

    path = Path(root, CONFIG)
    if os.path.lexists(path):
        return False
    path.write_text(default_config_text(), encoding="utf-8")
    return True


def make_gitignore(root: str) -> bool:
    """Have git ignore the store, private and imported notes, beside what the team ignores there."""
    path = Path(root, GITIGNORE)
    if path.is_symlink():
        return False  # a clone may bring one, and it leads wherever that clone likes
    text = read_file(str(path)).decode("utf-8") if path.exists() else _IGNORE_TEXT
    missing = [pattern for pattern in _IGNORED if pattern not in text.split()]
    if missing:
        text += "\n" * (not text.endswith("\n")) + "\n".join(missing) + "\n"
        path.write_text(text, encoding="utf-8")
    return bool(missing)


def _make_store(root: str) -> bool:
    if os.path.lexists(f"{root}/{DATABASE}"):
        return False
    create_store(Project(root, root))
    return True


_PARTS = {CONFIG: _make_config, GITIGNORE: make_gitignore, DATABASE: _make_store}


def _git_top(folder: str) -> str:
    """Return the nearest folder above that holds `.git`, else the folder itself."""
    at = folder
    while at:
        if os.path.lexists(f"{at}/.git"):
            return at
        at = at.rpartition("/")[0]
    return folder
