"""Which texts say the same."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from math import ceil

# Of the words of both texts. Shorter ones turn on a single word, and on a number or a `not` any.
ALIKE = 0.9
LEAST_WORDS = 30

_WORD = re.compile(r"\w+")
_TELLING = re.compile(
    r"(?:not|no|never|none|without|nor|cannot|\w+nt|nicht|kein\w*|nie|ohne|ne|pas|jamais|sans|nunca"
    r"|sin|non|mai|senza|n[aã]o|sem|niet|geen|не|нет|никогда|без)|\w*\d\w*"
)


def normal(text: str) -> str:
    """Return the words of a text alone: no case, markup, spacing or punctuation."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    return " ".join(_WORD.findall(plain))


class Alike:
    """Finds, for one text after the other, an earlier one that is nearly the same.

    Two sets of words that share nine tenths share one of the few rarest words of each, so only
    texts with such a word in common are held against each other.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = Counter(word for text in texts for word in set(text.split()))
        self._by_word: dict[str, list[int]] = {}
        self._known: list[tuple[frozenset[str], str]] = []

    def find(self, text: str) -> str:
        """Return the name of an earlier text that is alike, blank for none."""
        words = frozenset(text.split())
        if len(words) < LEAST_WORDS:
            return ""
        near = {at for word in self._rarest(words) for at in self._by_word.get(word, ())}
        for at in sorted(near):
            others, name = self._known[at]
            if _is_alike(words, others):
                return name
        return ""

    def add(self, text: str, name: str) -> None:
        """Remember a text under a name."""
        words = frozenset(text.split())
        if len(words) < LEAST_WORDS:
            return
        for word in self._rarest(words):
            self._by_word.setdefault(word, []).append(len(self._known))
        self._known.append((words, name))

    def _rarest(self, words: frozenset[str]) -> list[str]:
        count = len(words) - ceil(ALIKE * len(words)) + 1
        return sorted(words, key=lambda word: (self._counts[word], word))[:count]


def _is_alike(words: frozenset[str], others: frozenset[str]) -> bool:
    if len(words & others) < ALIKE * len(words | others):
        return False
    return not any(_TELLING.fullmatch(word) for word in words ^ others)
