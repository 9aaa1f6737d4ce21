"""`~/.agentlas/backups`: a copy of a person's file from before it was changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from agentlas_memory.installer.files import digest

_ASIDE = ".new"


def keep_copy(path: Path, text: str, data_home: Path) -> None:
    """Keep a copy of a file's text, for its owner alone."""
    folder = data_home / "backups"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    where = digest(str(path))[:8]
    copy = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{where}-{path.name[-60:]}"
    if copy.exists():
        return
    remove_half_copy(data_home)
    aside = folder / _ASIDE
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(aside, flags, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        aside.replace(copy)
    finally:
        remove_half_copy(data_home)


def remove_half_copy(data_home: Path) -> None:
    """Remove what a killed run left of a copy."""
    (data_home / "backups" / _ASIDE).unlink(missing_ok=True)
