"""Several decisions in one file: each has a status of its own, and falls by itself.

A file's status is one for all its chunks, so what does not hold of such a file is left out of the
store: it cannot be told as what it is, and must not be told as if it held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentlas_memory.ontology.documents import INBOX, Document, Section
from agentlas_memory.ontology.keys import ADR
from agentlas_memory.ontology.standing import (
    document_adr,
    heading_line,
    is_status_section,
    section_statuses,
)
from agentlas_memory.ontology.statuses import FALLEN, STATUS_OF

_LOG = re.compile(
    r"decision|decisi[oó]n|décision|decis[aã]o|entscheidung|\badrs?\b|решени|决策|決定", re.I
)
_STRUCK = re.compile(r"\W*~~.+~~\W*")


def without_fallen_entries(document: Document) -> Document:
    """Return a document without those of its decisions that were superseded, rejected and so on.

    A document that is one decision, or none, stays as it is.
    """
    if not _is_log(document):
        return document
    return replace(document, sections=tuple(_holding(document.sections)))


def _is_log(document: Document) -> bool:
    if document.path.startswith(f"{INBOX}/"):
        return False
    headings = [section.heading_path[-1] for section in document.sections if section.heading_path]
    if len({number[1] for number in map(ADR.match, headings) if number}) > 1:
        return True
    if document_adr(document):
        return False
    return bool(_LOG.search(document.path.rpartition("/")[2]) or _LOG.search(document.title))


def _holding(sections: Sequence[Section]) -> Iterator[Section]:
    fallen = _fallen_entries(sections)
    below: tuple[str, ...] | None = None  # the path of the entry that is being left out
    for at, section in enumerate(sections):
        path = section.heading_path
        if below is not None and (len(path) <= len(below) or path[: len(below)] != below):
            below = None
        if below is None and at in fallen:
            below = path
        if below is None:
            yield section


def _fallen_entries(sections: Sequence[Section]) -> set[int]:
    """Return which sections begin a decision that does not hold; the file's title begins none."""
    own = len(sections[0].heading_path) if _has_title(sections) else 0
    fallen = set()
    for at, section in enumerate(sections):
        entry = _entry_of(sections, at)
        if len(sections[entry].heading_path) > own and _says_it_fell(section):
            fallen.add(entry)
    return fallen


def _has_title(sections: Sequence[Section]) -> bool:
    first = sections[0].heading_path if sections else ()
    return len(first) == 1 and all(one.heading_path[:1] == first for one in sections)


def _entry_of(sections: Sequence[Section], at: int) -> int:
    """Return the section that a status is about: of one called Status, the one above it."""
    if not is_status_section(sections[at]):
        return at
    above = sections[at].heading_path[:-1]
    return next((one for one in range(at - 1, -1, -1) if sections[one].heading_path == above), at)


def _says_it_fell(section: Section) -> bool:
    heading = section.heading_path[-1] if section.heading_path else ""
    if (
        _STRUCK.fullmatch(heading_line(section))
        or STATUS_OF.get(heading.strip(" *_:").lower()) in FALLEN
    ):
        return True
    return any(status in FALLEN for status in section_statuses(section))
