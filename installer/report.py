"""What an installer run tells: a line a change, the real difference with `--dry-run`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from agentlas_memory.installer.plan import Change

_DONE = {
    "create": "created",
    "update": "updated",
    "unchanged": "unchanged",
    "remove": "removed",
    "run": "done",
    "refused": "left as it is",
}
_TO_DO = _DONE | {"create": "create", "update": "update", "remove": "remove", "run": "run"}


def change_document(change: Change) -> dict[str, Any]:
    """Return a change under the keys of `--json`."""
    return {
        "path": str(change.path) if change.path else " ; ".join(map(" ".join, change.commands)),
        "action": change.action,
        "reason": change.reason,
    }


def change_lines(changes: Sequence[Change], program: str, *, dry_run: bool) -> Iterator[str]:
    """Yield what became of each change, or what is to become of it, with its difference."""
    words = _TO_DO if dry_run else _DONE
    for change in changes:
        for what in _subjects(change, program):
            reason = f": {change.reason}" if change.reason else ""
            yield f"  {words[change.action]} {what}{reason}"
        if dry_run and change.action in ("create", "update", "remove"):
            yield from _difference(change)


def _subjects(change: Change, program: str) -> list[str]:
    if change.path is not None:
        return [str(change.path)]
    return [" ".join([program, *command]) for command in change.commands]


def _difference(change: Change) -> Iterator[str]:
    before, after = (text or "" for text in (change.before, change.after))
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2
    )
    for line in lines:
        yield "    " + line.encode("utf-8", "replace").decode()
