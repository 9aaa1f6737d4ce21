"""Benchmark data: texts in the simple format, and as many chunks of them as are asked for.

A set is a folder with `corpus.jsonl`, one `{"id", "text"[, "title", "doc", "group"]}` a line.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

CORPUS = "corpus.jsonl"
# A chunk of project documents has about 90 words on average; chat turns and short functions are
# joined and long abstracts cut to come near it, so that sets of every kind make the same work.
_FEW_WORDS, _MANY_WORDS = 60, 180
_SEED = 7


class UnreadableData(Exception):  # noqa: N818 - says what is wrong with the data, not with us
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
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                names = {name: str(row.get(name, "")) for name in ("title", "doc", "group")}
                yield Text(str(row["id"]), str(row["text"]), **names)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise UnreadableData(f"{file}:{number}: not a row with id and text") from error


def make_chunks(texts: Sequence[Text], count: int) -> list[Text]:
    """Return `count` chunks of about 90 words: the data's own first, then spliced ones.

    A spliced chunk is the head of one and the tail of another. Plain repetition would measure less
    than it claims: equal texts have equal vectors, and their words stay as rare as they were.
    """
    own = list(islice(_even_texts(texts), count))
    return own + list(islice(_spliced(own), count - len(own)))


def _even_texts(texts: Sequence[Text]) -> Iterator[Text]:
    words: list[str] = []
    first = texts[0]
    for position, text in enumerate(texts):
        first = first if words else text
        words += text.text.split(" ")
        last = position + 1 == len(texts)
        if len(words) >= _FEW_WORDS or last:
            yield first._replace(text=" ".join(words[:_MANY_WORDS]))
            words = []


def _spliced(chunks: Sequence[Text]) -> Iterator[Text]:
    chance = random.Random(_SEED)
    number = 0
    while True:
        head, tail = chance.choice(chunks), chance.choice(chunks)
        number += 1
        words = _cut(head.text, chance)[0] + _cut(tail.text, chance)[1]
        yield head._replace(id=f"spliced-{number}", text=" ".join(words), title=tail.title)


def _cut(text: str, chance: random.Random) -> tuple[list[str], list[str]]:
    """Return a text's words in two parts, cut somewhere near the middle."""
    words = text.split(" ")
    middle = round(len(words) * chance.uniform(0.4, 0.6))
    return words[:middle], words[middle:]
