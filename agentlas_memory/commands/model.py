"""`model`: the embedding model that ships with the program."""

from __future__ import annotations

import click

from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, say, show
from agentlas_memory.embedding.asset import asset_dir
from agentlas_memory.embedding.verify import AssetReport, refresh_stamp, verify_asset
from agentlas_memory.home import data_home


@click.group()
def model() -> None:
    """Verify or locate the embedding model."""


@model.command()
@common_options
def verify(named: str | None, as_json: bool) -> None:
    """Hash every file of the model and compare it with what this version was built for."""
    report = verify_asset(asset_dir())
    refresh_stamp(data_home())
    _print(report, as_json)
    if report.reason:
        raise click.exceptions.Exit(1)


@model.command()
@common_options
def path(named: str | None, as_json: bool) -> None:
    """Print the folder of the model."""
    if as_json:
        _print(verify_asset(asset_dir()), as_json)
    else:
        show(asset_dir())


def _print(report: AssetReport, as_json: bool) -> None:
    document = {
        "name": report.name,
        "status": report.status,
        "content_sha256": report.content_sha256,
        "path": report.path,
    }
    if report.reason:
        say(f"{report.reason}\nNext: install agentlas-memory again; until then recall is degraded")
    if as_json:
        print_json(document)
    else:
        show("\n".join(f"{key}: {value}" for key, value in document.items()))
