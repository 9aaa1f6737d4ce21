"""`release.json`: what a release is made of, which is what its signature is over."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import sysconfig
from dataclasses import dataclass
from typing import Any

from agentlas_memory.installer.runtimes.trouble import UpdateRefused

FORMAT = 1
NAME = "agentlas-memory"
RELEASE, SIGNATURE, KEY = "release.json", "release.json.sig", "release-key.pub"
REQUIREMENTS = "requirements.txt"
LARGEST_FILE = 512 << 20  # bytes; as in install.sh
_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_AT_LEAST = re.compile(r">=\s*(\d+)\.(\d+)", re.ASCII)
_PATH = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*(/[A-Za-z0-9_+][A-Za-z0-9_.+-]*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class File:
    """One file of a bundle, as the release vouches for it."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Release:
    """A checked `release.json`; `sha256` is the digest of its own bytes."""

    version: str
    commit: str
    requires_python: str
    pythons: tuple[str, ...]
    platform: str
    wheel: str
    files: dict[str, File]
    model: dict[str, str]
    payloads: dict[str, str]
    sha256: str

    @property
    def pip(self) -> str:
        """The path of pip's wheel in the bundle."""
        return next(path for path in self.files if path.startswith("tools/pip-"))


def version_numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, which are what is compared; raise UpdateRefused."""
    if not _VERSION.fullmatch(version):
        raise UpdateRefused(f"{version[:40]!r} is no version of the form 1.2.3.")
    return tuple(map(int, version.split(".")))


def is_older(version: str, current: str) -> bool:
    """Compare two versions; a person's own environment may have one that cannot be compared."""
    if not _VERSION.fullmatch(current):
        return False
    return version_numbers(version) < version_numbers(current)


def read_release(data: bytes) -> Release:
    """Return what `release.json` says; raise UpdateRefused for anything it should not say."""
    try:
        values = json.loads(data)
        if values["format"] != FORMAT or values["name"] != NAME:
            raise UpdateRefused(
                f"{RELEASE} is of another format or program.", "take a newer install script"
            )
        release = _from(values, hashlib.sha256(data).hexdigest())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        told = repr(error)[:200]
        raise UpdateRefused(f"{RELEASE} does not say what a release says: {told}.") from error
    version_numbers(release.version)
    _check_paths(release)
    return release


def _from(values: dict[str, Any], digest: str) -> Release:
    return Release(
        version=str(values["version"]),
        commit=_word(values["commit"]),
        requires_python=_word(values["requires_python"]),
        pythons=tuple(map(_word, values["pythons"])),
        platform=_word(values["platform"]),
        wheel=f"wheels/{values['wheel']}",
        files={
            str(path): File(_digest(one["sha256"]), _size(one["size"]))
            for path, one in values["files"].items()
        },
        model={str(path): _digest(one) for path, one in values["model"].items()},
        payloads={str(path): _digest(one) for path, one in values["payloads"].items()},
        sha256=digest,
    )


def _digest(value: object) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ValueError("a digest that is none")
    return value


def _size(value: object) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST_FILE:
        raise ValueError("a size that is none")
    return value


def _word(value: object) -> str:
    """Return what is shown to people, perhaps before its signature is checked."""
    if (
        not isinstance(value, str)
        or len(value) > 100
        or not (value.isascii() and value.isprintable())
    ):
        raise ValueError("words that cannot be shown")
    return value


def _check_paths(release: Release) -> None:
    for path in (*release.files, *release.model, *release.payloads):
        if not _PATH.fullmatch(path):
            raise UpdateRefused(f"{RELEASE} names the file {path[:80]!r}, which is no plain path.")
    named = release.files.keys()
    tool = any(path.startswith("tools/pip-") for path in named)
    if release.wheel not in named or REQUIREMENTS not in named or not tool:
        raise UpdateRefused(f"{RELEASE} lacks the program's wheel, {REQUIREMENTS} or pip.")


def check_machine(release: Release, *, offline: bool) -> None:
    """Raise UpdateRefused where the release is for another Python or another machine."""
    here = "{}.{}".format(*sys.version_info)
    oldest = _AT_LEAST.match(release.requires_python)
    if oldest and sys.version_info[:2] < tuple(map(int, oldest.groups())):
        raise UpdateRefused(
            f"{release.version} needs Python {release.requires_python}, this is {here}.",
            "run its install.sh with a newer Python",
        )
    if not release.pythons:
        if offline:
            raise UpdateRefused(
                "This bundle carries no wheels, and nothing is contacted here.",
                "take the full bundle, or run the install.sh of this one",
            )
        return
    if here not in release.pythons or not _same_machine(release.platform):
        raise UpdateRefused(
            f"This bundle is for Python {', '.join(release.pythons)} on {release.platform}; "
            f"this is {here} on {sysconfig.get_platform()}.",
            "take the bundle for this machine, or run its install.sh with another Python",
        )


def _same_machine(name: str) -> bool:
    """Tell whether wheels for `name` run here; macOS's names hold the system they were built on."""
    here = sysconfig.get_platform()
    if here.startswith("macosx") and name.startswith("macosx"):
        return name.rpartition("-")[2] in (platform.machine(), "universal2")
    return name == here
