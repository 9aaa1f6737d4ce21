"""Entities and relations from a document's structure; nothing is guessed from its prose.

Headings, paths, identifiers in backticks, front-matter ids, ADR and issue numbers, and links.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from agentlas_memory.ontology.documents import Chunk, Document, Link, Mention, Section
from agentlas_memory.ontology.front_matter import as_strings
from agentlas_memory.ontology.keys import (
    ADR,
    Entity,
    adr_entity,
    heading_entity,
    identifier_entity,
    identity_entity,
    issue_entity,
    linked_entity,
    path_entity,
    resolve_link,
)
from agentlas_memory.ontology.standing import document_adr, read_standing

_CODE_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`) ?([^\s`]{2,60}) ?\1(?!`)")
_ISSUE = re.compile(r"(?<![\w&/#.-])(?<!\]\()(?:#|GH-)([1-9]\d{0,5})(?![\w-])")
_MARKDOWN_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|^ {0,3}\[[^\]\n]+\]:\s*<?([^\s>]+)", re.MULTILINE)
_LINKS: Mapping[str, re.Pattern[str]] = {
    "rst": re.compile(r"`[^`<>]*<([^<>`\s]+)>`__?|^\.\. _[^:\n]+:\s+(\S+)$", re.MULTILINE),
    "asciidoc": re.compile(r"\b(?:link|xref):([^\s\[]+)\["),
    "org": re.compile(r"\[\[file:([^\]]+)\]|\[\[(\./[^\]]+)\]"),
}
_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|ico|mp4)(?:[?#]|$)", re.IGNORECASE)
_PATH = re.compile(r"\.{0,2}/?[\w.@+-]+(?:/[\w.@+-]+)*/?")
_POSITION = re.compile(r"(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")
_CALL = re.compile(r"\([^()]*\)$")
_LITERALS = frozenset({"true", "false", "null", "none", "nil", "undefined"})
_FILE_NAME = re.compile(
    r".+\.(?:adoc|bash|c|cc|cfg|conf|cpp|cs|css|csv|go|h|hpp|html|ini|java"
    r"|js|json|jsx|kt|lock|lua|md|mdx|mjs|org|php|proto|ps1|py|rb|rs"
    r"|rst|scala|scss|sh|sql|svelte|swift|tf|toml|ts|tsx|txt|vue|xml"
    r"|yaml|yml|zig)",
    re.IGNORECASE,
)


class _Graph:
    """Mentions and links in the order of their discovery, each once."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.mentions: dict[tuple[str, int], Mention] = {}
        self.links: dict[Link, None] = {}
        self._chunks = chunks
        self._starts = [chunk.start_line for chunk in chunks]

    def chunk_at(self, line: int) -> int:
        """Return the first chunk that begins at or after the line, for lack of it the last."""
        return min(bisect_left(self._starts, line), len(self._starts) - 1)

    def chunk_with(self, line: int) -> int:
        """Return the first chunk that holds the line, or the one after it."""
        holds = (n for n, one in enumerate(self._chunks) if one.start_line <= line <= one.end_line)
        return next(holds, self.chunk_at(line))

    def mention(self, entity: Entity, chunk: int, relation: str = "mentions") -> None:
        """Note that a chunk names an entity; what it defines it need not mention."""
        place = (entity.key, chunk)
        if relation == "defined_in" or place not in self.mentions:
            self.mentions[place] = Mention(*entity, chunk, relation)

    def link(self, source: Entity, relation: str, target: Entity, chunk: int) -> None:
        """Note a relation, and that its evidence names both ends."""
        if source.key != target.key:
            self.links[Link(source.key, relation, target.key, chunk)] = None
            self.mention(source, chunk)
            self.mention(target, chunk)


def extract_entities(
    document: Document, chunks: Sequence[Chunk]
) -> tuple[list[Mention], list[Link]]:
    """Return what the document's chunks define and mention, and how it is related."""
    if not chunks:
        return [], []
    graph = _Graph(chunks)
    _add_document(graph, document)
    for section in document.sections:
        _add_heading(graph, document, section)
    fences = [fence for section in document.sections for fence in section.fences]
    for index, chunk in enumerate(chunks):
        _add_text(graph, document, _without_fences(chunk, fences), index)
    _add_standing(graph, document)
    return list(graph.mentions.values()), list(graph.links)


def _add_document(graph: _Graph, document: Document) -> None:
    graph.mention(path_entity(document.path), 0, "defined_in")
    for identity in as_strings(document.front_matter.get("id")):
        graph.mention(identity_entity(identity), 0, "defined_in")
    for entity in (document_adr(document), heading_entity(document.title)):
        if entity:
            graph.mention(entity, 0, "defined_in")


def _add_heading(graph: _Graph, document: Document, section: Section) -> None:
    if not section.heading_path or document.kind in ("json", "yaml", "toml"):
        return
    chunk = graph.chunk_at(section.start_line)
    name = section.heading_path[-1]
    entity = identifier_entity(name) if document.kind == "code" else heading_entity(name)
    if entity:
        graph.mention(entity, chunk, "defined_in")
        graph.link(entity, "part_of", path_entity(document.path), chunk)
    heading = "\n".join(section.text.split("\n")[: section.body_line - section.start_line])
    if heading:
        _add_text(graph, document, heading, chunk, "defined_in")


def _add_text(
    graph: _Graph, document: Document, text: str, chunk: int, code: str = "mentions"
) -> None:
    if "`" in text:
        for span in _CODE_SPAN.finditer(text):
            if entity := _code_entity(document.path, span[2]):
                graph.mention(entity, chunk, code if entity.kind == "identifier" else "mentions")
    if "#" in text or "GH-" in text:
        for issue in _ISSUE.findall(text):
            graph.mention(issue_entity(issue), chunk)
    for number in ADR.findall(text):
        graph.mention(adr_entity(number), chunk)
    here = path_entity(document.path)
    for target in _link_targets(document.kind, text):
        if path := resolve_link(document.path, target):
            graph.link(here, "links_to", path_entity(path), chunk)
        if (entity := linked_entity(document.path, target)) and entity.kind == "adr":
            graph.mention(entity, chunk)


def _link_targets(kind: str, text: str) -> Iterator[str]:
    for match in _LINKS.get(kind, _MARKDOWN_LINK).finditer(text):
        target = match[match.lastindex or 0]
        if not _IMAGE.search(target):
            yield target


def _code_entity(source: str, span: str) -> Entity | None:
    """Return the path or the identifier that stands between backticks, if it is one."""
    token = _POSITION.sub("", span).rstrip(",;")
    if "://" in token or token.casefold() in _LITERALS:
        return None
    if _is_path(token):
        path = resolve_link(source if token.startswith("../") else "", token)
        return path_entity(path) if path else None
    name = _CALL.sub("", token)
    if len(name) < 2 or not any(character.isalpha() for character in name):
        return None
    return identifier_entity(name)


def _is_path(token: str) -> bool:
    if not _PATH.fullmatch(token) or token.startswith(("/", "@")):
        return False
    return "/" in token or bool(_FILE_NAME.fullmatch(token))


def _without_fences(chunk: Chunk, fences: Sequence[tuple[int, int]]) -> str:
    # Backticks and number signs mean something else in code.
    lines = chunk.text.split("\n")
    index = max(bisect_left(fences, (chunk.start_line, 0)) - 1, 0)
    for first, last in fences[index:]:
        if first > chunk.end_line:
            break
        for number in range(max(first, chunk.start_line), min(last, chunk.end_line) + 1):
            lines[number - chunk.start_line] = ""
    return "\n".join(lines)


def _add_standing(graph: _Graph, document: Document) -> None:
    standing = read_standing(document)
    here = document_adr(document) or path_entity(document.path)
    for entity, line in standing.supersedes:
        graph.link(here, "supersedes", entity, graph.chunk_with(line))
    for entity, line in standing.superseded_by:
        graph.link(entity, "supersedes", here, graph.chunk_with(line))
