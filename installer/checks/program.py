"""What every host needs of us: the launcher, an interpreter that runs, SQLite with FTS5."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.surfaces import Place

_AGAIN = "agentlas-memory install"
_PUT_BACK = "put that Python back, or run install.sh (or install, from a new environment) again"
_SECONDS = 10.0
_PROBE = """
import sys, _sqlite3
connection = _sqlite3.connect(":memory:")
try:
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    fts5 = True
except _sqlite3.OperationalError:
    fts5 = False
version = ".".join(map(str, sys.version_info[:3]))
sqlite = connection.execute("SELECT sqlite_version()").fetchone()[0]
print('{"version": "%s", "sqlite": "%s", "fts5": %s}' % (version, sqlite, str(fts5).lower()))
"""


def check_program(place: Place) -> Iterator[Check]:
    """Look at the hook's launcher and, by running it, at the interpreter beside it."""
    hook = place.hook
    if not hook.exists():
        yield Check("hook", "", "failed", f"{hook} is missing{_leads_nowhere(place)}", _AGAIN)
        return
    if not os.access(hook, os.X_OK):
        yield Check("hook", "", "failed", f"{hook} may not be run", _AGAIN)
        return
    yield Check("hook", "", "ok", str(hook.resolve()))
    yield from _check_interpreter(hook.parent / "python3")


def _leads_nowhere(place: Place) -> str:
    current = place.data_home / "runtime" / "current"
    if current.is_symlink() and not current.exists():
        return f": {current} leads to {current.readlink()}, which is gone"
    return ""


def _check_interpreter(python: Path) -> Iterator[Check]:
    if not python.exists():
        yield Check("interpreter", "", "failed", _missing(python), _PUT_BACK)
        return
    answer = _ask(python)
    if isinstance(answer, str):
        told = f"{python.resolve()} does not run: {answer}"
        yield Check("interpreter", "", "failed", told, _PUT_BACK)
        return
    yield Check("interpreter", "", "ok", f"{python.resolve()}, Python {answer['version']}")
    if answer["fts5"]:
        yield Check("sqlite", "", "ok", f"SQLite {answer['sqlite']} with FTS5")
    else:
        told = f"SQLite {answer['sqlite']} lacks FTS5: recall scans texts"
        yield Check("sqlite", "", "warning", told, "use a Python that has it")


def _missing(python: Path) -> str:
    """Name what is gone: the last link of the chain is what a person removed."""
    end = python
    while end.is_symlink():
        end = end.parent / end.readlink()
    return f"the interpreter {end} is missing" + (f", to which {python} leads" * (end != python))


def _ask(python: Path) -> dict[str, Any] | str:
    """Return what the interpreter tells of itself, or why it does not."""
    command = [str(python), "-I", "-S", "-c", _PROBE]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS
        )
        answer = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    except ValueError:
        told = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        return told[-1][:200] if told else f"exit code {done.returncode}"
    return answer if isinstance(answer, dict) else "it tells nothing of itself"
