"""`card check`: whether a project's routing card lets an agent's experience in, and if not, why."""

from __future__ import annotations

from typing import Any

import click

from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, print_table, say
from agentlas_memory.commands.projects import require_card, require_home
from agentlas_memory.routing_card import CONDITIONS, CardRejected, verify_card
from agentlas_memory.trust import read_trust


@click.group()
def card() -> None:
    """The routing card: which agent's experience this project may recall."""


@card.command()
@click.pass_context
@common_options
def check(context: click.Context, named: str | None, as_json: bool) -> None:
    """Say which condition of the routing card holds and which does not; exit 1 unless all do."""
    root = require_card(named).store_root
    home = require_home()
    trust = read_trust(home, root)
    slug, rejected = None, None
    try:
        slug = verify_card(root, home, trust.card if trust else "").slug
    except CardRejected as error:
        rejected = error
    conditions = _conditions(rejected)
    if as_json:
        print_json({"project": root, "slug": slug, "conditions": conditions})
    else:
        print_table(("condition", "holds", "found"), [_row(one) for one in conditions])
        say(_verdict(slug, rejected))
    if rejected is not None:
        context.exit(1)


def _conditions(rejected: CardRejected | None) -> list[dict[str, Any]]:
    """Return each condition; what comes after one that fails was not looked at: None."""
    shown: list[dict[str, Any]] = []
    holds: bool | None = True
    for code, text in CONDITIONS.items():
        failed = rejected is not None and rejected.condition == code
        holds = False if failed else holds
        found = str(rejected) if failed else ""
        shown.append({"condition": code, "holds": holds, "means": text, "found": found})
        holds = None if failed else holds
    return shown


def _row(condition: dict[str, Any]) -> list[str]:
    holds = {True: "yes", False: "no", None: "-"}[condition["holds"]]
    return [condition["means"], holds, condition["found"]]


def _verdict(slug: str | None, rejected: CardRejected | None) -> str:
    if slug is not None:
        return f"The experience of the agent {slug} may be recalled here."
    assert rejected is not None
    step = " Say yes with: agentlas-memory trust" if rejected.condition == "trust" else ""
    return f"No experience is recalled here: not so that {CONDITIONS[rejected.condition]}.{step}"
