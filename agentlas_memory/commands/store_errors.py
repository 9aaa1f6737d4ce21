"""Failures of the store and of files, as sentences for the user."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from agentlas_memory.commands.errors import FAILED, REFUSED, WRONG_USE, UserError
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused
from agentlas_memory.ontology.foreign import UPSTREAM
from agentlas_memory.ontology.store import StoreUnusable
from agentlas_memory.private_json import BrokenFile

_KEPT = "What was indexed before is kept; nothing else was changed."
_WORDS = {  # in SQLite's message -> what it means, what to do
    "locked": ("The store is locked by another process.", "try again when it is done"),
    "readonly": ("The store cannot be written: it is read-only.", "check its permissions"),
    "unable to open": ("The store cannot be opened.", "check the folder's permissions"),
    "no such module: fts5": ("This Python's SQLite lacks FTS5.", "use a Python that has it"),
    "full": ("The disk is full.", "make room, then run the command again"),
}


def explain_failure(error: Exception) -> UserError | None:
    """Return an expected failure as a UserError, None for a bug."""
    if isinstance(error, sqlite3.OperationalError):
        return _explain_sqlite(error)
    if isinstance(error, BrokenFile):
        from agentlas_memory.commands.advice import REPAIR

        return UserError(f"{error}.", next_step=REPAIR, code=REFUSED)
    if isinstance(error, StoreUnusable) and str(error) == UPSTREAM:
        return _explain_upstream(f"This is {UPSTREAM}.", "")
    if isinstance(error, StoreUnusable):
        return UserError(
            f"The store cannot be read: {error}.",
            next_step="agentlas-memory index heals it, or builds it anew",
        )
    if isinstance(error, UpdateFailed):
        code = REFUSED if isinstance(error, UpdateRefused) else FAILED
        return UserError(error.what, kept=error.kept, next_step=error.next_step, code=code)
    if isinstance(error, PermissionError) and error.filename:
        from agentlas_memory.installer.files import explain

        told = f"{error.filename} cannot be read or written: {explain(error, Path(error.filename))}"
        return UserError(f"{told}.", kept=_KEPT)
    if isinstance(error, OSError):
        place = f": {error.filename}" if error.filename else ""
        return UserError(f"{error.strerror or error}{place}", kept=_KEPT)
    return _explain_writing(error)


def _explain_sqlite(error: sqlite3.OperationalError) -> UserError:
    for word, (what, next_step) in _WORDS.items():
        if word in str(error):
            return UserError(f"{what} ({error})", kept=_KEPT, next_step=next_step)
    return UserError(f"The store failed: {error}", kept=_KEPT)


def _explain_upstream(what: str, agent: str) -> UserError:
    return UserError(
        what,
        kept="The file was left as it is.",
        next_step="agentlas-memory import-store" + (f" --agent {agent}" if agent else ""),
        code=REFUSED,
    )


def _explain_writing(error: Exception) -> UserError | None:
    from agentlas_memory.ontology.config import ConfigError
    from agentlas_memory.ontology.database import ForeignStore, UpstreamStore
    from agentlas_memory.ontology.ledger import LedgerError, LedgerMissing
    from agentlas_memory.ontology.lock import StoreLocked
    from agentlas_memory.ontology.migrations import NewerStore
    from agentlas_memory.ontology.notes import NoteError
    from agentlas_memory.ontology.walk import OutsideProject

    if isinstance(error, StoreLocked):
        return UserError(
            f"The store is locked: {error}.", kept=_KEPT, next_step="try again when it is done"
        )
    if isinstance(error, NewerStore):
        return UserError(str(error), kept="The store was left as it is.", code=REFUSED)
    if isinstance(error, UpstreamStore):
        agent = error.path.parent.parent.name if error.path.name == "experience.sqlite" else ""
        return _explain_upstream(f"{error}.", agent)
    if isinstance(error, ForeignStore):
        return UserError(
            str(error),
            kept="The file was left as it is.",
            next_step="move that file away, then run agentlas-memory index",
            code=REFUSED,
        )
    if isinstance(error, ConfigError):
        return UserError(str(error), next_step="correct the file")
    if isinstance(error, LedgerMissing):
        return UserError(
            str(error),
            next_step="put the ledger back, or move the database away",
            code=REFUSED,
        )
    if isinstance(error, (LedgerError, NoteError)):
        return UserError(str(error))
    if isinstance(error, OutsideProject):
        return UserError(str(error), code=WRONG_USE)
    return None
