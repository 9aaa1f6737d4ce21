"""Does a value look like a credential, or like something a person named?"""

import re
from functools import lru_cache

from agentlas_memory.redaction.drawn import is_drawn

_PLACEHOLDER = re.compile(
    r"(?i)(?:(?:my|your|our|the|an?|new|old|some|test|user|db|admin|super|top|fake|dummy|insert|not)"
    r"[\s_-]?)*(?:(?:api|auth|access|client|private)[\s_-]?)?"
    r"(?:passw(?:or)?d|passwort|passwd|passphrase|pass|pwd|pw|secret|token|key|change[_-]?(?:me|it)|value"
    r"|example|sample|dummy|placeholder|redacted|hidden|string|none|null|true|false|test|todo|here)"
    r"s?(?:[\s_-]?(?:here|value|me|goes|key|token|secret|word|string))*[\s_-]?\d{0,3}"
)
_MARKED = re.compile(
    r"(?i)^(?:[$%<{\[(*#@&]|.?%[sdr(]|\.\.\.)|\$\{|\{\{|\.\.\.|…|\[redacted|your[_-]"
    r"|[_-]here\b|changeme|placeholder|\w\([\"']|process\.env|import\.meta"
    r"|os\.environ|getenv|^env[.:(\[]|^secrets?\."
)
_MASK = re.compile(r"(?i)x{4}|\*{3}|0{8}|(.)\1{11}")
_TECHNICAL = re.compile(
    r"(?i)(?:argon2(?:id?|d)?|bcrypt|scrypt|pbkdf2|sha-?\d|md5|base\d\d|utf-?\d|oauth2?|hmac|aes-?\d"
    r"|x509|rs\d{3}|hs\d{3}|es\d{3}|ed25519|http|file:|vault:|arn:|op://|ssm:|s3:|:?//|/[a-z_.-]+/|\./|~/)"
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_SIGNS = "!@#$%^&*?+~"
_CODE_SIGNS = str.maketrans("", "", "?+&*%")  # between words they are an expression: `a?.b`, `a+b`
_DIFFERENT = 6
_JUDGED = 256  # a verdict needs no more of a value


@lru_cache(maxsize=4096)  # a document repeats its values, a hostile one the same value
def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret instead of being one."""
    value = value[:_JUDGED]
    return (
        is_masked(value)
        or bool(_MARKED.search(value))
        or bool(_PLACEHOLDER.fullmatch(value))
        or len(set(value.lower())) < min(4, len(value))
    )


def is_masked(value: str) -> bool:
    """Return whether one repeated character stands for a part of the value."""
    return bool(_MASK.search(value[:_JUDGED]))


@lru_cache(maxsize=4096)
def is_password(value: str) -> bool:
    """Return whether a value given to a password word can be one: letters and something else."""
    if _stands_for_password(value) or _TECHNICAL.match(value) or " " in value or value.isdigit():
        return False
    marked = any(c.isdigit() or c in _SIGNS for c in value)
    return any(c.isalpha() for c in value) and (
        marked or is_drawn(value.encode("ascii", "replace"))
    )


def _stands_for_password(value: str) -> bool:
    """Also what a form shows: `Password!`, and `Contraseña*` where a field must be filled."""
    label = value[-1:] in ("*", "?") and value[:-1].isalpha()
    return label or is_placeholder(value.rstrip("!?*:.") or value)


def is_strong(value: str) -> bool:
    """Return whether a password has a special sign, or letters of both cases and a digit."""
    inner = value.rstrip("!?*")  # `String!` is a type, `name?` a field
    if not any(c.isdigit() for c in inner):
        inner = inner.translate(_CODE_SIGNS)
        return any(c in _SIGNS for c in inner) and not _EMAIL.fullmatch(inner)
    signed = any(c in _SIGNS for c in value)
    return signed or (value != value.lower() and value != value.upper())


@lru_cache(maxsize=4096)
def is_opaque(value: str) -> bool:
    """Return whether a value was drawn by a machine: no words, enough different characters."""
    body = value[:_JUDGED]
    if len(set(body)) < _DIFFERENT or " " in body or is_placeholder(body) or _TECHNICAL.match(body):
        return False
    return is_drawn(body.encode("ascii", "replace"))
