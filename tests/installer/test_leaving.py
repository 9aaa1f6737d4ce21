"""Leaving works whatever has become of our own folder, and touches what is ours alone."""

import json
import shutil
import subprocess
import sysconfig
import venv

import pytest


@pytest.fixture
def other_environment(tmp_path):
    """The program in an environment of its own."""
    folder = tmp_path / "other"
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/*/site-packages")
    (packages / "here.pth").write_text(sysconfig.get_path("purelib"))

    def run(*words):
        command = [folder / "bin/python3", "-m", "agentlas_memory", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    return run


def test_without_our_runtime_another_environment_takes_us_out(
    hosts, home, am, snapshot, other_environment
):
    before = snapshot()
    assert am("install").code == 0
    shutil.rmtree(home / ".agentlas/runtime")
    done = other_environment("uninstall")
    assert done.returncode == 0, done.stderr
    assert snapshot() == before


def test_without_a_ledger_what_names_us_is_told_and_left(hosts, home, am, snapshot, rules, hooks):
    before = snapshot()
    assert am("install").code == 0
    installed = snapshot()
    shutil.rmtree(home / ".agentlas")
    outcome = am("uninstall")
    assert (outcome.code, snapshot()) == (0, installed)
    assert not (home / ".agentlas").exists()
    for path in (rules, hooks):
        assert f"names us, and the ledger does not say who put it there: {path}" in outcome.err
    assert am("install").code == am("uninstall").code == 0
    assert {name: one for name, one in snapshot().items() if one[1] is not None} == {
        name: one for name, one in before.items() if one[1] is not None
    }


def test_a_file_that_a_person_made_empty_stays(hosts, home, am, hooks):
    hooks.unlink()
    assert am("install").code == 0
    hooks.write_text("{}\n")
    assert am("uninstall").code == 0
    assert hooks.read_text() == "{}\n"


def test_a_link_that_leads_nowhere_since_is_no_obstacle(hosts, home, am, rules):
    (home / "dotfiles").mkdir()
    rules.rename(home / "dotfiles/AGENTS.md")
    rules.symlink_to(home / "dotfiles/AGENTS.md")
    assert am("install").code == 0
    (home / "dotfiles/AGENTS.md").unlink()
    assert am("uninstall").code == 0
    assert rules.is_symlink()


def test_where_a_link_led_before_is_cleared_too(hosts, home, am, hooks):
    (home / "a.json").write_text('{"a": 1}')
    (home / "b.json").write_text('{"b": 1}')
    hooks.unlink()
    hooks.symlink_to(home / "a.json")
    assert am("install").code == 0
    hooks.unlink()
    hooks.symlink_to(home / "b.json")
    assert am("install").code == 0
    assert (home / "a.json").read_text() == '{"a": 1}'
    assert am("uninstall").code == 0
    assert (home / "b.json").read_text() == '{"b": 1}'


def test_nothing_is_purged_while_a_host_has_the_hook(hosts, home, am, plugin):
    assert am("install").code == 0
    plugin.write_text(plugin.read_text() + "// mine\n")
    outcome = am("uninstall", "--purge", "--yes")
    assert (outcome.code, "Nothing was purged" in outcome.err) == (1, True)
    assert (home / ".agentlas/install-ledger.json").exists()
    plugin.unlink()
    assert am("uninstall", "--purge", "--yes").code == 0
    assert not (home / ".agentlas").exists()


def test_a_shared_file_of_a_newer_version_is_known_to_both_hosts(fake_host, home, am, monkeypatch):
    for name in ("claude", "codex"):
        fake_host(name)
    assert am("install").code == 0
    module = "agentlas_memory.installer.marketplace._payload"
    monkeypatch.setattr(module, lambda host, name: f'{{"next version of": "{host} {name}"}}')
    assert am("install", "--host", "claude").code == 0
    assert am("uninstall").code == 0
    assert not (home / ".agentlas/marketplace").exists()


def test_hosts_that_are_not_here_are_named_and_get_nothing(home, am, rules):
    before = {path.name for path in home.iterdir()}
    outcome = am("install")
    assert "Not found here: Claude Code, Codex, Antigravity, OpenCode" in outcome.err
    assert {path.name for path in home.iterdir()} == before | {".agentlas"}


def test_no_setting_of_a_host_is_touched(fake_host, hosts, am, hooks):
    state = fake_host("claude")
    (state / "settings.json").write_text('{"autoMemoryEnabled": true}')
    assert am("install").code == 0
    assert (state / "settings.json").read_text() == '{"autoMemoryEnabled": true}'
    values = json.loads(hooks.read_text())
    assert values.pop("agentlas-memory")
    assert values == {"theirs": {"PreInvocation": []}}


def test_rules_in_another_encoding_are_refused(hosts, am, rules):
    data = "# Regeln\n\nAuf Deutsch.\n".encode("utf-16")
    rules.write_bytes(data)
    outcome = am("install")
    assert (outcome.code, f"{rules}: line 1: this is not UTF-8" in outcome.err) == (1, True)
    assert rules.read_bytes() == data


@pytest.mark.parametrize("word", ["install", "uninstall"])
def test_an_update_that_was_killed_leaves_a_file_that_is_known(
    hosts, am, plugin, monkeypatch, word
):
    assert am("install").code == 0
    old = plugin.read_text()
    module = "agentlas_memory.host_adapters.opencode.install_spec.plugin_text"
    monkeypatch.setattr(module, lambda place: "// the next version\n")
    with monkeypatch.context() as patch:
        patch.setattr("agentlas_memory.installer.apply.put_text", interrupt)
        assert am("install").code == 130
    assert plugin.read_text() == old
    assert am(word).code == 0
    assert plugin.exists() == (word == "install")


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_folder_without_its_program_is_no_host(home, am, name):
    (home / f".{name}").mkdir()
    outcome = am("install")
    assert outcome.code == 0 and "Not found here" in outcome.err
    assert am("uninstall", "--purge", "--yes").code == 0
    assert not (home / ".agentlas").exists()


@pytest.mark.parametrize("folder", [True, False], ids=["its folder stays", "all of it goes"])
def test_a_host_that_was_removed_since_holds_nobody_back(home, am, fake_host, path, folder):
    state = fake_host("claude")
    assert am("install").code == 0
    (path / "claude").unlink()
    if not folder:
        shutil.rmtree(state)
    outcome = am("uninstall", "--purge", "--yes")
    assert (outcome.code, "its program is gone" in outcome.err) == (0, True), outcome.err
    assert ("still names us" in outcome.err) == folder
    assert not (home / ".agentlas").exists()


def test_a_purge_keeps_hidden_from_git_what_it_keeps(home, am, tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    monkeypatch.chdir(project)
    for words in (["init"], ["remember", "my salary", "--scope", "private"]):
        assert am(*words).code == 0
    assert am("uninstall", "--purge", "--yes").code == 0
    assert "private" not in unignored(project)


def test_what_is_written_again_is_hidden_again(home, am, tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    monkeypatch.chdir(project)
    assert am("init").code == 0
    (project / ".agentlas/.gitignore").unlink()
    assert am("remember", "my salary", "--scope", "private").code == 0
    seen = unignored(project)
    assert "private" not in seen and "sqlite" not in seen


def unignored(project):
    """Return what `git add -A` would take."""
    words = ["git", "-C", str(project), "status", "--porcelain", "-uall"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("named", ["the home itself", "a folder with other things"])
def test_a_purge_takes_what_is_ours_out_of_a_folder_that_a_person_named(
    home, am, tmp_path, monkeypatch, named
):
    folder = home if named == "the home itself" else tmp_path / "named"
    for name in ("docs/a.md", "backups/mine.tar", "state/theirs", ".bashrc", "networking/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")
    monkeypatch.setenv("AGENTLAS_HOME", str(folder))
    before = set(folder.rglob("*"))
    project = tmp_path / "project"
    project.mkdir()
    assert am("init", "--project", str(project)).code == 0
    assert am("experience", "add", "a lesson", "--agent", "dev").code == 0
    [memory] = folder.glob("networking/hub-agents/dev/memory")
    (memory / ".experience.jsonl.new").touch()  # as a killed process leaves it
    outcome = am("uninstall", "--purge", "--yes")
    assert outcome.code == 0, outcome.err
    assert set(folder.rglob("*")) == before
    assert f"kept: {folder / 'docs'}" in outcome.err


def test_a_purge_as_json_needs_a_yes_too(home, am, tmp_path):
    assert am("init", "--project", str(tmp_path)).code == 0
    assert am("uninstall", "--purge", "--json").code == 3
    assert (home / ".agentlas/trusted.json").exists()
