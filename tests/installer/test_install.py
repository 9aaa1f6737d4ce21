"""`install` and `uninstall`: ours in, ours out, and not a byte of anybody else's changed."""

import json
import os

import pytest

from agentlas_memory.installer.ledger import read_ledger

THEIRS = {"type": "command", "command": "date"}


def test_without_a_host_nothing_is_done(home, am, snapshot):
    before = snapshot()
    assert "No host was found" in am("install").err
    assert snapshot() == before


def test_three_hosts_are_served_and_restored_byte_for_byte(hosts, home, am, snapshot):
    before = snapshot()
    outcome = am("install")
    assert outcome.code == 0, outcome.err
    for host in ("antigravity", "opencode", "grok"):
        assert read_ledger(home / ".agentlas").records(host)
    assert snapshot() != before
    outcome = am("uninstall")
    assert outcome.code == 0, outcome.err
    assert snapshot() == before
    assert read_ledger(home / ".agentlas").hosts() == []


def test_hosts_run_the_program_by_a_path_that_stays(hosts, home, am, hooks, plugin):
    assert am("install").code == 0
    hook = home / ".agentlas/runtime/current/bin/agentlas-memory-hook"
    assert os.access(hook, os.X_OK)
    for file in (hooks, plugin, home / ".grok/hooks/agentlas-memory.json"):
        assert str(hook) in file.read_text()
    assert am("uninstall").code == 0
    assert not (home / ".agentlas/runtime").exists()


def test_installing_twice_changes_nothing(hosts, am, snapshot):
    assert am("install").code == 0
    once = snapshot()
    outcome = am("install", "--json")
    assert {
        action for host in ("antigravity", "opencode", "grok") for action in outcome.action(host)
    } == {"unchanged"}
    assert snapshot() == once


def test_what_others_add_meanwhile_stays(hosts, am, hooks, rules):
    assert am("install").code == 0
    values = json.loads(hooks.read_text())
    hooks.write_text(json.dumps(values | {"later": {"Stop": [THEIRS]}}, indent=3))
    rules.write_bytes(b"Mine, before.\n" + rules.read_bytes() + b"\nMine, after.")
    assert am("uninstall").code == 0
    assert json.loads(hooks.read_text()) == {
        "theirs": {"PreInvocation": []},
        "later": {"Stop": [THEIRS]},
    }
    text = rules.read_text()
    assert text.startswith("Mine, before.\n# My rules")
    assert text.endswith("Mine, after.")
    assert "agentlas" not in text


def test_dry_run_shows_the_difference_and_changes_nothing(hosts, home, am, snapshot):
    before = snapshot()
    outcome = am("install", "--dry-run")
    assert '+\t"agentlas-memory"' in outcome.err or "agentlas-memory" in outcome.err
    assert snapshot() == before
    assert not (home / ".agentlas/install-ledger.json").exists()
    assert am("install").code == 0
    installed = snapshot()
    assert "-" in am("uninstall", "--dry-run").err
    assert snapshot() == installed


def test_only_the_hosts_named(hosts, am, plugin, rules):
    assert am("install", "--host", "opencode").code == 0
    assert [one["host"] for one in am("status", "--json").json["hosts"]] == ["opencode"]
    assert plugin.exists()
    assert "agentlas" not in rules.read_text()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1,\n "a": 2}', "line 2"),
        ("{\n// hi\n}", "line 2"),
        ('{"a": 1,}', "line 1"),
        ("[]", "line 1"),
    ],
)
def test_a_file_that_cannot_be_read_strictly_is_left_and_named(
    hosts, am, hooks, plugin, text, line
):
    hooks.write_text(text)
    outcome = am("install")
    assert (outcome.code, line in outcome.err) == (1, True), outcome.err
    assert hooks.read_text() == text
    assert plugin.exists(), "other hosts are served all the same"


def test_a_strangers_file_of_our_name_is_not_overwritten(hosts, am, plugin):
    plugin.parent.mkdir()
    plugin.write_text("export const Mine = () => ({})\n")
    outcome = am("install", "--host", "opencode", "--json")
    assert (outcome.code, outcome.action("opencode")) == (1, ["refused"])
    assert "Mine" in plugin.read_text()


def test_our_file_that_was_changed_is_not_removed(hosts, am, plugin):
    assert am("install").code == 0
    plugin.write_text(plugin.read_text() + "// my note\n")
    outcome = am("uninstall", "--host", "opencode")
    assert (outcome.code, "changed since" in outcome.err) == (1, True)
    assert plugin.exists()
    assert am("uninstall", "--host", "opencode").code == 1, "it is still in the ledger"


def test_a_link_stays_a_link(hosts, home, am, rules, snapshot):
    kept = home / "dotfiles"
    kept.mkdir()
    rules.rename(kept / "AGENTS.md")
    rules.symlink_to(kept / "AGENTS.md")
    before = snapshot()
    assert am("install").code == 0
    assert rules.is_symlink()
    assert "agentlas" in (kept / "AGENTS.md").read_text()
    assert am("uninstall").code == 0
    assert snapshot() == before


@pytest.mark.parametrize("kind", ["fifo", "folder", "dangling"])
def test_what_is_no_file_is_left(hosts, am, hooks, kind):
    hooks.unlink()
    {
        "fifo": lambda: os.mkfifo(hooks),
        "folder": hooks.mkdir,
        "dangling": lambda: hooks.symlink_to("x"),
    }[kind]()
    assert am("install", "--host", "antigravity", "--json").action("antigravity") == ["refused"]


def test_an_entry_that_was_switched_off_stays_off(hosts, am, hooks):
    assert am("install").code == 0
    values = json.loads(hooks.read_text())
    values["agentlas-memory"]["enabled"] = False
    hooks.write_text(json.dumps(values))
    assert am("install").code == 0
    assert json.loads(hooks.read_text())["agentlas-memory"]["enabled"] is False


def test_files_and_folders_that_we_made_go_again(home, am, snapshot):
    (home / ".gemini/config").mkdir(parents=True)
    (home / ".grok").mkdir()
    before = snapshot()
    assert am("install").code == 0
    assert am("uninstall").code == 0
    assert snapshot() == before


def test_a_file_is_kept_aside_before_it_is_changed(hosts, home, am, rules):
    before = rules.read_bytes()
    assert am("install").code == 0
    copies = [file for file in (home / ".agentlas/backups").iterdir() if "AGENTS" in file.name]
    assert [file.read_bytes() for file in copies] == [before]
    assert copies[0].stat().st_mode & 0o077 == 0


def test_a_host_with_plugins_is_asked_by_its_own_commands(fake_host, home, am):
    state = fake_host("claude")
    assert am("install").code == 0
    calls = (state / "calls").read_text()
    market = home / ".agentlas/marketplace"
    assert f"plugin marketplace add {market}" in calls
    assert "plugin install agentlas-memory@agentlas" in calls
    assert (market / ".claude-plugin/marketplace.json").is_file()
    assert am("install", "--json").action("claude").count("run") == 0
    assert am("uninstall").code == 0
    assert "plugin uninstall agentlas-memory@agentlas" in (state / "calls").read_text()
    assert not market.exists()


def test_the_marketplace_stays_while_another_host_uses_it(fake_host, home, am):
    for name in ("claude", "codex"):
        fake_host(name)
    assert am("install").code == 0
    assert am("uninstall", "--host", "claude").code == 0
    assert (home / ".agentlas/marketplace/.agents/plugins/marketplace.json").is_file()
    assert am("uninstall").code == 0
    assert not (home / ".agentlas/marketplace").exists()


def test_a_command_that_fails_is_told_and_tried_again(fake_host, am):
    state = fake_host("claude", fail="plugin install")
    outcome = am("install")
    assert (outcome.code, "it broke" in outcome.err) == (1, True)
    assert am("install").code == 1
    assert (state / "calls").read_text().count("plugin install") == 2


def test_a_plugin_that_a_person_removed_by_hand_is_no_failure(fake_host, am):
    state = fake_host("claude", fail="plugin uninstall")
    assert am("install").code == 0
    (state / "plugins.list").unlink()
    assert am("uninstall").code == 0
    assert "marketplace remove" in (state / "calls").read_text()


def test_a_plugin_that_does_not_go_is_told_and_stays_in_the_ledger(fake_host, am):
    fake_host("claude", fail="plugin uninstall")
    assert am("install").code == 0
    outcome = am("uninstall")
    assert (outcome.code, "it broke" in outcome.err) == (1, True)


def test_what_still_names_us_is_listed(fake_host, am):
    state = fake_host("claude")
    assert am("install").code == 0
    (state / "settings.json").write_text('{"hooks": "agentlas-memory-hook --host claude"}')
    outcome = am("uninstall")
    assert f"still names us: {state}/settings.json" in outcome.err


def test_a_file_beside_the_host_s_folder_is_listed_too(fake_host, home, am):
    fake_host("claude")
    assert am("install").code == 0
    (home / ".claude.json").write_text('{"declinedPlugins": ["agentlas-memory@agentlas"]}')
    [host] = am("uninstall", "--json").json["hosts"]
    assert str(home / ".claude.json") in host["left"]


def test_transcripts_that_keep_what_was_told_are_listed_as_one_folder(fake_host, am):
    state = fake_host("claude")
    assert am("install").code == 0
    for name, text in (("one", "nothing"), ("two", '<agentlas-memory-context version=\\"1\\">')):
        (state / "projects" / name).mkdir(parents=True)
        (state / "projects" / name / "session.jsonl").write_text(text)
    [host] = am("uninstall", "--json").json["hosts"]
    assert [path for path in host["left"] if "projects" in path] == [f"{state}/projects"]


@pytest.mark.parametrize(
    ("host", "name", "listed"),
    [
        ("antigravity", ".gemini/config/notes.txt", ".gemini/config/notes.txt"),
        (
            "antigravity",
            ".gemini/antigravity-cli/brain/7/logs/all.jsonl",
            ".gemini/antigravity-cli/brain",
        ),
        ("opencode", ".config/opencode/opencode.json", ".config/opencode/opencode.json"),
        ("opencode", ".local/share/opencode/log/dev.log", ".local/share/opencode/log"),
        ("grok", ".grok/config.toml", ".grok/config.toml"),
        ("grok", ".grok/sessions/one/updates.jsonl", ".grok/sessions"),
    ],
)
def test_of_every_host_it_is_listed(hosts, home, am, host, name, listed):
    assert am("install").code == 0
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text("agentlas-memory was here")
    documents = am("uninstall", "--json").json["hosts"]
    assert {one["host"]: one["left"] for one in documents}[host] == [str(home / listed)]


def test_purge_shows_what_goes_and_asks(hosts, home, am, tmp_path, monkeypatch):
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs/a.md").write_text("# A\n\nText.\n")
    monkeypatch.chdir(project)
    for words in (["init"], ["index"], ["remember", "we ship on Fridays"], ["install"]):
        assert am(*words).code == 0
    assert am("uninstall", "--purge").code == 3, "nobody said yes"
    assert (home / ".agentlas").exists()
    outcome = am("uninstall", "--purge", "--yes")
    assert outcome.code == 0, outcome.err
    assert not (home / ".agentlas").exists()
    assert not (project / ".agentlas/ontology-runtime.sqlite").exists()
    assert list((project / ".agentlas/ontology-inbox").glob("*.md")), "notes are the person's"


def test_a_host_is_not_sent_to_files_that_are_not_in_place(fake_host, home, am):
    state = fake_host("claude")
    stranger = home / ".agentlas/marketplace/.claude-plugin/marketplace.json"
    stranger.parent.mkdir(parents=True)
    stranger.write_text("{}")
    outcome = am("install", "--json")
    assert outcome.code == 1
    assert outcome.action("claude")[-1] == "refused"
    assert "plugin" not in (state / "calls").read_text().replace("plugin list", "")
