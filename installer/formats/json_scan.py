"""Where the members of the outer object of a strict JSON text stand."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from typing import NamedTuple, NoReturn

from agentlas_memory.installer.formats import Unparsable

SPACE = " \t\n\r"  # what JSON takes for space
BOM = "\ufeff"


class Member(NamedTuple):
    """A member of an object, and where its key begins, its value begins, and it ends."""

    key: str
    value: object
    start: int
    value_start: int
    end: int


class _Refused(Exception):
    """Something that Python's decoder takes and strict JSON does not; it cannot say where."""


def is_blank(text: str) -> bool:
    """Tell whether a file holds nothing yet."""
    return not text.removeprefix(BOM).strip(SPACE)


def scan_object(text: str) -> tuple[int, list[Member]]:
    """Return where the outer object opens (behind its brace) and its members.

    Raises Unparsable for what a strict reader would not take: comments, commas too many, NaN, a
    name that stands twice in one object at any depth.
    """
    start = _skip(text, len(text) - len(text.removeprefix(BOM)))
    if text[start : start + 1] != "{":
        _fail(text, start, "a JSON object is expected")
    try:
        members, end = _members(text, start)
    except RecursionError:
        _fail(text, start, "nested too deeply")
    if _skip(text, end) < len(text):
        _fail(text, _skip(text, end), "there is more behind the object")
    return start + 1, members


def _members(text: str, start: int) -> tuple[list[Member], int]:
    """Return the members of the object that begins at `start`, and where it ends."""
    members: dict[str, Member] = {}
    at = _skip(text, start + 1)
    if text[at : at + 1] == "}":
        return [], at + 1
    while True:
        member = _member(text, at)
        if member.key in members:
            _fail(text, at, f"{member.key!r} stands here a second time")
        members[member.key] = member
        at = _skip(text, member.end)
        if text[at : at + 1] == "}":
            return list(members.values()), at + 1
        if text[at : at + 1] != ",":
            _fail(text, at, "a comma or a closing brace is expected")
        at = _skip(text, at + 1)


def _member(text: str, start: int) -> Member:
    if text[start : start + 1] != '"':
        _fail(text, start, "a name in double quotes is expected")
    key, end = _value(text, start)
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":":
        _fail(text, colon, "a colon is expected")
    value_start = _skip(text, colon + 1)
    value, end = _value(text, value_start)
    return Member(str(key), value, start, value_start, end)


def _value(text: str, start: int) -> tuple[object, int]:
    """Return the value that begins at `start`, and where it ends."""
    try:
        return _DECODER.raw_decode(text, start)
    except JSONDecodeError as error:
        _fail(text, error.pos, error.msg)
    except _Refused as refused:
        _locate(text, start, refused)


def _locate(text: str, start: int, refused: _Refused) -> NoReturn:
    """Go down to the value that was refused, and name its line."""
    if text[start] == "{":
        _members(text, start)
    if text[start] == "[":
        at = _skip(text, start + 1)
        while True:  # what stands before the refused element is sound
            _, end = _value(text, at)
            at = _skip(text, _skip(text, end) + 1)
    _fail(text, start, str(refused))


def _refuse_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Refused("a name stands twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is no JSON number")


def _number(digits: str) -> float:
    return int(digits) if len(digits) < 4000 else float(digits)  # int() has a limit


_DECODER = JSONDecoder(
    object_pairs_hook=_refuse_twice, parse_constant=_refuse_constant, parse_int=_number
)


def _skip(text: str, at: int) -> int:
    """Return where the space that begins at `at` ends."""
    end: int = WHITESPACE.match(text, at).end()
    return end


def _fail(text: str, at: int, reason: str) -> NoReturn:
    raise Unparsable(text.count("\n", 0, at) + 1, reason)
