"""Write docs/cli.md: every command's own help, so that the two cannot differ.

python scripts/build_cli_docs.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from agentlas_memory.cli import cli

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = """\
# Commands

Written by `scripts/build_cli_docs.py` from the commands' own help. Every command but `bench` takes
`--project DIR` (default: the nearest project from the current folder), and every one `--json`: one
JSON document on stdout, messages on stderr. Exit codes: 0 done, 1 failed, 2 wrong use, 3 refused to
protect data, 130 interrupted (Ctrl-C).
"""


def main() -> int:
    """Write the page, or with `--check` tell whether it is current."""
    page = build_page()
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != page)
    PAGE.write_text(page, encoding="utf-8")
    return 0


def build_page() -> str:
    """Return the page."""
    sections = [
        f"\n## {' '.join(path)}\n\n```text\n{help_text}\n```\n"
        for path, help_text in _commands(cli, ("agentlas-memory",))
    ]
    return HEAD + "".join(sections)


def _commands(
    command: click.Command, path: tuple[str, ...], parent: click.Context | None = None
) -> Iterator[tuple[tuple[str, ...], str]]:
    settings = command.context_settings
    context = click.Context(command, parent, path[-1], terminal_width=90, **settings)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _commands(child, (*path, name), context)
    else:
        yield path, command.get_help(context).rstrip()


if __name__ == "__main__":
    sys.exit(main())
