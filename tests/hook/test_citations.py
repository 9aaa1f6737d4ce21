"""A text that refers to a file that has vanished since is not told as if nothing had happened."""

import pytest

QUESTION = "how are session tokens validated?"
FACT = "# Sessions\n\nSession tokens are validated in {}, before any handler runs.\n"


@pytest.fixture
def project(make_project):
    """A project with a document that refers to a file, in the way that the test says."""

    def make(reference):
        files = {"docs/sessions.md": FACT.format(reference), "src/auth.py": "def validate(): ...\n"}
        return make_project(files)

    return make


@pytest.mark.parametrize(
    "reference",
    [
        "`src/auth.py`",
        "`../src/auth.py`",
        "`src/auth.py:10`",
        "src/auth.py:10",
        "[here](../src/auth.py)",
        "./src/auth.py",
    ],
)
def test_a_fact_about_a_deleted_file_says_that_it_is_gone(project, ask, reference):
    root = project(reference)
    assert "is gone" not in ask(root, QUESTION)
    (root / "src/auth.py").unlink()
    assert "project[docs/sessions.md#Sessions:L3-3; src/auth.py is gone]:" in ask(root, QUESTION)


def test_a_note_of_an_agent_of_the_team_does_too(make_project, note, index, ask):
    root = make_project({"src/auth.py": "", "a.md": "# A\n\nNothing here.\n"})
    inbox = root / ".agentlas/ontology-inbox"
    inbox.mkdir(parents=True)
    (inbox / "note.md").write_text(note("Session tokens are validated in `src/auth.py:10`"))
    index(root)
    (root / "src/auth.py").unlink()
    assert "src/auth.py is gone]" in ask(root, QUESTION)


def test_a_file_that_git_ignores_may_go(make_project, tmp_path, ask):
    files = {".gitignore": "out/\n", "out/auth.py": "", "src/.gitignore": "*.gen.py\n"}
    files |= {"src/a.gen.py": "", "src/auth.py": "", "docs/s.md": ""}
    files["docs/s.md"] = FACT.format("`out/auth.py`, `src/a.gen.py` and `src/auth.py`")
    (tmp_path / "project/.git").mkdir(parents=True)
    root = make_project(files)
    for name in ("out/auth.py", "src/a.gen.py", "src/auth.py"):
        (root / name).unlink()
    assert "L3-3; src/auth.py is gone]:" in ask(root, QUESTION)


def test_a_file_that_another_branch_lacks_is_not_gone(project, git, ask, tmp_path):
    root = project("`src/auth.py`")
    git(root, "init", "-q")
    git(root, "add", "docs")
    git(root, "commit", "-qm", "docs alone")
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert "src/auth.py" in ask(tmp_path / "linked", QUESTION)
    assert "is gone" not in ask(tmp_path / "linked", QUESTION, session="two")
    (root / "src/auth.py").unlink()
    assert "src/auth.py is gone]" in ask(tmp_path / "linked", QUESTION)


@pytest.mark.parametrize(
    "reference",
    ["`src/other.py`", "https://host/src/auth.py", "/src/auth.py", "auth.py"],
)
def test_what_was_never_in_the_project_is_no_reference(project, ask, reference):
    root = project(reference)
    (root / "src/auth.py").unlink()
    assert "is gone" not in ask(root, QUESTION)


def test_a_file_that_is_back_is_not_gone(project, ask):
    root = project("`src/auth.py`")
    (root / "src/auth.py").rename(root / "src/x.py")
    assert "is gone" in ask(root, QUESTION)
    (root / "src/x.py").rename(root / "src/auth.py")
    assert "is gone" not in ask(root, QUESTION)


def test_documents_are_still_told_to_be_what_they_were(project, index, ask):
    root = project("`src/auth.py`")
    (root / "src/auth.py").unlink()
    index(root)
    assert "src/auth.py is gone]" in ask(root, QUESTION), "its document did not change"
