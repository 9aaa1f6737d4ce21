"""What `doctor` checks: our own files, and each host as it would run us."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from agentlas_memory.installer.files import Untouchable, digest, read_text
from agentlas_memory.installer.formats import Unparsable
from agentlas_memory.installer.formats.json_entry import read_entry
from agentlas_memory.installer.ledger import Ledger
from agentlas_memory.installer.plan import Record
from agentlas_memory.installer.surfaces import Detected, HostSpec, Place

Status = Literal["ok", "warning", "failed"]
_SECONDS = 5.0  # what most hosts give a hook
_SLOW = 0.3  # seconds: a person would feel it


class Check(NamedTuple):
    """One thing that was looked at; `fix` is what to do where it is not ok."""

    id: str
    host: str
    status: Status
    detail: str
    fix: str = ""


def check_runtime(place: Place) -> Iterator[Check]:
    """Look at what every host needs: the program, the interpreter, SQLite."""
    hook = place.hook
    if not hook.exists():
        yield Check("hook", "", "failed", f"{hook} is missing", "agentlas-memory install")
    elif not (hook.parent / "python3").exists():
        yield Check(
            "hook",
            "",
            "failed",
            f"the interpreter is missing: {_interpreter(hook.parent / 'python3')}",
            "put that Python back, or run install.sh (or install, from a new environment) again",
        )
    else:
        yield Check("hook", "", "ok", f"{hook.resolve()}, Python {sys.version.split()[0]}")
    yield _check_fts5()


def _interpreter(link: Path) -> Path:
    """Follow links as far as they lead: the last one names what is gone."""
    while link.is_symlink():
        link = link.parent / link.readlink()
    return link


def _check_fts5() -> Check:
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    except sqlite3.OperationalError:
        return Check(
            "sqlite",
            "",
            "warning",
            "this Python's SQLite lacks FTS5: recall scans texts",
            "use a Python that has it",
        )
    return Check("sqlite", "", "ok", f"SQLite {sqlite3.sqlite_version} with FTS5")


def check_host(spec: HostSpec, ledger: Ledger, detected: Detected | None) -> Iterator[Check]:
    """Look at one host: its version, and whether what we put there still stands."""
    records = ledger.records(spec.name)
    if detected is None:
        if records:
            yield Check(
                "host",
                spec.name,
                "warning",
                f"{spec.title} is not found any more",
                f"agentlas-memory uninstall --host {spec.name}",
            )
        return
    if not records:
        yield Check(
            "installed",
            spec.name,
            "warning",
            f"the hook is not in {spec.title}",
            f"agentlas-memory install --host {spec.name}",
        )
        return
    yield _check_version(spec, detected)
    again = f"agentlas-memory install --host {spec.name}"
    for record in records:
        trouble = _trouble(record)
        if trouble:
            yield Check("entry", spec.name, "failed", trouble, again)
        elif record["kind"] != "commands":
            yield Check("entry", spec.name, "ok", record["path"])


def check_doubles(spec: HostSpec, ledger: Ledger) -> Iterator[Check]:
    """Look for the hook in a settings file beside what we put there: both would be run."""
    records = ledger.records(spec.name)
    ours = {record.get("path") for record in records}
    folders = [Path(home) for record in records for home in record.get("homes", ())]
    folders += [Path(record["path"]).parent for record in records if record["kind"] == "file"]
    for file in sorted({file for folder in folders for file in _settings_in(folder)}):
        if str(file) not in ours and _mentions_hook(file):
            yield Check(
                "double",
                spec.name,
                "warning",
                f"{file} names the hook too: it would run twice",
                "take it out of that file",
            )


def _settings_in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        for pattern in ("*.json", "*.toml", "*.js", "*.ts"):
            yield from folder.glob(pattern)


def _mentions_hook(file: Path) -> bool:
    try:
        text = read_text(file)
    except Untouchable:
        return False
    return text is not None and "agentlas-memory-hook" in text


def _check_version(spec: HostSpec, detected: Detected) -> Check:
    version = detected.version
    if not version:
        told = f"its version could not be asked; {spec.verified} was tested"
        return Check("version", spec.name, "warning", told)
    if _numbers(version) and _numbers(version) < _numbers(spec.oldest):
        return Check(
            "version",
            spec.name,
            "failed",
            f"{version} has no such hooks; they came with {spec.oldest}",
            "update the host",
        )
    if version != spec.verified:
        return Check(
            "version", spec.name, "warning", f"{version} is unverified; {spec.verified} was tested"
        )
    return Check("version", spec.name, "ok", version)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("-")[0].split(".") if part.isdigit()]


def _trouble(record: Record) -> str:
    """Return what is wrong with something that we put there, blank for nothing."""
    if record["kind"] == "commands":
        return ""
    path = Path(record["path"])
    try:
        text = read_text(path)
        if text is None:
            return f"{path} is gone"
        return "" if _stands(record, text) else f"{path} does not say what we put there"
    except (Untouchable, Unparsable) as error:
        return f"{path}: {error}"


def _stands(record: Record, text: str) -> bool:
    if record["kind"] == "file":
        return bool(digest(text) == record["sha256"])
    if record["kind"] == "json":
        value = read_entry(text, record["key"])
        return bool(digest(json.dumps(value, sort_keys=True)) == record["sha256"])
    begin, end = text.find(record["begin"]), text.find(record["end"])
    return 0 <= begin < end


class Ran(NamedTuple):
    """How one command ended: as a host would see it."""

    code: int
    output: bytes
    errors: bytes
    seconds: float


def run_as_host(command: str, event: bytes, home: Path) -> Ran:
    """Run a registered command by `sh -c`, with an event, and hardly any environment."""
    shell = shutil.which("sh") or "/bin/sh"
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [shell, "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={"HOME": str(home), "PATH": os.defpath},
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(event, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
    return Ran(process.returncode, output, errors, time.monotonic() - started)


def judge_run(spec: HostSpec, ran: Ran, empty: Sequence[bytes]) -> Check:
    """Return what a run says of a host: no project there, so the answer must be the empty one."""
    if ran.code != 0 or ran.errors or ran.output.strip() not in empty:
        told = (ran.errors or ran.output)[:200].decode("utf-8", "replace")
        return Check(
            "run",
            spec.name,
            "failed",
            f"exit code {ran.code}: {told!r}",
            "agentlas-memory install; look into ~/.agentlas/state/hook.log",
        )
    status: Status = "ok" if ran.seconds < _SLOW else "warning"
    return Check("run", spec.name, status, f"silent in {1000 * ran.seconds:.0f} ms")


def commands_of(records: Sequence[Record]) -> list[str]:
    """Return the shell commands that are registered, of what still is exactly ours."""
    found: list[str] = []
    for record in records:
        if record["kind"] == "commands" or _trouble(record):
            continue
        text = read_text(Path(record["path"])) or ""
        if record["kind"] == "json":
            found += _commands_in(read_entry(text, record["key"]))
        elif record["path"].endswith(".json"):
            found += _commands_in(json.loads(text))
    return list(dict.fromkeys(found))


def _commands_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        command = value.get("command")
        if isinstance(command, str) and "agentlas-memory-hook" in command:
            yield command
        for one in value.values():
            yield from _commands_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from _commands_in(one)
