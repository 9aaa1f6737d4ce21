"""Sentences of different sources that say nearly the same and differ in a number or a negation.

Word overlap and nothing more: it finds the note that was written anew and not marked as superseding
the old one, and no difference in other words. The work is bounded: a sentence is held only against
those it shares a rare word with.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from agentlas_memory.ontology.analyzer import analyze
from agentlas_memory.review.plain import plain

_ALIKE = 0.75  # shared words, of all words of both
_FEWEST = 3  # shared words
_LONGEST = 60  # words: beyond, it is a table or code
_RARE = 40  # sentences that a word may stand in to lead from one to another
_MOST_SENTENCES = 50_000
_MOST_COMPARED = 400_000

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n(?=\s*(?:[-*+|>]|\d+[.)])\s)|\n\s*\n")
_MARKER = re.compile(r"^\s*(?:[-*+>|]\s*|\d+[.)]\s+|#+\s*)+")
# What differs from page to page without a contradiction: code, addresses, references, the dates of
# a list of changes.
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(?:.*?^ {0,3}\1|.*)", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(
    r"\w+://\S+|\]\([^)]*\)|(?<!\w)#\d+|\b(?:adr|rfc|pep|issue|pr|gh)[-_ #]{0,2}\d+"
    r"|^\W*(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4}|v?\d+(?:\.\d+)+)\b|\bl\d+(?:-l?\d+)?\b"
)
# A unit may be glued to it: `60s`, `3gb`, `90%`; and a `v` stands before that of a version.
_NUMBER = re.compile(r"(?<![\w.])v?([-+]?\d+(?:[.,:]\d+)*)(?:(?=[a-zµ]{1,4}\b)|(?!\w))")
# Who decided when: every record has such lines in its head, and they are no sentences.
_KEYS = (
    "status|date|deciders?|decision[ -]?makers?|decided by|consulted|informed|authors?|owners?"
    "|reviewers?|approvers?|approved by|stakeholders?|participants|tags?|labels?|category|created"
    "|updated|last[ -](?:updated|modified)|supersedes|superseded[ -]by|tickets?|issues?|version"
    "|technical story|datum|entscheider|autor(?:en)?|statut|auteurs?|estado|fecha|дата|статус|автор"
)
_FIELD = re.compile(r"[ \t>|*+-]*([^\W\d_][^\n:|.*]{0,30}?)[*_ \t]*[:|]")
_KNOWN = re.compile(_KEYS, re.IGNORECASE)
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_NAMED = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|cannot|\w+n't|forbidden|disallowed"
    r"|не|нет|никогда|нельзя|без|запрещено|nicht|kein\w*|nie|niemals|ohne|jamais|sans|nunca|sin"
    r"|nao|sem|non|mai|senza)\b|\bne \w+ pas\b|不|没有|勿|ない|ません|않|없"
)


class Contradiction(NamedTuple):
    """Two passages, by their numbers, and the sentences that disagree; `differs` says in what."""

    one: int
    other: int
    one_says: str
    other_says: str
    differs: str


class _Sentence(NamedTuple):
    passage: int
    source: str
    text: str
    words: frozenset[str]
    numbers: tuple[str, ...]
    negated: bool


class Found(NamedTuple):
    """The contradictions, and whether there was too much to compare all."""

    pairs: list[Contradiction]
    cut_short: bool


def find_contradictions(passages: Iterable[tuple[str, str]]) -> Found:
    """Compare passages (source, text) of different sources; pairs in the order of the passages."""
    sentences: list[_Sentence] = []
    for at, (source, text) in enumerate(passages):
        sentences += _sentences(at, source, text)
        if len(sentences) > _MOST_SENTENCES:
            break
    cut_short = len(sentences) > _MOST_SENTENCES
    found: dict[tuple[int, int], Contradiction] = {}
    for compared, (one, other) in enumerate(_candidates(sentences[:_MOST_SENTENCES])):
        if compared >= _MOST_COMPARED:
            cut_short = True
            break
        differs = _difference(one, other)
        if differs:
            key = one.passage, other.passage
            found.setdefault(key, Contradiction(*key, one.text, other.text, differs))
    return Found([found[pair] for pair in sorted(found)], cut_short)


def _sentences(passage: int, source: str, text: str) -> Iterator[_Sentence]:
    text = _without_metadata(_FENCE.sub("\n\n", text))
    for part in filter(None, _SENTENCE.split(text)):
        part = _MARKER.sub("", part).strip()
        form = _REFERENCE.sub(" ", plain(part))
        numbers = _numbers(form)
        words = frozenset(w for w in analyze(_NUMBER.sub(" ", form)) if w not in _NAMED)
        if _FEWEST <= len(words) <= _LONGEST:
            negated = len(_NEGATION.findall(form)) % 2 == 1
            yield _Sentence(passage, source, part, words, numbers, negated)


def _without_metadata(text: str) -> str:
    """Return a text without blocks of `Key: value` lines one of whose keys is known."""
    kept: list[str] = []
    for is_field, block in groupby(text.split("\n"), lambda line: bool(_FIELD.match(line))):
        lines = list(block)
        keys = (found[1] for line in lines if (found := _FIELD.match(line)))
        kept += [""] if is_field and any(map(_KNOWN.fullmatch, keys)) else lines
    return "\n".join(kept)


def _numbers(form: str) -> tuple[str, ...]:
    named = [_NAMED[word] for word in form.translate(_STOPS).split() if word in _NAMED]
    return tuple(sorted(_NUMBER.findall(form) + named))


_STOPS = str.maketrans(".,;:()", "      ")


def _candidates(sentences: Sequence[_Sentence]) -> Iterator[tuple[_Sentence, _Sentence]]:
    """Yield pairs that share one of the rarer words of the later one."""
    holders: dict[str, list[int]] = defaultdict(list)
    for at, sentence in enumerate(sentences):
        for word in sentence.words:
            holders[word].append(at)
    for at, sentence in enumerate(sentences):
        # Of any two that are alike enough, the other holds most of these words.
        for earlier in sorted(_shared(sentence.words, holders, at)):
            if sentences[earlier].source != sentence.source:
                yield sentences[earlier], sentence


def _shared(words: Iterable[str], holders: dict[str, list[int]], before: int) -> set[int]:
    rarest = sorted(words, key=lambda word: (len(holders[word]), word))[:3]
    return {
        at for word in rarest if len(holders[word]) <= _RARE for at in holders[word] if at < before
    }


def _difference(one: _Sentence, other: _Sentence) -> str:
    """Return in what two sentences differ that are otherwise alike, blank when it is not that."""
    shared = len(one.words & other.words)
    if shared < _FEWEST or shared < _ALIKE * len(one.words | other.words):
        return ""
    if one.numbers != other.numbers and len(one.numbers) == len(other.numbers):
        return "number"
    if one.negated != other.negated and one.numbers == other.numbers:
        return "negation"
    return ""
