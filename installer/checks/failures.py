"""What the hook swallowed lately; an old failure is no alarm for ever."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.surfaces import Place

_RECENT = timedelta(days=7)
_FORMAT = "%Y-%m-%dT%H:%M:%S%z"


def check_failures(place: Place, now: datetime | None = None) -> Check:
    """Look into the hook's log for what failed within a week."""
    log = place.data_home / "state" / "hook.log"
    since = (now or datetime.now(timezone.utc)) - _RECENT
    recent = [line for line in _lines(log) if (when := _time_of(line)) and when >= since]
    if not recent:
        return Check("failures", "", "ok", "none within a week")
    told = f"{len(recent)} within a week, the last: {recent[-1]}"
    return Check("failures", "", "warning", told, f"look into {log}")


def _lines(log: Path) -> Iterator[str]:
    for file in (log.with_name("hook.log.1"), log):
        try:
            yield from file.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue


def _time_of(line: str) -> datetime | None:
    try:
        return datetime.strptime(line.partition(" ")[0].replace("Z", "+0000"), _FORMAT)
    except ValueError:
        return None
