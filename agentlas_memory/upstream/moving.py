"""The old store's new name. Whenever it is cut short, one of the two names has everything."""

from __future__ import annotations

import filecmp
import os
import shutil
from contextlib import nullcontext
from pathlib import Path

from agentlas_memory.upstream.reading import COMPANIONS, at_rest


class NameTaken(Exception):
    """Another file has the name that the old store was to get."""


def kept_name(path: Path) -> Path:
    """Return the name that a store of Agentlas OS gets: `experience.upstream.sqlite`."""
    return path.with_suffix(".upstream.sqlite")


def report_file(path: Path) -> Path:
    """Return where it is kept what became of a store; made when all is done."""
    return kept_name(path).with_suffix(".json")


def is_kept(path: Path) -> bool:
    """Tell whether a store has its new name already."""
    return path.name.endswith(".upstream.sqlite")


def check_names(path: Path) -> None:
    """Raise NameTaken where the old store could not get its new name."""
    kept = kept_name(path)
    for suffix in ("", *COMPANIONS):
        old, new = Path(f"{path}{suffix}"), Path(f"{kept}{suffix}")
        if os.path.lexists(new) and not (os.path.lexists(old) and _same(old, new)):
            raise NameTaken(f"there is {new} already")


def set_aside(path: Path) -> None:
    """Give a store its new name, with the log and the journal that belong to it.

    They get their second name first and lose their old one last, so that neither name of the store
    is ever without them. Raises NameTaken, UpstreamBusy, OSError.
    """
    check_names(path)
    kept = kept_name(path)
    # On Windows nobody can rename what is open, neither another process nor we.
    with nullcontext() if os.name == "nt" else at_rest(path):
        for suffix in COMPANIONS:
            if os.path.lexists(f"{path}{suffix}"):
                _twin(Path(f"{path}{suffix}"), Path(f"{kept}{suffix}"))
        if not kept.exists():
            _rename(path, kept)
        path.unlink(missing_ok=True)
        _sync(path.parent)
    finish_move(path)


def finish_move(path: Path) -> None:
    """Take away what a killed move left of the old names: the new ones have it all."""
    kept = kept_name(path)
    for suffix in COMPANIONS:
        left = Path(f"{path}{suffix}")
        if os.path.lexists(left):
            if not _same(left, Path(f"{kept}{suffix}")):
                raise NameTaken(f"{left} belongs to no store that is here")
            left.unlink()


def _rename(path: Path, kept: Path) -> None:
    """Rename without ever replacing a file."""
    try:
        os.link(path, kept)
    except FileExistsError as error:
        raise NameTaken(f"there is {kept} already") from error
    except OSError:  # a file system without hard links
        path.rename(kept)


def _twin(old: Path, new: Path) -> None:
    if os.path.lexists(new):
        return
    try:
        os.link(old, new)
    except OSError:
        aside = new.with_name(f"{new.name}.{os.getpid()}")
        shutil.copy2(old, aside)
        aside.rename(new)


def _same(old: Path, new: Path) -> bool:
    try:
        return old.samefile(new) or filecmp.cmp(old, new, shallow=False)
    except OSError:
        return False


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
