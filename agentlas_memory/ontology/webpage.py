"""HTML as readable lines: the text of each line of the file, on the same line.

A small scanner of our own, because a snippet must name its lines exactly: selectolax does not
know where in the file a piece stands, and the standard library's parser, which does, needs 23
seconds for 50 kB of unfinished tags (Python 3.13.0, measured; it grows with the square).
Headings that share a line (minified pages) cannot be told apart by line: the last one of a
line stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from agentlas_memory.ontology.outline import Heading, Outline

# No part of a tag may run past the next `<`, or be longer than any real one: a scan stays linear.
_MARK = re.compile(
    r"<!--|<[!?][^<>]*>?"
    r"|<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9-]*)"
    r"(?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}'){0,1000}>"
)
_RAW = {
    tag: re.compile(rf"</{tag}\b", re.IGNORECASE) for tag in ("script", "style", "template", "svg")
}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TRACKED = frozenset({*_HEADINGS, "nav", "pre", "title"})
_BLOCKS = frozenset(
    {"p", "div", "section", "pre", "blockquote", "br", "li", "ul", "ol", "dt", "dd"}
    | {"table", "tr", "th", "td"}
)


class _Token(NamedTuple):
    tag: str
    closes: bool
    text: str
    line: int


def _tokens(page: str) -> Iterator[_Token]:
    """Yield the tags, and between them the texts (tag `""`), each with its line."""
    position, line = 0, 1
    while mark := _MARK.search(page, position):
        if text := page[position : mark.start()]:
            yield _Token("", False, text, line)
        line += text.count("\n")
        tag = (mark["tag"] or "").lower()
        position = _end_of(page, mark, tag)
        if tag:
            yield _Token(tag, bool(mark["end"]), "", line)
        line += page.count("\n", mark.start(), position)
    yield _Token("", False, page[position:], line)


def _end_of(page: str, mark: re.Match[str], tag: str) -> int:
    """Return where reading goes on: behind the tag, the comment or the script."""
    if mark[0] == "<!--":
        end = page.find("-->", mark.end())
        return len(page) if end < 0 else end + 3
    if tag in _RAW and not mark["end"]:
        closing = _RAW[tag].search(page, mark.end())
        return closing.start() if closing else len(page)
    return mark.end()


class WebPage:
    """The visible text of a page by line, its outline and its title."""

    def __init__(self, page: str) -> None:
        self.title = ""
        self._lines: list[list[str]] = [[] for _ in range(page.count("\n") + 1)]
        self._headings: list[tuple[Heading, int]] = []
        self._fences: list[tuple[int, int]] = []
        self._opened: dict[str, int] = {}
        self._heading_text: list[str] = []
        for token in _tokens(page):
            if not token.tag:
                self._read_text(token)
            elif token.closes:
                self._read_end(token)
            elif token.tag in _TRACKED:
                # What is not closed is not nested either: the outermost one counts.
                self._opened.setdefault(token.tag, token.line)
            if token.tag in _BLOCKS:
                self._lines[token.line - 1].append(" ")

    def lines(self) -> list[str]:
        """Return one line of text for each line of the file; only code keeps its indentation."""
        texts = ["".join(pieces).rstrip() for pieces in self._lines]
        code = {number for first, last in self._fences for number in range(first, last + 1)}
        return [
            text if number in code else " ".join(text.split())
            for number, text in enumerate(texts, start=1)
        ]

    def outline(self) -> Outline:
        """Return the headings; text behind a heading on its last line begins the body."""
        headings = {}
        for heading, size in self._headings:
            last = heading.body_line
            has_more = "".join(self._lines[last - 1][size:]).strip()
            headings[heading.line] = heading._replace(body_line=last if has_more else last + 1)
        return Outline(list(headings.values()), self._fences)

    def _read_text(self, token: _Token) -> None:
        if "title" in self._opened:
            self.title = self.title or " ".join(unescape(token.text).split())
        elif "nav" not in self._opened:
            if not _HEADINGS.keys().isdisjoint(self._opened):
                self._heading_text.append(unescape(token.text))
            for number, text in enumerate(token.text.split("\n"), start=token.line):
                # A reference to a newline must not move the lines.
                self._lines[number - 1].append(unescape(text).replace("\n", " "))

    def _read_end(self, token: _Token) -> None:
        opened = self._opened.pop(token.tag, 0)
        if token.tag == "pre" and opened:
            self._fences.append((opened, token.line))
        elif token.tag in _HEADINGS and opened:
            text = " ".join("".join(self._heading_text).split())
            self._heading_text.clear()
            if text:
                heading = Heading(_HEADINGS[token.tag], text, opened, token.line)
                self._headings.append((heading, len(self._lines[token.line - 1])))
