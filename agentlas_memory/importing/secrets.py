"""Which kinds of credentials were taken out of a text; their values are told to nobody."""

from __future__ import annotations

import re
from collections import Counter

from agentlas_memory.redact import redact

_MARK = re.compile(r"\[redacted:([a-z0-9-]{1,60})\]")


class Redactor:
    """Takes credentials out, and counts the kinds by the place they were in."""

    def __init__(self) -> None:
        self.found: dict[str, Counter[str]] = {}

    def clean(self, text: str, place: str) -> str:
        """Return the text without credentials."""
        cleaned = redact(text)
        if cleaned != text:
            # A page about redaction holds marks of its own.
            kinds = Counter(_MARK.findall(cleaned)) - Counter(_MARK.findall(text))
            self.found.setdefault(place, Counter()).update(kinds)
        return cleaned
