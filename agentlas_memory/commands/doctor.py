"""`doctor`: does every host run the hook, and does the hook do what the host expects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import FAILED
from agentlas_memory.commands.install import place_here
from agentlas_memory.commands.output import print_json, print_table, say

if TYPE_CHECKING:
    from agentlas_memory.installer.checks import Check
    from agentlas_memory.installer.surfaces import Place

_EVENT = {
    "hook_event_name": "UserPromptSubmit",
    "hookEventName": "user_prompt_submit",
    "session_id": "doctor",
    "prompt": "is anything known here?",
}


@click.command()
@click.option("--fix", "repair", is_flag=True, help="Repair what is ours.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def doctor(context: click.Context, repair: bool, as_json: bool) -> None:
    """Check the program, the model, the hosts and their entries; exit 1 where something is broken.

    Registered commands are run as the host would run them, in a folder that is no project: the
    right answer is silence.
    """
    place = place_here()
    if repair:
        _repair(context, place, as_json=as_json)
    checks = list(_all_checks(place))
    if as_json:
        print_json({"checks": [check._asdict() for check in checks]})
    else:
        print_table(
            ("check", "host", "status", "found", "what to do"),
            [(one.id, one.host, one.status, one.detail, one.fix) for one in checks],
        )
        if not any(one.status != "ok" for one in checks):
            say("All is well.")
    if any(one.status == "failed" for one in checks):
        context.exit(FAILED)


def _all_checks(place: Place) -> Iterator[Check]:
    from agentlas_memory.installer.checks import check_doubles, check_host, check_runtime
    from agentlas_memory.installer.hosts import specs_of
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.programs import look_up
    from agentlas_memory.installer.runtimes.checks import check_versions

    yield from check_runtime(place)
    yield from check_versions(place)
    yield _check_model()
    yield from _check_failures(place)
    ledger = read_ledger(place.data_home)
    for spec in specs_of():
        detected = spec.detect(place, lambda command: look_up(command, place.environment))
        yield from check_host(spec, ledger, detected)
        yield from check_doubles(spec, ledger)
        if detected is not None and ledger.records(spec.name):
            yield from _check_runs(spec, ledger.records(spec.name), place)
            yield from _check_codex(spec.name, detected.program, place)


def _check_model() -> Check:
    from agentlas_memory.embedding.asset import asset_dir
    from agentlas_memory.embedding.verify import verify_asset
    from agentlas_memory.installer.checks import Check

    report = verify_asset(asset_dir())
    if report.reason:
        return Check("model", "", "failed", report.reason, "install the package again")
    return Check("model", "", "ok", f"{report.name}, {report.content_sha256[:12]}")


def _check_failures(place: Place) -> Iterator[Check]:
    from agentlas_memory.installer.checks import Check

    log = Path(place.data_home, "state", "hook.log")
    if log.is_file():
        lines = log.read_text("utf-8", "replace").splitlines()
        if lines:
            yield Check(
                "failures",
                "",
                "warning",
                f"{len(lines)}, the last: {lines[-1]}",
                f"look into {log}",
            )


def _check_runs(spec: Any, records: list[dict[str, Any]], place: Place) -> Iterator[Check]:
    from agentlas_memory.installer.checks import commands_of, judge_run, run_as_host

    event = json.dumps(_EVENT).encode()
    for command in commands_of(records):
        yield judge_run(spec, run_as_host(command, event, place.home), (b"", b"{}"))


def _check_codex(name: str, program: str, place: Place) -> Iterator[Check]:
    if name == "codex":
        from agentlas_memory.commands.codex import trust_check

        yield trust_check(program, place)


def _repair(context: click.Context, place: Place, *, as_json: bool) -> None:
    """Remove what updates left, and put in place again what the ledger says should be there."""
    from agentlas_memory.commands.install import install
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.installer.runtimes.activate import settle_from_here
    from agentlas_memory.installer.runtimes.layout import Runtimes
    from agentlas_memory.installer.runtimes.prune import prune
    from agentlas_memory.installer.runtimes.routine import locked

    runtimes = Runtimes(place.data_home)
    if runtimes.all():
        with locked(runtimes):
            prune(runtimes)
    hosts = tuple(read_ledger(place.data_home).hosts())
    if hosts:
        context.invoke(install, names=hosts, dry_run=False, as_json=False, trust_codex=False)
    settle_from_here(place.data_home)
