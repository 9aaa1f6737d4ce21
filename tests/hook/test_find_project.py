"""Which store answers for the folder that an event names."""

import os
import shutil

import pytest

from agentlas_memory.trust_file import add_trust

FACT = "integer minor units"


def fact(word):
    text = f"# Auth\n\nThe token in auth.py of this app expires after {word} minutes.\n"
    return {"docs/auth.md": text}


def test_a_folder_below_a_project_belongs_to_it(make_project, ask):
    root = make_project()
    (root / "src/deep/er").mkdir(parents=True)
    assert FACT in ask(root / "src/deep/er")


def test_a_folder_without_a_project_is_silent_and_leaves_nothing(tmp_path, ask, data):
    assert ask(tmp_path) == ""
    assert not data.exists()


@pytest.mark.parametrize(
    "cwd", ["/", "//", "/nonexistent/folder", "nul\0", "\ud83c", "", "~", "x" * 5000]
)
def test_any_folder_can_be_named(tmp_path, ask, cwd):
    assert ask(tmp_path, cwd=cwd) == ""


@pytest.mark.parametrize("cwd", [None, 7, ["/"]])
def test_without_a_folder_the_current_one_counts(
    make_project, run_hook, prompt_event, context, cwd
):
    root = make_project()
    assert FACT in context(run_hook(prompt_event(root, cwd=cwd), cwd=root))


def test_spelling_does_not_matter(make_project, ask):
    root = make_project()
    (root / "src").mkdir()
    assert FACT in ask(f"{root}/./src//../")


def test_the_nearest_store_answers_alone(make_project, ask):
    outer = make_project(fact("ten"), name="app")
    inner = make_project(fact("fifty"), name="app/packages/web")
    (outer / "packages/api").mkdir()
    question = "when does the token in auth.py expire?"
    answers = [ask(cwd, question) for cwd in (outer, inner, outer / "packages/api")]
    assert [("ten" in answer, "fifty" in answer) for answer in answers] == [
        (True, False),
        (False, True),
        (True, False),
    ]


def test_an_untrusted_store_is_not_passed_over_for_one_above(make_project, ask):
    make_project(name="app")
    assert ask(make_project(name="app/vendored", trusted=False)) == ""


def test_projects_of_one_name_do_not_cross(make_project, ask):
    one, two = (make_project(fact(word), name=f"{word}/app") for word in ("ten", "fifty"))
    question = "when does the token in auth.py expire?"
    assert "ten minutes" in ask(one, question)
    assert "fifty minutes" in ask(two, question)


def test_the_home_directory_is_no_project(make_project, environment, ask):
    root = make_project()
    (root / "below").mkdir()
    environment |= {"HOME": str(root), "AGENTLAS_HOME": environment["HOME"] + "/.agentlas"}
    assert ask(root) == ask(root / "below") == ""


def test_a_project_in_the_home_directory_is_one(make_project, environment, ask):
    root = make_project(name="home/project")
    environment |= {"HOME": str(root.parent), "AGENTLAS_HOME": environment["HOME"] + "/.agentlas"}
    assert FACT in ask(root)


def test_a_linked_marker_is_none(make_project, ask, tmp_path):
    store = make_project() / ".agentlas/ontology-runtime.sqlite"
    store.rename(tmp_path / "elsewhere.sqlite")
    store.symlink_to(tmp_path / "elsewhere.sqlite")
    assert ask(store.parent.parent) == ""


def test_a_linked_folder_of_ours_is_none(make_project, ask, tmp_path):
    folder = make_project() / ".agentlas"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert ask(folder.parent) == ""


def test_a_project_reached_through_a_link_is_the_same(make_project, ask, tmp_path):
    (tmp_path / "link").symlink_to(make_project())
    assert FACT in ask(tmp_path / "link")


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "fifo"])
def test_a_marker_is_a_file(make_project, ask, make):
    store = make_project() / ".agentlas/ontology-runtime.sqlite"
    store.unlink()
    make(store)
    assert ask(store.parent.parent) == ""


@pytest.fixture
def worktrees(make_project, git, tmp_path):
    """A main worktree with a store, a linked one beside it and one inside it."""
    main = make_project(name="main")
    git(main, "init", "-q")
    git(main, "add", "docs")
    git(main, "commit", "-q", "-m", "start")
    git(main, "worktree", "add", "-q", str(tmp_path / "beside"))
    git(main, "worktree", "add", "-q", str(main / "trees/inside"))
    return main, tmp_path / "beside", main / "trees/inside"


def test_a_linked_worktree_shares_the_memory_of_the_main_one(worktrees, ask):
    _, beside, inside = worktrees
    (beside / "src").mkdir()
    assert FACT in ask(beside)
    assert FACT in ask(beside / "src")
    assert FACT in ask(inside)


def test_a_worktree_is_compared_with_its_own_files(worktrees, ask):
    main, beside, _ = worktrees
    (beside / "docs/ledger.md").write_text("another branch says so")
    assert ask(beside) == ""
    assert FACT in ask(main)


def test_worktrees_are_isolated_by_a_setting(worktrees, ask, settings):
    settings(worktree="isolated")
    main, beside, inside = worktrees
    assert FACT in ask(main)
    assert ask(beside) == ask(inside) == ""


def test_a_worktree_with_a_store_of_its_own_uses_it(worktrees, make_project, ask):
    text = "# Ledger\n\nOn this branch the ledger is settled in integer minor units as well.\n"
    make_project({"docs/own.md": text}, name="beside")
    assert "branch" in ask(worktrees[1])


LEDGER_OF_BRANCH = (
    "# Ledger\n\nOn this branch the ledger is settled in integer minor units as well.\n"
)


def test_nothing_is_lost_with_a_removed_worktree(worktrees, git, ask):
    main, beside, _ = worktrees
    git(main, "worktree", "remove", str(beside))
    assert FACT in ask(main)


def test_a_worktree_that_the_main_one_does_not_know_is_not_its_own(worktrees, ask, tmp_path):
    claimed = tmp_path / "claimed"
    shutil.copytree(worktrees[1], claimed)  # its `.git` names the main repository
    assert ask(claimed) == ""


def test_a_worktree_may_name_its_repository_relatively(worktrees, ask, tmp_path):
    (worktrees[1] / ".git").write_text("gitdir: ../main/.git/worktrees/beside\n")
    (worktrees[0] / ".git/worktrees/beside/gitdir").write_text("../../../../beside/.git\n")
    assert FACT in ask(worktrees[1])


@pytest.mark.parametrize(
    "text", ["", "gitdir:", "gitdir: /nonexistent", "x" * 9000, "gitdir: nul\0", "gitdir: \xff"]
)
def test_a_broken_git_file_is_passed_over(make_project, ask, text):
    root = make_project(name="outer/project")
    inner = root / "inner"
    inner.mkdir()
    (inner / ".git").write_text(text, encoding="latin-1")
    assert FACT in ask(inner)


def test_a_home_directory_under_git_lends_its_memory_to_no_worktree(worktrees, environment, ask):
    main, beside, _ = worktrees
    environment |= {"HOME": str(main), "AGENTLAS_HOME": environment["HOME"] + "/.agentlas"}
    assert ask(beside) == ""


def test_a_moved_project_must_be_trusted_again(make_project, ask, data, index):
    root = make_project()
    moved = root.rename(root.with_name("moved"))
    assert ask(moved) == ""
    add_trust(str(data), str(moved), index(moved))
    assert FACT in ask(moved)
