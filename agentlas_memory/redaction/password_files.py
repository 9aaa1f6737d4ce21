"""Files that hold passwords and little else: .netrc, .pgpass, .htpasswd, shadow."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.drawn import SHORTEST_OPAQUE
from agentlas_memory.redaction.values import is_masked, is_opaque, is_password, is_placeholder

Span = tuple[int, int, str]

# One line or an entry's lines; a macro or an account may stand between.
_NETRC = (
    r"\b(?:machine\s{1,8}(?P<host>\S{1,256})|(?P<default>default))\s{1,40}login\s{1,8}\S{1,256}"
    r"\s{1,40}(?:account\s{1,8}\S{1,256}\s{1,40})?password\s{1,8}(?P<value>[^\s\"'<]{4,256})"
)
# host:port:database:user:password
_PGPASS = (
    r"(?<![\w.:/\-])(?:[\w.\-]{1,253}|\*):(?P<port>\d{2,5}|\*):(?P<database>[\w\-]{1,64}|\*)"
    r":(?P<user>[\w.@\-]{1,64}|\*):(?P<value>[^\s:\"'<>`&/]{4,256})"
)
_PORT = r":(?:[0-9]{2,5}|\*):[\w*\-]{1,64}:"
_POSTGRES_PORTS = ("5432", "5433", "6432", "*")
# bcrypt, the crypt of Unix with its salt, argon2, and the digests of LDAP and Apache
_HASH = (
    r"(?:\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{50,53}"
    r"|\$(?:1|5|6|y|7|apr1)\$(?:rounds=\d{1,9}\$)?[^\s$:\"']{1,64}\$[./A-Za-z0-9]{20,86}"
    r"|\$argon2(?:id|i|d)\$[^\s:\"']{40,256}"
    r"|\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{24,128}={0,2})"
)


def find_in_password_files(text: str) -> Iterator[Span]:
    """Yield each password, or what is kept of it, in a file made for passwords."""
    if "login" in text and "password" in text:
        for match in re.finditer(_NETRC, text, re.ASCII):
            # "The machine asks login and password before": a host's name tells an entry from prose.
            told = "." in (match["host"] or "") or is_password(match["value"])
            if told and not is_placeholder(match["value"]):
                yield *match.span("value"), "password"
    # Most colons are none of such a line, and a literal is searched for faster than a host.
    for match in re.finditer(_PGPASS, text, re.ASCII) if re.search(_PORT, text) else ():
        value = match["value"].rstrip(".,;)")
        if _is_pgpass(value, match):
            yield match.start("value"), match.start("value") + len(value), "password"
    for match in re.finditer(_HASH, text, re.ASCII) if "$" in text or "SHA" in text else ():
        if not is_masked(match[0]):
            yield *match.span(), "password-hash"


def _is_pgpass(value: str, match: re.Match[str]) -> bool:
    if is_placeholder(value) or value == match["user"] or match["database"].isdigit():
        return False
    if len(match[0]) < SHORTEST_OPAQUE:
        return False
    if match["port"] in _POSTGRES_PORTS:
        return not value.isdigit()
    return len(value) >= 6 and is_password(value) and (is_opaque(value) or len(match["port"]) > 3)
