"""`history.json`: which version was current when, so that `rollback` knows where back is."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from agentlas_memory.installer.runtimes.layout import FACTS, HISTORY, Runtime, Runtimes
from agentlas_memory.installer.runtimes.objects import read_object
from agentlas_memory.whole_file import replace_file

_MOST = 50  # entries; the oldest go
_DAY = 86_400.0
_LATEST = 1e12  # seconds; what lies beyond is no time


class History:
    """The entries, oldest first: a version's id, and when it became current.

    An entry is written before the switch, so that no kill loses the way back; one that was never
    carried out goes with the next writing. `settled` is the version that the hosts were last
    brought in line with.
    """

    def __init__(self, runtimes: Runtimes) -> None:
        self._path = runtimes.folder / HISTORY
        self._runtimes = runtimes
        values, self.trouble = read_object(self._path)
        entries = values.get("entries")
        self._entries: list[dict[str, Any]] = [
            one
            for one in (entries if isinstance(entries, list) else [])
            if isinstance(one, dict)
            and isinstance(one.get("id"), str)
            and isinstance(one.get("since"), (int, float))
            and abs(one["since"]) < _LATEST
        ]
        self.settled = str(values.get("settled", ""))

    def add(self, new: str) -> None:
        """Note that a version is about to become current."""
        current = self._runtimes.current()
        if current is not None and current.id == new:
            return
        if current is not None:
            while self._entries and self._entries[-1]["id"] != current.id:
                if not any(one["id"] == current.id for one in self._entries):
                    break
                self._entries.pop()
            if not self._entries or self._entries[-1]["id"] != current.id:
                self._entries.append({"id": current.id, "since": time.time()})
        self._entries.append({"id": new, "since": time.time()})
        self._write()

    def settle(self, name: str) -> None:
        """Note that the hosts were brought in line with a version."""
        self.settled = name
        self._write()

    def previous(self) -> Runtime | None:
        """Return the version before the current one, None where none is there any more.

        Another copy of the same release is no way back.
        """
        current = self._runtimes.current()
        if current is None:
            return None
        names = [one["id"] for one in self._entries]
        if current.id in names:
            del names[len(names) - 1 - names[::-1].index(current.id) :]
        for name in reversed(names):
            runtime = self._runtimes.get(name)
            if name != current.id and runtime.complete and not runtime.is_copy_of(current):
                return runtime
        return None

    def days_since(self, name: str) -> float:
        """Return how long ago a version stopped being current; it counts from now if it did not."""
        ids = [one["id"] for one in self._entries]
        later = [
            float(self._entries[at + 1]["since"])
            for at, one in enumerate(ids[:-1])
            if one == name and ids[at + 1] != name
        ]
        return (time.time() - later[-1]) / _DAY if later else 0.0

    def knows(self, name: str) -> bool:
        """Tell whether a version was ever current."""
        return any(one["id"] == name for one in self._entries)

    def _write(self) -> None:
        values = {"entries": self._entries[-_MOST:], "settled": self.settled}
        replace_file(self._path, (json.dumps(values, indent=1) + "\n").encode())


def troubles(runtimes: Runtimes) -> Iterator[str]:
    """Yield what is wrong with the files that say which versions there are, a sentence each."""
    if told := History(runtimes).trouble:
        yield f"{told} So nobody knows which version to go back to."
    for runtime in runtimes.all():
        if told := read_object(runtime.folder / FACTS)[1]:
            yield f"{told} So {runtime.id} counts as not finished."
