"""The cheap question asked of each text: could there be a credential here at all?

A cold process answers it without `re` (which costs as much as the whole interpreter start); the
answer may be a false yes, never a false no.
"""

from agentlas_memory.redaction.drawn import (
    DIGITS,
    PARTS,
    SHORTEST_OPAQUE,
    WORDS,
    is_drawn,
    is_key_body,
    is_word,
)
from agentlas_memory.redaction.rules import (
    PREFIXED,
    PREFIXES,
    PROVIDERS,
    SHAPE_LITERALS,
    is_strict,
    letters_before,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Characters that show nothing and split a key so that a search does not see it.
INVISIBLE = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
    "\u034f\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
    + "".join(map(chr, range(0xE0000, 0xE0080)))
)
_NOTHING = dict.fromkeys(map(ord, INVISIBLE))
# Markdown escapes `_` as `\_`; a line that ends in a backslash goes on in the next one.
_ESCAPED = (("\\\r\n", ""), ("\\\n", ""), ("\\_", "_"), ("\\-", "-"), ("\\*", "*"), ("\\.", "."))
# What may stand before a key without a break: the escapes of a JSON string and of a URL.
_ESCAPES = (b"\\n", b"\\r", b"\\t", b"%3D", b"%3d", b"%3A", b"%3a", b"%20", b"%22", b"%2F", b"%2f")
# Escapes begin with one of these, and their last letters stand against a key.
_ESCAPE_SIGNS = (b"\\", b"%", b"=", b"[", b";")
# Behind these a sentence or a table's column may tell a password.
PROSE_WORDS = (
    "password",
    "passwort",
    "kennwort",
    "passphrase",
    "contraseña",
    "contrasena",
    "senha",
    "парол",
    "mot de passe",
)
_PROSE_WITHIN = 250
_PASSWORD_WORDS = (b"pass", b"pw", b"secret")
_KEY_WORDS = (b"token", b"key", b"auth", b"cred", b"bearer")
_PASSWORD_MARKS = DIGITS + b"!#$%&*?@^+~"
# Only what may stand between a name and its value: a password may hold any other sign.
_VALUES = bytes(32 if c in b"\t\r\"'`=:>" else c for c in range(256))
_QUOTES = bytes(32 if c in b"\t\r\"'`" else c for c in range(256))
_NO_PASSWORD = (b"$", b"%", b"#", b"@", b"*", b"(", b"{", b"[", b"<", b"//")
_PIECES_AFTER = 5
_VALUE_WITHIN = 200
_SHORTEST_DRAWN = 5
_SHORTEST_PASSWORD = 4
_SHORTEST_BASIC = 6
_NAME_WITHIN = 160
_LONGEST_OPAQUE = 512
SHORTEST_KEY = 20  # with its prefix: the rules take no shorter one
_LETTERS_BEFORE = 64
# In a text made to keep us busy a yes is cheaper than looking on: the rules are quick there.
_MOST_TRIED = 200
_SHORTEST_DISCORD = 57
_SHORTEST_MAILCHIMP = 36
_SHORTEST_TELEGRAM = 34
_SHORTEST_AIRTABLE = 82
_SHORTEST_FACEBOOK = 27
_LINE_BEFORE = 120
_PROVIDERS = tuple(name.encode() for name in PROVIDERS)

_STARTS = tuple(prefix.encode() for prefix in PREFIXES)
_JOINTS = b" \t\r\n\\+.&"
_LONGEST_LITERAL = 201

# Rules by the last two letters in front of their prefix's first sign, or by the first two of a
# prefix without one: prefix, alphabet, exact length.
_BY_SIGN: dict[bytes, list[tuple[int, bytes, bytes, int]]] = {}
_BY_HEAD: dict[bytes, list[tuple[bytes, bytes, int]]] = {}
# Those that no part of a word shows where they stand against something.
_HIDDEN: list[tuple[bytes, bytes, int]] = []
# Literals looked for anywhere: shapes, and the rules whose keys may hold what ends a word.
_ANYWHERE = [literal.encode() for literal in SHAPE_LITERALS]
# Two hundred rules share a few alphabets: each is looked at once (0.3 ms less to import).
_BODIES = {
    alphabet: ((alphabet + ".-").encode(), is_strict(alphabet))
    for alphabet in {alphabet for _, _, alphabet, _ in PREFIXED}
}
_IN_WORDS = {body for body, _ in _BODIES.values() if b" " not in body.translate(WORDS)}
for _kind, _prefix, _alphabet, _length in PREFIXED:
    _start = _prefix.encode()
    _body, _strict = _BODIES[_alphabet]
    if _body in _IN_WORDS:
        _part = _start.translate(PARTS).split(None, 1)[0]
        _rule = (_start, _body, _length if _strict else 0)
        if _part != _start:
            _BY_SIGN.setdefault(_part[-2:], []).append((len(_part), *_rule))
        else:
            _BY_HEAD.setdefault(_part[:2], []).append(_rule)
        if _part == _start or len(_part) < 2:
            _HIDDEN.append(_rule)
    else:
        _ANYWHERE.append(_start)
_WITHOUT_DOLLAR = [literal for literal in _ANYWHERE if b"$" not in literal]


def may_hold_secret(text: str) -> bool:
    """Return False only for a text in which no rule can find anything."""
    shown = _visible(text)
    if _tells_password(shown.lower()):
        return True
    raw = shown.encode("ascii", "replace")
    if b"PRIVATE KEY" in raw or (b"://" in raw and b"@" in raw and _has_userinfo(raw)):
        return True
    # All but assignments stand in one piece between blanks, and most of a text is short words.
    long = [piece for piece in raw.split() if len(piece) >= SHORTEST_OPAQUE]
    pieces = b" ".join(long)
    # A generator would cost more than the searches.
    for literal in _ANYWHERE if b"$" in pieces else _WITHOUT_DOLLAR:
        if literal in pieces:
            return True
    words = _words(pieces)
    if _holds_key(words, pieces):
        return True
    if b"\\" in pieces or b"%" in pieces:
        for escape in _ESCAPES:
            pieces = pieces.replace(escape, b" ")
        words = _words(pieces)
    lowered = raw.lower()
    return (
        _has_pgpass(long)
        or _may_hold_layout(raw, lowered)
        or _has_joined_key(raw)
        or _names_provider(words, raw, lowered)
        or _has_assignment(raw, lowered)
    )


def _words(pieces: bytes) -> list[bytes]:
    return [word for word in pieces.translate(WORDS).split() if len(word) >= SHORTEST_OPAQUE]


def _visible(text: str) -> str:
    if not text.isascii():
        text = text.translate(_NOTHING)
    if "\\" in text:
        for escaped, plain in _ESCAPED:
            text = text.replace(escaped, plain)
    return text


def _has_userinfo(raw: bytes) -> bool:
    at = raw.find(b"://")
    while at >= 0:
        user, colon, rest = raw[at + 3 : at + 400].partition(b":")
        if colon and b"@" in rest and b"/" not in user and len(user.split(None, 1)) < 2:
            return True
        token, sign, _ = raw[at + 3 : at + 300].partition(b"@")
        if sign and len(token) >= SHORTEST_OPAQUE and b"/" not in token and is_drawn(token):
            return True
        at = raw.find(b"://", at + 3)
    return False


def _tells_password(lowered: str) -> bool:
    """Return whether a digit follows a word for password, or may stand in a column of them."""
    tried = 0
    for word in PROSE_WORDS:
        at = lowered.find(word)
        while at >= 0:
            after = lowered[at:] if "|" in lowered else lowered[at : at + _PROSE_WITHIN]
            tried += 1
            if tried > _MOST_TRIED or any(digit in after for digit in "0123456789"):
                return True
            at = lowered.find(word, at + 1)
    return False


def _holds_key(words: list[bytes], pieces: bytes) -> bool:
    """Return whether a prefix stands where a key may begin, before what can be its body."""
    tried = 0
    words = [word for word in words if len(word) >= SHORTEST_KEY]
    for word in words:
        at = 0
        for part in word.translate(PARTS).split():
            at = word.find(part, at)
            for prefix, alphabet, exact in _BY_HEAD.get(part[:2], ()):
                if word.startswith(prefix, at):
                    tried += 1
                    if tried > _MOST_TRIED or _has_body(word, at, prefix, alphabet, exact):
                        return True
            at += len(part)
            for size, prefix, alphabet, exact in _BY_SIGN.get(part[-2:], ()):
                if word.startswith(prefix, at - size):
                    tried += 1
                    if tried > _MOST_TRIED or (
                        _has_body(word, at - size, prefix, alphabet, exact)
                        and _may_follow(part[:-size][-_LETTERS_BEFORE:], prefix, pieces)
                    ):
                        return True
    return _holds_hidden(words, pieces)


def _holds_hidden(words: list[bytes], pieces: bytes) -> bool:
    """Return whether a key stands against a word with a prefix that no sign parts from it."""
    tried = 0
    whole = b" ".join(words)
    for prefix, alphabet, exact in _HIDDEN:
        for word in words if prefix in whole else ():
            at = word.find(prefix, 1)
            while at > 0:
                tried += 1
                if tried > _MOST_TRIED:
                    return True
                before = word[max(0, at - _LETTERS_BEFORE) : at].translate(PARTS)
                fits = _has_body(word, at, prefix, alphabet, exact)
                if fits and _may_follow(before.rpartition(b" ")[2], prefix, pieces):
                    return True
                at = word.find(prefix, at + 1)
    return False


def _may_follow(before: bytes, prefix: bytes, pieces: bytes) -> bool:
    """Return whether a key may stand against these letters: a word, or the end of an escape."""
    if not before:
        return True
    start = prefix.decode()
    if chr(before[-1]) in letters_before(start) and is_word(before, start):
        return True
    return any(sign + before in pieces for sign in _ESCAPE_SIGNS)


def _has_body(word: bytes, at: int, prefix: bytes, alphabet: bytes, exact: int) -> bool:
    at += len(prefix)
    body = word[at : at + _LONGEST_OPAQUE]
    fits = len(body) >= exact and not body[: exact or 8].translate(None, alphabet)
    return fits and (exact > 0 or is_key_body(prefix, body))


def _names_provider(words: list[bytes], raw: bytes, lowered: bytes) -> bool:
    """Return whether a drawn word has a known shape or stands behind a provider's name."""
    at = 0
    before = b""
    for word in words:
        if is_drawn(word[:_LONGEST_OPAQUE]):
            at = raw.find(word, at)
            if _has_shape(word, raw[max(0, at - _LINE_BEFORE) : at]):
                return True
            before += lowered[max(0, at - _NAME_WITHIN) : at].rpartition(b"\n")[2] + b"\n"
    return before != b"" and any(name in before for name in _PROVIDERS)


def _has_shape(word: bytes, before: bytes) -> bool:
    size = len(word)
    return (
        (size >= _SHORTEST_MAILCHIMP and b"-us" in word)
        or (size >= _SHORTEST_DISCORD and word.rstrip(b".").count(b".") == 2)
        or (size >= _SHORTEST_TELEGRAM and before[-1:] == b":" and before[-5:-1].isdigit())
        or (size >= _SHORTEST_AIRTABLE and b"pat" in word and b"." in word)
        or (size >= _SHORTEST_FACEBOOK and before[-1:] in (b"|", b"%") and before[-16:-1].isdigit())
    )


def _has_assignment(raw: bytes, lowered: bytes) -> bool:
    """Return whether a credential word is soon followed by something that no word looks like."""
    return (
        _is_followed(_KEY_WORDS, is_drawn, _SHORTEST_DRAWN, raw, lowered)
        or _is_followed(_PASSWORD_WORDS, _is_password, _SHORTEST_PASSWORD, raw, lowered)
        or _is_followed((b"basic",), _has_inner_capital, _SHORTEST_BASIC, raw, lowered)
    )


def _is_followed(
    keywords: tuple[bytes, ...],
    is_value: "Callable[[bytes], bool]",
    shortest: int,
    raw: bytes,
    lowered: bytes,
) -> bool:
    tried = 0
    for keyword in keywords:
        at = lowered.find(keyword)
        while at >= 0:
            at += len(keyword)
            tried += 1
            if tried > _MOST_TRIED:
                return True
            for piece in _pieces_behind(raw, at):
                if len(piece) >= shortest and is_value(piece):
                    return True
            at = lowered.find(keyword, at)
    return False


def _pieces_behind(raw: bytes, at: int) -> list[bytes]:
    """Return the first pieces on the line behind a place, and on the next if the value is there."""
    line, _, rest = raw[at : at + _VALUE_WITHIN].partition(b"\n")
    pieces = _pieces(line)
    if rest and len(pieces) < _PIECES_AFTER:
        following = rest.partition(b"\n")[0]
        if line.rstrip()[-1:] in b"|>+-123456789" or b"value" in following.lower():
            pieces += _pieces(following)
    return pieces


def _pieces(line: bytes) -> list[bytes]:
    pieces = line.translate(_VALUES).split(None, _PIECES_AFTER)
    whole = pieces[:_PIECES_AFTER]
    if len(pieces) > 1:
        # A value may hold the sign that stood before it: `a=12=bc` is `12=bc`.
        for word in line.translate(_QUOTES).split(None, _PIECES_AFTER)[:_PIECES_AFTER]:
            parts = word.lstrip(b"=:>").translate(_VALUES).split(None, 1)
            if len(parts) > 1:
                whole += b" ".join(parts), parts[1]
    return whole


def _is_password(piece: bytes) -> bool:
    rest = piece.translate(None, _PASSWORD_MARKS)
    marked = b"" != rest != piece
    return (marked or is_drawn(piece)) and not piece.startswith(_NO_PASSWORD)


def _has_inner_capital(piece: bytes) -> bool:
    return piece[1:] != piece[1:].lower()


def _may_hold_layout(raw: bytes, lowered: bytes) -> bool:
    """Return whether a text may hold .netrc, a manifest, a command with a password or a cookie."""
    return (
        (b"login" in raw and b"password" in raw and (b"machine" in raw or b"default" in raw))
        or (b"Secret" in raw and _is_manifest(raw))
        or (b"sshpass" in lowered and b"-p" in lowered)
        or ((b"mysql" in lowered or b"mariadb" in lowered) and b" -p" in lowered)
        or (b"identified" in lowered and b"by" in lowered)
        or (b"curl" in lowered and _has_user_option(raw))
        or (b"cookie" in lowered and _has_cookie(lowered))
    )


def _has_joined_key(raw: bytes) -> bool:
    """Return whether a literal that begins like a key is followed by another literal."""
    closed = raw.translate(None, _JOINTS)
    for quote in (b'"', b"'"):
        if quote + quote not in closed:
            continue
        before = b""
        for piece in raw.split(quote):
            joins = len(before) > 2 and not piece.strip(_JOINTS)
            if joins and len(before) <= _LONGEST_LITERAL and before.startswith(_STARTS):
                return True
            before = piece
    return False


def _is_manifest(raw: bytes) -> bool:
    at = raw.find(b"kind")
    while at >= 0:
        if raw[at + 4 : at + 30].lstrip(b"\\\"' \t:").startswith(b"Secret"):
            return True
        at = raw.find(b"kind", at + 4)
    return False


def _has_user_option(raw: bytes) -> bool:
    """Return whether some option is `-u`, `-su`, `--proxy-user` or, for a cookie, `-b`."""
    return any(
        piece[:1] == b"-" and (b"u" in piece[:14] or piece[:2] in (b"-U", b"-b"))
        for piece in raw.split()
    )


def _has_cookie(lowered: bytes) -> bool:
    at = lowered.find(b"cookie")
    while at >= 0:
        at += len(b"cookie")
        if b"=" in lowered[at : at + 100]:
            return True
        at = lowered.find(b"cookie", at)
    return False


def _has_pgpass(pieces: list[bytes]) -> bool:
    """Return whether a piece has a port, or any port, between four colons."""
    for piece in pieces:
        if piece.count(b":") >= 4:
            fields = piece.split(b":")[1:-3]
            if any(field == b"*" or field.isdigit() for field in fields):
                return True
    return False
