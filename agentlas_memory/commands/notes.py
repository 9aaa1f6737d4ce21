"""`notes list` and `notes show ID`: the inbox."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError, command_line
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, print_table, say, show
from agentlas_memory.commands.projects import require

if TYPE_CHECKING:
    from agentlas_memory.ontology.notes import Note

_WIDTH = 60


@click.group()
def notes() -> None:
    """List notes, or show one."""


@notes.command("list")
@common_options
def list_command(named: str | None, as_json: bool) -> None:
    """List the notes of the inbox; files that cannot be read are named on stderr."""
    from agentlas_memory.ontology.notes import list_notes

    root = Path(require(named).store_root)
    inbox = list_notes(root)
    for broken in inbox.broken:
        say(f"{root / broken.path} cannot be read: {broken.reason}")
    if as_json:
        print_json({"notes": [as_document(root, note) for note in inbox.notes]})
    elif inbox.notes:
        rows = [
            (note.id, note.kind, note.scope, note.created[:10], _first_line(note.text))
            for note in inbox.notes
        ]
        print_table(("id", "kind", "scope", "created", "text"), rows)
    else:
        say("There are no notes; agentlas-memory remember TEXT writes one.")


@notes.command("show")
@click.argument("identity", metavar="ID")
@common_options
def show_command(identity: str, named: str | None, as_json: bool) -> None:
    """Show one note."""
    root = Path(require(named).store_root)
    note = find_note(root, identity)
    document = as_document(root, note)
    if as_json:
        print_json({"note": document})
        return
    for key in ("id", "kind", "scope", "tags", "supersedes", "created", "path"):
        value = document[key]
        show(f"{key}: {', '.join(value) if isinstance(value, list) else value}")
    show(f"\n{note.text}")


def find_note(root: Path, identity: str) -> Note:
    """Return the note with this id, or say how to find the ids."""
    from agentlas_memory.ontology.notes import NoteError, read_note

    try:
        return read_note(root, identity)
    except NoteError as error:
        raise UserError(
            f"{error}.",
            next_step=command_line("notes list", str(root)),
            code=WRONG_USE,
        ) from error


def as_document(root: Path, note: Note) -> dict[str, Any]:
    """Return a note under its JSON keys."""
    return {
        "id": note.id,
        "kind": note.kind,
        "scope": note.scope,
        "tags": list(note.tags),
        "supersedes": list(note.supersedes),
        "created": note.created,
        "text": note.text,
        "path": str(root / note.path),
    }


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
