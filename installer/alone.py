"""One installer at a time: none comes between another's look at a file and its writing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentlas_memory.installer.backups import remove_half_copy
from agentlas_memory.installer.ledger import LEDGER
from agentlas_memory.installer.runtimes.pointer import remove_half_link
from agentlas_memory.private_json import lock_private_folder
from agentlas_memory.whole_file import remove_half_file

_LOCK = "installer.lock"
_PATIENCE = 30.0  # seconds; a host's own commands take a few


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Wait for any other installer of this user; raise StoreLocked when that takes too long.

    What a killed one left in our own folder is removed first.
    """
    with lock_private_folder(home, _LOCK, _PATIENCE):
        remove_half_copy(home)
        remove_half_link(home / "runtime")
        remove_half_file(home / LEDGER)
        yield
