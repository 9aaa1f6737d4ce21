"""What stands around our part once it is out: folders that were made for it, or are ours alone."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path


def remove_leftovers(folders: Sequence[str]) -> None:
    """Remove the folders of ours that a host's own uninstall leaves behind."""
    for folder in map(Path, folders):
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def remove_folders(folders: Sequence[str]) -> None:
    """Remove folders that we made, as far as nothing else is in them."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):  # a killed run may have removed one of them
            Path(folder).rmdir()


def remove_own_folders(path: Path, data_home: Path) -> None:
    """Remove what is empty now between a file in our own folder and that folder."""
    for folder in path.parents:
        if data_home not in folder.parents:
            return
        with contextlib.suppress(OSError):
            folder.rmdir()
