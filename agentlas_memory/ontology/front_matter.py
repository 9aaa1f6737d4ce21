"""YAML front matter at the top of a file, read within bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

MAX_BYTES = 16 * 1024
# The base loader leaves every scalar as it is written: `id: 0007` stays "0007", `date:
# 2025-01-05` stays a string, and no tag can name a type. libyaml's is ten times as fast.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class FrontMatter(NamedTuple):
    """The values, the closing line's number (0: there is no block) and why it is unusable."""

    values: Mapping[str, Any]
    end_line: int = 0
    problem: str | None = None


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the block between `---` on the first line and the next `---` or `...`."""
    if not lines or lines[0].rstrip() != "---":
        return FrontMatter({})
    size = 0
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() in ("---", "..."):
            return _load("\n".join(lines[1 : number - 1]), number)
        size += len(line.encode("utf-8", "surrogatepass")) + 1
        if size > MAX_BYTES:
            return FrontMatter({}, 0, f"front matter is longer than {MAX_BYTES // 1024} KiB")
    return FrontMatter({}, 0, "front matter is never closed")


def _load(text: str, end_line: int) -> FrontMatter:
    try:
        if _has_alias(text):
            return FrontMatter({}, end_line, "front matter uses YAML aliases")
        values = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        return FrontMatter({}, end_line, f"front matter is not valid YAML: {reason}")
    if values is None or values == "":
        return FrontMatter({}, end_line)
    if not isinstance(values, dict):
        return FrontMatter({}, end_line, "front matter is not a list of `key: value`")
    return FrontMatter({str(key): value for key, value in values.items()}, end_line)


def _has_alias(text: str) -> bool:
    # A few aliases of aliases unfold into gigabytes.
    return "*" in text and any(
        isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=_LOADER)
    )


def as_strings(value: object) -> tuple[str, ...]:
    """Return a front-matter value as strings: a list's items, a scalar alone, nothing for none."""
    items = value if isinstance(value, list) else [value]
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())
