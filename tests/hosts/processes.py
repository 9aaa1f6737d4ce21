"""Whether processes are still there, and waiting for what is to come."""

import contextlib
import os
import signal
import time
from pathlib import Path


def alive(pid):
    """Tell whether a process runs; one that only waits to be reaped does not."""
    try:
        os.kill(int(pid), 0)
        stat = Path("/proc", str(pid), "stat")
        state = stat.read_text().rpartition(")")[2].split()[0] if stat.exists() else "R"
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state not in "ZX"


def all_end(pids, seconds):
    """Tell whether these processes end within that time."""
    return within(seconds, lambda: not any(map(alive, pids)))


def end_all_of(home):
    """End every process that runs in a throwaway home: what a host starts and leaves behind."""
    mark = f"HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # another user's, or it has just ended
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


def within(seconds, condition):
    """Tell whether a condition comes to hold within that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
