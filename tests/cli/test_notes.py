"""`remember`, `notes` and `forget`: nothing is lost in silence, nothing stays that should go."""

import subprocess

import pytest

from agentlas_memory.ontology import database

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # in the shape of a key, and none


def everything(project):
    """Return all bytes below `.agentlas`."""
    return b"".join(path.read_bytes() for path in (project / ".agentlas").rglob("*.*"))


def remember(am, *arguments):
    outcome = am("remember", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json


def test_a_program_splits_what_is_printed_at_the_tab(project, am):
    identity, path = am("remember", "Ship on Fridays").out.rstrip("\n").split("\t")
    assert identity in path


def test_a_note_is_found_at_once(project, am):
    note = remember(am, "The quokka cluster is restarted by hand", "--kind", "constraint")
    hits = am("query", "who restarts the quokka cluster", "--json").json["hits"]
    assert note["path"] == str(project / hits[0]["source"])


def test_a_note_is_a_file_and_is_listed_and_shown(project, am):
    note = remember(am, "Ship on Fridays", "--tag", "release", "--scope", "private")
    listed = am("notes", "list", "--json").json["notes"]
    shown = am("notes", "show", note["id"], "--json").json["note"]
    assert listed == [shown]
    assert (shown["text"].strip(), shown["tags"], shown["scope"]) == (
        "Ship on Fridays",
        ["release"],
        "private",
    )


def test_a_private_note_is_kept_out_of_commits_and_its_name_says_nothing(project, am):
    made = am("remember", "Salary talks with Nils", "--scope", "private", "--json").json
    assert made["path"].endswith(".private.md")
    assert "salary" not in made["path"]
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    ignored = subprocess.run(["git", "check-ignore", "-q", made["path"]], cwd=project)
    assert ignored.returncode == 0


def test_people_read_notes_too(project, am):
    note = remember(am, "Ship on Fridays\nand never on Mondays")
    assert "Ship on Fridays" in am("notes", "list").out
    assert "and never on Mondays" in am("notes", "show", note["id"]).out


def test_a_superseded_note_is_no_longer_recalled(project, am):
    old = remember(am, "The quokka cluster has three nodes")
    remember(am, "The quokka cluster has five nodes", "--supersedes", old["id"])
    hits = am("query", "how many nodes has the quokka cluster", "--json").json["hits"]
    assert ["five" in hit["text"] for hit in hits if "quokka" in hit["text"]] == [True]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["x y z", "--supersedes", "nope"], id="supersedes nothing"),
        pytest.param(["  "], id="blank"),
        pytest.param(["x", "--kind", "rumour"], id="unknown kind"),
        pytest.param(["x", "--scope", "secret"], id="unknown scope"),
    ],
)
def test_wrong_use_writes_nothing(project, am, arguments):
    assert am("remember", *arguments).code == 2
    assert am("notes", "list", "--json").json == {"notes": []}


def test_a_credential_reaches_no_disk(project, am):
    outcome = am("remember", f"The deploy token is {TOKEN}", "--tag", TOKEN)
    assert outcome.code == 0
    assert "credential" in outcome.err
    assert TOKEN.encode() not in everything(project)
    assert b"[redacted:" in everything(project)


def test_forget_leaves_no_trace(project, am):
    note = remember(am, "The xylozephyr is broken")
    assert b"xylozephyr" in everything(project)
    assert am("forget", note["id"]).code == 0
    assert b"xylozephyr" not in everything(project)
    assert b"zephyr" not in everything(project)
    assert am("query", "xylozephyr", "--json").json["hits"] == []


def test_forget_says_what_it_removed(project, am):
    note = remember(am, "Ship on Fridays")
    document = am("forget", note["id"], "--json").json
    assert document["note"]["path"] == note["path"]


@pytest.mark.parametrize("line", ["forget|nope", "notes|show|nope"])
def test_an_unknown_note_is_an_error(project, am, line):
    outcome = am(*line.split("|"))
    assert outcome.code == 2
    assert "notes list" in outcome.err


def test_a_note_that_cannot_be_read_is_named_and_can_be_forgotten(project, am):
    (project / ".agentlas/ontology-inbox").mkdir()
    broken = project / ".agentlas/ontology-inbox/broken.md"
    broken.write_text("---\nscope: [private\n---\nhush\n")
    assert "broken.md" in am("notes", "list").err
    assert am("forget", "broken").code == 0
    assert not broken.exists()


def test_remember_while_locked_keeps_the_file_and_says_so(project, am, locked, monkeypatch):
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.1)
    outcome = am("remember", "Ship on Fridays")
    assert outcome.code == 1
    assert "locked" in outcome.err
    assert "is kept in" in outcome.err
    locked()
    assert "agentlas-memory index" in outcome.err
    assert am("index", "--json").json["added"] == 1


def test_forget_while_locked_forgets_nothing(project, am, hold_lock, monkeypatch):
    note = remember(am, "The xylozephyr is broken")
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.1)
    release = hold_lock()
    outcome = am("forget", note["id"])
    release()
    assert outcome.code == 1
    assert "nothing was forgotten" in outcome.err
    assert am("query", "The xylozephyr is broken", "--json").json["hits"] != []


def test_a_note_that_cannot_be_written_is_not_called_remembered(project, am):
    (project / ".agentlas/ontology-inbox").write_text("a file in the way")
    outcome = am("remember", "Ship on Fridays")
    assert outcome.code == 1
    assert "Error: " in outcome.err
    assert "Nothing was changed." in outcome.err


def test_text_that_is_not_utf8_is_survived(project, am):
    assert am("remember", "caf\udce9 at noon").code == 0
    assert am("query", "caf\udce9", "--json").code == 0
    assert am("why", "caf\udce9", "--json").code == 0


def test_the_same_text_is_one_note(project, am, inbox):
    first = remember(am, "Ship on Fridays", "--kind", "decision")
    again = am("remember", "  ship on\nFridays ", "--kind", "decision", "--json")
    assert again.json == first
    assert f"{first['id']} says this already" in again.err
    assert len(list(inbox.glob("*.md"))) == 1


@pytest.mark.parametrize("other", [("--kind", "todo"), ("--scope", "private")], ids=str)
def test_the_same_text_for_others_or_of_another_kind_is_another_note(project, am, inbox, other):
    remember(am, "Ship on Fridays")
    remember(am, "Ship on Fridays", *other)
    assert len(list(inbox.glob("*.md"))) == 2


def test_a_text_that_was_replaced_may_be_said_again(project, am, inbox):
    first = remember(am, "Ship on Fridays")
    second = remember(am, "Ship on Mondays", "--supersedes", first["id"])
    third = remember(am, "Ship on Fridays", "--supersedes", second["id"])
    assert third["id"] != first["id"]
    assert len(list(inbox.glob("*.md"))) == 3


def test_a_note_that_a_killed_run_left_out_of_the_store_is_indexed(project, am, inbox):
    first = remember(am, "The quokka cluster is restarted by hand")
    note = inbox / first["path"].rpartition("/")[2]
    data = note.read_bytes()
    note.unlink()
    assert am("index").code == 0
    note.write_bytes(data)
    assert remember(am, "The quokka cluster is restarted by hand") == first
    assert am("query", "who restarts the quokka cluster", "--json").json["hits"]
