"""Asking Codex about trust: bounded in time, and telling why when there is no answer."""

import contextlib
import json
import sys
import time
from pathlib import Path

import pytest
from hosts.processes import within

from agentlas_memory.installer.codex_server import NoAnswer
from agentlas_memory.installer.codex_trust import HookTrust, forget_trust, read_trust, set_trust

# Plays `codex app-server`: two hooks of ours, others of somebody else; what it is told, it notes.
SERVER = """
import json, os, sys, time
state = {}
def hook(key, plugin):
    status = "trusted" if state.get(key) else "untrusted"
    return {"key": key, "trustStatus": status, "currentHash": "sha256:" + key, "enabled": True,
            "pluginId": plugin}
def answer(method, params):
    if method == "config/batchWrite":
        for edit in params["edits"]:
            log.write(json.dumps(edit) + "\\n")
            state.update(edit["value"] or {})
        return {"status": "ok"}
    if method == "config/read":
        return {"config": {"hooks": {"state": state} if state else None}}
    if method == "hooks/list":
        ours = [hook(key, "agentlas-memory@agentlas") for key in ("one", "two")]
        return {"data": [{"hooks": [*ours, hook("theirs", "other@place"), {"key": "plain"}]}]}
    return {}
log = open("log", "a", buffering=1)
log.write(f"{os.getpid()} {sys.argv[1]} {os.environ.get('AGENTLAS_MEMORY_CHILD')}\\n")
print('{"method": "some/notification", "params": {}}\\nnot json', flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message["params"])
        print(json.dumps({"id": message["id"], "result": result}), flush=True)
"""
FAULTS = {
    "says nothing": "import time; time.sleep(60)",
    "ends at once": "",
    "talks nonsense": "import time; print('[]', flush=True); time.sleep(60)",
    "refuses": """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line).get("id"), "error": {"message": "no"}}), flush=True)
""",
    "lists in another form": """
import json, sys
for line in sys.stdin:
    number = json.loads(line).get("id")
    print(json.dumps({"id": number, "result": {"data": [7], "config": 7}}), flush=True)
""",
}


@pytest.fixture
def codex(tmp_path, monkeypatch):
    """Write a program that plays Codex."""
    monkeypatch.chdir(tmp_path)

    def make(code):
        (tmp_path / "server.py").write_text(code)
        program = tmp_path / "codex"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" server.py "$@"\n')
        program.chmod(0o755)
        return str(program)

    return make


def edits():
    return [json.loads(line) for line in Path("log").read_text().splitlines() if line[0] == "{"]


def test_only_our_hooks_are_told_and_nothing_is_written(codex):
    hooks = read_trust(codex(SERVER), {})
    assert hooks == [HookTrust(key, "untrusted", f"sha256:{key}", True) for key in ("one", "two")]
    assert edits() == []


def test_trust_is_given_to_ours_alone(codex):
    assert [hook.status for hook in set_trust(codex(SERVER), {})] == ["trusted"] * 2
    [edit] = edits()
    assert edit["mergeStrategy"] == "upsert"
    assert edit["value"] == {key: {"trusted_hash": f"sha256:{key}"} for key in ("one", "two")}


def test_what_is_trusted_is_not_written_again(codex):
    set_trust(codex(SERVER.replace("state = {}", "state = {'one': 1, 'two': 1}")), {})
    assert edits() == []


ONE = "agentlas-memory@agentlas:hooks/codex.json:session_start:0:0"


@pytest.mark.parametrize(
    ("state", "paths"),
    [
        ({}, []),
        ({"theirs": {}}, []),
        ({ONE: {}, "theirs": {}}, [f'hooks.state."{ONE}"']),
        ({ONE: {}}, ["hooks.state"]),
    ],
    ids=["nothing", "somebody else's", "one of ours", "only ours"],
)
def test_what_is_ours_is_forgotten(codex, state, paths):
    keys = forget_trust(codex(SERVER.replace("state = {}", f"state = {state!r}")), {})
    assert keys == ([ONE] if paths else [])
    assert [(edit["keyPath"], edit["value"]) for edit in edits()] == [(p, None) for p in paths]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("ask", [read_trust, set_trust, forget_trust])
def test_a_codex_in_trouble_is_told_in_time(codex, fault, ask):
    started = time.monotonic()
    with pytest.raises(NoAnswer):
        ask(codex(FAULTS[fault]), {}, 0.5)
    assert time.monotonic() - started < 5


def test_a_program_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NoAnswer, match="No such file"):
        read_trust(str(tmp_path / "codex"), {})


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
def test_it_runs_as_our_child_and_is_gone_afterwards(codex):
    stays = SERVER + "\nif not os.fork(): time.sleep(60)\ntime.sleep(60)\n"
    read_trust(codex(stays), {})
    process, argument, child = Path("log").read_text().split()
    assert (argument, child) == ("app-server", "1")
    assert within(5, lambda: process not in groups())


def groups():
    """Return the process groups in which anything still runs."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended just now
            state, _, group, *_ = path.read_text().rpartition(") ")[2].split()
            found |= {group} if state != "Z" else set()
    return found
