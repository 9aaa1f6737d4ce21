"""From a list of headings to sections with exact line spans, the same way for every format."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agentlas_memory.ontology.documents import Section

MAX_HEADING = 300


class Heading(NamedTuple):
    """A heading, the line it starts on and the first line of what stands under it."""

    level: int
    text: str
    line: int
    body_line: int


class Outline(NamedTuple):
    """What a format's reader finds in a file: its headings and its code blocks, in order."""

    headings: Sequence[Heading]
    fences: Sequence[tuple[int, int]] = ()


def build_sections(lines: Sequence[str], outline: Outline, first_line: int) -> tuple[Section, ...]:
    """Cut the lines from `first_line` on at the headings and give each section its path."""
    preamble = Heading(0, "", first_line, first_line)
    ends = [*(heading.line - 1 for heading in outline.headings), len(lines)]
    fence_starts = [first for first, _ in outline.fences]
    sections = []
    open_headings: list[Heading] = []
    for heading, end in zip((preamble, *outline.headings), ends, strict=True):
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        if heading.text:
            open_headings.append(heading)
        if heading.line > end:
            continue
        fences = outline.fences[
            bisect_left(fence_starts, heading.line) : bisect_left(fence_starts, end + 1)
        ]
        sections.append(
            Section(
                heading_path=tuple(opened.text[:MAX_HEADING] for opened in open_headings),
                start_line=heading.line,
                body_line=heading.body_line,
                end_line=end,
                text="\n".join(lines[heading.line - 1 : end]),
                fences=tuple(fences),
            )
        )
    return tuple(sections)


def first_title(headings: Iterable[Heading]) -> str | None:
    """Return the first heading of the top level, if the file has one."""
    return next((heading.text[:MAX_HEADING] for heading in headings if heading.level == 1), None)
