"""`install` and `uninstall`: the hook in hosts' configuration, and out of it without a trace."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentlas_memory.commands.codex import codex_trust, forget_codex_trust
from agentlas_memory.commands.errors import FAILED, UserError
from agentlas_memory.commands.output import print_json, say
from agentlas_memory.commands.projects import require_home
from agentlas_memory.home import user_home
from agentlas_memory.installer.hosts import HOSTS

if TYPE_CHECKING:
    from agentlas_memory.installer.ledger import Ledger
    from agentlas_memory.installer.plan import Change
    from agentlas_memory.installer.surfaces import Detected, HostSpec, Place

Command = TypeVar("Command", bound=Callable[..., Any])


def host_options(command: Command) -> Command:
    """Add `--host`, `--dry-run` and `--json`."""
    add_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    add_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and stop.")
    add_host = click.option(
        "--host",
        "names",
        multiple=True,
        type=click.Choice(HOSTS),
        help="This host alone; repeatable. By default all that are found.",
    )
    return add_host(add_dry_run(add_json(command)))


@click.command()
@host_options
@click.option(
    "--trust-codex",
    is_flag=True,
    help="Tell Codex to trust this hook, as you would in its own /hooks screen.",
)
@click.pass_context
def install(
    context: click.Context,
    names: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    trust_codex: bool,
) -> None:
    """Put the hook into the hosts found here.

    Only these are touched: Claude Code and Codex through their own plugin commands, one entry in
    Antigravity's hooks.json, our own file for OpenCode, our own file and a marked block for Grok.
    """
    from agentlas_memory.installer.hosts import specs_of

    place = place_here()
    if not dry_run:
        _point_current(place)
    documents = [
        _install_host(spec, place, dry_run=dry_run, trust_codex=trust_codex, told=not as_json)
        for spec in specs_of(names)
    ]
    if not dry_run and not names:
        from agentlas_memory.installer.runtimes.activate import settle_from_here

        settle_from_here(place.data_home)
    _finish(context, documents, as_json=as_json, nothing="No host was found here.")


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
    from agentlas_memory.installer.ledger import read_ledger

    place = place_here()
    known = read_ledger(place.data_home).hosts()
    wanted = [name for name in HOSTS if name in known and (not names or name in names)]
    documents = [_uninstall_host(n, place, dry_run=dry_run, told=not as_json) for n in wanted]
    if not dry_run and not read_ledger(place.data_home).hosts():
        from agentlas_memory.installer.runtimes.activate import stop_serving

        stop_serving(place.data_home)
    if purge:
        from agentlas_memory.commands.purge import purge_data

        purge_data(place, dry_run=dry_run, asked=yes or as_json)
    _finish(context, documents, as_json=as_json, nothing="The hook is in no host.")


def place_here() -> Place:
    """Return where things are on this machine."""
    from agentlas_memory.installer.surfaces import Place

    home = user_home()
    if not home:
        raise UserError("No home directory is known.", next_step="set HOME")
    return Place(Path(home), Path(require_home()), dict(os.environ))


def _point_current(place: Place) -> None:
    from agentlas_memory.installer.runtimes.activate import serve_from_here
    from agentlas_memory.installer.runtimes.environments import hook_of

    environment = Path(sys.prefix)
    if not hook_of(environment).exists():
        raise UserError(
            f"There is no agentlas-memory-hook in {environment}.",
            next_step="install the package into an environment of its own, as the README shows",
        )
    serve_from_here(place.data_home)


def _install_host(
    spec: HostSpec, place: Place, *, dry_run: bool, trust_codex: bool, told: bool
) -> dict[str, Any]:
    from agentlas_memory.installer.apply import apply_install
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.plan import plan_install

    detected = _detect(spec, place)
    if detected is None:
        return _document(spec.name, None, [])
    surfaces = spec.surfaces(place)
    known = read_ledger(place.data_home).records(spec.name)
    present = _is_present(surfaces, detected.program, place)
    changes = plan_install(spec.name, surfaces, known, present=present)
    if not dry_run:
        changes = apply_install(changes, place, detected, _runner(place))
    if told:
        _tell(spec.title, detected.version, changes, detected.program, dry_run=dry_run)
        _tell_notes(spec, dry_run)
    document = _document(spec.name, detected, changes)
    if spec.name == "codex" and detected.program and not dry_run:
        document["trust"] = codex_trust(detected, place, wanted=trust_codex)
    return document


def _uninstall_host(name: str, place: Place, *, dry_run: bool, told: bool) -> dict[str, Any]:
    from agentlas_memory.installer.apply import apply_uninstall
    from agentlas_memory.installer.hosts import specs_of
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.plan import plan_uninstall
    from agentlas_memory.installer.traces import files_that_name_us

    ledger = read_ledger(place.data_home)
    records = ledger.records(name)
    [spec] = specs_of([name])
    program = _program_now(spec, ledger, place)
    changes = plan_uninstall(name, records, ledger.others(name))
    if not dry_run:
        if name == "codex" and program:
            forget_codex_trust(program, place)
        changes = apply_uninstall(changes, place, program, _runner(place))
        shutil.rmtree(place.data_home / "runtime-memory-context" / name, ignore_errors=True)
    left = [] if dry_run else files_that_name_us(_homes(records))
    if told:
        _tell(spec.title, ledger.version(name), changes, program, dry_run=dry_run)
        for path in left:
            say(f"  still names us: {path}")
    return _document(name, None, changes) | {"left": [str(path) for path in left]}


def _detect(spec: HostSpec, place: Place) -> Detected | None:
    from agentlas_memory.installer.programs import look_up

    return spec.detect(place, lambda command: look_up(command, place.environment))


def _program_now(spec: HostSpec, ledger: Ledger, place: Place) -> str:
    detected = _detect(spec, place)
    return (detected.program if detected else "") or ledger.program(spec.name)


def _is_present(surfaces: Sequence[Any], program: str, place: Place) -> bool:
    from agentlas_memory.installer.surfaces import HostCommands

    commands = [one for one in surfaces if isinstance(one, HostCommands)]
    return all(_names_us(one.query, one.mark, program, place) for one in commands)


def _names_us(query: Sequence[str], mark: str, program: str, place: Place) -> bool:
    from agentlas_memory.installer.programs import look_up

    output = look_up([program, *query], place.environment)
    return output is not None and mark in output


def _homes(records: Sequence[dict[str, Any]]) -> list[Path]:
    return [Path(home) for one in records for home in one.get("homes", [])]


def _runner(place: Place) -> Callable[[Sequence[str]], str]:
    from agentlas_memory.installer.programs import run_program

    return lambda command: run_program(command, place.environment)


def _tell(
    title: str, version: str, changes: Sequence[Change], program: str, *, dry_run: bool
) -> None:
    from agentlas_memory.installer.report import change_lines

    say(f"{title} {version}".rstrip())
    for line in change_lines(changes, program, dry_run=dry_run):
        say(line)


def _tell_notes(spec: HostSpec, dry_run: bool) -> None:
    if spec.note and not dry_run:
        say(f"  note: {spec.note}")


def _document(name: str, detected: Detected | None, changes: Sequence[Change]) -> dict[str, Any]:
    from agentlas_memory.installer.report import change_document

    return {
        "host": name,
        "detected": detected is not None,
        "version": detected.version if detected else "",
        "changes": [change_document(change) for change in changes],
    }


def _finish(
    context: click.Context, documents: list[dict[str, Any]], *, as_json: bool, nothing: str
) -> None:
    if as_json:
        print_json({"hosts": documents})
    elif not any(document["changes"] for document in documents):
        say(nothing)
    refused = [
        change
        for document in documents
        for change in document["changes"]
        if change["action"] == "refused"
    ]
    if refused:
        context.exit(FAILED)
