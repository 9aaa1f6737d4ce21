"""`remember`: a note, kept as a file and found again from the next prompt on."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentlas_memory.commands.errors import WRONG_USE, UserError, command_line
from agentlas_memory.commands.options import common_options, plain_text, scope_choice
from agentlas_memory.commands.output import print_json, say, show
from agentlas_memory.commands.projects import prepare_writing, require
from agentlas_memory.redact import redact

if TYPE_CHECKING:
    from agentlas_memory.ontology.config import Scope
    from agentlas_memory.ontology.notes import Note, NoteKind
    from agentlas_memory.project import Project


@click.command()
@click.argument("text", type=plain_text)
@click.option(
    "--kind",
    type=click.Choice(["decision", "constraint", "todo", "note"]),
    default="note",
    show_default=True,
)
@click.option("--tag", "tags", type=plain_text, multiple=True, metavar="T", help="Repeatable.")
@click.option("--scope", type=scope_choice, default="internal", show_default=True)
@click.option("--supersedes", metavar="ID", help="The note that no longer holds.")
@common_options
def remember(
    text: str,
    kind: NoteKind,
    tags: tuple[str, ...],
    scope: Scope,
    supersedes: str | None,
    named: str | None,
    as_json: bool,
) -> None:
    """Write TEXT as a note into the project's inbox and index it."""
    from agentlas_memory.commands.notes import find_note
    from agentlas_memory.ontology.notes import write_note

    if not text.strip():
        raise UserError("There is nothing to remember: TEXT is blank.", code=WRONG_USE)
    project = require(named)
    root = Path(project.store_root)
    prepare_writing(project)
    clean = without_secrets(text)
    if supersedes:
        find_note(root, supersedes)
    elif same := _same_note(root, clean, kind, scope):
        from agentlas_memory.commands.index import run_for_note

        kept, again = f"The note is kept in {root / same.path}.", command_line("index", str(root))
        run_for_note(project, root / same.path, kept=kept, next_step=again)  # a killed run left it
        say(f"Note {same.id} says this already; no second one was written.")
        _tell(same, root, as_json=as_json)
        return
    try:
        note = write_note(
            root,
            clean,
            kind=kind,
            scope=scope,
            tags=[redact(tag) for tag in tags],
            supersedes=[supersedes] if supersedes else [],
        )
    except OSError as error:
        raise UserError(f"The note was not saved: {error}.") from error
    _index_note(project, root / note.path)
    _tell(note, root, as_json=as_json)


def _same_note(root: Path, text: str, kind: NoteKind, scope: Scope) -> Note | None:
    """Return the note that says the same, of the same kind and for the same readers."""
    from agentlas_memory.ontology.notes import list_notes

    wanted = (_normalised(text), kind, scope)
    notes = list_notes(root).notes
    replaced = {old for note in notes for old in note.supersedes}
    same = (n for n in notes if (_normalised(n.text), n.kind, n.scope) == wanted)
    return next((note for note in same if note.id not in replaced), None)


def _normalised(text: str) -> str:
    """Return a text without what makes no other sense: spaces, case, the form of letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _tell(note: Note, root: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"id": note.id, "path": str(root / note.path)})
    else:
        show(f"{note.id}\t{root / note.path}")


def without_secrets(text: str) -> str:
    """Return the text without credentials, and say so: a note is a file that may be committed."""
    clean = redact(text)
    if clean != text:
        say(
            "Warning: a credential in the text was replaced before it was written anywhere;"
            " if it was typed into a shell, its history still holds it."
        )
    return clean


def _index_note(project: Project, path: Path) -> None:
    """Index a new note; never call it remembered while the store does not hold it."""
    from agentlas_memory.commands.index import run_for_note

    kept = f"The note is kept in {path}, but it is not in the store yet."
    again = command_line("index", project.store_root)
    report = run_for_note(project, path, kept=kept, next_step=again)
    if not report.added:
        reasons = "; ".join(one.reason for one in report.skipped) or "it was not found"
        raise UserError(f"The note could not be indexed: {reasons}.", kept=kept, next_step=again)
