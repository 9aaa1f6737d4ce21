"""What one prompt costs: the installed hook as fresh processes, beside a bare interpreter."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from agentlas_memory.bench.corpus import Text, make_chunks, read_corpora
from agentlas_memory.bench.installation import (
    clean_environment,
    installed_program,
    real_interpreter,
)
from agentlas_memory.bench.processes import Run, Runner
from agentlas_memory.bench.scene import Scene, build_scene

PROMPTS = (
    "why was SQLite chosen",
    "how are configuration files loaded and merged",
    "Which environment variables change the default log level?",
    "add a command line option with a default value and a help text",
    "What did we decide about keeping old function names after a rename?",
    "the connection to the server is lost after a timeout, where do we retry it?",
    "Explain how plugins are discovered and called, and what happens when one of them fails.",
    "write a test for the parser that reads nested lists and returns the errors with line numbers",
    "we must encrypt user data before it is synchronised: which keys are there, and where?",
    "Is there a decision on versions of the public interface, and how long must a deprecated method"
    " stay before it goes",
)
_MILLISECONDS = 1000


@dataclass(frozen=True)
class HookReport:
    """Medians over all prompts and rounds; `ratio` is hook over bare interpreter.

    `p95_ratio` sets the hook's 95th percentile against the bare median; `delivered` is the share of
    prompts that were answered; `stages` are the hook's own receipts, in milliseconds.
    """

    ratio: float
    ms: float
    bare_ms: float
    peak_mib: float
    no_marker_ratio: float
    p95_ratio: float
    delivered: float
    chunks: int
    prompts: int
    runs: int
    launcher: str
    stages: dict[str, float]


@dataclass
class _Figures:
    """What the rounds left."""

    bare: list[float] = field(default_factory=list)
    hook: list[Run] = field(default_factory=list)
    no_marker: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)


def bench_hook(data: Path, count: int, rounds: int) -> HookReport:
    """Measure the hook over a store of `count` chunks made from `data`."""
    launcher = installed_program("agentlas-memory-hook")
    chunks = make_chunks(read_corpora(data), count)
    with tempfile.TemporaryDirectory(prefix="agentlas-bench-") as folder:
        scene = build_scene(Path(folder).resolve(), chunks)
        figures = _measure(scene, str(launcher), rounds)
    return _report(figures, chunks, rounds, str(launcher))


def _measure(scene: Scene, launcher: str, rounds: int) -> _Figures:
    """Run every prompt in every round: bare, hook, and hook without a project, in turn."""
    figures = _Figures()
    interpreter = real_interpreter()
    environment = clean_environment(scene.home)
    bare = [interpreter, "-I", "-S", "-c", "pass"]
    hook = [launcher, "--host", "claude", "--event", "UserPromptSubmit"]
    with Runner(interpreter) as runner:
        for number, prompt in _warmed_up(rounds):
            session = f"bench-{number}"  # new each time, or the repeat of a capsule is silent
            event, elsewhere = (
                _event(prompt, session, place) for place in (scene.project, scene.elsewhere)
            )
            runs = (
                runner.run(bare, environment, scene.project),
                runner.run(hook, environment, scene.project, event),
                runner.run(hook, environment, scene.elsewhere, elsewhere),
            )
            if number < 0:
                continue
            figures.bare.append(runs[0].seconds)
            figures.hook.append(runs[1])
            figures.no_marker.append(runs[2].seconds)
            for stage, milliseconds in scene.read_stages().items():
                figures.stages.setdefault(stage, []).append(milliseconds)
    return figures


def _warmed_up(rounds: int) -> Iterator[tuple[int, str]]:
    """Yield a number and a prompt for each run; those of the first, cold round are negative."""
    for number in range(-len(PROMPTS), rounds * len(PROMPTS)):
        yield number, PROMPTS[number % len(PROMPTS)]


def _event(prompt: str, session: str, cwd: Path) -> bytes:
    event = {
        "session_id": session,
        "cwd": str(cwd),
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
    }
    return json.dumps(event).encode()


def _report(figures: _Figures, chunks: list[Text], rounds: int, launcher: str) -> HookReport:
    bare = median(figures.bare)
    hook = [run.seconds for run in figures.hook]
    answered = sum(1 for run in figures.hook if run.stdout)
    return HookReport(
        ratio=round(median(hook) / bare, 3),
        ms=round(median(hook) * _MILLISECONDS, 2),
        bare_ms=round(bare * _MILLISECONDS, 2),
        peak_mib=round(max(run.peak_mib for run in figures.hook), 1),
        no_marker_ratio=round(median(figures.no_marker) / bare, 3),
        p95_ratio=round(quantiles(hook, n=20, method="inclusive")[-1] / bare, 3),
        delivered=round(answered / len(figures.hook), 3),
        chunks=len(chunks),
        prompts=len(PROMPTS),
        runs=rounds,
        launcher=launcher,
        stages={stage: round(median(values), 2) for stage, values in figures.stages.items()},
    )
