"""Which files of a project are indexed, and why others are not.

Nothing is opened here but ignore files: whether a file is text is for its reader to say.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.lean import last_change
from agentlas_memory.ontology.config import MemoryConfig
from agentlas_memory.ontology.documents import INBOX, MAX_FILE_BYTES
from agentlas_memory.ontology.gitignore import IgnoreRules, rules_for
from agentlas_memory.project import DATABASE, is_policy_file

TEXT_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".org", ".txt")
_OWN_FOLDER = ".agentlas"
_GENERATED = frozenset({"node_modules", "vendor", ".venv"})
_BUILT = frozenset({"dist", "build", "target"})  # some projects keep the sources of their site here
_UNTOLD = (".git", _OWN_FOLDER)  # nobody asks why these are left out


class OutsideProject(ValueError):
    """A path argument that does not lead into the project."""


class Found(NamedTuple):
    """A file to index, by its POSIX path in the project."""

    path: str
    size: int
    changed_ns: int


class Skipped(NamedTuple):
    """A file or a whole folder that is left out, and why."""

    path: str
    reason: str


class _Candidate(NamedTuple):
    """An entry not yet looked at; `named`: it lies on or below a path that was asked for."""

    path: str
    entry: os.DirEntry[str]
    rules: IgnoreRules
    named: bool


def walk_project(
    root: Path, config: MemoryConfig, paths: Sequence[Path] | None = None
) -> Iterator[Found | Skipped]:
    """Yield the project's files in the order of their paths; `paths` narrow the run."""
    root = root.resolve()
    asked = None if paths is None else {path_in_project(root, path) for path in paths}
    return _Walk(root, config, asked).run()


def path_in_project(root: Path, path: Path) -> str:
    """Return an asked path relative to the project, without following a link at its end."""
    absolute = path if path.is_absolute() else Path.cwd() / path
    real = absolute.resolve() if path.name in ("", "..") else absolute.parent.resolve() / path.name
    if real == root or absolute.resolve() == root:
        return ""
    if not real.is_relative_to(root):
        raise OutsideProject(f"{path} is outside of the project {root}")
    return real.relative_to(root).as_posix()


class _Walk:
    """One run over a project."""

    def __init__(self, root: Path, config: MemoryConfig, asked: set[str] | None) -> None:
        self._root = root
        self._config = config
        self._asked = asked or set()
        self._everything = asked is None or "" in asked
        self._on_the_way = {
            path[:end] for path in self._asked for end in range(len(path)) if path[end] == "/"
        }
        self._rules, self._base = rules_for(root)
        self._built: tuple[str, ...] = ()  # build folders with documents that git tracks
        self._tracked: frozenset[str] = frozenset()  # all that it tracks there

    def run(self) -> Iterator[Found | Skipped]:
        # A stack instead of recursion: folders may be nested deeper than Python's calls.
        pending = self._scan("", self._rules, self._everything)
        while pending:
            candidate = pending.pop()
            named = candidate.named or candidate.path in self._asked
            if not named and candidate.path not in self._on_the_way:
                continue
            candidate = candidate._replace(named=named)
            if not _is_folder(candidate.entry):
                yield from self._judge_file(candidate)
            elif reason := self._folder_reason(candidate):
                if candidate.entry.name not in _UNTOLD or self._is_asked_for(candidate.path):
                    yield Skipped(_printable(candidate.path), reason)
            else:
                try:
                    pending += self._enter(candidate)
                except OSError as error:
                    yield Skipped(candidate.path, f"cannot be read: {error.strerror}")

    def _scan(self, prefix: str, rules: IgnoreRules, named: bool) -> list[_Candidate]:
        """List a folder, last path first."""
        with os.scandir(self._root / prefix) as entries:
            found = list(entries)
        # A folder sorts as its files do, so that the whole walk is in the order of the paths.
        found.sort(key=lambda entry: entry.name + "/" * _is_folder(entry), reverse=True)
        if any(entry.name == ".gitignore" for entry in found):
            file = self._root / prefix / ".gitignore"
            rules = rules.with_file(file, self._base + prefix)
        return [_Candidate(prefix + entry.name, entry, rules, named) for entry in found]

    def _enter(self, folder: _Candidate) -> list[_Candidate]:
        """List a folder; of our own one only the notes, even where git ignores them."""
        if folder.path != _OWN_FOLDER:
            return self._scan(folder.path + "/", folder.rules, folder.named)
        inbox = self._root / INBOX
        if inbox.is_symlink() or not inbox.is_dir():
            return []
        notes = self._scan(f"{INBOX}/", IgnoreRules(), folder.named or INBOX in self._asked)
        return [note for note in notes if note.path.lower().endswith(".md")]

    def _folder_reason(self, folder: _Candidate) -> str | None:
        name = folder.entry.name
        if folder.path == _OWN_FOLDER:
            return None
        if not is_utf8(name):
            return "its name is not UTF-8"
        if name in _GENERATED:
            return f"{name} folder"
        if name in _BUILT and not self._is_tracked(folder.path):
            return f"{name} folder"
        if name.startswith("."):
            return "hidden folder"
        if folder.path.startswith(f"{INBOX}/"):
            return "folder in the inbox"
        if self._config.is_excluded(folder.path + "/"):
            return "exclude in memory.toml"
        if name not in _BUILT and folder.rules.ignores(f"{self._base}{folder.path}/"):
            return "ignored by git"
        if _is_regular(self._root / folder.path / DATABASE):
            return "has its own store"
        return None

    def _is_tracked(self, folder: str) -> bool:
        """Tell whether git tracks documents in a build folder; it may rule out the rest of it."""
        from agentlas_memory.ontology.history import tracked_files

        found = tracked_files(self._root, folder)
        if not any(map(self._is_in_set, found)):
            return False
        self._built += (f"{folder}/",)
        self._tracked |= found
        return True

    def _is_asked_for(self, path: str) -> bool:
        return path in self._asked or path in self._on_the_way

    def _judge_file(self, file: _Candidate) -> Iterator[Found | Skipped]:
        try:
            status = file.entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            # Gone since the folder was listed.
            return
        except OSError as error:
            yield Skipped(_printable(file.path), f"cannot be read: {error.strerror}")
            return
        reason = self._file_reason(file, status)
        if reason:
            yield Skipped(_printable(file.path), reason)
        elif self._is_in_set(file.path):
            yield Found(file.path, status.st_size, last_change(status))

    def _is_in_set(self, path: str) -> bool:
        return path.lower().endswith(TEXT_SUFFIXES) or self._config.is_included(path)

    def _file_reason(self, file: _Candidate, status: os.stat_result) -> str | None:
        """Return why a file is left out; what is in no set needs no reason unless asked for."""
        if file.entry.is_symlink():
            return "symbolic link"
        if not self._is_in_set(file.path):
            asked = file.path in self._asked
            return "not a text format; name it under include in memory.toml" if asked else None
        if not is_utf8(file.entry.name):
            return "its name is not UTF-8"
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        if is_policy_file((self._root / file.path).as_posix()):
            return "host policy file"
        is_note = file.path.startswith(f"{INBOX}/")
        if not is_note and self._config.is_excluded(file.path):
            return "exclude in memory.toml"
        if file.path.startswith(self._built) and file.path not in self._tracked:
            return "in a build folder, and not tracked by git"
        if not is_note and file.rules.ignores(self._base + file.path):
            return "ignored by git"
        if status.st_size > MAX_FILE_BYTES:
            return f"larger than {MAX_FILE_BYTES // 1024**2} MiB"
        return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _is_regular(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except OSError:
        return False


def is_utf8(name: str) -> bool:
    """Tell whether a name has an encoding: not every file's does."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")
