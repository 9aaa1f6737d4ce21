"""Which names say that a credential follows, and which only sound like it."""

import re

# Each begins with its letters and is looked behind afterwards: so `re` leaps from one to the next.
PASSWORD = (
    r"pass(?:word|wd|phrase|code|wort|(?<![a-z]pass))"  # no "compass"
    r"|pw(?:d|(?<![a-z]pw)(?![a-z]))|secret"
)
# A key is a credential behind one of these: `api_key`, `signing key`; a cache key is none.
_OWNERS = (
    "api app iam auth access account private priv service application client db database encryption"
    " encrypt signing sign master license session shared consumer subscription storage webhook"
    " deploy admin user"
)


def _behind_an_owner() -> str:
    """Return lookbehinds, one a length, for they must know theirs."""
    groups: dict[int, list[str]] = {}
    for owner in _OWNERS.split():
        groups.setdefault(len(owner), []).append(owner)
    looks = [
        f"(?<={'|'.join(rf'{o}{sep}key' for o in g)})"
        for g in groups.values()
        for sep in _SEPARATORS
    ]
    return "|".join(looks)


_SEPARATORS = ("", r"[ _.\-]")
KEY = rf"token|key(?:{_behind_an_owner()})|credentials?|creds|auth"

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
# Such a token names a page of results or an attempt: it lets nobody in.
_OF_A_PAGE = re.compile(
    r"(?:page|paging|pagination|next|previous|prev|continuation|starting|cursor|idempotency)"
    r"[ _.\-]?$"
)
# As a UUID these do not, either; another value may, such as the request token of OAuth.
_OF_A_REQUEST = re.compile(
    r"(?:request|correlation|cancel|cancellation|sync|trace|tracking|event|message|deduplication"
    r"|operation|job|task|lock|fencing|change|concurrency|creation|completion)[ _.\-]?$"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LOOKED_BEHIND = 24


def names_credential(tail: str) -> bool:
    """Return whether a credential word with this tail is the name of a credential."""
    return not _OF_A_CREDENTIAL.match(tail)


def names_request(lowered: str, start: int, value: str) -> bool:
    """Return whether a token at a place names a page or a request, and is no credential."""
    before = lowered[max(0, start - _LOOKED_BEHIND) : start]
    if _OF_A_PAGE.search(before):
        return True
    return bool(_UUID.fullmatch(value) and _OF_A_REQUEST.search(before))
