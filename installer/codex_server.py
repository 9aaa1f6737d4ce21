"""One conversation with `codex app-server`: JSON-RPC, a line a message, bounded in time."""

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
from typing import Any

from agentlas_memory.home import CHILD_VARIABLE

_GRACE = 2.0  # seconds for a server that has answered all


class NoAnswer(Exception):
    """Codex did not answer, or refused; the text says why."""


class AppServer:
    """A server that was started, and greeted."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process = process
        self._end = time.monotonic() + seconds
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, method: str, params: object) -> Any:
        """Return the result of one call; raise NoAnswer."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._next(method)
            if message.get("id") == self._number and "method" not in message:
                break
        if "result" not in message:
            error = message.get("error")
            told = error.get("message") if isinstance(error, dict) else error
            raise NoAnswer(f"codex refused {method}: {told}")
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
            raise NoAnswer("codex app-server ended early") from error

    def _next(self, method: str) -> dict[str, Any]:
        """Return the next message that is one; notifications and log lines may come between."""
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, self._end - time.monotonic()))
            except queue.Empty:
                raise NoAnswer(f"codex did not answer {method} in time") from None
            if not line:
                raise NoAnswer("codex app-server ended early")
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
def conversation(
    program: str, environment: Mapping[str, str], seconds: float
) -> Iterator[AppServer]:
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
        raise NoAnswer(error.strerror or str(error)) from error
    grace = 0.0
    try:
        codex = AppServer(process, seconds)
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
