"""`.agentlas/memory.toml`: what belongs to the memory of a project, and for whom.

    include = ["docs/**/*.html", "config/*.toml"]   # beside the text formats
    exclude = ["docs/archive/"]

    [scopes]
    "docs/internal/" = "private"

Patterns are those of `.gitignore`, relative to the project. The hook never reads this file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from pathspec import GitIgnoreSpec

from agentlas_memory.lean import read_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Scope = Literal["public", "internal", "private"]
SCOPES: tuple[Scope, ...] = ("public", "internal", "private")
DEFAULT_SCOPE: Scope = "internal"
CONFIG_PATH = ".agentlas/memory.toml"


class ConfigError(Exception):
    """A configuration that cannot be used; says where and why."""

    def __init__(self, file: Path, line: int | None, key: str | None, message: str) -> None:
        place = f"{file}:{line}" if line else str(file)
        super().__init__(f"{place}: {key}: {message}" if key else f"{place}: {message}")
        self.file = file
        self.line = line
        self.key = key


@dataclass(frozen=True)
class MemoryConfig:
    """The patterns of `memory.toml`; the defaults are those of a project without the file."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    scopes: tuple[tuple[str, Scope], ...] = ()

    def is_included(self, path: str) -> bool:
        """Tell whether `include` names this file."""
        return bool(self.include) and self._included.match_file(path)

    def is_excluded(self, path: str) -> bool:
        """Tell whether `exclude` names this file, or this folder when the path ends with `/`."""
        return bool(self.exclude) and self._excluded.match_file(path)

    def scope_of(self, path: str) -> Scope:
        """Return the scope of a file: as in `.gitignore`, the last pattern that fits decides."""
        for spec, scope in reversed(self._scoped):
            if spec.match_file(path):
                return scope
        return DEFAULT_SCOPE

    @cached_property
    def _included(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines(self.include)

    @cached_property
    def _excluded(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines(self.exclude)

    @cached_property
    def _scoped(self) -> list[tuple[GitIgnoreSpec, Scope]]:
        # One matcher each: together, a file pattern would win over a later folder pattern.
        return [(GitIgnoreSpec.from_lines([pattern]), scope) for pattern, scope in self.scopes]


def load_config(project: Path) -> MemoryConfig:
    """Read the project's `memory.toml`; without one, the defaults hold."""
    file = project / CONFIG_PATH
    try:
        text = read_file(str(file)).decode("utf-8-sig")  # a FIFO in its place is no file
    except FileNotFoundError:
        return MemoryConfig()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(file, None, None, f"cannot be read: {error}") from error
    return parse_config(file, text)


def parse_config(file: Path, text: str) -> MemoryConfig:
    """Return what the text of a `memory.toml` says; raise ConfigError."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = int(line[1]) if line else text.count("\n") + 1
        raise ConfigError(file, number, None, f"not valid TOML: {error}") from error
    return _Reader(file, text).read(values)


class _Reader:
    """Checks the values of one file and knows where they stand, for the message."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self._text = text

    def read(self, values: Mapping[str, Any]) -> MemoryConfig:
        for key in values:
            if key not in ("include", "exclude", "scopes"):
                raise self._error(key, "unknown key; known are include, exclude and [scopes]")
        return MemoryConfig(
            include=self._patterns("include", values.get("include", [])),
            exclude=self._patterns("exclude", values.get("exclude", [])),
            scopes=self._scopes(values.get("scopes", {})),
        )

    def _patterns(self, key: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(key, 'must be a list of patterns, like ["docs/*.html"]')
        for pattern in value:
            self._check_pattern(key, pattern)
        return tuple(value)

    def _scopes(self, value: object) -> tuple[tuple[str, Scope], ...]:
        if not isinstance(value, dict):
            raise self._error("scopes", 'must be a table, like [scopes] and "docs/" = "public"')
        for pattern, scope in value.items():
            if scope not in SCOPES:
                raise self._error(pattern, f"the scope must be one of {', '.join(SCOPES)}")
            self._check_pattern(pattern, pattern, negatable=False)
        return tuple(cast("dict[str, Scope]", value).items())

    def _check_pattern(self, key: str, pattern: str, negatable: bool = True) -> None:
        try:
            patterns = list(GitIgnoreSpec.from_lines([pattern]).patterns)
        except ValueError:
            patterns = []
        if not patterns or patterns[0].include is None or not (negatable or patterns[0].include):
            raise self._error(key, f"not a pattern that can match: {pattern!r}")

    def _error(self, key: str, message: str) -> ConfigError:
        name = re.escape(key)
        place = re.search(rf"^\s*(?:\[+\s*)?[\"']?{name}[\"']?\s*[\].=]", self._text, re.MULTILINE)
        line = self._text.count("\n", 0, place.end()) + 1 if place else None
        return ConfigError(self._file, line, key, message)


def default_config_text() -> str:
    """Return the `memory.toml` that `init` writes."""
    return """\
# What agentlas-memory indexes. Patterns are those of .gitignore, relative to the project.

# Beside *.md *.mdx *.markdown *.rst *.adoc *.org *.txt:
include = [
  # "docs/**/*.html",
  # "openapi.yaml",
]

# Left out, in addition to what .gitignore names:
exclude = [
  # "docs/archive/",
]

# public, internal (the default) or private: private text never reaches an assistant.
# The last pattern that fits decides.
[scopes]
# "docs/hr/" = "private"
"""
