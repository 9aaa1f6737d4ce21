"""Fuzzed events for the hook, all in this one process.

Every run ends with exit code 0, silent or with a right capsule, in time and without a word on
stderr. `python -m fuzz.hook_runs --count 200000`; as processes: `hook_processes.py`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentlas_memory import hook
from agentlas_memory.ontology import store as store_module
from fuzz.answers import Intact, WrongAnswer, capsule_in
from fuzz.campaign import Campaign, main, throwaway
from fuzz.events import Event, make_event
from fuzz.scene import DEADLINE_MS, GRACE_MS, Scene

_SETTINGS: tuple[object, ...] = (
    *({}, {}, {}, {"delivery": "every_turn"}, {"subagents": True}, {"worktree": "isolated"}),
    *(
        {"deadline_ms": "soon", "off": "no", "delivery": [1]},
        {"subagents": []},
        {"off": None, "deadline_ms": -1},
    ),
)
_FRESH = 500  # runs after which sessions and settings begin anew


class Streams:
    """The three standard streams as files in memory, and the real ones kept aside."""

    def __init__(self) -> None:
        self._kept = [os.dup(number) for number in range(3)]
        self._files = [os.memfd_create(f"stream-{number}") for number in range(3)]

    @contextmanager
    def given(self, stdin: bytes) -> Iterator[None]:
        """Put files in the streams' places for one run."""
        for number, file in enumerate(self._files):
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            if number == 0:
                os.write(file, stdin)
                os.lseek(file, 0, os.SEEK_SET)
            os.dup2(file, number)
        try:
            yield
        finally:
            for number, kept in enumerate(self._kept):
                os.dup2(kept, number)

    def written(self, number: int) -> bytes:
        """Return what a run wrote to stdout or stderr."""
        return os.pread(self._files[number], os.fstat(self._files[number]).st_size, 0)


class Judge:
    """Counts runs and finds what is wrong with one."""

    def __init__(self, campaign: Campaign, scene: Scene) -> None:
        self._campaign = campaign
        self._intact = Intact(scene.store)

    def look_at(self, number: int, event: Event, stdout: bytes, faults: list[str]) -> None:
        """Judge the answer to one event."""
        try:
            capsule = _capsule(event, stdout)
            if capsule:
                self._intact.check(capsule)
            self._campaign.figures["answered" if capsule else "silent"] += 1
        except (WrongAnswer, ValueError, KeyError, TypeError) as error:
            faults.append(f"{type(error).__name__}: {error}")
        for fault in faults:
            self._campaign.fault(str(number), f"{fault}: {event.stdin[:200]!r} {event.arguments}")


def _capsule(event: Event, stdout: bytes) -> str:
    """Return the capsule in an answer, in the form that the host named last is told it."""
    if stdout.startswith(b"{"):
        name = json.loads(stdout)["hookSpecificOutput"]["hookEventName"]
        return capsule_in(stdout, "claude", name)
    return capsule_in(stdout, "raw", "")


def write_settings(chance: random.Random, scene: Scene) -> None:
    """Begin anew: other settings, no sessions."""
    shutil.rmtree(scene.data / "state/delivery", ignore_errors=True)
    (scene.data / "settings.json").write_text(json.dumps(chance.choice(_SETTINGS)))


def run(campaign: Campaign, first: int, count: int) -> None:
    """Run fuzzed events in this process."""
    hook.guard = lambda *_: None  # it would end this process
    reached = _count_reached()
    with throwaway() as folder:
        scene = Scene(folder)
        judge = Judge(campaign, scene)
        streams = Streams()
        before = Path.cwd()
        os.chdir(scene.elsewhere)
        for number in range(first, first + count):
            chance = campaign.random(number)
            if number % _FRESH == 0 or number == first:
                write_settings(chance, scene)
            event = make_event(chance, scene)
            _run_one(campaign, judge, streams, number, event)
        os.chdir(before)
    campaign.figures["reached the store"] = len(reached)


def _run_one(campaign: Campaign, judge: Judge, streams: Streams, number: int, event: Event) -> None:
    faults = []
    start = time.perf_counter()
    with streams.given(event.stdin):
        code = hook.main(event.arguments)
    seconds = time.perf_counter() - start
    campaign.measure(seconds)
    if code:
        faults.append(f"exit code {code}")
    if errors := streams.written(2):
        faults.append(f"stderr {errors[:200]!r}")
    if seconds * 1000 > DEADLINE_MS + GRACE_MS:
        faults.append(f"{seconds * 1000:.0f} ms")
    judge.look_at(number, event, streams.written(1), faults)


def _count_reached() -> list[None]:
    """Have each opened store counted."""
    reached: list[None] = []
    open_store = store_module.open_store

    def counting(*arguments: object) -> object:
        store = open_store(*arguments)  # type: ignore[arg-type]
        reached.append(None)
        return store

    store_module.open_store = counting  # type: ignore[assignment]
    return reached


if __name__ == "__main__":
    sys.exit(main("hook_runs", run, 200_000))
