"""From what is there to what should be there: changes, worked out before anything is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentlas_memory.installer.files import Untouchable, leads_nowhere, read_text
from agentlas_memory.installer.formats import Unparsable
from agentlas_memory.installer.parts import FilePart, has_moved, put_in, record_of, take_out
from agentlas_memory.installer.parts import Record as Record
from agentlas_memory.installer.surfaces import HostCommands, Surface

Action = Literal["create", "update", "unchanged", "remove", "run", "refused"]


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of one file, or of what a host's own command adds.

    `before` and `after` are the file's whole texts, None for no file; `record` is what the ledger
    keeps of it.
    """

    host: str
    path: Path | None
    action: Action
    reason: str = ""
    before: str | None = None
    after: str | None = None
    record: Record | None = None
    commands: tuple[tuple[str, ...], ...] = ()


def plan_install(
    host: str, surfaces: Sequence[Surface], known: Sequence[Record], *, present: bool = False
) -> list[Change]:
    """Return what puts a host's surfaces in place; `known` is what the ledger has of this host.

    `present` says that the host's own command line names us already.
    """
    changes = [
        _plan_one(host, surface, known)
        for surface in surfaces
        if not isinstance(surface, HostCommands)
    ]
    moved = any(change.action != "unchanged" for change in changes)
    commands = (one for one in surfaces if isinstance(one, HostCommands))
    return changes + [
        _plan_commands(host, one, known, present=present and not moved) for one in commands
    ]


def plan_uninstall(host: str, known: Sequence[Record], others: Sequence[Record]) -> list[Change]:
    """Return what takes away all that the ledger has of a host; `others` are other hosts' records.

    In the reverse order: what was put there last goes first.
    """
    shared = {record["path"] for record in others if "path" in record}
    return plan_moved(host, known) + [
        _plan_removal(host, record, keep=record.get("path") in shared) for record in reversed(known)
    ]


def plan_moved(host: str, known: Sequence[Record]) -> list[Change]:
    """Return what takes ours out of files that links led to before they led elsewhere."""
    moved = [record | {"path": record["target"]} for record in known if has_moved(record)]
    changes = [_plan_removal(host, record, keep=False) for record in moved]
    return [change for change in changes if change.action != "unchanged"]


def _plan_one(host: str, surface: FilePart, known: Sequence[Record]) -> Change:
    record = next((one for one in known if one.get("path") == str(surface.path)), None)
    try:
        before = read_text(surface.path)
        after = put_in(surface, before, record)
        kept = record_of(surface, before, after, record)
    except (Untouchable, Unparsable) as error:
        return Change(host, surface.path, "refused", str(error))
    action: Action = "create" if before is None else "update"
    if before == after:
        action = "unchanged"
    return Change(host, surface.path, action, "", before, after, kept)


def _plan_commands(
    host: str, surface: HostCommands, known: Sequence[Record], *, present: bool
) -> Change:
    record = {
        "kind": "commands",
        "query": list(surface.query),
        "mark": surface.mark,
        "uninstall": [list(command) for command in surface.uninstall],
        "homes": [str(home) for home in surface.homes],
        "leftovers": [str(folder) for folder in surface.leftovers],
    }
    action: Action = "unchanged" if present and record in known else "run"
    return Change(host, None, action, record=record, commands=surface.install)


def _plan_removal(host: str, record: Record, *, keep: bool) -> Change:
    if record["kind"] == "commands":
        commands = tuple(tuple(command) for command in record["uninstall"])
        return Change(host, None, "run", record=record, commands=commands)
    path = Path(record["path"])
    if keep:
        return Change(host, path, "unchanged", "another host uses it", record=record)
    try:
        before = None if leads_nowhere(path) else read_text(path)
        after = None if before is None else take_out(record, before)
    except (Untouchable, Unparsable) as error:
        return Change(host, path, "refused", str(error), record=record)
    if before is None:
        return Change(host, path, "unchanged", "it is gone already", record=record)
    action: Action = "remove" if after is None else "update"
    return Change(host, path, "unchanged" if before == after else action, "", before, after, record)
