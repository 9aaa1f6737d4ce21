"""Files of the project that a text refers to: what it says of them ends with them."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Container, Sequence
from pathlib import Path

from agentlas_memory.ontology.documents import Chunk
from agentlas_memory.ontology.keys import path_entity
from agentlas_memory.ontology.prepared import PreparedMention
from agentlas_memory.redact import redact

CITES = "cites"  # a mention of a file that was there when the text was indexed

# With a folder and a suffix: `src/auth.py`, `./docs/a.md`; not part of a URL or an absolute path.
_PATH = re.compile(
    r"(?<![\w/:.@~$}-])(?:\./)?([\w@+-][\w.@+-]*(?:/[\w.@+-]+)*/[\w@+-][\w.@+-]*\.\w+)"
)
_MOST = 20  # of one chunk: a list of files says nothing of each


def with_citations(
    root: Path,
    path: str,
    chunks: Sequence[Chunk],
    mentions: Sequence[PreparedMention],
    ignored: Container[str],
) -> tuple[PreparedMention, ...]:
    """Return a document's mentions with those of files that exist marked as citations.

    What git ignores, a build's output say, comes and goes without meaning anything.
    """
    found = {(one.key, one.chunk): one for one in mentions}
    named: dict[int, list[str]] = defaultdict(list)
    for one in mentions:
        if one.kind == "path":
            named[one.chunk].append(one.name)
    for index, chunk in enumerate(chunks):
        for name in dict.fromkeys((*named[index], *paths_in(chunk.text))):
            entity = path_entity(name)
            known = found.get((entity.key, index))
            defined = known is not None and known.relation == "defined_in"
            if name == path or defined or not is_file(root, name) or redact(name) != name:
                continue
            if posixpath.normpath(name) not in ignored:
                found[entity.key, index] = PreparedMention(*entity, index, CITES)
    return tuple(found.values())


def paths_in(text: str) -> list[str]:
    """Return what looks like a path to a file, as far as a text names few of them."""
    if "/" not in text:
        return []
    names = list(dict.fromkeys(_PATH.findall(text)))
    return names if len(names) <= _MOST else []


def is_file(root: Path, name: str) -> bool:
    """Tell whether a path inside the project is a regular file now."""
    if name.startswith("/") or ".." in name.split("/"):
        return False
    try:
        return (root / name).is_file()
    except (OSError, ValueError):
        return False
