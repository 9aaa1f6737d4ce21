"""The management command `agentlas-memory`: a table of commands, each loaded when it is named.

`index --quiet` runs after every commit and must be back in 100 ms, so naming one command never pays
for another's imports; `--help` reads the table alone.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NamedTuple

import click

from agentlas_memory import __version__


class Entry(NamedTuple):
    """Where a command lives in `agentlas_memory.commands`, and its line in `--help`."""

    module: str
    summary: str
    name: str = ""  # of the command in the module, where it is not the one that is typed


COMMANDS = {
    "init": Entry("init", "Give a project a memory and trust it."),
    "index": Entry("index", "Take in what changed in the project's documents."),
    "remember": Entry("remember", "Write a note and index it."),
    "notes": Entry("notes", "List notes, or show one."),
    "forget": Entry("forget", "Remove a note and every trace of it in the store."),
    "import": Entry("importing", "Take over memories that other programs kept.", "import_group"),
    "query": Entry("query", "Ask the memory a question."),
    "why": Entry("why", "Explain what a prompt recalls, or why nothing."),
    "status": Entry("status", "Tell whether memory is on here, and how old it is."),
    "trust": Entry("trust", "Let this project's memory reach assistants."),
    "distrust": Entry("trust", "Take that back."),
    "off": Entry("pause", "Pause memory here, or everywhere."),
    "on": Entry("pause", "Resume it."),
    "graph": Entry("graph", "Show an entity, its relations and their evidence."),
    "card": Entry("card", "Check which agent's experience may be recalled here."),
    "experience": Entry("experience", "What an agent learned: add, list, supersede, rebuild."),
    "import-store": Entry("import_store", "Take over a store of Agentlas OS.", "import_store"),
    "review": Entry("review", "List hostile or doubtful content, and decide about it."),
    "install": Entry("install", "Put the hook into the hosts found here."),
    "uninstall": Entry("uninstall", "Take it out again, without a trace."),
    "doctor": Entry("doctor", "Check that every host runs the hook, and what to do if not."),
    "update": Entry("update", "Install the newest version, or say whether there is one."),
    "rollback": Entry("update", "Go back to the version before."),
    "runtime": Entry("runtime", "List the installed versions, or remove what nobody needs."),
    "model": Entry("model", "Verify or locate the embedding model."),
    "bench": Entry("bench", "Measure speed and quality."),
}


class CommandTable(click.Group):
    """A group whose commands are imported when they are named, behind one door for errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"agentlas_memory.commands.{entry.module}")
        command: click.Command = getattr(module, entry.name or cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note whether errors are to be told as JSON, before anything can go wrong."""
        ctx.meta["as_json"] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it fails with is explained, and becomes the exit code."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, BrokenPipeError):
            raise  # not failures: click ends quietly
        except (Exception, KeyboardInterrupt) as error:
            from agentlas_memory.commands.errors import tell

            ctx.exit(tell(error, as_json=ctx.meta["as_json"]))


@click.command(cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="agentlas-memory")
def cli() -> None:
    """Local memory of a project for coding assistants.

    Every command takes --json, and those about a project take --project DIR. Exit codes:
    0 done, 1 failed, 2 wrong use, 3 refused to protect data, 130 interrupted.
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a narrow locale is no reason to fail
    cli(prog_name="agentlas-memory")
