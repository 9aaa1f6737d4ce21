"""`forget`: a note leaves the inbox and the store."""

from __future__ import annotations

import stat
from pathlib import Path

import click

from agentlas_memory.commands.errors import REFUSED, UserError
from agentlas_memory.commands.options import common_options
from agentlas_memory.commands.output import print_json, say
from agentlas_memory.commands.projects import prepare_writing, require
from agentlas_memory.lean import read_file

_WHOLE = 1 << 40  # bytes; what cannot be forgotten is written back, so all of it is kept
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}


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
    content = _read(path)
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


def _read(path: Path) -> bytes:
    """Return the file's content, or refuse what is no file: nothing of it is in the store."""
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        return read_file(str(path), _WHOLE, follow=False)
    raise UserError(
        f"{path} is {_KINDS.get(stat.S_IFMT(mode), 'no file')}, and so no note.",
        kept="It was left as it is; nothing of it is in the store.",
        next_step="remove it by hand",
        code=REFUSED,
    )


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
