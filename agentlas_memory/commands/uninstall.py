"""`uninstall`: the hook out of hosts' configuration without a trace, and our data on request."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.codex import forget_codex_trust
from agentlas_memory.commands.errors import UserError
from agentlas_memory.commands.install import (
    alone_unless,
    detect,
    document_of,
    finish,
    host_options,
    place_here,
    refused_in,
    runner,
    tell_changes,
)
from agentlas_memory.commands.output import say
from agentlas_memory.installer.hosts import HOSTS

if TYPE_CHECKING:
    from agentlas_memory.installer.ledger import Ledger
    from agentlas_memory.installer.plan import Change
    from agentlas_memory.installer.surfaces import HostSpec, Place

_CACHE = "runtime-memory-context"  # what Grok was told, by workspace


@click.command()
@host_options
@click.option("--purge", is_flag=True, help="Remove our own data as well, after showing them.")
@click.option("--yes", is_flag=True, help="Do not ask before a purge.")
@click.pass_context
def uninstall(
    context: click.Context,
    names: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    purge: bool,
    yes: bool,
) -> None:
    """Take the hook out of hosts: every file as it was, with what you changed since."""
    place = place_here()
    with alone_unless(dry_run or not place.data_home.is_dir(), place):
        documents = _uninstall_hosts(names, place, dry_run=dry_run, told=not as_json)
    if purge:
        _purge(place, documents, dry_run=dry_run, asked=yes)
    finish(context, documents, as_json=as_json, nothing="The hook is in no host.")


def _uninstall_hosts(
    names: Sequence[str], place: Place, *, dry_run: bool, told: bool
) -> list[dict[str, Any]]:
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.runtimes.activate import stop_serving

    wanted = [name for name in HOSTS if not names or name in names]
    known = read_ledger(place.data_home).hosts()
    documents = [
        _uninstall_host(name, place, dry_run=dry_run, told=told) for name in wanted if name in known
    ]
    for name in wanted:
        if name not in known:
            documents += _unknown(name, place, told=told)
    left = read_ledger(place.data_home).hosts()
    if not dry_run:
        for name in wanted:
            if name not in left:
                shutil.rmtree(place.data_home / _CACHE / name, ignore_errors=True)
        if not left:
            stop_serving(place.data_home)
    return documents


def _uninstall_host(name: str, place: Place, *, dry_run: bool, told: bool) -> dict[str, Any]:
    from agentlas_memory.installer.apply import apply_uninstall, settle
    from agentlas_memory.installer.hosts import specs_of
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.plan import plan_uninstall
    from agentlas_memory.installer.traces import files_that_name_us

    ledger = read_ledger(place.data_home)
    records, version = ledger.records(name), ledger.version(name)
    [spec] = specs_of([name])
    program = _program_now(spec, ledger, place)

    def plan() -> list[Change]:
        now = read_ledger(place.data_home)
        return plan_uninstall(name, now.records(name), now.others(name))

    if dry_run:
        changes = plan()
    else:
        if name == "codex" and program:
            forget_codex_trust(program, place)
        run = runner(place)
        changes = settle(plan, lambda some: apply_uninstall(some, place, program, run))
    left = [] if dry_run else files_that_name_us([*_homes(records), *spec.homes(place)])
    if told:
        tell_changes(spec.title, version, changes, program, dry_run=dry_run)
        for path in left:
            say(f"  still names us: {path}")
    return document_of(name, None, changes) | {"left": [str(path) for path in left]}


def _unknown(name: str, place: Place, *, told: bool) -> list[dict[str, Any]]:
    """Tell of a host that names us though the ledger does not know of it."""
    from agentlas_memory.installer.hosts import specs_of
    from agentlas_memory.installer.traces import parts_that_stand

    [spec] = specs_of([name])
    left = parts_that_stand(spec.surfaces(place), place.data_home)
    if not left:
        return []
    if told:
        say(spec.title)
        for path in left:
            say(f"  still names us, and the ledger does not say who put it there: {path}")
        say(f"  if it was agentlas-memory: install --host {name}, then uninstall takes it out")
    return [document_of(name, None, []) | {"left": [str(path) for path in left]}]


def _purge(place: Place, documents: list[dict[str, Any]], *, dry_run: bool, asked: bool) -> None:
    from agentlas_memory.commands.purge import purge_data

    if refused_in(documents) and not dry_run:
        raise UserError(
            "Nothing was purged: a host still has the hook, and the ledger knows where.",
            kept="What could be taken out of hosts was taken out.",
            next_step="see what was left as it is and why, then run this again",
        )
    purge_data(place, dry_run=dry_run, asked=asked)


def _program_now(spec: HostSpec, ledger: Ledger, place: Place) -> str:
    """Return the host's program, where it is now or was at install; blank where it is gone."""
    detected = detect(spec, place)
    known = (detected.program if detected else "") or ledger.program(spec.name)
    return known if known and shutil.which(known) else ""


def _homes(records: Sequence[dict[str, Any]]) -> list[Path]:
    """Return the host's folders as they were at `install`: its variable may name others now."""
    return [Path(home) for one in records for home in one.get("homes", [])]
