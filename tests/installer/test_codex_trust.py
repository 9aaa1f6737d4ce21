"""What `doctor` and `install` say of the trust that Codex wants: a person gives it."""

import os
import sys

import pytest

CODEX = """#!{python}
import json, sys
if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.171.0")
if sys.argv[1:3] == ["plugin", "list"]:
    print("agentlas-memory@agentlas")
if sys.argv[1:2] == ["app-server"]:
    for line in sys.stdin:
        message = json.loads(line)
        open({log}, "a").write(line)
        hooks = [{"key": "k", "trustStatus": status, "currentHash": "h", "enabled": enabled,
                  "pluginId": "agentlas-memory@agentlas"} for status, enabled in {statuses}]
        result = {"data": [{"hooks": hooks}]} if message.get("method") == "hooks/list" else {}
        if "id" in message:
            print(json.dumps({"id": message["id"], "result": result}), flush=True)
"""
TRUST = {
    "trusted": ([("trusted", True), ("trusted", True)], "ok", "trusted"),
    "managed": ([("managed", True)], "ok", "managed"),
    "installed only": ([("untrusted", True)], "failed", "Codex does not run the hook: untrusted"),
    "changed since": (
        [("trusted", True), ("modified", True)],
        "failed",
        "Codex does not run the hook: modified",
    ),
    "off": ([("trusted", False)], "failed", "Codex does not run the hook: disabled"),
    "not there": ([], "failed", "Codex does not run the hook: absent"),
}


@pytest.fixture
def codex(path, tmp_path):
    """Put a Codex on the PATH that tells how hooks stand; return the log of what it is asked."""

    def make(hooks):
        log = tmp_path / "asked"
        # Its real name: a first line with a blank in its path would not be understood.
        values = {
            "python": os.path.realpath(sys.executable),
            "statuses": repr(hooks),
            "log": repr(str(log)),
        }
        text = CODEX
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        (path / "codex").write_text(text)
        (path / "codex").chmod(0o755)
        return log

    return make


@pytest.mark.parametrize(("hooks", "status", "told"), TRUST.values(), ids=TRUST)
def test_codex_is_asked_whether_it_trusts_the_hook(codex, am, checks, hooks, status, told):
    codex(hooks)
    assert am("install", "--host", "codex").code == 0
    assert checks("trust") == [(status, told)]


def test_install_says_what_a_person_has_to_approve_and_approves_nothing(codex, am):
    log = codex([("untrusted", True)])
    outcome = am("install", "--host", "codex")
    assert outcome.err.count("once you trust it: in its /hooks screen") == 1
    assert "hooks/list" in log.read_text()
    am("doctor", "--fix")
    assert "Write" not in log.read_text()
    am("install", "--host", "codex", "--trust-codex")
    assert "config/batchWrite" in log.read_text()


def test_a_hook_that_codex_trusts_is_not_said_to_need_trust(codex, am):
    codex([("trusted", True)])
    assert "once you trust it" not in am("install", "--host", "codex", "--trust-codex").err
    [told] = am("install", "--host", "codex", "--json").json["hosts"]
    assert (told["trust"], told["notes"]) == ("trusted", [])
