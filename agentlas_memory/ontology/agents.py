"""Where an agent's experience lies, and how it changes: the ledger first, then its projection."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agentlas_memory.lean import make_private_folder
from agentlas_memory.ontology.ledger import (
    Ledger,
    LedgerError,
    LedgerMissing,
    append_events,
    read_events,
    read_ledger,
    render_event,
    without_secrets,
)
from agentlas_memory.ontology.lock import LOCK_NAME, writer_lock
from agentlas_memory.ontology.projection import (
    Projected,
    has_rows,
    is_outdated,
    projection_of,
)
from agentlas_memory.routing_card import database_below, is_own_folder
from agentlas_memory.whole_file import new_version, remove_half_file

_PATIENCE = 10.0  # seconds for another writer


class Agent(NamedTuple):
    """An agent and its files."""

    slug: str
    database: Path

    @property
    def agent_id(self) -> str:
        """The id that its rows carry."""
        return f"hub:{self.slug}"

    @property
    def ledger(self) -> Path:
        """The file that is the authority."""
        return self.database.with_suffix(".jsonl")


class Changed(NamedTuple):
    """What a change left behind."""

    ledger: Ledger
    projected: Projected


def agent_in(home: str, slug: str) -> Agent:
    """Return the agent of this name in the user's folder."""
    return Agent(slug, Path(home, database_below(slug)))


def change_experience(agent: Agent, events: Sequence[Mapping[str, Any]]) -> Changed:
    """Add lines to an agent's ledger and bring its projection up to date.

    All lines are tried, and the projection is made, before one is written: whatever fails till then
    changes nothing. Raises LedgerError, StoreLocked, ForeignStore, OSError.
    """
    clean = [without_secrets(dict(event)) for event in events]
    ledger = read_ledger(agent.ledger, agent.agent_id)
    for event in clean:
        ledger.apply(event)  # what is wrong is found before a folder is made
    with agent_lock(agent):
        if not agent.ledger.exists() and has_rows(agent.database):
            raise LedgerMissing(
                f"{agent.database} holds rows, but its ledger {agent.ledger} is gone"
            )
        ledger = read_ledger(agent.ledger, agent.agent_id)
        for event in clean:
            ledger.apply(event)
        with projection_of(ledger, agent.agent_id, agent.database) as projected:
            if clean:
                append_events(agent.ledger, clean)
        return Changed(ledger, projected)


def rebuild_experience(agent: Agent, source: Path | None = None) -> tuple[Changed, Path | None]:
    """Make the projection anew, from `source` in place of the agent's own ledger if one is named.

    Then `source`, without credentials, becomes the ledger; the one that was there is kept, under
    the name that is returned.
    """
    named = source or agent.ledger
    if not named.exists():
        raise LedgerError(f"there is no ledger {named}")
    ledger = read_ledger(named, agent.agent_id)
    if not ledger.rows:
        raise LedgerError(f"{named} holds no row")
    with agent_lock(agent):
        kept = None
        ledger = read_ledger(named, agent.agent_id)
        with projection_of(ledger, agent.agent_id, agent.database, anew=True) as projected:
            if source is not None and not _same_file(source, agent.ledger):
                kept = _replace_ledger(agent, source)
        return Changed(ledger, projected), kept


def renew_experience(agent: Agent) -> bool:
    """Make the projection anew where another version made it, and tell whether that was so."""
    if not agent.ledger.exists() or not is_outdated(agent.database):
        return False
    rebuild_experience(agent)
    return True


@contextmanager
def agent_lock(agent: Agent) -> Iterator[None]:
    """Hold the writer lock of an agent's folder, which is made where there is none."""
    folder = agent.database.parent
    make_private_folder(str(folder))
    if not is_own_folder(str(agent.database), agent.slug):
        raise LedgerError(f"others own a folder on the way to {folder}, or a link leads elsewhere")
    (folder / LOCK_NAME).touch(mode=0o600)
    with writer_lock(folder, _PATIENCE):
        for file in (agent.database, agent.ledger):
            remove_half_file(file)
        yield


def _replace_ledger(agent: Agent, source: Path) -> Path | None:
    """Put another ledger in place of the agent's; return where the old one is kept, if any."""
    with new_version(agent.ledger, 0o600) as new:
        for _, event in read_events(source, agent.agent_id):
            new.file.write(render_event(without_secrets(event)))
        new.sync()
        return _keep(agent.ledger) if agent.ledger.exists() else None


def _keep(ledger: Path) -> Path:
    """Give a ledger a second name, which stays when another takes its place; return it."""
    kept = ledger.with_name(f"{ledger.name}.{time.strftime('%Y%m%d-%H%M%S')}")
    while kept.exists():
        kept = kept.with_name(kept.name + "-")
    os.link(ledger, kept)  # there is a ledger at every moment
    return kept


def _same_file(one: Path, other: Path) -> bool:
    return other.exists() and one.samefile(other)
