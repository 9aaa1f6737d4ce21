"""Too little memory, really: `python -m fuzz.starving --count 0` takes every step."""

from __future__ import annotations

import sys

from fuzz.answers import Intact
from fuzz.campaign import Campaign, main, throwaway
from fuzz.faults import judge
from fuzz.scene import Hooks, Scene

_MOST_MEMORY, _STEP = 16 << 20, 16 << 10  # bytes beyond those that the interpreter has
_LIMIT = (
    "import resource; n = int(open('/proc/self/statm').read().split()[0]) * 4096 + {}\n"
    "resource.setrlimit(resource.RLIMIT_AS, (n, n))"
)


def run(campaign: Campaign, first: int, count: int) -> None:
    """Leave the hook a little memory, from nothing to enough: every step, or `count` of them."""
    with throwaway() as folder, Hooks() as hooks:
        scene = Scene(folder)
        intact = Intact(scene.store)
        steps = range(0, _MOST_MEMORY, _STEP)
        for room in campaign.random(first).sample(steps, count) if count else steps:
            done = hooks.run_patched(scene, _LIMIT.format(room))
            judge(campaign, done, intact, "raw", "UserPromptSubmit", f"{room} bytes left")


if __name__ == "__main__":
    sys.exit(main("starving", run, 0))
