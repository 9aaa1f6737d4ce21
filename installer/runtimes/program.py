"""Our programs on the person's PATH: links in `~/.local/bin`, where nothing else has the name."""

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
_NAMES = (_NAME, f"{_NAME}-hook")  # scripts ask the hook too, by `--host raw`


def link_program(place: Place) -> str:
    """Make the links, noted in the ledger first; return what the person should know of them."""
    if WINDOWS:
        return ""
    folder = _folder(place)
    told = [_link(folder / name, place) for name in _NAMES]
    if any(told):
        return "\n".join(filter(None, told))
    if str(folder) in place.environment.get("PATH", "").split(os.pathsep):
        return ""
    return f"{folder} is not on your PATH: add it there, or run {folder / _NAME}"


def _link(link: Path, place: Place) -> str:
    target = _target(link, place)
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
    return ""


def _folder(place: Place) -> Path:
    return place.home / ".local" / "bin"


def linked_programs(place: Place) -> list[Path]:
    """Return the links that we made, less those that are gone or lead elsewhere by now.

    One that leads to our program is ours also where the ledger was lost.
    """
    known = map(Path, read_ledger(place.data_home).links)
    links = dict.fromkeys((*known, *(_folder(place) / name for name in _NAMES)))
    return [link for link in links if _leads_to(link, _target(link, place))]


def unlink_program(place: Place) -> None:
    """Remove the links, and the folders made for them, as far as nothing else is in them."""
    links = linked_programs(place)
    for link in links:
        link.unlink()
    if links:
        remove_folders(read_ledger(place.data_home).link_folders)


def _target(link: Path, place: Place) -> Path:
    return place.hook.with_name(link.name)


def _leads_to(link: Path, target: Path) -> bool:
    return link.is_symlink() and link.readlink() == target
