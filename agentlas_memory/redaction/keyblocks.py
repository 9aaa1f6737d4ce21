"""Private keys in their armour: whole, cut off at either side, or with their lines joined."""

import re
from collections.abc import Iterator

Span = tuple[int, int, str]

KIND = "private-key"
_LONGEST = 20_000
_BEGIN = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: \d+"
)
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_GAP = r"(?:\s|\\[nr]|[\"'`,>|#]){0,40}"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject):[^\n\\]{0,100}"
_LINE = r"[A-Za-z0-9+/=]{16,}"
# Without an END only whole lines of base64 belong to the key, not the prose behind it.
_BODY = re.compile(
    rf"(?:{_GAP}{_HEADER}){{0,5}}(?:{_GAP}{_LINE})+(?:{_GAP}[A-Za-z0-9+/]{{1,15}}={{1,2}})?"
    rf"(?:{_GAP}Private-MAC: [0-9a-f]+)?"
)
_ARMOUR = re.compile(r"[A-Za-z0-9+/=]{16,}")
_PIECE = re.compile(r"\\[nr]|[^\s\\\"',]+")
_LAST_LINE = re.compile(r"=?[A-Za-z0-9+/]{1,15}={0,2}")


def find_key_blocks(text: str) -> Iterator[Span]:
    """Yield each private key with its BEGIN and END lines."""
    if "PRIVATE KEY" not in text and "Private-Lines" not in text:
        return
    marks = sorted([*_BEGIN.finditer(text), *_END.finditer(text)], key=re.Match.start)
    edges = [0, *(edge for mark in marks for edge in mark.span()), len(text)]
    for number, mark in enumerate(marks):
        before, after = edges[2 * number], edges[2 * number + 3]
        follower = marks[number + 1] if number + 1 < len(marks) else None
        if mark.re is _BEGIN:
            end = _end_of_block(text, mark.end(), after, follower)
            if end > mark.end():
                yield mark.start(), end, KIND
        else:
            start = _start_of_tail(text, max(before, mark.start() - _LONGEST), mark.start())
            if start < mark.start():
                yield start, mark.end(), KIND


def _end_of_block(text: str, at: int, limit: int, follower: re.Match[str] | None) -> int:
    """Return where the key that begins here ends, or `at` if there is no key."""
    limit = min(limit, at + _LONGEST)
    if follower and follower.re is _END and follower.start() <= limit:
        return follower.end() if _ARMOUR.search(text, at, limit) else at
    body = _BODY.match(text, at, limit)
    return body.end() if body else at


def _start_of_tail(text: str, low: int, at: int) -> int:
    """Return where the lines of base64 before an END line begin: a chunk may start inside a key."""
    start = at
    for piece in reversed(list(_PIECE.finditer(text, low, at))):
        if _ARMOUR.fullmatch(piece[0]) or (start == at and _LAST_LINE.fullmatch(piece[0])):
            start = piece.start()
        elif piece[0] not in ("\\n", "\\r"):
            break
    return start if _ARMOUR.search(text, start, at) else at
