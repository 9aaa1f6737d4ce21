"""Making a version the one that serves: one switch, then the hosts; both, or neither."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentlas_memory.installer.runtimes.children import (
    StoreLocked,
    isolated,
    person_environment,
    run,
    update_lock,
)
from agentlas_memory.installer.runtimes.environments import python_of
from agentlas_memory.installer.runtimes.history import History
from agentlas_memory.installer.runtimes.hosts_merge import (
    HostFiles,
    MergeFailed,
    look_at_hosts,
    merge_again,
    merge_hosts,
)
from agentlas_memory.installer.runtimes.layout import HISTORY, LOCK, Runtime, Runtimes
from agentlas_memory.installer.runtimes.pointer import refuse_folder, remove_current, switch_current
from agentlas_memory.installer.runtimes.steps import step
from agentlas_memory.installer.runtimes.trouble import UpdateFailed

_PATIENCE = 30.0  # seconds

_STAMPING = 60.0  # seconds


def activate(
    runtimes: Runtimes, new: Runtime, names: Sequence[str] | None, files: HostFiles | None
) -> list[dict[str, Any]]:
    """Switch to a whole version and bring the hosts in line with it; return what was done to each.

    `names` are the hosts, none for all that are found here, None for no host at all. Where the new
    version breaks down on them, the old one is active again and their files are as they were.
    """
    old = runtimes.current()
    with step("stamp the model"):
        _stamp_model(new)
    with step("activate"):
        History(runtimes).add(new.id)
        switch_current(runtimes.folder, new.id)
    if names is None or files is None:
        return settled(runtimes, new, [])
    try:
        with step("bring the hosts in line"):
            return settled(runtimes, new, merge_hosts(new.folder, names))
    except BaseException as error:
        with step("go back"):
            _go_back(runtimes, old)
            left = files.put_back()
        if old is not None:
            merge_again(old, files.hosts)
        if isinstance(error, (MergeFailed, UpdateFailed)):
            raise _taken_back(new, old, error, left) from error
        raise


def _stamp_model(new: Runtime) -> None:
    """Spare the new version's hooks the hashing of its model, 30 ms each, until the next `index`.

    A failure is no reason to stay with the old version: they are slower then, and as right.
    """
    verify = isolated(python_of(new.folder), "-m", "agentlas_memory", "model", "verify", "--json")
    run(verify, _STAMPING, environment=person_environment())


def settled(
    runtimes: Runtimes, runtime: Runtime, documents: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Note that the hosts are in line with a version."""
    History(runtimes).settle(runtime.id)
    return documents


def plan_hosts(runtimes: Runtimes, new: Runtime, names: Sequence[str] | None) -> HostFiles | None:
    """Keep what the hosts' files hold before a switch, as far as the new version would touch it."""
    if names is None:
        return None
    with step("look at the hosts"):
        return look_at_hosts(new.folder, runtimes.data_home, names)


def serve_from_here(data_home: Path) -> bool:
    """Let `current` lead to the environment that this program runs in; False when it did already.

    An update runs a version's own `install` with the lock held: by then there is nothing to do.
    """
    runtimes = Runtimes(data_home)
    environment = Path(sys.prefix)
    current = runtimes.current()
    if current is not None and current.folder.samefile(environment):
        return False
    refuse_folder(runtimes.folder)
    with update_lock(runtimes, _PATIENCE):
        own = environment.parent == runtimes.folder
        name = environment.name if own else str(environment)
        History(runtimes).add(name)
        switch_current(runtimes.folder, name)
    return True


def stop_serving(data_home: Path) -> None:
    """Forget an environment that is the person's own; a version that we built stays installed."""
    runtimes = Runtimes(data_home)
    current = runtimes.current()
    if current is not None and current.is_own:
        return
    if not runtimes.all():
        for name in (HISTORY, LOCK):
            (runtimes.folder / name).unlink(missing_ok=True)
    remove_current(runtimes.folder)


def settle_from_here(data_home: Path) -> None:
    """Note that the hosts were brought in line by hand with the version that this program is."""
    runtimes = Runtimes(data_home)
    current = runtimes.current()
    if current is not None and current.is_own and current.folder.samefile(sys.prefix):
        with suppress(StoreLocked), update_lock(runtimes, 0.0):  # an update notes it by itself
            History(runtimes).settle(current.id)


def _go_back(runtimes: Runtimes, old: Runtime | None) -> None:
    if old is None:
        remove_current(runtimes.folder)
        return
    History(runtimes).add(old.id)
    switch_current(runtimes.folder, old.id)
    History(runtimes).settle(old.id)


def _taken_back(
    new: Runtime, old: Runtime | None, error: Exception, left: Sequence[Path]
) -> UpdateFailed:
    who = f"version {old.version} is active again" if old else "no version is active, as before"
    files = "every host's file is as it was before"
    if left:
        files = f"these could not be put back: {', '.join(map(str, left))}"
    return UpdateFailed(
        f"Version {new.version} was activated, and taken back: {error}",
        "report this; `agentlas-memory doctor` checks what is there now",
        kept=f"It was rolled back: {who}, and {files}.",
    )
