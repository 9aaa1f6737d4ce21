"""Claude Code's auto memory: `projects/<folder's name>/memory/*.md` in its configuration folder.

Claude names the folder after the top of the project's git repository, each sign that is no letter
or digit of ASCII written as a dash. Other projects may come to the same name, so the sessions that
lie beside the memory are asked which folder they were held in.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from agentlas_memory.importing.folder import read_pages
from agentlas_memory.importing.items import Gathered, SourceError
from agentlas_memory.importing.markdown import take_page
from agentlas_memory.lean import read_file

_LONGEST_NAME = 200  # Claude cuts longer ones and adds a hash
_HEAD = 64 << 10  # bytes of a session that are looked at for its folder
_SESSIONS = 5
_CWD = re.compile(rb'"cwd": ?("(?:[^"\\]|\\.)*")')


def gather_claude(roots: list[str], environment: Mapping[str, str], home: str) -> Gathered:
    """Read what Claude keeps of a project that has these roots."""
    base = Path(environment.get("CLAUDE_CONFIG_DIR") or Path(home, ".claude"))
    folders = [folder for folder in _folders(base, roots) if folder.is_dir()]
    ours = [folder for folder in folders if _is_of(folder.parent, roots)]
    if not ours:
        where = ", ".join(map(str, folders)) or str(next(_folders(base, roots)))
        reason = "holds the memory of another project" if folders else "is not there"
        raise SourceError(f"Claude keeps nothing of this project: {where} {reason}")
    gathered = Gathered("claude", ", ".join(map(str, ours)))
    for folder in ours:
        for page in read_pages(folder, host=True):
            take_page(gathered, page)
    return gathered


def _folders(base: Path, roots: list[str]) -> Iterator[Path]:
    """Yield where the memory of each root would lie."""
    for name in dict.fromkeys(re.sub(r"[^a-zA-Z0-9]", "-", root) for root in roots):
        if len(name) <= _LONGEST_NAME:
            yield base / "projects" / name / "memory"
            continue
        begin = name[:_LONGEST_NAME]
        try:
            found = sorted(p.name for p in (base / "projects").iterdir())
        except OSError:
            found = []
        yield from (base / "projects" / one / "memory" for one in found if one.startswith(begin))
        yield base / "projects" / begin / "memory"


def _is_of(folder: Path, roots: list[str]) -> bool:
    """Tell whether the sessions beside a memory were held in the project, or say nothing of it."""
    said = list(_session_folders(folder))
    return not said or any(
        cwd == root or cwd.startswith(f"{root}/") for cwd in said for root in roots
    )


def _session_folders(folder: Path) -> Iterator[str]:
    try:
        names = sorted(n for n in os.listdir(folder) if n.endswith(".jsonl"))  # noqa: PTH208
    except OSError:
        return
    for name in names[-_SESSIONS:]:
        try:
            data = read_file(str(folder / name), _HEAD, follow=False)
        except OSError:
            continue
        if found := _CWD.search(data):
            try:
                yield str(json.loads(found[1]))
            except ValueError:
                continue
