"""What `doctor` checks of the stores that this machine's user said yes to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentlas_memory.commands.errors import command_line
from agentlas_memory.commands.output import counted
from agentlas_memory.commands.standing import is_trusted, store_state
from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.checks.holders import lock_holders
from agentlas_memory.installer.checks.mounts import network_file_system
from agentlas_memory.installer.surfaces import Place
from agentlas_memory.private_json import BrokenFile
from agentlas_memory.project import DATABASE, Project
from agentlas_memory.trust_file import read_trust_file

HEALED_BY_INDEX = ("damaged", "interrupted")


def check_stores(place: Place) -> Iterator[Check]:
    """Look at each project's store: whether it opens, who locks it, and what disk it lies on."""
    try:
        roots = trusted_roots(place)
    except (BrokenFile, OSError) as error:
        fix = "repair the file; or move it away, then agentlas-memory trust in each project"
        yield Check("stores", "", "failed", str(error), fix)
        return
    troubles = [check for root in roots for check in _check_store(root)]
    yield from troubles
    if not any(check.id == "store" for check in troubles):
        told = f"{counted(len(roots), 'store')} of projects that you said yes to"
        none = "no project that you said yes to has a store"
        yield Check("stores", "", "ok", told if roots else none)
    yield from _check_disk(place.data_home, "our own folder")


def trusted_roots(place: Place) -> list[Path]:
    """Return the folders of trusted projects that have a store; raise BrokenFile."""
    entries = read_trust_file(str(place.data_home))
    paths = (entry.get("path") for entry in entries if isinstance(entry, dict))
    roots = [Path(path) for path in paths if isinstance(path, str)]
    return [root for root in roots if root.is_absolute() and (root / DATABASE).is_file()]


def _check_store(root: Path) -> Iterator[Check]:
    database = root / DATABASE
    state, reason = store_state(str(database))
    if state == "locked":
        holders = ", ".join(lock_holders(database)) or "another process"
        told = f"{database}: locked by {holders}"
        yield Check("store", "", "warning", told, "wait until it is done, or end it")
    elif state == "newer":
        yield Check("store", "", "warning", f"{database}: {reason}", "update this program")
    elif state != "ok":
        told = f"{database} is {state}: {reason}"
        yield Check("store", "", "failed", told, _remedy(root, state))
    elif not is_trusted(Project(str(root), str(root))):
        told = f"{database} is not trusted as it is now: memory is silent there"
        yield Check("store", "", "failed", told, command_line("trust", str(root)))
    yield from _check_disk(database, "the store")


def _remedy(root: Path, state: str) -> str:
    index = command_line("index", str(root))
    if state in HEALED_BY_INDEX:
        return index
    return f"move it away, then {index}" if state == "foreign" else "check its permissions"


def _check_disk(path: Path, what: str) -> Iterator[Check]:
    if name := network_file_system(path):
        told = f"{path} lies on {name}: locks of {what} may not hold between machines"
        yield Check("file-system", "", "warning", told, "keep it on a local disk")
