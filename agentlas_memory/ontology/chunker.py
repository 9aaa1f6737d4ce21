"""Sections cut into chunks that can be ranked, shown and checked against the file's lines.

A chunk is whole lines, about 200 words of them; only a line that is longer than a chunk is cut.
The best place to cut is between paragraphs, then between list items, table rows and sentences,
then at any line end; a code block is one piece unless it is very long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentlas_memory.ontology.documents import Chunk, Document, Section

MAX_WORDS = 220
MIN_WORDS = 150
OVERLAP_WORDS = 30
MAX_OVERLAP_WORDS = 45
# Fewer words than these do not make a chunk of their own beside a neighbour.
LONELY_WORDS = 40
MAX_FENCE_WORDS = 400
# A cut line is read in pieces of this size, so that the overlap works inside it too.
PIECE_WORDS = 25
CHARS_PER_WORD = 12

_WIDE = re.compile(
    r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff]"
)
_ITEM = re.compile(r"\s*(?:[-*+|]|\d+[.)])\s?")
_WORD = re.compile(r"\s*(?:[!-~]{1,300}|\S{1,50})")


class _Piece(NamedTuple):
    """Text that stays together: a line, a code block, or a part of a very long line."""

    first: int
    last: int
    text: str
    words: int
    continues_line: bool = False


def chunk_document(document: Document) -> list[Chunk]:
    """Cut every section's body; headings alone count only when the document has nothing else."""
    chunks = [chunk for section in document.sections for chunk in _chunk_section(section)]
    if chunks or not document.sections:
        return chunks
    return _chunk_section(_headings_alone(document.sections))


def _headings_alone(sections: Sequence[Section]) -> Section:
    first, last = sections[0], sections[-1]
    text = "\n".join(section.text for section in sections)
    return Section((), first.start_line, first.start_line, last.end_line, text)


def _chunk_section(section: Section) -> list[Chunk]:
    lines = section.text.split("\n")[section.body_line - section.start_line :]
    body = "\n".join(lines)
    if not body.strip():
        return []
    if count_words(body) <= MAX_WORDS:
        pieces = [_Piece(section.body_line, section.end_line, body, 0)]
        return [_as_chunk(section, lines, pieces)]
    pieces = list(_pieces(section, lines))
    return [
        _as_chunk(section, lines, pieces[start:end])
        for start, end in _spans(pieces)
        if any(piece.text.strip() for piece in pieces[start:end])
    ]


def count_words(text: str) -> int:
    """Count words; scripts without spaces by two signs a word, endless tokens by their length."""
    words = max(len(text.split()), len(text.strip()) // CHARS_PER_WORD)
    return words if text.isascii() else words + len(_WIDE.findall(text)) // 2


def _pieces(section: Section, lines: Sequence[str]) -> Iterator[_Piece]:
    ends = dict(section.fences)
    number = section.body_line
    while number <= section.end_line:
        end = min(ends.get(number, number), section.end_line)
        text = "\n".join(lines[number - section.body_line : end - section.body_line + 1])
        words = count_words(text)
        if end > number and words > MAX_FENCE_WORDS:
            end, text = number, lines[number - section.body_line]
            words = count_words(text)
        if end == number and words > MAX_WORDS:
            yield from _cut_line(number, text)
        else:
            yield _Piece(number, end, text, words)
        number = end + 1


def _cut_line(number: int, line: str) -> Iterator[_Piece]:
    start = 0
    words = 0
    for word in _WORD.finditer(line):
        size = count_words(word[0])
        if words and words + size > PIECE_WORDS:
            yield _Piece(number, number, line[start : word.start()], words, start > 0)
            start, words = word.start(), 0
        words += size
    yield _Piece(number, number, line[start:], words, start > 0)


def _spans(pieces: Sequence[_Piece]) -> Iterator[tuple[int, int]]:
    """Yield which pieces make each chunk."""
    start = 0
    while True:
        end = _end_of_chunk(pieces, start)
        yield start, end
        if end == len(pieces):
            return
        start = _start_of_overlap(pieces, start, end)


def _end_of_chunk(pieces: Sequence[_Piece], start: int) -> int:
    words = 0
    best, best_quality = 0, -1
    for index in range(start, len(pieces)):
        piece = pieces[index]
        if not piece.text.strip():
            continue
        if words >= MIN_WORDS:
            quality = _cut_quality(pieces[index - 1], piece)
            if quality >= best_quality:
                best, best_quality = index, quality
        if words >= LONELY_WORDS and words + piece.words > MAX_WORDS:
            end = best or index
            return len(pieces) if _is_lonely(pieces, end) else end
        words += piece.words
    return len(pieces)


def _is_lonely(pieces: Sequence[_Piece], end: int) -> bool:
    words = 0
    for piece in pieces[end:]:
        words += piece.words
        if words >= LONELY_WORDS:
            return False
    return True


def _cut_quality(before: _Piece, after: _Piece) -> int:
    if after.continues_line:
        return 0
    if not before.text.strip():
        return 3
    if _ITEM.match(after.text) or before.text.rstrip().endswith((".", "!", "?", ":", "。")):
        return 2
    return 1


def _start_of_overlap(pieces: Sequence[_Piece], start: int, end: int) -> int:
    words = 0
    first = end
    while first - 1 > start and words < OVERLAP_WORDS:
        words += pieces[first - 1].words
        if words > MAX_OVERLAP_WORDS or words + pieces[end].words > MAX_WORDS:
            break
        first -= 1
    return first


def _as_chunk(section: Section, lines: Sequence[str], pieces: Sequence[_Piece]) -> Chunk:
    """Join the pieces without the blank lines around them."""
    text = pieces[0].text + "".join(
        piece.text if piece.continues_line else f"\n{piece.text}" for piece in pieces[1:]
    )
    first, last = pieces[0].first, pieces[-1].last
    while not lines[first - section.body_line].strip():
        first += 1
    while not lines[last - section.body_line].strip():
        last -= 1
    head = first - pieces[0].first
    tail = pieces[-1].last - last
    kept = "\n".join(text.split("\n")[head : -tail or None])
    return Chunk(
        heading_path=section.heading_path,
        start_line=first,
        end_line=last,
        text=kept.lstrip() if pieces[0].continues_line else kept,
    )
