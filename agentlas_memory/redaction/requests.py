"""Credentials on their way to a server: in URLs, headers and cookies."""

import binascii
import re
from collections.abc import Iterator

from agentlas_memory.redaction.credential_names import names_request
from agentlas_memory.redaction.drawn import has_drawn_word
from agentlas_memory.redaction.values import is_opaque, is_placeholder

Span = tuple[int, int, str]

_USERINFO = (
    r"(?<=://)(?P<user>[^\s/:@\"'<>`]{0,128}):(?P<value>[^\s/\"'<>`]{1,256})@(?=[\w.\[\-$%{]|$)"
)
# A token alone in front of the host: https://<token>@github.com/...
_TOKEN_USER = r"(?<=://)(?P<value>[^\s/:@\"'<>`?#]{16,256})(?::(?:x-oauth-basic)?)?@(?=[\w\[])"
_QUERY = r"[?&#](?:key|sig|signature|x-amz-signature|auth)=(?P<value>[\w%.~+/=\-]{16,512})"
_SCHEME = (
    r"\b(?P<scheme>bearer|basic|token|apikey|api-key|bot)[ \t]{1,3}(?P<value>[\w.~+/=|\-]{8,4096})"
)
_HEADER = (
    r"\b(?:authorization|x-[\w-]{0,30}(?:key|token|secret))[\"'`]?\s?[:=]\s?[\"'`]?"
    r"(?P<value>[\w.~+/=|\-]{12,4096})"
)
# A session that a cookie carries: in a header, in `document.cookie`, in an option of curl.
_COOKIES = (
    r"(?:cookies?|-b(?<=[ \t]-b))\\{0,7}[\"'`]?[ \t]{0,4}[:=, ]?[ \t]{0,4}\\{0,7}[\"'`]?"
    r"(?=[^\s=;]{1,80}=)(?P<pairs>[^\n\"'`<>]{3,4096})"
)
_SESSION = re.compile(
    r"(?<![\w.$-])(?P<name>[^\s=;,]{0,60}?(?:sess|sid|auth|token|jwt|login|remember|identity|ticket|secret"
    r"|key|csrf|xsrf|credential|_user)[^\s=;,]{0,40})=(?P<value>[^\s;,\\]{10,4096})"
)
_HEADER_LENGTH = 24
_SHORTEST_BEARER = 20


def find_sent(text: str, lowered: str) -> Iterator[Span]:
    """Yield each credential in a URL, a header or a cookie."""
    yield from _find_userinfo(text)
    yield from _find_schemes(text, lowered)
    yield from _find_cookies(text, lowered)
    for kind, trigger, pattern in (
        ("authorization", "authorization", _HEADER),
        ("authorization", "x-", _HEADER),
        ("url-parameter", "=", _QUERY),
    ):
        for match in re.finditer(pattern, lowered, re.ASCII) if trigger in lowered else ():
            if is_opaque(text[slice(*match.span("value"))]):
                yield *match.span("value"), kind


def _find_userinfo(text: str) -> Iterator[Span]:
    for match in re.finditer(_USERINFO, text, re.ASCII) if "://" in text else ():
        value = match["value"]
        stands_for_one = is_placeholder(value) and not (len(value) < 3 and value.isalnum())
        # postgres:postgres@ is a default that everybody knows.
        if value == "x-oauth-basic":
            continue  # the token is the user
        if not stands_for_one and (value != match["user"] or is_opaque(value)):
            yield *match.span("value"), "url-password"
    for match in re.finditer(_TOKEN_USER, text, re.ASCII) if "://" in text else ():
        if is_opaque(match["value"]) and has_drawn_word(match["value"].encode("ascii", "replace")):
            yield *match.span("value"), "url-token"


def _find_schemes(text: str, lowered: str) -> Iterator[Span]:
    for match in re.finditer(_SCHEME, lowered, re.ASCII):
        value = text[slice(*match.span("value"))]
        before = lowered[max(0, match.start() - _HEADER_LENGTH) : match.start()]
        if match["scheme"] == "token" and names_request(lowered, match.start(), value):
            continue
        telling = match["scheme"] not in ("basic", "bot") and len(value) >= _SHORTEST_BEARER
        in_header = telling or "authorization" in before
        basic = match["scheme"] == "basic" and _is_basic(value)
        if basic or (in_header and is_opaque(value)):
            yield *match.span("value"), "authorization"


def _is_basic(value: str) -> bool:
    """Return whether a value is the base64 of `user:password`."""
    try:
        decoded = binascii.a2b_base64(value.rstrip("."))
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


def _find_cookies(text: str, lowered: str) -> Iterator[Span]:
    if "cookie" not in lowered and "curl" not in lowered:
        return
    for cookies in re.finditer(_COOKIES, lowered, re.ASCII):
        for match in _SESSION.finditer(lowered, *cookies.span("pairs")):
            value = text[slice(*match.span("value"))]
            if is_opaque(value) and has_drawn_word(value.encode("ascii", "replace")):
                yield *match.span("value"), "cookie"
