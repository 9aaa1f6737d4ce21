"""`index`: what changed, told briefly; and what may be imported on the way."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

# What `index --quiet` must not pay for when nothing changed.
HEAVY = {"numpy", "model2vec", "tokenizers", "rich", "markdown_it", "yaml", "selectolax"}


def imported(*arguments):
    """Return the modules that one run of the command imports."""
    code = (
        "import sys, json; from agentlas_memory.cli import cli\n"
        f"try: cli({list(arguments)!r})\n"
        "except SystemExit: pass\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_imports_no_command(folder):
    modules = imported("--help")
    ours = {name for name in modules if name.startswith("agentlas_memory")}
    assert ours == {"agentlas_memory", "agentlas_memory.cli"}


def test_a_quiet_index_of_nothing_imports_nothing_heavy(project):
    assert not imported("index", "--quiet") & HEAVY


def test_only_what_changed_is_counted(project, am):
    (project / "docs/deploy.md").write_text("# Deployment\n\nOn Mondays.\n")
    (project / "docs/new.md").write_text("# New\n")
    (project / "docs/0007-ledger.md").unlink()
    document = am("index", "--json").json
    counts = [document[key] for key in ("added", "changed", "removed", "unchanged")]
    assert counts == [1, 1, 1, 0]


def test_a_path_narrows_the_run(project, am, monkeypatch):
    for name in ("docs/a.md", "b.md"):
        (project / name).write_text(f"# {name}\n\nText.\n")
    monkeypatch.chdir(project / "docs")
    assert am("index", "a.md", "--json").json["added"] == 1
    assert am("index", "--json").json["added"] == 1


def test_the_counts_of_a_narrowed_run_and_of_the_store_are_told_apart(project, am):
    told = am("index", "docs/deploy.md").err
    assert "this run: 0 added, 0 changed, 0 removed, 1 unchanged" in told
    assert "in the store: 2 sources, 2 chunks" in told


def test_a_path_outside_is_wrong_use(project, am, tmp_path):
    outcome = am("index", str(tmp_path))
    assert outcome.code == 2
    assert "outside" in outcome.err


def test_skipped_files_have_a_reason(project, am):
    (project / "node_modules").mkdir()
    (project / "node_modules/x.md").write_text("x")
    skipped = am("index", "--json").json["skipped"]
    assert skipped == [{"path": "node_modules", "reason": "node_modules folder"}]
    assert "skipped node_modules: node_modules folder" in am("index").err


def test_quiet_says_nothing_unless_something_fails(project, am):
    (project / "docs/new.md").write_text("# New\n")
    outcome = am("index", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    (project / ".agentlas/memory.toml").write_text("include = 3")
    outcome = am("index", "--quiet")
    assert outcome.code == 1
    assert "memory.toml:1" in outcome.err


def test_watch_gives_no_json(project, am):
    assert am("index", "--watch", "--json").code == 2


@pytest.fixture
def watcher(project):
    """A process that watches the project and is interrupted at the end of the test."""
    command = [sys.executable, "-m", "agentlas_memory", "index", "--watch", "--interval", "0.1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert any(line.startswith("watching") for line in child.stderr)
        yield child
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 0
        assert child.stderr.read().endswith("stopped; what was indexed is kept\n")


def test_watch_takes_in_what_changes(project, watcher):
    (project / "docs/new.md").write_text("# New\n\nWords.\n")
    assert "1 added" in watcher.stderr.readline()


def test_watch_survives_a_mistake_in_the_configuration(project, watcher):
    (project / ".agentlas/memory.toml").write_text("include = 3")
    assert "not now:" in watcher.stderr.readline()
    (project / ".agentlas/memory.toml").unlink()
    (project / "docs/new.md").write_text("# New\n\nWords.\n")
    assert any("1 added" in line for line in watcher.stderr)


def sources(store):
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM sources").fetchone()[0]


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_it_did_and_goes_on_later(project, store, am):
    for number in range(200):
        text = f"# Document {number}\n\n" + f"Word{number} tells of things. " * 400
        (project / f"docs/{number:03}.md").write_text(text)
    command = [sys.executable, "-m", "agentlas_memory", "index"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while sources(store) == 2:
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    _, err = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "is kept" in err
    assert "Traceback" not in err
    document = am("index", "--json").json
    assert document["sources"] == 202
    assert document["unchanged"] > 2
