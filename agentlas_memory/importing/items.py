"""What a source hands over: memories, and why something of it is none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import NamedTuple

from agentlas_memory.cut import LARGEST_TEXT, clean
from agentlas_memory.importing.secrets import Redactor
from agentlas_memory.redact import redact

MOST_ITEMS = 10_000  # notes of one import; the newest are kept

LONGEST_TITLE = 200
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class SourceError(Exception):
    """A source that cannot be read at all; the message says why."""


class Left(NamedTuple):
    """Something of a source that becomes no note, and why; both without credentials."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Item:
    """One memory as its source tells it, not yet without credentials.

    `key` names it in its source for ever, `place` is for people. `changed` is the day of its last
    change, `touched` what a file's time says of that: no reason to write anything again. `names`
    are what others may call it by in their `supersedes`.
    """

    key: str
    place: str
    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    changed: str = ""
    touched: str = ""
    status: str = ""
    private: bool = False
    names: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    replaced: bool = False  # it says itself that another one holds now
    identity: str = ""  # of its note, where the source gives it one
    digest: bytes = b""  # SHA-256 of its file, where it is a whole one

    @property
    def day(self) -> str:
        """The day that it speaks of, blank where nobody knows."""
        return self.changed[:10] or self.created[:10] or self.touched[:10]


@dataclass(slots=True)
class Gathered:
    """All that one source holds; `present` are the keys that are there and became no item."""

    origin: str  # names the source in the list of what was imported
    place: str  # the folder or file, for people
    items: list[Item] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    held: list[Left] = field(default_factory=list)  # looks like an instruction to a model
    present: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    redactor: Redactor = field(default_factory=Redactor)  # counts what was taken out
    partial: bool = False  # somebody asked for a part: what is not here may still be there


def plain(text: str) -> str:
    """Return text that a file and a store take: no NUL, no half of a surrogate pair."""
    whole = text.encode("utf-8", "replace").decode().replace("\0", "")
    return whole.replace("\r\n", "\n").replace("\r", "\n")


def joined(text: str) -> str:
    """Return a text on one line, whole and not yet without credentials; blank for a giant."""
    return " ".join(plain(text).split()) if len(text) <= LARGEST_TEXT else ""


def one_line(text: str, limit: int = LONGEST_TITLE) -> str:
    """Return a title or a place on one line of bounded length, without credentials."""
    if len(text) > LARGEST_TEXT:
        return ""
    # A key of several lines is seen before they are joined, one that was broken up behind it.
    return clean(" ".join(redact(plain(text)).split()), limit)


def as_moment(value: object) -> str:
    """Return a date as `2025-01-05` or `2025-01-05T10:11:12Z`, blank for what is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    try:
        if not isinstance(value, str):
            moment = datetime.fromtimestamp(value, timezone.utc)
        elif _DAY.fullmatch(value.strip()):
            return datetime.fromisoformat(value.strip()).date().isoformat()
        else:
            # Python before 3.11 reads neither `Z` nor any number of digits behind a second.
            plain = re.sub(r"\.\d+", "", value.strip()[:40].replace("Z", "+00:00"))
            moment = datetime.fromisoformat(plain)
        if moment.tzinfo is not None:
            moment = moment.astimezone(timezone.utc)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment.year >= 1970 else ""
