"""A provider's key leaves the text whatever stands against it: an escape, a colour, a word."""

import random
import string
import time

import pytest

from agentlas_memory.redact import redact
from agentlas_memory.redaction.rules import PREFIXED, is_strict
from agentlas_memory.redaction.triggers import SHORTEST_KEY

ALNUM = string.digits + string.ascii_letters
dice = random.Random(73)
COLOUR = chr(27) + "[1;31m"
ESCAPES = [
    r"\n", r"\t", r"\r\n", r"\\n", r"\f", r"\0", r"\x1b", r"\x0a", r"\012", r"\u0022",
    r"\U0001F511", "%20", "%3D", "%0D%0A", "%27", "%253D", "%C2%A0", "%u0022", "=3D", "=20", "=0A",
    "[31m", COLOUR, chr(27) + "[38;5;196m", chr(27) + "[m", r"\033[0m", chr(27) + "[K",
    "&quot;", "&#34;", "_", "__", "x-", "é",
]  # fmt: skip
BEHIND = [
    r"\n", r"\t", r"\u0022", r"\x1b[0m", COLOUR, "%22", "%0A", "&quot;", "=22",
    "_", "__", "**", "é",
]  # fmt: skip


def drawn(alphabet, length):
    """Draw a body with digits, of signs that end no key where it is cut."""
    inner = "".join(sign for sign in alphabet if sign.isalnum() or sign in "_-")
    ends = "".join(sign for sign in inner if sign.isalnum())
    while True:
        body = "".join(dice.choice(inner) for _ in range(length - 2))
        if sum(map(str.isdigit, body)) > 3 and "xxx" not in body.lower():
            return dice.choice(ends) + body + dice.choice(ends)


def leaks(body, text):
    return any(body[at : at + 8] in text for at in range(len(body) - 7))


@pytest.mark.parametrize("rule", PREFIXED, ids=lambda rule: rule[1])
def test_key_against_an_escape_goes(rule):
    _, prefix, alphabet, length = rule
    body = drawn(alphabet, length)
    texts = [f"see a{escape}{prefix}{body} for it" for escape in ESCAPES]
    texts += [f"see {prefix}{body}{sign} for it" for sign in BEHIND]
    assert [text for text in texts if leaks(body, redact(text))] == []


@pytest.mark.parametrize("word", ["token", "apikey", "Bearer", "TOKEN", "is", "a", "2024"])
@pytest.mark.parametrize(
    "start",
    [
        "ghp_",
        "glpat-",
        "sk-ant-",
        "sk-",
        "sk_live_",
        "AKIA",
        "AIza",
        "xoxb-",
        "hf_",
        "npm_",
        "dapi",
    ],
)
def test_key_against_a_word_goes(start, word):
    _, prefix, alphabet, length = next(rule for rule in PREFIXED if rule[1] == start)
    body = drawn(alphabet, length)
    text = redact(f"my {word}{prefix}{body} is new")
    if word == "a" and start.startswith("sk"):
        assert leaks(body, text)  # `task-`, `disk-`: behind a vowel it ends a word
    else:
        assert f"my {word}[redacted:" in text
        assert not leaks(body, text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: "eyJ" + drawn(ALNUM, 30) + ".eyJ" + drawn(ALNUM, 40) + "." + drawn(ALNUM, 43),
        lambda: drawn(ALNUM, 14) + ".atlasv1." + drawn(ALNUM, 67),
        lambda: "pat" + drawn(ALNUM, 14) + "." + drawn("0123456789abcdef", 64),
    ],
    ids=["jwt", "terraform", "airtable"],
)
@pytest.mark.parametrize("before", ["token", "%27", r"\u0022", COLOUR])
def test_key_known_by_its_shape_goes_too(make, before):
    key = make()
    assert not leaks(key, redact(f"see {before}{key} for it"))


def test_a_number_and_a_token_around_a_bar_are_seen_alone():
    number, token = drawn("123456789", 15), drawn(ALNUM, 27)
    assert not leaks(token, redact(f"see {number}|{token} now"))


@pytest.mark.parametrize(
    "text",
    [
        "task-" + "7f3e9a1b2c4d5e6f7a8b9c0d1e2f",
        "desk-" + "proj-7f3e9a1b2c4d5e6f7a8b9c0d1e2f",
        "the work_test_" + "7f3e9a1b2c4d5e6f7a8b9c0d1e2f of it",
        "latest_" + "4f2a9c1d8e7b6a5f4f2a9c1d8e7b6a5f012",
        "monkey-" + "0f2a9c1d8e7b6a5f4f2a9c1d8e7b6a5f",
        "calico-" + "kube-controllers-5f6cfd688c-abcde",
        "MAC" + "d41d8cd98f00b204e9800998ecf8427e",
        "sha256 " + "ab4b1d" * 10 + "0123",
        "files." + "AbstractFactory2Builder3x",
        "wAEMpaddingEAAA" + "1b2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u",
    ],
)
def test_what_only_ends_like_a_prefix_stays(text):
    assert redact(text) == text


def test_no_key_is_shorter_than_what_is_looked_at():
    least = [n if is_strict(alphabet) else min(n, 20) for _, _, alphabet, n in PREFIXED]
    starts = [len(prefix) for _, prefix, _, _ in PREFIXED]
    assert min(map(sum, zip(starts, least, strict=True))) >= SHORTEST_KEY


@pytest.mark.parametrize(
    "text",
    [
        "a1B2ghp_" * 125_000,
        "tokenghp_a1" * 90_000,
        "xglpat-" * 140_000,
        "x" * 500_000 + "glpat-" + "a1-" * 160_000,
        "aAKIA" * 200_000,
        "ab1AIza-" * 120_000,
        "a" * 999_000 + "AKIA0123456789ABCDEF",
        "eyJeyJ" * 160_000,
        "eyJaaaaaaaaaaa.a" * 60_000,
        "a1" * 480_000 + ".atlasv1.",
        "pat" + "a" * 1_000_000,
        r"\u0022" * 160_000,
        "%25" * 330_000,
        "[1;31m" * 160_000,
        "=3D" * 330_000,
        "1" * 1_000_000 + "|",
    ],
    ids=lambda text: ascii(text[:16]),
)
def test_a_text_full_of_them_takes_no_second(text):
    begin = time.process_time()
    redact(text)
    assert time.process_time() - begin < 1
