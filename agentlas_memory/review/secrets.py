"""Passages whose file still holds a credential: what was taken out of the text left its mark."""

from __future__ import annotations

import re

_MARK = re.compile(r"\[redacted:([^\[\]\n]{1,60})\]")


def secret_kinds(text: str, written: str) -> list[str]:
    """Return the kinds of credentials redacted in a text, less those written so by its author.

    `written` is what stands in the file; a page about redaction holds the marks themselves.
    """
    return sorted({kind for kind in _MARK.findall(text) if f"[redacted:{kind}]" not in written})


def marked_line(text: str) -> str:
    """Return the first line with a credential's mark."""
    return next((line for line in text.split("\n") if _MARK.search(line)), text)
