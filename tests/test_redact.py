"""Keys of every known form leave the text, however they are written or hidden."""

import base64
import subprocess
import sys
import time
from pathlib import Path

import pytest
from redaction.drawing import ALNUM, LOWER, LOWER_HEX, WORD, drawn

import agentlas_memory
from agentlas_memory.redact import REDACTION_VERSION, find_secrets, redact
from agentlas_memory.redaction.rules import PREFIXED


def uuid():
    return "-".join(drawn(LOWER_HEX, n) for n in (8, 4, 4, 4, 12))


def jwt():
    head, claims = b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234567890","name":"A"}'
    coded = [base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (head, claims)]
    return ".".join([*coded, drawn(WORD, 43)])


SURROUNDINGS = {
    "prose": "We deploy with {} since March, see the runbook.",
    "sentence end": "The one for staging was {}. It was rotated.",
    "python": 'client = Client("{}", timeout=3)',
    "env": "export SERVICE_VALUE={}\nexport OTHER=1",
    "yaml": "service:\n  value: {}\n  port: 8080",
    "json": '{{"service": {{"value": "{}", "port": 8080}}}}',
    "json with escapes": '{{"log": "started\\n{}\\nstopped"}}',
    "url": "see https://example.com/v1/items?page=2&value={}&sort=asc",
    "markdown": "| staging | `{}` | rotated |",
}
ASSIGNMENTS = {
    "prose": "The {name} api key is {value} for staging.",
    "python": '{name}_api_token = "{value}"',
    "env": "{upper}_API_KEY={value}\n",
    "yaml": "{name}_token: {value}\nport: 8080",
    "json": '{{"{name}_api_key": "{value}", "port": 8080}}',
    "url": "https://api.example.com/{name}/v1?api_key={value}&page=2",
}
PROVIDER_VALUES = [
    ("adafruit", LOWER + "_-", 32), ("adobe", LOWER_HEX, 32), ("airtable", LOWER, 17),
    ("algolia", LOWER, 32), ("alibaba", LOWER, 30), ("asana", LOWER, 32), ("atlassian", LOWER, 24),
    ("bitbucket", LOWER, 32), ("bittrex", LOWER, 32), ("cloudflare", LOWER + "_-", 40),
    ("codecov", LOWER, 32), ("cohere", ALNUM, 40), ("coinbase", LOWER + "_-", 64),
    ("confluent", LOWER, 16), ("confluent", LOWER, 64), ("contentful", LOWER + "_-", 43),
    ("datadog", LOWER, 40), ("discord", LOWER_HEX, 64), ("discord", LOWER + "_-", 32),
    ("droneci", LOWER, 32), ("dropbox", LOWER, 15), ("etsy", LOWER, 24),
    ("facebook", LOWER_HEX, 32),
    ("fastly", LOWER + "_-", 32), ("finicity", LOWER, 20), ("finnhub", LOWER, 20),
    ("flickr", LOWER, 32), ("freshbooks", LOWER, 64), ("gitter", LOWER + "_-", 40),
    ("intercom", LOWER + "_-", 60), ("jfrog", LOWER, 73), ("kraken", LOWER + "+/", 80),
    ("kucoin", LOWER_HEX, 24), ("launchdarkly", LOWER + "_-", 40), ("linear", LOWER_HEX, 32),
    ("linkedin", LOWER, 16), ("mattermost", LOWER, 26), ("messagebird", LOWER, 25),
    ("meraki", LOWER_HEX, 40), ("netlify", LOWER + "_-", 43), ("newrelic", LOWER, 64),
    ("nytimes", LOWER + "_-", 32), ("okta", WORD, 42), ("plaid", LOWER, 30),
    ("privateai", LOWER, 32),
    ("rapidapi", LOWER + "_-", 50), ("sendbird", LOWER_HEX, 40), ("sentry", LOWER_HEX, 64),
    ("sonar", LOWER + "_-", 40), ("sourcegraph", LOWER_HEX, 40), ("sumologic", ALNUM, 64),
    ("travis", LOWER, 22), ("twitch", LOWER, 30), ("twitter", LOWER, 50), ("zendesk", LOWER, 40),
    ("cloudant", LOWER_HEX, 64), ("softlayer", LOWER, 64), ("ibm_cloud_iam", WORD, 44),
    ("aws_secret", ALNUM + "+/", 40), ("pinecone", ALNUM, 36),
]  # fmt: skip
SHAPES = [
    ("jwt", jwt),
    ("slack-webhook", lambda: f"T{drawn(LOWER, 9)}/B{drawn(LOWER, 9)}/{drawn(ALNUM, 24)}"),
    ("discord-token", lambda: f"M{drawn(ALNUM, 23)}.{drawn(ALNUM, 6)}.{drawn(ALNUM, 27)}"),
    ("telegram-token", lambda: f"{drawn('123456789', 9)}:AA{drawn(ALNUM, 33)}"),
    ("terraform-token", lambda: f"{drawn(ALNUM, 14)}.atlasv1.{drawn(ALNUM, 67)}"),
    ("mailchimp-key", lambda: f"{drawn(LOWER_HEX, 32)}-us12"),
    ("maxmind-key", lambda: f"{drawn(ALNUM, 6)}_{drawn(ALNUM, 29)}_mmk"),
    ("azure-client-secret", lambda: f"{drawn(ALNUM, 3)}8Q~{drawn(ALNUM, 34)}"),
]


def check(text, secret, kind):
    assert secret in text
    clean = redact(text)
    assert secret not in clean
    before, after = text.split(secret)
    assert clean == f"{before}[redacted:{kind}]{after}"
    assert redact(clean) == clean


@pytest.mark.parametrize("place", SURROUNDINGS.values(), ids=SURROUNDINGS.keys())
@pytest.mark.parametrize("rule", PREFIXED, ids=lambda rule: rule[1])
def test_key_known_by_its_prefix_is_redacted(rule, place):
    _kind, prefix, alphabet, length = rule
    secret = prefix + drawn(alphabet, length)
    text = place.format(secret)
    clean = redact(text)
    assert secret[len(prefix) :] not in clean
    before, after = text.split(secret)
    assert clean.startswith(before + "[redacted:")
    assert clean.endswith("]" + after)
    assert redact(clean) == clean


@pytest.mark.parametrize("place", ASSIGNMENTS.values(), ids=ASSIGNMENTS.keys())
@pytest.mark.parametrize("row", PROVIDER_VALUES, ids=lambda row: f"{row[0]}-{row[2]}")
def test_opaque_value_of_a_provider_is_redacted(row, place):
    name, alphabet, length = row
    secret = drawn(alphabet, length)
    text = place.format(name=name, upper=name.upper(), value=secret)
    before, after = text.split(secret)
    clean = redact(text)
    assert clean.startswith(before + "[redacted:")
    assert clean.endswith("]" + after)


@pytest.mark.parametrize("name", ["heroku", "hubspot", "kucoin", "sendbird", "snyk", "squarespace"])
@pytest.mark.parametrize("place", ASSIGNMENTS.values(), ids=ASSIGNMENTS.keys())
def test_uuid_under_a_key_name_is_redacted(name, place):
    secret = uuid()
    assert secret not in redact(place.format(name=name, upper=name.upper(), value=secret))


@pytest.mark.parametrize("place", SURROUNDINGS.values(), ids=SURROUNDINGS.keys())
@pytest.mark.parametrize(("kind", "make"), SHAPES, ids=[kind for kind, _ in SHAPES])
def test_key_known_by_its_shape_is_redacted(kind, make, place):
    secret = make()
    host = "https://hooks.slack.com/services/" if kind == "slack-webhook" else ""
    check(place.format(host + secret), secret, kind)


def pem(name="RSA PRIVATE KEY", lines=6):
    body = "\n".join(drawn(ALNUM + "+/", 64) for _ in range(lines))
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


@pytest.mark.parametrize(
    "name",
    ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"],
)
@pytest.mark.parametrize(
    "change",
    [str, lambda key: key.replace("\n", " "), lambda key: key.replace("\n", "\\n")],
    ids=["lines", "joined by spaces", "escaped"],
)
def test_private_key_is_redacted_and_what_follows_keeps_its_line(name, change):
    key = change(pem(name))
    lines = "\n" * key.count("\n")
    assert redact(f"before {key} after") == f"before [redacted:private-key]{lines} after"


def test_private_key_cut_off_at_either_side_is_redacted():
    key = pem()
    cut = redact(key[:200] + "\n\nThen restart it.")
    assert cut.split() == ["[redacted:private-key]", "Then", "restart", "it."]
    assert redact("Intro.\n" + key[120:]).split("\n")[0] == "Intro."
    assert key[120:180] not in redact("Intro.\n" + key[120:])


def test_a_key_that_markdown_escaped_is_redacted():
    key = "ghp\\_" + drawn(ALNUM, 36)
    assert redact(f"The token is {key} today.") == "The token is [redacted:github-token] today."


@pytest.mark.parametrize("mark", [*"\u200b\u00ad\u2060\ufeff\u200d\ufe0f\u034f", "\U000e0041"])
def test_invisible_characters_do_not_hide_a_key(mark):
    key = "sk-ant-api03-" + drawn(WORD, 95)
    broken = mark.join(key[at : at + 5] for at in range(0, len(key), 5))
    assert redact(f"🔑 use {broken} now") == "🔑 use [redacted:anthropic-key] now"


@pytest.mark.parametrize("mark", [".", "-"])
def test_dots_and_dashes_do_not_hide_a_key(mark):
    body = drawn(ALNUM, 36)
    broken = "ghp_" + mark.join(body[at : at + 6] for at in range(0, 36, 6))
    assert redact(f"use {broken} now") == "use [redacted:github-token] now"


@pytest.mark.parametrize("joint", ['" + "', '" +\n    "', '" "', '"\n"', '" . "'])
def test_a_key_in_two_literals_is_redacted(joint):
    key = "ghp_" + drawn(ALNUM, 36)
    split = f'call("{key[:20]}{joint}{key[20:]}", 3)'
    lines = "\n" * joint.count("\n")
    assert redact(split) == f'call("[redacted:github-token]{lines}", 3)'


def test_a_line_that_goes_on_does_not_hide_a_key():
    key = "ghp_" + drawn(ALNUM, 36)
    assert redact(f"a {key[:20]}\\\n{key[20:]} b") == "a [redacted:github-token]\n b"


def test_keys_without_a_break_between_them_are_all_redacted():
    keys = "".join("pul-" + drawn(LOWER_HEX, 40) for _ in range(40))
    assert redact(f"see {keys} now") == f"see {'[redacted:pulumi-token]' * 40} now"


def test_find_secrets_names_places_and_kinds():
    key = "ghp_" + drawn(ALNUM, 36)
    assert find_secrets(f"a {key} b") == [(2, 42, "github-token")]
    assert REDACTION_VERSION >= 1


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "-" * 1_000_000,
        "*" * 1_000_000 + ":",
        "*.-" * 300_000 + ":5432:",
        "eyJ." * 250_000,
        "eyJaaaaaaaaaaaaaaaaaaaa." * 40_000,
        "password=" * 22_000,
        "password = 'a1" * 15_000,
        "-----BEGIN PRIVATE KEY-----" * 8_000,
        "-----END PRIVATE KEY-----" * 8_000,
        "://a:" * 100_000,
        "https://" + "a:b@" * 100_000,
        "curl " * 100_000 + " -u",
        "token " * 100_000 + "a1b2c3d4e5f6g7",
        "ghp_" * 100_000,
        "sk-a1.b2-" * 60_000,
        "heroku " * 80_000 + "x" * 20_000 + "a1b2c3d4e5f6",
        "AKIA1234567890123456" * 20_000,
        "\u200b" * 500_000,
        "ops_eyJ" * 150_000,
        "secret" * 170_000,
        "pul-0123456789abcdef0123456789abcdef01234567" * 4_000,
        "mysql -pabc " * 80_000,
        "machine a login b password " * 37_000,
        "a:5432:b:c:" * 90_000,
        "---\nkind: Secret\ndata:\n  a: b\n" * 33_000,
        "Cookie: a=b; " * 77_000,
        '"sk-" + ' * 125_000,
        "\\" * 1_000_000,
        "password: |\n  a1\n" * 58_000,
        "otpauth://totp/a?secret=" * 40_000,
    ],
    ids=lambda text: text[:20].encode("unicode_escape").decode(),
)
def test_long_input_takes_no_second(text):
    begin = time.process_time()
    redact(text)
    assert time.process_time() - begin < 1


def test_plain_text_loads_no_re():
    text = "# Notes\n\nThe token ledger keeps an API key per tenant; see [docs](https://example.com/a2)."
    code = (
        f"import sys; sys.path.insert(0, {str(Path(agentlas_memory.__file__).parents[1])!r})\n"
        f"from agentlas_memory.redact import redact\nassert redact({text!r}) == {text!r}\n"
        "assert 're' not in sys.modules and 'collections' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)
