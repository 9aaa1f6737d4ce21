"""Print the report of `scripts/conformance.sh` as a table in Markdown.

python scripts/conformance_table.py REPORT [--summary]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

_MARKS = {"ok": "ok", "failed": "**failed**"}


def main() -> int:
    """Print each check, or with `--summary` how many there are of each kind."""
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    if "--summary" in sys.argv:
        print("\n".join(_summary(rows)))
        return 0
    print("| host | version | check | result |\n|---|---|---|---|")
    for row in rows:
        result = _MARKS.get(row["result"], row["result"])
        print(f"| {row['host']} | {row['version']} | {row['check'].replace('|', '/')} | {result} |")
    return 0


def _summary(rows: list[dict[str, str]]) -> list[str]:
    counts = Counter((row["host"], row["version"], _kind(row["result"])) for row in rows)
    hosts = sorted({(host, version) for host, version, _ in counts})
    lines = ["| host | version | ok | failed | not applicable |", "|---|---|---|---|---|"]
    for host, version in hosts:
        numbers = (str(counts[host, version, kind]) for kind in ("ok", "failed", "n/a"))
        lines.append(f"| {host} | {version} | {' | '.join(numbers)} |")
    return lines


def _kind(result: str) -> str:
    return result if result in ("ok", "failed") else "n/a"


if __name__ == "__main__":
    raise SystemExit(main())
