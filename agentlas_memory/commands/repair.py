"""`doctor --fix`: what is ours is put in place again, and each thing that was done is told."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from click.exceptions import Exit

from agentlas_memory.commands.output import say

if TYPE_CHECKING:
    import click

    from agentlas_memory.installer.surfaces import Place


def repair_all(context: click.Context, place: Place) -> None:
    """Repair versions, entries, the way to the program, old copies of the plugin, stores."""
    from agentlas_memory.private_json import BrokenFile

    _remove_leftovers(place)
    with suppress(BrokenFile):  # the ledger: told by its check
        _repair_entries(context, place)
        _remove_copies(place)
    _repair_stores(place)


def _remove_leftovers(place: Place) -> None:
    """Remove what a killed update left, and versions that nothing keeps."""
    from agentlas_memory.installer.runtimes.layout import Runtimes
    from agentlas_memory.installer.runtimes.prune import prune
    from agentlas_memory.installer.runtimes.routine import locked

    runtimes = Runtimes(place.data_home)
    if runtimes.all():
        with locked(runtimes):
            for name in prune(runtimes):
                say(f"runtime: removed {name}")


def _repair_entries(context: click.Context, place: Place) -> None:
    """Install again into the hosts in the ledger: what it changes, it tells."""
    from agentlas_memory.commands.install import install
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.runtimes.activate import settle_from_here

    hosts = tuple(read_ledger(place.data_home).hosts())
    if hosts:
        with suppress(Exit):  # what was left as it is, the checks tell
            context.invoke(install, names=hosts, dry_run=False, as_json=False, trust_codex=False)
    settle_from_here(place.data_home)


def _remove_copies(place: Place) -> None:
    from agentlas_memory.installer.checks.copies import remove_copies
    from agentlas_memory.installer.hosts import specs_of
    from agentlas_memory.installer.ledger import read_ledger

    known = read_ledger(place.data_home).hosts()
    for spec in specs_of():
        if spec.name in known:
            for folder in remove_copies(spec, place):
                say(f"{spec.title}: removed {folder}")


def _repair_stores(place: Place) -> None:
    """Have `index` heal what a kill left, and build anew what is damaged."""
    from agentlas_memory.commands.projects import writing
    from agentlas_memory.commands.standing import store_state
    from agentlas_memory.commands.store_checks import HEALED_BY_INDEX, trusted_roots
    from agentlas_memory.commands.store_errors import explain_failure
    from agentlas_memory.ontology.index import index_project
    from agentlas_memory.private_json import BrokenFile
    from agentlas_memory.project import DATABASE, Project

    try:
        roots = trusted_roots(place)
    except (BrokenFile, OSError):  # told by the check
        return
    for root in roots:
        state, _ = store_state(str(root / DATABASE))
        if state not in HEALED_BY_INDEX:
            continue
        try:
            with writing(Project(str(root), str(root))):  # what is made anew is trusted again
                report = index_project(root)
        except Exception as error:
            why = explain_failure(error)
            say(f"{root}: the store is {state} and could not be healed: {why or error}")
        else:
            say(f"{root}: the store was {state}; indexed, {report.sources} sources")
