"""Which store answers for a folder: two of one name never mix, two names of one folder are one."""

import os
import subprocess

import pytest

from agentlas_memory.ontology.index import index_project
from agentlas_memory.project import find_project
from agentlas_memory.runtime import OntologyRuntime

ASK = "how does auth.py check sessions?"


def make_project(root, way):
    root.mkdir(parents=True, exist_ok=True)
    (root / "auth.md").write_text(f"# Auth\n\n`auth.py` checks sessions by {way}.\n")
    index_project(root)
    return root


def answer(cwd, share_worktrees=True):
    project = find_project(str(cwd), os.environ["HOME"], share_worktrees)
    return project and OntologyRuntime(project.database).query(ASK).hits[0].text


def test_two_projects_of_one_folder_name_do_not_mix(tmp_path):
    make_project(tmp_path / "a/app", "cookies")
    make_project(tmp_path / "b/app", "signed headers")
    assert "cookies" in answer(tmp_path / "a/app")
    assert "signed headers" in answer(tmp_path / "b/app")


def test_names_that_differ_in_case_are_one_project_only_where_the_folder_is_one(tmp_path):
    make_project(tmp_path / "Project", "cookies")
    try:
        make_project(tmp_path / "project", "signed headers")
    except FileExistsError:
        pytest.skip("impossible here")
    if os.path.samefile(tmp_path / "Project", tmp_path / "project"):
        assert answer(tmp_path / "Project") == answer(tmp_path / "project")
    else:
        assert "cookies" in answer(tmp_path / "Project")
        assert "signed headers" in answer(tmp_path / "project")


def test_project_reached_through_a_link_is_the_same(tmp_path):
    make_project(tmp_path / "real", "cookies")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "link/sub").mkdir()
    assert answer(tmp_path / "link/sub") == answer(tmp_path / "real")


def test_home_is_no_project_under_any_name(tmp_path, monkeypatch):
    make_project(tmp_path / "me", "cookies")
    (tmp_path / "alias").symlink_to("me")
    monkeypatch.setenv("HOME", str(tmp_path / "alias"))
    assert answer(tmp_path / "me") is None


@pytest.fixture
def worktree(tmp_path, monkeypatch):
    """A main checkout with a store, and a linked worktree outside of it."""
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    main = tmp_path / "main"
    main.mkdir()
    (main / "code.py").write_text("")

    def git(*arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", main, *identity, *arguments], check=True, capture_output=True)

    git("init")
    git("add", "code.py")
    git("commit", "-m", "first")
    git("worktree", "add", str(tmp_path / "linked"))
    make_project(main, "cookies")
    return tmp_path / "linked", git


def test_linked_worktree_uses_the_store_of_the_main_one(worktree):
    linked, _ = worktree
    assert "cookies" in answer(linked)
    assert answer(linked, share_worktrees=False) is None


def test_worktree_with_a_store_of_its_own_uses_that(worktree):
    linked, _ = worktree
    make_project(linked, "signed headers")
    assert "signed headers" in answer(linked)


def test_nothing_is_lost_when_the_worktree_goes(worktree, tmp_path):
    linked, git = worktree
    git("worktree", "remove", "--force", str(linked))
    assert "cookies" in answer(tmp_path / "main")


def test_folder_that_only_claims_to_be_a_worktree_gets_nothing(worktree, tmp_path):
    (tmp_path / "clone").mkdir()
    pointer = (worktree[0] / ".git").read_text()
    (tmp_path / "clone/.git").write_text(pointer)
    assert answer(tmp_path / "clone") is None
