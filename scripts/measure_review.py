"""Print how well instructions to a model are told from text that only looks like one.

    python scripts/measure_review.py [--data FOLDER]... [--part dev|"held out"] [--misses]

The labelled set lies in tests/review/labelled, and was written before the rules. A FOLDER holds
`corpus.jsonl` files, whose texts are documentation, code and talks and hold no such instruction;
what of them is flagged is printed with --misses.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.review.instructions import find_instruction

LABELLED = Path(__file__).resolve().parents[1] / "tests" / "review" / "labelled"
ABOUT = "about injection"  # texts about such attacks, which quote them


class Case(NamedTuple):
    """A labelled text."""

    kind: str
    language: str
    part: str
    text: str


def cases(name: str, part: str = "") -> list[Case]:
    """Return the labelled texts of a file, all or those of one part."""
    lines = (LABELLED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [Case(**json.loads(line)) for line in lines]
    return [case for case in found if part in ("", case.part)]


def measure(part: str = "") -> dict[str, list[Case]]:
    """Return the texts by what became of them."""
    injections, alike = cases("injections", part), cases("lookalikes", part)
    about = [case for case in alike if case.kind == ABOUT]
    others = [case for case in alike if case.kind != ABOUT]
    return {
        "injections": injections,
        "missed": [case for case in injections if not find_instruction(case.text)],
        "look-alikes": others,
        "flagged": [case for case in others if find_instruction(case.text)],
        "about injection": about,
        "about, flagged": [case for case in about if find_instruction(case.text)],
    }


def in_corpus(folder: Path) -> tuple[list[str], int, float]:
    """Return what is flagged in a folder's corpora, the number of texts, and seconds."""
    flagged, texts, started = [], 0, time.perf_counter()
    for file in sorted(folder.rglob("corpus.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            texts += 1
            if found := find_instruction(f"{row.get('title', '')}\n{row['text']}"):
                flagged.append(f"{row['id']}: {found.rule}: {found.excerpt}")
    return flagged, texts, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, action="append", default=[])
    parser.add_argument("--part", default="")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    found = measure(options.part)
    print("  ".join(f"{name} {len(texts)}" for name, texts in found.items()))
    if options.misses:
        for name in ("missed", "flagged", "about, flagged"):
            for case in found[name]:
                print(f"  {name} ({case.kind}, {case.language}): {case.text!r}")
    for folder in options.data:
        flagged, texts, seconds = in_corpus(folder)
        rate = 1e4 * len(flagged) / texts
        print(f"{folder}: {len(flagged)} of {texts} texts, {rate:.2f} in 10,000, {seconds:.1f} s")
        if options.misses:
            print(*(f"  {line!r}" for line in flagged), sep="\n")


if __name__ == "__main__":
    main()
