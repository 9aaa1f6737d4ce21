"""Headings and code blocks of reStructuredText, AsciiDoc and Org, read line by line.

Only what decides a section is understood: titles, and the blocks in which a line that looks
like a title is not one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentlas_memory.ontology.outline import MAX_HEADING, Heading, Outline

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+\s*$")
_RST_CODE = re.compile(r"\.\. (?:code|code-block|sourcecode|parsed-literal|highlight)::")
_RST_ROLE = re.compile(r":[\w:.+-]+:(?=`)")
_RST_LINK = re.compile(r"\s*<[^<>`]+>(?=`)")
_ADOC_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(\S.*)$")
_ADOC_VERBATIM = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}\w*)\s*$")
_ADOC_UNDERLINES = "=-~^+"
_ORG_TITLE = re.compile(r"(\*+)\s+(?:(?:TODO|DONE)\s+)?(.*?)(?:\s+:[\w@#%:]+:)?\s*$")
_ORG_DOCUMENT_TITLE = re.compile(r"#\+title:\s*(\S.*?)\s*$", re.IGNORECASE)
_ORG_BLOCK = re.compile(r"\s*#\+(begin|end)_(?:src|example)\b", re.IGNORECASE)


def outline_rst(lines: Sequence[str]) -> Outline:
    """Find titles by their adornment; its order of appearance gives the level."""
    headings, fences = [], []
    styles: list[tuple[str, bool]] = []
    index = 0
    while index < len(lines):
        title = _rst_title(lines, index)
        if title is not None:
            text, style, size = title
            if style not in styles:
                styles.append(style)
            level = styles.index(style) + 1
            headings.append(Heading(level, text, index + 1, index + 1 + size))
            index += size
        elif _opens_rst_literal(lines[index]):
            end = _indented_end(lines, index + 1)
            if end > index + 1:
                fences.append((index + 1, end))
            index = end
        else:
            index += 1
    return Outline(headings, fences)


def _rst_title(lines: Sequence[str], index: int) -> tuple[str, tuple[str, bool], int] | None:
    """Return the text, the style (character, overlined) and the lines of a title here."""
    first, *rest = (*lines[index : index + 3], "", "")[:3]
    if _ADORNMENT.match(first):
        text, under = rest
        if text.strip() and under.rstrip() == first.rstrip() and _is_underline(text, under):
            return _without_roles(text), (first[0], True), 3
        return None
    if not first.strip() or first[0].isspace() or (index and lines[index - 1].strip()):
        return None
    if _is_underline(first, rest[0]):
        return _without_roles(first), (rest[0][0], False), 2
    return None


def _is_underline(text: str, line: str) -> bool:
    # docutils takes a too short underline from four characters on, with a warning.
    length = len(line.rstrip())
    return bool(_ADORNMENT.match(line)) and (length >= 4 or length >= len(text.strip()))


def _without_roles(text: str) -> str:
    plain = _RST_LINK.sub("", _RST_ROLE.sub("", text))
    return " ".join(plain.replace("`", "").replace("*", "").split())


def _opens_rst_literal(line: str) -> bool:
    if _RST_CODE.match(line.lstrip()):
        return True
    return line.rstrip().endswith("::") and not line.lstrip().startswith("..")


def _indented_end(lines: Sequence[str], index: int) -> int:
    """Return the number of the last line of the indented block that begins at `index`."""
    end = index
    margin = len(lines[index - 1]) - len(lines[index - 1].lstrip())
    for number in range(index + 1, len(lines) + 1):
        line = lines[number - 1]
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) <= margin:
            break
        end = number
    return end


def outline_asciidoc(lines: Sequence[str]) -> Outline:
    """Find `=` titles and titles with an underline, outside of verbatim blocks."""
    headings, fences = [], []
    opened: tuple[str, int] | None = None
    for number, line in enumerate(lines, start=1):
        delimiter = _ADOC_VERBATIM.match(line)
        if opened is not None:
            if line.rstrip() == opened[0]:
                fences.append((opened[1], number))
                opened = None
        elif level := _adoc_underlined(lines, number):
            headings.append(Heading(level, lines[number - 2].strip(), number - 1, number + 1))
        elif delimiter:
            # A block opened as ```ruby is closed by the bare marker.
            marker = line.rstrip()
            opened = ("```" if marker.startswith("`") else marker, number)
        elif title := _ADOC_TITLE.match(line):
            text = title[2].strip("`*_ ")
            headings.append(Heading(len(title[1]), text, number, number + 1))
    return Outline(headings, fences)


def _adoc_underlined(lines: Sequence[str], number: int) -> int:
    """Return the level of the two-line title whose underline is line `number`, else 0."""
    line = lines[number - 1].rstrip()
    if len(line) < 4 or line[0] not in _ADOC_UNDERLINES or line.strip(line[0]) or number < 2:
        return 0
    text = lines[number - 2].rstrip()
    starts_block = number == 2 or not lines[number - 3].strip()
    if not starts_block or not text[:1].isalnum() or abs(len(text) - len(line)) > 1:
        return 0
    return _ADOC_UNDERLINES.index(line[0]) + 1


def outline_org(lines: Sequence[str]) -> Outline:
    """Find `*` headlines and `#+title:`; keywords and tags are no part of a headline."""
    headings, fences = [], []
    opened = 0
    # No headline is longer; the expressions are slow on endless lines.
    heads = (line[:MAX_HEADING] for line in lines)
    for number, line in enumerate(heads, start=1):
        if (title := _ORG_TITLE.match(line)) and title[2]:
            headings.append(Heading(len(title[1]) + 1, title[2].strip("=~"), number, number + 1))
            # Org ends every block at a headline.
            opened = 0
        elif title := _ORG_DOCUMENT_TITLE.match(line):
            headings.append(Heading(1, title[1], number, number + 1))
        elif block := _ORG_BLOCK.match(line):
            if block[1].lower() == "begin":
                opened = number
            elif opened:
                fences.append((opened, number))
                opened = 0
    return Outline(headings, fences)
