"""What stands in a host's file beside our part: with a reader of the tests' own."""

import json

from host_files.making import BEGIN, END

KEY = "agentlas-memory"
SPACE = " \t\r\n"


def text_of(data):
    return data.decode("utf-8", "surrogateescape")


def spans(text):
    """Return where each member of the outer object begins and ends, by name, in order."""
    decoder, found = json.JSONDecoder(parse_int=float), {}
    at = text.find("{") + 1
    while at and _next(text, at, SPACE + ",") != "}":
        at = _skip(text, at, SPACE + ",")
        name, end = decoder.raw_decode(text, at)
        _, end = decoder.raw_decode(text, _skip(text, end, SPACE + ":"))
        found[name], at = (at, end), end
    return found


def _skip(text, at, what):
    return len(text) - len(text[at:].lstrip(what))


def _next(text, at, what):
    return text[_skip(text, at, what)]


def theirs_in_object(data):
    """Return the bytes of each member that is not ours, in order."""
    text = text_of(data)
    return [text[start:end] for name, (start, end) in spans(text).items() if name != KEY]


def ours_in_object(data):
    """Return our entry's value, None where there is none."""
    text = text_of(data)
    start, end = spans(text).get(KEY, (0, 0))
    return json.loads(f"{{{text[start:end]}}}").get(KEY)


def theirs_around_block(data):
    """Return what is to be left of a text without our block."""
    text = text_of(data)
    lines = text.removeprefix("\ufeff").split("\n")
    bare = [line.strip() for line in lines]
    if BEGIN not in bare:
        return text
    first, behind = bare.index(BEGIN), bare.index(END) + 1
    before = text[: len(text) - len("\n".join(lines[first:]))]
    if behind < len(lines):
        return before + "\n".join(lines[behind:])
    return before.removesuffix("\n").removesuffix("\r")  # the end that the block's last line lacks
