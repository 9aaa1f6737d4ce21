"""The hook's launchers where `current` is a folder: Windows, which lets few people make links.

`current/runtime.txt` names the version that serves, in one line; switching is replacing that file.
The launchers beside it read it anew at each run, so they stay while versions come and go.
"""

from __future__ import annotations

from pathlib import Path

from agentlas_memory.whole_file import replace_file

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
            replace_file(path, data, 0o777)
            changed.append(path)
    return changed
