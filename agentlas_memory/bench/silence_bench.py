"""What is left unsaid: prompts about nothing and about other projects; and what is still said."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, quantiles
from tempfile import TemporaryDirectory

from agentlas_memory.bench.corpus import Text, UnreadableData
from agentlas_memory.bench.quality import (
    QualitySet,
    Question,
    build_stores,
    ranked_units,
    read_lines,
    read_set,
)
from agentlas_memory.capsule import render_capsule
from agentlas_memory.recall.evidence import evidence_of
from agentlas_memory.runtime import OntologyRuntime

_SHOWN = 4  # hits of a capsule, as in the hook
_DEPTH = 40
_CHARACTERS_PER_TOKEN = 4

Stores = Mapping[str, OntologyRuntime]


def bench_silence(data: Path, prompts: Path) -> dict[str, object]:
    """Ask off-topic prompts of every store, and each store's own prompts of all stores."""
    started = time.monotonic()
    quality, off_topic = read_set(data), _read_prompts(prompts)
    if not quality.questions:
        raise UnreadableData(f"{data}: no judged question")
    with TemporaryDirectory(prefix="agentlas-bench-") as folder:
        stores = build_stores(quality.texts, Path(folder), _store_of)
        tokens = {
            (category, text): [_tokens(store, text) for store in stores.values()]
            for category, text in off_topic
        }
        kept = _kept(quality, stores)
        others = _other_project(quality, stores)
    by_category: dict[str, list[int]] = defaultdict(list)
    for (category, _), counts in tokens.items():
        by_category[category] += counts
    everything = [count for counts in tokens.values() for count in counts]
    return {
        "answered": _share(count > 0 for count in everything),
        "by_category": {
            name: _share(count > 0 for count in counts) for name, counts in by_category.items()
        },
        "kept": kept,
        "other_project": {"mean": _mean(list(others.values())), "by_project": others},
        "tokens": {"median": _quantile(everything, 50), "p95": _quantile(everything, 95)},
        "stores": len(stores),
        "seconds": round(time.monotonic() - started, 2),
    }


def _read_prompts(file: Path) -> list[tuple[str, str]]:
    """Return (category, prompt) of each line; `#` begins a remark."""
    pairs = [line.partition("\t") for _, line in read_lines(file) if line[0] != "#"]
    if not pairs or not all(tab for _, tab, _ in pairs):
        raise UnreadableData(f"{file}: not lines of a category, a tab and a prompt")
    return [(category, prompt) for category, _, prompt in pairs]


def _store_of(text: Text) -> str:
    return text.group or (text.doc or text.id).partition(":")[0] * (":" in (text.doc or text.id))


def _homes(quality: QualitySet) -> dict[str, list[Question]]:
    """Return each store's own questions: those that are answered in it."""
    store_of_unit = {text.doc or text.id: _store_of(text) for text in quality.texts}
    homes: dict[str, list[Question]] = defaultdict(list)
    for question in quality.questions:
        units = quality.right[question.id] & store_of_unit.keys()  # some may have gone
        for name in {store_of_unit[unit] for unit in units}:
            homes[name].append(question)
    return homes


def _kept(quality: QualitySet, stores: Stores) -> float:
    """Return the share still answered of the questions whose answer is among the first four."""
    unit_of = quality.unit_of()
    answered = []
    for name, questions in _homes(quality).items():
        for one in questions:
            hits = stores[name].query(one.text, limit=_DEPTH, gated=False).hits
            if quality.right[one.id].intersection(ranked_units(hits, unit_of)[:_SHOWN]):
                answered.append(_answers(stores[name], one.text))
    return _share(answered)


def _other_project(quality: QualitySet, stores: Stores) -> dict[str, float]:
    """Return for each store the share of the other stores' questions that it answers."""
    homes = _homes(quality)
    return {
        name: _share(
            _answers(store, one.text)
            for other, questions in homes.items()
            if other != name
            for one in questions
        )
        for name, store in stores.items()
        if len(stores) > 1
    }


def _answers(store: OntologyRuntime, text: str) -> bool:
    return bool(store.query(text, limit=_SHOWN).hits)


def _tokens(store: OntologyRuntime, text: str) -> int:
    """Return the tokens that a prompt would cost, 0 when the store is silent."""
    found = store.explain(text, limit=_SHOWN)
    capsule = render_capsule([evidence_of(hit) for hit in found.hits], found.retrieval)
    return 0 if capsule is None else len(capsule.text) // _CHARACTERS_PER_TOKEN


def _share(values: Iterable[bool]) -> float:
    return _mean([float(value) for value in values])


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4) if values else 0.0


def _quantile(values: Sequence[int], percent: int) -> float:
    return float(quantiles(values, n=100, method="inclusive")[percent - 1]) if values[1:] else 0.0
