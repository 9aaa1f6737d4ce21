"""Build `agentlas_memory/ontology/analyzer.chars`: what the analyzer makes of every code point.

Run it with Python 3.13 (Unicode 15.1.0), so that two builds give the same bytes:
`python3.13 scripts/build_char_tables.py`. A table from another Unicode version changes terms: raise
`ANALYZER_VERSION` with it.
"""

import sys
import unicodedata
from pathlib import Path

from agentlas_memory.chartable import encode_char_table

UNICODE_VERSION = "15.1.0"
TARGET = Path(__file__).parent.parent / "agentlas_memory" / "ontology" / "analyzer.chars"

JOINERS = frozenset("_-./")
DASHES = frozenset("\u05be\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
# Letters by category, apostrophes by use (Ukrainian, Uzbek, Hawaiian).
APOSTROPHES = frozenset("\u02b9\u02ba\u02bb\u02bc\u02bd\u02be\u02bf")
TATWEEL = "\u0640"

# Some characters have to join their neighbour before a table can see the letter: the breve of й,
# the voiced marks of kana, the parts of Hangul syllables. The table leaves this mark of them, and
# the analyzer normalises a text in which it finds one.
COMPOSE = "\0"
BREVE = "\u0306"
COMPOSING = frozenset([BREVE, "\u3099", "\u309a", *map(chr, range(0x1100, 0x1200))])

# Marks that only decorate their letter. Those of other scripts (Indic, Thai, ...) are vowels.
DECORATING_MARKS = (
    (0x0300, 0x036F),  # Latin, Greek, Cyrillic accents
    (0x0483, 0x0489),  # Cyrillic
    (0x0591, 0x05C7),  # Hebrew points and accents
    (0x0610, 0x061A),  # Arabic signs
    (0x064B, 0x065F),  # Arabic vowels, hamza and madda above a letter
    (0x0670, 0x0670),
    (0x06D6, 0x06ED),
    (0x0711, 0x074A),  # Syriac points
    (0x0898, 0x08FF),  # Arabic extended
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),  # marks around symbols, the keycap
    (0x2DE0, 0x2DFF),  # Cyrillic superscripts
    (0xA66F, 0xA69F),
    (0xFE00, 0xFE2F),  # variation selectors, half marks
    (0xE0100, 0xE01EF),
)

# й is a letter to the Russian stemmer. Strokes and ligatures have no decomposition, and people
# without the key type the plain letter.
OWN = {
    "й": "й",
    "Й": "й",
    "ı": "i",
    "ł": "l",
    "ø": "o",
    "đ": "d",
    "ħ": "h",
    "ŧ": "t",
    "æ": "ae",
    "œ": "oe",
}


def fold_char(char: str) -> str:
    """Return what one character becomes; equal for its composed and compatibility forms."""
    if char in OWN:
        return OWN[char]
    if char in COMPOSING:
        return COMPOSE
    if char.isascii():
        return char if char.isalnum() or char in JOINERS else " "
    parts = unicodedata.normalize("NFKD", char).replace(BREVE, "")
    if not COMPOSING.isdisjoint(parts):
        parts = unicodedata.normalize("NFKC", char)  # kana and Hangul syllables stay whole
    if parts != char:
        return "".join(map(fold_char, parts))
    return _fold_single(char)


def _fold_single(char: str) -> str:
    """Fold a character without decomposition by its kind."""
    category = unicodedata.category(char)
    if char in DASHES:
        return "-"
    if category == "Cf" or char == TATWEEL:
        return ""
    if category[0] == "M":
        return "" if any(first <= ord(char) <= last for first, last in DECORATING_MARKS) else char
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category[0] not in "LN" or char in APOSTROPHES:
        return " "
    folded = char.casefold()
    return char if folded == char else "".join(map(fold_char, folded))


def build_table() -> bytes:
    """Return the bytes of the analyzer's table."""
    replacements = {code: fold_char(chr(code)) for code in range(sys.maxunicode + 1)}
    return encode_char_table(
        {code: text for code, text in replacements.items() if text != chr(code)}
    )


if __name__ == "__main__":
    if unicodedata.unidata_version != UNICODE_VERSION:
        sys.exit(f"this Python knows Unicode {unicodedata.unidata_version}, not {UNICODE_VERSION}")
    TARGET.write_bytes(build_table())
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")
