"""`update` and `rollback`: another version, the one that was active serving until it is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError
from agentlas_memory.commands.install import place_here
from agentlas_memory.commands.output import print_json, say

if TYPE_CHECKING:
    from agentlas_memory.installer.runtimes.routine import Outcome
    from agentlas_memory.installer.surfaces import Place


@click.command()
@click.option("--check", is_flag=True, help="Say whether there is a newer version, and stop.")
@click.option(
    "--from",
    "named",
    metavar="FILE|DIR",
    help="A signed bundle, or a folder that holds one; nothing is contacted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def update(check: bool, named: str | None, as_json: bool) -> None:
    """Install the newest version of the channel that settings.json names, or a bundle.

    The new version is built aside, checked and tried; then one switch lets it serve. Whatever goes
    wrong before, the version that is active goes on, and no host's file is touched.
    """
    from agentlas_memory.installer.runtimes import update as routine
    from agentlas_memory.installer.runtimes.channel import is_address

    if named and is_address(named):
        raise UserError(
            "--from takes a file or a folder.",
            next_step='an address is a channel: "update.channel" in settings.json',
            code=WRONG_USE,
        )
    place = place_here()
    try:
        if check:
            return _check(place, named, as_json=as_json)
        outcome = routine.update(place, named)
    except routine.NoChannel as error:
        raise UserError(error.what, next_step=error.next_step, code=WRONG_USE) from error
    _tell(place, outcome, as_json=as_json, action="updated")
    return None


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def rollback(as_json: bool) -> None:
    """Let the version before the current one serve again; once more returns to this one."""
    from agentlas_memory.installer.runtimes.update import rollback as routine

    place = place_here()
    _tell(place, routine(place), as_json=as_json, action="rolled back")


def _check(place: Place, named: str | None, *, as_json: bool) -> None:
    from agentlas_memory.installer.runtimes.layout import Runtimes
    from agentlas_memory.installer.runtimes.update import find_offer, is_newer

    offered = find_offer(place, named)
    current = Runtimes(place.data_home).current()
    document = {
        "version": current.version if current else "",
        "offered": offered.release.version,
        "newer": is_newer(offered.release, current),
        "from": offered.location,
    }
    if as_json:
        print_json(document)
    elif document["newer"]:
        say(f"{document['offered']} is newer than {document['version'] or 'nothing'}.")
        say("Next: agentlas-memory update")
    else:
        say(f"{document['version']} is the newest version there.")


def _tell(place: Place, outcome: Outcome | None, *, as_json: bool, action: str) -> None:
    if as_json:
        print_json(_document(place, outcome, action))
        return
    if outcome is None:
        say("The newest version is active already; nothing was changed.")
        return
    say(f"Version {outcome.version} is active; before it was {outcome.previous or 'none'}.")
    for host in outcome.hosts:
        for change in host["changes"]:
            if change["action"] != "unchanged":
                told = f"{host['host']}: {change['action']} {change['path']} {change['reason']}"
                say(f"  {told.rstrip()}")
    for name in outcome.removed:
        say(f"  removed: {name}")


def _document(place: Place, outcome: Outcome | None, action: str) -> dict[str, Any]:
    from agentlas_memory.installer.runtimes.layout import Runtimes

    if outcome is None:
        current = Runtimes(place.data_home).current()
        version = current.version if current else ""
        return {
            "action": "unchanged",
            "version": version,
            "id": current.id if current else "",
            "previous": version,
            "hosts": [],
            "removed": [],
        }
    return {
        "action": action,
        "version": outcome.version,
        "id": outcome.id,
        "previous": outcome.previous,
        "hosts": outcome.hosts,
        "removed": outcome.removed,
    }
