"""Credentials on their way to a server: URLs, headers and command lines."""

import binascii
import re
from collections.abc import Iterator

from agentlas_memory.redaction.drawn import has_drawn_word
from agentlas_memory.redaction.values import is_opaque, is_placeholder

Span = tuple[int, int, str]

_USERINFO = (
    r"(?<=://)(?P<user>[^\s/:@\"'<>`]{0,128}):(?P<value>[^\s/\"'<>`]{1,256})@(?=[\w.\[\-$%{]|$)"
)
# A token alone in front of the host: https://<token>@github.com/...
_TOKEN_USER = r"(?<=://)(?P<value>[^\s/:@\"'<>`?#]{16,256})@(?=[\w\[])"
_QUERY = r"[?&#](?:key|sig|signature|x-amz-signature|auth)=(?P<value>[\w%.~+/=\-]{16,512})"
_SCHEME = (
    r"\b(?P<scheme>bearer|basic|token|apikey|api-key|bot)[ \t]{1,3}(?P<value>[\w.~+/=|\-]{8,4096})"
)
_HEADER = (
    r"\b(?:authorization|x-[\w-]{0,30}(?:key|token|secret))[\"'`]?\s?[:=]\s?[\"'`]?"
    r"(?P<value>[\w.~+/=|\-]{12,4096})"
)
_OPTION = (
    r"(?:--(?:[a-z]{1,20}-){0,4}(?:password|passwd|token|secret|api-key|apikey|key)[ =]"
    r"|\bsshpass -p ?)[\"']?(?P<value>[^\s\"'<>]{6,400})"
)
_USER_OPTION = r"[ \t\n](?:-u|--user)[ =]?[\"']?[^\s:\"'<]{1,64}:(?P<value>[^\s\"']{1,256})"
_TOKEN_OPTION = r"[ \t\n](?:-u|--user)[ =]?[\"']?(?P<value>[^\s:\"'<]{12,256}):(?=[\"'\s]|$)"
# Files of passwords: .netrc and .pgpass.
_NETRC = r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<value>[^\s\"'<]{4,256})"
# Not from within a host: each of a million asterisks would be tried as the first of one.
_PGPASS = (
    r"(?<![\w.*:/-])[\w.*-]{1,255}:\d{2,5}:[\w*-]{1,128}:[\w.@-]{1,128}:"
    r"(?P<value>[^\s:\"'<>]{8,256})"
)
_COMMAND_LENGTH = 400
_HEADER_LENGTH = 24
_SHORTEST_BEARER = 20


def find_sent(text: str, lowered: str) -> Iterator[Span]:
    """Yield each credential in a URL, a header or a command line."""
    yield from _find_userinfo(text)
    yield from _find_schemes(text, lowered)
    yield from _find_curl_users(text)
    yield from _find_in_password_files(text)
    for kind, trigger, pattern in (
        ("authorization", "authorization", _HEADER),
        ("authorization", "x-", _HEADER),
        ("url-parameter", "=", _QUERY),
        ("option-value", " ", _OPTION),
    ):
        for match in re.finditer(pattern, lowered, re.ASCII) if trigger in lowered else ():
            if is_opaque(text[slice(*match.span("value"))]):
                yield *match.span("value"), kind


def _find_userinfo(text: str) -> Iterator[Span]:
    for match in re.finditer(_USERINFO, text, re.ASCII) if "://" in text else ():
        value = match["value"]
        stands_for_one = is_placeholder(value) and not (len(value) < 3 and value.isalnum())
        # postgres:postgres@ is a default that everybody knows.
        if not stands_for_one and (value != match["user"] or is_opaque(value)):
            yield *match.span("value"), "url-password"
    for match in re.finditer(_TOKEN_USER, text, re.ASCII) if "://" in text else ():
        if is_opaque(match["value"]) and has_drawn_word(match["value"].encode("ascii", "replace")):
            yield *match.span("value"), "url-token"


def _find_in_password_files(text: str) -> Iterator[Span]:
    for trigger, pattern in ((" login ", _NETRC), (":", _PGPASS)):
        for match in re.finditer(pattern, text, re.ASCII) if trigger in text else ():
            start, value = match.start("value"), match["value"].rstrip(".")
            if is_opaque(value):
                yield start, start + len(value), "password"


def _find_schemes(text: str, lowered: str) -> Iterator[Span]:
    for match in re.finditer(_SCHEME, lowered, re.ASCII):
        value = text[slice(*match.span("value"))]
        before = lowered[max(0, match.start() - _HEADER_LENGTH) : match.start()]
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


def _find_curl_users(text: str) -> Iterator[Span]:
    for match in re.finditer(_USER_OPTION, text, re.ASCII) if "curl" in text else ():
        command = text[max(0, match.start() - _COMMAND_LENGTH) : match.start()]
        if "curl" in command and not is_placeholder(match["value"]):
            yield *match.span("value"), "basic-auth"
    for match in re.finditer(_TOKEN_OPTION, text, re.ASCII) if "curl" in text else ():
        if is_opaque(match["value"]):
            yield *match.span("value"), "basic-auth"
