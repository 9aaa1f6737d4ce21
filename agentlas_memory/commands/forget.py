"""`forget`: a note leaves the inbox and the store."""

from __future__ import annotations

from pathlib import Path

import click

from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, say
from agentlas_memory.commands.projects import prepare_writing, require


@click.command()
@click.argument("identity", metavar="ID")
@common_options
def forget(identity: str, named: str | None, as_json: bool) -> None:
    """Remove the note ID: its file, its rows, and every term of it in the store.

    A file of the inbox that cannot be read as a note is named by its file name.
    """
    from agentlas_memory.commands.index import run_for_note

    project = require(named)
    root = Path(project.store_root)
    prepare_writing(project)
    path, document = _find(root, identity)
    content = path.read_bytes()
    path.unlink()
    kept = f"The note is kept in {path}; nothing was forgotten."
    try:
        run_for_note(project, path, kept=kept, forget=True)
    except BaseException:
        path.write_bytes(content)  # what the store still holds must not lose its file
        raise
    if as_json:
        print_json({"note": document})
    else:
        say(f"Forgot {identity}: {path} was removed, and its text from the store.")


def _find(root: Path, identity: str) -> tuple[Path, dict[str, object]]:
    """Return the note's file and what it was."""
    from agentlas_memory.commands.notes import as_document, find_note
    from agentlas_memory.ontology.notes import list_notes

    for broken in list_notes(root).broken:
        file = root / broken.path
        if identity in (file.name, file.stem):
            return file, {"id": identity, "path": str(file)}
    note = find_note(root, identity)
    return root / note.path, as_document(root, note)
