"""Credentials known by a shape that has no fixed start."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.beginnings import begins, word_before
from agentlas_memory.redaction.values import is_masked

Span = tuple[int, int, str]

# Markdown's emphasis may close right behind a key.
_ENDS = r"(?!_{0,2}[A-Za-z0-9-])"

# kind, a literal that must be in the text, the pattern whose group 1 is the credential
SHAPES: tuple[tuple[str, str, str], ...] = (
    ("jwt", "ZXlK", r"(" + begins("ZXlK") + r"[A-Za-z0-9/\\_+\-]{48,}={0,2})"),
    ("grafana-token", "eyJrIjoi", r"(eyJrIjoi[A-Za-z0-9+/]{40,}={0,3})"),
    (
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/"
        r"([A-Za-z0-9+/]{20,})",
    ),
    (
        "teams-webhook",
        "webhook.office.com/",
        r"webhook\.office\.com/webhookb2/"
        r"([\w@-]{36,}/IncomingWebhook/[\w/-]{20,})",
    ),
    ("discord-webhook", "/api/webhooks/", r"/api/webhooks/(\d{16,20}/[\w-]{50,})"),
    ("zapier-webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/(\d+/\w+)"),
    (
        "discord-token",
        ".",
        r"(" + begins("[MNO]") + r"[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}"
        r"\.[A-Za-z0-9_-]{27,40})" + _ENDS,
    ),
    ("telegram-token", ":", r"(" + begins(r"\d") + r"\d{7,9}:[A-Za-z0-9_-]{35})" + _ENDS),
    ("telegram-token", "bot", begins("bot") + r"(\d{8,10}:[A-Za-z0-9_-]{35})" + _ENDS),
    (
        "terraform-token",
        ".atlasv1.",
        r"([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,})",
    ),
    ("mailchimp-key", "-us", r"(" + begins("[0-9a-z]") + r"[0-9a-z]{31}-us\d{1,2})" + _ENDS),
    (
        "maxmind-key",
        "_mmk",
        r"(" + begins("[A-Za-z0-9]") + r"[A-Za-z0-9]{5}_[A-Za-z0-9]{29}_mmk)" + _ENDS,
    ),
    ("azure-client-secret", "Q~", r"(" + begins(r"[\w~.-]") + r"[\w~.-]{2}\dQ~[\w~.-]{31,34})"),
    ("azure-key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})"),
    ("azure-key", "AccessKey=", r"AccessKey=([A-Za-z0-9+/]{40,}={0,2})"),
    ("azure-sas", "sig=", r"[?&;]sig=([A-Za-z0-9%+/_-]{20,}={0,2})"),
    (
        "ansible-vault",
        "$ANSIBLE_VAULT",
        r"\$ANSIBLE_VAULT;[\d.]+;AES256[^\n]{0,40}"
        r"\n(\s*[0-9]{20,}(?:\s+[0-9]+)*)",
    ),
    ("django-secret", "django-insecure-", r"django-insecure-([^\s\"']{20,})"),
    ("gitlab-session", "_gitlab_session", r"_gitlab_session[=:]\s?([0-9a-z]{32})"),
    (
        "authress-key",
        ".acc",
        r"(" + begins("[sea]") + r"(?:c|xt|cauth|uthress)_\w{5,30}\.\w{4,6}\.acc[_-][\w-]{10,32}"
        r"\.[\w+/=-]{30,120})",
    ),
    (
        "sidekiq-secret",
        "CONTRIBSYS__COM",
        r"CONTRIBSYS__COM[\"']?\s?[:=]\s?[\"']?([0-9a-f]{8}:[0-9a-f]{8})",
    ),
    (
        "sidekiq-secret",
        "contribsys.com",
        r"//([0-9a-f]{8}:[0-9a-f]{8})@(?:gems|enterprise)\.contribsys\.com",
    ),
    ("google-refresh-token", "1//0", r"(" + begins("1//0") + r"[\w-]{40,})"),
    (
        "otp-secret",
        "otpauth://",
        r"otpauth://[a-z]{1,8}/[^\s\"'<>?]{1,200}\?(?:[^\s\"'<>]{0,400}&)?secret=([A-Za-z2-7]{8,256})",
    ),
    ("airtable-token", "pat", r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})"),
    ("softlayer-key", "softlayer.com/soap", r"softlayer\.com/soap/v3(?:\.1)?/([a-z0-9]{64})"),
    ("facebook-token", "|", r"(" + begins(r"\d") + r"\d{14,15}(?:\||%7C)[\w-]{27,40})(?!\w)"),
)

# Read in one go, each character once; what it is is decided by its parts.
_JWT = r"eyJ[\w-]{8,8192}(?:\.[\w-]{0,8192}){0,4}"


def find_shapes(text: str) -> Iterator[Span]:
    """Yield each credential that has one of the shapes."""
    for match in re.finditer(_JWT, text, re.ASCII) if "eyJ" in text else ():
        length = _length_of_jwt(match[0].split("."), glued=word_before(text, match.start()) != b"")
        if length and not is_masked(match[0]):
            yield match.start(), match.start() + length, "jwt"
    for kind, literal, pattern in SHAPES:
        if literal in text:
            for match in re.finditer(pattern, text, re.ASCII):
                if not is_masked(match[1]):
                    yield match.start(1), match.end(1), kind


def _length_of_jwt(parts: list[str], *, glued: bool) -> int:
    """Return the length of a signed token (three parts, or two) or an encrypted one (five).

    One that stands against a word must be told by its claims.
    """
    if len(parts) < 2:
        return 0
    claims = parts[1]
    signed = claims.startswith("eyJ") and len(claims) > 10
    if not signed and not glued and len(parts[0]) > 16:
        if len(parts) == 5:
            return len(".".join(parts))
        signed = len(parts) > 2 and len(claims) >= 16 and len(parts[2]) >= 16
    return len(".".join(parts[:3]).rstrip(".")) if signed else 0
