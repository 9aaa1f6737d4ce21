"""Data files and code as sections: top-level keys and top-level definitions are the headings.

Unlike a prose heading, such a line is content itself, so the body begins with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentlas_memory.ontology.outline import MAX_HEADING, Heading, Outline

_YAML_KEY = re.compile(r"([\w.$/-]+|\"[^\"]+\"|'[^']+')\s*:(?:\s|$)")
_TOML_TABLE = re.compile(r"\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_JSON_KEY = re.compile(r"(?:\t| {1,4})\"((?:[^\"\\]|\\.)+)\"\s*:")
_DEFINITION = re.compile(
    r"(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|final"
    r"|abstract|sealed|async|unsafe|data|local)\s+)*"
    r"(?:def|class|function\*?|func|fn|fun|struct|enum|trait|interface|type|impl|module"
    r"|namespace|record|object|protocol)\s+(?:\([^)]*\)\s*)?(\w+(?:(?:\.|::)\w+)*)"
)


def outline_yaml(lines: Sequence[str]) -> Outline:
    """Top-level keys of a YAML file."""
    return _outline_keys(lines, _YAML_KEY)


def outline_toml(lines: Sequence[str]) -> Outline:
    """Tables of a TOML file."""
    return _outline_keys(lines, _TOML_TABLE)


def outline_json(lines: Sequence[str]) -> Outline:
    """Keys of a JSON object that is laid out over lines; a file on one line has none."""
    top = min((_indent(line) for line in lines if _JSON_KEY.match(line[:MAX_HEADING])), default=0)
    return _outline_keys([line if _indent(line) == top else "" for line in lines], _JSON_KEY)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _outline_keys(lines: Sequence[str], key: re.Pattern[str]) -> Outline:
    found = ((number, key.match(line[:MAX_HEADING])) for number, line in enumerate(lines, start=1))
    return Outline([Heading(1, m[1].strip("\"'"), line, line) for line, m in found if m])


def outline_code(lines: Sequence[str]) -> Outline:
    """Top-level definitions; a section begins with the comment or decorator above the name."""
    headings = []
    block_start = 1
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            block_start = number + 1
        elif definition := _DEFINITION.match(line[:MAX_HEADING]):
            headings.append(Heading(1, definition[1], block_start, block_start))
            block_start = number + 1
        elif line[0].isspace() or line[0] in ")]}":
            block_start = number + 1
    return Outline(headings)
