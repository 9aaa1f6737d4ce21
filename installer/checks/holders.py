"""Who holds a lock on a file, as far as the system tells."""

from __future__ import annotations

import os
from pathlib import Path

LOCKS = Path("/proc/locks")


def lock_holders(path: Path) -> list[str]:
    """Return the processes that keep others from a file: number and command line."""
    try:
        info = path.stat()
        lines = LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # no such table here
        return []
    name = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
    # 2: POSIX  ADVISORY  WRITE 17624 fe:00:2252951 1073741824 1073742335
    words = (line.split() for line in lines if "->" not in line)
    pids = {one[4] for one in words if len(one) > 5 and one[3] == "WRITE" and one[5] == name}
    return [f"{pid} ({_command_of(pid)})" for pid in sorted(pids, key=int)]


def _command_of(pid: str) -> str:
    try:
        data = Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return "another user's"
    words = data.decode("utf-8", "replace").split("\0")
    return " ".join(words).strip()[:120] or "?"
