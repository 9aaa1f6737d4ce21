"""What the campaigns share: counts and a seed as options, figures and faults as their end."""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_SHOWN = 20  # faults


class Campaign:
    """Counts what the runs of a campaign came to."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.figures: Counter[str] = Counter()
        self.faults: list[str] = []
        self.slowest = 0.0  # seconds
        self.peak_mib = 0.0

    def random(self, number: int) -> random.Random:
        """Return the source of chance of one run, the same whichever runs come before it."""
        return random.Random(f"{self.seed}/{number}")

    def fault(self, run: str, what: str) -> None:
        """Note what a run did that none may do."""
        self.figures["faults"] += 1
        self.faults.append(f"{run}: {what}")

    def measure(self, seconds: float, peak_mib: float = 0.0) -> None:
        """Note what a run took."""
        self.slowest = max(self.slowest, seconds)
        self.peak_mib = max(self.peak_mib, peak_mib)

    def report(self) -> dict[str, object]:
        """Return all figures."""
        peak = {"peak_mib": round(self.peak_mib, 1)} if self.peak_mib else {}
        figures = {"faults": 0, **self.figures, "slowest_ms": round(self.slowest * 1000)}
        return {"seed": self.seed, **figures, **peak}


@contextmanager
def throwaway() -> Iterator[Path]:
    """Yield a folder for a scene, with a home in it that this process has, too."""
    with tempfile.TemporaryDirectory(prefix="agentlas-fuzz-") as name:
        folder = Path(name).resolve()
        before = dict(os.environ)
        for variable in list(os.environ):
            if variable.startswith("AGENTLAS"):
                del os.environ[variable]
        os.environ["HOME"] = str(folder / "home")
        try:
            yield folder
        finally:
            os.environ.clear()
            os.environ.update(before)


def main(name: str, run: Callable[[Campaign, int, int], None], count: int) -> int:
    """Run a campaign from the command line; the exit code is 1 when there were faults."""
    parser = argparse.ArgumentParser(prog=f"python -m fuzz.{name}")
    parser.add_argument("--count", type=int, default=count, help="runs (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(1 << 32)))
    options = parser.parse_args()
    print(f"{name}: seed {options.seed}, {options.count} runs", flush=True)
    campaign = Campaign(options.seed)
    run(campaign, options.first, options.count)
    for fault in campaign.faults[:_SHOWN]:
        print(f"  fault in run {fault}")
    print(f"{name}: {json.dumps(campaign.report())}", flush=True)
    return 1 if campaign.faults else 0
