"""`runtime`: the versions on this machine, and what keeps each."""

from __future__ import annotations

import click

from agentlas_memory.commands.install import place_here
from agentlas_memory.commands.output import print_json, print_table, say


@click.group()
def runtime() -> None:
    """List the installed versions, or remove what nobody needs."""


@runtime.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_runtimes(as_json: bool) -> None:
    """List the versions below `~/.agentlas/runtime`, and why each stays."""
    from agentlas_memory.installer.runtimes.history import troubles
    from agentlas_memory.installer.runtimes.layout import Runtimes
    from agentlas_memory.installer.runtimes.prune import standing

    runtimes = Runtimes(place_here().data_home)
    for told in troubles(runtimes):
        say(told)
    current = runtimes.current()
    found = standing(runtimes)
    documents = [
        {
            "id": one.id,
            "version": one.version,
            "current": current is not None and one.id == current.id,
            "complete": one.complete,
            "kept": reason,
            "installed": one.facts.get("installed", ""),
            "commit": one.facts.get("commit", ""),
            "python": one.facts.get("python", ""),
            "path": str(one.folder),
        }
        for one, reason in found
    ]
    if as_json:
        print_json({"current": current.id if current else None, "runtimes": documents})
        return
    rows = [
        (
            one.id,
            one.facts.get("installed", "not finished"),
            one.facts.get("python", ""),
            reason or "nothing: `runtime prune` removes it",
        )
        for one, reason in found
    ]
    print_table(("version", "installed", "python", "why it stays"), rows)
    if current is not None and not current.is_own:
        say(f"Current is an environment of your own: {current.folder}")


@runtime.command()
@click.option("--all", "at_once", is_flag=True, help="Do not wait for the seven days.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def prune(at_once: bool, as_json: bool) -> None:
    """Remove versions that are neither current nor the way back, unused for seven days.

    One that a process uses always stays.
    """
    from agentlas_memory.installer.runtimes.layout import Runtimes
    from agentlas_memory.installer.runtimes.prune import prune as remove
    from agentlas_memory.installer.runtimes.prune import standing
    from agentlas_memory.installer.runtimes.routine import locked

    runtimes = Runtimes(place_here().data_home)
    with locked(runtimes):
        removed = remove(runtimes, 0.0) if at_once else remove(runtimes)
    kept = {one.id: reason for one, reason in standing(runtimes)}
    if as_json:
        print_json({"removed": removed, "kept": kept})
        return
    for name in removed:
        say(f"removed: {name}")
    for name, reason in kept.items():
        say(f"kept: {name}, {reason}")
