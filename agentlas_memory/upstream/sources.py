"""Where the sources of an old store stand now: in the project, gone from it, or nowhere."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agentlas_memory.project import is_policy_file
from agentlas_memory.upstream.reading import UpstreamReader
from agentlas_memory.upstream.report import Report
from agentlas_memory.upstream.values import moment_of, scope_of, text_of, whole_of

_MOST_SOURCES, _MOST_CHUNKS = 200_000, 2_000_000
_COLUMNS = (
    "source_id",
    "uri",
    "display_name",
    "version",
    "content_hash",
    "privacy_scope",
    "created_at",
    "updated_at",
)
# `https:`, `note:`; one letter is a drive of Windows.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_HOST_POLICY = "a host loads it itself"


@dataclass
class Source:
    """One source; `path` is its file's in the project, blank for one that never was there."""

    id: str
    uri: str
    name: str
    version: int
    content_hash: str
    scope: str
    moment: datetime | None
    path: str = ""
    is_there: bool = False
    chunks: list[tuple[int, int]] = field(default_factory=list)  # (index in the source, rowid)


@dataclass
class Sources:
    """What becomes of the sources: files to index, and texts that the store alone holds."""

    files: dict[str, str] = field(default_factory=dict)  # path in the project -> scope or blank
    texts: list[Source] = field(default_factory=list)

    @property
    def gone(self) -> int:
        """How many texts are of files that were in the project."""
        return sum(bool(source.path) for source in self.texts)


def sort_sources(
    reader: UpstreamReader, root: Path, report: Report, *, skip_gone: bool = False
) -> Sources:
    """Tell which sources are files of the project, and which chunks hold the text of the others."""
    known: dict[str, Source] = {}
    for source in _newest(_read_sources(reader, report), report):
        if source.id in known:
            report.leave("sources", "another source has the same id", source.uri)
        known[source.id] = source
    _place(known.values(), root)
    _read_chunks(reader, known, report)
    found = Sources()
    for source in known.values():
        if source.is_there:
            if source.path in found.files:
                report.leave("sources", "another source is of the same file", source.path)
            found.files[source.path] = _narrower(source.scope, found.files.get(source.path, ""))
        elif is_policy_file(source.path or source.uri.rpartition("/")[2]):
            report.leave("sources", _HOST_POLICY, source.path or source.uri)
        elif source.path and skip_gone:
            report.leave("sources", "the file is gone", source.path)
        elif not source.chunks:
            report.leave("sources", "there is no text of it", source.path or source.uri)
        else:
            found.texts.append(source)
    return found


def _read_sources(reader: UpstreamReader, report: Report) -> Iterator[Source]:
    for number, row in enumerate(reader.rows("sources", _COLUMNS)):
        if number >= _MOST_SOURCES:
            report.leave("sources", f"there are more than {_MOST_SOURCES}")
            continue
        identity, uri, name, version, digest, scope, created, updated = row[1:]
        if not text_of(identity):
            report.leave("sources", "it has no id", text_of(uri))
            continue
        yield Source(
            id=text_of(identity),
            uri=text_of(uri).strip(),
            name=text_of(name).strip(),
            version=whole_of(version),
            content_hash=text_of(digest).strip().lower().removeprefix("sha256:"),
            scope="" if scope is None else scope_of(scope),
            moment=moment_of(updated) or moment_of(created),
        )


def _newest(sources: Iterable[Source], report: Report) -> Iterator[Source]:
    """Yield the newest version of what is known by one address."""
    newest: dict[str, Source] = {}
    for source in sources:
        key = source.uri or f"\0{source.id}"
        before = newest.get(key)
        if before is not None:
            report.leave("sources", "there is a newer version of it", source.uri)
        if before is None or _age(before) <= _age(source):
            newest[key] = source
    yield from newest.values()


def _age(source: Source) -> tuple[int, float]:
    return source.version, source.moment.timestamp() if source.moment else 0.0


def _read_chunks(reader: UpstreamReader, known: dict[str, Source], report: Report) -> None:
    """Note where the text of each source stands; a chunk's narrower scope is its source's."""
    older = 0
    columns = ("source_id", "chunk_index", "privacy_scope")
    for number, (rowid, owner, index, scope) in enumerate(reader.rows("chunks", columns)):
        if number >= _MOST_CHUNKS:
            report.leave("chunks", f"there are more than {_MOST_CHUNKS}")
            continue
        source = known.get(text_of(owner))
        if source is None:
            older += 1
            continue
        if scope is not None:
            source.scope = _narrower(source.scope, scope_of(scope))
        if not source.is_there:
            source.chunks.append((whole_of(index), whole_of(rowid)))
    report.leave("chunks", "their source is not in the store, or is an older version", count=older)


def _narrower(one: str, other: str) -> str:
    """Return the narrower of two scopes; blank is unsaid."""
    return scope_of(one or other, other or one) if one or other else ""


def _place(sources: Iterable[Source], root: Path) -> None:
    """Find each source's file in the project, which may have been moved as a whole."""
    real = root.resolve()
    absolute: list[tuple[Source, str]] = []
    for source in sources:
        address = _as_path(source.uri)
        if address.startswith("/"):
            absolute.append((source, address))
        elif address:
            _put(source, posixpath.normpath(address), real)
    bases = [base for base in {str(root), str(real)} if base != "/"]
    bases += _former_root(absolute, bases, real)
    for source, address in absolute:
        for base in bases:
            if address.startswith(f"{base}/"):
                _put(source, address[len(base) + 1 :], real)
                break


def _as_path(uri: str) -> str:
    """Return the path that a URI stands for, with `/` between parts; blank for none."""
    if "\0" in uri:
        return ""
    if uri[:5].lower() == "file:":
        try:
            uri = unquote(urlsplit(uri).path)
        except ValueError:
            return ""
    elif _SCHEME.match(uri):
        return ""
    if uri[1:2] == ":":  # a drive of Windows: nowhere in a project of today's layout
        return ""
    return posixpath.normpath(uri) if uri.startswith("/") else uri


def _former_root(absolute: Iterable[tuple[Source, str]], bases: list[str], real: Path) -> list[str]:
    """Return where the project lay before it was moved, as most of its files say that are here.

    One folder and a name must fit: there is a README.md everywhere.
    """
    votes: Counter[str] = Counter()
    for _, address in absolute:
        if any(address.startswith(f"{base}/") for base in bases):
            continue
        parts = address.split("/")
        for at in range(2, len(parts) - 1):
            if _is_file(real, "/".join(parts[at:])):
                votes["/".join(parts[:at])] += 1
                break
    return [base for base, _ in votes.most_common(1)]


def _put(source: Source, path: str, real: Path) -> None:
    """Note a path of the project; one word alone that is no file is a name and no path."""
    if path.startswith("../") or path in (".", "..") or len(path) > 4096:
        return
    source.is_there = _is_file(real, path)
    if source.is_there or "/" in path or posixpath.splitext(path)[1]:
        source.path = path


def _is_file(real: Path, path: str) -> bool:
    """Tell whether a regular file is there, and no link leads out of the project."""
    try:
        file = (real / path).resolve()
        return file.is_relative_to(real) and file.is_file()
    except (OSError, ValueError, RuntimeError):
        return False
