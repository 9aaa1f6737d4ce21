"""`trust` and `distrust`: which stores may reach an assistant."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError, command_line
from agentlas_memory.commands.options import common_options, options_of_gone
from agentlas_memory.commands.output import print_json, say
from agentlas_memory.commands.projects import (
    open_project_store,
    require_card,
    require_home,
)
from agentlas_memory.ontology.store import Store
from agentlas_memory.project import ROUTING_CARD, Project
from agentlas_memory.routing_card import (
    CONDITIONS,
    CardRejected,
    card_slug,
    read_card,
    verify_card,
)
from agentlas_memory.trust import owned_by_us_alone
from agentlas_memory.trust_file import add_trust, remove_gone, remove_trust


@click.command()
@common_options
def trust(named: str | None, as_json: bool) -> None:
    """Say yes to this project's store: what it holds may be shown to assistants.

    A store that somebody else owns, or that everybody may write, is silent without this.
    """
    project = require_card(named)
    home = require_home()
    card, about_card = _read_card(project.store_root, home)
    if card and not project.has_store:
        shown, store_id, shared = project.store_root, secrets.token_hex(16), False
    elif about_card and not os.path.lexists(project.database):
        raise UserError(f"The routing card was {about_card}", kept="Nothing is trusted.")
    else:
        shown, store_id, shared = _read_store(project)
    add_trust(home, project.store_root, store_id, shared=shared, card=card)
    if as_json:
        print_json({"project": project.store_root, "trusted": True})
    else:
        say(f"Trusted: {shown}")
        if about_card:
            say(f"  routing card: {about_card}")


def _read_store(project: Project) -> tuple[str, str, bool]:
    """Return what is said yes to, the store's id, and whether others may write it."""
    store = open_project_store(project)
    try:
        return describe(store), store.text("store_id"), not owned_by_us_alone(project.database)
    finally:
        store.close()


def _read_card(store_root: str, home: str) -> tuple[str, str]:
    """Return the hash of a routing card that holds, else blank, and a sentence on the card."""
    if not os.path.lexists(f"{store_root}/{ROUTING_CARD}"):
        return "", ""
    sound = ""
    try:
        card, card_hash = read_card(store_root)
        card_slug(store_root, card)
        sound = card_hash
        slug = verify_card(store_root, home, card_hash).slug
    except CardRejected as error:
        verdict = "accepted, but nothing is recalled by it" if sound else "not accepted"
        why = f"not so that {CONDITIONS[error.condition]} ({error})"
        return sound, f"{verdict}: {why}; {command_line('card check', store_root)}"
    return sound, f"the experience of the agent {slug} may be recalled here"


@click.command()
@click.option("--gone", is_flag=True, help="Of every project whose folder is gone.")
@options_of_gone
def distrust(gone: bool, named: str | None, as_json: bool) -> None:
    """Take the yes back: hooks are silent in this project from now on.

    A project whose folder is gone may be named as well.
    """
    if gone:
        _distrust_gone(named, as_json)
        return
    missing = named is not None and not os.path.lexists(named)
    root = os.path.realpath(named) if named and missing else require_card(named).store_root
    was_trusted = remove_trust(require_home(), root)
    if missing and not was_trusted:
        raise UserError(f"{root} does not exist, and was not trusted.", code=WRONG_USE)
    if as_json:
        print_json({"project": root, "trusted": False})
    elif was_trusted:
        say(f"{root} is not trusted any more; nothing else was changed.")
    else:
        say(f"{root} was not trusted; nothing was changed.")


def _distrust_gone(named: str | None, as_json: bool) -> None:
    if named is not None:
        raise UserError("Give --project, or --gone.", code=WRONG_USE)
    paths = remove_gone(require_home())
    if as_json:
        print_json({"gone": paths})
        return
    for path in paths:
        say(f"{path} is gone, and not trusted any more.")
    if not paths:
        say("Every trusted project is there; nothing was changed.")


def describe(store: Store) -> str:
    """Return what the user says yes to: whose store it is, and how much is in it."""
    sources, chunks = (
        store.rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("sources", "chunks")
    )
    return (
        f"{store.path}\n  store {store.text('store_id')}, owned by {_owner(store.path)}:"
        f" {sources} sources, {chunks} chunks"
    )


def _owner(path: str) -> str:
    status = Path(path).stat()
    try:
        owner = Path(path).owner()
    except (KeyError, NotImplementedError):  # a user without a name; Windows
        owner = f"user {status.st_uid}"
    return owner + (", writable by everyone" if status.st_mode & 0o002 else "")
