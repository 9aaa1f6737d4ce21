"""An agent's ledger: what it learned, one JSON object a line, the authority for its experience.

    {"op": "add", "id": "3f9c2a71d0", "text": "...", "tags": ["migration"], "scope": "private",
     "salience": 0.5, "expires": "2026-12-31", "created": "2026-01-05T10:11:12Z",
     "supersedes": ["..."], "contradicts": ["..."]}
    {"op": "supersede", "id": "3f9c2a71d0", "by": "77aa01b2c3"}
    {"op": "expire", "id": "3f9c2a71d0", "expires": "2026-06-01"}
    {"op": "quarantine", "id": "3f9c2a71d0"}
    {"op": "approve", "id": "3f9c2a71d0"}
    {"op": "reset", "id": "3f9c2a71d0"}

Lines are only ever added. Of an `add` the text alone is needed; a later one of the same id replaces
what the earlier said. A line that cannot be understood is an error, never passed over: it may be
the one that takes something back.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

from agentlas_memory.lean import read_file
from agentlas_memory.ontology.experience import (
    ACTIVE,
    CONTRADICTS,
    MOST_LINKS,
    QUARANTINED,
    SUPERSEDES,
)
from agentlas_memory.ontology.schema import SCOPES
from agentlas_memory.redact import redact

LARGEST_LEDGER = 64 << 20
LONGEST_TEXT = 2000  # characters; more is a document
DEFAULT_SCOPE, DEFAULT_SALIENCE = "private", 0.5
_ID_DIGITS = 10
_LONGEST_ID = 64


class LedgerError(Exception):
    """A ledger or a line of it that cannot be understood; the message says which and why."""


class LedgerMissing(LedgerError):
    """There is a database and no ledger: to go on would empty the database."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that an agent learned, without credentials."""

    id: str
    text: str
    tags: tuple[str, ...] = ()
    scope: str = DEFAULT_SCOPE
    salience: float = DEFAULT_SALIENCE
    expiry: str = ""
    created: str = ""
    status: str = ACTIVE


@dataclass(slots=True)
class Ledger:
    """What all lines say together: rows by id, and (from, relation, to) links between them."""

    rows: dict[str, Row] = field(default_factory=dict)
    links: set[tuple[str, str, str]] = field(default_factory=set)
    approved: set[str] = field(default_factory=set)  # ids that a person looked at and let stay
    redacted: list[int] = field(default_factory=list)  # numbers of lines that hold a credential
    _older: dict[str, set[str]] = field(default_factory=dict)  # ids that each one supersedes

    def apply(self, event: Mapping[str, Any]) -> None:
        """Take in what one line says; raise LedgerError where it says nothing clear."""
        operation = event.get("op", "add")
        if operation == "add":
            self._add(event)
            return
        row = self._row(event.get("id"))
        if operation == "supersede":
            self._relate(self._row(event.get("by")).id, SUPERSEDES, row.id)
        elif operation == "expire":
            self.rows[row.id] = replace(row, expiry=read_expiry(event.get("expires")))
        elif operation in ("quarantine", "approve", "reset"):
            status = QUARANTINED if operation == "quarantine" else ACTIVE
            self.rows[row.id] = replace(row, status=status)
            self.approved.discard(row.id)
            if operation == "approve":
                self.approved.add(row.id)
        else:
            raise LedgerError(f"op is {operation!r}"[:80])

    def replaced_by(self, identity: str) -> list[Row]:
        """Return the rows that a row supersedes, directly or through others."""
        found: dict[str, Row] = {}
        ahead = [identity]
        while ahead:
            newer = ahead.pop()
            for older in sorted(self._older.get(newer, ())):
                if older != identity and older not in found:
                    found[older] = self.rows[older]
                    ahead.append(older)
        return list(found.values())

    def _add(self, event: Mapping[str, Any]) -> None:
        row = read_row(event)
        before = self.rows.get(row.id)
        if before is not None and before.scope != row.scope:
            raise LedgerError(f"{row.id} was added in the scope {before.scope}")
        if before is not None and before.text.split() == row.text.split():
            row = replace(row, status=before.status)  # a decision is about the text
        else:
            self.approved.discard(row.id)
        self._take_back(row.id)
        self.rows[row.id] = row
        for relation in (SUPERSEDES, CONTRADICTS):
            for other in _texts(event, relation):
                self._relate(row.id, relation, self._row(other).id)

    def _take_back(self, identity: str) -> None:
        """Forget what a row said of others: the line that replaces it says so again, or not."""
        self.links = {link for link in self.links if link[0] != identity}
        self._older.pop(identity, None)

    def _row(self, identity: object) -> Row:
        row = self.rows.get(identity) if isinstance(identity, str) else None
        if row is None:
            raise LedgerError(f"no line before this one adds {identity!r}"[:120])
        return row

    def _relate(self, newer: str, relation: str, older: str) -> None:
        if newer == older:
            raise LedgerError(f"{newer} {relation} itself")
        if relation == SUPERSEDES and self.rows[newer].scope != self.rows[older].scope:
            raise LedgerError(f"{newer} and {older} are in different scopes")
        if len(self.links) >= MOST_LINKS:
            raise LedgerError(f"there are more than {MOST_LINKS} links between rows")
        if relation == SUPERSEDES:
            self._make_current(newer, older)
            self._older.setdefault(newer, set()).add(older)
        self.links.add((newer, relation, older))

    def _make_current(self, identity: str, older: str) -> None:
        """Take back that a row was superseded by what it supersedes now: the later line counts."""
        for one in (older, *(row.id for row in self.replaced_by(older))):
            if identity in self._older.get(one, ()):
                self._older[one].discard(identity)
                self.links.discard((one, SUPERSEDES, identity))


def read_ledger(path: Path, agent_id: str) -> Ledger:
    """Return what a ledger says, an empty one without a file; raise LedgerError, OSError."""
    ledger = Ledger()
    for number, event in read_events(path, agent_id):
        try:
            clean = without_secrets(event)
            if clean != event:
                ledger.redacted.append(number)
            ledger.apply(clean)
        except RecursionError as error:
            raise LedgerError(f"{path}, line {number} is nested too deeply") from error
        except LedgerError as error:
            raise LedgerError(f"{path}, line {number}: {error}") from error
    return ledger


def read_events(path: Path, agent_id: str) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each line; raise LedgerError for one that is of no use."""
    try:
        data = read_file(str(path), LARGEST_LEDGER + 1)
    except FileNotFoundError:
        return
    if len(data) > LARGEST_LEDGER:
        raise LedgerError(f"{path} is larger than {LARGEST_LEDGER >> 20} MiB")
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise LedgerError(f"{path}, line {number} is not JSON: {error}") from error
        if not isinstance(event, dict):
            raise LedgerError(f"{path}, line {number} is no JSON object")
        if event.get("agent", agent_id) != agent_id:
            named = redact(repr(event["agent"]))[:80]
            raise LedgerError(f"{path}, line {number} is of the agent {named}")
        yield number, event


def append_events(path: Path, events: Iterable[Mapping[str, Any]]) -> None:
    """Add lines, all or none, for the owner alone."""
    data = b"".join(map(render_event, events))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_FOLLOW, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size and not _ends_line(path, size):
            data = b"\n" + data  # somebody's editor left the last line open
        try:
            if os.write(handle, data) != len(data):
                raise OSError(f"{path} could not be written whole")
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


def _ends_line(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == b"\n"


def render_event(event: Mapping[str, Any]) -> bytes:
    """Return the line of an event."""
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def read_row(event: Mapping[str, Any]) -> Row:
    """Return the row that an `add` describes."""
    text = event.get("text")
    if not isinstance(text, str) or not text.strip():
        raise LedgerError("it adds no text")
    if len(text) > LONGEST_TEXT:
        raise LedgerError(f"its text is longer than {LONGEST_TEXT} characters")
    scope = event.get("scope", DEFAULT_SCOPE)
    if scope not in SCOPES:
        raise LedgerError(f"scope is {scope!r}; it must be one of {', '.join(SCOPES)}"[:200])
    text = text.encode("utf-8", "replace").decode().replace("\0", " ").strip()
    return Row(
        id=_identity(event, scope, text),
        text=text,
        tags=_texts(event, "tags"),
        scope=scope,
        salience=_salience(event.get("salience", DEFAULT_SALIENCE)),
        expiry=read_expiry(event.get("expires", "")),
        created=_moment(event.get("created", "")),
    )


def content_id(scope: str, text: str) -> str:
    """Return the id of a row that was given none: the same text is the same row."""
    told = f"{scope}\0{' '.join(text.split())}"
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:_ID_DIGITS]


def _identity(event: Mapping[str, Any], scope: str, text: str) -> str:
    identity = event.get("id")
    if identity is None:
        return content_id(scope, text)
    if not isinstance(identity, str) or not 0 < len(identity) <= _LONGEST_ID:
        raise LedgerError(f"id must be a text of at most {_LONGEST_ID} characters")
    if not identity.isascii() or not identity.isprintable() or " " in identity:
        raise LedgerError(f"id {identity!r} must be printable ASCII without blanks")
    return identity


def _texts(event: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = event.get(key, ())
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not all(isinstance(one, str) for one in values):
        raise LedgerError(f"{key} must be a list of texts")
    clean = (" ".join(one.encode("utf-8", "replace").decode().split()) for one in values)
    return tuple(dict.fromkeys(one for one in clean if one))


def _salience(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise LedgerError("salience must be a number from 0 to 1")
    return float(value)


def read_expiry(value: object) -> str:
    """Return an expiry as it is stored: blank, a date, or a moment of UTC."""
    if value in ("", None):
        return ""
    if isinstance(value, str) and len(value) == len("2026-12-31"):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError as error:
            raise LedgerError(f"expires: {error}") from error
    return _moment(value, "expires")


def _moment(value: object, key: str = "created") -> str:
    """Return a moment as UTC; one without a zone is local."""
    if value in ("", None):
        return ""
    try:
        if not isinstance(value, str):
            raise ValueError("it is no text")
        if value[4:5] != "-" or value[10:11] not in ("T", " "):  # Pythons differ in what they take
            raise ValueError(
                f"{redact(value)[:40]!r} is neither 2026-12-31 nor 2026-12-31T08:00:00Z"
            )
        moment = datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone(timezone.utc)
        return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
    except (ValueError, OverflowError) as error:
        raise LedgerError(f"{key} is no date and no ISO time: {error}") from error


def without_secrets(value: Any) -> Any:
    """Return a JSON value with every credential in its texts replaced."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [without_secrets(one) for one in value]
    if isinstance(value, dict):
        return {redact(key): without_secrets(one) for key, one in value.items()}
    return value
