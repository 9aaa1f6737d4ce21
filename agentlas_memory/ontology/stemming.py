"""Word stems: our own Porter stemmer for English, Snowball's for six scripts of one main language
and for Portuguese.

English is stemmed here and not by SQLite, so that index, query and `why` see the same terms; the
result equals FTS5's `porter` tokenizer. `re`, which most stemmer packages need, would cost the hook
7 ms.
"""

import sys

from agentlas_memory.ontology.language import ENGLISH, PORTUGUESE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Suffixes = Mapping[str, tuple[tuple[str, str], ...]]

_SHAPE = str.maketrans("abcdefghijklmnopqrstuvwxyz", "vcccvcccvcccccvcccccvcccyc")
_LONGEST = 64  # as in FTS5: longer words are no English

# Suffix and replacement by the letter before the last one, as FTS5 looks them up; within a letter
# the longer suffix stands first.
_STEP_2: "Suffixes" = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "g": (("logi", "log"),),
    "l": (("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
}
_STEP_3: "Suffixes" = {
    "a": (("ical", "ic"),),
    "s": (("ness", ""),),
    "t": (("icate", "ic"), ("iciti", "ic")),
    "u": (("ful", ""),),
    "v": (("ative", ""),),
    "z": (("alize", "al"),),
}
_STEP_4: "Suffixes" = {
    "a": (("al", ""),),
    "c": (("ance", ""), ("ence", "")),
    "e": (("er", ""),),
    "i": (("ic", ""),),
    "l": (("able", ""), ("ible", "")),
    "n": (("ant", ""), ("ement", ""), ("ment", ""), ("ent", "")),
    "o": (("ion", ""), ("ou", "")),
    "s": (("ism", ""),),
    "t": (("ate", ""), ("iti", "")),
    "u": (("ous", ""),),
    "v": (("ive", ""),),
    "z": (("ize", ""),),
}

# Scripts in which one Snowball language is much the likeliest. The stems of its neighbours
# (Ukrainian, Persian, Marathi) are odd but the same on both sides.
_SNOWBALL = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0531", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
_PACKAGE = "agentlas_snowball"
_stemmers: "dict[str, Callable[[str], str]]" = {}
_ARABIC_ARTICLES = ("وال", "بال", "كال", "فال", "ال", "لل")  # and-the, with-the, ..., the, to-the
_PORTUGUESE_PLURALS = (
    ("oes", "ao"), ("aes", "ao"), ("ais", "al"), ("eis", "el"), ("ois", "ol"), ("ns", "m"),
)  # fmt: skip
_FOLDED_ACCENTS = str.maketrans("çãõáéíóúâêô", "caoaeiouaeo")
_TAMIL_VOWELS = (("\u0bc6\u0bbe", "\u0bca"), ("\u0bc7\u0bbe", "\u0bcb"), ("\u0bc6\u0bd7", "\u0bcc"))


def stem(word: str, language: str = ENGLISH) -> str:
    """Return the stem of a folded, lower-case word; identifiers and other scripts stay.

    `language` is that of the text it stands in, as far as its letters do not tell.
    """
    if not word.isascii():
        stemmed = _stem_by_script(word)
    elif not word.isalpha():
        stemmed = word
    elif language == PORTUGUESE:
        stemmed = _snowball(PORTUGUESE)(_with_accents(word)).translate(_FOLDED_ACCENTS)
    else:
        stemmed = porter_stem(word)
    return stemmed if len(stemmed) > 1 else word  # "aed" -> "a": a letter would match anything


def porter_stem(word: str) -> str:
    """Return what FTS5's `porter` tokenizer makes of a word of a-z."""
    if not 3 <= len(word) <= _LONGEST:
        return word
    word = _without_past(_without_plural(word))
    if word[-1] == "y" and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_suffix(word, _STEP_2, 1)
    word = _replace_suffix(word, _STEP_3, 1)
    word = _replace_suffix(word, _STEP_4, 2)
    if word[-1] == "e":
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    if word[-2:] == "ll" and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _without_plural(word: str) -> str:
    if word[-1] != "s" or word[-2] == "s":
        return word
    if (len(word) > 4 and word[-4:] == "sses") or (len(word) > 3 and word[-3:] == "ies"):
        return word[:-2]
    return word[:-1]


def _without_past(word: str) -> str:
    """Drop -ed and -ing, and give the verb its own ending back."""
    if word[-3:] == "eed" and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) else word
    length = 2 if word[-2:] == "ed" else 3 if word[-3:] == "ing" else 0
    if not length or "v" not in _shape(word[:-length]):
        return word
    word = word[:-length]
    if word[-2:] in ("at", "bl", "iz") and len(word) > 2:
        return word + "e"
    if word[-2:-1] == word[-1] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_cvc(word) else word


def _replace_suffix(word: str, suffixes: "Suffixes", least_measure: int) -> str:
    """Replace the first suffix that fits, if enough is left before it."""
    for suffix, ending in suffixes.get(word[-2:-1], ()):
        if word.endswith(suffix) and len(word) > len(suffix):
            stem = word[: -len(suffix)]
            if _measure(stem) < least_measure or (suffix == "ion" and stem[-1] not in "st"):
                return word
            return stem + ending
    return word


def _shape(word: str) -> str:
    """Spell a word in consonants and vowels; y is a vowel after a consonant: policy -> cvcvcv."""
    shape = word.translate(_SHAPE)
    while "y" in shape:
        before, _, after = shape.partition("y")
        shape = before + ("v" if before[-1:] == "c" else "c") + after
    return shape


def _measure(stem: str) -> int:
    """Count how often a consonant follows a vowel, Porter's m."""
    return _shape(stem).count("vc")


def _ends_cvc(stem: str) -> bool:
    return _shape(stem)[-3:] == "cvc" and stem[-1] not in "wxy"


def _stem_by_script(word: str) -> str:
    if "\u0590" <= word[0] <= "\u05ff":
        from agentlas_memory.ontology.hebrew import hebrew_stem

        return hebrew_stem(word)
    for first, last, language in _SNOWBALL:
        if first <= word[0] <= last:
            if language == "arabic":
                word = _with_article(word)
            elif language == "tamil":
                word = _with_whole_vowels(word)
            return _snowball(language)(word)
    return word


def _with_article(word: str) -> str:
    """Put every Arabic word into the definite form.

    Snowball cuts definite and indefinite words by different rules, so that "files" and "the files"
    part, and keeps the article after "and". Of the two forms the definite one is cut better: the
    plural in -at goes and no first letter is taken for a preposition.
    """
    for article in _ARABIC_ARTICLES:
        if word.startswith(article) and len(word) >= len(article) + 3:
            word = word[len(article) :]
            break
    return "ال" + word


def _with_accents(word: str) -> str:
    """Put a folded Portuguese word into the singular, and give -ão its accents back.

    Snowball cuts "versão" and "versões" to different stems, and knows "-ção" by its accents.
    """
    for plural, singular in _PORTUGUESE_PLURALS:
        if word.endswith(plural) and len(word) > len(plural) + 1:
            word = word[: -len(plural)] + singular
            break
    for folded, written in (("cao", "ção"), ("ao", "ão")):
        if word.endswith(folded):
            return word[: -len(folded)] + written
    return word


def _with_whole_vowels(word: str) -> str:
    """Join the halves of Tamil vowels: folded text has them apart, Snowball's endings do not."""
    for halves, whole in _TAMIL_VOWELS:
        word = word.replace(halves, whole)
    return word


def _snowball(language: str) -> "Callable[[str], str]":
    """Return the stemmer of a language, loaded at its first word.

    `import snowballstemmer` reads 36 languages in 16 ms; one of its modules alone costs 1 ms. So a
    package of our own name stands for its folder, wherever that is on the path, and skips its
    `__init__`. Without that folder words stay as they are; it is a dependency, so index and query
    agree.
    """
    if language not in _stemmers:
        package = type(sys)(_PACKAGE)
        package.__path__ = [folder + "/snowballstemmer" for folder in sys.path]
        sys.modules.setdefault(_PACKAGE, package)
        try:
            module = __import__(f"{_PACKAGE}.{language}_stemmer", fromlist=["*"])
        except ImportError:
            _stemmers[language] = str
        else:
            stemmer = getattr(module, language.title() + "Stemmer")
            # A stemmer holds the word it works on: a fresh one each time is safe among threads.
            _stemmers[language] = lambda word: str(stemmer().stemWord(word))
    return _stemmers[language]
