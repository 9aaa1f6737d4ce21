"""Bringing the hosts in line with a version, by that version's own `install`; or back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentlas_memory.installer.files import Untouchable, make_folders, read_text
from agentlas_memory.installer.ledger import LEDGER, read_ledger
from agentlas_memory.installer.replacing import Changed, put_text, remove_file
from agentlas_memory.installer.runtimes.children import (
    Ran,
    isolated,
    last_words,
    person_environment,
    run,
)
from agentlas_memory.installer.runtimes.environments import python_of
from agentlas_memory.installer.runtimes.layout import Runtime
from agentlas_memory.installer.runtimes.trouble import UpdateFailed

_SECONDS = 600.0  # `claude plugin install` takes seconds, and there are several hosts
_KNOWN_CODES = (0, 1)  # 1: a file of some host was left as it is, with the reason


class MergeFailed(Exception):
    """A version's `install` broke down; the text says how."""


@dataclass
class HostFiles:
    """The files that `install` would touch, as they are now."""

    data_home: Path
    texts: dict[Path, str | None] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)  # those whose own commands would be run

    def put_back(self) -> list[Path]:
        """Give every file its bytes again; return those that could not be given them."""
        failed = []
        for path, text in self.texts.items():
            try:
                _put_back(path, text)
            except (OSError, Untouchable, Changed):
                failed.append(path)
        return failed


def look_at_hosts(folder: Path, data_home: Path, names: Sequence[str]) -> HostFiles:
    """Ask a version what its `install` would change, and keep what these files hold."""
    try:
        documents = _install(folder, names, "--dry-run")
    except MergeFailed as error:
        raise UpdateFailed(f"The new version cannot look at the hosts: {error}") from error
    files = HostFiles(data_home)
    known = read_ledger(data_home)
    paths = {data_home / LEDGER}
    paths |= {
        Path(one["path"]) for name in known.hosts() for one in known.records(name) if "path" in one
    }
    for document in documents:
        for change in document["changes"]:
            if change["action"] == "run":
                files.hosts.append(document["host"])
            elif Path(change["path"]).is_absolute():
                paths.add(Path(change["path"]))
    for path in sorted(paths):
        try:
            files.texts[path] = read_text(path)
        except Untouchable:  # `install` leaves it alone too
            continue
    return files


def merge_hosts(folder: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Run a version's `install`; return what it says of each host, or raise MergeFailed."""
    return _install(folder, names)


def merge_again(runtime: Runtime, names: Sequence[str]) -> None:
    """Let the version that is active again see to hosts that have commands of their own."""
    if names:
        try:
            _install(runtime.folder, names)
        except MergeFailed:
            return  # doctor tells what is wrong, and `install` can be run again


def _install(folder: Path, names: Sequence[str], *options: str) -> list[dict[str, Any]]:
    command = isolated(python_of(folder), "-m", "agentlas_memory", "install", "--json", *options)
    for name in names:
        command += ["--host", name]
    ran = run(command, _SECONDS, environment=person_environment())
    return _documents(ran)


def _documents(ran: Ran) -> list[dict[str, Any]]:
    try:
        documents = json.loads(ran.output)["hosts"]
        if ran.code in _KNOWN_CODES and isinstance(documents, list):
            return documents
    except (ValueError, KeyError, TypeError):
        pass
    raise MergeFailed(f"`agentlas-memory install` ended with {last_words(ran)}")


def _put_back(path: Path, text: str | None) -> None:
    now = read_text(path)
    if now == text:
        return
    if text is not None:
        make_folders(path.parent)
        put_text(path, now, text)
    elif now is not None:
        remove_file(path, now)
