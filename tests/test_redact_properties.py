"""What holds for any text: nothing raised, nothing lost around a credential, once is enough."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlas_memory.redact import find_secrets, redact
from agentlas_memory.redaction.rules import PREFIXED, PROVIDERS, SHAPE_LITERALS
from agentlas_memory.redaction.scan import scan
from agentlas_memory.redaction.triggers import may_hold_secret

PIECES = (
    *(prefix for _kind, prefix, _alphabet, _length in PREFIXED),
    *SHAPE_LITERALS,
    *PROVIDERS[::4],
    *("password", "secret", "api_key", "token", "Authorization: Bearer ", "Basic ", "curl -u a:"),
    *(
        " = ",
        ": ",
        "=",
        '"',
        "'",
        "\n",
        "\\n",
        "://",
        "@",
        "&",
        "?",
        "[redacted:x]",
        "${",
        "}",
        "<",
    ),
    *("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", " is ", "--token "),
    *(
        "db:5432:",
        "*:*:",
        "app:",
        "machine ",
        "login ",
        "password ",
        "default ",
        "$2y$10$",
        "{SHA}",
    ),
    *(
        "sshpass -p",
        "mysql ",
        " -p",
        "IDENTIFIED BY '",
        "curl -su a:",
        "Cookie: ",
        "session=",
        "; ",
    ),
    *("kind: Secret\n", '"kind":"Secret",', "data:\n", "stringData: {", "  a: ", "---\n", '\\"'),
    *(
        "name: DB_PASSWORD\n  value: ",
        "password: |\n  ",
        '" + "',
        "' '",
        "otpauth://totp/a?",
        "secret=",
    ),
    *(
        ":x-oauth-basic@",
        "\\\n",
        "Password*",
        "JWTBearerToken",
        "hunter2",
        "swordfish",
        "Das Passwort ist ",
        "Kennwort für alle: `",
        "| user | Password |\n|---|---|\n| admin | ",
        "Senha: ",
        "парол\u044c от базы: ",
        "`",
        "Zx9!kk",
        " ",
    ),
    *("\u200b", "\ufeff", "\x00", "\ud800", "İ", "ключ", "."),
)
BODIES = st.text("aZ09bY18cX27dW36_-+/=.", min_size=1, max_size=70)
TEXTS = st.lists(st.sampled_from(PIECES) | BODIES, max_size=12).map("".join)


@settings(max_examples=400, derandomize=True)
@given(st.text(st.characters(), max_size=300) | TEXTS)
def test_any_text_is_answered_and_only_spans_change(text):
    spans = find_secrets(text)
    clean, done = [], 0
    for start, end, kind in spans:
        assert done <= start < end <= len(text)
        clean.append(f"{text[done:start]}[redacted:{kind}]")
        done = end
    assert redact(text) == "".join(clean) + text[done:]


@settings(max_examples=400, derandomize=True)
@given(TEXTS)
def test_redacting_twice_changes_nothing(text):
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=800, derandomize=True)
@given(TEXTS)
def test_the_cheap_question_is_never_falsely_no(text):
    if scan(text):
        assert may_hold_secret(text)


@pytest.mark.parametrize("rule", PREFIXED, ids=lambda rule: rule[1])
def test_each_rule_is_a_name_a_start_and_an_alphabet(rule):
    kind, prefix, alphabet, length = rule
    assert kind == kind.lower().strip("-")
    assert "[" not in kind
    assert prefix.isascii()
    assert len(set(alphabet)) >= 10
    assert 12 <= length <= 200


@pytest.mark.parametrize("prefix", sorted({prefix for _, prefix, _, _ in PREFIXED}))
def test_a_line_of_dashes_takes_no_time(prefix):
    text = f"password = hunter2x9!Q\n\n{prefix}{'-' * 200}\n" + "Some more prose follows.\n" * 20
    begin = time.process_time()
    redact(text)
    assert time.process_time() - begin < 0.5
