"""The installed programs that are measured, and what is around them."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

LOADED = 1.5  # runnable processes a core; above, medians drift by more than 10 %
INSTALL_ADVICE = "pip install . in a virtual environment of its own, and run its agentlas-memory"


class NotInstalled(Exception):
    """This interpreter does not run the package from an installed wheel."""


def installed_program(name: str) -> Path:
    """Return a program of ours beside the running interpreter; raise NotInstalled.

    An editable installation is refused: its import finder costs more than the whole hook (9 ms).
    """
    try:
        origin = distribution("agentlas-memory").read_text("direct_url.json") or "{}"
    except PackageNotFoundError:
        raise NotInstalled("agentlas-memory is not installed here") from None
    if json.loads(origin).get("dir_info", {}).get("editable"):
        raise NotInstalled("this is an editable installation")
    program = Path(sys.prefix, "bin", name)
    if not os.access(program, os.X_OK):
        raise NotInstalled(f"{program} is missing")
    return program


def real_interpreter() -> str:
    """Return the interpreter itself: no environment's link, no version manager's shim."""
    return os.path.realpath(sys.executable)


def load_warning() -> str:
    """Return a sentence when the machine is too busy for fine figures, blank otherwise."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    if load <= LOADED * cores:
        return ""
    return f"the machine is busy (load {load:.1f} on {cores} cores): expect higher, noisier figures"


def clean_environment(home: Path) -> dict[str, str]:
    """Return the environment of a measured process: a home of its own and no settings of ours."""
    return {
        "HOME": str(home),
        "AGENTLAS_HOME": str(home / ".agentlas"),
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
    }
