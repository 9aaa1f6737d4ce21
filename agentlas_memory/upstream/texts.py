"""Texts that an old store alone holds become notes, which say where they are from and how old."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentlas_memory.ontology.documents import INBOX
from agentlas_memory.ontology.notes import NoteError, list_notes, slug_of, write_note
from agentlas_memory.redact import redact
from agentlas_memory.upstream.reading import UpstreamReader
from agentlas_memory.upstream.report import Report, told
from agentlas_memory.upstream.sources import Source
from agentlas_memory.upstream.values import is_too_long, text_of

if TYPE_CHECKING:
    from agentlas_memory.ontology.config import Scope

TAG = "agentlas-os"
_LARGEST_PART = 1 << 20  # bytes of one note's text; a file may have twice as many
_LONGEST_OVERLAP, _SHORTEST_OVERLAP = 2000, 24  # characters that two chunks have in common
_DIGITS = 10
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}#{1,5}(?=[ \t])")


def write_texts(
    reader: UpstreamReader,
    sources: Sequence[Source],
    project: Path,
    hashes: set[str],
    report: Report,
    *,
    is_finished: bool = False,
) -> None:
    """Write a note for each text; one that is there already is left as it is.

    `hashes` are the SHA-256 of the project's files: what equals one has only been moved. After a
    finished run nothing is written: a note that is gone was taken away by somebody.
    """
    there = {note.id for note in list_notes(project).notes}
    texts: set[bytes] = set()
    for source in sources:
        name = source.path or source.uri or source.name
        if source.content_hash in hashes:
            report.leave("texts", "a file of the project says the same", name)
            continue
        parts = list(_parts(reader, source, report))
        digest = hashlib.sha256(" ".join(" ".join(parts).split()).encode()).digest()
        if not any(part.strip() for part in parts):
            report.leave("texts", "there is no text of it", name)
        elif digest in texts:
            report.leave("texts", "another text says the same", name)
        else:
            texts.add(digest)
            for number, part in enumerate(parts):
                if not is_finished or _identity(source, number) in there:
                    _write(project, source, part, number, there, report)
                else:
                    report.leave("texts", "its note was removed since", name)


def _write(
    project: Path, source: Source, text: str, number: int, there: set[str], report: Report
) -> None:
    identity = _identity(source, number)
    scope = cast("Scope", source.scope or "private")  # nobody said who may see it
    if identity in there:
        _carry(scope, report)
        return
    moment = source.moment or datetime.now(timezone.utc)
    _remove_unfinished(project, identity)
    try:
        write_note(
            project,
            redact(f"{heading_of(source, number)}\n\n{_below(text)}"),
            scope=scope,
            tags=[TAG],
            created=moment,
            identity=identity,
            title=_title(source, redact(text)),
        )
    except NoteError as error:
        report.leave("texts", str(error), source.path or source.uri)
    else:
        _carry(scope, report)


def _carry(scope: Scope, report: Report) -> None:
    report.carry("notes")
    report.private_notes += scope == "private"


def _title(source: Source, text: str) -> str:
    """Return what a note's file is named after: its source, or its text where that has no name."""
    name = redact(source.path or source.name or source.uri.rpartition("/")[2])
    words = re.sub(r"[-_/]+", " ", posixpath.splitext(name)[0])
    return words if slug_of(words) else text


def heading_of(source: Source, number: int = 0) -> str:
    """Return what stands above the text: every piece of it is told with this heading."""
    name = told(source.path or source.name or source.uri.rpartition("/")[2] or "text")
    name = name.replace("`", "'")
    age = f"as of {source.moment:%Y-%m-%d}" if source.moment else "of unknown age"
    state = f"gone since; {age}" if source.path else age
    part = f"; part {number + 1}" if number else ""
    origin = f"\n\nTaken over from Agentlas OS; origin: {told(source.uri or source.id)}"
    return f"# {name} ({state}{part}){origin}"


def _parts(reader: UpstreamReader, source: Source, report: Report) -> Iterator[str]:
    """Yield the text of a source, in pieces that a note may hold."""
    part, size, last = "", 0, ""
    for _, rowid in sorted(source.chunks):
        row = reader.row("chunks", ("text",), rowid)
        value = row[0] if row else None
        text = text_of(value)
        if row is None or not text.strip():
            long = is_too_long(value)
            report.leave("chunks", "longer than is read" if long else "they cannot be read")
            continue
        more = text[_overlap(last, text) :]
        length = len(more.encode())
        if part and size + length > _LARGEST_PART:
            yield part
            part, size = "", 0
        part += ("" if len(more) < len(text) or not part else "\n\n") + more
        size += length
        last = text
    if part:
        yield part


def _overlap(before: str, text: str) -> int:
    """Return how many characters of a chunk repeat the end of the one before."""
    end, head = before[-_LONGEST_OVERLAP:], text[:_SHORTEST_OVERLAP]
    at = end.find(head) if len(head) == _SHORTEST_OVERLAP else -1
    while at >= 0:
        if text.startswith(end[at:]):
            return len(end) - at
        at = end.find(head, at + 1)
    return 0


def _below(text: str) -> str:
    """Return a text whose headings stand below ours, so that each piece keeps ours."""
    lines = text.split("\n")
    fence = ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and _HEADING.match(line):
            lines[at] = line.replace("#", "##", 1)
        elif not fence and line.strip() and not line.strip().strip("=") and at:
            lines[at] = line.replace("=", "-")
    return "\n".join(lines)


def _identity(source: Source, number: int) -> str:
    """Return the id of a note: a second run finds it there."""
    told = "\0".join((source.id, source.uri, str(number)))
    return hashlib.sha256(told.encode()).hexdigest()[:_DIGITS]


def _remove_unfinished(project: Path, identity: str) -> None:
    """Take away what a killed run left half written under the same id."""
    for left in (project / INBOX).glob(f".*-{identity}*.tmp"):
        left.unlink()
