"""Passwords in sentences and tables: `Use password X`, `Das Passwort ist X`, a column of them.

A sentence says less than an assignment does, so the value must say more: a digit and three
kinds of characters; in a code span or a cell a digit and letters.
"""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.triggers import PROSE_WORDS
from agentlas_memory.redaction.values import is_password, is_placeholder

Span = tuple[int, int, str]

_WORD = rf"(?<!\w)(?P<word>{'|'.join(PROSE_WORDS)})(?:s|[а-я]{{1,3}})?(?!\w)"
# What may stand between: bold, an object, then a sign or a verb.
_OBJECT = r"(?:[ \t](?:for|of|to|für|zum|zur|von|de|del|da|do|para|от|для|к)[ \t][^\n:=`|]{1,40}?)?"
_VERB = r"(?<![\w*])(?:is|was|ist|lautet|es|é|est)(?!\w)"
_BOLD = r"[*_]{0,2}[ \t]{0,3}"
_BARE = r"(?P<bare>[^\s\"'`<>{}()\[\],;|\\]{8,100})"
_SENTENCE = re.compile(
    rf"{_WORD}{_OBJECT}{_BOLD}(?:(?:[:=]|{_VERB}){_BOLD}(?:{_BARE}|(?=`))|(?=`))"
    r"(?:`(?P<span>[^`\s]{4,100})`)?",
    re.IGNORECASE,
)
_ROW = re.compile(r"^(?P<cells>[^\n]*\|[^\n]*)$", re.MULTILINE)
# The word, a sign or a verb and the value, nothing between them: letters and digits tell then.
_PLAIN = re.compile(
    rf"(?<![^\W_])(?<![$/])(?P<word>{'|'.join(PROSE_WORDS)}|passwd|pwd?)(?:[а-я]{{1,3}})?{_BOLD}"
    rf"(?P<link>[:=]|{_VERB}){_BOLD}(?P<value>[a-z][a-z0-9]{{5,40}})(?![\w@(\[])"
    r"(?P<after>[^\n]{0,4})",
    re.IGNORECASE,
)
# A word and its number are a name: `sha256`, `rfc2289`, `user12`, `v20240101`.
_NUMBERED = re.compile(
    r"(?:v|ver|version|rfc|pkcs|ascii|iso|latin|windows|ipv|uuid|level|type|step|field|user|param"
    r"|arg|option|line|page|table|column|var|str|string|val|value|int|uint|float|char|varchar"
    r"|python|mysql|postgres(?:ql)?|ntlm|scram|crypt|pbkdf|sha|example|sample)\d+"
)
_SENTENCE_ENDS = re.compile(r"[.!?,;:)*_]{0,3}(?:\s|$)")
_LINE_ENDS = re.compile(r"[.!;]?[ \t\r]*$")
_SHORTEST_IN_SPAN = 6
_SHORTEST = 8


def find_in_prose(text: str) -> Iterator[Span]:
    """Yield each password of a sentence, and of a table's column."""
    for match in _SENTENCE.finditer(text):
        if match["word"].lower() not in PROSE_WORDS:
            continue  # with a letter that only ignoring case takes for one of the word's
        name = "bare" if match["bare"] else "span"
        value = match[name] or ""
        if name == "bare":
            value = value.rstrip(".:!?*_")
        if _tells(value, spanned=name == "span"):
            yield match.start(name), match.start(name) + len(value), "password"
    for match in _PLAIN.finditer(text):
        if _is_plain(match):
            yield *match.span("value"), "password"
    if "|" in text:
        yield from _find_in_columns(text)


def _is_plain(match: re.Match[str]) -> bool:
    """Tell whether a value right behind its word is one that somebody made up: `hunter22`."""
    value, ends = match["value"], _LINE_ENDS if match["link"] == "=" else _SENTENCE_ENDS
    if not any(map(str.isdigit, value)) or not ends.match(match["after"]):
        return False
    named = value[1:] != value[1:].lower() or _NUMBERED.fullmatch(value.lower())
    return not named and value.isascii() and is_password(value)


def _find_in_columns(text: str) -> Iterator[Span]:
    columns: list[int] = []
    end = -2
    for match in _ROW.finditer(text):
        cells = _cells(match)
        if match.start() > end + 1:  # another table
            names = [cell.strip(" \t*_`").lower() for _, cell in cells]
            columns = [n for n, name in enumerate(names) if name in _COLUMNS]
        else:
            for number in columns:
                if number < len(cells):
                    start, cell = cells[number]
                    value = cell.strip(" \t*_`")
                    if _tells(value, spanned=True):
                        at = start + cell.index(value)
                        yield at, at + len(value), "password"
        end = match.end()


def _cells(match: re.Match[str]) -> list[tuple[int, str]]:
    """Return the cells of a row, each with its place in the text."""
    at, found = match.start("cells"), []
    for cell in match["cells"].split("|"):
        found.append((at, cell))
        at += len(cell) + 1
    return found


def _tells(value: str, *, spanned: bool) -> bool:
    """Tell whether a value looks like what somebody made up for a password."""
    if not is_password(value) or is_placeholder(value) or not _IS_WORD.search(value):
        return False
    digit, sign = (any(c in kind for c in value) for kind in ("0123456789", _SIGNS))
    kinds = digit + sign + any(map(str.islower, value)) + any(map(str.isupper, value))
    if spanned:
        return (
            digit and kinds >= 2 and len(value) >= _SHORTEST_IN_SPAN and not _NAME.fullmatch(value)
        )
    return digit and kinds >= 3 and len(value) >= _SHORTEST and not _NAME.fullmatch(value)


_COLUMNS = frozenset((*PROSE_WORDS, "пароль"))
_SIGNS = "!@#$%^&*?+~"
_IS_WORD = re.compile(r"[^\W\d_]")
# A file, a name of code, a call, an address, a date.
_NAME = re.compile(
    r"[\w./-]+\.[A-Za-z]\w{1,4}|\w*_\w*|[A-Za-z]+(?:[A-Z][a-z]+)+\d?|\S*[(/:]\S*|[\d-]+T?"
)
