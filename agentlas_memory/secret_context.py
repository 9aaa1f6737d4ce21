"""Credentials that only their surroundings give away: assignments, headers, URLs, commands."""

import binascii
import re
from collections.abc import Iterator

from agentlas_memory.secret_rules import PROVIDERS
from agentlas_memory.secret_triggers import has_drawn_word
from agentlas_memory.secret_values import is_opaque, is_password, is_placeholder

Span = tuple[int, int, str]

_PASSWORD = r"pass(?:word|wd|phrase|code|wort)|(?<![a-z])pass|pwd|secret|(?<![a-z])pw(?![a-z])"
_KEY = (
    r"token|(?:api|app|auth|access|account|private|priv|service|application|client|db|database"
    r"|encryption|encrypt|signing|sign|master|license|session|shared|consumer|subscription|storage"
    r"|webhook|deploy|admin|user)[ _.\-]?key|credentials?|creds|auth|apikey"
)
# What follows the word decides: a password_hash, a token_count or a secretName is no credential.
_NOT_A_VALUE = re.compile(
    r"(?:ize|iz|ise|isa|less|[a-z]*ed\b|age)|[\w.\- ]*(?:id|ids|name|names|ur[li]|path|file|type|types|length|len"
    r"|count|limit|hash|hashed|policy|field|fields|expir\w*|ttl|at|endpoint|header|version|prefix|suffix|regex"
    r"|pattern|alias|arn|size|sizes|label|hint|placeholder|min|max|rotation|strength|salt|algorithm|alg|method|mode"
    r"|provider|store|manager|ref|scope|scopes|budget|usage|used|digest|sha\d*|checksum|fingerprint|iv|ring|board"
    r"|class|index|idx|env|var|title|description|help|text|date|time|number|num|level|format|encoding|author\w*"
    r"|column|table|bucket|map|list|set|role|group|enabled|disabled|required|reset|changed)"
    r"s?[\"'`\])]?\s*$"
)
_LINK = (
    r"(?P<tail>[\w.\-]{0,30}(?:[ \t](?:key|token|id|secret|value|password))?)"
    r"(?P<close>[\"'`\])*]{0,3})"
    r"(?P<link>[ \t]{0,8}(?:=>|:=|\?=|\|\||={1,3}|:{1,3}|>)[ \t]{0,8}|[\"'][ \t]?,[ \t]?(?=[\"'])|\((?=[\"'])"
    r"|[ \t]value=(?=[\"'])|[ \t]{1,4}(?:is|was|are):?[ \t]{1,4}|[ \t]{1,4})"
    r"(?:[bruf@]?(?P<quote>[\"'`]|\\\")(?P<quoted>[^\"'`\n\\]{4,400})(?=[\"'`\\]|$)"
    r"|(?P<bare>[^\s\"'`<>{}()\[\],;|\\]{6,400})(?P<after>[^\n]{0,2}))"
)
_ASSIGNED = rf"(?:(?P<password>{_PASSWORD})|{_KEY})s?{_LINK}"
_PROVIDED = (
    rf"(?<![a-z0-9])(?P<name>{'|'.join(map(re.escape, PROVIDERS))})"
    r"(?P<middle>[\w.\-]{0,40}(?:[ \t][a-z_]{1,12}){0,3}[\"'`\])]{0,3})"
    r"(?P<link>[ \t]{0,8}(?:=>|:=|\?=|\|\||={1,3}|:{1,3}|>)[ \t]{0,8}|[\"'][ \t]?,[ \t]?|\((?=[\"'])|[ \t]{1,4})"
    r"[\"'`]?(?P<value>[A-Za-z0-9][\w%+/=.:\-]{11,200})"
)
_USERINFO = (
    r"(?<=://)(?P<user>[^\s/:@\"'<>`]{0,128}):(?P<value>[^\s/\"'<>`]{1,256})@(?=[\w.\[\-$%{]|$)"
)
_SCHEME = (
    r"\b(?P<scheme>bearer|basic|token|apikey|api-key|bot)[ \t]{1,3}(?P<value>[\w.~+/=|\-]{8,4096})"
)
_PLAIN_HEADER = r"\b(?:authorization|x-[\w-]{0,30}(?:key|token|secret))[\"'`]?\s?[:=]\s?[\"'`]?(?P<value>[\w.~+/=|\-]{12,4096})"
_QUERY = r"[?&#](?:key|sig|signature|x-amz-signature|sign|hmac|code|auth)=(?P<value>[\w%.~+/=\-]{16,512})"
_USER_OPTION = r"[ \t\n](?:-u|--user)[ =]?[\"']?[^\s:\"'<]{1,64}:(?P<value>[^\s\"']{1,256})"
_COMMAND_LENGTH = 400
_OPTION = r"(?:--(?:[a-z]+-)*(?:password|passwd|token|secret|api-key|apikey|key)[ =]|\bsshpass -p ?)[\"']?(?P<value>[^\s\"'<>]{6,400})"


_NAME = re.compile(r"[A-Za-z]\w*(?:[._][A-Za-z]\w*)+|\w*_\d+|[a-z]+_\w+")
_LOWER = {capital: capital + 32 for capital in range(65, 91)}


def find_in_context(text: str) -> Iterator[Span]:
    """Yield the value of each assignment, header, URL or command that holds a credential."""
    # Patterns meet lower case (ASCII only, so that places stay): twice as fast as ignoring case.
    lowered = text.translate(_LOWER)
    yield from _find_userinfo(text)
    yield from _find_headers(text, lowered)
    yield from _find_assigned(text, lowered)
    if any(name in lowered for name in PROVIDERS):
        yield from _find_provided(text, lowered)
    if "curl" in text:
        for match in re.finditer(_USER_OPTION, text, re.ASCII):
            command = text[max(0, match.start() - _COMMAND_LENGTH) : match.start()]
            if "curl" in command and not is_placeholder(match["value"]):
                yield *match.span("value"), "basic-auth"
    for kind, pattern in (("url-parameter", _QUERY), ("option-value", _OPTION)):
        for match in re.finditer(pattern, lowered, re.ASCII):
            if is_opaque(text[slice(*match.span("value"))]):
                yield *match.span("value"), kind


def _find_userinfo(text: str) -> Iterator[Span]:
    for match in re.finditer(_USERINFO, text, re.ASCII) if "://" in text else ():
        value = match["value"]
        if (not is_placeholder(value) or value.isalnum() and len(value) < 3) and (
            value != match["user"] or is_opaque(value)
        ):
            yield *match.span("value"), "url-password"


def _find_headers(text: str, lowered: str) -> Iterator[Span]:
    for match in re.finditer(_SCHEME, lowered, re.ASCII):
        value = text[slice(*match.span("value"))]
        named = "authorization" in lowered[max(0, match.start() - 24) : match.start()]
        basic = match["scheme"] == "basic" and _is_basic(value)
        if basic or (is_opaque(value) and (named or len(value) >= 20)):
            yield *match.span("value"), "authorization"
    if "authorization" in lowered or "x-" in lowered:
        for match in re.finditer(_PLAIN_HEADER, lowered, re.ASCII):
            if is_opaque(text[slice(*match.span("value"))]):
                yield *match.span("value"), "authorization"


def _is_basic(value: str) -> bool:
    """Return whether a value is the base64 of `user:password`."""
    try:
        return b":" in binascii.a2b_base64(value.rstrip("."))
    except binascii.Error:
        return False


def _find_assigned(text: str, lowered: str) -> Iterator[Span]:
    for match in re.finditer(_ASSIGNED, lowered, re.ASCII):
        if _NOT_A_VALUE.match(match["tail"]):
            continue
        start, end = match.span("quoted" if match["quoted"] else "bare")
        value = text[start:end].rstrip(".,:")
        if match["link"] == "=":  # a query string goes on
            value = value.partition("&")[0]
        if not match["password"]:  # a URL goes on
            value = value.partition("@")[0]
        if _is_assigned_secret(match, value):
            yield start, start + len(value), "password" if match["password"] else "credential"


def _is_assigned_secret(match: re.Match[str], value: str) -> bool:
    written = match["link"].strip()
    if not written:
        return False
    if written[:1].isalpha() and not match["quoted"]:  # prose: "the token is ..."
        return is_opaque(value) and len(value) >= 10
    if match["quoted"]:
        return is_password(value) if match["password"] else is_opaque(value) and len(value) >= 10
    after = match["after"]
    if after[:1] in ("(", "[", "{") or (after[:1] == "<" and after != "</"):
        return False
    if match["password"] and after in ("", "\r", "</"):
        if len(value) >= 8 and is_password(value) and not _NAME.fullmatch(value):
            return True
    return is_opaque(value) and len(value) >= (8 if match["password"] else 10)


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
        return assigned and len(value) >= 15
    return (named or assigned) and is_opaque(value) and has_drawn_word(value.encode())
