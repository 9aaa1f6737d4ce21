"""The hook's launchers where `current` is a folder: Windows, which lets few people make links.

`current/runtime.txt` names the version that serves, in one line; switching is replacing that file.
The launchers beside it read it anew at each run, so they stay while versions come and go.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

POINTER = "runtime.txt"
# cmd, PowerShell and OpenCode's plugin run the first; Git Bash, which Claude Code uses, the second.
LAUNCHERS = ("agentlas-memory-hook.cmd", "agentlas-memory-hook")


def put_launchers(scripts: Path, current: Path) -> list[Path]:
    """Put a version's launchers into `current/bin`, and return those that were not there as such.

    Each in one step: a host may be starting the one that is replaced.
    """
    folder = current / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name in LAUNCHERS:
        data, path = (scripts / name).read_bytes(), folder / name
        if not path.is_file() or path.read_bytes() != data:
            _replace(path, data)
            changed.append(path)
    return changed


def _replace(path: Path, data: bytes) -> None:
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(aside).chmod(0o755)
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
