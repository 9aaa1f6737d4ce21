"""No byte of a credential reaches the store, whichever way it came."""

import random
import string

import pytest

from agentlas_memory.redact import redact
from agentlas_memory.runtime import OntologyRuntime

CHANCE = random.Random(68)


def made_of(alphabet, length):
    return "".join(CHANCE.choice(alphabet) for _ in range(length))


ALNUM = string.ascii_letters + string.digits
SECRETS = {
    "aws": "AKIA" + made_of(string.ascii_uppercase + "234567", 16),
    "github": "ghp_" + made_of(ALNUM, 36),
    "gitlab": "glpat-" + made_of(ALNUM, 20),
    "slack": "xoxb-" + made_of(string.digits, 12) + "-" + made_of(ALNUM, 24),
    "stripe": "sk_live_" + made_of(ALNUM, 24),
    "google": "AIza" + made_of(ALNUM, 35),
    "anthropic": "sk-ant-api03-" + made_of(ALNUM, 80),
    "npm": "npm_" + made_of(ALNUM, 36),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi" + made_of(ALNUM, 30) + "." + made_of(ALNUM, 43),
}
LOOKALIKES = [
    "0123456789abcdef0123456789abcdef01234567",
    "No API key in the build",
    "apiKey: import.meta.env.KEY",
    "3f9c2a71-0b1c-4d2e-8f3a-5b6c7d8e9f00",
]


def leaked(project, secret):
    """Return the pieces of a secret that stand in the store's files, however they were folded."""
    data = project.all_bytes().lower()
    parts = [
        part
        for part in secret.lower().replace("-", "_").replace(".", "_").split("_")
        if len(part) > 11
    ]
    return [part for part in (secret.lower(), *parts) if part.encode() in data]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_anywhere_in_a_file_is_in_no_byte_of_the_store(project, name):
    secret = SECRETS[name]
    project.write(
        text=f"# Deploy\n\nThe deploy uses {secret} and `{secret}` and [this](docs/{secret}.md).\n",
        heading=f"# The key {secret}\n\n## `{secret}`\n\nThe deploy uses it.\n",
        title=f"---\ntitle: Key {secret}\nid: {secret}\nsupersedes: {secret}\n---\n\nIt is used.\n",
        code=f"# Code\n\n```sh\nexport TOKEN={secret}\n```\n\n| a | {secret} |\n|---|---|\n",
    )
    project.index()
    assert not leaked(project, secret)
    assert any("[redacted:" in text for (text,) in project.rows("SELECT text FROM chunks"))


@pytest.mark.parametrize("name", SECRETS)
def test_nor_does_one_in_a_note_or_a_record(project, name):
    secret = SECRETS[name]
    inbox = project.folder / "ontology-inbox"
    inbox.mkdir()
    (inbox / "n.md").write_text(f"---\ntags: [{secret}]\n---\n\nThe deploy uses {secret}.\n")
    project.index()
    OntologyRuntime(project.database).ingest_records(
        [(f"id {secret}", f"text {secret}", f"title {secret}", f"path/{secret}")]
    )
    assert not leaked(project, secret)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('password = "hunter2hunter2"', "hunter2hunter2"),
        ("password = `hunter2hunter2`", "hunter2hunter2"),
        ("postgres://admin:sw0rdf1shy@db.example/main", "sw0rdf1shy"),
        ("Authorization: Basic YWRtaW46c3cwcmRmMXNoeQ==", "ywrtaw46c3cwcmrmmxnoeq"),
    ],
)
def test_a_secret_that_only_its_context_shows_is_no_entity_either(project, text, secret):
    assert secret not in redact(text).lower(), "the rule is not about this text"
    project.write(note=f"# Database\n\nUse {text}\n\nThen restart the gateway.\n")
    project.index()
    assert not leaked(project, secret)


@pytest.mark.parametrize("start", ["password = ", "DB_PASSWORD: ", "Authorization: Bearer "])
def test_a_secret_is_redacted_before_a_long_line_is_cut(project, start):
    for number in range(165, 185):
        head = " ".join(f"word{at}" for at in range(number))
        tail = " ".join(f"tail{at}" for at in range(300))
        project.write(**{f"f{number}": f"# Log\n\n{head} {start}hunter2hunter2xyz99 {tail}\n"})
    project.index()
    assert not leaked(project, "hunter2hunter2xyz99")


def test_redacting_keeps_the_numbers_of_lines(project):
    project.write(note="# A\n\npassword =\n  hunter2hunter2xyz99\n\n## B\n\nThe pager rota.\n")
    project.index()
    assert project.rows("SELECT start_line FROM chunks WHERE heading LIKE '%B'") == [(8,)]


LINES = [made_of(ALNUM + "+/", 64) for _ in range(50)]
PEM = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *LINES, "-----END RSA PRIVATE KEY-----"])


@pytest.mark.parametrize("before", [0, 60, 120, 150, 170, 180, 190, 200, 210, 400])
@pytest.mark.parametrize("fenced", [False, True], ids=["bare", "fenced"])
def test_a_key_block_that_is_cut_into_chunks_leaves_no_line(project, before, fenced):
    prose = " ".join(f"word{number}." for number in range(before))
    block = f"```\n{PEM}\n```" if fenced else PEM
    project.write(keys=f"# Keys\n\n{prose}\n\n{block}\n\n{prose}\n")
    project.index()
    data = project.all_bytes()
    assert not [line for line in LINES if line.encode() in data]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_only_looks_like_a_secret_stays(project, text):
    project.write(note=f"# Build\n\nThe build says {text}, as it should.\n")
    project.index()
    assert text.encode() in project.all_bytes()


@pytest.mark.parametrize(
    "heading",
    ["# Rotate **{a}**{b}", "# Rotate {a}<!-- x -->{b}", '---\ntitle: "\\x67{rest}"\n---\n# Keys'],
    ids=["bold", "comment", "YAML escape"],
)
def test_a_secret_that_markup_held_apart_is_in_no_byte_of_the_store(project, heading):
    secret = SECRETS["github"]
    text = heading.format(a=secret[:16], b=secret[16:], rest=secret[1:])
    project.write(keys=f"{text}\n\nRotate it every month.\n")
    project.index()
    assert secret.lower().encode() not in project.all_bytes().lower()
