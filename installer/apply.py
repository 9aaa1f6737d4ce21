"""Carrying out a plan: the ledger first, then the file, each in one step; what is done is told."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agentlas_memory.installer.files import make_folders, read_text, replace_text
from agentlas_memory.installer.ledger import edit_ledger
from agentlas_memory.installer.plan import Change
from agentlas_memory.installer.surfaces import Detected, Place

Run = Callable[[Sequence[str]], str]  # a host's command -> what it printed; raises HostFailed


class HostFailed(Exception):
    """A host's own command failed; the text is what it said."""


def apply_install(
    changes: Sequence[Change], place: Place, detected: Detected, run: Run
) -> list[Change]:
    """Put in place what was planned and return what became of it.

    Each change is noted in the ledger before it is made: after a kill, uninstall finds it. A file
    that changed since the plan was made is refused, not overwritten.
    """
    done = []
    for change in changes:
        if change.action == "refused":
            done.append(change)
            continue
        if change.record is not None:
            with edit_ledger(place.data_home) as ledger:
                ledger.put(change.host, change.record, detected.version, detected.program)
        done.append(_carry_out(change, place, detected.program, run))
    return done


def apply_uninstall(
    changes: Sequence[Change], place: Place, program: str, run: Run
) -> list[Change]:
    """Take away what was planned and return what became of it; what stays stays in the ledger."""
    done = []
    for change in changes:
        if change.action == "run":
            outcome = _take_back(change, program, run)
        else:
            outcome = _carry_out(change, place, program, run)
        done.append(outcome)
        if outcome.action != "refused" and change.record is not None:
            with edit_ledger(place.data_home) as ledger:
                ledger.remove(change.host, change.record)
            _remove_leftovers(change.record.get("leftovers", []))
            _remove_folders(change.record.get("folders", []))
            if change.path is not None:
                _remove_own_folders(change.path, place.data_home)
    return done


def _carry_out(change: Change, place: Place, program: str, run: Run) -> Change:
    if change.action == "run":
        return _run_commands(change, program, run)
    if change.action in ("unchanged", "refused") or change.path is None:
        return change
    try:
        if read_text(change.path) != change.before:
            return replace(change, action="refused", reason="it changed meanwhile; run this again")
        if change.before is not None:
            _back_up(change.path, change.before, place)
        if change.after is None:
            change.path.unlink()
        else:
            make_folders(change.path.parent)
            replace_text(change.path, change.after)
    except OSError as error:
        return replace(change, action="refused", reason=error.strerror or str(error))
    return change


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


def _take_back(change: Change, program: str, run: Run) -> Change:
    """Run a host's commands, all of them: what one of them does not find may be gone already."""
    if not program:
        return replace(change, action="refused", reason="its program was not found")
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


def _back_up(path: Path, text: str, place: Place) -> None:
    """Keep a copy of a file of the user's before it is changed."""
    folder = place.data_home / "backups"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{str(path).strip('/').replace('/', '%')}"[:200]
    copy = folder / name
    if not copy.exists():
        copy.touch(mode=0o600)
        copy.write_bytes(text.encode("utf-8", "surrogateescape"))


def _remove_leftovers(folders: Sequence[str]) -> None:
    """Remove the folders of ours that a host's own uninstall leaves behind."""
    for folder in map(Path, folders):
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def _remove_folders(folders: Sequence[str]) -> None:
    """Remove folders that we made, as far as nothing else is in them."""
    for folder in reversed(folders):
        try:
            Path(folder).rmdir()
        except OSError:
            return


def _remove_own_folders(path: Path, data_home: Path) -> None:
    """Remove what is empty now between a file in our own folder and that folder."""
    for folder in path.parents:
        if data_home not in folder.parents:
            return
        try:
            folder.rmdir()
        except OSError:
            return
