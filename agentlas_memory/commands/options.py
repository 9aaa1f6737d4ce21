"""The two options that every command takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

SCOPES = ("public", "internal", "private")
scope_choice = click.Choice(SCOPES)


def common_options(command: Command) -> Command:
    """Add `--project` (parameter `named`) and `--json` (parameter `as_json`)."""
    add_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    add_project = click.option(
        "--project",
        "named",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False),
        help="The project; by default the nearest one above the current folder.",
    )
    return add_project(add_json(command))
