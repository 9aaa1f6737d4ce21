"""What a source is called in the text that is indexed and embedded with each of its chunks.

A chunk alone often lacks the words that name its subject; the document's name and the heading path
in front are worth 0.02-0.06 nDCG@10 on each side.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple

from agentlas_memory.ontology.analyzer import ANALYZER_VERSION, analyze, analyze_parts
from agentlas_memory.ontology.documents import INBOX

# Names all that decides a chunk's terms; with another one the lexical index is filled anew.
TERMS_VERSION = f"1+{ANALYZER_VERSION}"

_SAY_NOTHING = ("readme", "index")  # such a file is named by its folder

# What a chunk is about stands in its heading and its first lines: docs/quality.md.
_SUBJECT_TIMES = 3
_LEAD_CHARACTERS = 128


def source_name(path: str, title: str, kind: str) -> str:
    """Return the words that name a source: its file's name, or a record's title.

    A note has none: its file is named by a date, its own first words and a random id.
    """
    if kind == "record":
        return _words(title)
    if path.startswith(f"{INBOX}/"):
        return ""
    file = PurePosixPath(path)
    name = f"{file.parent.name} {file.stem}" if file.stem.lower() in _SAY_NOTHING else file.stem
    return _words(name)


class IndexTerms(NamedTuple):
    """The terms of a chunk for the heading and the body column, and the language they are of."""

    columns: tuple[str, str]
    language: str


def index_terms(name: str, heading: str, text: str) -> IndexTerms:
    """Return what the lexical index is given of a chunk."""
    language, (headed, body) = analyze_parts(heading, text)
    return IndexTerms((" ".join(analyze(name, language) + headed), " ".join(body)), language)


def embedded_text(name: str, heading: str, text: str) -> str:
    """Return what the model reads of a chunk.

    It takes the mean of all words, so what stands there three times weighs three times as much.
    """
    return "\n".join([f"{name} {heading}"] * _SUBJECT_TIMES + [text[:_LEAD_CHARACTERS], text])


def _words(name: str) -> str:
    return name.translate(_SEPARATORS)


_SEPARATORS = str.maketrans("-_/:", "    ")
