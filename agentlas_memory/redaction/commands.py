"""Passwords given on a command line or in a statement of SQL."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.credential_names import names_request
from agentlas_memory.redaction.values import is_opaque, is_password, is_placeholder, is_strong

Span = tuple[int, int, str]

_OPTION = (
    r"--(?:[a-z]{1,20}-){0,4}(?:password|passwd|token|secret|api-key|apikey|key)[ =]"
    r"[\"']?(?P<value>[^\s\"'<>]{6,400})"
)
_SSHPASS = r"\bsshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?(?P<value>[^\s\"'<>]{4,400})"
# `-p` and the password are one word.
_MYSQL = re.compile(r"(?<=[ \t])-p[\"']?(?P<value>[^\s\"'<>|;&]{4,256})", re.ASCII)
_MYSQL_COMMAND = re.compile(
    r"\b(?:mysql(?:dump|admin|import|show|check|slap|pump)?|mariadb(?:-\w{1,16})?)"
    r"(?P<between>(?:[ \t]+[^\s|;&]+){0,20})[ \t]+$"
)
_OPTIONS = re.compile(r"(?:\s+-[\w-]*[a-zA-Z](?:[ =]?[^\s-]\S*)?)*")
_PORTS = re.compile(r"[\d.:/]+(?:tcp|udp)?")
_IDENTIFIED = (
    r"\bidentified\s{1,4}(?:with\s{1,4}\S{1,60}\s{1,4})?by\s{1,4}(?:password\s{1,4})?"
    r"(?:[\"'](?P<value>[^\"'\n]{4,256})[\"']|(?P<bare>[^\s\"'<>;,]{6,256}))"
)
_SQL_PASSWORD = r"\bpassword[ \t]{1,4}'(?P<value>[^'\n]{4,256})'"
_USER = (
    r"[ \t\n](?:-[a-z]{0,5}u|--(?:proxy-)?user|-U)[ =]?[\"']?[^\s:\"'<]{1,64}"
    r":(?P<value>[^\s\"']{1,256})"
)
_TOKEN_USER = (
    r"[ \t\n](?:-[a-z]{0,5}u|--user)[ =]?[\"']?(?P<value>[^\s:\"'<]{12,256}):(?=[\"'\s]|$)"
)
_COMMAND_LENGTH = 400
_MYSQL_LENGTH = 240


def find_in_commands(text: str, lowered: str) -> Iterator[Span]:
    """Yield each password of a command or statement."""
    yield from _find_curl_users(text)
    for match in re.finditer(_OPTION, lowered, re.ASCII) if "--" in lowered else ():
        start, end = match.span("value")
        word = lowered.rfind("token", match.start(), start)
        if is_opaque(text[start:end]) and not names_request(lowered, word, text[start:end]):
            yield start, end, "option-value"
    for match in re.finditer(_SSHPASS, lowered, re.ASCII) if "sshpass" in lowered else ():
        if not is_placeholder(text[slice(*match.span("value"))]):
            yield *match.span("value"), "option-value"
    if "mysql" in lowered or "mariadb" in lowered:
        yield from _find_mysql_passwords(text, lowered)
    yield from _find_in_sql(text, lowered)


def _find_mysql_passwords(text: str, lowered: str) -> Iterator[Span]:
    for match in _MYSQL.finditer(text):
        value, before = (
            match["value"],
            lowered[max(0, match.start() - _MYSQL_LENGTH) : match.start()],
        )
        if is_placeholder(value) or _PORTS.fullmatch(value):
            continue
        command = _MYSQL_COMMAND.search(
            before, max(before.rfind("mysql"), before.rfind("mariadb"), 0)
        )
        # Behind nothing but options even a word is the password.
        if command and (is_password(value) or _OPTIONS.fullmatch(command["between"])):
            yield *match.span("value"), "option-value"


def _find_in_sql(text: str, lowered: str) -> Iterator[Span]:
    for match in re.finditer(_IDENTIFIED, lowered, re.ASCII) if "identified" in lowered else ():
        span = match.span("value" if match["value"] else "bare")
        value = text[slice(*span)]
        quoted = match["value"] and " " not in value and not is_placeholder(value)
        if quoted or (is_password(value) and is_strong(value)):
            yield *span, "password"
    for match in re.finditer(_SQL_PASSWORD, lowered, re.ASCII) if "password" in lowered else ():
        if is_password(text[slice(*match.span("value"))]):
            yield *match.span("value"), "password"


def _find_curl_users(text: str) -> Iterator[Span]:
    for match in re.finditer(_USER, text, re.ASCII) if "curl" in text else ():
        command = text[max(0, match.start() - _COMMAND_LENGTH) : match.start()]
        if "curl" in command and not is_placeholder(match["value"]):
            yield *match.span("value"), "basic-auth"
    for match in re.finditer(_TOKEN_USER, text, re.ASCII) if "curl" in text else ():
        if is_opaque(match["value"]):
            yield *match.span("value"), "basic-auth"
