"""Which files are found, and the reason for each that is not."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from agentlas_memory.ontology.config import MemoryConfig
from agentlas_memory.ontology.walk import Found, OutsideProject, Skipped, walk_project


def put(root, *paths, text="text\n"):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def walk(root, paths=None, **config):
    entries = list(walk_project(root, MemoryConfig(**config), paths))
    found = [entry.path for entry in entries if isinstance(entry, Found)]
    skipped = {entry.path: entry.reason for entry in entries if isinstance(entry, Skipped)}
    return found, skipped


def test_text_formats_are_found_and_others_passed_over(tmp_path):
    put(tmp_path, "a.md", "b.MDX", "c.markdown", "d.rst", "e.adoc", "f.org", "g.txt")
    put(tmp_path, "h.html", "i.json", "j.py", "LICENSE")
    found, skipped = walk(tmp_path)
    assert found == ["a.md", "b.MDX", "c.markdown", "d.rst", "e.adoc", "f.org", "g.txt"]
    assert skipped == {}


def test_include_adds_and_exclude_takes_away(tmp_path):
    put(tmp_path, "src/a.py", "src/b.js", "docs/a.md", "docs/old/b.md")
    found, skipped = walk(tmp_path, include=("src/*.py",), exclude=("docs/old/",))
    assert found == ["docs/a.md", "src/a.py"]
    assert skipped == {"docs/old": "exclude in memory.toml"}


def test_the_order_is_that_of_the_paths(tmp_path):
    put(tmp_path, "a/z.md", "a-b.md", "a.md", "b/a.md", "a/b/c.md", "Z.md")
    found, _ = walk(tmp_path)
    assert found == sorted(found)
    assert len(found) == 6


@pytest.mark.parametrize(
    "name", ["node_modules", "vendor", ".venv", "dist", "build", "target", ".github"]
)
def test_a_folder_is_left_out_with_one_entry(tmp_path, name):
    put(tmp_path, "a.md", f"sub/{name}/b.md", f"sub/{name}/deep/c.md")
    found, skipped = walk(tmp_path)
    assert found == ["a.md"]
    assert list(skipped) == [f"sub/{name}"]


@pytest.fixture
def repository(tmp_path):
    """A repository; its git in the shape of a function."""

    def git(*arguments):
        subprocess.run(["git", "-C", tmp_path, *arguments], check=True, capture_output=True)

    git("init", "-q")
    return git


@pytest.mark.parametrize("rules", ["", "build/\ndist/\n"], ids=["no rule", "ignored"])
def test_documents_that_git_tracks_in_a_build_folder_are_the_projects_own(
    tmp_path, repository, rules
):
    put(tmp_path, ".gitignore", text=rules)
    put(tmp_path, "docs/build/index.rst", "docs/build/made.txt", "docs/build/old/a.rst")
    put(tmp_path, "dist/readme.md", "target/x.py")
    repository("add", "-f", "docs/build/index.rst", "docs/build/old/a.rst", "target/x.py")
    found, skipped = walk(tmp_path, exclude=("docs/build/old/",))
    assert found == ["docs/build/index.rst"]
    assert skipped == {
        "docs/build/made.txt": "in a build folder, and not tracked by git",
        "docs/build/old": "exclude in memory.toml",
        "dist": "dist folder",
        "target": "target folder",
    }


def test_a_build_folder_is_entered_for_what_memory_toml_includes(tmp_path, repository):
    put(tmp_path, "web/dist/[a].html", "web/dist/a.html")
    repository("add", "web/dist/[[]a].html")
    assert walk(tmp_path / "web", include=("*.html",))[0] == ["dist/[a].html"]


def test_gits_own_folder_is_not_worth_a_word_unless_it_is_asked_for(tmp_path, repository):
    put(tmp_path, "a.md", ".git/b.md", "sub/.git/c.md", ".hidden/d.md")
    assert walk(tmp_path) == (["a.md"], {".hidden": "hidden folder"})
    assert walk(tmp_path, [tmp_path / ".git/b.md"]) == ([], {".git": "hidden folder"})


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("AGENTS.md", "host policy file"),
        ("sub/Claude.md", "host policy file"),
        ("CLAUDE.local.md", "host policy file"),
        ("agent.MD", "host policy file"),
        ("gemini.md", "host policy file"),
    ],
)
def test_host_policy_files_are_left_out_by_name(tmp_path, path, reason):
    put(tmp_path, path, "my-agents.md")
    found, skipped = walk(tmp_path)
    assert found == ["my-agents.md"]
    assert skipped == {path: reason}


def test_memory_md_is_policy_only_in_a_hosts_own_folder(tmp_path):
    put(tmp_path, "docs/MEMORY.md", ".claude/projects/x/memory/MEMORY.md")
    assert walk(tmp_path)[0] == ["docs/MEMORY.md"]
    found, skipped = walk(tmp_path / ".claude/projects/x/memory")
    assert (found, skipped) == ([], {"MEMORY.md": "host policy file"})


def test_links_and_pipes_are_not_followed_or_opened(tmp_path):
    outside = tmp_path / "outside"
    project = tmp_path / "project"
    put(outside, "secret.md")
    put(project, "a.md")
    (project / "folder").symlink_to(outside)
    (project / "file.md").symlink_to(outside / "secret.md")
    (project / "gone.md").symlink_to("nowhere")
    os.mkfifo(project / "pipe.md")
    os.mkfifo(project / ".gitignore")
    found, skipped = walk(project)
    assert found == ["a.md"]
    assert skipped.pop("pipe.md") == "not a regular file"
    assert skipped == dict.fromkeys(["file.md", "folder", "gone.md"], "symbolic link")


def test_a_file_over_two_mebibytes_is_left_out(tmp_path):
    put(tmp_path, "big.md", text="x" * (2 * 1024**2 + 1))
    put(tmp_path, "fits.md", text="x" * (2 * 1024**2))
    found, skipped = walk(tmp_path)
    assert (found, skipped) == (["fits.md"], {"big.md": "larger than 2 MiB"})


def test_a_folder_with_its_own_store_is_left_out(tmp_path):
    put(tmp_path, ".agentlas/ontology-runtime.sqlite", "a.md")
    put(
        tmp_path, "web/.agentlas/ontology-runtime.sqlite", "web/b.md", "api/.agentlas/x", "api/c.md"
    )
    found, skipped = walk(tmp_path)
    assert found == ["a.md", "api/c.md"]
    assert skipped == {"web": "has its own store"}


def test_notes_are_found_even_where_git_ignores_them(tmp_path):
    put(tmp_path, ".agentlas/ontology-inbox/a.md", ".agentlas/ontology-inbox/.a.md.tmp")
    put(tmp_path, ".agentlas/other.md", ".agentlas/ontology-inbox/sub/b.md", "c.md")
    put(tmp_path, ".gitignore", text=".agentlas/\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    found, _ = walk(tmp_path)
    assert found == [".agentlas/ontology-inbox/a.md", "c.md"]


def test_a_linked_inbox_is_not_followed(tmp_path):
    put(tmp_path, "outside/a.md", "project/.agentlas/x")
    (tmp_path / "project/.agentlas/ontology-inbox").symlink_to(tmp_path / "outside")
    assert walk(tmp_path / "project") == ([], {})


def test_a_name_that_is_not_utf8_is_left_out(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9.md"
    Path(os.fsdecode(name)).write_text("x")
    assert walk(tmp_path) == ([], {"caf\\xe9.md": "its name is not UTF-8"})


def test_paths_narrow_a_run(tmp_path):
    put(tmp_path, "a.md", "docs/b.md", "docs/sub/c.md", "docsx/d.md", "node_modules/e.md", "f.py")
    docs = [tmp_path / "docs"]
    assert walk(tmp_path, docs)[0] == ["docs/b.md", "docs/sub/c.md"]
    assert walk(tmp_path, [tmp_path / "docs/sub/c.md", tmp_path / "a.md"])[0] == [
        "a.md",
        "docs/sub/c.md",
    ]
    assert walk(tmp_path, [tmp_path])[0] == ["a.md", "docs/b.md", "docs/sub/c.md", "docsx/d.md"]
    assert walk(tmp_path, []) == ([], {})


def test_paths_never_widen_a_run(tmp_path):
    put(tmp_path, "node_modules/e.md", "f.py")
    asked = [tmp_path / "node_modules/e.md", tmp_path / "f.py", tmp_path / "gone.md"]
    found, skipped = walk(tmp_path, asked)
    assert found == []
    assert list(skipped) == ["f.py", "node_modules"]


def test_paths_are_relative_to_the_current_folder(tmp_path, monkeypatch):
    put(tmp_path, "docs/a.md", "docs/sub/b.md", "c.md")
    monkeypatch.chdir(tmp_path / "docs/sub")
    assert walk(tmp_path, [Path("..")])[0] == ["docs/a.md", "docs/sub/b.md"]
    assert walk(tmp_path, [Path("b.md")])[0] == ["docs/sub/b.md"]


def test_a_path_outside_is_an_error(tmp_path):
    put(tmp_path, "project/a.md", "b.md")
    (tmp_path / "project/up").symlink_to(tmp_path)
    for path in (tmp_path / "b.md", tmp_path / "project/../b.md", tmp_path / "project/up/b.md"):
        with pytest.raises(OutsideProject, match=r"b\.md"):
            walk(tmp_path / "project", [path])


def test_rules_above_the_project_hold(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    put(tmp_path, ".gitignore", text="/packages/web/drafts/\n*.tmp.md\n")
    put(tmp_path, ".git/info/exclude", text="private.md\n")
    put(tmp_path, "packages/web/.gitignore", text="!keep.tmp.md\n")
    names = ("a.md", "b.tmp.md", "keep.tmp.md", "private.md", "drafts/c.md")
    put(tmp_path, *(f"packages/web/{name}" for name in names))
    found, skipped = walk(tmp_path / "packages/web")
    assert found == ["a.md", "keep.tmp.md"]
    assert skipped == dict.fromkeys(["b.tmp.md", "drafts", "private.md"], "ignored by git")


def test_a_project_that_an_outer_repository_ignores_is_its_own(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    put(tmp_path, ".gitignore", text="*\n")
    put(tmp_path, "work/notes/a.md")
    assert walk(tmp_path / "work")[0] == ["notes/a.md"]


def test_a_linked_worktree_uses_the_common_exclude_file(tmp_path):
    main, linked = tmp_path / "main", tmp_path / "linked"
    git = ["git", "-C", main, "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", main], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", linked], check=True, capture_output=True)
    put(main, ".git/info/exclude", text="private.md\n")
    put(linked, "a.md", "private.md")
    assert walk(linked) == (["a.md"], {"private.md": "ignored by git"})


def test_ignore_files_mean_what_git_says_they_mean(tmp_path):
    """Git itself is the judge, over random rules at two levels."""
    chance = random.Random(7)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    folders = ("", "a/", "a/b/", "a/b/foo/", "foo/", "foo/a/")
    put(tmp_path, *(folder + name for folder in folders for name in ("c.md", "d.md", "foo.txt")))

    def pattern():
        names = ("*", "**", "a", "b", "foo", "*.md", "c.md", "?", "[ab]", "f*", "d.*")
        middle = "/".join(chance.choice(names) for _ in range(chance.randint(1, 3)))
        return (
            chance.choice(["", "", "!"])
            + chance.choice(["", "/"])
            + middle
            + "/" * (chance.random() < 0.3)
        )

    for _ in range(40):
        for folder in ("", "a/"):
            rules = "\r\n".join(pattern() for _ in range(chance.randint(0, 3)))
            put(tmp_path, f"{folder}.gitignore", text=rules)
        command = ["git", "-C", tmp_path, "ls-files", "-o", "-z", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        expected = sorted(path for path in listed.split("\0") if path.endswith((".md", ".txt")))
        assert walk(tmp_path)[0] == expected, (tmp_path / ".gitignore").read_text()


def test_a_line_that_git_cannot_read_is_passed_over(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    put(tmp_path, ".gitignore", text="!\n\\\n[a-\nb.md\n")
    put(tmp_path, "a.md", "b.md")
    assert walk(tmp_path)[0] == ["a.md"]
