"""The versions there are: folders in `~/.agentlas/runtime`, whole once `runtime.json` stands."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentlas_memory.installer.runtimes.environments import hook_of, packages_of
from agentlas_memory.installer.runtimes.objects import read_object
from agentlas_memory.installer.runtimes.pointer import read_current
from agentlas_memory.whole_file import replace_file

FACTS = "runtime.json"
MARK = ".agentlas-memory"  # written into a version's folder before anything else
STAGING = ".agentlas-bundle"
HISTORY = "history.json"
LOCK = "update.lock"
_VERSION = re.compile(r"\d+\.\d+\.\d+(~\d+)?", re.ASCII)
_ASIDE = (STAGING, f".{HISTORY}.new", ".current.new")


@dataclass(frozen=True, slots=True)
class Runtime:
    """One version on this machine; its id is its folder's name, or the path of an environment."""

    id: str
    folder: Path
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The version, blank where it cannot be told."""
        return self.facts.get("version", "") or _version_in(self.folder)

    @property
    def is_own(self) -> bool:
        """Whether we built it; an environment that the person made is theirs to remove."""
        return "/" not in self.id and "\\" not in self.id

    def is_copy_of(self, other: Runtime) -> bool:
        """Tell whether both are of one release."""
        release = self.facts.get("release_sha256")
        return bool(release) and release == other.facts.get("release_sha256")

    @property
    def complete(self) -> bool:
        """Whether its building came to an end."""
        return bool(self.facts) if self.is_own else hook_of(self.folder).exists()


class Runtimes:
    """The versions below `~/.agentlas`."""

    def __init__(self, data_home: Path) -> None:
        self.data_home = data_home
        self.folder = data_home / "runtime"

    def all(self) -> list[Runtime]:
        """Return the versions that were built here, finished or not, by name."""
        if not self.folder.is_dir():
            return []
        return [self.get(path.name) for path in sorted(self.folder.iterdir()) if _is_ours(path)]

    def get(self, name: str) -> Runtime:
        """Return a version by its id."""
        folder = self.folder / name  # an absolute path stays what it is
        return Runtime(name, folder, _read_facts(folder / FACTS))

    def current(self) -> Runtime | None:
        """Return the version that hosts are served by, None where there is none."""
        named = read_current(self.folder)
        if not named:
            return None
        folder = Path(os.path.realpath(self.folder / named))
        # However the link is spelt: one of ours is known by its name.
        own = folder.parent == Path(os.path.realpath(self.folder))
        runtime = self.get(folder.name if own else named)
        return runtime if runtime.folder.is_dir() else None

    def free_folder(self, version: str) -> Path:
        """Return where a version can be built: never a folder that a hook may be reading."""
        number, folder = 1, self.folder / version
        while os.path.lexists(folder):
            number += 1
            folder = self.folder / f"{version}~{number}"
        return folder

    def leftovers(self) -> Iterator[Path]:
        """Yield what a killed update left; only under the lock is nobody at work on it.

        The folder may be one that a person named with `--prefix`: what is not ours stays.
        """
        if not self.folder.is_dir():
            return
        current = self.current()
        kept = current.id if current is not None else ""
        for path in sorted(self.folder.iterdir()):
            unfinished = _is_ours(path) and not os.path.lexists(path / FACTS)
            if path.name in _ASIDE or (unfinished and path.name != kept):
                yield path

    def clear_leftovers(self) -> list[str]:
        """Remove them and return their names."""
        names = []
        for path in self.leftovers():
            remove_tree(path)
            names.append(path.name)
        return names


def _is_ours(path: Path) -> bool:
    """Tell whether a folder is a version that we built, or began to build."""
    if not _VERSION.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
        return False
    marks = (MARK, FACTS, "pyvenv.cfg")
    return any((path / mark).exists() for mark in marks) or not any(path.iterdir())


def remove_tree(path: Path) -> None:
    """Remove a folder or a file.

    What says that a version is whole goes first, and what says that it is ours last: after a kill
    the rest is known for a leftover.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    (path / MARK).touch()
    (path / FACTS).unlink(missing_ok=True)
    for inside in list(path.iterdir()):
        if inside.is_dir() and not inside.is_symlink():
            shutil.rmtree(inside)
        elif inside.name != MARK:
            inside.unlink()
    (path / MARK).unlink()
    path.rmdir()


def write_facts(folder: Path, facts: Mapping[str, str]) -> None:
    """Mark a version as whole."""
    text = json.dumps(facts, indent=1, sort_keys=True) + "\n"
    replace_file(folder / FACTS, text.encode())


def _read_facts(path: Path) -> dict[str, str]:
    return {str(k): str(v) for k, v in read_object(path)[0].items()}


def _version_in(environment: Path) -> str:
    found = sorted(packages_of(environment).glob("agentlas_memory-*.dist-info"))
    return found[-1].name.split("-")[1].removesuffix(".dist") if found else ""
