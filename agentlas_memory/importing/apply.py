"""What was planned, done: files first, then the list of them, under the store's own lock."""

from __future__ import annotations

import hashlib
from pathlib import Path

from agentlas_memory.importing.ledger import Taken, read_taken, write_taken
from agentlas_memory.importing.plan import REMOVED, Plan, Step
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.documents import MAX_FILE_BYTES
from agentlas_memory.ontology.lock import writer_lock
from agentlas_memory.ontology.notes import inbox_folder
from agentlas_memory.whole_file import replace_file

_PATIENCE = 10.0  # seconds


def apply_plan(project: Path, plan: Plan) -> list[Step]:
    """Write the notes and the list; return the steps that a file stood in the way of.

    Whatever interrupts it, the next import sees by their bytes which files are its own.
    """
    passed: list[Step] = []
    with writer_lock(project / ".agentlas", _PATIENCE):
        before = read_taken(project)  # again: another import may have been quicker
        inbox = inbox_folder(project, create=True)
        for step in plan.steps:
            if not _do(inbox / step.note.name, step):
                passed.append(step)
        after = _taken_after(plan, before, {step.note.identity for step in passed})
        if after != before:
            write_taken(project, after)
    return passed


def _taken_after(plan: Plan, before: dict[str, Taken], passed: set[str]) -> dict[str, Taken]:
    """Return the list with what the plan says of its own source, less what was passed over."""
    ours = {i: one for i, one in plan.taken.items() if one.origin == plan.origin}
    kept = {i: one for i, one in before.items() if one.origin != plan.origin or i in passed}
    return {**{i: one for i, one in ours.items() if i not in passed}, **kept}


def _do(file: Path, step: Step) -> bool:
    """Write or remove one note, unless somebody changed it since the plan was made."""
    try:
        there = read_file(str(file), MAX_FILE_BYTES + 1, follow=False)
        digest = hashlib.sha256(there).hexdigest()
    except FileNotFoundError:
        digest = ""
    except OSError:
        return False  # a folder, a link or a pipe in the note's place
    if digest != step.before:
        return False
    if step.action == REMOVED:
        file.unlink()
    else:
        replace_file(file, step.note.data)
    return True
