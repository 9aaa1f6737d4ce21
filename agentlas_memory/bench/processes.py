"""Measured processes: one after another for the hook, a whole tree for indexing."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from agentlas_memory.bench import runner

if TYPE_CHECKING:
    from typing_extensions import Self  # in `typing` since 3.11

_MIB = 1 << 20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
_SAMPLE_SECONDS = 0.05


class ProgramFailed(Exception):
    """A measured program did not end well, so its figures mean nothing."""


class Run(NamedTuple):
    """What a process did and took."""

    seconds: float
    peak_mib: float
    stdout: bytes


class Starter:
    """A small script in a process of its own that starts others: what it forks is cheap."""

    def __init__(self, interpreter: str, script: str) -> None:
        self._command = [interpreter, "-I", "-S", script]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def ask(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, stdin: bytes
    ) -> Any:
        """Have a program run to its end and return what the script says of it."""
        assert self._process.stdin and self._process.stdout
        request = (list(arguments), dict(environment), str(folder), stdin)
        self._process.stdin.write(marshal.dumps(request))
        self._process.stdin.flush()
        return marshal.load(self._process.stdout)


class Runner(Starter):
    """Measures programs through the script in `runner.py`."""

    def __init__(self, interpreter: str) -> None:
        super().__init__(interpreter, runner.__file__)

    def run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        stdin: bytes = b"",
    ) -> Run:
        """Run a program to its end and return its figures."""
        code, seconds, peak, output = self.ask(arguments, environment, folder, stdin)
        if code:
            raise ProgramFailed(f"{arguments[0]} ended with exit code {code}")
        return Run(seconds, peak * _RSS_UNIT / _MIB, output)


def run_tree(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, output: Path
) -> Run:
    """Run a program that starts workers; its peak is the largest sum over the tree that was seen.

    Sums come from /proc every 50 ms; where there is none, the first process's own stands alone.
    A page that processes share is counted in each, so the figure errs on the high side.
    """
    with output.open("wb") as file:
        start = time.perf_counter()
        process = subprocess.Popen(
            arguments, env=dict(environment), cwd=folder, stdin=subprocess.DEVNULL, stdout=file
        )
        summed = 0
        while True:
            child, status, usage = os.wait4(process.pid, os.WNOHANG)
            if child:
                break
            summed = max(summed, tree_rss(process.pid))
            time.sleep(_SAMPLE_SECONDS)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)  # waited for here, behind its back
    if process.returncode:
        raise ProgramFailed(f"{' '.join(arguments)} ended with exit code {process.returncode}")
    peak = max(summed, usage.ru_maxrss * _RSS_UNIT)
    return Run(seconds, peak / _MIB, output.read_bytes())


def tree_rss(root: int) -> int:
    """Return the resident bytes of a process and all its descendants; zero without /proc."""
    pages = os.sysconf("SC_PAGE_SIZE")
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        try:
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * pages
            for children in Path(f"/proc/{process}/task").glob("*/children"):
                waiting += map(int, children.read_text().split())
        except OSError:  # it ended meanwhile
            continue
    return total
