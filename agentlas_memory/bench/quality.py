"""Questions with known answers, and stores to ask them of.

Beside `corpus.jsonl` a set has `queries.jsonl`, one `{"id", "text"[, "group", "split"]}` a line,
and `qrels.tsv`: question, row or document, gain; a gain above 0 is a right answer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.bench.corpus import Text, UnreadableData, read_corpora
from agentlas_memory.ontology.records import Record
from agentlas_memory.runtime import Hit, OntologyRuntime

QUERIES, JUDGEMENTS = "queries.jsonl", "qrels.tsv"


class Question(NamedTuple):
    """A question of a set."""

    id: str
    text: str
    group: str
    split: str


@dataclass(frozen=True)
class QualitySet:
    """A corpus with its questions and the units (documents, else rows) that answer each."""

    texts: list[Text]
    questions: list[Question]
    right: dict[str, frozenset[str]]

    def unit_of(self) -> dict[str, str]:
        """Return the unit that each record of `build_stores` is judged as."""
        return {str(place): text.doc or text.id for place, text in enumerate(self.texts)}


def read_set(data: Path) -> QualitySet:
    """Read one set; raise UnreadableData with the file, the line and what is wrong."""
    texts = read_corpora(data)
    questions = [_question(place, line) for place, line in read_lines(data / QUERIES)]
    groups = {text.group for text in texts}
    documents = {text.doc for text in texts}
    parts = {text.id: text.doc for text in texts if text.doc and text.id not in documents}
    right: dict[str, set[str]] = defaultdict(set)
    for place, line in read_lines(data / JUDGEMENTS):
        fields = line.split("\t")
        try:
            question, unit, gain = fields[0], fields[1], float(fields[2])
        except (IndexError, ValueError) as error:
            raise UnreadableData(
                f"{place}: not question, tab, document or row, tab, gain"
            ) from error
        if gain > 0:
            right[question].add(parts.get(unit, unit))
    for one in questions:
        if one.id in right and one.group not in groups:
            raise UnreadableData(f"{data / QUERIES}: {one.id}: no row of group {one.group!r}")
    judged = [question for question in questions if right.get(question.id)]
    return QualitySet(texts, judged, {name: frozenset(found) for name, found in right.items()})


def read_lines(file: Path) -> list[tuple[str, str]]:
    """Return (file and line number, text) of each line that is not blank."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableData(f"{file}: cannot be read: {error}") from error
    return [(f"{file}:{number}", line) for number, line in enumerate(lines, 1) if line.strip()]


def _question(place: str, line: str) -> Question:
    try:
        row = json.loads(line)
        group, split = (str(row.get(name, "")) for name in ("group", "split"))
        return Question(str(row["id"]), str(row["text"]), group, split)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableData(f"{place}: not an object with id and text") from error


def build_stores(
    texts: Iterable[Text], folder: Path, store_of: Callable[[Text], str]
) -> dict[str, OntologyRuntime]:
    """Take each text into the store that `store_of` names, and return the stores."""
    parts: dict[str, list[Record]] = defaultdict(list)
    for place, text in enumerate(texts):
        # A document's name says what it is about; the id before a colon only which project's.
        name = text.doc.rpartition(":")[2]
        # By its place in the corpus: an id may be changed, where it looks like a credential.
        parts[store_of(text)].append(Record(str(place), text.text, text.title, name))
    stores = {}
    for number, (name, records) in enumerate(sorted(parts.items())):
        # A folder each: beside a store lies its sidecar.
        stores[name] = OntologyRuntime(folder / str(number) / "store.sqlite")
        stores[name].ingest_records(records)
    return stores


def ranked_units(hits: Sequence[Hit], unit_of: dict[str, str]) -> list[str]:
    """Return the units of the hits; a document counts where it comes first."""
    return list(dict.fromkeys(unit_of[hit.source] for hit in hits))
