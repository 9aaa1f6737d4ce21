"""How well the right answers are ranked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from agentlas_memory.bench.corpus import UnreadableData
from agentlas_memory.bench.quality import build_stores, ranked_units, read_set

_DEPTH = 40  # hits; a document may have many of them


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of one question's ranking, each from 0 to 1."""

    recall_1: float
    recall_5: float
    recall_10: float
    ndcg_10: float
    mrr_10: float
    hit_5: float


def bench_retrieval(data: Path, split: str, gated: bool) -> dict[str, object]:
    """Ask every question of its store and return the means; one store for each `group`."""
    started = time.monotonic()
    quality = read_set(data)
    questions = [one for one in quality.questions if split in ("", one.split)]
    if not questions:
        raise UnreadableData(f"{data}: no judged question of split {split!r}")
    unit_of = quality.unit_of()
    with TemporaryDirectory(prefix="agentlas-bench-") as folder:
        stores = build_stores(quality.texts, Path(folder), lambda text: text.group)
        scores = [
            score(
                ranked_units(
                    stores[one.group].query(one.text, limit=_DEPTH, gated=gated).hits, unit_of
                ),
                quality.right[one.id],
            )
            for one in questions
        ]
    means = {
        name.replace("_", "@"): round(fmean(getattr(one, name) for one in scores), 4)
        for name in Score.__slots__
    }
    seconds = round(time.monotonic() - started, 2)
    return {**means, "queries": len(scores), "gated": gated, "seconds": seconds}


def score(ranked: Sequence[str], right: frozenset[str]) -> Score:
    """Return the measures of a ranking; gains count as right or wrong alone."""
    places = [place for place, unit in enumerate(ranked[:10], 1) if unit in right]
    ideal = sum(1 / log2(place + 1) for place in range(1, min(len(right), 10) + 1))
    found = sum(1 / log2(place + 1) for place in places)

    def recall(depth: int) -> float:
        return sum(place <= depth for place in places) / len(right)

    first = places[0] if places else 0
    return Score(
        recall_1=recall(1),
        recall_5=recall(5),
        recall_10=recall(10),
        ndcg_10=found / ideal,
        mrr_10=1 / first if first else 0.0,
        hit_5=float(0 < first <= 5),
    )
