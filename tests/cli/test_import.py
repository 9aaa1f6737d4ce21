"""`import`: shown first, taken once, kept current, forgotten for good, and never with a secret."""

import json
import os
import re
import subprocess

import pytest
from cli.importing import ORDER, QUOKKA, TOKEN, ZEPHYR, everything, found, imported, taken

from agentlas_memory.importing import apply


@pytest.fixture
def memory(project, home):
    """The folder in which Claude keeps what it knows of the project, and a way to write to it."""
    name = re.sub(r"[^a-zA-Z0-9]", "-", str(project))
    folder = home / ".claude/projects" / name / "memory"
    folder.mkdir(parents=True)

    def write(name, text):
        (folder / name).write_text(text)
        return folder / name

    write.folder = folder
    return write


def test_a_memory_of_claudes_is_recalled(project, am, memory, inbox):
    memory("cluster.md", f"# Cluster\n\n{QUOKKA}\n")
    assert [one["place"] for one in taken(am)["added"]] == ["cluster.md"]
    assert QUOKKA in found(am, "who restarts the quokka cluster")[0]
    assert b"imported: claude" in next(iter(imported(inbox).values()))


def test_what_claude_loads_itself_is_left_out_and_said(project, am, memory):
    memory("MEMORY.md", f"# Index\n\n{QUOKKA}\n")
    memory("CLAUDE.md", f"# Rules\n\n{QUOKKA}\n")
    document = taken(am)
    assert [one["place"] for one in document["skipped"]] == ["CLAUDE.md", "MEMORY.md"]
    assert document["added"] == []


def test_another_folder_of_claudes_is_honoured(project, am, memory, tmp_path, monkeypatch):
    memory("cluster.md", QUOKKA)
    (memory.folder.parents[2]).rename(tmp_path / "elsewhere")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert len(taken(am)["added"]) == 1


def test_the_memory_of_a_project_with_a_name_alike_is_not_taken(project, am, memory):
    memory("cluster.md", QUOKKA)
    session = memory.folder.parent / "1.jsonl"
    session.write_text(json.dumps({"type": "user", "cwd": f"{project.parent}/my-prxject"}) + "\n")
    outcome = am("import", "claude", "--yes")
    assert (outcome.code, "another project" in outcome.err) == (2, True)
    session.write_text(json.dumps({"type": "user", "cwd": f"{project}/docs"}) + "\n")
    assert len(taken(am)["added"]) == 1


def test_without_a_memory_it_says_where_it_looked(project, am):
    outcome = am("import", "claude", "--yes")
    assert (outcome.code, ".claude/projects" in outcome.err) == (2, True)


def test_a_dry_run_writes_nothing(project, am, memory):
    memory("cluster.md", QUOKKA)
    before = everything(project)
    outcome = am("import", "claude", "--dry-run")
    assert "would be added: 1" in outcome.err
    assert everything(project) == before


def test_nobody_to_ask_means_no(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    outcome = am("import", "claude")
    assert (outcome.code, imported(inbox)) == (3, {})
    assert am("import", "claude", "--json").code == 2


def test_the_same_import_twice_is_the_same_bytes(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    taken(am)
    before = everything(project)
    os.utime(memory.folder / "cluster.md", (10, 10))
    document = taken(am)
    assert (document["unchanged"], document["index"]) == (1, None)
    assert everything(project) == before


def test_a_memory_that_changed_is_changed_here_in_its_place(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    taken(am)
    [name] = imported(inbox)
    memory("cluster.md", "The quokka cluster restarts itself since the watchdog was replaced.")
    assert len(taken(am)["changed"]) == 1
    assert list(imported(inbox)) == [name]
    assert "itself" in found(am, "who restarts the quokka cluster")[0]
    assert b"by hand" not in everything(project)


def test_what_vanished_is_told_and_stays_until_it_is_pruned(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    memory("zephyr.md", ZEPHYR)
    taken(am)
    (memory.folder / "zephyr.md").unlink()
    assert len(taken(am)["vanished"]) == 1
    assert len(imported(inbox)) == 2
    assert len(taken(am, "--prune")["removed"]) == 1
    assert b"xylozephyr" not in everything(project)


def test_what_is_to_be_pruned_is_shown_with_its_title(project, am, memory):
    file = memory("cluster.md", f"# Cluster\n\n{QUOKKA}\n")
    memory("port.md", f"# Port\n\n{ZEPHYR}\n")
    taken(am)
    file.unlink()
    shown = am("import", "claude", "--prune", "--dry-run").err
    assert re.search(r"removed: 1\n  \S+\.md  Cluster\n", shown)
    assert shown.startswith("1 memory in ")


def test_an_import_that_is_interrupted_says_what_to_do(project, am, memory, monkeypatch):
    memory("cluster.md", f"# Cluster\n\n{QUOKKA}\n")

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(apply, "_do", interrupted)
        outcome = am("import", "claude", "--yes", "--json")
    assert outcome.code == 1
    assert "run the same import again" in outcome.json["next"]
    assert len(taken(am)["added"]) == 1


def test_json_without_an_answer_says_what_to_do(project, am, memory):
    memory("cluster.md", f"# Cluster\n\n{QUOKKA}\n")
    assert "--dry-run" in am("import", "claude", "--json").json["next"]


def test_a_file_that_cannot_be_read_now_has_not_vanished(project, am, memory, inbox):
    file = memory("cluster.md", QUOKKA)
    taken(am)
    file.write_bytes(b"\xff\xfe\xff")
    document = taken(am, "--prune")
    assert (document["removed"], document["vanished"]) == ([], [])
    assert len(document["skipped"]) == 1


def test_what_was_forgotten_does_not_come_back_by_itself(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    [note] = taken(am)["added"]
    assert am("forget", note["id"]).code == 0
    assert b"quokka" not in everything(project)
    assert taken(am)["forgotten"] == ["cluster.md"]
    assert imported(inbox) == {}
    assert len(taken(am, "--again")["added"]) == 1


def test_a_note_changed_by_hand_is_kept(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    taken(am)
    [file] = inbox.glob("*.imported.md")
    file.write_text(file.read_text() + "\nAsk Nils first.\n")
    mine = file.read_bytes()
    memory("cluster.md", f"{QUOKKA} It has five nodes.")
    assert taken(am)["edited"] == ["cluster.md"]
    assert file.read_bytes() == mine
    assert len(taken(am, "--again")["changed"]) == 1


def test_what_is_there_already_is_not_taken_twice(project, am, memory, inbox):
    am("remember", f"Cluster: {QUOKKA}")
    (project / "docs/zephyr.md").write_text(f"# Zephyr\n\n{ZEPHYR}\n")
    am("index")
    memory("cluster.md", f"**{QUOKKA.upper()}**\n")
    memory("zephyr.md", f"# Zephyr\n\n{ZEPHYR}\n")
    document = taken(am)
    assert document["added"] == []
    assert [one["of"].rpartition("/")[2] for one in document["duplicates"]][1] == "zephyr.md"


LONG = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(40))


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        pytest.param(LONG + " indeed", True, id="a word more"),
        pytest.param(LONG + " not", False, id="a negation"),
        pytest.param(LONG + " 8080", False, id="a number"),
        pytest.param(" ".join(LONG.split()[:30]), False, id="a quarter less"),
    ],
)
def test_nearly_the_same_is_told_once_unless_a_word_turns_it(project, am, memory, other, is_alike):
    memory("a.md", f"# Same\n\n{LONG}")
    memory("b.md", f"# Same\n\n{other}")
    document = taken(am)
    assert [one["near"] for one in document["duplicates"]] == [True] * is_alike


def test_an_instruction_is_held_back_until_a_person_says_yes(project, am, memory):
    memory("bad.md", f"# Notes\n\n{QUOKKA} {ORDER}\n")
    memory("good.md", f"# Notes\n\n{ZEPHYR}\n")
    document = taken(am)
    assert [one["place"] for one in document["held"]] == ["bad.md"]
    assert b"quokka" not in everything(project)
    assert len(taken(am, "--flagged")["added"]) == 1
    assert [one["kind"] for one in am("review", "--json").json["findings"]] == ["instruction"]


def test_a_credential_is_counted_by_kind_and_reaches_no_disk_and_no_screen(project, am, memory):
    text = f"---\ntags: [{TOKEN}]\ntitle: {TOKEN}\nid: {TOKEN}\n---\n\n{QUOKKA} Key {TOKEN}.\n"
    memory(f"{TOKEN}.md", text)
    outcome = am("import", "claude", "--yes", "--json")
    told = am("import", "claude", "--yes", "--again")
    assert outcome.json["redacted"] == {"[redacted:github-token].md": {"github-token": 4}}
    assert TOKEN.encode() not in everything(project)
    assert TOKEN not in outcome.out + outcome.err + told.out + told.err


def test_the_report_says_what_was_taken_out_to_a_person_too(project, am, memory):
    memory("cluster.md", f"{QUOKKA} Key {TOKEN}.\n")
    outcome = am("import", "claude", "--dry-run")
    assert "cluster.md: 1 github-token" in outcome.err


def test_imported_notes_are_kept_out_of_commits(project, am, memory, inbox):
    (project / ".agentlas/.gitignore").write_text("# mine\nontology-runtime*\n")
    memory("cluster.md", QUOKKA)
    taken(am)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=project, capture_output=True, text=True
    )
    assert "imported" not in seen.stdout
    assert "imports.json" not in seen.stdout


def test_the_scope_is_the_one_that_was_asked_for_or_narrower(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    memory("pay.md", f"---\nscope: private\n---\n\n{ZEPHYR}\n")
    taken(am, "--scope", "public")
    scopes = {
        n["text"].split("\n")[0]: n["scope"] for n in am("notes", "list", "--json").json["notes"]
    }
    assert scopes == {"# cluster": "public", "# pay": "private"}


def test_a_superseded_memory_is_not_told_as_current(project, am, memory):
    memory("old.md", "---\ntitle: Three nodes\n---\n\nThe quokka cluster has three nodes.\n")
    memory(
        "new.md", "---\nsupersedes: '[[Three nodes]]'\n---\n\nThe quokka cluster has five nodes."
    )
    taken(am)
    told = found(am, "how many nodes has the quokka cluster")
    assert ["five" in text for text in told if "quokka" in text] == [True]


def test_an_import_that_was_killed_is_finished_by_the_next(project, am, memory, inbox, monkeypatch):
    memory("cluster.md", QUOKKA)
    memory("zephyr.md", ZEPHYR)

    def die(project, taken):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(apply, "write_taken", die)
        assert am("import", "claude", "--yes").code == 130
    assert len(imported(inbox)) == 2
    assert taken(am)["unchanged"] == 2
    assert am("index", "--json").code == 0
    assert found(am, "who restarts the quokka cluster") != []


def test_a_list_of_imports_that_cannot_be_read_is_not_overwritten(project, am, memory, inbox):
    memory("cluster.md", QUOKKA)
    inbox.mkdir()
    (inbox / "imports.json").write_text('{"version": 1, "notes": {"a": {"file": "../../x"}}}')
    outcome = am("import", "claude", "--yes")
    assert (outcome.code, "imports.json" in outcome.err) == (3, True)
    assert imported(inbox) == {}


def test_a_link_in_place_of_a_note_is_never_written_through(project, am, memory, inbox, tmp_path):
    memory("cluster.md", QUOKKA)
    taken(am)
    [file] = inbox.glob("*.imported.md")
    (tmp_path / "theirs").write_text("theirs")
    file.unlink()
    file.symlink_to(tmp_path / "theirs")
    taken(am, "--again")
    assert (tmp_path / "theirs").read_text() == "theirs"
