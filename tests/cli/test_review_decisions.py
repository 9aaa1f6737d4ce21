"""`review`: decisions that come by git, and their file."""

import json
import os
import shutil
import sqlite3
import subprocess

import pytest
from cli.reviewing import DECISIONS, WORDS, findings, stored

from agentlas_memory.commands import index

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # in the shape of a key, and none


def git(folder, *arguments):
    names = {
        f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    environment = os.environ | names | {"GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )


@pytest.fixture
def clone(project, am, hostile, tmp_path):
    """A clone of the project, taken before anything was decided, indexed."""
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "docs")
    copy = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(project), str(copy))
    assert am("index", "--project", str(copy)).code == 0
    return copy


def commit_quarantine(project, am, finding):
    am("review", "quarantine", finding["id"])
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "decided")


def test_a_decision_that_comes_by_git_pull_is_followed(project, am, hostile, clone):
    assert b"IGNORE PREVIOUS" in stored(clone)
    commit_quarantine(project, am, hostile)
    git(clone, "pull", "-q")
    assert am("index", "--quiet", "--project", str(clone)).code == 0
    assert not [word for word in WORDS if word in stored(clone)]


def test_a_narrowed_run_follows_it_as_well(project, am, hostile, clone):
    commit_quarantine(project, am, hostile)
    git(clone, "pull", "-q")
    assert am("remember", "Ship on Fridays", "--project", str(clone)).code == 0
    assert b"IGNORE PREVIOUS" not in stored(clone)
    assert am("index", "--json", "--project", str(clone)).json["changed"] == 0


def test_a_fresh_clone_never_takes_it_in(project, am, hostile, clone, tmp_path):
    commit_quarantine(project, am, hostile)
    fresh = tmp_path / "fresh"
    git(tmp_path, "clone", "-q", str(project), str(fresh))
    assert am("index", "--project", str(fresh)).code == 0
    assert not [word for word in WORDS if word in stored(fresh)]


def test_a_decision_that_vanishes_by_git_brings_it_back(project, am, hostile):
    am("review", "quarantine", hostile["id"])
    (project / DECISIONS).unlink()
    am("index")
    assert findings(am) == [hostile]


def test_until_the_store_follows_a_pulled_decision_it_is_called_quarantined(project, am, hostile):
    am("review", "quarantine", hostile["id"])
    kept = (project / DECISIONS).read_bytes()
    am("review", "reset", hostile["id"])
    (project / DECISIONS).write_bytes(kept)
    assert findings(am) == []
    assert findings(am, "--all") == [hostile | {"state": "quarantined"}]


BROKEN = {
    "no JSON": "{",
    "a merge conflict": "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> main\n",
    "a list": "[]",
    "another version": '{"version": 2, "decisions": {}}',
    "an unknown state": json.dumps(
        {"version": 1, "decisions": {"a": dict.fromkeys(("state", "kind", "path", "text"), "x")}}
    ),
    "no state": '{"version": 1, "decisions": {"a": {}}}',
    "not UTF-8": b"\xff",
    "half a character": json.dumps(
        {
            "version": 1,
            "decisions": {
                "a": {"state": "quarantined", "kind": "x", "path": "\ud800", "text": "x"}
            },
        }
    ),
    "nested without end": '{"version": 1, "more": ' + "[" * 200_000 + "]" * 200_000 + "}",
    "objects without end": '{"version": 1, "more": ' + '{"a":' * 100_000 + "1" + "}" * 100_001,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("line", ["review", "review approve {id}", "index"])
def test_a_broken_file_is_refused_and_kept(project, am, hostile, content, line):
    file = project / DECISIONS
    file.parent.mkdir(exist_ok=True)
    data = content if isinstance(content, bytes) else content.encode()
    file.write_bytes(data)
    outcome = am(*line.format(id=hostile["id"]).split())
    assert (outcome.code, file.read_bytes()) == (3, data)
    assert "review.json" in outcome.err


def test_a_link_in_its_place_is_refused(project, am, hostile, tmp_path):
    am("review", "approve", hostile["id"])
    aside = tmp_path / "aside.json"
    shutil.move(project / DECISIONS, aside)
    (project / DECISIONS).symlink_to(aside)
    before = aside.read_bytes()
    assert am("review", "quarantine", hostile["id"]).code == 3
    assert am("index").code == 3
    assert aside.read_bytes() == before


def test_a_linked_inbox_is_not_written_into(project, am, hostile, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / ".agentlas/ontology-inbox").symlink_to(tmp_path / "elsewhere")
    assert am("review", "approve", hostile["id"]).code == 3
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_it_is_no_note_and_no_document(project, am, hostile):
    (project / ".agentlas/memory.toml").write_text('include = ["*.json", ".agentlas/**"]\n')
    am("review", "approve", hostile["id"])
    assert "review.json" not in str(am("index", "--json").json["skipped"])
    assert am("notes", "list", "--json").json == {"notes": []}
    assert b"ontology-inbox" not in stored(project)


@pytest.mark.parametrize(
    "line",
    [
        "review quarantine",
        "review approve nope",
        "review reset nope",
        "review reset {id}",
        "review burn x",
    ],
)
def test_wrong_use_is_told(project, am, hostile, line):
    assert am(*line.format(id=hostile["id"]).split()).code == 2
    assert not (project / DECISIONS).exists()


def test_of_several_ids_all_count_or_none(project, am, hostile):
    assert am("review", "approve", hostile["id"], "nope").code == 2
    assert findings(am) == [hostile]


def test_an_untrusted_store_is_not_changed(project, am, hostile):
    am("distrust")
    assert am("review", "quarantine", hostile["id"]).code == 3
    assert not (project / DECISIONS).exists()


def test_a_store_that_cannot_be_written_now_follows_later(project, am, hostile, monkeypatch):
    def locked(*arguments, **options):
        raise sqlite3.OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(index, "run", locked)
        outcome = am("review", "quarantine", hostile["id"])
    assert outcome.code == 1
    assert f"The decision is kept in {DECISIONS}" in outcome.err
    assert b"IGNORE PREVIOUS" in stored(project)
    am("index")
    assert b"IGNORE PREVIOUS" not in stored(project)
