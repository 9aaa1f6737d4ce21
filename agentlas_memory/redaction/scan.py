"""Where the credentials of a text stand: every rule, then one list without overlaps."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.assignments import find_assigned
from agentlas_memory.redaction.drawn import is_key_body
from agentlas_memory.redaction.keyblocks import find_key_blocks
from agentlas_memory.redaction.requests import find_sent
from agentlas_memory.redaction.rules import PREFIXED, is_strict
from agentlas_memory.redaction.shapes import START, find_shapes
from agentlas_memory.redaction.triggers import INVISIBLE
from agentlas_memory.redaction.values import is_masked

Span = tuple[int, int, str]

_SHORTEST_BODY = 20  # a key cut short is still most of a key
_DIFFERENT = 5
_PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]+\]")
_LOWER = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}
_HIDING = re.compile(rf"[{INVISIBLE}]|\\(?=[_*.-])")  # Markdown escapes `_` as `\_`


def scan(text: str) -> list[Span]:
    """Return (start, end, kind) of each credential, in order and without overlaps."""
    visible, places = _visible(_PLACEHOLDER.sub(_emptied, text))
    # Patterns on names meet lower case (of ASCII: places stay), faster than ignoring case.
    lowered = visible.translate(_LOWER)
    found = [*find_key_blocks(visible), *_find_prefixed(visible), *find_shapes(visible)]
    found += [*find_sent(visible, lowered), *find_assigned(visible, lowered)]
    spans = _merged(found)
    return [(places[a], places[b - 1] + 1, kind) for a, b, kind in spans] if places else spans


def _emptied(placeholder: re.Match[str]) -> str:
    """Hide the words of a placeholder: `token` in it must not vouch for what follows."""
    return "[" + " " * (len(placeholder[0]) - 2) + "]"


def _visible(text: str) -> tuple[str, list[int]]:
    """Return the text without what hides a key, and where each of its characters stood."""
    if not _HIDING.search(text):
        return text, []
    hidden = {match.start() for match in _HIDING.finditer(text)}
    places = [at for at in range(len(text)) if at not in hidden]
    return "".join(text[at] for at in places), places


def _find_prefixed(text: str) -> Iterator[Span]:
    for kind, prefix, alphabet, length in PREFIXED:
        if prefix in text:
            strict = is_strict(alphabet)
            # `re` keeps compiled patterns: one is built when its prefix is first met.
            for match in re.finditer(_pattern(prefix, alphabet, length), text):
                body = match[1].encode()
                if len(set(body)) < _DIFFERENT or is_masked(match[1]):
                    continue
                if strict or is_key_body(prefix.encode(), body):
                    yield match.start(), match.end(), kind


def _pattern(prefix: str, alphabet: str, length: int) -> str:
    """Return prefix and body; up to its length a body may be broken by dots and dashes.

    By those that are not its own letters: else a line of dashes could be read in more ways than
    there is time for.
    """
    one = f"[{re.escape(alphabet)}]"
    breaks = "".join(sign for sign in ".-" if sign not in alphabet)
    letter = f"{one}[{re.escape(breaks)}]?" if breaks else one
    least = length if is_strict(alphabet) else min(length, _SHORTEST_BODY)
    return rf"{START}{re.escape(prefix)}((?:{letter}){{{least - 1},{length - 1}}}{one}+(?<![.]))"


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
