"""The cheap question asked of each text: could there be a credential here at all?

A cold process answers it without `re` (which costs as much as the whole interpreter start); the
answer may be a false yes, never a false no.
"""

from agentlas_memory.secret_rules import ALNUM, PREFIXED, PROVIDERS, SHAPE_LITERALS, is_strict

# Characters that show nothing and split a key so that a search does not see it.
INVISIBLE = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
_SHORTEST_OPAQUE = 14
_SHORTEST_SCRAMBLE = 8
_UNBROKEN = 20
_LONGEST_OPAQUE = 512
_SHORTEST_DISCORD = 57
_SHORTEST_MAILCHIMP = 36
_SHORTEST_TELEGRAM = 34
_LONGEST_WORD = 24
_LOOK_BACK = 160
_VALUE_WITHIN = 120
_PIECES_AFTER = 5

_DIGITS = b"0123456789"
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PASSWORD_MARKS = _DIGITS + b"!#$%&*?@^+~"
_PASSWORD_WORDS = (b"pass", b"pw", b"secret")
_KEY_WORDS = (b"token", b"key", b"auth", b"cred", b"bearer")
_KEY_CHARACTERS = ALNUM + "_.~+-$"
_CASES = bytes(65 if c in _CAPITALS else 97 for c in range(256))
_PROVIDERS = tuple(name.encode() for name in PROVIDERS)


def _rules_by_prefix() -> tuple[dict[bytes, list[tuple[bytes, int]]], tuple[bytes, ...]]:
    """Split the table: prefixes that stand in a word, and those whose body the words' ends cut."""
    words: dict[bytes, list[tuple[bytes, int]]] = {}
    anywhere = [literal.encode() for literal in SHAPE_LITERALS]
    for _kind, prefix, alphabet, length in PREFIXED:
        key = prefix.encode()
        if set(alphabet) - set(_KEY_CHARACTERS):
            anywhere.append(key)
        else:
            exact = length if is_strict(alphabet) else 0
            words.setdefault(key, []).append(((alphabet + ".-").encode(), exact))
    return words, tuple(anywhere)


_RULES, _ANYWHERE = _rules_by_prefix()
_PREFIXES = tuple(_RULES)


def _blank(kept: bytes) -> bytes:
    return bytes(c if c in kept else 32 for c in range(256))


_BETWEEN_WORDS = _blank(_KEY_CHARACTERS.encode())
_BETWEEN_PARTS = _blank(ALNUM.encode())
_HEADS = frozenset(prefix.translate(_BETWEEN_PARTS).split()[0][:2] for prefix in _PREFIXES)
_BETWEEN_VALUES = _blank((ALNUM + "_.-!#$%*?@^+~").encode())


def without_invisible(text: str) -> str:
    """Return the text without characters that only hide what stands between them."""
    if not text.isascii():
        for mark in INVISIBLE:
            if mark in text:
                text = text.replace(mark, "")
    return text


def may_hold_secret(text: str) -> bool:
    """Return False only for a text in which no rule can find anything."""
    raw = without_invisible(text).encode("ascii", "replace")
    if b"\\" in raw:  # "\nghp_..." of a JSON string: the letter after the backslash hides the start
        raw = raw.replace(b"\\n", b"  ").replace(b"\\r", b"  ").replace(b"\\t", b"  ")
    for literal in _ANYWHERE:
        if literal in raw:
            return True
    if b"://" in raw and b"@" in raw and _has_userinfo(raw):
        return True
    lowered = raw.lower()
    at = 0
    for word in raw.translate(_BETWEEN_WORDS).split():
        if len(word) >= _SHORTEST_OPAQUE:
            at = raw.find(word, at)
            if _is_suspect(word, raw[max(0, at - 2) : at], lowered[max(0, at - _LOOK_BACK) : at]):
                return True
    return _has_assignment(raw, lowered) or (b"curl" in lowered and (b"-u" in lowered))


def _is_suspect(word: bytes, just_before: bytes, before: bytes) -> bool:
    if _holds_prefixed(word):
        return True
    if not is_drawn(word[:_LONGEST_OPAQUE]):
        return False
    if word.startswith(b"eyJ") or _is_discord(word):
        return True
    if b"-us" in word and len(word) >= _SHORTEST_MAILCHIMP:
        return True
    if just_before[-1:] == b":" and just_before[:1].isdigit() and len(word) >= _SHORTEST_TELEGRAM:
        return True
    for name in _PROVIDERS:
        if name in before:
            return True
    return False


def _is_discord(word: bytes) -> bool:
    return (
        word[:1] in b"MNO" and word.rstrip(b".").count(b".") == 2 and len(word) >= _SHORTEST_DISCORD
    )


def _holds_prefixed(word: bytes) -> bool:
    at = 0
    for part in word.translate(_BETWEEN_PARTS).split():
        if part[:2] in _HEADS:
            at = word.find(part, at)
            if word.startswith(_PREFIXES, at) and _follows_prefix(word[at:]):
                return True
    return False


def _follows_prefix(word: bytes) -> bool:
    """Return whether what follows some prefix can be the body of that rule's key."""
    for prefix, rules in _RULES.items():
        if word.startswith(prefix):
            body = word[len(prefix) :]
            for alphabet, exact in rules:
                fits = len(body) >= exact and not body[: exact or 8].translate(None, alphabet)
                if fits and (exact or is_key_body(prefix, body)):
                    return True
    return False


def is_key_body(prefix: bytes, body: bytes) -> bool:
    """Return whether a body is no name: drawn, or long without a break behind a telling prefix."""
    unbroken = len(body) >= _UNBROKEN and body[:_UNBROKEN].isalnum() and len(prefix) >= 4
    return unbroken or is_drawn(body)


def has_drawn_word(value: bytes) -> bool:
    """Return whether the word loop of `may_hold_secret` stops at some word of this value."""
    words = value.translate(_BETWEEN_WORDS).split()
    return any(len(word) >= _SHORTEST_OPAQUE and is_drawn(word) for word in words)


def is_drawn(value: bytes) -> bool:
    """Return whether some part of a value is neither a word, a number, nor a word with a number."""
    for part in value.translate(_BETWEEN_PARTS).split():
        if len(part) > 4 and not part.isalpha() and not part.isdigit():
            stem = part.strip(_DIGITS)
            if not stem.isalpha() or len(part) - len(stem) > 4:
                return True
            if part[:1].isdigit() and len(part) >= 12:
                return True
            part = stem
        if len(part) >= _SHORTEST_SCRAMBLE and (
            _is_scrambled(part) or (part.isdigit() and len(part) >= 12)
        ):
            return True
        if len(part) >= _LONGEST_WORD and (part.islower() or part.isupper()):
            return True
    return False


def _is_scrambled(letters: bytes) -> bool:
    """Return whether capitals are more frequent, or change more often, than in any identifier."""
    size = len(letters)
    capitals = size - len(letters.translate(None, _CAPITALS))
    cases = letters.translate(_CASES)
    changes = cases.count(b"aA") + cases.count(b"Aa")
    return changes >= 0.4 * size or (size >= 12 and 0.35 * size <= capitals <= 0.8 * size)


def _has_userinfo(raw: bytes) -> bool:
    at = raw.find(b"://")
    while at >= 0:
        user, mark, rest = raw[at + 3 : at + 259].partition(b":")
        if mark and b"@" in rest and not user.split(None, 1)[1:] and b"/" not in user:
            return True
        at = raw.find(b"://", at + 3)
    return False


def _has_assignment(raw: bytes, lowered: bytes) -> bool:
    """Return whether a credential word is soon followed by something that no word looks like."""
    for keywords, is_value in ((_PASSWORD_WORDS, _is_password), (_KEY_WORDS, is_drawn)):
        for keyword in keywords:
            at = lowered.find(keyword)
            while at >= 0:
                at += len(keyword)
                line = raw[at : at + _VALUE_WITHIN].partition(b"\n")[0]
                pieces = line.translate(_BETWEEN_VALUES).split(None, _PIECES_AFTER)
                for piece in pieces[:_PIECES_AFTER]:
                    if len(piece) >= 6 and is_value(piece):
                        return True
                at = lowered.find(keyword, at)
    return False


def _is_password(piece: bytes) -> bool:
    if piece.translate(None, _PASSWORD_MARKS) == piece or piece[:1] in b"$%":
        return False
    return piece.translate(None, _PASSWORD_MARKS) != b""
