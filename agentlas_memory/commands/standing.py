"""How a project stands: its store's state, and whether the user lets it speak."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from agentlas_memory.commands.errors import UserError
from agentlas_memory.commands.options import HOOK_SCOPES
from agentlas_memory.commands.output import say
from agentlas_memory.commands.projects import read_store_id, settings
from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.asset import DIMENSIONS
from agentlas_memory.home import data_home
from agentlas_memory.lean import getenv, read_file
from agentlas_memory.ontology.foreign import UPSTREAM
from agentlas_memory.ontology.schema import SCHEMA_VERSION
from agentlas_memory.ontology.store import Store, StoreUnusable, open_store
from agentlas_memory.project import Project
from agentlas_memory.routing_card import Agent, CardRejected, verify_card
from agentlas_memory.trust import owned_by_us_alone, read_trust

_PATIENCE_MS = 2_000.0
_WORDS = {  # in the reason a reader gives -> the state
    "locked": "locked",
    "unable to open": "interrupted",  # a hot journal, which a reader must not roll back
    "readonly": "interrupted",
    "cannot be opened": "unreadable",
    UPSTREAM: "upstream",
    "not a store": "foreign",
    "newer version": "newer",
}


def store_state(database: str) -> tuple[str, str]:
    """Return one word on the store's file, and the reason where it is not `ok`.

    ok, missing, damaged, newer, locked, upstream, foreign, unreadable, or interrupted: the next
    `index` heals it.
    """
    if not os.path.lexists(database):
        return "missing", ""
    try:
        head = read_file(database, 100)
        open_store(database, Deadline(_PATIENCE_MS)).close()
    except OSError as error:
        return "unreadable", str(error)
    except StoreUnusable as error:
        return next((s for word, s in _WORDS.items() if word in str(error)), "damaged"), str(error)
    if int.from_bytes(head[60:64], "big") > SCHEMA_VERSION:
        return "newer", "it was written by a newer version, and is only read"
    return "ok", ""


def agent_of(project: Project) -> Agent | None:
    """Return the agent whose experience a project's card lets in, None for none."""
    trust = read_trust(data_home(), project.store_root)
    if trust is None or not trust.card:
        return None
    try:
        return verify_card(project.store_root, data_home(), trust.card)
    except CardRejected:
        return None


@contextmanager
def without_agent(project: Project, slug: str) -> Iterator[None]:
    """Go on where what an agent learned cannot be read, and say so.

    Of a project that has no store there would be nothing left to tell: that is an error.
    """
    from agentlas_memory.ontology.ledger import LedgerError

    try:
        yield
    except (StoreUnusable, LedgerError, OSError) as error:
        what = f"What the agent {slug} learned cannot be read: {error}."
        next_step = f"agentlas-memory experience rebuild --agent {slug}"
        if not project.has_store:
            raise UserError(what, next_step=next_step) from error
        say(f"{what} Next: {next_step}")


def is_trusted(project: Project) -> bool:
    """Tell whether the user said yes to exactly this store, or to the card of a project without."""
    trust = read_trust(data_home(), project.store_root)
    if not project.has_store:
        return agent_of(project) is not None
    return (
        trust is not None
        and trust.store_id == read_store_id(project)
        and (trust.shared or owned_by_us_alone(project.database))
    )


def silenced_by(project: Project) -> str:
    """Return why the hook would not even look: `untrusted`, `off` or `stale`; blank else.

    `stale`: memory.toml changed since the store was made by it.
    """
    home = data_home()
    trust = read_trust(home, project.store_root)
    if getenv("AGENTLAS_MEMORY") == "off" or settings().get("off") is True:
        return "off"
    if not is_trusted(project):
        return "untrusted"
    if trust is None or not trust.on:
        return "off"
    return "stale" if _config_changed(project) else ""


def _config_changed(project: Project) -> bool:
    try:
        store = open_store(project.database, Deadline(_PATIENCE_MS))
    except StoreUnusable:
        return False
    try:
        return store.config_changed()
    finally:
        store.close()


def retrieval_of(store: Store) -> str:
    """Return how a prompt in plain English would be searched here, in the hook's own word."""
    from agentlas_memory.embedding.model import open_model
    from agentlas_memory.recall.dense import dense_scores
    from agentlas_memory.recall.engine import DEGRADED_HASH, DEGRADED_LEXICAL, HYBRID
    from agentlas_memory.recall.lexical import has_lexical_index

    if open_model(data_home()) is None:
        return DEGRADED_HASH
    if not has_lexical_index(store):
        return DEGRADED_LEXICAL
    if not store.number("chunks"):
        return HYBRID  # there is nothing yet to have vectors of
    _, whole = dense_scores(store, bytes([1]) * DIMENSIONS, HOOK_SCOPES)
    return HYBRID if whole else DEGRADED_LEXICAL
