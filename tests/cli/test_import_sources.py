"""What each source holds, and what somebody may have put in its place."""

import json
import os

import pytest
from cli.importing import ORDER, QUOKKA, TOKEN, ZEPHYR, everything, found, imported, taken

from agentlas_memory.importing import items, markdown, mem0, plan

SUMMARY = """\
thread_id: 0199-aa
updated_at: 2026-02-12T10:30:00+00:00
rollout_path: /home/me/.codex/sessions/rollout.jsonl
cwd: {cwd}

# The cluster

{text}
"""


@pytest.fixture
def codex(home):
    folder = home / ".codex/memories"
    (folder / "rollout_summaries").mkdir(parents=True)
    return folder


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def export(tmp_path):
    """Write a mem0 export, and return the source's name for `taken`."""

    def write(document):
        file = tmp_path / "mem0.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return f"mem0|{file}"

    return write


def reasons(document):
    return {one["place"]: one["reason"] for one in document["skipped"]}


def test_codex_is_taken_for_this_project_alone(project, am, codex, inbox):
    summaries = codex / "rollout_summaries"
    (summaries / "a.md").write_text(SUMMARY.format(cwd=f"{project}/docs", text=QUOKKA))
    (summaries / "b.md").write_text(SUMMARY.format(cwd=f"{project}-2", text=ZEPHYR))
    (codex / "MEMORY.md").write_text(SUMMARY.format(cwd=project, text=ZEPHYR))
    document = taken(am, source="codex")
    assert [one["title"] for one in document["added"]] == ["The cluster"]
    assert reasons(document)["rollout_summaries/b.md"] == "about another project"
    assert "load" in reasons(document)["MEMORY.md"]
    [name] = imported(inbox)
    assert name.startswith("2026-02-12-")
    assert b"rollout.jsonl" not in imported(inbox)[name]


def test_a_codex_home_elsewhere_is_honoured(project, am, codex, tmp_path, monkeypatch):
    (codex / "rollout_summaries/a.md").write_text(SUMMARY.format(cwd=project, text=QUOKKA))
    codex.rename(tmp_path / "memories")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    assert len(taken(am, source="codex")["added"]) == 1


def test_a_folder_of_basic_memory_keeps_its_observations_tags_and_dates(project, am, vault, inbox):
    (vault / "sub").mkdir()
    text = "---\ntitle: Cluster\ntype: note\npermalink: sub/cluster\ncreated: 2024-03-01\n---\n\n"
    text += f"## Observations\n- [decision] {QUOKKA} #ops #restart (seen in May)\n"
    text += "- [x] #done is a task\n\n## Relations\n- part_of [[Fleet]]\n"
    (vault / "sub/cluster.md").write_text(text)
    taken(am, source=f"markdown|{vault}")
    [note] = am("notes", "list", "--json").json["notes"]
    assert (note["tags"], note["created"]) == (["ops", "restart"], "2024-03-01")
    assert note["path"].rpartition("/")[2].startswith("2024-03-01-")
    assert QUOKKA in found(am, "who restarts the quokka cluster")[0]


def test_a_log_of_memsearch_is_dated_by_its_name_and_its_comments_stay_out(
    project, am, vault, inbox
):
    comment = "<!-- session:1 turn:2 transcript:/home/me/t.jsonl -->"
    (vault / "2024-03-02.md").write_text(f"## Session 10:11\n\n{comment}\n{QUOKKA}\n")
    taken(am, source=f"markdown|{vault}")
    [name] = imported(inbox)
    assert name.startswith("2024-03-02-")
    assert b"transcript" not in imported(inbox)[name]


def test_an_order_hidden_in_a_comment_reaches_no_note(project, am, vault):
    (vault / "a.md").write_text(f"# A\n\n{QUOKKA}\n\n<!-- {ORDER} -->\n")
    taken(am, source=f"markdown|{vault}")
    assert b"previous instructions" not in everything(project)


def test_importing_over_and_over_makes_nothing_grow(project, am, vault, store):
    for number in range(100):
        (vault / f"{number}.md").write_text(f"# Fact {number}\n\n{QUOKKA} That is {number}.\n")
    taken(am, source=f"markdown|{vault}")
    size = store.stat().st_size
    for _ in range(6):
        assert taken(am, source=f"markdown|{vault}")["unchanged"] == 100
        (vault / "0.md").write_text((vault / "0.md").read_text() + "And so on.\n")
        assert taken(am, source=f"markdown|{vault}")["index"]["chunks"] == 102
    assert store.stat().st_size < 1.2 * size  # pages that are free again are not given back


def test_one_source_leaves_the_list_of_another_alone(project, am, vault, export, inbox):
    (vault / "a.md").write_text(QUOKKA)
    taken(am, source=f"markdown|{vault}")
    taken(am, "--prune", source=export([{"id": "m1", "memory": ZEPHYR}]))
    notes = json.loads((inbox / "imports.json").read_text())["notes"]
    assert sorted(one["origin"][:8] for one in notes.values()) == ["markdown", "mem0"]
    assert taken(am, source=f"markdown|{vault}")["unchanged"] == 1


def test_two_folders_are_two_sources(project, am, vault, tmp_path):
    (tmp_path / "other").mkdir()
    (vault / "a.md").write_text(QUOKKA)
    (tmp_path / "other/a.md").write_text(ZEPHYR)
    taken(am, source=f"markdown|{vault}")
    document = taken(am, source=f"markdown|{tmp_path}/other")
    assert (len(document["added"]), document["vanished"]) == (1, [])


def test_what_is_no_memory_is_named_with_its_reason(project, am, vault, tmp_path):
    (tmp_path / "secret.md").write_text(ZEPHYR)
    (vault / "link.md").symlink_to(tmp_path / "secret.md")
    (vault / "linked").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(vault / "pipe.md")
    (vault / "folder.md").mkdir()
    (vault / "latin.md").write_bytes(b"caf\xe9")
    (vault / "large.md").write_bytes(b"a" * (2 << 20) + b"a")
    (vault / "empty.md").write_text("---\ntitle: x\n---\n")
    (vault / "bomb.md").write_text("---\na: &a [x]\nb: [*a, *a]\n---\ntext\n")
    (vault / "AGENTS.md").write_text(QUOKKA)
    document = taken(am, source=f"markdown|{vault}")
    told = reasons(document)
    assert document["added"] == []
    assert b"xylozephyr" not in everything(project)
    assert (told["link.md"], told["linked"], told["pipe.md"]) == (
        "a symbolic link",
        "a symbolic link",
        "not a regular file",
    )
    assert "UTF-8" in told["latin.md"]
    assert "2 MiB" in told["large.md"]
    assert "aliases" in told["bomb.md"]
    assert {"empty.md", "AGENTS.md"} <= told.keys()


def test_a_name_that_is_no_text_and_folders_without_end_are_survived(project, am, vault):
    deep = vault
    for _ in range(300):
        deep = deep / "d"
        deep.mkdir()
    (deep / "a.md").write_text(QUOKKA)
    os.close(os.open(os.fsencode(vault) + b"/\xff.md", os.O_CREAT | os.O_WRONLY))
    document = taken(am, source=f"markdown|{vault}")
    assert len(document["added"]) == 1
    assert list(reasons(document).values()) == ["its name is not UTF-8"]


@pytest.mark.parametrize("place", ["nowhere", "file.md", "loop"])
def test_what_is_no_folder_is_an_error(project, am, vault, place):
    (vault / "file.md").write_text(QUOKKA)
    (vault / "loop").symlink_to(vault / "loop")
    assert am("import", "markdown", str(vault / place), "--yes").code == 2


@pytest.mark.parametrize("key", ["results", "memories", ""])
def test_an_export_of_mem0_is_read_in_every_shape(project, am, export, inbox, key):
    one = {"id": "m1", "memory": QUOKKA, "created_at": "2024-03-01T10:00:00.123456-07:00"}
    one |= {"updated_at": None, "user_id": "nils", "categories": ["ops"], "metadata": {"a": 1}}
    taken(am, source=export({key: [one]} if key else [one]))
    [note] = am("notes", "list", "--json").json["notes"]
    assert (note["tags"], note["created"]) == (["ops"], "2024-03-01T17:00:00Z")
    assert b"nils" not in next(iter(imported(inbox).values()))


def test_a_memory_of_mem0_that_changed_is_changed_and_an_expired_one_left_out(project, am, export):
    taken(am, source=export([{"id": "m1", "memory": QUOKKA}]))
    newer = {"id": "m1", "memory": ZEPHYR, "updated_at": "2024-03-01"}
    gone = {"id": "m2", "memory": "The lift is broken.", "expiration_date": "2020-01-01"}
    document = taken(am, source=export([newer, gone]))
    assert len(document["changed"]) == 1
    assert reasons(document) == {"m2": "expired"}


def test_values_of_any_type_are_survived(project, am, export):
    odd = [None, 7, "text", [], {}, {"id": [], "memory": []}, {"id": True, "memory": {"a": 1}}]
    odd += [{"id": {}, "memory": QUOKKA, "created_at": [], "updated_at": 1e300, "categories": 5}]
    odd += [{"id": 9, "memory": "a\u0000b \ud800 c", "categories": [None, "x" * 999, {}]}]
    document = taken(am, source=export(odd))
    assert (len(document["added"]), len(document["skipped"])) == (2, 7)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="cut"),
        pytest.param("[" * 200_000, id="without end"),
        pytest.param('{"results": {}}', id="no list"),
        pytest.param("7", id="a number"),
        pytest.param("[" + "9" * 10_000 + "]", id="a number without end"),
    ],
)
def test_what_is_no_export_is_an_error(project, am, export, text):
    outcome = am("import", *export(text).split("|"), "--yes")
    assert outcome.code in (0, 2)
    assert "This is a bug" not in outcome.err


def test_a_pipe_or_a_giant_in_place_of_the_export_is_not_waited_for(
    project, am, tmp_path, monkeypatch
):
    os.mkfifo(tmp_path / "pipe")
    assert am("import", "mem0", str(tmp_path / "pipe"), "--yes").code == 2
    monkeypatch.setattr(mem0, "_LARGEST", 10)
    (tmp_path / "large").write_text("[" + " " * 20 + "]")
    assert "larger" in am("import", "mem0", str(tmp_path / "large"), "--yes").err


def test_a_credential_in_any_field_of_mem0_stays_out(project, am, export):
    one = {"id": TOKEN, "memory": f"{QUOKKA} {TOKEN}", "categories": [TOKEN], "user_id": TOKEN}
    outcome = am("import", *export([one]).split("|"), "--yes", "--json")
    assert len(outcome.json["added"]) == 1
    assert TOKEN not in outcome.out + outcome.err
    assert TOKEN.encode() not in everything(project)


def test_more_memories_than_there_is_room_for_are_told(project, am, export, monkeypatch, inbox):
    monkeypatch.setattr(plan, "MOST_ITEMS", 2)
    many = [
        {"id": f"m{day}", "memory": f"Fact about {day}.", "updated_at": f"2024-03-0{day}"}
        for day in range(1, 6)
    ]
    document = taken(am, source=export(many))
    assert sorted(one["place"] for one in document["added"]) == ["m4", "m5"]
    assert len(document["skipped"]) == 3
    assert taken(am, source=export(many))["added"] == []


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2024-03-01", "2024-03-01"),
        ("2024-03-01T10:11:12Z", "2024-03-01T10:11:12Z"),
        ("2024-03-01T10:11:12.123456789+02:00", "2024-03-01T08:11:12Z"),
        ("2024-03-01T10:11:12.5Z", "2024-03-01T10:11:12Z"),
        (1709287872, "2024-03-01T10:11:12Z"),
        ("yesterday", ""),
        ("2024-13-45", ""),
        (True, ""),
        (float("nan"), ""),
        (float("inf"), ""),
        ("0001-01-01T00:00:00+23:00", ""),
    ],
)
def test_a_date_is_read_or_is_none(value, moment):
    assert items.as_moment(value) == moment


def test_a_page_that_is_one_heading_says_nothing():
    page = markdown.Page("a.md", b"# Only this\n", "")
    with pytest.raises(markdown.UnreadableDocument):
        markdown.read_page(page)
