"""What an old store calls private stays so: rules in memory.toml, before anything is indexed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from agentlas_memory.ontology.config import (
    CONFIG_PATH,
    DEFAULT_SCOPE,
    SCOPES,
    ConfigError,
    load_config,
    parse_config,
)
from agentlas_memory.whole_file import new_version

_TABLE = re.compile(r"^[ \t]*\[[ \t]*scopes[ \t]*\]", re.MULTILINE)
_COMMENT = "# Taken over from a store of Agentlas OS:"


def missing_rules(project: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return the files whose scope in memory.toml is wider than it was, or is said by nobody."""
    config = load_config(project)
    missing = {}
    for path, scope in sorted((path, scope) for path, scope in files.items() if scope):
        now = config.scope_of(path)
        unsaid = now == DEFAULT_SCOPE and not config.scopes
        if SCOPES.index(scope) > SCOPES.index(now) or (unsaid and scope != now):
            missing[path] = scope
    return missing


def add_rules(project: Path, rules: Mapping[str, str]) -> None:
    """Add a rule for each file to memory.toml, behind all others: the last that fits decides.

    Raises ConfigError, and leaves the file as it was, where that cannot be done by adding lines.
    The caller holds the lock of the store's folder.
    """
    if not rules:
        return
    file = (project / CONFIG_PATH).resolve()
    text = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [
        _COMMENT,
        *(f'{json.dumps(_pattern(p), ensure_ascii=False)} = "{s}"' for p, s in rules.items()),
    ]
    if not _TABLE.search(text):
        lines.insert(0, "[scopes]")
    joined = text + newline * bool(text and not text.endswith("\n"))
    joined += newline + newline.join(lines) + newline
    _check(project, joined, rules)
    with new_version(file) as new:
        new.file.write(joined.encode())
        new.sync()
        if file.exists():
            shutil.copymode(file, new.path)


def _check(project: Path, text: str, rules: Mapping[str, str]) -> None:
    """Raise ConfigError unless the new text says of every file what it shall."""
    file = project / CONFIG_PATH
    config = parse_config(file, text)
    for path, scope in rules.items():
        if config.scope_of(path) != scope:
            raise ConfigError(
                file, None, path, f'a line that makes it "{scope}" could not be added'
            )


def _pattern(path: str) -> str:
    """Return the pattern of .gitignore that fits this file alone."""
    escaped = re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)
    return f"/{escaped}"
