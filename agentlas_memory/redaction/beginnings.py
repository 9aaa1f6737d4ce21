"""Where a key may begin: behind a sign, an escape, and some of them behind a word."""

import re

from agentlas_memory.redaction.drawn import PARTS
from agentlas_memory.redaction.rules import ALNUM, letters_before

# What stands for a sign ends in a letter or a digit. Lookbehinds must know their length.
_ESCAPES = (
    r"\\[abefnrtv0]",  # "\n" in JSON or a log
    r"\\x[0-9A-Fa-f]{2}",
    r"\\[0-3][0-7]{2}",
    r"[\\%]u[0-9A-Fa-f]{4}",
    r"\\U[0-9A-Fa-f]{8}",
    r"%[0-9A-Fa-f]{2}",
    r"%25[0-9A-Fa-f]{2}",  # an escaped URL in a URL
    r"=(?:[2-7][0-9A-F]|0[9AD])",  # quoted-printable, of ASCII
    r"\[[0-9]m",  # a terminal's colours
    r"\[[0-9]{2}m",
    r";[0-9]m",
    r";[0-9]{2}m",
    r";[0-9]{3}m",
    r"\[[mK]",
)
_ESCAPE = re.compile("|".join(f"(?<={escape})" for escape in _ESCAPES))
_LOOKED_BEHIND = 64


def begins(first: str, joints: str = "") -> str:
    """Return a pattern of a key's first characters where a key may start.

    That is also behind an escape, and behind the letters of `joints`. The characters stand in front
    of the conditions: `re` then leaps from one place that has them to the next.
    """
    if joints == ALNUM:
        return first
    behind = (*_ESCAPES, f"[{joints}]") if joints else _ESCAPES
    looks = "".join(f"|(?<={sign}{first})" for sign in behind)
    return rf"{first}(?:(?<![A-Za-z0-9]{first}){looks})"


def begins_prefixed(prefix: str) -> str:
    """Return a pattern of a prefix where its key may start; `word_before` has to be asked then."""
    return begins(re.escape(prefix), letters_before(prefix))


def word_before(text: str, at: int) -> bytes:
    """Return the letters and digits right before a key, none behind an escape."""
    if _ESCAPE.match(text, at):
        return b""
    before = text[max(0, at - _LOOKED_BEHIND) : at].encode("ascii", "replace").translate(PARTS)
    return before.rpartition(b" ")[2]
