"""A bound on the whole of what a server sends: one that drips never lets a read run out of time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from agentlas_memory.installer.runtimes.trouble import UpdateFailed

_LOOK = 0.2  # seconds between two looks
_Value = TypeVar("_Value")


class Pace:
    """How many bytes have come; whoever is not waited for any more ends at its next ones."""

    def __init__(self) -> None:
        self.bytes = 0
        self.is_over = False

    def note(self, size: int) -> None:
        """Count bytes that came."""
        if self.is_over:
            raise TimeoutError("nobody waits for it any more")
        self.bytes += size


class _Worker(threading.Thread, Generic[_Value]):
    """A thread, since a name's look-up, a handshake and headers cannot be bounded otherwise.

    The process does not wait for it: it may be held by a server that says nothing.
    """

    def __init__(self, work: Callable[[Pace], _Value]) -> None:
        super().__init__(daemon=True)
        self.pace = Pace()
        self._work = work
        self._values: list[_Value] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._values.append(self._work(self.pace))
        except BaseException as error:  # it is raised again, where it is waited for
            self._error = error

    def value(self) -> _Value:
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
            return self._values[0]
        finally:
            del error  # it leads to this frame: a circle would keep its connection open


def keep_pace(
    work: Callable[[Pace], _Value], too_slow: Callable[[float, int], bool], told: str
) -> _Value:
    """Return what `work` returns; raise UpdateFailed once its seconds and bytes are `too_slow`."""
    worker, start = _Worker(work), time.monotonic()
    worker.start()
    try:
        while worker.is_alive():
            worker.join(_LOOK)
            seconds = time.monotonic() - start
            if worker.is_alive() and too_slow(seconds, worker.pace.bytes):
                raise UpdateFailed(told, "try again, or `update --from` a bundle")
    finally:
        worker.pace.is_over = True
    return worker.value()
