"""`status` never fails: it reports."""

import json
import sqlite3
from datetime import datetime

import pytest

from agentlas_memory.ontology.schema import SCHEMA_VERSION


def status(am):
    outcome = am("status", "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json


def set_pragma(store, pragma):
    connection = sqlite3.connect(store)
    connection.execute(f"PRAGMA {pragma}")
    connection.commit()
    connection.close()


def test_a_project_that_is_well(project, am, store):
    document = status(am)
    assert document["project"] == str(project)
    assert document["trusted"] is True
    assert document["store"] == {"path": str(store), "state": "ok", "reason": ""}
    assert (document["sources"], document["chunks"]) == (2, 2)
    assert (document["changed_since"], document["retrieval"]) == (0, "hybrid")
    assert datetime.fromisoformat(document["indexed_at"]).tzinfo is not None
    assert (document["last_silence"], document["last_failure"]) == (None, None)
    assert document["hosts"] == []


def test_assistants_are_told_with_how_they_are_reached(project, am, home):
    for folder in (".grok", ".config/opencode", ".gemini/config"):
        (home / folder).mkdir(parents=True)
    am("install")
    assert status(am)["hosts"] == [
        {"host": "antigravity", "version": "", "delivery": "call"},
        {"host": "opencode", "version": "", "delivery": "call"},
        {"host": "grok", "version": "", "delivery": "pointer"},
    ]
    assert "grok (delivery: pointer)" in am("status").out


def test_no_project(folder, am):
    document = status(am)
    assert (document["project"], document["store"]["state"]) == (None, "missing")
    assert "agentlas-memory init" in am("status").out


def test_a_store_that_was_never_indexed(folder, am):
    am("init")
    document = status(am)
    assert (document["indexed_at"], document["sources"]) == (None, 0)
    assert document["changed_since"] == 2


def test_a_fresh_clone_of_a_teams_project(folder, am):
    (folder / ".agentlas").mkdir()
    (folder / ".agentlas/memory.toml").write_text("")
    document = status(am)
    assert (document["project"], document["store"]["state"]) == (str(folder), "missing")
    assert "agentlas-memory index" in am("status").out


def test_changes_are_counted_by_content(project, am):
    (project / "docs/0007-ledger.md").write_text("# Other\n")
    (project / "docs/new.md").write_text("# New\n")
    deploy = project / "docs/deploy.md"
    deploy.write_text(deploy.read_text())  # a new time, the same words
    assert status(am)["changed_since"] == 2
    deploy.unlink()
    assert status(am)["changed_since"] == 3


def test_files_that_index_skips_for_what_they_hold_are_no_changes(project, am):
    (project / "docs/latin.md").write_bytes("# Bäume\n".encode("latin-1"))
    (project / "docs/nul.md").write_bytes(b"# A\0\n")
    am("index")
    assert status(am)["changed_since"] == 0


def test_a_document_in_another_scope_is_a_change_and_the_hook_waits_for_index(project, am):
    (project / ".agentlas/memory.toml").write_text('[scopes]\n"docs/" = "private"\n')
    assert status(am)["changed_since"] == 2
    assert "silent, memory.toml changed" in am("status").out
    assert am("why", "how is the ledger settled", "--json").json["silence_reason"] == "stale"
    am("index")
    assert status(am)["changed_since"] == 0
    assert "memory:        on" in am("status").out


def test_broken_files_of_the_project_are_named(project, am):
    (project / ".agentlas/memory.toml").write_text("include = 3")
    (project / ".agentlas/ontology-inbox").mkdir(exist_ok=True)
    (project / ".agentlas/ontology-inbox/review.json").write_text("{")
    out = am("status").out
    assert "memory.toml:   index refuses it: " in out
    assert "review.json:   index refuses it: " in out


@pytest.mark.parametrize(
    ("damage", "state"),
    [
        pytest.param(lambda store: store.write_bytes(b"\0" * 4096), "damaged", id="zeroed"),
        pytest.param(lambda store: store.write_bytes(b""), "damaged", id="empty"),
        pytest.param(lambda store: store.write_text("hello"), "damaged", id="text"),
        pytest.param(
            lambda store: store.write_bytes(store.read_bytes()[:1000]), "damaged", id="cut"
        ),
        pytest.param(
            lambda store: set_pragma(store, f"user_version = {SCHEMA_VERSION + 1}"),
            "newer",
            id="newer",
        ),
        pytest.param(
            lambda store: set_pragma(store, "application_id = 7"), "foreign", id="foreign"
        ),
    ],
)
def test_a_store_that_is_not_well(project, am, store, damage, state):
    damage(store)
    assert status(am)["store"]["state"] == state
    assert f"store:         {state}" in am("status").out


def test_a_locked_store(project, am, locked):
    assert status(am)["store"]["state"] == "locked"


def test_an_untrusted_project_names_the_one_command(project, am):
    am("distrust")
    assert status(am)["trusted"] is False
    assert f"agentlas-memory trust --project '{project}'" in am("status").out


def test_a_pause_is_shown(project, am):
    am("off")
    assert "paused" in am("status").out


def test_the_last_failure_of_the_hook(project, home, am):
    log = home / ".agentlas/state/hook.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("2025-01-01T00:00:00Z claude A: 1\n2025-01-02T00:00:00Z claude B: 2\n")
    assert status(am)["last_failure"] == "2025-01-02T00:00:00Z claude B: 2"


def test_broken_files_of_the_user_are_survived(project, home, am, trusted_json):
    trusted_json.write_text("{")
    (home / ".agentlas/settings.json").write_text("{")
    (project / ".agentlas/memory.toml").write_text("include = 3")
    document = status(am)
    assert (document["trusted"], document["changed_since"]) == (False, None)


def test_without_simsimd_the_hooks_word_is_shown(project, am, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "simsimd", None)
    assert status(am)["retrieval"] == "degraded_lexical"


def test_without_fts5_the_hooks_word_is_shown(project, am, monkeypatch):
    monkeypatch.setattr(
        "agentlas_memory.recall.lexical.has_lexical_index", lambda store: False, raising=True
    )
    assert status(am)["retrieval"] == "degraded_lexical"


def test_a_rejected_model_shows_the_hooks_word(project, am, monkeypatch):
    monkeypatch.setattr("agentlas_memory.embedding.model.open_model", lambda home: None)
    assert status(am)["retrieval"] == "degraded_hash"


def test_status_writes_nothing(project, am, home):
    before = sorted((str(path), path.stat().st_mtime_ns) for path in project.rglob("*"))
    am("status")
    assert sorted((str(path), path.stat().st_mtime_ns) for path in project.rglob("*")) == before


def test_people_see_no_json(project, am):
    with pytest.raises(json.JSONDecodeError):
        _ = am("status").json
