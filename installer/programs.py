"""Running a host's own command line: bounded, without a terminal, and never calling us back."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from agentlas_memory.home import CHILD_VARIABLE
from agentlas_memory.installer.apply import HostFailed

_SECONDS = 120.0  # `claude plugin install` takes seconds
_LOOK_SECONDS = 15.0  # `--version`


def run_program(
    command: Sequence[str], environment: Mapping[str, str], seconds: float = _SECONDS
) -> str:
    """Return what a command printed; raise HostFailed when it fails, or takes too long."""
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environment, CHILD_VARIABLE: "1"},
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise HostFailed(error.strerror or str(error)) from error
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        _end_group(process)
        raise HostFailed(f"no answer within {seconds:.0f} seconds") from error
    if process.returncode:
        lines = output.strip().splitlines() or [f"exit code {process.returncode}"]
        raise HostFailed(lines[-1][:300])
    return output


def look_up(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return what a quick command printed, None when it failed."""
    try:
        return run_program(command, environment, _LOOK_SECONDS)
    except HostFailed:
        return None


def _end_group(process: subprocess.Popen[str]) -> None:
    """End a process with all its children: one of them may hold our pipe."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):  # it has just ended; Windows
        process.kill()
    process.communicate()
