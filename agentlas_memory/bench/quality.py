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
        """Return the unit that each row is judged as."""
        return {text.id: text.doc or text.id for text in self.texts}


def read_set(data: Path) -> QualitySet:
    """Read one set; raise UnreadableData with what is wrong."""
    right: dict[str, set[str]] = defaultdict(set)
    try:
        for line in (data / JUDGEMENTS).read_text(encoding="utf-8").splitlines():
            question, unit, gain = line.split("\t")
            if float(gain) > 0:
                right[question].add(unit)
        lines = (data / QUERIES).read_text(encoding="utf-8").splitlines()
        questions = [_question(json.loads(line)) for line in lines if line.strip()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableData(f"{data}: no {QUERIES} and {JUDGEMENTS} to read: {error}") from error
    judged = [question for question in questions if right.get(question.id)]
    return QualitySet(
        read_corpora(data), judged, {name: frozenset(units) for name, units in right.items()}
    )


def _question(row: dict[str, object]) -> Question:
    group, split = (str(row.get(name, "")) for name in ("group", "split"))
    return Question(str(row["id"]), str(row["text"]), group, split)


def build_stores(
    texts: Iterable[Text], folder: Path, store_of: Callable[[Text], str]
) -> dict[str, OntologyRuntime]:
    """Take each text into the store that `store_of` names, and return the stores."""
    parts: dict[str, list[Record]] = defaultdict(list)
    for text in texts:
        # A document's name says what it is about; the id before a colon only which project's.
        name = text.doc.rpartition(":")[2]
        parts[store_of(text)].append(Record(text.id, text.text, text.title, name))
    stores = {}
    for number, (name, records) in enumerate(sorted(parts.items())):
        # A folder each: beside a store lies its sidecar.
        stores[name] = OntologyRuntime(folder / str(number) / "store.sqlite")
        stores[name].ingest_records(records)
    return stores


def ranked_units(hits: Sequence[Hit], unit_of: dict[str, str]) -> list[str]:
    """Return the units of the hits; a document counts where it comes first."""
    return list(dict.fromkeys(unit_of[hit.source] for hit in hits))
