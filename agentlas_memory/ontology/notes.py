"""The inbox: notes as plain Markdown files with front matter, the authority for what they say.

    ---
    id: 3f9c2a71
    kind: decision
    scope: internal
    tags: [ledger]
    created: '2025-01-05T10:11:12Z'
    ---

    We settle the ledger in integer minor units.

A file may also be written or changed by hand: every key may be missing, unknown keys stay. One
that cannot be understood is reported, never dropped - and never read as if its scope were the
default, since the part that is broken may be the part that says `private`.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, cast, get_args

import yaml

from agentlas_memory.ontology.config import DEFAULT_SCOPE, SCOPES, Scope
from agentlas_memory.ontology.documents import (
    INBOX,
    MAX_FILE_BYTES,
    PRIVATE_SUFFIX,
    UnreadableDocument,
)
from agentlas_memory.ontology.formats import decode_text, split_lines
from agentlas_memory.ontology.front_matter import as_strings, read_front_matter

NoteKind = Literal["decision", "constraint", "todo", "note"]
KINDS: tuple[NoteKind, ...] = get_args(NoteKind)

_ID_BYTES = 5
_SLUG_LENGTH = 40
# Only whole words of letters: a key or password in the text must not reach a file name.
_SLUG_WORD = re.compile(r"(?<![\w-])[a-z]{2,16}(?![\w-])")


class NoteError(Exception):
    """A note that cannot be written, read or removed; the message says why."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note of the inbox; `path` is relative to the project."""

    id: str
    kind: NoteKind
    scope: Scope
    tags: tuple[str, ...]
    supersedes: tuple[str, ...]
    created: str
    text: str
    path: str


class BrokenNote(NamedTuple):
    """A file of the inbox that is no readable note."""

    path: str
    reason: str


class Inbox(NamedTuple):
    """The notes in the order of their file names, and what could not be read."""

    notes: tuple[Note, ...]
    broken: tuple[BrokenNote, ...]


def write_note(
    project: Path,
    text: str,
    *,
    kind: NoteKind = "note",
    scope: Scope = DEFAULT_SCOPE,
    tags: Sequence[str] = (),
    supersedes: Sequence[str] = (),
    created: datetime | None = None,
    identity: str = "",
    title: str = "",
) -> Note:
    """Write a new note into the inbox and return it; without an id it gets a random one.

    Its file is named after the title, or else after the first words of the text.
    """
    moment = (created or datetime.now(timezone.utc)).astimezone(timezone.utc)
    identity = identity or secrets.token_hex(_ID_BYTES)
    # The name of a private note says nothing, and keeps it out of a commit.
    words, suffix = (
        (kind, PRIVATE_SUFFIX) if scope == "private" else (slug_of(title or text) or kind, ".md")
    )
    name = f"{moment:%Y-%m-%d}-{words}-{identity}{suffix}"
    values: dict[str, object] = {"id": identity, "kind": kind, "scope": scope}
    values |= {"tags": list(tags)} if tags else {}
    values |= {"supersedes": list(supersedes)} if supersedes else {}
    values["created"] = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
    data = render_note(values, text)
    # What cannot be read back is refused before it is written.
    note = parse_note(f"{INBOX}/{name}", data)
    _create(inbox_folder(project, create=True) / name, data)
    return note


def list_notes(project: Path) -> Inbox:
    """Read the whole inbox."""
    notes: list[Note] = []
    broken: list[BrokenNote] = []
    for file in _files(project):
        path = f"{INBOX}/{file.name}"
        try:
            notes.append(parse_note(path, _read(file)))
        except (NoteError, OSError) as error:
            broken.append(BrokenNote(path, str(error)))
    return Inbox(tuple(notes), tuple(broken))


def read_note(project: Path, identity: str) -> Note:
    """Return the note with this id."""
    found = [note for note in list_notes(project).notes if note.id == identity]
    if not found:
        raise NoteError(f"there is no note {identity}")
    if len(found) > 1:
        paths = ", ".join(note.path for note in found)
        raise NoteError(f"more than one note has the id {identity}: {paths}")
    return found[0]


def remove_note(project: Path, identity: str) -> str:
    """Delete the note with this id, or the broken file of this name; return its path."""
    for path, _ in list_notes(project).broken:
        if identity in (PurePosixPath(path).name, PurePosixPath(path).stem):
            (project / path).unlink()
            return path
    note = read_note(project, identity)
    (project / note.path).unlink()
    return note.path


def parse_note(path: str, data: bytes) -> Note:
    """Read one file of the inbox; what it does not say is a `note` for `internal` use."""
    try:
        lines = split_lines(decode_text(data))
    except UnreadableDocument as error:
        raise NoteError(str(error)) from error
    front = read_front_matter(lines)
    if front.problem:
        raise NoteError(front.problem)
    body = lines[front.end_line :]
    if front.end_line and body and not body[0].strip():
        del body[0]
    if not any(line.strip() for line in body):
        raise NoteError("the note is empty")
    values = {key.strip().lower(): value for key, value in front.values.items()}
    return Note(
        id=_single(values, "id", PurePosixPath(path).stem),
        kind=cast("NoteKind", _one_of(KINDS, values, "kind", "note")),
        scope=cast("Scope", _one_of(SCOPES, values, "scope", DEFAULT_SCOPE)),
        tags=_strings(values, "tags"),
        supersedes=_strings(values, "supersedes"),
        created=_single(values, "created", ""),
        text="\n".join(body),
        path=path,
    )


def _strings(values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = values.get(key, "")
    strings = as_strings(value)
    if value not in ("", []) and len(strings) != (len(value) if isinstance(value, list) else 1):
        raise NoteError(f"{key} must be text, or a list of texts")
    return strings


def _single(values: Mapping[str, Any], key: str, default: str) -> str:
    strings = _strings(values, key) or (default,)
    if len(strings) > 1:
        raise NoteError(f"{key} must be one value")
    return strings[0]


def _one_of(known: Sequence[str], values: Mapping[str, Any], key: str, default: str) -> str:
    value = _single(values, key, default).lower()
    if value not in known:
        raise NoteError(f"{key} is {value!r}; it must be one of {', '.join(known)}")
    return value


def slug_of(text: str) -> str:
    """Return the first words of a text as they may stand in a file name, or nothing."""
    plain = unicodedata.normalize("NFKD", text[:1000]).encode("ascii", "ignore").decode().lower()
    slug = "-".join(_SLUG_WORD.findall(plain)[:6])
    return slug[:_SLUG_LENGTH].rstrip("-")


def render_note(values: Mapping[str, object], text: str) -> bytes:
    """Return the file of a note with this front matter."""
    front = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, default_flow_style=None)
    try:
        data = f"---\n{front}---\n\n{text}\n".encode()
    except UnicodeEncodeError as error:
        raise NoteError("the text is not valid Unicode") from error
    if len(data) > MAX_FILE_BYTES:
        raise NoteError(f"the note is larger than {MAX_FILE_BYTES // 1024**2} MiB")
    return data


def inbox_folder(project: Path, *, create: bool = False) -> Path:
    """Return the folder of the notes; raise NoteError where it is reached through a link."""
    folder = project / INBOX
    # A clone can bring a link that leads anywhere.
    for part in (folder.parent, folder):
        if part.is_symlink():
            raise NoteError(f"{part} is a symbolic link")
    if create:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _files(project: Path) -> list[Path]:
    folder = inbox_folder(project)
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.name.lower().endswith(".md"))


def _read(file: Path) -> bytes:
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise NoteError("not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        raise NoteError(f"larger than {MAX_FILE_BYTES // 1024**2} MiB")
    return file.read_bytes()


def _create(file: Path, data: bytes) -> None:
    """Write a new file whole or not at all; the mode is the umask's, as notes may be committed."""
    aside = file.with_name(f".{file.name}.tmp")
    with aside.open("xb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            # Whoever holds the temporary name may take the final one, unless it is taken.
            if file.exists():
                raise NoteError(f"{file.name} exists already")
            aside.rename(file)
        except BaseException:
            aside.unlink()
            raise
