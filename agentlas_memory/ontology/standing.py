"""Whether a document still holds: its status, what it supersedes and what superseded it.

Read from front matter (`status:`, `supersedes:`, `superseded_by:`), from the same fields
written as lines near the top, and from a section called Status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, cast

from agentlas_memory.ontology.documents import INBOX, Document, Section
from agentlas_memory.ontology.front_matter import as_strings
from agentlas_memory.ontology.keys import (
    ADR,
    Entity,
    adr_entity,
    adr_of_path,
    identity_entity,
    is_adr_path,
    linked_entity,
)
from agentlas_memory.ontology.statuses import FALLEN, NAMES, STATUS_OF, STATUS_OF_PHRASE

Status = Literal["accepted", "superseded", "rejected", "deprecated", "proposed"]
Kind = Literal["adr", "note", "doc"]

_PROSE = frozenset({"markdown", "rst", "asciidoc", "org", "text", "html"})
_HEAD_LINES = 40
_ENTRY_LINES = 6  # of one decision among several in a file
_FIELD = re.compile(
    rf"[ \t>|*+:-]{{0,20}}[*_]{{0,3}}({NAMES}|supersedes|super[sc]eded[ _-]by)[*_]*"
    r"[ \t]*[:：|][*_:]*[ \t]*(.+)",
    re.IGNORECASE,
)
# A decision record also says it without a colon: `Supersedes [ADR 2](0002-queue.md)`.
_BARE_FIELD = re.compile(
    r"[\W_]*(supersedes|replaces|obsoletes|super[sc]eded[ _-]by)\s+((?:\[|ADR\b|#?\d).+)",
    re.IGNORECASE,
)
# Or in a sentence about itself: `This decision replaces our earlier decision in ADR-0001.`
_SENTENCE = re.compile(
    r"\bthis (?:decision|record|adr) (supersedes|replaces|obsoletes)\s+"
    r"(?:(?:the|our|an|earlier|previous|old|former|original|decision|record|one|in|of|from)\s+){0,6}"
    r"((?:\[|ADR\b|#\d).*?)(?:[.;]\s|[.;]?$|\s(?:because|since|as|see|which|that)\s)",
    re.IGNORECASE,
)
# Or in its first lines: `This decision is no longer in effect.`
_NOT_NOW = re.compile(
    r"\bthis (?:decision|record|adr) (?:is|was|has been)(?: now| since)? "
    r"(no longer (?:in effect|in force|valid|current|applicable)|\w+)",
    re.IGNORECASE,
)
# Or in its title: `[REJECTED] Use Hasura`, `Use Hasura (superseded)`.
_MARKED = re.compile(r"\W*[\[(]([^\W\d_]+)[\])]|.*[\[(]([^\W\d_]+)[\])]\W*$")
_BADGE = re.compile(r"!\[[^\]]*\]\([^)\s]*\bstatus-([a-z]+)-", re.IGNORECASE)
_STATUS_HEADING = re.compile(rf"\W*(?:\d+[.)]?\s+)?(?:{NAMES})\W*$", re.IGNORECASE)
_SUPERSEDED_BY = re.compile(r"\b(?:super[sc]eded|replaced|obsoleted)[ _-]by\b:?", re.IGNORECASE)
_SUPERSEDES = re.compile(r"\b(?:supersedes|replaces|obsoletes)\b:?", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_TWO_WORDS = re.compile(r"([^\W\d_]+(?:'[a-z])?) ([^\W\d_]+)")
_NOTHING_SAID = re.compile(r"[\W\d_]+")  # before the word: bullets, bold, `❌`, a date
# `Accepted -> Deprecated`, `Accepted on 2023-01-01, withdrawn on 2024-02-03`
_LATER = re.compile(
    r"(?:[-=]>|[→,;]|\b(?:now|then|later)\b)\s*(?:(?:now|then|later)\s+)?([^\W\d_]+)"
)
# `> **Deprecated.** Use ...` under the title of any document.
_NOTICE = re.compile(
    r"[ \t]*(?:>[ \t]*[*_]{0,3}|[*_]{2,3})(?:[^\w\s*]+[ \t]*)?(deprecated|obsolete)"
    r"(?:[.:!*_]|[ \t]*$)",
    re.IGNORECASE,
)
_NOTICE_LINES = 3
# `proposed | accepted | ...` is a template's list of what could stand here.
_CHOICE = re.compile(r"\w\s*[|/]\s*(?:accepted|rejected|proposed|superseded)", re.IGNORECASE)
_STRUCK = re.compile(r"~~.*?~~")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")
_NAME = re.compile(r"[\w./-]{1,200}")


class Claim(NamedTuple):
    """Another document that this one names as its successor or predecessor, and on which line."""

    entity: Entity
    line: int


class Standing(NamedTuple):
    """The status, the documents that this one replaces, and those that replace it."""

    status: Status | None
    supersedes: tuple[Claim, ...]
    superseded_by: tuple[Claim, ...]


class _Statement(NamedTuple):
    field: str
    text: str
    line: int


def document_kind(document: Document) -> Kind:
    """Tell decision records and notes from other documents."""
    if document.path.startswith(f"{INBOX}/"):
        return "note"
    return "adr" if is_adr_path(document.path) or document_adr(document) else "doc"


def document_adr(document: Document) -> Entity | None:
    """Return the decision that this document is the record of."""
    if entity := adr_of_path(document.path):
        return entity
    identities = as_strings(document.front_matter.get("id"))
    number = next(filter(None, map(ADR.match, (*identities, document.title))), None)
    return adr_entity(number[1]) if number else None


def document_status(document: Document) -> Status | None:
    """Return the document's status, as far as it says one."""
    return read_standing(document).status


def read_standing(document: Document) -> Standing:
    """Read everything that a document says about whether it holds."""
    statuses: list[Status] = []
    supersedes: list[Claim] = []
    superseded_by: list[Claim] = []
    for statement in _statements(document):
        if statement.field == "status":
            statuses += [cast("Status", statement.text)]
            continue
        claims = supersedes if statement.field == "supersedes" else superseded_by
        entities = _references(document, statement.text)
        claims += [Claim(entity, statement.line) for entity in entities]
    status = "superseded" if superseded_by else _last_of(statuses)
    return Standing(status, tuple(dict.fromkeys(supersedes)), tuple(dict.fromkeys(superseded_by)))


def _last_of(statuses: Sequence[Status]) -> Status | None:
    """Return the first status that is told; but one that does not hold comes after all others."""
    if "superseded" in statuses:
        return "superseded"
    fallen = [status for status in statuses if status in FALLEN]
    return next(iter((*fallen, *statuses)), None)


def _statements(document: Document) -> Iterator[_Statement]:
    for key, value in document.front_matter.items():
        for text in as_strings(value):
            yield from _read_field(key, text, 1)
    if document.kind not in _PROSE:
        return
    # Elsewhere than in a record, `status: rejected` may well describe a field of some interface:
    # there, only what stands under the title and first under Status speaks of the document.
    is_record = document_kind(document) == "adr"
    yield from _read_notice(document)
    for section in document.sections[:1] if is_record else ():
        yield from _read_mark(section)
    head = [section for section in document.sections[:2] if len(section.heading_path) < 2]
    for section in document.sections if is_record else head:
        for number, line in _lines_outside_fences(section, section.start_line):
            if number > _HEAD_LINES:
                break
            field = _FIELD.match(line)
            if is_record and not field:
                field = _BARE_FIELD.match(line) or _SENTENCE.search(line)
            if field:
                yield from _read_field(field[1], field[2], number)
            elif is_record and (told := _BADGE.search(line) or _NOT_NOW.search(line)):
                yield from _read_status(told[1], number)
    for section in document.sections:
        if is_status_section(section):
            lines = _lines_outside_fences(section, section.body_line)
            for number, line in lines if is_record else islice(lines, 1):
                yield from _read_status(line, number)


def section_statuses(section: Section) -> Iterator[str]:
    """Yield what a section says of itself: in its heading, and in a line `Status: ...` or alike."""
    statements = list(_read_mark(section))
    lines = islice(_lines_outside_fences(section, section.body_line), _ENTRY_LINES)
    for number, line in lines:
        field = _FIELD.match(line) or _BARE_FIELD.match(line)
        if is_status_section(section):
            statements += _read_status(line, number)
        elif field:
            statements += _read_field(field[1], field[2], number)
    for statement in statements:
        if statement.field == "status":
            yield statement.text
        elif statement.field == "superseded_by":
            yield "superseded"


def is_status_section(section: Section) -> bool:
    """Tell whether a section is called Status."""
    return any(map(_STATUS_HEADING.match, section.heading_path[-1:]))


def heading_line(section: Section) -> str:
    """Return a section's heading as it is written, with its markup; blank without one."""
    return section.text.split("\n", 1)[0] if section.body_line > section.start_line else ""


def _read_mark(section: Section) -> Iterator[_Statement]:
    """Read a status in brackets before or behind a heading."""
    if marked := _MARKED.match(heading_line(section)):
        yield from _read_status(marked[1] or marked[2], section.start_line)


def _lines_outside_fences(section: Section, first: int) -> Iterator[tuple[int, str]]:
    fenced = {line for start, end in section.fences for line in range(start, end + 1)}
    for number, line in enumerate(section.text.split("\n"), start=section.start_line):
        if number >= first and number not in fenced and line.strip():
            yield number, line


def _read_field(name: str, text: str, line: int) -> Iterator[_Statement]:
    name = re.sub(r"[ -]", "_", name.lower()).replace("superceded", "superseded")
    name = "supersedes" if name in ("replaces", "obsoletes") else name
    if name in NAMES.split("|"):
        yield from _read_status(text, line)
    elif name in ("supersedes", "superseded_by"):
        yield _Statement(name, text, line)


def _read_status(text: str, line: int) -> Iterator[_Statement]:
    """Read `Accepted`, `superseded by [ADR-9](0009.md)` and `Supersedes ADR-3`, or nothing."""
    text = _STRUCK.sub("", text)
    if before := _NOTHING_SAID.match(text):
        text = text[before.end() :]
    word = _FIRST_WORD.match(text)
    if not word or _CHOICE.search(text):
        return
    if status := _status_in(text):
        yield _Statement("status", status, line)
    elif not _SUPERSEDES.match(text):
        return
    if successor := _SUPERSEDED_BY.search(text):
        yield _Statement("superseded_by", text[successor.end() :], line)
    elif predecessor := _SUPERSEDES.search(text):
        yield _Statement("supersedes", text[predecessor.end() :], line)


def _status_in(text: str) -> str | None:
    """Return the status that a text begins with, or ends with where it lost it."""
    text = text.lower().replace("’", "'")
    pair = _TWO_WORDS.match(text)
    first = STATUS_OF_PHRASE.get(pair[0]) if pair else None
    word = _FIRST_WORD.match(text)
    first = first or (STATUS_OF.get(word[0]) if word else None)
    if first != "accepted":
        return first
    later = (STATUS_OF.get(found) for found in _LATER.findall(text))
    return next((status for status in later if status in FALLEN), first)


def _read_notice(document: Document) -> Iterator[_Statement]:
    """Read the notice under a document's title that it no longer holds."""
    for section in document.sections[:1]:
        for number, line in islice(
            _lines_outside_fences(section, section.body_line), _NOTICE_LINES
        ):
            if notice := _NOTICE.match(line):
                yield _Statement("status", STATUS_OF[notice[1].lower()], number)


def _references(document: Document, text: str) -> list[Entity]:
    """Return the documents that a text names: by link, by ADR number, by path or by id."""
    linked = [linked_entity(document.path, target) for target in _LINK.findall(text)]
    found = [entity for entity in linked if entity]
    found += [adr_entity(number) for number in ADR.findall(text)]
    if not found:
        names = (name.strip(" \t*_`[]()\"'#").rstrip(".") for name in text.split(","))
        found = [_named(document, name) for name in names if _NAME.fullmatch(name)]
    return list({entity.key: entity for entity in found}.values())


def _named(document: Document, name: str) -> Entity:
    if name.isdecimal() and document_kind(document) == "adr":
        return adr_entity(name)
    is_path = "/" in name or name.endswith((".md", ".mdx", ".markdown", ".rst", ".adoc", ".org"))
    return (linked_entity(document.path, name) if is_path else None) or identity_entity(name)
