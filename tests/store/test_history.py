"""Commit times, as far as git tells them."""

import os
import subprocess

import pytest

from agentlas_memory.ontology.history import commit_times


@pytest.fixture
def git(project, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")

    def run(*arguments, at=None, stdin=""):
        times = (
            {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"} if at else {}
        )
        command = ["git", "-C", project.root, *arguments]
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, input=stdin,
            env={**os.environ, **times},
        )  # fmt: skip
        return done.stdout

    run("init")
    return run


def commit(git, at):
    git("add", "-A")
    git("commit", "-m", "message", at=at)


def test_newest_commit_that_touched_a_file_counts(project, git):
    project.write(a="one", b="one")
    commit(git, 1_000_000_000)
    project.write(a="two")
    commit(git, 1_000_000_100)
    expected = {"a.md": 1_000_000_100, "b.md": 1_000_000_000}
    assert commit_times(project.root, ["a.md", "b.md", "new.md"]) == expected


def test_many_files_are_asked_for_at_once(project, git):
    project.write(**{f"f{number}": "text" for number in range(120)})
    commit(git, 1_000_000_000)
    names = [f"f{number}.md" for number in range(120)]
    assert commit_times(project.root, names) == dict.fromkeys(names, 1_000_000_000)


@pytest.mark.parametrize(
    "name",
    ["with space.md", "*.md", ":(top)x.md", "ünï.md", "a\x01b.md", "\x01.md", "-n.md", "a'b.md"],
)
def test_any_file_name_is_taken_literally(project, git, name):
    (project.root / name).write_text("text")
    project.write(plain="text")
    commit(git, 1_000_000_000)
    project.write(plain="other")
    commit(git, 1_000_000_100)
    assert commit_times(project.root, [name]) == {name: 1_000_000_000}
    assert commit_times(project.root, ["plain.md", name])["plain.md"] == 1_000_000_100


def test_project_below_the_repository_has_paths_of_its_own(project, git):
    (project.root / "sub").mkdir()
    (project.root / "sub/a.md").write_text("text")
    commit(git, 1_000_000_000)
    assert commit_times(project.root / "sub", ["a.md"]) == {"a.md": 1_000_000_000}


def test_repository_that_a_git_hook_runs_for_is_not_asked(project, git, twin, monkeypatch):
    project.write(a="text")
    commit(git, 1_000_000_000)
    monkeypatch.setenv("GIT_DIR", str(project.root / ".git"))
    assert commit_times(twin.root, ["a.md"]) == {}


SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n"


def test_program_that_checks_signatures_is_not_run(project, git):
    project.write(a="text")
    commit(git, 1_000_000_000)
    header, _, message = git("cat-file", "commit", "HEAD").partition("\n\n")
    signed = git(
        "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{header}\n{SIGNATURE}\n{message}"
    )
    git("update-ref", "HEAD", signed.strip())
    script = project.folder / "checker"
    script.write_text("#!/bin/sh\ntouch $0.ran\n")
    script.chmod(0o755)
    git("config", "gpg.program", str(script))
    git("config", "log.showSignature", "true")
    git("log", "-1")
    (project.folder / "checker.ran").unlink()
    assert commit_times(project.root, ["a.md"]) == {"a.md": 1_000_000_000}
    assert not (project.folder / "checker.ran").exists()


def test_without_git_there_are_no_times(project, monkeypatch):
    assert commit_times(project.root, ["a.md"]) == {}
    monkeypatch.setenv("PATH", "")
    assert commit_times(project.root, ["a.md"]) == {}


def test_commit_time_is_stored_with_the_source(project, git):
    project.write(a="# A\n\nThe pager rota.\n")
    commit(git, 1_000_000_000)
    project.index()
    assert project.rows("SELECT commit_time FROM sources") == [(1_000_000_000,)]
