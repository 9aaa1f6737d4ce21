"""`doctor`: does every host run the hook, and does the hook do what the host expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentlas_memory.commands.errors import FAILED
from agentlas_memory.commands.install import detect, place_here
from agentlas_memory.commands.output import print_json, print_table, say

if TYPE_CHECKING:
    from agentlas_memory.installer.checks import Check
    from agentlas_memory.installer.checks.runs import Sample
    from agentlas_memory.installer.ledger import Ledger
    from agentlas_memory.installer.surfaces import HostSpec, Place


@click.command()
@click.option("--fix", "repair", is_flag=True, help="Repair what is ours.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def doctor(context: click.Context, repair: bool, as_json: bool) -> None:
    """Check the program, the model, the hosts and their entries; exit 1 where something is broken.

    Registered commands are run as the host would run them, on a project made for that: they must
    know something of it. A command that is not as it was installed is reported, and not run.
    """
    place = place_here()
    if repair:
        from agentlas_memory.commands.repair import repair_all

        repair_all(context, place)
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
    from agentlas_memory.commands.settings_check import check_settings
    from agentlas_memory.commands.store_checks import check_stores
    from agentlas_memory.installer.checks.failures import check_failures
    from agentlas_memory.installer.checks.program import check_program
    from agentlas_memory.installer.hosts import specs_of
    from agentlas_memory.installer.runtimes.checks import check_versions

    yield from check_program(place)
    yield from check_versions(place)
    yield _check_model(place)
    yield check_failures(place)
    yield check_settings(place)
    yield from check_stores(place)
    ledger, trouble = _read_ledger(place)
    yield from trouble
    if ledger is None:
        return
    with ExitStack() as made:
        sample = None
        if ledger.hosts():
            sample, trouble = _make_sample(made)
            yield from trouble
        for spec in specs_of():
            yield from _check_host(spec, ledger, place, sample)


def _read_ledger(place: Place) -> tuple[Ledger | None, list[Check]]:
    """Read what is noted of the hosts; without that nothing can be said of them."""
    from agentlas_memory.installer.checks import Check
    from agentlas_memory.installer.ledger import read_ledger
    from agentlas_memory.private_json import BrokenFile

    try:
        return read_ledger(place.data_home), []
    except BrokenFile as error:
        told, what = f"{error}; the hosts were not looked at", "it"
        if place.data_home.exists() and not place.data_home.is_dir():
            told, what = f"{place.data_home} is no folder", "that file"
        fix = f"move {what} away, then agentlas-memory install: it knows its own entries again"
        return None, [Check("ledger", "", "failed", told, fix)]


def _make_sample(made: ExitStack) -> tuple[Sample | None, list[Check]]:
    """Make the project that commands are tried on; where that fails, that is a finding."""
    from agentlas_memory.commands.sample import sample_project
    from agentlas_memory.installer.checks import Check

    try:
        return made.enter_context(sample_project()), []
    except Exception as error:
        told = f"no sample project could be made: {error}"
        return None, [Check("sample", "", "failed", told, "see that the disk has room")]


def _check_host(
    spec: HostSpec, ledger: Ledger, place: Place, sample: Sample | None
) -> Iterator[Check]:
    from agentlas_memory.installer.checks.copies import check_copies, unchanged_copy
    from agentlas_memory.installer.checks.doubles import check_doubles
    from agentlas_memory.installer.checks.entries import check_host
    from agentlas_memory.installer.checks.runs import check_runs
    from agentlas_memory.installer.programs import look_up

    detected, records = detect(spec, place), ledger.records(spec.name)
    yield from check_host(
        spec, ledger, detected, lambda one: look_up(one, place.environment), place
    )
    yield from check_doubles(spec, ledger)
    if detected is None or not records:
        return
    yield from check_copies(spec, place)
    if sample is not None and unchanged_copy(spec, place):
        yield from check_runs(spec, records, sample)
    if spec.name == "codex":
        from agentlas_memory.commands.codex import trust_check

        yield trust_check(detected.program, place)


def _check_model(place: Place) -> Check:
    """Hash the model that the hook reads: the one beside its own code."""
    from agentlas_memory.embedding.asset import asset_dir
    from agentlas_memory.embedding.verify import MANIFEST, verify_asset
    from agentlas_memory.installer.checks import Check

    models = "lib/python*/site-packages/agentlas_memory/models/model2vec/*"
    current = place.data_home / "runtime" / "current"
    found = next((file.parent for file in current.glob(f"{models}/{MANIFEST}")), Path(asset_dir()))
    report = verify_asset(found)
    if report.reason:
        return Check("model", "", "failed", report.reason, "install the package again")
    return Check("model", "", "ok", f"{report.name}, {report.content_sha256[:12]}")
