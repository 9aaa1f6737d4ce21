"""Markdown's headings and code blocks, as markdown-it sees them.

Only the block rules run, because a section needs no more; that makes the library fast enough
for whole repositories (about four megabytes a second) where its inline rules are not. A
heading's own text is the exception: it goes through the inline rules to lose its markup.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agentlas_memory.ontology.outline import MAX_HEADING, Heading, Outline

_BLOCKS = MarkdownIt("commonmark")
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])
_INLINE = MarkdownIt("commonmark").enable("strikethrough")

_MARKUP = re.compile(r"[`*_\[<&\\!~{]")
_ATTRIBUTES = re.compile(r"\s*\{[:#.][^{}]*\}\s*$")
_REFERENCE = re.compile(r"\[([^\[\]]+)\](?:\[[^\[\]]*\])?")


def outline_markdown(text: str) -> Outline:
    """Find the headings and fences; headings inside lists and quotations are not sections."""
    headings, fences = [], []
    # The parser ignores a last line of blanks that has no newline.
    tokens = _BLOCKS.parse(text + "\n")
    for index, token in enumerate(tokens):
        if token.map is None:
            continue
        if token.type == "fence":
            fences.append((token.map[0] + 1, token.map[1]))
        elif token.type == "heading_open" and token.level == 0:
            title = clean_heading(tokens[index + 1].content)
            if title and not _is_paragraph(token, tokens[index + 1].content):
                level = int(token.tag[1:])
                headings.append(Heading(level, title, token.map[0] + 1, token.map[1] + 1))
    return Outline(headings, fences)


def _is_paragraph(heading: Token, content: str) -> bool:
    # A rule typed right under a long paragraph makes all of it a heading by the letter of the
    # specification. The author meant a rule, and a heading is no part of the section's body.
    return heading.markup in ("-", "=") and (content.count("\n") > 2 or len(content) > MAX_HEADING)


def clean_heading(content: str) -> str:
    """Return a heading's words without its markup, on one line."""
    content = content[:MAX_HEADING]
    if _MARKUP.search(content):
        content = _ATTRIBUTES.sub("", content)
        (inline,) = _INLINE.parseInline(content)
        content = "".join(_visible(token) for token in inline.children or ())
        content = _REFERENCE.sub(r"\1", content)
    return " ".join(content.split())


def _visible(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "" if token.type == "html_inline" else token.content
