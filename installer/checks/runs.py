"""Running what is registered as the host would: its shell, hardly any environment, an event."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agentlas_memory.installer.checks import Check, Status
from agentlas_memory.installer.checks.entries import trouble_of
from agentlas_memory.installer.files import read_text
from agentlas_memory.installer.plan import Record
from agentlas_memory.installer.starts import Start
from agentlas_memory.installer.surfaces import HostSpec

_SECONDS = 5.0  # what most hosts give a hook
_SLOW = 0.3  # seconds: a person would feel it


class Sample(NamedTuple):
    """A home with a project in it that is trusted, and a word that every answer about it holds."""

    home: Path
    project: Path
    word: str

    @property
    def data_home(self) -> Path:
        """The folder of our own data in that home."""
        return self.home / ".agentlas"


class Ran(NamedTuple):
    """How a command ended, as a host would see it."""

    code: int
    output: bytes
    errors: bytes
    seconds: float


def commands_of(spec: HostSpec, records: Sequence[Record]) -> list[str]:
    """Return the commands that are registered, of files that still are exactly ours."""
    found: list[str] = []
    for record in records:
        if record["kind"] in ("file", "json") and not trouble_of(record):
            name = record["path"].rpartition(".")[2]
            if name in ("json", "js"):
                found += spec.commands_in(read_text(Path(record["path"])) or "")
    return list(dict.fromkeys(found))


def check_runs(spec: HostSpec, records: Sequence[Record], sample: Sample) -> Iterator[Check]:
    """Run each registered command on a project that it must know something of."""
    if os.name == "nt":
        yield Check("run", spec.name, "warning", "commands are not tried on Windows")
        return
    for number, command in enumerate(commands_of(spec, records)):
        start = spec.start(command, sample.project)
        event = start.event.replace(b'"doctor"', f'"doctor {number}"'.encode())
        ran = _run(start, event, sample)
        if not (ran.code or ran.errors or spec.heard(ran.output, sample.data_home)):
            ran = _run(start, event, sample)  # a machine out of breath reaches the deadline
        yield _judge(spec, ran, sample)


def _run(start: Start, event: bytes, sample: Sample) -> Ran:
    # What an earlier run left for a model to read is no answer of this one.
    shutil.rmtree(sample.data_home / "runtime-memory-context", ignore_errors=True)
    began = time.monotonic()
    folder = start.folder if start.folder.is_dir() else sample.project
    try:
        process = subprocess.Popen(
            start.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={"HOME": str(sample.home), "PATH": os.defpath},
            start_new_session=True,
        )
    except OSError as error:
        return Ran(127, b"", str(error).encode(), time.monotonic() - began)
    try:
        output, errors = process.communicate(event, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        errors = errors or f"no answer within {_SECONDS:.0f} seconds".encode()
    return Ran(process.returncode, output, errors, time.monotonic() - began)


def _judge(spec: HostSpec, ran: Ran, sample: Sample) -> Check:
    heard = spec.heard(ran.output, sample.data_home)
    if ran.code == 0 and not ran.errors and sample.word in heard:
        status: Status = "ok" if ran.seconds < _SLOW else "warning"
        fix = "" if status == "ok" else "try again when the machine is less busy"
        return Check("run", spec.name, status, f"answers in {1000 * ran.seconds:.0f} ms", fix)
    again = "agentlas-memory install; AGENTLAS_MEMORY_HOOK_DEBUG=1 shows more"
    return Check("run", spec.name, "failed", _what_went_wrong(ran, sample), again)


def _what_went_wrong(ran: Ran, sample: Sample) -> str:
    if ran.code or ran.errors:
        told = (ran.errors or ran.output)[:200].decode("utf-8", "replace").strip()
        return f"exit code {ran.code}: {told}"
    if ran.output:
        told = ran.output[:200].decode("utf-8", "replace")
        return f"an answer that the host does not take: {told!r}"
    log = sample.data_home / "state" / "hook.log"
    lines = log.read_text("utf-8", "replace").splitlines() if log.is_file() else []
    return "silent on a project that it should know" + (f": {lines[-1]}" if lines else "")
