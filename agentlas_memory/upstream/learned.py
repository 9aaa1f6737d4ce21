"""Experience rows of an old store become lines of an agent's own ledger, under its rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from agentlas_memory.ontology.experience import CONTRADICTS, SUPERSEDES
from agentlas_memory.ontology.ledger import (
    DEFAULT_SALIENCE,
    LONGEST_TEXT,
    Ledger,
    LedgerError,
    content_id,
    read_expiry,
)
from agentlas_memory.redact import redact
from agentlas_memory.routing_card import agent_name
from agentlas_memory.upstream.reading import UpstreamReader
from agentlas_memory.upstream.report import Report
from agentlas_memory.upstream.values import (
    iso,
    moment_of,
    scope_of,
    share_of,
    text_of,
    words_of,
)

ROWS = "experience rows"
TICKET = "candidate"  # the kind of a curator's ticket, which is no experience
_ACTIVE = ("active", "approved", "accepted", "confirmed", "committed", "promoted", "current")
_REPLACED = "superseded"
_MOST_ROWS, _MOST_BYTES = 20_000, 24 << 20  # a ledger may have 64 MiB
# Neither label can be the name of an agent: that has no spaces.
_UNSAID, _OTHERS, _MOST_AGENTS = "no agent", "other agents", 50
_ENDED = "1970-01-01"
_COLUMNS = (
    "ticket_id",
    "candidate_text",
    "expiry",
    "status",
    "agent_id",
    "memory_kind",
    "tags_json",
    "salience",
    "privacy_scope",
    "created_at",
)


@dataclass
class _Row:
    """A row of the agent's that holds, or that a holding one replaced."""

    event: dict[str, Any]
    scope: str
    status: str
    problem: str = ""  # why it cannot be carried, although it holds


@dataclass
class Learned:
    """What old stores say that an agent learned."""

    rows: dict[str, _Row] = field(default_factory=dict)  # by ticket
    links: list[tuple[str, str, str]] = field(default_factory=list)  # (newer, relation, older)
    size: int = 0


def count_agents(reader: UpstreamReader, own: str = "") -> tuple[dict[str, int], int]:
    """Return how many experience rows there are of each agent, and how many tickets.

    The agent that the run is about is counted under its own name, however many others there are.
    """
    found: dict[str, int] = {}
    tickets = 0
    for _, agent, kind in reader.rows("memory_candidates", ("agent_id", "memory_kind")):
        if _is_ticket(kind):
            tickets += 1
            continue
        name = agent_of(agent) or text_of(agent).strip()[:100] or _UNSAID
        is_told = name in found or name == own or len(found) < _MOST_AGENTS
        name = name if is_told else _OTHERS
        found[name] = found.get(name, 0) + 1
    return found, tickets


def agent_of(value: object) -> str:
    """Return the name of the agent that a row is of, blank where it names none of ours.

    Agentlas OS wrote `hub:NAME`, and the bare name.
    """
    text = text_of(value).strip()
    return agent_name(text[4:] if text[:4].lower() == "hub:" else text)


def read_learned_rows(
    reader: UpstreamReader, slug: str, learned: Learned, report: Report
) -> Learned:
    """Add to what an agent learned the rows and links of one store."""
    for _, ticket, text, expiry, status, agent, kind, tags, salience, scope, created in reader.rows(
        "memory_candidates", _COLUMNS
    ):
        if _is_ticket(kind) or agent_of(agent) != slug:
            continue
        state = text_of(status).strip().lower()
        name = text_of(ticket)
        if state not in (*_ACTIVE, _REPLACED):
            report.leave(ROWS, f"the status is {state[:40] or 'blank'}", name)
            continue
        if len(learned.rows) >= _MOST_ROWS or learned.size > _MOST_BYTES:
            report.leave(ROWS, f"there are more than {_MOST_ROWS}, or they are too long", name)
            continue
        row = _row(text, scope, state)
        _fill(row, tags, salience, expiry, created)
        learned.size += len(row.event["text"])
        name = name or f"\0{len(learned.rows)}"
        if name in learned.rows:
            report.leave(ROWS, "another row has the same id", name)
        learned.rows[name] = row
    learned.links += _links(reader)
    return learned


def _is_ticket(kind: object) -> bool:
    return text_of(kind).strip().lower() == TICKET


def _row(text: object, scope: object, state: str) -> _Row:
    clean = redact(text_of(text)).strip()
    narrow = scope_of(scope)
    row = _Row({"op": "add", "text": clean, "scope": narrow}, narrow, state)
    row.event["id"] = content_id(narrow, clean)  # as of one that is typed today
    if not clean:
        row.problem = "there is no text that can be read"
    elif len(clean) > LONGEST_TEXT:
        row.problem = f"the text is longer than {LONGEST_TEXT} characters"
        row.event["text"] = ""
    return row


def _fill(row: _Row, tags: object, salience: object, expiry: object, created: object) -> None:
    if words := [redact(word) for word in words_of(tags) if word]:
        row.event["tags"] = words
    row.event["salience"] = share_of(salience, DEFAULT_SALIENCE)
    if moment := moment_of(created):
        row.event["created"] = iso(moment)
    if expiry is None or expiry == "":
        return
    try:
        text = text_of(expiry).strip()
        moment = moment_of(text) if len(text) != len("2026-12-31") else None
        row.event["expires"] = read_expiry(iso(moment) if moment else text or "?")
    except LedgerError:
        row.problem = row.problem or "the expiry cannot be read"


def _links(reader: UpstreamReader) -> Iterator[tuple[str, str, str]]:
    columns = ("from_ticket", "to_ticket", "link_type", "created_at")
    found: list[tuple[str, str, str, str]] = []
    for _, newer, older, kind, created in reader.rows("memory_links", columns):
        relation = text_of(kind).strip().lower()
        if relation in (SUPERSEDES, CONTRADICTS) and len(found) < _MOST_ROWS:
            moment = moment_of(created)
            key = iso(moment) if moment else ""
            found.append((key, text_of(newer), relation, text_of(older)))
    for _, newer, relation, older in sorted(found):  # the later one counts where two disagree
        yield newer, relation, older


def ledger_events(learned: Learned, ledger: Ledger, report: Report) -> list[dict[str, Any]]:
    """Return the lines that a ledger lacks, each of them tried on a copy of what it says."""
    carried = _carried(learned, report)
    known = set(ledger.rows)
    events: list[dict[str, Any]] = []
    ids: dict[str, str] = {}
    for ticket in carried:
        row = learned.rows[ticket]
        identity = ids[ticket] = row.event["id"]
        if identity in known:
            report.carry("experience")
        elif _tried(ledger, row.event, report, ROWS, events):
            known.add(identity)
            report.carry("experience")
    new = {event["id"] for event in events}
    for newer, relation, older in learned.links:
        one, other = ids.get(newer, ""), ids.get(older, "")
        link = (one, relation, other)
        if not one or not other or one == other or not {one, other} <= known:
            continue
        decided = link in ledger.links or not {one, other} & new  # since then, or by an earlier run
        if decided or _tried(ledger, _link_event(ledger, *link), report, "links", events):
            report.carry("links")
        elif relation == SUPERSEDES and other in new:  # what was replaced must not be current
            expired = {"op": "expire", "id": other, "expires": _ENDED}
            _tried(ledger, expired, report, "expiries", events)
    return events


def _link_event(ledger: Ledger, one: str, relation: str, other: str) -> dict[str, Any]:
    """Return the line that says how two rows stand to each other."""
    if relation == SUPERSEDES:
        return {"op": "supersede", "id": other, "by": one}
    row = ledger.rows[one]
    said = {
        key: [old for new, kind, old in sorted(ledger.links) if (new, kind) == (one, key)]
        for key in (SUPERSEDES, CONTRADICTS)
    }
    said[CONTRADICTS].append(other)
    event = {
        "op": "add",
        "id": one,
        "text": row.text,
        "tags": list(row.tags),
        "scope": row.scope,
        "salience": row.salience,
        "expires": row.expiry,
        "created": row.created,
    }
    return {key: value for key, value in (event | said).items() if value not in ("", [])}


def _tried(
    ledger: Ledger,
    event: dict[str, Any],
    report: Report,
    what: str,
    events: list[dict[str, Any]],
) -> bool:
    try:
        ledger.apply(event)
    except LedgerError as error:
        report.leave(what, "the ledger refuses it", str(error))
        return False
    events.append(event)
    return True


def _carried(learned: Learned, report: Report) -> list[str]:
    """Return the tickets of the rows that hold, and of what they replaced.

    A row that holds and cannot be carried takes with it what it replaced: without it, that would
    be told as current again.
    """
    older: dict[str, list[str]] = {}
    for newer, relation, old in learned.links:
        if relation == SUPERSEDES and _same_scope(learned, newer, old):
            older.setdefault(newer, []).append(old)
    active = [t for t, row in learned.rows.items() if row.status != _REPLACED]
    history = _reached(older, active)
    lost = _reached(older, [t for t in active if learned.rows[t].problem])
    carried = []
    for ticket, row in learned.rows.items():
        if row.problem:
            report.leave(ROWS, row.problem, ticket.strip("\0"))
        elif row.status == _REPLACED and ticket not in history:
            report.leave(ROWS, "it is superseded, and nothing that is here took its place", ticket)
        elif ticket in lost:
            report.leave(ROWS, "what took its place could not be carried", ticket)
        else:
            carried.append(ticket)
    return carried


def _same_scope(learned: Learned, newer: str, older: str) -> bool:
    one, other = learned.rows.get(newer), learned.rows.get(older)
    return one is not None and other is not None and one.scope == other.scope


def _reached(older: dict[str, list[str]], start: Iterable[str]) -> set[str]:
    """Return all that some rows replaced, directly or through others."""
    found: set[str] = set()
    ahead = list(start)
    while ahead:
        for ticket in older.get(ahead.pop(), ()):
            if ticket not in found:
                found.add(ticket)
                ahead.append(ticket)
    return found
