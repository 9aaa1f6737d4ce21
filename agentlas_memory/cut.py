"""A text cut to a length after its credentials left it: cut before, none would know half a key."""

from __future__ import annotations

import re

from agentlas_memory.redact import redact

LARGEST_TEXT = 4 << 20  # characters; a larger one is dropped whole, no key in it is cut in two
_MARK = re.compile(r"\[redacted:[a-z0-9-]{1,60}\]")
_LONGEST_MARK = 71


def clean(text: str, limit: int) -> str:
    """Return a text without credentials, of so many characters at most; no mark is cut in two."""
    if len(text) > LARGEST_TEXT:
        return ""
    text = redact(text)
    if len(text) <= limit:
        return text
    end = limit - 1
    for mark in _MARK.finditer(text, max(0, end - _LONGEST_MARK), end + _LONGEST_MARK):
        if mark.start() < end < mark.end():
            end = mark.start()
    return f"{text[:end].rstrip()}…"
