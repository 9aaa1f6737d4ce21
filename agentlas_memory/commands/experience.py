"""`experience`: what an agent learned, kept in its ledger and recalled where its card verifies."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError
from agentlas_memory.commands.options import common_options, plain_text, scope_choice
from agentlas_memory.commands.output import counted, print_json, print_table, say, show
from agentlas_memory.commands.projects import require_card, require_home
from agentlas_memory.redact import redact
from agentlas_memory.routing_card import CardRejected, agent_name, card_slug, read_card

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlas_memory.ontology.agents import Agent, Changed
    from agentlas_memory.ontology.learned import Learned
    from agentlas_memory.ontology.ledger import Ledger

_WIDTH = 60
_EXPIRES = "Last day, `2026-12-31`, or a moment, `2026-12-31T08:00:00Z`."


def agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--agent`, and the options of every command."""
    option = click.option(
        "--agent",
        "slug",
        metavar="NAME",
        help="Whose experience; by default the agent of the project's routing card.",
    )
    return option(common_options(command))


@click.group()
def experience() -> None:
    """What an agent learned: recalled in projects whose routing card proves the agent."""


@experience.command()
@click.argument("text", type=plain_text)
@click.option("--tag", "tags", type=plain_text, multiple=True, metavar="T", help="Repeatable.")
@click.option("--scope", type=scope_choice, default="private", show_default=True)
@click.option(
    "--salience",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="How much it matters beside others that fit as well.",
)
@click.option("--expires", metavar="WHEN", help=_EXPIRES)
@click.option("--supersedes", multiple=True, metavar="ID", help="A row that no longer holds.")
@click.option("--contradicts", multiple=True, metavar="ID", help="A row that says otherwise.")
@agent_options
def add(
    text: str,
    tags: tuple[str, ...],
    scope: str,
    salience: float,
    expires: str | None,
    supersedes: tuple[str, ...],
    contradicts: tuple[str, ...],
    slug: str | None,
    named: str | None,
    as_json: bool,
) -> None:
    """Add TEXT to what an agent learned."""
    more = {
        "tags": list(tags),
        "salience": salience,
        "expires": expires or "",
        "supersedes": list(supersedes),
        "contradicts": list(contradicts),
    }
    agent = find_agent(slug, named)
    _tell(agent, *_add(agent, text, scope, more), as_json=as_json)


@experience.command("list")
@agent_options
def list_command(slug: str | None, named: str | None, as_json: bool) -> None:
    """List what an agent learned, with what is related to what."""
    agent = find_agent(slug, named)
    rows = _learned(agent)
    if as_json:
        print_json({"agent": agent.slug, "experience": [row.document() for row in rows]})
    elif not rows and agent.ledger.exists():
        raise UserError(
            f"{agent.database} holds no row, but there is a ledger.",
            next_step="agentlas-memory experience rebuild",
        )
    elif not rows:
        say(f"The agent {agent.slug} has learned nothing yet.")
    else:
        columns = ("id", "state", "scope", "salience", "expires", "text", "related")
        print_table(columns, [_table_row(row) for row in rows])


@experience.command("show")
@click.argument("identity", metavar="ID")
@agent_options
def show_command(identity: str, slug: str | None, named: str | None, as_json: bool) -> None:
    """Show one row with its history: each line of the ledger that is about it."""
    from agentlas_memory.ontology.learned import history_of

    agent = find_agent(slug, named)
    row = next((row for row in _learned(agent) if row.id == identity), None)
    history = history_of(agent, identity)
    if row is None and not history:
        raise _unknown(identity)
    document = {"agent": agent.slug, "experience": row and row.document(), "history": history}
    if as_json:
        print_json(document)
        return
    if row is not None:
        show(f"{row.text}\n")
        say("\n".join(f"{key}: {value}" for key, value in row.facts()))
    for event in history:
        say(f"line {event['line']}: {event['event'].get('op', 'add')} {_when(event['event'])}")


@experience.command()
@click.argument("identity", metavar="ID")
@click.argument("text", type=plain_text, required=False)
@click.option("--by", "other", metavar="ID", help="A row that is there, instead of TEXT.")
@agent_options
def supersede(
    identity: str,
    text: str | None,
    other: str | None,
    slug: str | None,
    named: str | None,
    as_json: bool,
) -> None:
    """Let TEXT, or another row, take the place of row ID; the old one is kept as history."""
    if (text is None) == (other is None):
        raise UserError("Give TEXT, or --by ID.", code=WRONG_USE)
    agent = find_agent(slug, named)
    old = _ledger_row(agent, identity)
    if text is None:
        _ledger_row(agent, str(other))
        changed = _change(agent, {"op": "supersede", "id": identity, "by": other})
        _tell(agent, str(other), changed, as_json=as_json)
        return
    more = {"tags": list(old.tags), "salience": old.salience, "supersedes": [identity]}
    _tell(agent, *_add(agent, text, old.scope, more), as_json=as_json)


@experience.command()
@click.argument("identity", metavar="ID")
@click.option("--on", "when", metavar="WHEN", help=f"{_EXPIRES} Default: now.")
@agent_options
def expire(
    identity: str, when: str | None, slug: str | None, named: str | None, as_json: bool
) -> None:
    """Let row ID hold no longer, or not beyond a day."""
    agent = find_agent(slug, named)
    _ledger_row(agent, identity)
    from agentlas_memory.ontology.ledger import Ledger

    _check_options(Ledger(), {"expires": when or ""})
    changed = _change(agent, {"op": "expire", "id": identity, "expires": when or _now()})
    _tell(agent, identity, changed, as_json=as_json)


@experience.command()
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A ledger that takes the place of the agent's own.",
)
@agent_options
def rebuild(source: Path | None, slug: str | None, named: str | None, as_json: bool) -> None:
    """Build the database anew from the ledger."""
    from agentlas_memory.ontology.agents import rebuild_experience

    agent = find_agent(slug, named)
    changed, kept = rebuild_experience(agent, source)
    _warn_of_secrets(agent, changed)
    left_out = changed.projected.left_out
    if as_json:
        print_json(
            {
                "agent": agent.slug,
                "rows": changed.projected.rows,
                "left_out": list(left_out),
                "kept": kept and str(kept),
            }
        )
        return
    say(f"{agent.database}: {counted(changed.projected.rows, 'row')}.")
    if kept:
        say(f"The ledger that was there is kept as {kept}.")
    _say_left_out(left_out)


def find_agent(slug: str | None, named: str | None) -> Agent:
    """Return the agent named, or the one of the project's routing card."""
    from agentlas_memory.ontology.agents import agent_in

    if slug is not None:
        name = agent_name(slug)
        if not name:
            raise UserError(f"{redact(slug)!r} cannot be an agent's name.", code=WRONG_USE)
        return agent_in(require_home(), name)
    root = require_card(named).store_root
    try:
        card, _ = read_card(root)
        return agent_in(require_home(), card_slug(root, card))
    except CardRejected as error:
        raise UserError(
            _no_agent(root, error),
            next_step="agentlas-memory card check, or name one with --agent",
            code=WRONG_USE,
        ) from error


def _no_agent(root: str, error: CardRejected) -> str:
    """Return why a project's routing card does not say whose experience is meant."""
    if error.condition == "card":
        return f"The routing card in {root} cannot be read: {error}."
    if error.condition == "reference":
        return f"The agent's card, which the routing card in {root} names, is not usable: {error}."
    return f"The routing card in {root} names no agent: {error}."


def _add(agent: Agent, text: str, scope: str, more: dict[str, Any]) -> tuple[str, Changed]:
    """Add a row unless it is there already; return its id and what the ledger says then."""
    from agentlas_memory.commands.remember import without_secrets
    from agentlas_memory.ontology.experience import SUPERSEDES
    from agentlas_memory.ontology.ledger import content_id, read_ledger

    if not text.strip():
        raise UserError("There is nothing to learn: TEXT is blank.", code=WRONG_USE)
    clean = without_secrets(text).strip()
    identity = content_id(scope, clean)
    ledger = read_ledger(agent.ledger, agent.agent_id)
    _check_options(ledger, more)
    if identity in ledger.rows:
        newer = [
            n for n, relation, old in ledger.links if (relation, old) == (SUPERSEDES, identity)
        ]
        if newer:
            raise UserError(
                f"{identity} says this already, and {newer[0]} took its place.",
                next_step=f"agentlas-memory experience supersede {newer[0]} --by {identity}",
            )
        more = more | {"tags": more["tags"] or list(ledger.rows[identity].tags)}
        say(f"{identity} says this already; what it says of itself is replaced.")
    filled = {key: value for key, value in more.items() if value not in ("", [])}
    event = {"op": "add", "id": identity, "text": clean, "scope": scope, **filled}
    return identity, _change(agent, event | {"created": _now()})


def _check_options(ledger: Ledger, more: dict[str, Any]) -> None:
    """Raise UserError for a typed id or expiry that means nothing."""
    from agentlas_memory.ontology.ledger import LedgerError, read_expiry

    for identity in (*more.get("supersedes", ()), *more.get("contradicts", ())):
        if identity not in ledger.rows:
            raise _unknown(identity)
    try:
        read_expiry(more.get("expires", ""))
    except LedgerError as error:
        raise UserError(str(error), code=WRONG_USE) from error


def _change(agent: Agent, event: dict[str, Any]) -> Changed:
    from agentlas_memory.ontology.agents import change_experience

    changed = change_experience(agent, [event])
    _warn_of_secrets(agent, changed)
    return changed


def _tell(agent: Agent, identity: str, changed: Changed, *, as_json: bool) -> None:
    left_out = changed.projected.left_out
    if as_json:
        document = {"agent": agent.slug, "id": identity, "path": str(agent.ledger)}
        print_json(document | {"left_out": list(left_out)})
    else:
        show(f"{identity}\t{agent.ledger}")
        _say_left_out(left_out)


def _say_left_out(left_out: tuple[str, ...]) -> None:
    if left_out:
        say(
            f"In the ledger alone, as the scope is full: {counted(len(left_out), 'row')},"
            f" {', '.join(left_out[:10])}{' ...' if len(left_out) > 10 else ''}"
        )


def _warn_of_secrets(agent: Agent, changed: Changed) -> None:
    if changed.ledger.redacted:
        lines = ", ".join(map(str, changed.ledger.redacted[:10]))
        say(
            f"Warning: {agent.ledger} holds a credential in line {lines}; the database does not."
            " Take it out of the ledger too."
        )


def _learned(agent: Agent) -> list[Learned]:
    from agentlas_memory.ontology.learned import read_learned

    return read_learned(agent, time.time())


def _ledger_row(agent: Agent, identity: str) -> Any:
    from agentlas_memory.ontology.ledger import read_ledger

    row = read_ledger(agent.ledger, agent.agent_id).rows.get(identity)
    if row is None:
        raise _unknown(identity)
    return row


def _unknown(identity: str) -> UserError:
    return UserError(
        f"There is no row {redact(identity)}.",
        next_step="agentlas-memory experience list",
        code=WRONG_USE,
    )


def _now() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def _when(event: dict[str, Any]) -> str:
    return " ".join(str(event[key]) for key in ("created", "by", "expires") if event.get(key))


def _table_row(row: Learned) -> list[str]:
    text = " ".join(row.text.split())
    related = "; ".join(
        f"{relation} {' '.join(others)}" for relation, others in row.related.items() if others
    )
    shown = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
    return [row.id, row.state, row.scope, f"{row.salience:g}", row.expires, shown, related]
