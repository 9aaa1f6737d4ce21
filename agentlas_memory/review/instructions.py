"""Tells text that speaks to a model from text that informs a reader.

A finding is a question to a person, never a verdict: a page about such attacks quotes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from agentlas_memory.review import english, languages
from agentlas_memory.review.hidden import comment_to_model, hidden_text
from agentlas_memory.review.plain import decoded, plain, unmasked

_LONG = 200
_SENTENCE = re.compile(r"(?<=[.!?。])\s*")
# Signs that only a program writes between the turns of a talk, or around what it was handed.
_TAG = re.compile(
    r"<\|\s*(?:im_start|im_end|im_sep|system|user|assistant|end_?of_?text|end_?of_?prompt|eot_id"
    r"|begin_of_text|(?:start|end)_header_id|start|end|channel|message)\s*\|>"
    r"|<(?:start|end)_of_turn>|<</?SYS>>|\[/INST\]|\[INST\] |(?:^"
    r"|\n)\n?Human:.{0,4000}?\n\n?Assistant:"
    r"|</?(?:system-reminder|agentlas-memory-context|system[-_](?:prompt|message"
    r"|instructions?)|function_calls)\b"
    r"|</system>\s*<system>|<system>\s*\S+\s+\S+\s+\S|<!--\s*agentlas-memory:"
    r"|<(?:IMPORTANT|INFORMATION|SYSTEM|ADMIN|INSTRUCTIONS?)>\s*\S+\s+\S+\s+\S"
    r"|(?:^|\n)[\[(<#* ]*(?:SYSTEM|ADMIN|DEVELOPER)(?: [A-Z]+){0,3}\b[^\n]{0,30}[:\])]\s*"
    r"(?:[Yy]ou |[Ii]gnore|[Tt]he following|[Nn]ew )"
    r"|(?:^|\n)Assistant: [^\n]*\n+User: |#{2,} ?NEW INSTRUCTIONS|(?:^|\n)\W*NEW INSTRUCTIONS\W*\n",
    re.DOTALL,
)
_SIGNS = ("<", "INST]", "Assistant:", "SYSTEM", "ADMIN", "DEVELOPER", "NEW INSTRUCTIONS")
_DECODE = re.compile(r"\b(?:decode|base64)\b.{0,60}\b(?:follow|execute|run|obey|do what)\b")


class Suspicion(NamedTuple):
    """What a text looks like (a rule's name), what it hides, and the part that says it."""

    rule: str
    hidden: str
    excerpt: str


def find_instruction(text: str) -> Suspicion | None:
    """Return why a text looks like an instruction to a model, None when it does not."""
    found = _judge(text)
    if found is None:
        return None
    return Suspicion(*found, _narrowed(text, lambda part: _judge(part) is not None))


def _judge(text: str) -> tuple[str, str] | None:
    """Return the rule that fits, and what was hidden."""
    if hidden := hidden_text(text):
        return "hidden text", hidden
    if any(sign in text for sign in _SIGNS) and _TAG.search(text):
        return "tag", ""
    if comment := comment_to_model(text):
        return "comment", comment
    if name := _phrase(text):
        return name, ""
    if (said := decoded(text)) and (_phrase(said) or _DECODE.search(plain(text))):
        return "encoded", said
    return None


def _phrase(text: str) -> str:
    """Return the name of the first rule that a text's plain or unmasked form fits, or blank."""
    form = plain(text)
    for rule in (*english.RULES, *(languages.LATIN if form.isascii() else languages.RULES)):
        if rule.fits(form):
            return rule.name
    glued = english.GLUED
    if any(word in form for word in glued.needs) and glued.fits(form.replace(" ", "")):
        return glued.name
    bare = unmasked(form)
    if bare != form and any(rule.fits(bare) for rule in english.RULES):
        return "disguised"
    return ""


def _narrowed(text: str, fits: Callable[[str], bool]) -> str:
    """Return the first line, or its first sentence, that fits by itself; for lack of one, all."""
    for line in filter(str.strip, text.split("\n")):
        if fits(line):
            if len(line) <= _LONG:
                return line
            return next((part for part in _SENTENCE.split(line) if fits(part)), line)
    return text
