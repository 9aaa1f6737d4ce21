"""What stands around our part once it is out: folders that were made for it, or are ours alone."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Sequence
from pathlib import Path


def remove_leftovers(folders: Sequence[str]) -> None:
    """Remove the folders of ours that a host's own uninstall leaves behind."""
    for folder in map(Path, folders):
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


# It is in use, a killed run has removed it, or something else stands there now.
_NOT_OURS_TO_REMOVE = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR)


def remove_folders(folders: Sequence[str]) -> str:
    """Remove folders that we made, as far as nothing else is in them; return what failed."""
    failed = ""
    for folder in reversed(folders):
        try:
            Path(folder).rmdir()
        except OSError as error:
            if error.errno not in _NOT_OURS_TO_REMOVE:
                failed = f"{folder}: {error.strerror}"
    return failed


def remove_own_folders(path: Path, data_home: Path) -> None:
    """Remove what is empty now between a file in our own folder and that folder."""
    for folder in path.parents:
        if data_home not in folder.parents:
            return
        with contextlib.suppress(OSError):
            folder.rmdir()
