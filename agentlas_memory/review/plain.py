"""What a text says to a reader who is not fooled by how it is written.

Invisible characters, markup, accents, look-alike letters, digits in place of letters and letters
apart hide a sentence from a search, and from no model.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata

from agentlas_memory.capsule import visible

_MARKUP = re.compile(r"[*`~\\]+|(?<=\w)_(?=\w)|(?<!\w)_|_(?!\w)")
_ACCENTS = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")
_ENTITY = re.compile(r"&#?\w{1,8};")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00ab\u00bb", '\'\'""""')
# Letters of other alphabets that look like Latin ones.
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u03bf\u03b1\u03b9\u03bd\u03c1",
    "aeopcyxijsdhoaivp",
)
_MIXED = re.compile(r"[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]")
_WORD = re.compile(r"[^\s]+")
_LEET = str.maketrans("013457@!$", "oieastais")
# A sign before or between letters; at a word's end it is a version's number or an exclamation.
_LEET_WORD = re.compile(r"(?<![^\s(\"'])[a-z]*[013457@!$]+[a-z][a-z013457@!$]*")
# Letters one by one: `i g n o r e`, `i.g.n.o.r.e`; two blanks part the words.
_APART = re.compile(r"(?<![^\W_])[a-z]([ .\-_*])(?:[a-z]\1){2,}[a-z](?![^\W_])")
_BASE64 = re.compile(r"(?<![^\s\"'`(:])[A-Za-z0-9+/]{32,2000}={0,2}")


def plain(text: str) -> str:
    """Return the text on one line, without case, markup, accents and invisible characters."""
    text = visible(text)
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(text)
    if not text.isascii():
        # Apart, drop the accents of Latin letters alone (`й` and `が` keep theirs), together.
        text = unicodedata.normalize("NFKD", text).casefold().translate(_QUOTES)
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", text))
    else:
        text = text.casefold()
    if _APART.search(text):
        text = _APART.sub(lambda run: run[0].replace(run[1], ""), text)
    return " ".join(_MARKUP.sub(_without_markup, text).split())


def _without_markup(found: re.Match[str]) -> str:
    return " " if found[0] == "_" else ""


def unmasked(text: str) -> str:
    """Return a plain text with letters for look-alikes and for digits, itself if it has none."""
    if not text.isascii() and _MIXED.search(text):
        text = _WORD.sub(lambda w: w[0].translate(_ALIKE) if _MIXED.search(w[0]) else w[0], text)
    return _LEET_WORD.sub(lambda word: word[0].translate(_LEET), text)


def decoded(text: str) -> str:
    """Return what the text says in base64, blank if nothing readable."""
    return "\n".join(filter(None, map(_decode, _BASE64.findall(text))))


def _decode(code: str) -> str:
    try:
        data = base64.b64decode(code + "=" * (-len(code) % 4), validate=True)
        text = data.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text if text.isprintable() else ""
