"""Which files git tracks and when they were last committed, as far as it tells in short time."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from agentlas_memory.home import CHILD_VARIABLE

_SECONDS = 5.0
_COMMITS = 20_000
_COMMIT = re.compile(r"\x01(\d{1,12})")  # a file may be called \x01 as well, hence the digits
_FEW = 50  # files that git is asked for by name, so that a note does not cost the whole history
_GIT_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


def commit_times(project: Path, paths: Iterable[str]) -> dict[str, int]:
    """Return the time (seconds since 1970) of the last commit that touched each path.

    Paths are relative to the project. Empty where there is no git, no repository, or no answer in
    time: an index without commit times is as good, its project state is just ordered by path.
    """
    wanted = set(paths)
    if not wanted:
        return {}
    command = ["log", f"-{_COMMITS}", "--format=%x01%ct", "--name-only", "-z", "--relative"]
    # A signature is checked by whatever program the repository's configuration names.
    command += ["--no-renames", "--no-show-signature", "--"]
    command += wanted if len(wanted) <= _FEW else ["."]
    return _newest(_ask_git(project, command), wanted)


def tracked_files(project: Path, folder: str) -> frozenset[str]:
    """Return the paths of the files in a folder that git tracks, as far as it tells."""
    return frozenset(filter(None, _ask_git(project, ["ls-files", "-z", "--", folder]).split("\0")))


def _ask_git(project: Path, command: list[str]) -> str:
    """Return what git prints, nothing where it fails or is too slow."""
    # A monitor is whatever program the repository's configuration names, too.
    git = ["git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", str(project)]
    try:
        output = subprocess.run(
            git + command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env=_environment(),
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return output.decode("utf-8", "surrogateescape")


def _environment() -> dict[str, str]:
    """Return ours without the repository that a git hook is run for: it may be another one."""
    kept = {name: value for name, value in os.environ.items() if name not in _GIT_PLACES}
    return {**kept, CHILD_VARIABLE: "1", "GIT_OPTIONAL_LOCKS": "0"}


def _newest(log: str, wanted: set[str]) -> dict[str, int]:
    times: dict[str, int] = {}
    time = 0
    for field in log.split("\0"):
        name = field.removeprefix("\n")
        if commit := _COMMIT.fullmatch(field):
            time = int(commit[1])
        elif name in wanted:
            times.setdefault(name, time)
    return times
