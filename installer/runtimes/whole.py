"""Is the release that is to be installed here already, and whole? Then nothing is built."""

from __future__ import annotations

import base64
import csv
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from agentlas_memory.installer.runtimes.build import PROGRAM, check_contents, program_text
from agentlas_memory.installer.runtimes.environments import (
    WINDOWS,
    base_python,
    packages_of,
    programs_of,
)
from agentlas_memory.installer.runtimes.layout import Runtime, Runtimes
from agentlas_memory.installer.runtimes.release import Release
from agentlas_memory.installer.runtimes.selftest import self_test
from agentlas_memory.installer.runtimes.steps import step
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused


def find_whole(runtimes: Runtimes, release: Release, room: Path) -> Runtime | None:
    """Return a version of this very release, on this Python, that is whole; the current one first.

    Each is tried as a new one is; of a damaged one it is told what is wrong.
    """
    for runtime in _same(runtimes, release):
        try:
            with step(f"look at {runtime.id}, which is here"):
                _check(runtime.folder, release)
                self_test(runtime.folder, room)
        except (UpdateFailed, ValueError) as error:
            print(f"  {runtime.id} is damaged, and built anew: {error}", file=sys.stderr)
        else:
            return runtime
    return None


def _same(runtimes: Runtimes, release: Release) -> list[Runtime]:
    current = runtimes.current()
    found = [
        one
        for one in runtimes.all()
        if one.facts.get("release_sha256") == release.sha256
        and one.facts.get("python") == str(base_python())
    ]
    return sorted(found, key=lambda one: current is None or one.id != current.id)


def _check(folder: Path, release: Release) -> None:
    """Compare what is installed with the release, and with what pip noted of each package."""
    check_contents(folder, release)
    packages = packages_of(folder)
    for record in sorted(packages.glob("*.dist-info/RECORD")):
        for name, digest in _recorded(record):
            if _digest(packages / name) != digest:
                raise UpdateRefused(f"{name} is not what was installed.")
    program = programs_of(folder) / PROGRAM
    if not WINDOWS and program.read_bytes() != program_text():
        raise UpdateRefused(f"{program} is not what was installed.")


def _recorded(record: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of a package and their digests; pip's own command was replaced by ours."""
    with record.open(encoding="utf-8", newline="") as file:
        for name, digest, _size in csv.reader(file):
            if digest and not name.endswith(f"/bin/{PROGRAM}"):
                yield name, digest


def _digest(path: Path) -> str:
    if not path.is_file():
        return "gone"
    digest = hashlib.sha256(path.read_bytes()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
