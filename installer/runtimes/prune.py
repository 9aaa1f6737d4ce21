"""Removing versions that nobody needs: not current, not the way back, unused for a week.

Another copy of the current release goes at once: it was damaged, or is on another Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.installer.runtimes.history import History
from agentlas_memory.installer.runtimes.layout import FACTS, Runtime, Runtimes, remove_tree
from agentlas_memory.installer.runtimes.steps import step

DAYS = 7.0


class Standing(NamedTuple):
    """One version and why it stays; `reason` is blank where it would go."""

    runtime: Runtime
    reason: str


def standing(runtimes: Runtimes, days: float = DAYS) -> list[Standing]:
    """Return every version with what keeps it; `days` is how long one stays out of use."""
    history, current = History(runtimes), runtimes.current()
    previous = history.previous()
    found = []
    for runtime in runtimes.all():
        if current is not None and runtime.id == current.id:
            reason = "current"
        elif previous is not None and runtime.id == previous.id:
            reason = "the one to roll back to"
        elif not runtime.complete:
            reason = ""
        elif current is None:
            reason = "kept while none is current"
        elif not runtime.is_copy_of(current) and _days(history, runtime) < days:
            reason = f"unused for less than {days:.0f} days"
        else:
            reason = "used by a process" if is_used(runtime.folder) else ""
        found.append(Standing(runtime, reason))
    return found


def prune(runtimes: Runtimes, days: float = DAYS) -> list[str]:
    """Remove what nothing keeps, under the lock; return the names."""
    removed = []
    with step("prune"):
        gone = [runtime.folder for runtime, reason in standing(runtimes, days) if not reason]
        for path in dict.fromkeys([*runtimes.leftovers(), *gone]):
            with suppress(OSError):  # doctor goes on naming it
                remove_tree(path)
                removed.append(path.name)
    return removed


def is_used(folder: Path) -> bool:
    """Tell whether a process runs, maps, stands in or names something below a folder."""
    mark = os.fsencode(os.path.realpath(folder)) + b"/"
    if Path("/proc/self/maps").exists():
        return any(mark in text for text in _processes())
    ps = shutil.which("ps")
    if ps is None:
        return True  # nobody can tell
    ran = subprocess.run([ps, "-axwwo", "command"], capture_output=True, check=False)
    return ran.returncode != 0 or mark in ran.stdout


def _processes() -> Iterator[bytes]:
    """Yield what Linux tells of each process of ours; another user's is not to be read."""
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        for name in ("exe", "cwd"):
            try:
                yield os.fsencode((process / name).readlink()) + b"/"
            except OSError:
                continue
        for name in ("cmdline", "maps"):
            try:
                yield (process / name).read_bytes()
            except OSError:
                continue


def _days(history: History, runtime: Runtime) -> float:
    """Return how long a version has been out of use; one that never served counts from its end."""
    if history.knows(runtime.id):
        return history.days_since(runtime.id)
    return (time.time() - (runtime.folder / FACTS).stat().st_mtime) / 86_400
