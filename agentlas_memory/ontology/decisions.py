"""What a person decided about single passages: `.agentlas/ontology-inbox/review.json`.

    {
      "version": 1,
      "decisions": {
        "3f9c2a71b0d4": {
          "state": "quarantined", "kind": "instruction", "path": "docs/a.md", "text": "<digest>"
        }
      }
    }

It lies beside the notes because, like them, it may be committed and is an authority: the store is
made to follow it. It holds no text, and a decision falls away with the text it was about. A file
that cannot be understood is never taken for an empty one: what it keeps out would come back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from agentlas_memory.lean import read_file, sha256
from agentlas_memory.ontology.documents import INBOX
from agentlas_memory.ontology.lock import writer_lock
from agentlas_memory.ontology.writer import set_meta

DECISIONS = f"{INBOX}/review.json"
State = Literal["approved", "quarantined"]

_VERSION = 1
_LARGEST = 8 << 20
_PATIENCE = 10.0  # seconds


class Decision(NamedTuple):
    """What was decided, about which kind of finding, on the passage with this digest."""

    state: State
    kind: str
    path: str
    text: str


def passage_digest(path: str, text: str) -> str:
    """Return what names a passage: the place it is from and its words, not its lines."""
    return sha256(f"{path}\0{text}".encode("utf-8", "replace")).hexdigest()[:32]


def read_decisions(folder: Path) -> dict[str, Decision]:
    """Return the decisions kept below a store's folder by their ids; else raise BrokenFile."""
    return _decisions(folder, _parse(folder, _read(folder)))


@contextmanager
def edit_decisions(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the decisions as they stand in the file and write them back, whole, if changed.

    One process at a time; keys nobody here knows stay as they are.
    """
    import json

    with writer_lock(folder, _PATIENCE):
        document = _parse(folder, _read(folder))
        _decisions(folder, document)
        try:
            before = json.dumps(document, indent=2, sort_keys=True)
        except RecursionError:  # writing takes more of the stack than reading did
            _refuse(folder, "is nested too deeply")
        yield document.setdefault("decisions", {})
        after = json.dumps(document, indent=2, sort_keys=True)
        if after != before:
            _replace(_file(folder), after + "\n")


class Quarantine:
    """Which passages are kept out, by the paths they are from."""

    def __init__(self, digests: Mapping[str, Iterable[str]]) -> None:
        self._digests = {path: frozenset(texts) for path, texts in digests.items()}

    def of(self, path: str) -> frozenset[str]:
        """Return the digests of the passages of this source that are kept out."""
        return self._digests.get(path, frozenset())

    def paths(self) -> list[str]:
        """Return the sources that something of is kept out."""
        return sorted(self._digests)


def follow_decisions(connection: sqlite3.Connection, folder: Path) -> Quarantine:
    """Note the decisions in the store, and take the hashes off the sources they newly bear on.

    The next run prepares these again. The store keeps what it followed, since a decision that was
    taken back, or vanished by `git pull`, names no source any more.
    """
    data = _read(folder)
    mark = sha256(data).hexdigest() if data else ""
    keys = "SELECT key, value FROM meta WHERE key IN ('review', 'quarantined')"
    meta = dict(connection.execute(keys))
    if meta.get("review", "") == mark and not meta.get("quarantined"):
        return Quarantine({})  # nearly always; `json` would cost 3 ms
    import json

    followed: dict[str, list[str]] = json.loads(meta.get("quarantined") or "{}")
    if meta.get("review", "") == mark:
        return Quarantine(followed)
    current: dict[str, list[str]] = {}
    for decision in _decisions(folder, _parse(folder, data)).values():
        if decision.state == "quarantined":
            current.setdefault(decision.path, []).append(decision.text)
    current = {path: sorted(set(texts)) for path, texts in sorted(current.items())}
    changed = [p for p in {*followed, *current} if followed.get(p) != current.get(p)]
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        "UPDATE sources SET content_hash = NULL WHERE path = ?", [(path,) for path in changed]
    )
    set_meta(connection, "review", mark)
    set_meta(connection, "quarantined", json.dumps(current) if current else "")
    if changed:
        set_meta(connection, "sidecar_stale", 1)
    connection.execute("COMMIT")
    return Quarantine(current)


def _file(folder: Path) -> Path:
    return folder / DECISIONS.removeprefix(".agentlas/")


def _read(folder: Path) -> bytes:
    """Return the file's bytes, none without a file; refuse what a clone put in its place."""
    file = _file(folder)
    try:
        data = read_file(str(file), _LARGEST + 1, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        _refuse(folder, f"cannot be read: {error.strerror or 'it is not a regular file'}")
    if len(data) > _LARGEST:
        _refuse(folder, f"is larger than {_LARGEST >> 20} MiB")
    if folder.is_symlink() or file.parent.is_symlink():
        _refuse(folder, "lies behind a symbolic link")
    return data


def _parse(folder: Path, data: bytes) -> dict[str, Any]:
    import json

    if not data:
        return {"version": _VERSION}
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
        _refuse(folder, f"is not valid JSON: {error}")
    if not isinstance(document, dict) or not isinstance(document.get("decisions", {}), dict):
        _refuse(folder, "does not hold an object with `decisions`")
    if document.get("version") != _VERSION:
        _refuse(folder, f"has version {document.get('version')!r}, known is {_VERSION}")
    return document


def _decisions(folder: Path, document: Mapping[str, Any]) -> dict[str, Decision]:
    return {
        identity: _decision(value)
        or _refuse(folder, f"has a decision that cannot be understood: {identity!r}")
        for identity, value in document.get("decisions", {}).items()
    }


def _decision(value: object) -> Decision | None:
    if not isinstance(value, dict) or value.get("state") not in get_args(State):
        return None
    names = [value.get(name) for name in ("kind", "path", "text")]
    if not all(isinstance(name, str) and _is_text(name) for name in names):
        return None
    return Decision(value["state"], value["kind"], value["path"], value["text"])


def _is_text(name: str) -> bool:
    """Tell whether a name can be one of a source: half of a surrogate pair is no character."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in name


def _refuse(folder: Path, reason: str) -> NoReturn:
    from agentlas_memory.private_json import BrokenFile  # only an error needs it

    raise BrokenFile(f"{_file(folder)} {reason}")


def _replace(file: Path, text: str) -> None:
    """Put the file in place whole; the mode is the umask's, as it may be committed."""
    from agentlas_memory.whole_file import replace_file

    for part in (file.parent.parent, file.parent):
        if part.is_symlink():
            _refuse(file.parent.parent, "lies behind a symbolic link")
    file.parent.mkdir(exist_ok=True)
    replace_file(file, text.encode())
