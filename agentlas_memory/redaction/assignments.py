"""Values assigned under a credential's name or a provider's: in code, YAML, JSON, env and prose."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.drawn import has_drawn_word
from agentlas_memory.redaction.rules import PROVIDERS
from agentlas_memory.redaction.values import is_opaque, is_password

Span = tuple[int, int, str]

_PASSWORD = (
    r"pass(?:word|wd|phrase|code|wort)|(?<![a-z])pass|pwd|secret|(?<![a-z])pw(?![a-z])"  # "compass"
)
_KEY = (
    r"token|(?:api|app|iam|auth|access|account|private|priv|service|application|client|db|database"
    r"|encryption|encrypt|signing|sign|master|license|session|shared|consumer|subscription|storage"
    r"|webhook|deploy|admin|user)[ _.\-]?key|credentials?|creds|auth|apikey"
)
# What follows the word decides: a password_hash, a token_count or a secretName is no credential.
_OF_A_CREDENTIAL = re.compile(
    r"(?:i[sz]e?|isa|less|[a-z]*ed\b|age)|[\w.\- ]*(?:id|name|ur[li]|path|file|type|length|len"
    r"|count|limit|hash|hashed|policy|policie|field|expir\w*|ttl|at|endpoint|header|version|prefix|suffix"
    r"|regex|pattern|alia|arn|size|label|hint|placeholder|min|max|rotation|strength|salt|algorithm"
    r"|alg|method|mode|provider|store|manager|ref|scope|budget|usage|used|digest|sha\d*|checksum"
    r"|fingerprint|iv|ring|board|clas|index|idx|env|var|title|description|help|text|date|time"
    r"|number|num|level|format|encoding|author\w*|column|table|bucket|map|list|set|role|group"
    r"|enabled|disabled|required|reset|changed)s?[\"'`\])]?\s*$"
)
_OPERATOR = r"[ \t]{0,8}(?:=>|:=|\?=|\|\||={1,3}|:{1,3}|>)[ \t]{0,8}"
_ASSIGNED = (
    rf"(?:(?P<password>{_PASSWORD})|{_KEY})s?"
    r"(?P<tail>[\w.\-]{0,30}(?:[ \t](?:key|token|id|secret|value|password))?)(?:\\?[\"'`\])*]){0,3}"
    rf"(?P<link>{_OPERATOR}|[\"'][ \t]?,[ \t]?(?=[\"'])|\((?=[\"'])|[ \t]value=(?=[\"'])"
    r"|[ \t]{1,4}(?:is|was|are):?[ \t]{1,4})"
    r"(?:[bruf@]?(?:[\"'`]|\\\")(?P<quoted>[^\"'`\n\\]{4,400})(?=[\"'`\\]|$)"
    r"|(?P<bare>[^\s\"'`<>{}()\[\],;|\\]{6,400})(?P<after>[^\n]{0,2}))"
)
_PROVIDED = (
    rf"(?<![a-z0-9])(?P<name>{'|'.join(map(re.escape, PROVIDERS))})"
    r"(?P<middle>[\w.\-]{0,40}(?:[ \t][a-z_]{1,12}){0,3}(?:\\?[\"'`\])]){0,3})"
    rf"(?P<link>{_OPERATOR}|[\"'][ \t]?,[ \t]?|\((?=[\"'])|[ \t]{{1,4}})"
    r"(?:\\?[\"'`])?(?P<value>[A-Za-z0-9][\w%+/=.:\-]{11,200})"
)
_NAME = re.compile(r"[A-Za-z]\w*(?:[._][A-Za-z]\w*)+|\w*_\d+|[a-z]+_\w+")
_SHORTEST_BARE = 8
_SHORTEST_KEY = 10
_SHORTEST_NUMBER = 15


def find_assigned(text: str, lowered: str) -> Iterator[Span]:
    """Yield each value that a credential word or a provider's name introduces."""
    for match in re.finditer(_ASSIGNED, lowered, re.ASCII):
        if not _OF_A_CREDENTIAL.match(match["tail"]):
            start, end = match.span("quoted" if match["quoted"] else "bare")
            value = _without_rest(text[start:end], match)
            if _is_secret(value, match):
                yield start, start + len(value), "password" if match["password"] else "credential"
    if any(name in lowered for name in PROVIDERS):
        yield from _find_provided(text, lowered)


def _without_rest(value: str, match: re.Match[str]) -> str:
    """Cut what does not belong to a value: the next parameter, a URL's host, a sentence's end."""
    if match["link"] == "=":
        value = value.partition("&")[0]
    if not match["password"]:
        value = value.partition("@")[0]
    return value.rstrip(".,:")


def _is_secret(value: str, match: re.Match[str]) -> bool:
    if match["password"]:
        if match["quoted"]:
            return is_password(value)
        if _is_password_line(value, match):
            return True
    elif len(value) < _SHORTEST_KEY:
        return False
    return not _goes_on_as_code(match) and len(value) >= _SHORTEST_BARE and is_opaque(value)


def _is_password_line(value: str, match: re.Match[str]) -> bool:
    """Return whether a bare value ends its line or element: `password: summer2024`."""
    written = not match["link"].strip()[:1].isalpha() and match["after"] in ("", "\r", "</")
    long_enough = len(value) >= _SHORTEST_BARE
    return written and long_enough and is_password(value) and not _NAME.fullmatch(value)


def _goes_on_as_code(match: re.Match[str]) -> bool:
    after = match["after"] or ""
    return after[:1] in ("(", "[", "{") or (after[:1] == "<" and after != "</")


def _find_provided(text: str, lowered: str) -> Iterator[Span]:
    for match in re.finditer(_PROVIDED, lowered, re.ASCII):
        start, end = match.span("value")
        value = text[start:end].rstrip(".:")
        if _is_provided_secret(value, match["link"], match["middle"]):
            name = match["name"].strip("_").replace("_", "-")
            yield start, start + len(value), f"{name}-credential"


def _is_provided_secret(value: str, link: str, middle: str) -> bool:
    named = any(word in middle for word in ("key", "token", "secret", "passw", "credential"))
    assigned = any(sign in link for sign in "=:>|")
    if value.isdigit():
        return assigned and len(value) >= _SHORTEST_NUMBER
    return (named or assigned) and is_opaque(value) and has_drawn_word(value.encode())
