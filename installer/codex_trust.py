"""Codex's trust in our hooks: asked from Codex itself, and given only when the person says so.

Codex skips a hook that is new or changed without a word. Its own `app-server` tells how each one
stands and takes the answer that a person gives in its `/hooks` screen; the hashes are its affair.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentlas_memory.home import CHILD_VARIABLE
from agentlas_memory.installer.marketplace import PLUGIN_ID

_SECONDS = 20.0  # for a whole conversation; it takes less than one
_GRACE = 2.0


class TrustUnknown(Exception):
    """Codex did not tell, or did not take what it was told; the text says why."""


@dataclass(frozen=True, slots=True)
class HookTrust:
    """How one of our hooks stands with Codex: untrusted, trusted, modified or managed."""

    key: str
    status: str
    current_hash: str
    enabled: bool


def read_trust(
    program: str, environment: Mapping[str, str], seconds: float = _SECONDS
) -> list[HookTrust]:
    """Return how our hooks stand, none where the plugin is not installed; raise TrustUnknown."""
    with _conversation(program, environment, seconds) as codex:
        return _ours(codex)


def set_trust(
    program: str, environment: Mapping[str, str], seconds: float = _SECONDS
) -> list[HookTrust]:
    """Have Codex trust our hooks as they are now, and return how they stand then.

    Only for a person who has asked for it in so many words.
    """
    with _conversation(program, environment, seconds) as codex:
        hooks = [hook for hook in _ours(codex) if hook.status in ("untrusted", "modified")]
        hashes = {hook.key: {"trusted_hash": hook.current_hash} for hook in hooks}
        if hashes:
            _write(codex, [("hooks.state", hashes, "upsert")])
        return _ours(codex)


def forget_trust(
    program: str, environment: Mapping[str, str], seconds: float = _SECONDS
) -> list[str]:
    """Have Codex forget what it was told of our hooks, and return their keys.

    Works with the plugin installed or not: removing it leaves these entries in Codex's settings.
    """
    with _conversation(program, environment, seconds) as codex:
        state = _state(codex)
        ours = [key for key in state if key.startswith(f"{PLUGIN_ID}:")]
        names = [f"hooks.state.{json.dumps(key)}" for key in ours]
        if names and len(names) == len(state):
            names = ["hooks.state"]  # or an empty table would stay
        if names:
            _write(codex, [(name, None, "replace") for name in names])
        return ours


def _state(codex: _AppServer) -> dict[str, Any]:
    """Return what Codex keeps of all hooks, by their keys."""
    answer = codex.ask("config/read", {"includeLayers": False})
    try:
        return dict((answer["config"].get("hooks") or {}).get("state") or {})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TrustUnknown(f"this Codex tells its settings in another form: {error!r}") from error


def _ours(codex: _AppServer) -> list[HookTrust]:
    """Ask for all hooks of a folder without a project, and keep those of our plugin."""
    answer = codex.ask("hooks/list", {"cwds": [Path.cwd().anchor]})
    try:
        return [
            HookTrust(hook["key"], hook["trustStatus"], hook["currentHash"], hook["enabled"])
            for folder in answer["data"]
            for hook in folder["hooks"]
            if hook.get("pluginId") == PLUGIN_ID
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise TrustUnknown(f"this Codex lists its hooks in another form: {error!r}") from error


def _write(codex: _AppServer, edits: list[tuple[str, object, str]]) -> None:
    names = ("keyPath", "value", "mergeStrategy")
    codex.ask("config/batchWrite", {"edits": [dict(zip(names, e, strict=True)) for e in edits]})


class _AppServer:
    """One conversation with `codex app-server`: JSON-RPC, a line a message."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process = process
        self._end = time.monotonic() + seconds
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, method: str, params: object) -> Any:
        """Return the result of one call; raise TrustUnknown."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._next(method)
            if message.get("id") == self._number and "method" not in message:
                break
        if "result" not in message:
            error = message.get("error")
            told = error.get("message") if isinstance(error, dict) else error
            raise TrustUnknown(f"codex refused {method}: {told}")
        return message["result"]

    def notify(self, method: str) -> None:
        """Send a message that has no answer."""
        self._send({"method": method})

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise TrustUnknown("codex app-server ended early") from error

    def _next(self, method: str) -> dict[str, Any]:
        """Return the next message that is one; notifications and log lines may come between."""
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, self._end - time.monotonic()))
            except queue.Empty:
                raise TrustUnknown(f"codex did not answer {method} in time") from None
            if not line:
                raise TrustUnknown("codex app-server ended early")
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    return message

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):  # the pipe was closed under us
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(b"")


@contextlib.contextmanager
def _conversation(
    program: str, environment: Mapping[str, str], seconds: float
) -> Iterator[_AppServer]:
    """Start the server, greet it, and end it with all its children, come what may."""
    try:
        process = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, CHILD_VARIABLE: "1"},
            start_new_session=True,
        )
    except OSError as error:
        raise TrustUnknown(error.strerror or str(error)) from error
    grace = 0.0
    try:
        codex = _AppServer(process, seconds)
        codex.ask("initialize", {"clientInfo": {"name": "agentlas-memory", "version": "1"}})
        codex.notify("initialized")
        yield codex
        grace = _GRACE  # it answered all: let it write what it has to write
    finally:
        _end(process, grace)


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Let the server end by itself at the end of its input, then end its whole group."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    with contextlib.suppress(OSError, AttributeError):  # nobody is left; Windows has no groups
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    process.stdout.close()
