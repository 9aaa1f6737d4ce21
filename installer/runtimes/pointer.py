"""`~/.agentlas/runtime/current`: the one path hosts are given, whatever version is behind it.

A link, replaced in one step. Where links need a privilege (Windows) it is a folder that stays, with
a file in it that names the version; replacing that file is the step.
"""

from __future__ import annotations

import os
from pathlib import Path

from agentlas_memory.installer.launchers import POINTER, put_launchers
from agentlas_memory.installer.runtimes.environments import WINDOWS, programs_of
from agentlas_memory.whole_file import replace_file

CURRENT = "current"
_ASIDE = ".current.new"


def read_current(folder: Path) -> str:
    """Return what `current` names: a version's folder here, or an environment's absolute path."""
    current = folder / CURRENT
    try:
        if not current.is_symlink():
            return (current / POINTER).read_text("utf-8").strip()
        return str(current.readlink())
    except (OSError, UnicodeDecodeError):
        return ""


def switch_current(folder: Path, target: str, *, links: bool = not WINDOWS) -> None:
    """Let `current` name something else, in one step."""
    current = folder / CURRENT
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not links:
        current.mkdir(mode=0o700, exist_ok=True)
        put_launchers(programs_of(folder / target), current)
        replace_file(current / POINTER, f"{target}\n".encode())
        return
    refuse_folder(folder)
    remove_half_link(folder)
    aside = folder / _ASIDE
    aside.symlink_to(target)
    aside.replace(current)


def remove_half_link(folder: Path) -> None:
    """Remove what a killed run left of a new link."""
    (folder / _ASIDE).unlink(missing_ok=True)


def refuse_folder(folder: Path) -> None:
    """Raise FileExistsError where something of somebody else's stands in the link's place."""
    current = folder / CURRENT
    if not WINDOWS and os.path.lexists(current) and not current.is_symlink():
        raise FileExistsError(17, "a folder stands where the link should be", str(current))


def remove_current(folder: Path) -> None:
    """Take the link away, and the folder if nothing else is in it."""
    current = folder / CURRENT
    if current.is_symlink():
        current.unlink()
        try:
            folder.rmdir()
        except OSError:
            return
