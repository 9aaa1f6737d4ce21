"""What commands print: results on stdout, messages on stderr, tables and colour for people only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click


def is_terminal() -> bool:
    """Tell whether messages go to a terminal; stderr may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_json(document: object) -> None:
    """Print one JSON document, in ASCII: no locale and no terminal can spoil it."""
    import json  # not at the top: `index --quiet` prints none

    click.echo(json.dumps(document, indent=2))


def say(message: str) -> None:
    """Print a message on stderr."""
    click.echo(_lines(message), err=True)


def show(text: str) -> None:
    """Print a result on stdout."""
    click.echo(_lines(text))


def _lines(text: str) -> str:
    """Return lines with their tabs: between fields, and in a difference of somebody's file."""
    fields = (map(printable, line.split("\t")) for line in text.split("\n"))
    return "\n".join(map("\t".join, fields))


def counted(number: int, one: str, more: str = "") -> str:
    """Return a number and what it counts, in the singular where it is one."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def printable(text: str) -> str:
    """Return one line without what a terminal would obey or hide: documents are not ours."""
    return "".join(char if char.isprintable() else " " for char in text)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table for a terminal, and lines of tab-separated fields for a program."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in (columns, *cells):
            click.echo("\t".join(row))
        return
    from rich import box  # not at the top: 60 ms that most commands do not need
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))  # Text: brackets in a document are no markup
    Console().print(table)
