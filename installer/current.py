"""`~/.agentlas/runtime/current`: the one path hosts are given, whatever version is behind it."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from agentlas_memory.installer.surfaces import Place


def environment_of_this() -> Path:
    """Return the environment that this program runs in: `bin/agentlas-memory-hook` is below it."""
    return Path(sys.prefix)


def point_current(place: Place, environment: Path) -> bool:
    """Let `current` lead to an environment, in one step; False when it did already."""
    current = place.data_home / "runtime" / "current"
    if os.path.lexists(current) and not current.is_symlink():
        raise FileExistsError(17, "a folder stands where the link should be", str(current))
    if current.is_symlink() and current.readlink() == environment:
        return False
    current.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_half_link(place.data_home)
    aside = _aside(place.data_home)
    aside.symlink_to(environment)
    aside.replace(current)
    return True


def remove_half_link(data_home: Path) -> None:
    """Remove what a killed run left of a new link."""
    _aside(data_home).unlink(missing_ok=True)


def _aside(data_home: Path) -> Path:
    return data_home / "runtime" / ".current.new"


def remove_current(place: Place) -> None:
    """Take the link away, and the folder if nothing else is in it."""
    current = place.data_home / "runtime" / "current"
    if current.is_symlink():
        current.unlink()
    with contextlib.suppress(OSError):
        current.parent.rmdir()
