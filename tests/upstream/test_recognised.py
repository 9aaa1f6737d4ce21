"""A store of Agentlas OS in our store's place is named, left as it is, and never answered from."""

import json
import sqlite3
import subprocess

import pytest

from agentlas_memory.trust_file import add_trust


@pytest.fixture(params=[True, False], ids=["WAL", "rollback journal"])
def old(request, upstream):
    store = upstream(wal=request.param)
    store.source("docs/old.md", "The blue gateway is drained on Mondays.")
    return store.close()


def all_bytes(folder):
    return {path.name: path.read_bytes() for path in folder.glob("ontology-runtime.sqlite*")}


@pytest.mark.parametrize("line", ["index", "remember|x", "init", "trust", "query|x", "why|x"])
def test_commands_name_import_store_and_touch_nothing(old, am, root, line):
    before = all_bytes(old.parent)
    outcome = am(*line.split("|"), "--json")
    assert outcome.code == 3
    assert outcome.json["next"] == f"agentlas-memory import-store --project {root}"
    assert all_bytes(old.parent) == before


def test_status_names_it(old, am):
    told = am("status", "--json").json
    assert (told["store"]["state"], told["trusted"]) == ("upstream", False)
    assert (
        "a store of Agentlas OS is in the store's place; agentlas-memory import-store"
        in am("status").out
    )


def test_index_of_a_trusted_project_does_not_write_into_it(old, am, root, home):
    add_trust(str(home / ".agentlas"), str(root), "0" * 32)
    before = all_bytes(old.parent)
    assert am("index").code == 3
    assert all_bytes(old.parent) == before


def test_a_store_whose_tables_are_in_the_log_alone_is_recognised(upstream, am):
    store = upstream()
    store.connection.commit()
    assert am("status", "--json").json["store"]["state"] == "upstream"
    store.close()


def test_another_programs_database_is_not_taken_for_one(place, am):
    place.parent.mkdir()
    connection = sqlite3.connect(place)
    connection.executescript("CREATE TABLE schema_migrations(x); CREATE TABLE theirs(y)")
    connection.close()
    assert am("status", "--json").json["store"]["state"] == "foreign"
    assert am("import-store").code == 2


def test_the_hook_is_silent_and_its_log_names_it(old, root, home, launcher):
    add_trust(str(home / ".agentlas"), str(root), "0" * 32)
    before = all_bytes(old.parent)
    event = json.dumps({"session_id": "one", "cwd": str(root), "prompt": "the blue gateway?"})
    command = [launcher, "--host", "claude", "--event", "UserPromptSubmit"]
    done = subprocess.run(command, input=event.encode(), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "a store of Agentlas OS" in (home / ".agentlas/state/hook.log").read_text()
    receipt = home / ".agentlas/state/last" / f"{'0' * 32}.json"
    assert json.loads(receipt.read_text())["silence_reason"] == "store_error"
    assert all_bytes(old.parent) == before


def test_an_agents_own_store_is_named_too(upstream, memory, am):
    upstream(memory / "experience.sqlite").close()
    before = (memory / "experience.sqlite").read_bytes()
    outcome = am("experience", "add", "Ledgers are kept", "--agent", "ledger-keeper", "--json")
    assert outcome.code == 3
    assert outcome.json["next"] == "agentlas-memory import-store --agent ledger-keeper"
    assert (memory / "experience.sqlite").read_bytes() == before
