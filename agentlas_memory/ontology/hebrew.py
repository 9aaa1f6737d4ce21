"""Hebrew words without what is written together with them.

No stemmer of Hebrew is small enough for a hook, and a root cannot be found without a dictionary.
But "and", "the", "in", "to", "from", "as" and "that" are written as first letters, plurals and the
construct form as last ones, and vowels with letters or without. What is left when all of these go
is the same for most forms of a word; where it is too little, it is so on both sides.
"""

_ENDINGS = ("ימ", "ינ", "ות", "ה", "ת", "י", "ו", "א")  # in letters that do not differ at the end
_PREFIXES = "ושהבכלמ"
_ALWAYS = "וה"  # "and", "the": hardly a root of three letters begins with them
_VOWELS = str.maketrans("", "", "וי")
_FINAL = str.maketrans("םןץףך", "מנצפכ")


def hebrew_stem(word: str) -> str:
    """Return what the forms of a folded Hebrew word have in common, two letters at least."""
    stem = word.translate(_FINAL)
    while ending := next((e for e in _ENDINGS if stem.endswith(e) and len(stem) > len(e) + 1), ""):
        stem = stem[: -len(ending)]
    while len(stem) > 2 and stem[0] in (_PREFIXES if len(stem) > 3 else _ALWAYS):
        stem = stem[1:]
    bare = stem.translate(_VOWELS)
    return bare if len(bare) > 1 else stem
