"""Was a value drawn by a machine, or did a person name it?

Asked by the cheap question and by the rules, so the two cannot disagree. Bytes and their
`translate`, because a cold process asks it often and must not load `re`.
"""

from agentlas_memory.redaction.rules import ALNUM

DIGITS = b"0123456789"
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CASES = bytes([65 if c in _CAPITALS else 97 for c in range(256)])

SHORTEST_OPAQUE = 14  # the shortest value taken for a key on its provider's name alone
_SHORTEST_SCRAMBLE = 8
_LONGEST_WORD = 24
_LONGEST_AFFIX = 4  # digits around a word: `v2`, `report2024`
_LONG_NUMBER = 12
_FIRST_LETTER = ord("A")
_UNBROKEN = 20
_SHORTEST_HUMP = 3
_USUAL_HUMP = 4
_LONGEST_ACRONYM = 6  # with the capital behind it: `OAUTHToken`
_DIGITS_IN_NAME = 3  # `Sha256Hasher`
_JUDGED = 64  # bytes of a body that are enough for a verdict
_SHORTEST_NAME = 5


def blank_all_but(kept: str) -> bytes:
    """Return a `bytes.translate` table that leaves these characters and blanks the rest."""
    left = kept.encode()
    return bytes([c if c in left else 32 for c in range(256)])


PARTS = blank_all_but(ALNUM)
_NUMBERS = blank_all_but("0123456789")
WORDS = blank_all_but(ALNUM + "_.~+-$")


def is_drawn(value: bytes) -> bool:
    """Return whether some part of a value is neither a word, a number, nor a word with a number."""
    if len(value) < _LONGEST_WORD and value.islower() and value == value.translate(None, DIGITS):
        return False  # as most are: what follows takes four times as long
    for part in value.translate(PARTS).split():
        if len(part) > 4:
            letters = part.strip(DIGITS)
            if letters.isalpha():
                affix = len(part) - len(letters)
                if affix > _LONGEST_AFFIX or (
                    affix and part[0] < _FIRST_LETTER and len(part) >= 12
                ):
                    return True
                if not letters[1:].islower() and _is_scrambled(letters):
                    return True
                # A long word with a number behind it is no word either.
                longest = _LONGEST_WORD - 4 if affix else _LONGEST_WORD
                if len(letters) >= longest and (letters.islower() or letters.isupper()):
                    return True
            elif letters:
                numbers = part.translate(_NUMBERS).split()
                if len(numbers) > 1 or len(numbers[0]) > _DIGITS_IN_NAME or not _is_named(part):
                    return True
            elif len(part) >= _LONG_NUMBER:
                return True
    return False


def _is_scrambled(part: bytes) -> bool:
    """Return whether capitals are more frequent, or change more often, than in any identifier."""
    size = len(part)
    if size < _SHORTEST_SCRAMBLE:
        return False
    capitals = size - len(part.translate(None, _CAPITALS))
    cases = part.translate(_CASES)
    changes = cases.count(b"aA") + cases.count(b"Aa")
    if changes >= 0.4 * size:
        return True
    return size >= 12 and 0.35 * size <= capitals <= 0.8 * size and not _is_named(part)


def _is_named(part: bytes) -> bool:
    """Return whether a part is words and acronyms: `JWTBearerToken`, `GoogleOAuth2Client`."""
    cases = part.translate(_CASES)  # runs of one letter: the greatest is the longest
    humps, capitals = cases.replace(b"A", b" ").split(), cases.replace(b"a", b" ").split()
    return (
        len(capitals) > 1
        and len(max(capitals)) <= _LONGEST_ACRONYM
        and humps != []
        and len(min(humps)) >= _SHORTEST_HUMP
        and sum(map(len, humps)) >= _USUAL_HUMP * len(humps)
    )


def is_key_body(prefix: bytes, body: bytes) -> bool:
    """Return whether a body is no name: drawn, or long without a break behind a telling prefix."""
    head = body[:_JUDGED]
    if len(body) >= _UNBROKEN and len(prefix) >= 4:
        # Also of letters in both cases and digits, broken by dashes: `xoxc-zqgQSoPG-EOgylC1-nT6M`.
        mixed = not head.islower() and not head.isupper() and head != head.translate(None, DIGITS)
        if mixed or body[:_UNBROKEN].isalnum():
            return True
    return is_drawn(head)


def is_word(before: bytes, prefix: str) -> bool:
    """Return whether a key may follow these letters and digits: a word, no part of a blob."""
    if is_drawn(before):
        return False
    if any((before.islower(), before.isupper(), before.istitle(), before.isdigit())):
        return True
    # Such as `apiKey`. Base64 has a prefix without a sign now and then, and few letters before it.
    return len(before) >= _SHORTEST_NAME and not prefix.isalnum()


def has_drawn_word(value: bytes) -> bool:
    """Return whether a word long enough for a key without a known start is drawn."""
    words = value.translate(WORDS).split()
    return any(len(word) >= SHORTEST_OPAQUE and is_drawn(word) for word in words)
