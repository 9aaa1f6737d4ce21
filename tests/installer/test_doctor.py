"""`doctor` runs what hosts would run, and says what is wrong and what to do."""

import pytest


@pytest.fixture
def found(am):
    """The checks that are not well, as (check, host, status)."""

    def run():
        checks = am("doctor", "--json").json["checks"]
        return {(one["id"], one["host"], one["status"]) for one in checks if one["status"] != "ok"}

    return run


def test_a_fresh_installation_is_well(hosts, am, found):
    assert am("install").code == 0
    outcome = am("doctor", "--json")
    assert outcome.code == 0, outcome.out
    runs = [one for one in outcome.json["checks"] if one["id"] == "run"]
    assert {one["host"] for one in runs} == {"antigravity", "grok"}
    assert all("silent in" in one["detail"] for one in runs)
    assert {status for _, _, status in found()} <= {"warning"}


def test_a_host_without_the_hook_is_named(hosts, found):
    assert ("installed", "grok", "warning") in found()


def test_an_entry_that_is_gone_or_changed_is_named_and_repaired(hosts, am, found, hooks, plugin):
    assert am("install").code == 0
    plugin.unlink()
    hooks.write_text("{}")
    assert {("entry", "opencode", "failed"), ("entry", "antigravity", "failed")} <= found()
    assert am("doctor").code == 1
    am("doctor", "--fix")
    assert plugin.exists()
    assert not [one for one in found() if one[2] == "failed"]


def test_a_changed_command_is_reported_and_not_run(hosts, am, found, home, tmp_path):
    assert am("install").code == 0
    file = home / ".grok/hooks/agentlas-memory.json"
    trap = tmp_path / "ran"
    file.write_text(file.read_text().replace("exec ", f"touch {trap}; exec "))
    assert ("entry", "grok", "failed") in found()
    assert not trap.exists()


def test_a_missing_program_is_named(hosts, am, found, home):
    assert am("install").code == 0
    (home / ".agentlas/runtime/current").unlink()
    assert ("hook", "", "failed") in found()


def test_an_unverified_version_is_a_warning_and_too_old_a_failure(fake_host, am, found):
    fake_host("claude", version="99.0.0")
    assert am("install").code == 0
    assert ("version", "claude", "warning") in found()


def test_recent_failures_are_told(hosts, am, found, home):
    assert am("install").code == 0
    log = home / ".agentlas/state/hook.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("2026-01-01T00:00:00Z grok ValueError at engine.py:1\n")
    assert ("failures", "", "warning") in found()


def test_a_hook_that_is_registered_twice_is_named(fake_host, am, found):
    state = fake_host("claude")
    assert am("install").code == 0
    assert not [one for one in found() if one[0] == "double"]
    (state / "settings.json").write_text('{"hooks": {"x": "agentlas-memory-hook --host claude"}}')
    assert ("double", "claude", "warning") in found()
