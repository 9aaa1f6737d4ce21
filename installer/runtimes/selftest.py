"""Does a version answer? Asked of its hook before it is anybody's, in a home of its own."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from agentlas_memory.installer.hosts import HOSTS
from agentlas_memory.installer.runtimes.children import Ran, isolated, last_words, run
from agentlas_memory.installer.runtimes.environments import hook_of, python_of
from agentlas_memory.installer.runtimes.trouble import UpdateFailed

_FACT = "the ledger counts money in integer minor units"
_DOCUMENT = f"# Ledger\n\nSince floats lose cents, {_FACT}, never in floats.\n"
_QUESTION = "why does the ledger count money in integer minor units?"
_SILENT = (b"", b"{}")
_ASKING, _FILLING = 10.0, 120.0  # seconds; a machine may be busy while it updates


def self_test(environment: Path, room: Path) -> None:
    """Fill a small store with a version's own program and ask its hook; raise UpdateFailed.

    The home and the project for it are made in `room`.
    """
    with tempfile.TemporaryDirectory(prefix="self-test-", dir=room) as name:
        scene = _Scene(environment, Path(os.path.realpath(name)))
        scene.fill()
        scene.ask_known()
        for host in HOSTS:
            scene.ask_elsewhere(host)


class _Scene:
    """A home, a project in it, and a folder that is no project."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self._runtime = environment
        self._home, self._project = folder / "home", folder / "home" / "project"
        self._elsewhere = folder / "elsewhere"
        for one in (self._home, self._project, self._elsewhere):
            one.mkdir(mode=0o700)
        self._environment = {"HOME": str(self._home), "PATH": os.defpath}
        for name in ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):  # Python may need them
            if name in os.environ:
                self._environment[name] = os.environ[name]

    def fill(self) -> None:
        (self._project / "ledger.md").write_text(_DOCUMENT, "utf-8")
        for word in ("init", "index"):
            program = isolated(python_of(self._runtime), "-m", "agentlas_memory", word)
            ran = run(
                [*program, "--project", self._project],
                _FILLING,
                environment=self._environment,
                folder=self._elsewhere,
            )
            if ran.code != 0:
                raise _failed(f"`agentlas-memory {word}`", ran)

    def ask_known(self) -> None:
        ran = self._ask("claude", self._project)
        if ran.code != 0 or ran.errors or _FACT.encode() not in ran.output:
            raise _failed("the hook, asked what it knows,", ran)

    def ask_elsewhere(self, host: str) -> None:
        ran = self._ask(host, self._elsewhere)
        if ran.code != 0 or ran.errors or ran.output.strip() not in _SILENT:
            raise _failed(f"the hook for {host}, asked where nothing is known,", ran)

    def _ask(self, host: str, folder: Path) -> Ran:
        event = {
            "hook_event_name": "UserPromptSubmit",
            "hookEventName": "user_prompt_submit",
            "session_id": "self-test",
            "cwd": str(folder),
            "prompt": _QUESTION,
        }
        command: list[str | Path] = [hook_of(self._runtime), "--host", host]
        if os.name == "nt":
            command = isolated(python_of(self._runtime), "-S", *command)
        return run(
            command,
            _ASKING,
            environment=self._environment,
            event=json.dumps(event).encode(),
            folder=folder,
        )


def _failed(who: str, ran: Ran) -> UpdateFailed:
    return UpdateFailed(
        f"The self-test of the new version failed: {who} ended with {last_words(ran)}",
        "report this; the version that was active keeps serving",
    )
