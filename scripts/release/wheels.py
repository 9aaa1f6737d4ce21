"""Our own wheel, and those of everything it needs, for each Python that the bundle is for."""

import platform
import sys
from pathlib import Path
from typing import NamedTuple

from packaging.markers import default_environment
from packaging.requirements import Requirement

from release.source import Source
from release.tools import LOCK as TOOLS_LOCK
from release.tools import run_quietly

OLDEST_GLIBC = 28  # 2.28 of 2018: what the wheels of numpy and cryptography ask for


class Pin(NamedTuple):
    """One dependency of a lock: what it is, and its lines as they stand there."""

    requirement: Requirement
    text: str


def build_wheel(source: Source, into: Path) -> Path:
    """Build our wheel; two builds of one source are the same bytes."""
    stated = {"SOURCE_DATE_EPOCH": str(source.time), "TZ": "UTC", "LC_ALL": "C"}
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(into)]
    _pip("wheel", *options, str(source.folder), **stated)
    [wheel] = into.glob("agentlas_memory-*.whl")
    return wheel


def read_lock(path: Path) -> list[Pin]:
    """Return what a lock pins, each with its digests."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    texts = "\n".join(lines).replace("\\\n", "\\\0").splitlines()
    pins = [text.replace("\0", "\n") for text in texts if text.strip()]
    return [Pin(Requirement(text.partition("\\\n")[0]), text) for text in pins]


def pins_for(python: str, pins: list[Pin]) -> list[Pin]:
    """Return the pins that count on Python X.Y on this platform."""
    full = f"{python}.0"
    there = {"python_version": python, "python_full_version": full, "implementation_version": full}
    environment = {**default_environment(), **there}
    return [
        pin
        for pin in pins
        if pin.requirement.marker is None or pin.requirement.marker.evaluate(environment)
    ]


def fetch_dependencies(lock: Path, pythons: list[str], into: Path, scratch: Path) -> None:
    """Download the wheels that the lock pins for these Pythons; other bytes are refused by pip."""
    pins = read_lock(lock)
    for python in pythons:
        options = ["--python-version", python, *_platforms()]
        _download(pins_for(python, pins), into, scratch, *options)


def _platforms() -> list[str]:
    """Return pip's options for wheels that run on older systems than this one, too."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return []
    machine = platform.machine()
    names = [f"manylinux_2_{minor}_{machine}" for minor in range(OLDEST_GLIBC, 16, -1)]
    return [f"--platform={name}" for name in (*names, f"manylinux2014_{machine}")]


def fetch_pip(into: Path, scratch: Path) -> None:
    """Download the pip that installs the wheels."""
    pins = [pin for pin in read_lock(TOOLS_LOCK) if pin.requirement.name == "pip"]
    _download(pins, into, scratch)


def _download(pins: list[Pin], into: Path, scratch: Path, *options: str) -> None:
    into.mkdir(exist_ok=True)
    wanted = scratch / "wanted.txt"
    # Markers were evaluated for the target: pip would evaluate them for the Python it runs on.
    wanted.write_text("\n".join(pin.text.replace(_marker(pin), " ") for pin in pins) + "\n")
    exact = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(into)]
    _pip("download", *exact, *options, "--requirement", str(wanted))


def _marker(pin: Pin) -> str:
    """Return the marker as the lock writes it, or a blank."""
    head = pin.text.partition("\\\n")[0]
    return head[head.index(";") :] if ";" in head else " "


def _pip(*arguments: str, **environment: str) -> None:
    run_quietly([sys.executable, "-m", "pip", "--quiet", "--no-input", *arguments], **environment)
