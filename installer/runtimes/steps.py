"""The named steps of an update: each is told as it begins, and named by what fails in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from agentlas_memory.installer.runtimes.trouble import UpdateFailed


@contextmanager
def step(name: str) -> Iterator[None]:
    """Tell a step on stderr; a file that cannot be written in it is an expected failure."""
    print(f"  {name}", file=sys.stderr, flush=True)
    try:
        yield
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise UpdateFailed(
            f"It failed at the step `{name}`: {error.strerror or error}{where}.",
            "see to the disk or the permissions, then run this again",
        ) from error
