"""From what is there to what should be there: changes, worked out before anything is touched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentlas_memory.installer.files import Untouchable, digest, missing_folders, read_text
from agentlas_memory.installer.formats import Unparsable
from agentlas_memory.installer.formats.json_entry import put_entry, read_entry, remove_entry
from agentlas_memory.installer.formats.marked_block import put_block, remove_block
from agentlas_memory.installer.surfaces import (
    HostCommands,
    JsonEntry,
    MarkedBlock,
    Surface,
    WholeFile,
)

Action = Literal["create", "update", "unchanged", "remove", "run", "refused"]
Record = dict[str, Any]  # one surface in the ledger


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
    return [
        _plan_removal(host, record, keep=record.get("path") in shared) for record in reversed(known)
    ]


def _plan_one(
    host: str, surface: WholeFile | JsonEntry | MarkedBlock, known: Sequence[Record]
) -> Change:
    record = next((one for one in known if one.get("path") == str(surface.path)), None)
    try:
        before = read_text(surface.path)
        after = _with_ours(surface, before, record)
    except (Untouchable, Unparsable) as error:
        return Change(host, surface.path, "refused", str(error))
    action: Action = "create" if before is None else "update"
    if before == after and record is not None:
        action = "unchanged"
    kept = _record_of(surface, before, after, record)
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


def _with_ours(
    surface: WholeFile | JsonEntry | MarkedBlock, before: str | None, record: Record | None
) -> str:
    """Return a file's text with our part in it; raise Untouchable for a file that is not ours."""
    if isinstance(surface, JsonEntry):
        return put_entry(before or "", surface.key, _value(surface, before or ""))
    if isinstance(surface, MarkedBlock):
        return put_block(before or "", surface.begin, surface.end, surface.text)
    if before is not None and before != surface.text and not _wrote(record, before):
        what = "it was changed since we wrote it" if record else "there is a file that is not ours"
        raise Untouchable(f"{what}: move it away, or delete it")
    return surface.text


def _value(surface: JsonEntry, before: str) -> object:
    """Return our entry's value; one that the person switched off stays off."""
    there = read_entry(before, surface.key) if before.strip("\ufeff \t\r\n") else None
    off = isinstance(there, dict) and there.get("enabled") is False
    if off and isinstance(surface.value, dict):
        return {**surface.value, "enabled": False}
    return surface.value


def _wrote(record: Record | None, text: str) -> bool:
    return record is not None and digest(text) == record.get("sha256")


def _record_of(
    surface: WholeFile | JsonEntry | MarkedBlock,
    before: str | None,
    after: str,
    known: Record | None,
) -> Record:
    """Return what the ledger must know to take our part out again, and nothing of the user's."""
    made = [str(one) for one in missing_folders(surface.path.parent)]
    record: Record = {
        "path": str(surface.path),
        "created": before is None if known is None else known.get("created", False),
        "folders": made or (known or {}).get("folders", []),
    }
    if isinstance(surface, JsonEntry):
        value = json.dumps(read_entry(after, surface.key), sort_keys=True)
        blank = not (before or "").strip("\ufeff \t\r\n") if known is None else known.get("blank")
        entry = {"kind": "json", "key": surface.key, "sha256": digest(value), "blank": blank}
        return record | entry
    if isinstance(surface, MarkedBlock):
        ends = {"begin": surface.begin, "end": surface.end}
        return record | {"kind": "block", "sha256": digest(surface.text)} | ends
    return record | {"kind": "file", "sha256": digest(after)}


def _plan_removal(host: str, record: Record, *, keep: bool) -> Change:
    if record["kind"] == "commands":
        commands = tuple(tuple(command) for command in record["uninstall"])
        return Change(host, None, "run", record=record, commands=commands)
    path = Path(record["path"])
    if keep:
        return Change(host, path, "unchanged", "another host uses it", record=record)
    try:
        before = read_text(path)
        after = None if before is None else _without_ours(record, before)
    except (Untouchable, Unparsable) as error:
        return Change(host, path, "refused", str(error), record=record)
    if before is None:
        return Change(host, path, "unchanged", "it is gone already", record=record)
    action: Action = "remove" if after is None else "update"
    return Change(host, path, "unchanged" if before == after else action, "", before, after, record)


def _without_ours(record: Mapping[str, Any], before: str) -> str | None:
    """Return what is left of a file without our part, None where nothing is left to keep."""
    if record["kind"] == "file":
        if not _wrote(dict(record), before):
            raise Untouchable("it was changed since we wrote it, so it is not only ours any more")
        return None
    if record["kind"] == "json":
        after = remove_entry(before, record["key"])
        empty = after.strip("\ufeff \t\r\n") in ("", "{}")
        if not after and not record.get("blank"):
            after = "{}\n"  # what stood beside ours is gone by the person's own hand
    else:
        after = remove_block(before, record["begin"], record["end"])
        empty = not after.strip("\ufeff \t\r\n")
    return None if empty and record["created"] else after
