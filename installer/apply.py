"""Carrying out a plan: the ledger first, then the file, each in one step; what is done is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from agentlas_memory.installer.backups import keep_copy
from agentlas_memory.installer.files import Untouchable, explain, make_folders, read_text
from agentlas_memory.installer.ledger import Ledger, edit_ledger
from agentlas_memory.installer.leftovers import (
    remove_folders,
    remove_leftovers,
    remove_own_folders,
)
from agentlas_memory.installer.plan import Change
from agentlas_memory.installer.replacing import Changed, put_text, remove_file, remove_leftover
from agentlas_memory.installer.surfaces import Detected, Place
from agentlas_memory.private_json import BrokenFile, StoreLocked

Run = Callable[[Sequence[str]], str]  # a host's command -> what it printed; raises HostFailed

MEANWHILE = "it changed meanwhile; run this again"
_TRIES = 5


class HostFailed(Exception):
    """A host's own command failed; the text is what it said."""


def apply_install(
    changes: Sequence[Change], place: Place, detected: Detected, run: Run
) -> list[Change]:
    """Put in place what was planned and return what became of it.

    Each change is noted in the ledger before it is made: after a kill, uninstall finds it. A file
    that changed since the plan was made is refused, not overwritten.
    """
    done: list[Change] = []
    for change in changes:
        if change.action == "run" and any(one.action == "refused" for one in done):
            change = replace(change, action="refused", reason="its files are not all in place")
        done.append(_install_one(change, place, detected, run))
    return done


def apply_uninstall(
    changes: Sequence[Change], place: Place, program: str, run: Run
) -> list[Change]:
    """Take away what was planned and return what became of it; what stays stays in the ledger."""
    return [_uninstall_one(change, place, program, run) for change in changes]


def settle(
    plan: Callable[[], list[Change]], apply: Callable[[Sequence[Change]], list[Change]]
) -> list[Change]:
    """Apply a plan; what another program changed meanwhile is planned and applied anew."""
    done = apply(plan())
    for _ in range(_TRIES):
        stuck = [change.path for change in done if change.reason == MEANWHILE]
        if not stuck:
            break
        again = apply([change for change in plan() if change.path in stuck])
        done = [change for change in done if change.path not in stuck] + again
    return done


def _install_one(change: Change, place: Place, detected: Detected, run: Run) -> Change:
    record = change.record
    if change.action == "refused" or record is None:
        return _carry_out(change, place, detected.program, run)
    trouble = _note(
        place, lambda ledger: ledger.put(change.host, record, detected.version, detected.program)
    )
    if trouble:
        return replace(change, action="refused", reason=trouble)
    return _carry_out(change, place, detected.program, run)


def _uninstall_one(change: Change, place: Place, program: str, run: Run) -> Change:
    record = change.record or {}
    if change.after is None and change.path is not None and change.path.is_symlink():
        # The link goes first: where it led to must be known to the next run.
        record = record | {"target": os.path.realpath(change.path)}
        trouble = _note(place, lambda ledger: ledger.keep(change.host, record))
        if trouble:
            return replace(change, action="refused", reason=trouble)
    carry_out = _take_back if change.action == "run" else _carry_out
    outcome = carry_out(change, place, program, run)
    if outcome.action == "refused":
        _note(place, lambda ledger: ledger.keep(change.host, record))
        return outcome
    trouble = _tidy(change, place) or _note(
        place, lambda ledger: ledger.remove(change.host, record)
    )
    if trouble:
        reason = f"taken out, but {trouble}; run this again"
        return replace(change, action="refused", reason=reason)
    return outcome


def _note(place: Place, edit: Callable[[Ledger], None]) -> str:
    """Edit the ledger; return why that was not possible, blank when it was."""
    try:
        with edit_ledger(place.data_home) as ledger:
            edit(ledger)
    except OSError as error:
        return f"the ledger cannot be written: {explain(error, place.data_home)}"
    except (BrokenFile, StoreLocked) as error:
        return f"the ledger cannot be written: {error}"
    return ""


def _tidy(change: Change, place: Place) -> str:
    """Remove what stood around our part, before the ledger forgets it; return what failed."""
    record = change.record or {}
    remove_leftovers(record.get("leftovers", []))
    failed = remove_folders(record.get("folders", []))
    if change.path is not None:
        remove_own_folders(change.path, place.data_home)
    return failed


def _carry_out(change: Change, place: Place, program: str, run: Run) -> Change:
    if change.action == "run":
        return _run_commands(change, program, run)
    if change.path is None:
        return change
    remove_leftover(change.path)
    if change.action in ("unchanged", "refused"):
        return change
    try:
        _write(change, place)
    except Changed:
        return replace(change, action="refused", reason=MEANWHILE)
    except Untouchable as error:
        return replace(change, action="refused", reason=str(error))
    except OSError as error:
        return replace(change, action="refused", reason=explain(error, change.path))
    if not remove_leftover(change.path):
        reason = "done, but a file of ours beside it cannot be removed; run this again"
        return replace(change, action="refused", reason=reason)
    return change


def _write(change: Change, place: Place) -> None:
    path = change.path
    assert path is not None
    if read_text(path) != change.before:
        raise Changed
    if change.before is not None:
        keep_copy(path, change.before, place.data_home)
    if change.after is not None:
        make_folders(path.parent)
        put_text(path, change.before, change.after)
    elif change.before is not None:
        remove_file(path, change.before)


def _run_commands(change: Change, program: str, run: Run) -> Change:
    if not program:
        return replace(change, action="refused", reason="its program was not found")
    for command in change.commands:
        try:
            run([program, *command])
        except HostFailed as error:
            told = " ".join(command)
            return replace(change, action="refused", reason=f"`{told}` failed: {error}")
    return change


def _take_back(change: Change, place: Place, program: str, run: Run) -> Change:
    """Run a host's commands, all of them: what one of them does not find may be gone already.

    A host whose program is gone runs no hook: then there is nobody to ask, and nothing to take back
    but what `uninstall` lists.
    """
    if not program:
        return replace(change, action="unchanged", reason="its program is gone, and runs no hook")
    failed = ""
    for command in change.commands:
        try:
            run([program, *command])
        except HostFailed as error:
            failed = f"`{' '.join(command)}` failed: {error}"
    record = change.record or {}
    try:
        there = str(record["mark"]) in run([program, *record["query"]])
    except (HostFailed, KeyError):
        there = bool(failed)
    return (
        replace(change, action="refused", reason=failed or "it is still there") if there else change
    )
