"""`off` and `on`: pause memory in a project, or everywhere."""

from __future__ import annotations

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError, command_line
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, say
from agentlas_memory.commands.projects import require, require_home, settings
from agentlas_memory.lean import getenv
from agentlas_memory.settings_file import set_paused_everywhere
from agentlas_memory.trust_file import set_paused

everywhere_option = click.option(
    "--all", "everywhere", is_flag=True, help="In all projects of this user."
)


@click.command()
@everywhere_option
@common_options
def off(everywhere: bool, named: str | None, as_json: bool) -> None:
    """Pause memory here (--project DIR) or everywhere (--all); nothing is removed."""
    project = pause(True, everywhere, named)
    _report(project, False, as_json)


@click.command()
@everywhere_option
@common_options
def on(everywhere: bool, named: str | None, as_json: bool) -> None:
    """Resume memory here (--project DIR) or everywhere (--all)."""
    project = pause(False, everywhere, named)
    _report(project, True, as_json)


def pause(paused: bool, everywhere: bool, named: str | None) -> str | None:
    """Pause or resume, and return the project, None for all of them."""
    if everywhere and named:
        raise UserError("--all and --project exclude each other.", code=WRONG_USE)
    home = require_home()
    if everywhere:
        set_paused_everywhere(home, paused)
        return None
    root = require(named).store_root
    if not set_paused(home, root, paused):
        raise UserError(
            f"{root} is not trusted, so its memory is silent anyway.",
            next_step=command_line("trust", root),
        )
    return root


def _report(project: str | None, on: bool, as_json: bool) -> None:
    if as_json:
        print_json({"project": project, "on": on})
    else:
        say(f"Memory is {'on' if on else 'paused'} in {project or 'all trusted projects'}.")
        if project and on and settings().get("off") is True:
            say("It is still paused everywhere. Next: agentlas-memory on --all")
        if on and getenv("AGENTLAS_MEMORY") == "off":
            say("It is silent for programs that have AGENTLAS_MEMORY=off, as this one: unset it.")
