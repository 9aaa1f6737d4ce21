"""A system that fails: every call that the hook makes fails once, in every way.

Counted from the first call of ours: what goes wrong before, while the interpreter starts, ends with
the interpreter's own words. Needs strace. `python -m fuzz.faults --count 0` takes all calls.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from typing import NamedTuple

from fuzz.answers import Intact, WrongAnswer, capsule_in
from fuzz.campaign import Campaign, main, throwaway
from fuzz.scene import Hooks, Run, Scene

ERRORS = ("ENOSPC", "EACCES", "EIO", "EINTR", "EMFILE", "ENOMEM")
_READS = ("read", "pread64", "readv")
# Calls whose failing says nothing about us: the kernel has no such answer, or nobody is there to
# hear it. `futex` with another error than its own makes the C library abort the process; `brk`
# fails by returning the old end of memory, and an error's number would be taken for an address:
# what happens without memory is for `starving.py`.
_NEVER_FAIL = ("brk", "exit", "exit_group", "execve", "futex", "rt_sigreturn", "restart_syscall")
_MOST_SECONDS = 3.0  # traced
_CALL = re.compile(r"(\d+) +(\w+)\(")


class Fault(NamedTuple):
    """One call that fails: its name, the how-manieth of that name, and how."""

    call: str
    number: int
    how: str

    @property
    def injection(self) -> str:
        """As strace takes it."""
        return f"inject={self.call}:{self.how}:when={self.number}"


def record_calls(trace: str, launcher: str) -> list[tuple[str, int]]:
    """Return name and number of each call of the main thread from the first of ours on."""
    counts: Counter[str] = Counter()
    calls = []
    main_thread, is_ours = "", False
    for line in trace.splitlines():
        found = _CALL.match(line)
        if found is None or found[1] != (main_thread := main_thread or found[1]):
            continue
        counts[found[2]] += 1
        if is_ours and found[2] not in _NEVER_FAIL:
            calls.append((found[2], counts[found[2]]))
        # Python has opened the launcher; it reads it to its end before anything in it runs.
        is_ours = is_ours or (found[2].startswith("open") and "agentlas_memory" in line)
    return calls


def faults_of(calls: list[tuple[str, int]]) -> list[Fault]:
    """Return every way in which every call may fail."""
    failing = [Fault(call, n, f"error={error}") for call, n in calls for error in ERRORS]
    short = [Fault(call, n, "retval=1") for call, n in calls if call in _READS]
    return failing + short


def run(campaign: Campaign, first: int, count: int) -> None:
    """Have calls fail: all of them where `count` is 0, else so many by chance."""
    strace = shutil.which("strace")
    if strace is None:
        raise SystemExit("strace is not installed")
    with throwaway() as folder, Hooks() as hooks:
        scene = Scene(folder)
        intact = Intact(scene.store)
        for event in ("UserPromptSubmit", "SessionStart"):
            faults = faults_of(_record(scene, hooks, strace, event))
            campaign.figures[f"ways to fail at {event}"] = len(faults)
            if count:
                chance = campaign.random(first)
                faults = chance.sample(faults, min(len(faults), count // 2))
            for fault in faults:
                _inject(campaign, scene, hooks, intact, strace, event, fault)


def _record(scene: Scene, hooks: Hooks, strace: str, event: str) -> list[tuple[str, int]]:
    trace = scene.elsewhere / "trace"
    _hook(scene, hooks, (strace, "-f", "-qq", "-o", str(trace)), event)  # its own state is there
    _hook(scene, hooks, (strace, "-f", "-qq", "-o", str(trace)), event)
    return record_calls(trace.read_text(errors="replace"), hooks.launcher)


def _hook(scene: Scene, hooks: Hooks, before: tuple[str, ...], event: str) -> Run:
    shutil.rmtree(scene.data / "state/delivery", ignore_errors=True)
    given = scene.event(session_id="one", hook_event_name=event)
    return hooks.run(scene, given, host="claude", name=event, before=before)


def _inject(
    campaign: Campaign,
    scene: Scene,
    hooks: Hooks,
    intact: Intact,
    strace: str,
    event: str,
    fault: Fault,
) -> None:
    only = ("--seccomp-bpf", "-e", f"trace={fault.call}", "-e", fault.injection)
    trace = scene.elsewhere / "trace"
    done = _hook(scene, hooks, (strace, "-f", "-qq", *only, "-o", str(trace)), event)
    if "(INJECTED)" in trace.read_text(errors="replace"):
        campaign.figures["injected"] += 1
    judge(campaign, done, intact, "claude", event, f"{event} {fault.injection}")


def judge(campaign: Campaign, done: Run, intact: Intact, host: str, event: str, name: str) -> None:
    """Count a run, and what is wrong with it."""
    campaign.measure(done.seconds)
    wrong = []
    if done.code or done.stderr:
        wrong.append(f"exit code {done.code}, stderr {done.stderr[-300:]!r}")
    if done.seconds > _MOST_SECONDS:
        wrong.append(f"{done.seconds:.1f} s")
    try:
        capsule = capsule_in(done.stdout, host, event)
        if capsule:
            intact.check(capsule)
        campaign.figures["answered" if capsule else "silent"] += 1
    except (WrongAnswer, ValueError, KeyError) as error:
        wrong.append(f"{type(error).__name__}: {error}")
    for what in wrong:
        campaign.fault(name, what)


if __name__ == "__main__":
    sys.exit(main("faults", run, 0))
