"""Where things are in a Python environment, on POSIX and on Windows."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

WINDOWS = os.name == "nt"
_PATCH = re.compile(r"(?<![\d.])(3\.\d+)\.\d+(?![\d.])")
_CELLAR = re.compile(r"/Cellar/(python@[\d.]+)/[^/]+/")


def base_python() -> Path:
    """Return the real interpreter behind this one: no environment, and no shim."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return steady(Path(os.path.realpath(base)))


def steady(python: Path) -> Path:
    """Return the name of an interpreter that outlives its next patch release, if it has one.

    Homebrew and uv put each patch release into a folder of its own and remove the old one; a link
    beside it leads to what there is of 3.12, say.
    """
    minor = _PATCH.sub(r"\1", str(python))  # .../cpython-3.12.7-linux/... of uv
    brewed = _CELLAR.sub(r"/opt/\1/", str(python))  # /opt/homebrew/Cellar/python@3.12/3.12.7/...
    for name in map(Path, (brewed, minor)):
        if name != python and name.exists() and name.samefile(python):
            return name
    return python


def programs_of(environment: Path) -> Path:
    """Return the folder of an environment's programs."""
    return environment / ("Scripts" if WINDOWS else "bin")


def python_of(environment: Path) -> Path:
    """Return an environment's interpreter."""
    return programs_of(environment) / ("python.exe" if WINDOWS else "python3")


def hook_of(environment: Path) -> Path:
    """Return an environment's hook."""
    return programs_of(environment) / "agentlas-memory-hook"


def packages_of(environment: Path) -> Path:
    """Return the folder of an environment's packages, wherever its Python puts them."""
    if WINDOWS:
        return environment / "Lib" / "site-packages"
    found = sorted(environment.glob("lib/python3*/site-packages"))
    return found[0] if found else environment / "lib" / "site-packages"
