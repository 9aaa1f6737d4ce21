"""Credentials known by a shape that has no fixed start."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.values import is_masked

Span = tuple[int, int, str]

# Where a key may start: also behind the "\n" of a JSON string and an escaped "=" of a URL.
START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%3[AaDd])|(?<=%2[02Ff]))"

# kind, a literal that must be in the text, the pattern whose group 1 is the credential
SHAPES: tuple[tuple[str, str, str], ...] = (
    ("jwt", "eyJ", START + r"(eyJ[\w-]{8,4096}\.eyJ[\w-]{8,8192}(?:\.[\w-]*)?)"),
    ("jwt", "eyJ", START + r"(eyJ[\w-]{14,4096}\.[\w-]{16,8192}\.[\w-]{16,8192})"),
    ("jwt", "eyJ", START + r"(eyJ[\w-]{14,4096}\.[\w-]{0,8192}(?:\.[\w-]{0,8192}){3})"),
    ("jwt", "ZXlK", START + r"(ZXlK[A-Za-z0-9/\\_+\-]{48,}={0,2})"),
    ("grafana-token", "eyJrIjoi", START + r"(eyJrIjoi[A-Za-z0-9+/]{40,}={0,3})"),
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
        START + r"([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}"
        r"\.[A-Za-z0-9_-]{27,40})(?![\w-])",
    ),
    ("telegram-token", ":", START + r"(?:bot)?(\d{8,10}:[A-Za-z0-9_-]{35})(?![\w-])"),
    ("terraform-token", ".atlasv1.", START + r"([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,})"),
    ("mailchimp-key", "-us", START + r"([0-9a-z]{32}-us\d{1,2})(?!\w)"),
    ("maxmind-key", "_mmk", START + r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)(?!\w)"),
    ("azure-client-secret", "Q~", START + r"([\w~.-]{3}\dQ~[\w~.-]{31,34})"),
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
        START + r"((?:sc|ext|scauth|authress)_\w{5,30}\.\w{4,6}\.acc[_-][\w-]{10,32}"
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
    ("google-refresh-token", "1//0", START + r"(1//0[\w-]{40,})"),
    (
        "kubernetes-secret",
        "kind: Secret",
        r"(?m)^[ \t]+[\w.-]+:[ \t]*[\"']?([A-Za-z0-9+/]{16,}={0,2})(?=[\"'\s]|$)",
    ),
    ("airtable-token", "pat", START + r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})"),
    ("softlayer-key", "softlayer.com/soap", r"softlayer\.com/soap/v3(?:\.1)?/([a-z0-9]{64})"),
    ("facebook-token", "|", START + r"(\d{15,16}(?:\||%7C)[\w-]{27,40})(?!\w)"),
)


def find_shapes(text: str) -> Iterator[Span]:
    """Yield each credential that has one of the shapes."""
    for kind, literal, pattern in SHAPES:
        if literal in text:
            for match in re.finditer(pattern, text, re.ASCII):
                if not is_masked(match[1]):
                    yield match.start(1), match.end(1), kind
