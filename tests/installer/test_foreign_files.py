"""Files of other people's, in every state that was met: what is theirs stays, byte for byte."""

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

import agentlas_memory
from agentlas_memory.home import read_settings
from agentlas_memory.installer.hosts import specs_of
from agentlas_memory.installer.surfaces import Place

BOM = b"\xef\xbb\xbf"
THEIRS = {
    "hooks": {
        "SessionStart": [
            {"matcher": "*", "hooks": [{"type": "command", "command": "date"}]},
            {"matcher": "compact", "hooks": [{"type": "command", "command": "true"}]},
        ],
        "PreToolUse": [{"matcher": "Bash", "hooks": []}],
    }
}
HOOK = "agentlas-memory-hook --host antigravity --event PreInvocation"
FLAT = {"PreInvocation": [{"type": "command", "command": HOOK}]}
NESTED = {"PreInvocation": [{"matcher": "*", "hooks": [{"type": "command", "command": HOOK}]}]}


def test_arrays_of_other_people_s_hooks_stay_as_they_are(fake_host, home, am):
    settings = fake_host("claude") / "settings.json"
    others = home / ".grok/hooks/theirs.json"
    others.parent.mkdir(parents=True)
    for file in (settings, others):
        file.write_text(json.dumps(THEIRS, indent=3))
    before = settings.read_bytes()
    assert am("install").code == 0
    assert settings.read_bytes() == others.read_bytes() == before


def test_an_array_under_another_name_stays_in_its_place(hosts, am, hooks):
    text = json.dumps({"a": FLAT, "b": {"Stop": [1, 2]}, "c": {}}, indent=3).replace(HOOK, "date")
    hooks.write_text(text)
    am("install")
    put = hooks.read_text()
    assert list(json.loads(put)) == ["a", "b", "c", "agentlas-memory"]
    assert put.startswith(text[: text.rindex("}")].rstrip())


def test_dry_run_prints_the_exact_difference(hosts, am, hooks):
    before = hooks.read_text().splitlines()
    told = [
        line[4:] for line in am("install", "--dry-run", "--host", "antigravity").err.splitlines()
    ]
    hunk = told[next(n for n, line in enumerate(told) if line.startswith("@@")) + 1 :]
    am("install", "--host", "antigravity")
    after = hooks.read_text().splitlines()
    assert [line[1:] for line in hunk if line[:1] in "+ "] == after
    assert [line[1:] for line in hunk if line[:1] in "- "] == before


@pytest.mark.parametrize(
    "text",
    [
        '// my note\n{"theme":"dark"}',
        '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]},]},}',
        '{"a": 1 /* note */}',
        "{'a': 1}",
        '{"a": 1}{"b": 2}',
        '{"a": NaN}',
        "",
    ],
)
def test_comments_and_trailing_commas_are_never_lost(hosts, am, hooks, text):
    hooks.write_text(text)
    outcome = am("install", "--host", "antigravity")
    if text:
        assert (outcome.code, "line 1" in outcome.err) == (1, True)
        assert hooks.read_text() == text
    assert am("uninstall").code == 0
    assert hooks.read_text() == text


@pytest.mark.parametrize("names", [["jsonc"], ["json"], ["json", "jsonc"]], ids=" ".join)
def test_opencode_s_own_configuration_is_neither_made_nor_touched(home, am, snapshot, names):
    folder = home / ".config/opencode"
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"opencode.{name}").write_text('{\n  // mine\n  "theme": "dark",\n}')
    before = snapshot()
    assert am("install").code == 0
    ours = ".config/opencode/plugins"
    now = {name: value for name, value in snapshot().items() if not name.startswith(ours)}
    assert now == before


def test_a_newer_version_adds_nothing_and_names_no_version(hosts, fake_host, home, am, monkeypatch):
    fake_host("claude")
    texts = []
    for version in ("1.0.0", "1.1.0", "1.1.0"):
        monkeypatch.setattr(agentlas_memory, "__version__", version)
        (home / ".agentlas/runtime/current").unlink(missing_ok=True)
        assert am("install").code == 0
        market = (home / ".agentlas/marketplace").rglob("*.json")
        files = [*market, *(home / ".grok").rglob("*"), *(home / ".gemini").rglob("*.json")]
        texts.append({file: file.read_text() for file in files if file.is_file()})
    assert texts[0] == texts[1] == texts[2]
    assert not [text for text in texts[2].values() if agentlas_memory.__version__ in text]
    hooks = (home / ".gemini/config/hooks.json").read_text()
    assert hooks.count("--event PreInvocation") == 1


@pytest.mark.parametrize("old", [FLAT, NESTED, {"enabled": True}, {}], ids=str)
def test_our_own_entry_from_before_there_was_a_ledger_is_replaced(hosts, am, hooks, old):
    theirs = {"notes": {"Stop": [{"type": "command", "command": f"date # not {HOOK}"}]}}
    hooks.write_text(json.dumps({"agentlas-memory": old} | theirs))
    assert am("install", "--host", "antigravity").code == 0
    values = json.loads(hooks.read_text())
    assert values.pop("notes") == theirs["notes"]
    [[handler]] = values["agentlas-memory"].values()
    assert (list(values), handler["timeout"]) == (["agentlas-memory"], 10)


def test_a_hand_made_entry_of_another_name_is_told_and_left(hosts, am, hooks):
    hooks.write_text(json.dumps({"mine": FLAT}))
    told = am("install", "--host", "antigravity").err
    assert f"note: {hooks} runs the hook too" in told
    assert json.loads(hooks.read_text())["mine"] == FLAT


def test_a_mark_at_the_beginning_of_a_file_stays(hosts, home, am, hooks, rules):
    texts = {file: BOM + file.read_bytes() for file in (hooks, rules)}
    for file, text in texts.items():
        file.write_bytes(text)
    assert am("install").code == 0
    for file in texts:
        assert file.read_bytes().count(BOM) == 1
        assert "agentlas-memory" in file.read_bytes().removeprefix(BOM).decode()
    json.loads(hooks.read_text(encoding="utf-8-sig"))
    assert am("uninstall").code == 0
    assert {file: file.read_bytes() for file in texts} == texts


def test_our_own_settings_may_begin_with_a_mark(home, am, hosts):
    (home / ".agentlas").mkdir()
    (home / ".agentlas/settings.json").write_bytes(BOM + b'{"off": true}')
    am("install")
    assert read_settings(str(home / ".agentlas")) == {"off": True}


def test_no_file_of_ours_begins_with_a_mark(hosts, fake_host, home, am):
    for name in ("claude", "codex"):
        fake_host(name)
    assert am("install").code == 0
    files = [file for file in home.rglob("*") if file.is_file()]
    assert len(files) > 10
    assert not [file for file in files if file.read_bytes().startswith(BOM)]


LINKS = {
    "absolute": lambda link, target: link.symlink_to(target),
    "relative": lambda link, target: link.symlink_to(os.path.relpath(target, link.parent)),
    "to a link": lambda link, target: (
        (target.parent / "between").symlink_to(target.name),
        link.symlink_to(target.parent / "between"),
    ),
}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("name", [".gemini/config/hooks.json", ".grok/AGENTS.md"])
def test_a_link_stays_and_what_it_leads_to_is_edited(hosts, home, am, snapshot, link, name):
    file, kept = home / name, home / "dotfiles/kept"
    kept.parent.mkdir()
    file.rename(kept)
    link(file, kept)
    before = snapshot()
    assert am("install").code == 0
    assert (file.is_symlink(), "agentlas-memory" in kept.read_text()) == (True, True)
    assert am("uninstall").code == 0
    assert snapshot() == before


@pytest.mark.parametrize("name", [".gemini/config/hooks.json", ".grok/AGENTS.md"])
def test_a_link_that_leads_nowhere_is_refused_in_words(hosts, home, am, name):
    file = home / name
    file.unlink()
    file.symlink_to(home / "gone")
    outcome = am("install")
    assert (outcome.code, "a symbolic link that leads nowhere" in outcome.err) == (1, True)
    assert (file.is_symlink(), (home / "gone").exists()) == (True, False)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_mode_stays_and_is_never_wider_for_a_moment(hosts, home, am, hooks, rules, mode):
    """Every file that stands beside ours is looked at whenever one is opened or moved."""
    seen = set()
    for file in (hooks, rules):
        file.chmod(mode)

    def look(event, _arguments):
        if looking and event in ("open", "os.rename", "os.chmod", "os.link"):
            for folder in (hooks.parent, rules.parent, home / ".agentlas/backups"):
                if folder.is_dir():
                    seen.update(stat.S_IMODE(one.lstat().st_mode) for one in folder.iterdir())

    looking = True
    sys.addaudithook(look)
    try:
        assert am("install").code == 0
        assert am("uninstall").code == 0
    finally:
        looking = False
    assert {stat.S_IMODE(file.stat().st_mode) for file in (hooks, rules)} == {mode}
    folders = {0o755, 0o700}
    own = {0o644}  # our own files in a host's folder, where nothing is secret
    assert seen - folders - own - {0o600} <= {mode}


PLACES = {
    "GROK_HOME": ("grok", ".grok", "hooks/agentlas-memory.json"),
    "XDG_CONFIG_HOME": ("opencode", ".config/opencode", "opencode/plugins/agentlas-memory.js"),
    "OPENCODE_CONFIG_DIR": ("opencode", ".config/opencode", "plugins/agentlas-memory.js"),
}


@pytest.mark.parametrize("variable", PLACES)
def test_a_host_s_own_variable_moves_what_is_put_there(home, am, tmp_path, monkeypatch, variable):
    host, default, name = PLACES[variable]
    folder = tmp_path / "elsewhere"
    (folder / "opencode").mkdir(parents=True)
    monkeypatch.setenv(variable, str(folder))
    assert am("install", "--host", host).code == 0
    assert ((folder / name).is_file(), (home / default).exists()) == (True, False)


@pytest.mark.parametrize("variable", PLACES)
@pytest.mark.parametrize("value", ["", "  "])
def test_a_blank_variable_is_none(hosts, home, am, monkeypatch, variable, value):
    host, default, name = PLACES[variable]
    monkeypatch.setenv(variable, value)
    assert am("install", "--host", host).code == 0
    assert (home / default / name.removeprefix("opencode/")).is_file()


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_hosts_with_plugins_are_asked_with_their_own_variable(fake_host, path, home, am, host):
    """Their own command knows it; what is left is looked for where it leads."""
    [spec] = specs_of([host])
    place = Place(home, home / ".agentlas", {spec.variable: "/elsewhere"})
    assert spec.surfaces(place)[-1].homes == (Path("/elsewhere"),)
    blank = Place(home, home / ".agentlas", {spec.variable: " "})
    assert spec.surfaces(blank)[-1].homes[0] == home / spec.folder


def test_without_hosts_only_our_own_folder_appears_and_hosts_are_listed(home, am):
    outcome = am("install")
    assert {file.name for file in home.iterdir()} == {".agentlas"}
    titles = ("Claude Code", "Codex", "Antigravity", "OpenCode", "Grok CLI")
    assert all(title in outcome.err for title in titles)
    assert [one["detected"] for one in am("install", "--json").json["hosts"]] == [False] * 5


def test_containers_that_were_there_stay_and_those_we_made_go(home, am, snapshot):
    (home / ".config/opencode/plugins").mkdir(parents=True)
    (home / ".gemini/config").mkdir(parents=True)
    (home / ".gemini/config/hooks.json").write_text("{}")
    (home / ".grok").mkdir()
    (home / ".grok/AGENTS.md").write_text("")
    before = snapshot()
    assert am("install").code == 0
    assert (home / ".grok/hooks/agentlas-memory.json").is_file()
    assert am("uninstall").code == 0
    assert snapshot() == before


def test_the_program_s_folder_is_not_needed_to_uninstall(hosts, fake_host, home, am, snapshot):
    fake_host("claude")
    before = {n: v for n, v in snapshot().items() if not n.startswith(".claude")}
    assert am("install").code == 0
    shutil.rmtree(home / ".agentlas/runtime", ignore_errors=True)
    assert am("uninstall").code == 0
    assert {n: v for n, v in snapshot().items() if not n.startswith(".claude")} == before


def test_no_key_but_ours_is_added_changed_or_removed(hosts, fake_host, home, am, hooks, rules):
    settings = fake_host("claude") / "settings.json"
    settings.write_text('{"autoMemoryEnabled": true, "permissions": {"allow": ["Read"]}}')
    before = json.loads(hooks.read_text()), settings.read_bytes(), rules.read_text()
    assert am("install").code == 0
    now = json.loads(hooks.read_text())
    del now["agentlas-memory"]
    text = rules.read_text()
    cut = text.index("<!-- agentlas-memory: begin"), text.index("agentlas-memory: end -->")
    assert (now, settings.read_bytes()) == before[:2]
    assert text[: cut[0]].rstrip() == before[2].rstrip()
    assert text[cut[1] :].strip() == "agentlas-memory: end -->"
