"""The one routine behind the install script and `update`: check, build aside, test, switch."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentlas_memory.installer.runtimes.activate import activate, plan_hosts
from agentlas_memory.installer.runtimes.build import build, new_folder
from agentlas_memory.installer.runtimes.children import StoreLocked, update_lock
from agentlas_memory.installer.runtimes.environments import base_python
from agentlas_memory.installer.runtimes.layout import STAGING, Runtime, Runtimes, write_facts
from agentlas_memory.installer.runtimes.pointer import refuse_folder
from agentlas_memory.installer.runtimes.prune import prune
from agentlas_memory.installer.runtimes.release import Release, is_older
from agentlas_memory.installer.runtimes.selftest import self_test
from agentlas_memory.installer.runtimes.source import Source, take_files
from agentlas_memory.installer.runtimes.steps import step
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused
from agentlas_memory.installer.runtimes.whole import find_whole
from agentlas_memory.installer.surfaces import Place

PATIENCE = 180.0  # seconds; another update, or what a killed one started, ends within that
Fetch = Callable[[Path], Source]  # a folder of ours -> the bundle, fetched into it if need be


@dataclass
class Outcome:
    """What an installation did."""

    version: str
    id: str
    previous: str
    built: bool = True
    hosts: list[dict[str, Any]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


def check_version(version: str, runtimes: Runtimes) -> None:
    """Raise UpdateRefused for a version older than the current one."""
    current = runtimes.current()
    if current is not None and is_older(version, current.version):
        raise UpdateRefused(
            f"{version} is older than the current version {current.version}.",
            "`agentlas-memory rollback` goes back to the version before",
        )


def install(
    place: Place,
    release: Release,
    fetch: Fetch,
    names: Sequence[str] | None,
    *,
    vouch: Callable[[Path], None] = lambda folder: None,
    needless: Callable[[], bool] = lambda: False,
) -> Outcome | None:
    """Let a release serve, built and tested; None where `needless` says so under the lock.

    One that is here already, and whole, is not built again. `vouch` is given the environment and
    raises where the release's signature does not hold.
    """
    runtimes = Runtimes(place.data_home)
    with locked(runtimes):
        if needless():
            return None
        check_version(release.version, runtimes)
        previous = runtimes.current()
        with step("clear leftovers"):
            refuse_folder(runtimes.folder)
            runtimes.clear_leftovers()
        with staging(runtimes) as room:
            new = find_whole(runtimes, release, room)
            built = new is None
            if new is not None:
                vouch(new.folder)
                files = plan_hosts(runtimes, new, names)
            else:
                with _built(runtimes, release, fetch, room, vouch) as new:
                    files = plan_hosts(runtimes, new, names)
        outcome = Outcome(new.version, new.id, previous.version if previous else "", built)
        outcome.hosts = activate(runtimes, new, names, files)
        outcome.removed = prune(runtimes)
        return outcome


@contextmanager
def _built(
    runtimes: Runtimes, release: Release, fetch: Fetch, room: Path, vouch: Callable[[Path], None]
) -> Iterator[Runtime]:
    """Have a release built, tested and marked as whole; if what follows fails, it goes again."""
    with step("fetch the bundle"):
        source = fetch(room)
    with step("check every digest"):
        take_files(source, release.files, room / "files")
    with new_folder(runtimes, release.version) as folder:
        build(release, room / "files", folder)
        vouch(folder)
        with step("self-test"):
            self_test(folder, room)
        with step("mark it whole"):
            write_facts(folder, _facts(release, folder))
            if hasattr(os, "sync"):
                os.sync()  # a power cut after the switch must not find empty files
        yield runtimes.get(folder.name)


@contextmanager
def locked(runtimes: Runtimes) -> Iterator[None]:
    """Hold the lock of updates, or say who does."""
    with ExitStack() as stack:
        with step("take the lock"):
            try:
                stack.enter_context(update_lock(runtimes, PATIENCE))
            except StoreLocked as error:
                raise UpdateFailed(
                    f"Another update is at work: {error}.", "try again when it is done"
                ) from error
        yield


@contextmanager
def staging(runtimes: Runtimes) -> Iterator[Path]:
    """Have a folder of ours: for the bundle's files, and for the self-test's home.

    Whatever becomes of where the bundle came from, what was checked is here; and what a kill leaves
    of it, the next update finds and removes.
    """
    folder = runtimes.folder / STAGING
    with step("make room"):
        folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _facts(release: Release, folder: Path) -> dict[str, str]:
    return {
        "version": release.version,
        "id": folder.name,
        "python": str(base_python()),
        "commit": release.commit,
        "installed": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "release_sha256": release.sha256,
    }
