"""Text that a reader does not see: written in invisible characters, in comments, turned around."""

from __future__ import annotations

import re

from agentlas_memory.review.english import MODEL
from agentlas_memory.review.plain import plain

_TAGS = re.compile(r"[\U000e0000-\U000e007f]+")
_FLAG = "\U0001f3f4"  # what tags may follow: the flags of England, Scotland and Wales
_LONGEST_FLAG = 7
_SELECTORS = re.compile(r"[\U000e0100-\U000e01ef\ufe00-\ufe0f]{4,}")
_ZERO_WIDTH = re.compile(r"[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{16,}")
_TURNED = re.compile("[\u202d\u202e]")
_COMMENT = re.compile(
    r"<!--(.*?)(?:-->|\Z)|^\[(?://|comment|_)\]: *<?#>? *[(\"'](.*?)[)\"']$"
    r"|<(?:\w+)\b[^>]{0,200}(?:display: *none|visibility: *hidden|font-size: *0|color:"
    r" *white)[^>]{0,100}>(.*?)<",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_TO_MODEL = re.compile(
    rf"^(?:(?:note|message|instructions?|attention|important|hey|dear)\W{{0,3}}(?:to |for"
    rf" )?)?(?:all |any |the )*{MODEL} ?[,:]"
    rf"|\b{MODEL}\b[^.]{{0,60}}\b(?:must|should|do not|don't|never|always|please)\b"
)


def hidden_text(text: str) -> str:
    """Return what stands in the text that nobody sees and might be meant for a model, or blank."""
    if not text.isascii():
        for pattern, decode in ((_TAGS, _from_tags), (_SELECTORS, _from_selectors)):
            for run in pattern.finditer(text):
                if not _is_flag(text, run):
                    return decode(run[0]) or "invisible characters"
        if _ZERO_WIDTH.search(text):
            return "a run of zero-width characters"
        if _TURNED.search(text):
            return "characters that turn the direction of the text around"
    return ""


def _is_flag(text: str, run: re.Match[str]) -> bool:
    return text[run.start() - 1 : run.start()] == _FLAG and len(run[0]) <= _LONGEST_FLAG


def _from_tags(run: str) -> str:
    return "".join(
        chr(ord(char) - 0xE0000) for char in run if " " <= chr(ord(char) - 0xE0000) <= "~"
    )


def _from_selectors(run: str) -> str:
    codes = [ord(char) - (0xFE00 if ord(char) < 0xE0100 else 0xE0100 - 16) for char in run]
    return bytes(codes).decode("utf-8", "replace")


def comment_to_model(text: str) -> str:
    """Return the first comment or invisible element that speaks to a model, blank for none."""
    if not any(sign in text for sign in ("<!--", "]:", "style=")):
        return ""
    for found in _COMMENT.finditer(text):
        comment = plain(next(filter(None, found.groups()), ""))
        if _TO_MODEL.search(comment):
            return comment
    return ""
