"""Codex's memories: `memories/` in its home, one folder for all projects.

What belongs to a project are the summaries of sessions that were held in it; each begins with
lines that say so:

    thread_id: ...
    updated_at: 2026-02-12T10:30:00+00:00
    rollout_path: ...
    cwd: /home/me/project

`memory_summary.md` and `MEMORY.md` are what Codex loads and looks through itself, `raw_memories.md`
is what these were made from, `skills/` are procedures of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentlas_memory.importing.folder import POLICY, Page, read_pages
from agentlas_memory.importing.items import Gathered, Left, SourceError, as_moment
from agentlas_memory.importing.markdown import take_page

_FIELD = re.compile(r"([a-z_]{2,24}): ?(.*)")
_OWN = {
    "memory_summary.md": POLICY,
    "raw_memories.md": "Codex made its memories of it",
}
_MOST_FIELDS = 12


def gather_codex(roots: Sequence[str], environment: Mapping[str, str], home: str) -> Gathered:
    """Read what Codex keeps of sessions that were held below one of these roots."""
    folder = Path(environment.get("CODEX_HOME") or Path(home, ".codex"), "memories")
    if not folder.is_dir():
        raise SourceError(f"Codex keeps no memories here: {folder} is not there")
    gathered = Gathered("codex", str(folder))
    for page in read_pages(folder, host=True):
        _take(gathered, page, roots)
    return gathered


def _take(gathered: Gathered, page: Page | Left, roots: Sequence[str]) -> None:
    if isinstance(page, Left):
        take_page(gathered, page)
        return
    try:
        fields, rest = _head(page.data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        take_page(gathered, page)  # says what is wrong with it
        return
    if reason := _reason(page.path, fields.get("cwd", ""), roots):
        take_page(gathered, Left(page.path, reason))
        return
    before = len(gathered.items)
    take_page(gathered, page._replace(data=rest.encode()))
    if len(gathered.items) > before:
        item = gathered.items[-1]
        gathered.items[-1] = replace(item, changed=as_moment(fields.get("updated_at", "")))


def _reason(path: str, cwd: str, roots: Sequence[str]) -> str:
    """Return why a file is left out, blank for a summary of this project."""
    name = path.rpartition("/")[2].lower()
    if name in _OWN:
        return _OWN[name]
    if path.startswith("skills/"):
        return "a skill of Codex's"
    if not cwd:
        return "does not say which project it is about"
    here = any(cwd == root or cwd.startswith(f"{root}/") for root in roots)
    return "" if here else "about another project"


def _head(text: str) -> tuple[dict[str, str], str]:
    """Return the fields that a summary begins with, and what follows them."""
    lines = text.split("\n")
    fields: dict[str, str] = {}
    for line in lines[:_MOST_FIELDS]:
        found = _FIELD.fullmatch(line.rstrip())
        if not found:
            break
        fields[found[1]] = found[2].strip()
    return fields, "\n".join(lines[len(fields) :])
