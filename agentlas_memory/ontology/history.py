"""When files were last committed, as far as git tells in short time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from agentlas_memory.hook import CHILD_VARIABLE

_SECONDS = 5.0
_COMMITS = 20_000


def commit_times(project: Path, paths: Iterable[str]) -> dict[str, int]:
    """Return the time (seconds since 1970) of the last commit that touched each path.

    Paths are relative to the project. Empty where there is no git, no repository, or no answer in
    time: an index without commit times is as good, its project state is just ordered by path.
    """
    wanted = set(paths)
    if not wanted:
        return {}
    command = ["git", "-C", str(project), "log", f"-{_COMMITS}", "--format=%x01%ct", "--name-only"]
    command += ["-z", "--relative", "--no-renames", "--", "."]
    try:
        output = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={**os.environ, CHILD_VARIABLE: "1", "GIT_OPTIONAL_LOCKS": "0"},
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    return _newest(output.decode("utf-8", "surrogateescape"), wanted)


def _newest(log: str, wanted: set[str]) -> dict[str, int]:
    times: dict[str, int] = {}
    for commit in log.split("\x01")[1:]:
        time, *names = commit.replace("\n", "\0").split("\0")
        for name in names:
            if name in wanted:
                times.setdefault(name, int(time))
    return times
