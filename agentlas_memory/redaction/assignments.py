"""Values assigned under a credential's name or a provider's: in code, YAML, JSON, env and prose."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.credential_names import (
    KEY,
    PASSWORD,
    names_credential,
    names_request,
)
from agentlas_memory.redaction.drawn import has_drawn_word
from agentlas_memory.redaction.rules import PROVIDERS
from agentlas_memory.redaction.values import is_opaque, is_password, is_strong

Span = tuple[int, int, str]

_QUOTE = r"\\{0,7}[\"'`]"  # escaped as often as JSON stands in JSON
_OPERATOR = r"[ \t]{0,8}(?:=>|:=|\?=|\|\||={1,3}|:{1,3}|>)[ \t]{0,8}"
# The value stands on the next line (`password: |`) or is a member itself (`name: x`, `value: y`).
_BLOCK = r"[ \t]{0,4}:[ \t]{0,4}[|>][+\-]?[1-9]?[+\-]?[ \t]{0,4}\r?\n[ \t]{1,40}"
_MEMBER = (
    r"(?:</(?:name|key)>)?[ \t]{0,4}[,:]?[ \t]{0,4}(?:\r?\n[ \t]{0,40})?"
    rf"(?:<|{_QUOTE})?value(?:{_QUOTE})?[ \t]{{0,4}}[:=>][ \t]{{0,4}}"
)
# A lookahead and its group again: once read, a name is not given back letter by letter.
_ASSIGNED = (
    rf"(?:(?P<password>{PASSWORD})|{KEY})s?"
    rf"(?=(?P<name>[\w.\-]{{0,30}}))(?P=name)"
    r"(?P<more>(?:[ \t](?:key|token|id|secret|value|password))?)"
    rf"(?:\\{{0,7}}[\"'`\])*]){{0,3}}"
    rf"(?P<link>{_BLOCK}|{_OPERATOR}|[\"'][ \t]?,[ \t]?(?=[\"'])|\((?=[\"'])|{_MEMBER}"
    r"|[ \t]{1,4}(?:is|was|are):?[ \t]{1,4})"
    rf"(?:[bruf@]?(?P<open>{_QUOTE})"
    r"|(?P<bare>[^\s\"'`<>{}()\[\],;|\\]{6,400})(?P<after>[^\n]{0,2}))"
)
_PROVIDED = (
    r"(?=(?P<rest>[\w.\-]{0,40}))(?P=rest)"
    r"(?P<words>(?:[ \t][a-z_]{1,12}){0,3}(?:\\{0,7}[\"'`\])]){0,3})"
    rf"(?P<link>{_OPERATOR}|[\"'][ \t]?,[ \t]?|\((?=[\"'])|[ \t]{{1,4}})"
    rf"(?:{_QUOTE})?(?P<value>[A-Za-z0-9][\w%+/=.:\-]{{11,200}})"
)
_NAME = re.compile(r"[A-Za-z]\w*(?:[._][A-Za-z]\w*)+|\w*_\d+|[a-z]+_\w+")
# Also these, where code goes on behind them: `createdUser2`, `Base64String`, `user?.newPass2`.
_CODE_NAME = re.compile(
    r"(?:[A-Za-z][a-z]+\d{0,2}|[A-Z]+)(?:[A-Z]+[a-z]*\d{0,2})+|\w+(?:\??\.\w+)+"
)
_LINE_ENDS = ("", "\r", "</", "\\n", "\\r")
_VALUE_ENDS = tuple(" \t;,#|)]}\"'`")
_LONGEST_QUOTED = 400
_SHORTEST_QUOTED = 4
_SHORTEST_BARE = 8
_SHORTEST_KEY = 10
_SHORTEST_NUMBER = 15


def find_assigned(text: str, lowered: str) -> Iterator[Span]:
    """Yield each value that a credential word or a provider's name introduces."""
    pattern = re.compile(_ASSIGNED, re.ASCII)
    match = pattern.search(lowered)
    while match:
        start, end = _value_of(text, match)
        value = _without_rest(text[start:end], match)
        if names_credential(match["name"] + match["more"]) and _is_secret(value, match, lowered):
            yield start, start + len(value), "password" if match["password"] else "credential"
        elif match["open"]:
            end = start  # a quoted text may hold assignments of its own
        match = pattern.search(lowered, end)
    yield from _find_provided(text, lowered)


def _value_of(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return where a value stands: to its closing quote, which must be escaped as the first was."""
    if not match["open"]:
        return match.span("bare")
    start, quote = match.end(), match["open"]
    limit = min(len(text), start + _LONGEST_QUOTED)
    line_end = text.find("\n", start, limit)
    end = text.find(quote, start, line_end if line_end >= 0 else limit)
    while end > 0 and text[end - 1] == "\\":
        end = text.find(quote, end + 1, line_end if line_end >= 0 else limit)
    if end < 0:  # cut off: all that is left, or no value at all
        end = limit if limit == len(text) and line_end in (-1, limit - 1) else start
    return start, end


def _without_rest(value: str, match: re.Match[str]) -> str:
    """Cut what does not belong to a value: the next parameter, a URL's host, a sentence's end."""
    if match["link"] == "=":
        value = value.partition("&")[0]
    if not match["password"]:
        value = value.partition("@")[0]
    return value.rstrip(".,:")


def _is_secret(value: str, match: re.Match[str], lowered: str) -> bool:
    if match["password"]:
        if match["open"]:
            return len(value) >= _SHORTEST_QUOTED and is_password(value)
        if _is_password_line(value, match):
            return True
    elif len(value) < _SHORTEST_KEY or names_request(lowered, match.start(), value):
        return False
    return not _goes_on_as_code(match) and len(value) >= _SHORTEST_BARE and is_opaque(value)


def _is_password_line(value: str, match: re.Match[str]) -> bool:
    """Return whether a bare value is a password: `password: summer2024`.

    At its line's end any that can be one; elsewhere a strong one, or one behind a plain `=`.
    """
    link, after = match["link"].strip(), match["after"]
    written = link != "" and not (link[0].isalpha() and link[-1].isalpha())  # no "is", no "are"
    if not written or len(value) < _SHORTEST_BARE or not is_password(value):
        return False
    if after in _LINE_ENDS:
        typed = value[-1] == "!" and _CODE_NAME.fullmatch(value[:-1])  # of GraphQL
        return not typed and not _NAME.fullmatch(value)
    name = value.rstrip("!?")
    telling = after.startswith(_VALUE_ENDS) and (link == "=" or is_strong(value))
    return telling and not _NAME.fullmatch(name) and not _CODE_NAME.fullmatch(name)


def _goes_on_as_code(match: re.Match[str]) -> bool:
    after = match["after"] or ""
    return after[:1] in ("(", "[", "{") or (after[:1] == "<" and after != "</")


def _find_provided(text: str, lowered: str) -> Iterator[Span]:
    names = "|".join([re.escape(name) for name in PROVIDERS if name in lowered])
    pattern = rf"(?<![a-z0-9])(?P<name>{names})" + _PROVIDED
    for match in re.finditer(pattern, lowered, re.ASCII) if names else ():
        start, end = match.span("value")
        value = text[start:end].rstrip(".:")
        if _is_provided_secret(value, match["link"], match["rest"] + match["words"]):
            name = match["name"].strip("_").replace("_", "-")
            yield start, start + len(value), f"{name}-credential"


def _is_provided_secret(value: str, link: str, middle: str) -> bool:
    named = any(word in middle for word in ("key", "token", "secret", "passw", "credential"))
    assigned = any(sign in link for sign in "=:>|")
    if value.isdigit():
        return assigned and len(value) >= _SHORTEST_NUMBER
    return (named or assigned) and is_opaque(value) and has_drawn_word(value.encode())
