"""The two options that every command takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

# What the hook asks for; tests/cli compares them with it, as no command may import that door.
HOOK_SCOPES = ("public", "internal")
HOOK_HITS = 4

scope_choice = click.Choice(["public", "internal", "private"])


def plain_text(typed: str) -> str:
    """Return what was typed; a byte that is no UTF-8, which a shell may pass, becomes `?`."""
    return typed.encode("utf-8", "replace").decode()


def common_options(command: Command) -> Command:
    """Add `--project` (parameter `named`) and `--json` (parameter `as_json`)."""
    return _options(command, exists=True)


def options_of_gone(command: Command) -> Command:
    """Add the same; the project's folder may be gone."""
    return _options(command, exists=False)


def _options(command: Command, exists: bool) -> Command:
    add_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    add_project = click.option(
        "--project",
        "named",
        metavar="DIR",
        type=click.Path(exists=exists, file_okay=False),
        help="The project; by default the nearest one above the current folder.",
    )
    return add_project(add_json(command))
