"""The same fuzzed events, each for a hook in a process of its own, as a host starts it."""

from __future__ import annotations

import json
import sys

from fuzz.campaign import Campaign, main, throwaway
from fuzz.events import make_event
from fuzz.hook_runs import Judge, write_settings
from fuzz.scene import Hooks, Scene


def run(campaign: Campaign, first: int, count: int) -> None:
    """Run fuzzed events as processes."""
    with throwaway() as folder, Hooks() as hooks:
        scene = Scene(folder)
        judge = Judge(campaign, scene)
        for number in range(first, first + count):
            chance = campaign.random(number)
            write_settings(chance, scene)
            event = make_event(chance, scene)
            done = hooks.start(scene, event.arguments, event.stdin)
            campaign.measure(done.seconds, done.peak_mib)
            campaign.figures["reached the store"] += _reached(scene)
            judge.look_at(number, event, done.stdout, done.faults())


def _reached(scene: Scene) -> bool:
    """Tell by the receipt whether the last run opened the store, and take the receipt away."""
    for receipt in scene.data.glob("state/last/*.json"):
        stages = json.loads(receipt.read_text())["stages"]
        receipt.unlink()
        return "open" in stages
    return False


if __name__ == "__main__":
    sys.exit(main("hook_processes", run, 2000))
