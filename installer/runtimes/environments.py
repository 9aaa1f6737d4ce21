"""Where things are in a Python environment, on POSIX and on Windows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

WINDOWS = os.name == "nt"


def base_python() -> Path:
    """Return the real interpreter behind this one: no environment, and no link that may move."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return Path(os.path.realpath(base))


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
