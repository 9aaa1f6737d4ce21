"""Our part of one file: put into its text, noted for the ledger, and taken out again."""

from __future__ import annotations

import json
import os
from typing import Any

from agentlas_memory.installer.files import Untouchable, digest, missing_folders
from agentlas_memory.installer.formats.json_entry import put_entry, read_entry, remove_entry
from agentlas_memory.installer.formats.json_scan import is_blank
from agentlas_memory.installer.formats.marked_block import put_block, remove_block
from agentlas_memory.installer.surfaces import JsonEntry, MarkedBlock, WholeFile

FilePart = WholeFile | JsonEntry | MarkedBlock
Record = dict[str, Any]  # one surface in the ledger

_SPACE = "\ufeff \t\r\n"


def put_in(surface: FilePart, before: str | None, known: Record | None) -> str:
    """Return a file's text with our part in it; raise Untouchable, Unparsable."""
    if isinstance(surface, JsonEntry):
        return put_entry(before or "", surface.key, _value(surface, before or ""))
    if isinstance(surface, MarkedBlock):
        return put_block(before or "", surface.begin, surface.end, surface.text)
    if before is not None and before != surface.text and not _wrote(known, before):
        what = "it was changed since we wrote it" if known else "there is a file that is not ours"
        raise Untouchable(f"{what}: move it away, or delete it")
    return surface.text


def take_out(record: Record, before: str) -> str | None:
    """Return a file's text without our part, None where the file is to go with it.

    Raises Untouchable and Unparsable. A file that does not hold our part is returned as it is.
    """
    if record["kind"] == "file":
        if not _wrote(record, before):
            raise Untouchable("it was changed since we wrote it, so it is not only ours any more")
        return None
    after = _cut(record, before)
    if after == before:
        return before
    if record["created"] and after.strip(_SPACE) in ("", "{}"):
        return None
    if record["kind"] == "json" and not after and not record.get("blank"):
        return "{}\n"  # what stood beside ours is gone by the person's own hand
    return after


def record_of(surface: FilePart, before: str | None, after: str, known: Record | None) -> Record:
    """Return what the ledger must know to take our part out again, and nothing of the user's.

    `known` is what it has: how the file was before our part came is told by that alone, as long as
    our part stands. Where it is gone, the file is another one.
    """
    record = _description(surface, before, after)
    record["created"] = before is None
    if known and before is not None and _stands(record, before):
        record |= {name: known[name] for name in ("created", "blank") if name in known}
    made = {str(one) for one in missing_folders(surface.path.parent)}
    record["folders"] = sorted({*(known or {}).get("folders", []), *made}, key=len)
    return record


def has_moved(record: Record) -> bool:
    """Tell whether the link that we wrote through leads elsewhere now."""
    return record.get("target", "") not in ("", os.path.realpath(record.get("path", "")))


def _description(surface: FilePart, before: str | None, after: str) -> Record:
    record: Record = {"path": str(surface.path)}
    if surface.path.is_symlink():
        record["target"] = os.path.realpath(surface.path)
    if isinstance(surface, JsonEntry):
        value = json.dumps(read_entry(after, surface.key), sort_keys=True)
        blank = is_blank(before or "")
        return record | {
            "kind": "json",
            "key": surface.key,
            "sha256": digest(value),
            "blank": blank,
        }
    if isinstance(surface, MarkedBlock):
        ends = {"begin": surface.begin, "end": surface.end}
        return record | {"kind": "block", "sha256": digest(surface.text)} | ends
    record |= {"kind": "file", "sha256": digest(after)}
    # Noted before the file is written: after a kill in between, the old text is ours as well.
    return record if before in (None, after) else record | {"replaces": digest(before or "")}


def _stands(record: Record, text: str) -> bool:
    return record["kind"] == "file" or _cut(record, text) != text


def _cut(record: Record, text: str) -> str:
    if record["kind"] == "json":
        return remove_entry(text, record["key"])
    return remove_block(text, record["begin"], record["end"])


def _value(surface: JsonEntry, before: str) -> object:
    """Return our entry's value; one that the person switched off stays off."""
    there = read_entry(before, surface.key)
    off = isinstance(there, dict) and there.get("enabled") is False
    if off and isinstance(surface.value, dict):
        return {**surface.value, "enabled": False}
    return surface.value


def _wrote(record: Record | None, text: str) -> bool:
    """Tell whether a text is ours; a killed update has left the one that it was to replace."""
    known = record or {}
    return digest(text) in (known.get("sha256"), known.get("replaces"))
