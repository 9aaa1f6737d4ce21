"""Whether a host would run the hook twice: from what we put there, and from a file beside it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any

from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.files import Untouchable, read_text
from agentlas_memory.installer.formats import Unparsable
from agentlas_memory.installer.formats.json_entry import remove_entry
from agentlas_memory.installer.ledger import Ledger
from agentlas_memory.installer.plan import Record
from agentlas_memory.installer.surfaces import HostSpec

_HOOK = "agentlas-memory-hook"
_PROGRAMS = (_HOOK, f"{_HOOK}.cmd")
_PATTERNS = ("*.json", "*.toml", "*.js", "*.ts", "hooks/*.json", "plugins/*/hooks.json")
_COMMANDS = ("command", "commandWindows", "command_windows", "bash", "powershell", "args")
_COMMENTS = ("#", "//", "*", "/*")


def check_doubles(spec: HostSpec, ledger: Ledger) -> Iterator[Check]:
    """Look for the hook in the files of a host that are not ours, or not only ours."""
    records = ledger.records(spec.name)
    ours = {record["path"]: record for record in records if "path" in record}
    found = [file for file in _files_of(records) if _runs_hook(file, ours.get(str(file)))]
    for file in found:
        told = f"{file} runs the hook too: each prompt would start it twice"
        yield Check("double", spec.name, "warning", told, "take it out of that file")
    if records and not found:
        yield Check("double", spec.name, "ok", "registered once")


def _files_of(records: list[Record]) -> list[Path]:
    folders = {Path(home) for record in records for home in record.get("homes", ())}
    folders |= {Path(record["path"]).parent for record in records if _is_in_host(record, records)}
    return sorted({file for folder in folders for file in _settings_in(folder)})


def _is_in_host(record: Record, records: list[Record]) -> bool:
    """Tell the host's own files from those of the marketplace, which we own whole."""
    return "path" in record and not any(one["kind"] == "commands" for one in records)


def _settings_in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        for pattern in _PATTERNS:
            yield from folder.glob(pattern)


def _runs_hook(file: Path, record: Record | None) -> bool:
    """Tell whether a file has the hook run, apart from the part of it that is ours."""
    if record is not None and record["kind"] == "file":
        return False
    try:
        text = read_text(file) or ""
        if record is not None and record["kind"] == "json":
            text = remove_entry(text, record["key"])
    except (Untouchable, Unparsable):
        return False
    if _HOOK not in text:
        return False
    try:
        return any(map(_starts_hook, _commands_in(json.loads(text.lstrip("\ufeff")))))
    except ValueError:  # TOML, JavaScript, JSON with comments
        lines = (line.strip() for line in text.splitlines())
        return any(_HOOK in line and not line.startswith(_COMMENTS) for line in lines)


def _commands_in(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str) and key in _COMMANDS:
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _commands_in(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _commands_in(one, key)


def _starts_hook(command: str) -> bool:
    """Tell whether a command runs the hook; one that speaks of it in a comment does not."""
    try:
        words = shlex.split(command.replace("\\", "/"), comments=True)
    except ValueError:  # an open quote
        words = command.split()
    if len(words) > 1 and any(" " in word and _starts_hook(word) for word in words):
        return True  # a shell within the shell
    return any(PureWindowsPath(word.strip("'\";&|()")).name in _PROGRAMS for word in words)
