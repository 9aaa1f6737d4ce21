"""Folders of Markdown: basic-memory, memsearch, Obsidian and the like.

Front matter (`title`, `tags`, `status`, `created`, ...), a body with wiki links and observations
(`- [decision] We ship on Fridays #release`), or one file a day.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from agentlas_memory.importing.folder import Page, read_pages
from agentlas_memory.importing.items import (
    Gathered,
    Item,
    Left,
    as_moment,
    joined,
    one_line,
    plain,
)
from agentlas_memory.ontology.documents import UnreadableDocument
from agentlas_memory.ontology.formats import decode_text, split_lines
from agentlas_memory.ontology.front_matter import as_strings, read_front_matter

_MOST_TAGS = 20
_LONGEST_FIELD = 10_000  # characters; a longer one is no title, and dropped
_TAG = re.compile(r"(?<!\S)#([^\W\d_][\w/-]*)")  # whole: cut, it could be half a key
_OBSERVATION = re.compile(r"\s*[-*+]\s+\[[^\]\n]{1,40}\]\s+\S")
_TASK = re.compile(r"\s*[-*+]\s+\[[ xX-]\]")
_COMMENT = re.compile(r"\s{0,3}<!--(?:(?!-->).)*-->\s*")
_TITLE = re.compile(r"#\s+(.+?)\s*#*\s*")
_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


def gather_markdown(folder: Path) -> Gathered:
    """Read a folder of memories; its real path names the source."""
    real = os.path.realpath(folder)  # does not mind a link that leads to itself
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    gathered = Gathered(f"markdown:{name}", str(folder))
    for page in read_pages(folder):
        take_page(gathered, page)
    return gathered


def take_page(gathered: Gathered, page: Page | Left) -> None:
    """Add what a file says, or why it says nothing."""
    if isinstance(page, Left):
        gathered.present.add(page.place)
        gathered.left.append(page)
        return
    try:
        gathered.items.append(read_page(page))
    except UnreadableDocument as error:
        gathered.present.add(page.path)
        gathered.left.append(Left(page.path, str(error)))


def read_page(page: Page) -> Item:
    """Return the memory of one file; raise UnreadableDocument for what is none."""
    lines = split_lines(decode_text(page.data))
    front = read_front_matter(lines)
    if front.problem:
        # The part that is broken may be the part that says `private`.
        raise UnreadableDocument(front.problem)
    values = {key.strip().lower(): value for key, value in front.values.items()}
    body = _without_comments(lines[front.end_line :])
    path = PurePosixPath(page.path)
    title = _first(values, "title", "name") or _heading(body) or path.stem
    text = _with_heading(title, _first(values, "description", "summary"), body)
    day = _DAY.search(path.stem)
    return Item(
        key=page.path,
        place=page.path,
        text=plain(text),
        title=one_line(title),
        tags=_tags(values, body),
        created=_moment(values, "created", "created_at", "date") or as_moment(day and day[0]),
        changed=_moment(values, "updated", "updated_at", "modified", "last_modified"),
        touched=page.touched,
        status=_first(values, "status"),
        private=_first(values, "scope", "visibility").lower() == "private",
        names=_names(values, title, path),
        supersedes=_references(values, "supersedes", "replaces"),
        digest=hashlib.sha256(page.data).digest(),
        replaced=bool(_references(values, "superseded_by", "replaced_by")),
    )


def _with_heading(title: str, description: str, body: Sequence[str]) -> str:
    """Return the body under a heading: without one, a passage does not say what it is about."""
    if not any(line.strip() for line in body):
        if not description:
            raise UnreadableDocument("it says nothing")
        return f"# {joined(title)}\n\n{description}"
    rest = list(body)
    if _heading(body):
        while not rest[0].strip():
            del rest[0]
        del rest[0]
    said = f"{description}\n\n" if description and description not in "\n".join(rest) else ""
    text = "\n".join(rest).strip("\n")
    if not text.strip() and not said:
        raise UnreadableDocument("it says nothing")
    return f"# {joined(_heading(body) or title)}\n\n{said}{text}"


def _heading(body: Sequence[str]) -> str:
    """Return the title that a body begins with, blank without one."""
    first = next((line for line in body if line.strip()), "")
    found = _TITLE.fullmatch(first)
    return found[1] if found else ""


def _without_comments(lines: Sequence[str]) -> list[str]:
    """Return what a reader of the page sees: programs keep their own ids in comments."""
    kept = []
    fenced = False
    for line in lines:
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced or not _COMMENT.fullmatch(line):
            kept.append(line)
    return kept


def _tags(values: Mapping[str, Any], body: Sequence[str]) -> tuple[str, ...]:
    value = values.get("tags", values.get("tag", []))
    named = [tag for text in as_strings(value) for tag in re.split(r"[,\s]+", text)]
    for line in body:
        if _OBSERVATION.match(line) and not _TASK.match(line):
            named += _TAG.findall(line)
    return tuple(dict.fromkeys(tag.lstrip("#") for tag in named if tag.strip("#")))[:_MOST_TAGS]


def _names(values: Mapping[str, Any], title: str, path: PurePosixPath) -> tuple[str, ...]:
    """Return what other memories may call this one."""
    names = (_first(values, "permalink"), _first(values, "id"), title, path.stem)
    return tuple(filter(None, (*names, path.with_suffix("").as_posix())))


def _references(values: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    found = [text for key in keys for text in as_strings(values.get(key, ""))]
    return tuple(text.strip("[]") for text in found)


def _first(values: Mapping[str, Any], *keys: str) -> str:
    """Return the first of these values, whole: whoever shows it takes out keys, then cuts."""
    texts = (text for key in keys for text in as_strings(values.get(key, ""))[:1])
    text = joined(next(texts, ""))
    return text if len(text) <= _LONGEST_FIELD else ""


def _moment(values: Mapping[str, Any], *keys: str) -> str:
    return next(filter(None, (as_moment(_first(values, key)) for key in keys)), "")
