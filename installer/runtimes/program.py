"""`~/.local/bin/agentlas-memory`: the command on the person's PATH, where nothing else is there."""

from __future__ import annotations

import os
from pathlib import Path

from agentlas_memory.installer.files import make_folders, missing_folders
from agentlas_memory.installer.ledger import edit_ledger, read_ledger
from agentlas_memory.installer.leftovers import remove_folders
from agentlas_memory.installer.runtimes.environments import WINDOWS
from agentlas_memory.installer.surfaces import Place
from agentlas_memory.private_json import BrokenFile

_NAME = "agentlas-memory"


def link_program(place: Place) -> str:
    """Make the link, noted in the ledger first; return what the person should know of it."""
    if WINDOWS:
        return ""
    target = place.hook.with_name(_NAME)
    link = place.home / ".local" / "bin" / _NAME
    if os.path.lexists(link) and not _leads_to(link, target):
        return f"{link} is not ours and was left; the command is {target}"
    if not os.path.lexists(link):
        try:
            with edit_ledger(place.data_home) as ledger:
                ledger.note_link(str(link), [str(one) for one in missing_folders(link.parent)])
            make_folders(link.parent)
            link.symlink_to(target)
        except (OSError, BrokenFile) as error:
            return f"{link} could not be made ({error}); the command is {target}"
    folders = place.environment.get("PATH", "").split(os.pathsep)
    if str(link.parent) in folders:
        return ""
    return f"{link.parent} is not on your PATH: add it there, or run {link}"


def linked_program(place: Place) -> Path | None:
    """Return the link that we made, None where it is gone or leads elsewhere by now."""
    named = read_ledger(place.data_home).linked
    link = Path(named)
    return link if named and _leads_to(link, place.hook.with_name(_NAME)) else None


def unlink_program(place: Place) -> None:
    """Remove the link, and the folders that were made for it, as far as nothing else is in them."""
    link = linked_program(place)
    if link is not None:
        link.unlink()
        remove_folders(read_ledger(place.data_home).link_folders)


def _leads_to(link: Path, target: Path) -> bool:
    return link.is_symlink() and link.readlink() == target
