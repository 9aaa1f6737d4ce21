"""What mem0 hands out as JSON: a list of memories, or an object that holds one.

    {"results": [{"id": "...", "memory": "...", "created_at": "...", "updated_at": "...",
                  "user_id": "...", "categories": ["..."], "metadata": {...}}]}

`user_id`, `agent_id` and `metadata` are not taken over: they are about people and programs, not
about the project.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from agentlas_memory.importing.items import (
    Gathered,
    Item,
    Left,
    SourceError,
    as_moment,
    joined,
    one_line,
    plain,
)
from agentlas_memory.lean import read_file

_LARGEST = 128 << 20
_LONGEST = 20_000  # characters; more is no memory but a document
_LISTS = ("results", "memories", "data")
_TEXTS = ("memory", "text", "content", "data")
_MOST_TAGS = 20
_SHOWN = 48
_LONGEST_KEY = 200
_LONGEST_TITLE = 80


def gather_mem0(file: Path) -> Gathered:
    """Read an export."""
    gathered = Gathered("mem0", str(file))
    now = datetime.now(timezone.utc)
    for number, value in enumerate(_memories(_load(file)), start=1):
        _take(gathered, number, value, f"{now:%Y-%m-%dT%H:%M:%SZ}")
    return gathered


def _load(file: Path) -> object:
    try:
        data = read_file(str(file), _LARGEST + 1)
    except (OSError, ValueError) as error:
        raise SourceError(f"{file} cannot be read: {error}") from error
    if len(data) > _LARGEST:
        raise SourceError(f"{file} is larger than {_LARGEST >> 20} MiB")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or nested without end
        # What json says of a fault holds its place alone, never the text.
        raise SourceError(one_line(f"{file} is not valid JSON: {error}", 300)) from error


def _memories(document: object) -> Iterator[object]:
    if isinstance(document, list):
        yield from document
        return
    if isinstance(document, dict):
        for key in _LISTS:
            if isinstance(document.get(key), list):
                yield from document[key]
                return
    raise SourceError(
        'it is no mem0 export: a list, {"results": [...]} or {"memories": [...]} is expected'
    )


def _take(gathered: Gathered, number: int, value: object, now: str) -> None:
    shown = f"memory {number}"
    if not isinstance(value, dict):
        gathered.left.append(Left(shown, "is no object"))
        return
    text = _text(value)
    identity = value.get("id")
    if isinstance(identity, (str, int)) and not isinstance(identity, bool):
        key = plain(str(identity)[:_LONGEST_KEY])  # told to nobody, but in a hash
        shown = one_line(str(identity), _SHOWN) or shown
    else:
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    reason = _reason(value, text, now)
    if reason:
        gathered.present.add(key)
        gathered.left.append(Left(shown, reason))
        return
    gathered.items.append(
        Item(
            key=key,
            place=shown,
            text=text,
            title=one_line(text, _LONGEST_TITLE),
            tags=_tags(value.get("categories")),
            created=as_moment(value.get("created_at")),
            changed=as_moment(value.get("updated_at")),
        )
    )


def _text(value: dict[str, Any]) -> str:
    found = (value[key] for key in _TEXTS if isinstance(value.get(key), str))
    return plain(next(found, "")).strip()


def _reason(value: dict[str, Any], text: str, now: str) -> str:
    """Return why a memory is left out, blank for one that is taken."""
    if not text:
        return "says nothing"
    if len(text) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    ends = as_moment(value.get("expiration_date"))
    if ends and ends[:10] < now[:10]:
        return "expired"
    return "deleted" if value.get("deleted") is True or value.get("is_deleted") is True else ""


def _tags(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    texts = (joined(name) for name in names if isinstance(name, str) and name.strip())
    return tuple(dict.fromkeys(filter(None, texts)))[:_MOST_TAGS]
