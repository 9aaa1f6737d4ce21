"""The versions there are: folders in `~/.agentlas/runtime`, whole once `runtime.json` stands."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentlas_memory.installer.runtimes.environments import hook_of, packages_of
from agentlas_memory.installer.runtimes.objects import read_object
from agentlas_memory.installer.runtimes.pointer import CURRENT, read_current

FACTS = "runtime.json"
STAGING = ".bundle"
HISTORY = "history.json"
LOCK = "update.lock"
_OURS = {CURRENT, HISTORY, LOCK}


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
        return [
            self.get(path.name)
            for path in sorted(self.folder.iterdir())
            if path.is_dir() and not path.is_symlink() and path.name not in (CURRENT, STAGING)
        ]

    def get(self, name: str) -> Runtime:
        """Return a version by its id."""
        folder = self.folder / name  # an absolute path stays what it is
        return Runtime(name, folder, _read_facts(folder / FACTS))

    def current(self) -> Runtime | None:
        """Return the version that hosts are served by, None where there is none."""
        named = read_current(self.folder)
        if not named:
            return None
        runtime = self.get(named)
        return runtime if runtime.folder.is_dir() else None

    def free_folder(self, version: str) -> Path:
        """Return where a version can be built: never a folder that a hook may be reading."""
        number, folder = 1, self.folder / version
        while os.path.lexists(folder):
            number += 1
            folder = self.folder / f"{version}~{number}"
        return folder

    def leftovers(self) -> Iterator[Path]:
        """Yield what a killed update left; only under the lock is nobody at work on it."""
        if not self.folder.is_dir():
            return
        named = read_current(self.folder)
        for path in sorted(self.folder.iterdir()):
            if path.name in _OURS or path.name == named:
                continue
            if path.is_symlink() or not path.is_dir() or not _read_facts(path / FACTS):
                yield path

    def clear_leftovers(self) -> list[str]:
        """Remove them and return their names."""
        names = []
        for path in self.leftovers():
            remove_tree(path)
            names.append(path.name)
        return names


def remove_tree(path: Path) -> None:
    """Remove a folder or a file; the mark of a whole version goes first, so a kill leaves none."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    (path / FACTS).unlink(missing_ok=True)
    shutil.rmtree(path)


def write_facts(folder: Path, facts: Mapping[str, str]) -> None:
    """Mark a version as whole."""
    aside = folder / f"{FACTS}.part"
    aside.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", "utf-8")
    aside.replace(folder / FACTS)


def _read_facts(path: Path) -> dict[str, str]:
    return {str(k): str(v) for k, v in read_object(path)[0].items()}


def _version_in(environment: Path) -> str:
    found = sorted(packages_of(environment).glob("agentlas_memory-*.dist-info"))
    return found[-1].name.split("-")[1].removesuffix(".dist") if found else ""
