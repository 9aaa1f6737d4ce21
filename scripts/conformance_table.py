"""Print the report of `scripts/conformance.sh` as tables in Markdown.

python scripts/conformance_table.py REPORT
python scripts/conformance_table.py REPORT --document NEWEST_REPORT >docs/conformance.md

The first form prints how many checks held, and each check. The second is what is published: the
same, and what the newest versions that can be had do otherwise.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

_KINDS = ("ok", "failed", "n/a", "skipped")
_INTRODUCTION = """\
# Conformance

What held when the hook ran in the real programs, against model servers on the same machine, and
what could not be run. Not written by hand: made by `scripts/conformance_table.py` of what
`{command}` reported on {day}, on Linux. What the checks mean for each assistant is in
[hosts.md](hosts.md).
"""
_NEWEST = """
## The newest versions

The newest that could be had on {day}, by `{command}`. These are not the verified ones, and a check
that does not hold here is no broken promise.
"""


class Row(NamedTuple):
    """One check; `result` is "ok", "failed", or begins with "n/a" or "skipped" and says why."""

    host: str
    version: str
    check: str
    result: str


def main() -> int:
    """Print the tables; see above for the forms."""
    report = Path(sys.argv[1])
    rows = read_rows(report)
    if "--document" in sys.argv:
        print("\n".join(document(report, Path(sys.argv[-1]))))
    else:
        print("\n".join([*summary(rows), "", *table(rows)]))
    return 0


def read_rows(report: Path) -> list[Row]:
    """Return the checks of a report, in their order."""
    lines = map(json.loads, report.read_text("utf-8").splitlines())
    return [Row(*(line[field] for field in Row._fields)) for line in lines]


def document(report: Path, newest: Path) -> Iterator[str]:
    """Yield the lines of docs/conformance.md."""
    rows, others = read_rows(report), read_rows(newest)
    command = "sh scripts/conformance.sh"
    yield _INTRODUCTION.format(command=f"{command} --report FILE", day=_day(report))
    yield from summary(rows)
    for host, version in _hosts(rows):
        yield f"\n## {host} {version}\n"
        yield from table([row for row in rows if row.host == host])
    yield _NEWEST.format(command=f"{command} --newest --report FILE", day=_day(newest))
    yield from summary(others)
    yield from differences(rows, others)


def summary(rows: list[Row]) -> Iterator[str]:
    """Yield how many checks there are of each kind, a line for each host."""
    counts = Counter((row.host, _kind(row)) for row in rows)
    yield "| host | version | checks that held | failed | not applicable | skipped |"
    yield "|---|---|---|---|---|---|"
    for host, version in _hosts(rows):
        numbers = " | ".join(str(counts[host, kind]) for kind in _KINDS)
        yield f"| {host} | {version} | {numbers} |"


def table(rows: list[Row]) -> Iterator[str]:
    """Yield each check."""
    yield "| host | version | check | result |"
    yield "|---|---|---|---|"
    for row in rows:
        result = "**failed**" if row.result == "failed" else row.result
        cells = (row.host, row.version, row.check, result)
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def differences(rows: list[Row], others: list[Row]) -> Iterator[str]:
    """Yield the checks whose result is another one in the second report."""
    known = {(row.host, row.check): row.result for row in rows}
    other = [row for row in others if known.get((row.host, row.check)) != row.result]
    there = {(row.host, row.check) for row in others}
    missing = [row for row in rows if (row.host, row.check) not in there]
    if not other and not missing:
        yield "\nEach check has the result that it has on the verified version."
        return
    yield "\nWhat differs from the verified versions:\n"
    versions = dict(_hosts(others))
    gone = [row._replace(version=versions.get(row.host, "?"), result="not run") for row in missing]
    yield from table([*other, *gone])


def _hosts(rows: list[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row.host, row.version) for row in rows))


def _kind(row: Row) -> str:
    return row.result.partition(":")[0]


def _day(report: Path) -> date:
    return date.fromtimestamp(report.stat().st_mtime)


if __name__ == "__main__":
    raise SystemExit(main())
