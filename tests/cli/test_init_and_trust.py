"""Whose store may speak: `init`, `trust`, `distrust`, `off`, `on`, and their files."""

import json
import os
import shutil
import stat
import subprocess

import pytest

from agentlas_memory.trust import read_trust

MADE = [".agentlas/memory.toml", ".agentlas/.gitignore", ".agentlas/ontology-runtime.sqlite"]


def files(root):
    """Return every file below a folder with its bytes, but for lock files."""
    found = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path): path.read_bytes() for path in found}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def paused(home, root):
    return not read_trust(f"{home}/.agentlas", str(root)).on


def test_init_says_what_it_made(folder, am):
    document = am("init", "--json").json
    assert document == {"project": str(folder), "created": MADE}
    assert all((folder / name).is_file() for name in MADE)


def test_a_second_init_changes_nothing(folder, home, am):
    am("init")
    before = files(folder) | files(home)
    outcome = am("init", "--json")
    assert (outcome.code, outcome.json["created"]) == (0, [])
    assert files(folder) | files(home) == before


def test_init_makes_the_memory_at_the_top_of_the_repository(folder, am, monkeypatch):
    subprocess.run(["git", "init", "-q"], check=True)
    monkeypatch.chdir(folder / "docs")
    assert am("init", "--json").json["project"] == str(folder)


def test_git_ignores_the_store_and_sees_the_rest(project, am):
    am("remember", "we ship on Fridays")
    subprocess.run(["git", "init", "-q"], check=True)
    listed = subprocess.run(
        ["git", "status", "--short", "-uall", ".agentlas"], capture_output=True, text=True
    ).stdout
    assert "ontology-runtime" not in listed
    for name in ("memory.toml", ".gitignore", "ontology-inbox/"):
        assert name in listed


def test_init_keeps_a_teams_gitignore(folder, am):
    (folder / ".agentlas").mkdir()
    (folder / ".agentlas/.gitignore").write_text("secret.md")
    am("init")
    ours = "ontology-runtime*\nontology-inbox/*.private.md\nontology-inbox/*.imported.md\n"
    ours += "ontology-inbox/imports.json\n"
    assert (folder / ".agentlas/.gitignore").read_text() == f"secret.md\n{ours}"


def test_a_folder_that_an_environment_made_is_closed_to_others(folder, home, am, monkeypatch):
    (home / ".agentlas").mkdir(mode=0o755)
    named = home / "named"
    named.mkdir(mode=0o755)
    assert am("init").code == 0
    assert mode(home / ".agentlas") == 0o700
    monkeypatch.setenv("AGENTLAS_HOME", str(named))
    assert am("trust").code == 0
    assert mode(named) == 0o755, "the user's own choice"


@pytest.mark.parametrize("where", ["/", "home"])
def test_init_refuses_what_lies_above_everything(folder, am, home, where):
    where = str(home) if where == "home" else where
    outcome = am("init", "--project", where)
    assert outcome.code == 3
    assert not os.path.exists(os.path.join(where, ".agentlas", "memory.toml"))


def test_init_refuses_a_linked_folder(folder, am, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (folder / ".agentlas").symlink_to(tmp_path / "elsewhere")
    assert am("init").code == 3
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_trust_is_private(project, home, trusted_json):
    assert mode(trusted_json) == 0o600
    assert mode(trusted_json.parent) == 0o700
    assert all(mode(path) == 0o600 for path in trusted_json.parent.iterdir() if path.is_file())


def test_other_entries_and_unknown_keys_stay(folder, am, trusted_json):
    trusted_json.parent.mkdir()
    entry = {"path": "/elsewhere", "store_id": "abc", "note": "mine"}
    trusted_json.write_text(json.dumps({"version": 7, "projects": [entry, "odd"]}))
    am("init")
    am("distrust")
    assert json.loads(trusted_json.read_text()) == {"version": 7, "projects": [entry, "odd"]}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{broken", id="no JSON"),
        pytest.param("[]", id="no object"),
        pytest.param('{"projects": 3}', id="no list"),
    ],
)
def test_a_broken_file_of_trust_is_named_and_not_overwritten(folder, am, trusted_json, text):
    trusted_json.parent.mkdir()
    trusted_json.write_text(text)
    outcome = am("init")
    assert outcome.code == 3
    assert str(trusted_json) in outcome.err
    assert trusted_json.read_text() == text
    assert not (folder / ".agentlas").exists()


def test_a_linked_file_of_trust_stays_a_link(folder, am, trusted_json, tmp_path):
    trusted_json.parent.mkdir()
    trusted_json.symlink_to(tmp_path / "dotfiles.json")
    am("init")
    assert trusted_json.is_symlink()
    assert len(json.loads((tmp_path / "dotfiles.json").read_text())["projects"]) == 1


def test_a_clones_store_is_refused_until_it_is_trusted(project, am, tmp_path, monkeypatch):
    clone = shutil.copytree(project, tmp_path / "clone")
    monkeypatch.chdir(clone)
    before = files(clone)
    for line in (["init"], ["index"], ["remember", "x y z"], ["forget", "abc"]):
        outcome = am(*line)
        assert outcome.code == 3
        assert f"agentlas-memory trust --project {clone}" in outcome.err
    assert files(clone) == before
    assert am("trust").code == 0
    assert am("index").code == 0


def test_a_store_put_in_the_place_of_a_trusted_one_is_refused(project, am, tmp_path, store):
    other = tmp_path / "other"
    other.mkdir()
    am("init", "--project", str(other))
    shutil.copy(other / ".agentlas/ontology-runtime.sqlite", store)
    assert am("index").code == 3


def test_a_link_in_the_place_of_the_store_is_not_written_through(project, am, tmp_path, store):
    store.unlink()
    store.symlink_to(tmp_path / "victim")
    assert am("index").code != 0
    assert not (tmp_path / "victim").exists()


def test_a_fresh_clone_of_a_teams_project_needs_no_init(folder, am):
    (folder / ".agentlas").mkdir()
    (folder / ".agentlas/memory.toml").write_text('exclude = ["docs/deploy.md"]\n')
    assert am("index", "--json").json["sources"] == 1
    assert am("status", "--json").json["trusted"] is True


def test_trust_shows_what_is_trusted(project, am, store):
    am("distrust")
    err = am("trust").err
    assert str(store) in err
    assert "2 sources, 2 chunks" in err
    assert "owned by" in err


@pytest.mark.parametrize("named", [True, False], ids=["by name", "all that are gone"])
def test_trust_in_a_folder_that_is_gone_is_taken_back(project, am, trusted_json, named, tmp_path):
    before = json.loads(trusted_json.read_text())["projects"]
    project.rename(tmp_path / "elsewhere")
    os.chdir(tmp_path)
    arguments = ["--project", str(project)] if named else ["--gone"]
    assert str(project) in am("distrust", *arguments).err
    assert len(json.loads(trusted_json.read_text())["projects"]) == len(before) - 1


def test_a_folder_that_is_there_stays_trusted(project, am, trusted_json):
    before = trusted_json.read_bytes()
    assert am("distrust", "--gone", "--json").json == {"gone": []}
    assert trusted_json.read_bytes() == before
    assert am("distrust", "--project", "/no/such").code == 2


def test_distrust_leaves_the_store(project, am, store):
    before = store.read_bytes()
    assert am("distrust", "--json").json == {"project": str(project), "trusted": False}
    assert am("status", "--json").json["trusted"] is False
    assert store.read_bytes() == before


def test_off_and_on_here(project, home, am):
    assert am("off", "--json").json == {"project": str(project), "on": False}
    assert paused(home, project)
    assert am("on", "--json").json == {"project": str(project), "on": True}
    assert not paused(home, project)


def test_a_pause_survives_trusting_again(project, home, am):
    am("off")
    am("trust")
    assert paused(home, project)


def test_off_needs_trust(project, am):
    am("distrust")
    assert am("off").code == 1


def test_off_everywhere_keeps_other_settings(project, home, am):
    settings = home / ".agentlas/settings.json"
    settings.write_text('{"delivery": "every_turn"}')
    assert am("off", "--all", "--json").json == {"project": None, "on": False}
    assert json.loads(settings.read_text()) == {"delivery": "every_turn", "off": True}
    assert am("why", "the ledger", "--json").json["silence_reason"] == "off"
    am("on", "--all")
    assert json.loads(settings.read_text()) == {"delivery": "every_turn"}


def test_all_and_project_exclude_each_other(project, am):
    assert am("off", "--all", "--project", str(project)).code == 2


def test_index_in_a_linked_worktree_says_what_it_indexes(project, am, tmp_path, monkeypatch):
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b"]
    for line in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *line], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)
    monkeypatch.chdir(tmp_path / "linked")
    assert f"its main one is indexed, {project}" in am("index").err
    assert am("index", "--quiet").err == ""


def test_a_worktree_shares_the_main_ones_memory(project, am, tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "docs"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)
    monkeypatch.chdir(tmp_path / "linked")
    document = am("status", "--json").json
    assert document["store"]["path"] == str(project / ".agentlas/ontology-runtime.sqlite")


def test_why_judges_by_the_worktree_s_own_files_as_the_hook_does(
    project, am, tmp_path, monkeypatch
):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "docs"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    linked = tmp_path / "linked"
    subprocess.run([*git, "worktree", "add", "-q", str(linked)], check=True)
    monkeypatch.chdir(linked)
    asked = am("why", "why is the ledger in minor units?")
    assert "is told 1 passage" in asked.err
    for file in (linked / "docs").rglob("*.md"):
        file.write_text("# Other\n\nSomething else stands here now.\n")
    asked = am("why", "why is the ledger in minor units?")
    assert "is told nothing" in asked.err and '"worktree": "isolated"' in asked.err


@pytest.mark.parametrize("name", [".gitignore", "memory.toml"])
@pytest.mark.parametrize("there", [True, False], ids=["file", "nothing"])
def test_init_writes_through_no_link_that_a_clone_brought(folder, am, tmp_path, name, there):
    precious = tmp_path / "precious"
    if there:
        precious.write_text("mine")
    (folder / ".agentlas").mkdir()
    (folder / ".agentlas" / name).symlink_to(precious)
    assert am("init").code == 0
    assert (precious.read_text() if there else precious.exists()) == ("mine" if there else False)
