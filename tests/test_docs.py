"""The documents say what the program does."""

import os
import re
import runpy
import subprocess
from pathlib import Path

import pytest

from agentlas_memory.cli import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units, because floats lose cents.\n"


def fenced(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def steps(session):
    """Return (command, output) of each `$ command` in a console session."""
    parts = re.split(r"^\$ (.*)\n", session, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def test_the_readme_shows_what_really_happens(tmp_path, launcher):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ledger.md").write_text(LEDGER)
    programs = {**os.environ, "PATH": f"{launcher.parent}:{os.environ['PATH']}"}
    [session] = fenced("README.md", "console")
    for command, output in steps(session):
        shell = {"shell": True, "cwd": tmp_path, "env": programs, "check": True}
        assert subprocess.run(command, capture_output=True, text=True, **shell).stdout == output


def test_the_python_example_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    [code] = fenced("docs/api.md", "python")
    exec(compile(code, "docs/api.md", "exec"), {})
    assert f"`{capsys.readouterr().out.strip()}`" in (ROOT / "docs/api.md").read_text()


def test_the_page_of_commands_is_their_own_help():
    build_page = runpy.run_path(str(ROOT / "scripts" / "build_cli_docs.py"))["build_page"]
    assert (ROOT / "docs" / "cli.md").read_text().split() == build_page().split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page):
    named = set(re.findall(r"`agentlas-memory ([a-z-]+)", page.read_text()))
    assert named <= COMMANDS.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_page_on_quality_describes_the_files_that_the_benchmarks_read(tmp_path):
    from agentlas_memory.bench import corpus, quality

    page = (ROOT / "docs/quality.md").read_text()
    for name in (corpus.CORPUS, quality.QUERIES, quality.JUDGEMENTS):
        assert f"| `{name}` |" in page
    fields = {*corpus.Text._fields, *quality.Question._fields}
    assert all(f"`{name}`" in page or f'"{name}"' in page for name in fields)


def test_every_page_is_reached_from_the_readme():
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in readme] == []
