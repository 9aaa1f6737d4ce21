"""Kubernetes secrets: what stands under `data` and `stringData`, in YAML, flow style and JSON."""

import re
from collections.abc import Iterator
from itertools import pairwise

from agentlas_memory.redaction.values import is_opaque, is_password, is_placeholder

Span = tuple[int, int, str]

_QUOTE = r"(?:\\{0,7}[\"'])?"
_SECRET = re.compile(
    rf"\bkind{_QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}{_QUOTE}Secret(?:List)?(?![\w.-])", re.ASCII
)
_DOCUMENT_END = re.compile(r"(?m)^---(?=\s|$)")
_BLOCK = re.compile(r"[ \t]{0,60}(?:- )?(?P<key>data|stringData):[ \t]{0,8}(?:#.*)?\r?$", re.M)
_LINE = re.compile(r"^.*$", re.M)
_ENTRY = re.compile(
    rf"[ \t]+{_QUOTE}(?P<name>[\w./\-]{{1,253}}){_QUOTE}:[ \t]{{1,8}}{_QUOTE}"
    r"(?P<value>[^\s\"'\\,|>][^\s\"'\\,]*)"
)
_MORE = re.compile(r"[ \t]+(?P<value>[A-Za-z0-9+/]{16,}={0,2})[ \t\r]*$", re.M)  # of `name: |`
_FLOW = re.compile(
    rf"\b(?P<key>data|stringData){_QUOTE}[ \t]{{0,4}}:\s{{0,40}}\{{(?P<members>[^{{}}]{{0,20000}})"
)
_MEMBER = re.compile(
    rf"{_QUOTE}(?P<name>[\w./\-]{{1,253}}){_QUOTE}\s{{0,8}}:\s{{0,8}}{_QUOTE}"
    r"(?P<value>[^\s\"'\\,{}]{1,8192})"
)
_CREDENTIAL = re.compile(r"(?i)pass|pwd|secret|token|key|cred|auth|dsn")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{4,}={0,2}")
_LONG = 16


def find_manifests(text: str) -> Iterator[Span]:
    """Yield the values of each YAML document whose kind is Secret."""
    if "Secret" not in text or not _SECRET.search(text):
        return
    edges = [0, *(match.start() for match in _DOCUMENT_END.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        told = text.find("data", start, end) >= 0 or text.find("stringData", start, end) >= 0
        if told and _SECRET.search(text, start, end):
            for key, match in (*_in_blocks(text, start, end), *_in_flow(text, start, end)):
                if _is_secret(match, key):
                    yield *match.span("value"), "kubernetes-secret"


def _in_blocks(text: str, start: int, end: int) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the lines that are indented deeper than the `data:` above them."""
    key, depth = "", 0
    for line in _LINE.finditer(text, start, end):
        indent = len(line[0]) - len(line[0].lstrip())
        if key and (indent > depth or not line[0].strip()):
            match = _ENTRY.match(text, *line.span()) or _MORE.match(text, *line.span())
            if match:
                yield key, match
        else:
            block = _BLOCK.match(text, *line.span())
            key, depth = (block["key"], indent) if block else ("", 0)


def _in_flow(text: str, start: int, end: int) -> Iterator[tuple[str, re.Match[str]]]:
    for flow in _FLOW.finditer(text, start, end):
        for member in _MEMBER.finditer(text, *flow.span("members")):
            yield flow["key"], member


def _is_secret(match: re.Match[str], key: str) -> bool:
    """Return whether a value is one: base64 under `data`, what may be a password as text."""
    value = match["value"]
    if is_placeholder(value):
        return False
    if key == "data" and _BASE64.fullmatch(value):
        return len(value) >= _LONG or (len(value) % 4 == 0 and len(value) >= _LONG // 2)
    named = bool(_CREDENTIAL.search(match.groupdict().get("name", "")))
    return is_password(value) or is_opaque(value) or (named and len(value) >= _LONG // 2)
