"""No part of a key that a source holds reaches a disk or a terminal, wherever a text is cut."""

import json
import random
import string
import subprocess

import pytest

from agentlas_memory.cut import LARGEST_TEXT, clean
from agentlas_memory.redaction.rules import PREFIXED

PIECE = 12  # characters of a body that nobody may see
WHY = "The quokka cluster is restarted by hand since its watchdog lied to us twice."
dice = random.Random(7)


def drawn(rule):
    """Draw a key's prefix and body at run time: none is committed."""
    _kind, prefix, alphabet, length = rule
    ends = [char for char in alphabet if char.isalnum()]
    body = [dice.choice(alphabet) for _ in range(length)]
    body[0], body[1], body[-1] = dice.choice(ends), dice.choice(string.digits), dice.choice(ends)
    return prefix, "".join(body)


# Among them the shortest and the longest.
RULES = sorted((rule for rule in PREFIXED if rule[3] >= PIECE), key=lambda rule: rule[3])
KEYS = [drawn(rule) for rule in (*RULES[:: len(RULES) // 5], RULES[-1])]


def around(cut, bodies, step=3):
    """Yield texts with a key at each place where the cut would go through it."""
    for prefix, body in KEYS:
        bodies.add(body)
        for at in range(max(0, cut - len(prefix + body) - 1), cut + 2, step):
            yield "so " * (at // 3) + " " * (at % 3) + prefix + body


def pieces(bodies):
    return {body[at : at + PIECE] for body in bodies for at in range(len(body) - PIECE + 1)}


@pytest.fixture
def leaks(project, am):
    """Import a source in every way, and return the pieces of keys that are seen somewhere."""

    def run(bodies, *source):
        options = (["--dry-run"], ["--dry-run", "--json"], ["--yes", "--json"], ["--yes"])
        outcomes = [am("import", *source, *some) for some in options]
        assert [one.code for one in outcomes] == [0, 0, 0, 0], outcomes[0].err
        assert outcomes[2].json["added"] != []
        files = [path for path in (project / ".agentlas").rglob("*") if path.is_file()]
        seen = [one.out + one.err for one in outcomes] + [str(path) for path in files]
        seen += [path.read_bytes().decode("utf-8", "replace") for path in files]
        everything = "\0".join(seen).lower()
        return [piece for piece in pieces(bodies) if piece.lower() in everything]

    return run


@pytest.mark.parametrize(
    ("field", "cut"), [("memory", 80), ("memory", 200), ("id", 48), ("id", 200), ("categories", 40)]
)
def test_no_field_of_mem0_is_cut_inside_a_key(leaks, tmp_path, field, cut):
    bodies = set()
    entries = []
    for number, text in enumerate(around(cut, bodies)):
        entry = {"id": f"m{number}", "memory": f"Fact {number}: {WHY}"}
        said = f"{text} {number} is a fact" if field == "memory" else text
        entries.append(entry | {field: [said] if field == "categories" else said})
    (tmp_path / "mem0.json").write_text(json.dumps(entries))
    assert leaks(bodies, "mem0", str(tmp_path / "mem0.json")) == []


@pytest.mark.parametrize(
    ("form", "cut"),
    [
        ("---\ntitle: {}\n---\n", 200),
        ("---\nstatus: {}\n---\n", 40),
        ("---\nstatus: {}\n---\n", 200),
        ("---\ntitle: Fact\ndescription: {}\n---\n", 200),
        ("---\ntitle: {}\n---\n", 10_000),
        ("---\ntags: [{}]\n---\n", 40),
        ("# {}\n\n", 200),
        ("- [fact] It is so #{}\n", 40),
    ],
)
def test_no_field_of_a_page_is_cut_inside_a_key(leaks, tmp_path, form, cut):
    bodies = set()
    for number, text in enumerate(around(cut, bodies)):
        if "#{}" in form or "tags" in form:
            text = text.split()[-1]
        page = form.format(text) + f"Fact {number}: {WHY}\n"
        (tmp_path / "vault").mkdir(exist_ok=True)
        (tmp_path / f"vault/{number}.md").write_text(page)
    assert leaks(bodies, "markdown", str(tmp_path / "vault")) == []


def test_no_path_is_cut_inside_a_key(leaks, tmp_path):
    bodies = set()
    for number, text in enumerate(around(200, bodies)):
        words, _, key = text.rpartition(" ")
        if "/" in key or len(key) > 240:
            continue
        folder = tmp_path / "vault" / words.replace(" ", "/")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{key}.md").write_text(f"Fact {number}: {WHY}\n")
    assert leaks(bodies, "markdown", str(tmp_path / "vault")) == []


def fast_import(project, messages, names=()):
    """Make a commit of each message, and a tag of each name."""
    who = "Nils <nils@example.org> 1709287200 +0000"
    stream = []
    for message in messages:
        data = message.encode()
        stream.append(f"commit refs/heads/main\ncommitter {who}\ndata {len(data)}\n{message}\n")
    for name in names:
        stream.append(f"tag {name}\nfrom refs/heads/main\ntagger {who}\n")
        stream.append(f"data {len(WHY)}\n{WHY}\n")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
    command = ["git", "fast-import", "--quiet"]
    subprocess.run(command, cwd=project, input="".join(stream).encode(), check=True)


@pytest.mark.parametrize(("cut", "step"), [(200, 3), (16_000, 17)])
def test_no_message_of_a_commit_is_cut_inside_a_key(leaks, project, cut, step):
    bodies = set()
    made = enumerate(around(cut, bodies, step))
    form = "{1} {0}\n\n{2}" if cut == 200 else "Fact {0}\n\n{1}\n\n{2}"
    fast_import(project, [form.format(number, text.strip(), WHY) for number, text in made])
    assert leaks(bodies, "git") == []


def test_no_name_of_a_tag_is_cut_inside_a_key(leaks, project):
    bodies = set()
    names = [
        "/".join([*text.split()[:-1], str(number), text.split()[-1]])
        for number, text in enumerate(around(200, bodies))
        if len(text.split()[-1]) < 200
    ]
    fast_import(project, [f"Begin\n\n{WHY}"], names)
    assert leaks(bodies, "git") == []


def test_a_text_is_never_cut_inside_a_mark():
    prefix, body = KEYS[0]
    whole = clean(f"so {prefix}{body} it is", 1000)
    mark = whole[3:-6]
    assert mark.startswith("[redacted:")
    for limit in range(1, len(whole)):
        short = clean(f"so {prefix}{body} it is", limit)
        assert len(short) <= limit
        assert mark in short or "[" not in short


def test_a_giant_is_dropped_whole():
    assert clean("a" * (LARGEST_TEXT + 1), 10) == ""
