"""What `doctor` says of the versions: which serves, which stay and why, what an update left."""

from __future__ import annotations

from collections.abc import Iterator

from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.runtimes.children import StoreLocked, update_lock
from agentlas_memory.installer.runtimes.history import History, troubles
from agentlas_memory.installer.runtimes.layout import Runtimes
from agentlas_memory.installer.runtimes.prune import standing
from agentlas_memory.installer.surfaces import Place

_PRUNE = "agentlas-memory runtime prune"


def check_versions(place: Place) -> Iterator[Check]:
    """Look at the versions on this machine; without a channel or a key nothing is wrong."""
    runtimes = Runtimes(place.data_home)
    current = runtimes.current()
    if current is not None and current.is_own and History(runtimes).settled != current.id:
        yield Check(
            "version",
            "",
            "warning",
            f"{current.id} is active, but the hosts were not brought in line with it",
            "agentlas-memory install",
        )
    for told in troubles(runtimes):
        yield Check("version", "", "warning", told, "move that file away, then update")
    at_work = _at_work(runtimes)
    for runtime, reason in standing(runtimes):
        if reason:
            yield Check("version", "", "ok", f"{runtime.id}: {reason}")
        elif not at_work:
            told = "was never finished" if not runtime.complete else "is not needed any more"
            yield Check("version", "", "warning", f"{runtime.id} {told}", _PRUNE)
    if at_work:
        yield Check("version", "", "ok", "an update is at work")
        return
    folders = {runtime.folder for runtime in runtimes.all()}
    for path in runtimes.leftovers():
        if path not in folders:
            yield Check("version", "", "warning", f"{path} was left by an update", _PRUNE)


def _at_work(runtimes: Runtimes) -> bool:
    """Tell whether an update is running: what it has not finished is no leftover."""
    if not runtimes.folder.is_dir():
        return False
    try:
        with update_lock(runtimes, 0.0):
            return False
    except (StoreLocked, OSError):
        return True
