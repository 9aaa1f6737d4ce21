"""From a file's bytes to a document: decoding, front matter, and the outline of its format."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from agentlas_memory.ontology.documents import Document, UnreadableDocument
from agentlas_memory.ontology.front_matter import FrontMatter, read_front_matter
from agentlas_memory.ontology.markdown import outline_markdown
from agentlas_memory.ontology.markup import outline_asciidoc, outline_org, outline_rst
from agentlas_memory.ontology.outline import Outline, build_sections, first_title
from agentlas_memory.ontology.structured import (
    outline_code,
    outline_json,
    outline_toml,
    outline_yaml,
)
from agentlas_memory.ontology.webpage import WebPage

Outliner = Callable[[Sequence[str]], Outline]

_KINDS: Mapping[str, str] = {
    ".md": "markdown",
    ".mdx": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".adoc": "asciidoc",
    ".org": "org",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
}
_OUTLINERS: Mapping[str, Outliner] = {
    "markdown": lambda lines: outline_markdown("\n".join(lines)),
    "rst": outline_rst,
    "asciidoc": outline_asciidoc,
    "org": outline_org,
    "text": lambda lines: Outline([]),
    "json": outline_json,
    "yaml": outline_yaml,
    "toml": outline_toml,
    "code": outline_code,
}
_WITH_FRONT_MATTER = frozenset({"markdown", "rst", "asciidoc", "org", "text"})
_WITH_TITLE = frozenset({"markdown", "rst", "asciidoc", "org"})
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_document(path: str, data: bytes) -> Document:
    """Read a file by its format; everything unknown is code. Lines are those of the file."""
    text = decode_text(data)
    kind = _KINDS.get(PurePosixPath(path).suffix.lower(), "code")
    if kind == "html":
        return _read_webpage(path, text)
    lines = split_lines(text)
    front = read_front_matter(lines) if kind in _WITH_FRONT_MATTER else FrontMatter({})
    outline = _OUTLINERS[kind](_without_front_matter(lines, front))
    title = front.values.get("title")
    if not isinstance(title, str) or not title.strip():
        title = first_title(outline.headings) if kind in _WITH_TITLE else None
    return Document(
        path=path,
        title=(title or _file_title(path, kind)).strip(),
        kind=kind,
        front_matter=front.values,
        sections=build_sections(lines, outline, 1 if front.problem else front.end_line + 1),
    )


def decode_text(data: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark; nothing else is guessed."""
    encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableDocument(f"not text: no valid {error.encoding.upper()}") from error
    if "\0" in text:
        raise UnreadableDocument("not text: holds NUL bytes")
    return text


def split_lines(text: str) -> list[str]:
    """Split where editors do; a form feed or U+2028 does not end a line, as splitlines thinks."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _without_front_matter(lines: Sequence[str], front: FrontMatter) -> Sequence[str]:
    if front.problem and front.end_line:
        # Unreadable front matter is body text; its closing line would make a heading of it.
        return [*lines[: front.end_line - 1], "", *lines[front.end_line :]]
    return [*[""] * front.end_line, *lines[front.end_line :]]


def _file_title(path: str, kind: str) -> str:
    name = PurePosixPath(path)
    return name.stem if kind in _WITH_FRONT_MATTER or kind == "html" else name.name


def _read_webpage(path: str, text: str) -> Document:
    page = WebPage("\n".join(split_lines(text)))
    lines, outline = page.lines(), page.outline()
    title = page.title or first_title(outline.headings) or _file_title(path, "html")
    return Document(path, title, "html", {}, build_sections(lines, outline, 1))
