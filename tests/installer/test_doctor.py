"""`doctor` looks at hosts as they are, runs what they would run, and says what to do."""

import json
import shutil
from pathlib import Path

import pytest

HAND_MADE = "'/home/me/.agentlas/runtime/current/bin/agentlas-memory-hook' --host claude"


@pytest.fixture
def checks(am):
    """Run `doctor`, and return what it found of one kind: (host, status, detail) of each."""

    def run(kind, *options):
        found = am("doctor", "--json", *options).json["checks"]
        assert all(one["fix"] or one["status"] == "ok" or one["id"] == "version" for one in found)
        return [(one["host"], one["status"], one["detail"]) for one in found if one["id"] == kind]

    return run


def statuses(found):
    return {(host, status) for host, status, _ in found}


def cached(state, version="1.0.0"):
    """Return where a host keeps its copy of our plugin."""
    return state / "plugins/cache/agentlas/agentlas-memory" / version


def copy_plugin(home, state, version="1.0.0"):
    given = home / ".agentlas/marketplace/plugins/agentlas-memory"
    return Path(shutil.copytree(given, cached(state, version)))


def test_a_fresh_installation_is_well(hosts, am):
    assert am("install").code == 0
    outcome = am("doctor", "--json")
    assert outcome.code == 0, outcome.out
    checked = [one for one in outcome.json["checks"] if one["id"] not in ("version", "run")]
    assert {one["status"] for one in checked} == {"ok"}


def test_all_is_told_in_a_table(hosts, am):
    am("install")
    lines = am("doctor").out.splitlines()
    assert any(line.split()[:3] == ["double", "grok", "ok"] for line in lines)


def test_every_registered_command_is_run_and_knows_the_sample_project(hosts, fake_host, am, checks):
    for name in ("claude", "codex"):
        fake_host(name)
    am("install")
    runs = checks("run")
    assert [host for host, _, _ in runs] == [
        *("claude", "claude", "codex", "codex", "antigravity", "opencode", "grok", "grok")
    ]
    assert all(detail.startswith("answers in ") for _, _, detail in runs)
    assert {status for _, status, _ in runs} <= {"ok", "warning"}  # a warning: it took long


def replace_hook(home, text):
    """Let `current` lead to an environment with another hook, and the same interpreter."""
    current = home / ".agentlas/runtime/current"
    real = current.resolve()
    current.unlink()
    (current / "bin").mkdir(parents=True)
    (current / "bin/python3").symlink_to(real / "bin/python3")
    (current / "bin/agentlas-memory-hook").write_text(f"#!/bin/sh\n{text}\n")
    (current / "bin/agentlas-memory-hook").chmod(0o755)


SICK = {
    "silent": ("exit 0", "silent on a project that it should know"),
    "not an answer": ("cat >/dev/null; echo oops", "oops"),
    "failing": ("cat >/dev/null; echo broken >&2", "broken"),
}


@pytest.mark.parametrize(("hook", "told"), SICK.values(), ids=SICK)
def test_a_hook_that_does_not_answer_as_the_host_expects_is_named(
    hosts, am, checks, home, hook, told
):
    am("install")
    replace_hook(home, hook)
    for host, status, detail in checks("run"):
        if (host, hook) == ("grok", "cat >/dev/null; echo oops"):
            told = "an answer that the host does not take"
        assert (status, told in detail) == ("failed", True), (host, detail)


@pytest.mark.slow
def test_a_hook_that_hangs_is_ended_and_named(hosts, am, checks, home):
    am("install", "--host", "opencode")
    replace_hook(home, "sleep 60")
    assert checks("run")[0][1:] == ("failed", "exit code -9: no answer within 5 seconds")


def test_a_hook_is_run_without_what_the_person_s_shell_sets(hosts, am, checks, home, monkeypatch):
    am("install", "--host", "grok")
    replace_hook(home, "env | cut -d= -f1 | sort | tr '\\n' ' ' >&2")
    monkeypatch.setenv("AGENTLAS_MEMORY", "off")
    detail = checks("run")[0][2]
    assert set(detail.partition(": ")[2].split()) <= {"HOME", "PATH", "PWD", "OLDPWD", "SHLVL", "_"}


def test_a_command_that_was_changed_is_reported_and_not_run(hosts, am, checks, home, tmp_path):
    am("install")
    trap = tmp_path / "ran"
    for file in (
        home / ".grok/hooks/agentlas-memory.json",
        home / ".gemini/config/hooks.json",
    ):
        file.write_text(file.read_text().replace("exec ", f"touch {trap}; exec "))
    plugin = home / ".config/opencode/plugins/agentlas-memory.js"
    plugin.write_text(plugin.read_text().replace("const HOOK = ", f"const HOOK = '{trap}' || "))
    failed = {(host, "failed") for host in ("antigravity", "opencode", "grok")}
    assert statuses(checks("entry")) >= failed
    assert checks("run") == []
    assert not trap.exists()


def test_a_host_without_the_hook_is_named(hosts, am, checks):
    assert ("grok", "warning") in statuses(checks("installed"))
    am("install")
    assert checks("installed") == []


def test_a_host_that_is_gone_is_named(hosts, am, checks, home):
    am("install")
    assert checks("host") == []
    shutil.rmtree(home / ".grok")
    assert statuses(checks("host")) == {("grok", "warning")}


def test_an_entry_that_is_gone_or_changed_is_named_and_repaired(
    hosts, am, checks, hooks, plugin, rules
):
    am("install")
    plugin.unlink()
    hooks.write_text("{}")
    rules.write_text("Mine.")
    failed = {(host, "failed") for host in ("antigravity", "opencode", "grok")}
    assert failed <= statuses(checks("entry"))
    outcome = am("doctor", "--fix")
    assert outcome.code == 0, outcome.out
    assert f"created {plugin}" in outcome.err
    assert f"updated {hooks}" in outcome.err
    assert "failed" not in {status for _, status, _ in checks("entry")}
    assert "Mine." in rules.read_text()


def test_what_cannot_be_repaired_is_told_and_checked_all_the_same(hosts, am, checks, plugin):
    am("install")
    plugin.write_text(plugin.read_text() + "// mine\n")
    outcome = am("doctor", "--fix")
    assert (outcome.code, "left as it is" in outcome.err) == (1, True)
    assert ("opencode", "failed") in statuses(checks("entry", "--fix"))
    assert plugin.read_text().endswith("// mine\n")


def test_an_unverified_version_is_a_warning_and_one_without_hooks_a_failure(fake_host, am, checks):
    fake_host("claude", version="99.0.0")
    am("install")
    assert statuses(checks("version")) == {("claude", "warning")}
    fake_host("codex", version="0.2.0")
    am("install")
    assert ("codex", "failed") in statuses(checks("version"))


def test_a_verified_version_is_well(fake_host, am, checks):
    fake_host("claude")
    am("install")
    assert checks("version") == [("claude", "ok", "2.1.197")]


def test_a_plugin_that_the_host_lost_is_named_and_installed_again(fake_host, am, checks):
    state = fake_host("claude")
    am("install")
    assert statuses(checks("plugin")) == {("claude", "ok")}
    (state / "plugins.list").unlink()
    assert statuses(checks("plugin")) == {("claude", "failed")}
    am("doctor", "--fix")
    assert statuses(checks("plugin")) == {("claude", "ok")}


def test_a_plugin_that_is_switched_off_is_named(fake_host, am, checks):
    state = fake_host("claude")
    am("install")
    listed = {"id": "agentlas-memory@agentlas", "enabled": False, "version": "1.0.0"}
    (state / "plugins.list").write_text(json.dumps([{"id": "other", "enabled": True}, listed]))
    assert statuses(checks("plugin")) == {("claude", "warning")}


def test_a_host_that_does_not_tell_its_plugins_is_named(fake_host, am, checks, path):
    fake_host("claude")
    am("install")
    text = (path / "claude").read_text()
    (path / "claude").write_text(text.replace('"plugin list"*)', '"plugin list"*) exit 3;'))
    assert statuses(checks("plugin")) == {("claude", "warning")}


SETTINGS = {
    "a shell command": {"hooks": {"Stop": [{"hooks": [{"command": HAND_MADE}]}]}},
    "a flat entry": {"hooks": {"Stop": [{"command": f'sh -c "{HAND_MADE}"'}]}},
    "words of a command": {"hooks": [{"command": "env", "args": ["/x/agentlas-memory-hook"]}]},
    "Windows": {"hooks": [{"command": '"C:\\Users\\A B\\bin\\agentlas-memory-hook.cmd" --host x'}]},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_hook_that_is_registered_twice_is_named(fake_host, am, checks, settings):
    state = fake_host("claude")
    am("install")
    assert statuses(checks("double")) == {("claude", "ok")}
    (state / "settings.json").write_text(json.dumps(settings))
    assert statuses(checks("double")) == {("claude", "warning")}
    assert f"{state}/settings.json runs the hook too" in am("install").err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("settings.json", '{"hooks": [{"command": "date # not agentlas-memory-hook"}]}'),
        ("settings.json", '{"note": "see agentlas-memory-hook in the README"}'),
        ("config.toml", '# command = "/x/agentlas-memory-hook"\n'),
    ],
)
def test_a_file_that_only_speaks_of_the_hook_is_left_in_peace(fake_host, am, checks, name, text):
    state = fake_host("claude")
    am("install")
    (state / name).write_text(text)
    assert statuses(checks("double")) == {("claude", "ok")}


def test_a_second_entry_in_the_file_that_holds_ours_is_found(hosts, am, checks, hooks):
    am("install")
    values = json.loads(hooks.read_text())
    hooks.write_text(json.dumps(values | {"mine": values["agentlas-memory"]}))
    assert ("antigravity", "warning") in statuses(checks("double"))


def test_a_copy_in_the_host_s_cache_is_compared_and_a_changed_one_not_run(
    fake_host, am, checks, home
):
    state = fake_host("codex", version="0.171.0")
    am("install")
    copy = copy_plugin(home, state)
    assert checks("copy") == []
    assert len(checks("run")) == 2
    hooks = copy / "hooks/codex.json"
    hooks.write_text(hooks.read_text().replace("codex --event", "codex  --event"))
    assert statuses(checks("copy")) == {("codex", "failed")}
    assert checks("run") == []


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_what_is_left_of_an_older_version_is_listed_and_removed(fake_host, am, checks, home, name):
    state = fake_host(name)
    am("install")
    kept = copy_plugin(home, state)
    assert statuses(checks("leftover")) == {(name, "ok")}
    old = copy_plugin(home, state, "0.9.0")
    assert checks("leftover")[0][1:] == (
        "warning",
        f"{old} is left of an older version: its hooks may still run",
    )
    assert f"removed {old}" in am("doctor", "--fix").err
    assert (old.exists(), kept.exists()) == (False, True)
    assert statuses(checks("leftover")) == {(name, "ok")}


def test_nothing_of_the_person_s_is_changed_by_looking(hosts, am, checks, snapshot):
    am("install")
    before = snapshot()
    checks("run")
    assert snapshot() == before


def test_why_the_hook_is_not_in_a_host_is_told_with_the_line(hooks, am):
    hooks.write_text('{\n "theirs": {},\n}\n')
    checks = am("doctor", "--json").json["checks"]
    [told] = [one["detail"] for one in checks if one["id"] == "installed"]
    assert "the hook is not in Antigravity" in told
    assert f"{hooks}: line 3" in told


@pytest.mark.parametrize("options", [(), ("--fix",)])
def test_a_broken_ledger_is_a_finding_like_others(hosts, am, home, checks, options):
    am("install")
    (home / ".agentlas/install-ledger.json").write_text("{")
    [(_, status, told)] = checks("ledger", *options)
    assert (status, "install-ledger.json is not valid JSON" in told) == ("failed", True)
    assert checks("model") and not checks("installed")


def test_what_it_advises_for_a_broken_ledger_makes_all_well(hosts, am, home, checks):
    am("install")
    (home / ".agentlas/install-ledger.json").rename(home / "aside")
    assert am("install").code == 0
    assert am("doctor").code == 0
    assert checks("installed") == []


def test_a_file_in_place_of_our_folder_is_a_finding(home, am, checks):
    (home / ".agentlas").write_text("mine")
    [(_, status, told)] = checks("ledger")
    assert (status, told) == ("failed", f"{home / '.agentlas'} is no folder")


def test_what_it_advises_for_a_changed_file_of_ours_helps(hosts, am, home):
    am("install")
    plugin = home / ".config/opencode/plugins/agentlas-memory.js"
    plugin.write_text(plugin.read_text() + "// mine\n")
    found = am("doctor", "--json").json["checks"]
    [advice] = [one["fix"] for one in found if one["id"] == "entry" and one["status"] == "failed"]
    assert advice == f"move {plugin} away, then agentlas-memory install --host opencode"
    plugin.rename(home / "aside.js")
    assert am("install", "--host", "opencode").code == am("doctor").code == 0
