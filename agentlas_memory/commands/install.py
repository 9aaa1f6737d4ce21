"""`install`: the hook in hosts' configuration, and what `uninstall` shares with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentlas_memory.commands.codex import codex_trust
from agentlas_memory.commands.errors import FAILED, UserError
from agentlas_memory.commands.output import print_json, say
from agentlas_memory.commands.projects import require_home
from agentlas_memory.home import user_home
from agentlas_memory.installer.hosts import HOSTS

if TYPE_CHECKING:
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
    with alone_unless(dry_run, place):
        if not dry_run:
            _point_current(place)
        documents = [
            _install_host(spec, place, dry_run=dry_run, trust_codex=trust_codex, told=not as_json)
            for spec in specs_of(names)
        ]
        if not dry_run and not names:
            _settle(place)
    missing = [spec.title for spec in specs_of(names) if not _was_found(spec.name, documents)]
    if missing and not as_json:
        say(f"Not found here: {', '.join(missing)}")
    finish(context, documents, as_json=as_json, nothing="No host was found here.")


def place_here() -> Place:
    """Return where things are on this machine."""
    from agentlas_memory.installer.surfaces import Place

    home = user_home()
    if not home:
        raise UserError("No home directory is known.", next_step="set HOME")
    return Place(Path(home), Path(require_home()), dict(os.environ))


@contextmanager
def alone_unless(dry_run: bool, place: Place) -> Iterator[None]:
    """Keep other installers out, unless nothing is to be written anyway."""
    from agentlas_memory.installer.alone import alone
    from agentlas_memory.private_json import StoreLocked

    if dry_run:
        yield
        return
    with ExitStack() as held:
        try:
            held.enter_context(alone(place.data_home))
        except StoreLocked as error:
            raise UserError(
                f"Another install or uninstall is running: {error}.",
                next_step="run this again when it is done",
            ) from error
        yield


def _was_found(name: str, documents: Sequence[dict[str, Any]]) -> bool:
    return any(one["host"] == name and one["detected"] for one in documents)


def _settle(place: Place) -> None:
    from agentlas_memory.installer.runtimes.activate import settle_from_here

    settle_from_here(place.data_home)


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
    from agentlas_memory.installer.apply import apply_install, apply_uninstall, settle
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.plan import plan_install, plan_moved

    detected = detect(spec, place)
    if detected is None:
        return document_of(spec.name, None, [])
    surfaces = spec.surfaces(place)
    run = runner(place)

    def plan() -> list[Change]:
        known = read_ledger(place.data_home).records(spec.name)
        present = _is_present(surfaces, detected.program, place)
        return plan_install(spec.name, surfaces, known, present=present)

    moved = plan_moved(spec.name, read_ledger(place.data_home).records(spec.name))
    if dry_run:
        changes = moved + plan()
    else:
        changes = apply_uninstall(moved, place, detected.program, run)
        changes += settle(plan, lambda some: apply_install(some, place, detected, run))
    if told:
        tell_changes(spec.title, detected.version, changes, detected.program, dry_run=dry_run)
    document = document_of(spec.name, detected, changes)
    if not dry_run:
        document |= _notes(spec, place, detected, trust_codex=trust_codex)
        for note in document["notes"] if told else ():
            say(f"  note: {note}")
    return document


def detect(spec: HostSpec, place: Place) -> Detected | None:
    """Return the host if it is here."""
    from agentlas_memory.installer.programs import look_up

    return spec.detect(place, lambda command: look_up(command, place.environment))


def _is_present(surfaces: Sequence[Any], program: str, place: Place) -> bool:
    from agentlas_memory.installer.surfaces import HostCommands

    commands = [one for one in surfaces if isinstance(one, HostCommands)]
    return all(_names_us(one.query, one.mark, program, place) for one in commands)


def _names_us(query: Sequence[str], mark: str, program: str, place: Place) -> bool:
    from agentlas_memory.installer.programs import look_up

    output = look_up([program, *query], place.environment)
    return output is not None and mark in output


def runner(place: Place) -> Callable[[Sequence[str]], str]:
    """Return what runs a host's own commands."""
    from agentlas_memory.installer.programs import run_program

    return lambda command: run_program(command, place.environment)


def tell_changes(
    title: str, version: str, changes: Sequence[Change], program: str, *, dry_run: bool
) -> None:
    """Tell what became of a host, or what is to become of it."""
    from agentlas_memory.installer.report import change_lines

    say(f"{title} {version}".rstrip())
    for line in change_lines(changes, program, dry_run=dry_run):
        say(line)


def _notes(
    spec: HostSpec, place: Place, detected: Detected, *, trust_codex: bool
) -> dict[str, Any]:
    """Return what a person should know of a host now, and how Codex stands to our hook."""
    from agentlas_memory.installer.checks.doubles import check_doubles
    from agentlas_memory.installer.ledger import read_ledger

    document: dict[str, Any] = {}
    notes = [spec.note] if spec.note else []
    if spec.name == "codex" and detected.program:
        document["trust"], notes = codex_trust(detected, place, wanted=trust_codex)
    for check in check_doubles(spec, read_ledger(place.data_home)):
        if check.status != "ok":
            notes.append(f"{check.detail}; {check.fix}")
    return document | {"notes": notes}


def document_of(name: str, detected: Detected | None, changes: Sequence[Change]) -> dict[str, Any]:
    """Return the same under the keys of `--json`."""
    from agentlas_memory.installer.report import change_document

    return {
        "host": name,
        "detected": detected is not None,
        "version": detected.version if detected else "",
        "changes": [change_document(change) for change in changes],
    }


def finish(
    context: click.Context, documents: list[dict[str, Any]], *, as_json: bool, nothing: str
) -> None:
    """End the command: its document, and exit code 1 where something was left as it is."""
    if as_json:
        print_json({"hosts": documents})
    elif not any(document["changes"] for document in documents):
        say(nothing)
    if refused_in(documents):
        context.exit(FAILED)


def refused_in(documents: Sequence[dict[str, Any]]) -> bool:
    """Tell whether something was left as it is."""
    return any(
        change["action"] == "refused" for document in documents for change in document["changes"]
    )
