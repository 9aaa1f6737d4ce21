"""Columns of a store that may hold anything, read as what they should be."""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone

from agentlas_memory.cut import clean
from agentlas_memory.ontology.schema import SCOPES
from agentlas_memory.redact import redact
from agentlas_memory.upstream.reading import LONGEST_VALUE

_LONGEST_WORD = 100


def text_of(value: object) -> str:
    """Return a text, blank for anything else and for one that was too long to be read."""
    if not isinstance(value, str) or len(value) > LONGEST_VALUE:
        return ""
    return value.encode("utf-8", "replace").decode().replace("\0", " ")


def is_too_long(value: object) -> bool:
    """Tell whether a text is longer than is read."""
    return isinstance(value, str) and len(value) > LONGEST_VALUE


def share_of(value: object, default: float) -> float:
    """Return a number from 0 to 1; one beyond them is the nearest."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return default
    return min(1.0, max(0.0, float(value)))


def whole_of(value: object) -> int:
    """Return a whole number, 0 for anything else."""
    return value if isinstance(value, int) else 0


def words_of(value: object) -> list[str]:
    """Return the texts of a JSON list without credentials, none for anything else."""
    try:
        found = json.loads(text_of(value) or "[]")
    except (ValueError, RecursionError):
        return []
    words = [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
    return [clean(" ".join(redact(text_of(word)).split()), _LONGEST_WORD) for word in words[:32]]


def scope_of(*values: object) -> str:
    """Return the narrowest scope that is named; one that is not understood is private."""
    named = [text_of(value).strip().lower() for value in values if value is not None]
    if not named or any(one not in SCOPES for one in named):
        return "private"
    return max(named, key=SCOPES.index)


def moment_of(value: object) -> datetime | None:
    """Return an ISO time; one without a zone is UTC, as SQLite writes it."""
    text = text_of(value).strip().replace("Z", "+00:00")
    try:
        if text[4:5] != "-":
            return None
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc)
    except OverflowError:
        return None


def iso(moment: datetime) -> str:
    """Return a moment as a ledger and a note hold it."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"
