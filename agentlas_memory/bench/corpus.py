"""Benchmark data: texts in the simple format, and as many chunks of them as are asked for.

A set is a folder with `corpus.jsonl`, one `{"id", "text"[, "title", "doc", "group"]}` a line.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, groupby, islice
from pathlib import Path
from typing import NamedTuple

CORPUS = "corpus.jsonl"
TEXTS_PER_PAGE = 20
# A chunk of project documents has about 90 words on average; chat turns and short functions are
# joined and long abstracts cut to come near it, so that sets of every kind make the same work.
_FEW_WORDS, _MANY_WORDS = 40, 180
_SEED = 7


class UnreadableData(Exception):
    """The folder holds no set in the simple format."""


class Text(NamedTuple):
    """One row of a corpus; a blank `doc` means that the row is a document of its own."""

    id: str
    text: str
    title: str = ""
    doc: str = ""
    group: str = ""


def read_corpora(data: Path) -> list[Text]:
    """Return the rows of the set in `data`, or of all the sets in folders directly below it."""
    files = [data / CORPUS] if (data / CORPUS).is_file() else sorted(data.glob(f"*/{CORPUS}"))
    texts = [text for file in files for text in _read_corpus(file)]
    if not texts:
        raise UnreadableData(f"{data}: no {CORPUS} with texts here or one folder below")
    return texts


def _read_corpus(file: Path) -> Iterator[Text]:
    number = 0
    with file.open(encoding="utf-8-sig") as lines:
        try:
            for line in lines:
                number += 1
                if line.strip():
                    row = json.loads(line)
                    names = {name: str(row.get(name, "")) for name in ("title", "doc", "group")}
                    yield Text(str(row["id"]), str(row["text"]), **names)
        except UnicodeDecodeError as error:
            raise UnreadableData(f"{file}: not UTF-8 behind line {number}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UnreadableData(f"{file}:{number}: not a row with id and text") from error


def make_chunks(texts: Sequence[Text], wanted: int) -> list[Text]:
    """Return `wanted` chunks of about 90 words: the data's own first, then spliced ones.

    The data's documents come in a random order that is always the same, so that a small store has
    some of every set. A spliced chunk is the head of one and the tail of another. Plain repetition
    would measure less than it claims: equal texts have equal vectors, and rare words stay rare.
    """
    chance = random.Random(_SEED)
    pages = _pages(_even_texts(texts))
    chance.shuffle(pages)
    own = list(chain.from_iterable(pages))[:wanted]
    return own + list(islice(_spliced(own, chance), wanted - len(own)))


def _even_texts(texts: Sequence[Text]) -> Iterator[Text]:
    """Yield texts of 40 to 180 words: short neighbours joined, long ones cut."""
    words: list[str] = []
    first = texts[0]
    for text in texts:
        first = first if words else text
        words += _words(text.text)
        if len(words) >= _FEW_WORDS:
            yield first._replace(text="".join(words[:_MANY_WORDS]))
            words = []
    if words:
        yield first._replace(text="".join(words))


def _pages(texts: Iterable[Text]) -> list[list[Text]]:
    """Return texts by document; those without one make pages of twenty."""
    numbered = groupby(enumerate(texts), key=lambda item: item[1].doc or item[0] // TEXTS_PER_PAGE)
    return [[text for _, text in page] for _, page in numbered]


def _spliced(chunks: Sequence[Text], chance: random.Random) -> Iterator[Text]:
    for page in count(1):
        doc = f"{chance.choice(chunks).doc}-{page}"
        for number in range(TEXTS_PER_PAGE):
            tail = chance.choice(chunks)
            start, end = _words(chance.choice(chunks).text), _words(tail.text)
            words = start[: _middle(start, chance)] + end[_middle(end, chance) :]
            yield Text(f"spliced-{page}-{number}", "".join(words), tail.title, doc)


def _words(text: str) -> list[str]:
    """Return words with the space that follows each, so that lines stay lines."""
    return re.findall(r"\S+\s*", text.rstrip() + "\n")


def _middle(words: Sequence[str], chance: random.Random) -> int:
    return round(len(words) * chance.uniform(0.4, 0.6))
