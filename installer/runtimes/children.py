"""The programs that an update runs: bounded, with an environment of ours, and holding its lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.home import CHILD_VARIABLE
from agentlas_memory.installer.runtimes.layout import LOCK, Runtimes
from agentlas_memory.installer.runtimes.trouble import UpdateFailed
from agentlas_memory.private_json import StoreLocked as StoreLocked
from agentlas_memory.private_json import lock_private_folder

_LONGEST = 600.0  # seconds
_held: list[int] = []  # the lock's descriptor, which children inherit


class Ran(NamedTuple):
    """How a program ended; the code is negative after a signal, None after its time was up."""

    code: int | None
    output: bytes
    errors: bytes


@contextmanager
def update_lock(runtimes: Runtimes, seconds: float) -> Iterator[None]:
    """Hold the one lock of updates, rollbacks and prunings.

    What we start holds it too: after a kill of this process nobody removes a folder that pip is
    still writing to.
    """
    with lock_private_folder(runtimes.folder, LOCK, seconds) as handle:
        _held.append(handle)
        try:
            yield
        finally:
            _held.clear()


def clean_environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this environment without what would lead a Python or a hook of ours astray."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "AGENTLAS_MEMORY"))
    }
    return kept | {CHILD_VARIABLE: "1"} | dict(changes or {})


def person_environment() -> dict[str, str]:
    """Return this environment with all that says where the hosts are and where we are."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(
    command: Sequence[str | Path],
    seconds: float,
    *,
    environment: Mapping[str, str] | None = None,
    event: bytes = b"",
    folder: Path | None = None,
) -> Ran:
    """Run a program to its end, at most for `seconds`; with it all that it started is ended."""
    process = subprocess.Popen(
        list(map(str, command)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(clean_environment() if environment is None else environment),
        cwd=folder,
        pass_fds=() if sys.platform == "win32" else tuple(_held),
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(event, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Ran(None, *_end(process))
    except BaseException:
        _end(process)
        raise
    return Ran(process.returncode, output, errors)


def must_run(
    command: Sequence[str | Path], what: str, environment: Mapping[str, str] | None = None
) -> None:
    """Run a program that has to succeed; raise UpdateFailed with the end of what it said."""
    ran = run(command, _LONGEST, environment=environment)
    if ran.code != 0:
        raise UpdateFailed(f"{what} failed: {last_words(ran)}")


def isolated(python: Path, *words: str | Path) -> list[str | Path]:
    """Return a command of a Python that nothing of the person's own reaches into."""
    return [python, "-I", *words]


def last_words(ran: Ran) -> str:
    """Return how a program ended, with the last of what it said."""
    said = (ran.errors or ran.output).decode("utf-8", "replace").strip().splitlines()
    end = "no answer in time" if ran.code is None else f"exit code {ran.code}"
    return f"{end}: {' '.join(said[-3:])[-600:]}" if said else end


def _end(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):  # it has just ended; Windows
        process.kill()
    return process.communicate()
