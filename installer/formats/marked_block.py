"""One block of lines between two markers in a text file; every other byte is the user's.

A new block goes to the end of the file, without an empty line before it: so nothing but the block
has to come out again. In a file whose last line was not ended, the block's is not either.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from agentlas_memory.installer.formats import Unparsable, newline_of

_BOM = "\ufeff"


def put_block(text: str, begin: str, end: str, body: str) -> str:
    """Return the text with `body` between the markers; a block that is there is replaced."""
    newline = newline_of(text)
    lines = [begin, *body.rstrip("\n").split("\n"), end]
    if any(line.strip() in (begin, end) for line in lines[1:-1]):
        raise ValueError("the text of a block holds its markers")
    block = newline.join(lines)
    found = _find(text, begin, end)
    if found:
        return text[: found[0]] + block + text[found[1] :]
    if "\0" in text:
        raise Unparsable(text[: text.index("\0")].count("\n") + 1, "this is not UTF-8")
    if text.endswith("\r"):
        raise Unparsable(text.count("\n") + 1, "a line ends with a carriage return alone")
    if text.removeprefix(_BOM) and not text.endswith("\n"):
        return text + newline + block
    return text + block + newline


def remove_block(text: str, begin: str, end: str) -> str:
    """Return the text without our block; the same text where there is none."""
    found = _find(text, begin, end)
    if not found:
        return text
    before, after = text[: found[0]], text[found[1] :]
    if after:
        return before + after.removeprefix("\r").removeprefix("\n")
    return before.removesuffix("\n").removesuffix("\r")


def _find(text: str, begin: str, end: str) -> tuple[int, int] | None:
    """Return where our block begins and ends, None where there is none.

    Raises Unparsable for half a block, a second one, and one that is quoted as code.
    """
    quoted = _fenced_lines(text)
    first: tuple[int, int] | None = None  # line and offset of the first marker
    whole: tuple[int, int] | None = None
    for number, start, line in _lines(text):
        if line.strip() not in (begin, end):
            continue
        if number in quoted:
            raise Unparsable(number, "our marker stands in a block of code")
        opens = line.strip() == begin
        if whole or opens == (first is not None):
            raise Unparsable(number, f"{line.strip()!r} stands here without its counterpart")
        if opens:
            first = number, start
        elif first is not None:
            whole = first[1], start + len(line)
    if first and not whole:
        raise Unparsable(first[0], f"{begin!r} stands here without its counterpart")
    return whole


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield number, offset and text of each line; its end, CR or not, is no part of it."""
    offset = len(text) - len(text.removeprefix(_BOM))
    for number, line in enumerate(text[offset:].split("\n"), 1):
        yield number, offset, line.removesuffix("\r")
        offset += len(line) + 1


def _fenced_lines(text: str) -> set[int]:
    """Return the numbers of the lines in blocks of code; a fence that is never closed is none."""
    fenced: list[range] = []
    fence, since = "", 0
    for number, _, line in _lines(text):
        mark = _fence(line)
        if fence and mark.startswith(fence) and line.strip() == mark:
            fenced.append(range(since, number))
            fence = ""
        elif not fence and mark and not (mark[0] == "`" and "`" in line.strip()[len(mark) :]):
            fence, since = mark, number
    return set(chain.from_iterable(fenced))


def _fence(line: str) -> str:
    """Return the run of backticks or tildes that a line begins with, if it makes a fence."""
    rest = line.lstrip(" ")
    if not rest.startswith(("```", "~~~")) or len(line) - len(rest) > 3:
        return ""
    return rest[: len(rest) - len(rest.lstrip(rest[0]))]
