"""Where the credentials of a text stand: every rule, then one list without overlaps."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.assignments import find_assigned
from agentlas_memory.redaction.beginnings import begins_prefixed, word_before
from agentlas_memory.redaction.commands import find_in_commands
from agentlas_memory.redaction.drawn import is_drawn, is_key_body, is_word
from agentlas_memory.redaction.keyblocks import find_key_blocks
from agentlas_memory.redaction.literals import find_joined
from agentlas_memory.redaction.manifests import find_manifests
from agentlas_memory.redaction.password_files import find_in_password_files
from agentlas_memory.redaction.prose_passwords import find_in_prose
from agentlas_memory.redaction.requests import find_sent
from agentlas_memory.redaction.rules import PREFIXED, PREFIXES, is_strict
from agentlas_memory.redaction.shapes import find_shapes
from agentlas_memory.redaction.triggers import INVISIBLE
from agentlas_memory.redaction.values import is_masked

Span = tuple[int, int, str]

_SHORTEST_BODY = 20  # a key cut short is still most of a key
_DIFFERENT = 5
_PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]+\]")
_LOWER = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}
# Markdown escapes `_` as `\_`; a line that ends in a backslash goes on in the next one.
_ESCAPING = re.compile(r"\\(?:\r?\n|(?=[_*.-]))")


def scan(text: str) -> list[Span]:
    """Return (start, end, kind) of each credential, in order and without overlaps."""
    visible, places = _visible(_PLACEHOLDER.sub(_emptied, text))
    # Patterns on names meet lower case (of ASCII: places stay), faster than ignoring case.
    lowered = visible.translate(_LOWER)
    found = [*find_key_blocks(visible), *_find_prefixed(visible), *find_shapes(visible)]
    found += [*_find_split(visible), *find_manifests(visible), *find_in_password_files(visible)]
    found += [*find_sent(visible, lowered), *find_in_commands(visible, lowered)]
    found += [*find_assigned(visible, lowered), *find_in_prose(visible)]
    spans = _merged(found)
    return [(places[a], places[b - 1] + 1, kind) for a, b, kind in spans] if places else spans


def _emptied(placeholder: re.Match[str]) -> str:
    """Hide the words of a placeholder: `token` in it must not vouch for what follows."""
    return "[" + " " * (len(placeholder[0]) - 2) + "]"


def _visible(text: str) -> tuple[str, list[int]]:
    """Return the text without what hides a key, and where each of its characters stood."""
    hidden = [match.span() for match in _ESCAPING.finditer(text)] if "\\" in text else []
    for mark in () if text.isascii() else INVISIBLE:
        if mark in text:
            hidden += [match.span() for match in re.finditer(mark, text)]
    if not hidden:
        return text, []
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for start, end in sorted([*hidden, (len(text), len(text))]):
        parts.append(text[done:start])
        places += range(done, start)
        done = max(done, end)
    return "".join(parts), places


def _find_prefixed(text: str) -> Iterator[Span]:
    for kind, prefix, alphabet, length in PREFIXED:
        if prefix in text:
            # `re` keeps compiled patterns: one is built when its prefix is first met.
            pattern = re.compile(begins_prefixed(prefix) + _body(alphabet, length))
            for match in pattern.finditer(text):
                if _is_key(match[1], prefix, alphabet) and _may_begin(text, match, prefix):
                    yield match.start(), match.end(), kind
                    yield from _find_chained(text, match.end())


def _may_begin(text: str, match: re.Match[str], prefix: str) -> bool:
    """Return whether a key stands free, or against a word and is drawn beyond doubt."""
    before = word_before(text, match.start())
    return before == b"" or (is_word(before, prefix) and is_drawn(match[1].encode()))


def _find_chained(text: str, end: int) -> Iterator[Span]:
    """Yield the keys that begin where another one ends: no letter may stand before any other."""
    found = True
    while found and text.startswith(PREFIXES, end):
        found = False
        for kind, prefix, alphabet, length in PREFIXED:
            if text.startswith(prefix, end):
                body = re.compile(_body(alphabet, length)).match(text, end + len(prefix))
                if body and _is_key(body[1], prefix, alphabet):
                    yield end, body.end(), kind
                    found, end = True, body.end()
                    break


def _find_split(text: str) -> Iterator[Span]:
    for start, end, key in find_joined(text) if '"' in text or "'" in text else ():
        for _, last, kind in _find_prefixed(key):
            if last > len(key) // 2:
                yield start, end, kind
                break


def _is_key(body: str, prefix: str, alphabet: str) -> bool:
    coded = body.encode()
    if len(set(coded)) < _DIFFERENT or is_masked(body):
        return False
    if is_strict(alphabet):
        # Its length tells a key, but not of a body in pieces: `key-rotation-for-all-the-accounts`.
        return body.isalnum() or is_drawn(coded)
    return is_key_body(prefix.encode(), coded)


def _body(alphabet: str, length: int) -> str:
    """Return the pattern of a body, which may up to its length be broken by dots and dashes.

    By those that are not its own letters: else a line of dashes could be read in more ways than
    there is time for.
    """
    one = f"[{re.escape(alphabet)}]"
    breaks = "".join(sign for sign in ".-" if sign not in alphabet)
    letter = f"{one}[{re.escape(breaks)}]?" if breaks else one
    least = length if is_strict(alphabet) else min(length, _SHORTEST_BODY)
    return rf"((?:{letter}){{{least - 1},{length - 1}}}{one}+(?<![.]))"


def _merged(spans: list[Span]) -> list[Span]:
    """Join spans that overlap; the first rule that found one names the kind."""
    merged: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: span[0]):
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = (first, max(last, end), known)
        else:
            merged.append((start, end, kind))
    return merged
