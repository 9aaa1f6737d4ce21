"""One member of the object in a strict JSON file, edited in the text.

Putting it and removing it again gives the bytes there were. Nobody keeps notes for that: where the
member stands and how it is laid out says what was there before.
"""

from __future__ import annotations

import json

from agentlas_memory.installer.formats import newline_of
from agentlas_memory.installer.formats.json_scan import BOM, SPACE, Member, is_blank, scan_object

_INDENT = "  "  # of a file that is ours alone
_OTHER_INDENT = "    "  # of our member in an object that was empty: it tells the two apart


def put_entry(text: str, key: str, value: object) -> str:
    """Return the text with `key` set to `value`; the same text where it is already."""
    if is_blank(text):
        return text + _new_file(key, value, newline_of(text))
    opening, members = scan_object(text)
    for member in members:
        if member.key == key:
            same = _canonical(member.value) == _canonical(value)
            return text if same else _replace_value(text, member, value)
    if members:
        return _append(text, members[-1], key, value)
    if "\n" not in text[opening : text.index("}", opening)]:
        return text[:opening] + f"{json.dumps(key)}: {json.dumps(value)}" + text[opening:]
    entry = _lines(key, value, _OTHER_INDENT, _OTHER_INDENT, newline_of(text))
    return text[:opening] + entry + text[opening:]


def remove_entry(text: str, key: str) -> str:
    """Return the text without `key`, and without the comma that it needed."""
    if is_blank(text):
        return text
    opening, members = scan_object(text)
    keys = [member.key for member in members]
    if key not in keys:
        return text
    place = keys.index(key)
    member = members[place]
    if place + 1 < len(members):  # the next one moves to our place
        return text[: member.start] + text[members[place + 1].start :]
    if place:
        return text[: members[place - 1].end] + text[member.end :]
    before = text[: len(text) - len(text.lstrip(SPACE + BOM))]
    if text[len(before) :] == _new_file(key, member.value, newline_of(text)):
        return before
    return text[:opening] + text[member.end :]


def read_entry(text: str, key: str) -> object | None:
    """Return the value of `key`, None where there is none."""
    if is_blank(text):
        return None
    return next((member.value for member in scan_object(text)[1] if member.key == key), None)


def _new_file(key: str, value: object, newline: str) -> str:
    return "{" + _lines(key, value, _INDENT, _INDENT, newline) + newline + "}" + newline


def _append(text: str, last: Member, key: str, value: object) -> str:
    """Return the text with our member behind the last one, laid out as that one is."""
    space = _space_before(text, last.start)
    if "\n" in space:
        indent = space.rpartition("\n")[2]
        entry = _lines(key, value, indent, indent, newline_of(text))
    else:
        wide = text[last.value_start - 1] != ":"
        separators = (", ", ": ") if wide else (",", ":")
        rendered = json.dumps({key: value}, separators=separators)[1:-1]
        entry = (" " if wide else "") + rendered
    return text[: last.end] + "," + entry + text[last.end :]


def _replace_value(text: str, member: Member, value: object) -> str:
    """Return the text with another value of ours in the same place."""
    space = _space_before(text, member.start)
    indent = space.rpartition("\n")[2]
    if "\n" in space:
        rendered = _dump(value, indent, indent, newline_of(text))
    elif text[member.value_start - 1] == ":":
        rendered = json.dumps(value, separators=(",", ":"))
    else:
        rendered = json.dumps(value)
    return text[: member.value_start] + rendered + text[member.end :]


def _lines(key: str, value: object, indent: str, unit: str, newline: str) -> str:
    return f"{newline}{indent}{json.dumps(key)}: {_dump(value, indent, unit, newline)}"


def _dump(value: object, indent: str, unit: str, newline: str) -> str:
    return json.dumps(value, indent=unit).replace("\n", newline + indent)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _space_before(text: str, at: int) -> str:
    return text[len(text[:at].rstrip(SPACE)) : at]
