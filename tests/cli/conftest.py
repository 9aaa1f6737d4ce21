"""A project with two documents, and the command line run in this process or in one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.reviewing import HOSTILE, findings
from click.testing import CliRunner

from agentlas_memory.cli import cli

LEDGER = """\
# ADR 7: Ledger

We settle the ledger in integer minor units because floating point loses cents.
The `LedgerService` rounds half even.
"""
DEPLOY = "# Deployment\n\nThe frobnicator is deployed on Thursdays, see `deployFrob`.\n"


class Outcome:
    """How a run of the command ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder without a memory; the current folder."""
    root = tmp_path / "my pröject"
    (root / "docs").mkdir(parents=True)
    (root / "docs/0007-ledger.md").write_text(LEDGER)
    (root / "docs/deploy.md").write_text(DEPLOY)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def am():
    """Run `agentlas-memory` in this process."""

    def run(*arguments):
        result = CliRunner().invoke(cli, list(arguments), prog_name="agentlas-memory")
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def project(folder, am):
    """An indexed project."""
    assert am("init").code == 0
    assert am("index").code == 0
    return folder


@pytest.fixture
def store(project):
    """The project's database file."""
    return project / ".agentlas/ontology-runtime.sqlite"


@pytest.fixture
def inbox(project):
    """The folder of the project's notes."""
    return project / ".agentlas/ontology-inbox"


@pytest.fixture
def process():
    """Run `agentlas-memory` in a process of its own."""

    def run(*arguments, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "agentlas_memory", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=os.environ | environment,
            timeout=60,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def trusted_json(home):
    """The file that holds what the user trusts."""
    return Path(home, ".agentlas/trusted.json")


@pytest.fixture
def hold_lock(store):
    """Start a process that holds the store exclusively; returns what lets go of it."""
    children = []
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN EXCLUSIVE'); print('held', flush=True); sys.stdin.read()"
    )

    def release():
        for child in children:
            child.communicate()
        children.clear()

    def hold():
        child = subprocess.Popen(
            [sys.executable, "-c", code, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        children.append(child)
        assert child.stdout.readline() == b"held\n"
        return release

    yield hold
    release()


@pytest.fixture
def locked(hold_lock):
    """Hold the store from the start of the test."""
    return hold_lock()


@pytest.fixture
def hostile(project, am):
    """A document with a hostile section between two that are not; returns the finding."""
    text = f"# Rota\n\nNils is on duty in May.\n\n## Handover rites\n\n{HOSTILE}\n"
    text += "\n## June\n\nAda is.\n"
    (project / "docs/rota.md").write_text(text)
    assert am("index").code == 0
    [finding] = findings(am)
    return finding


@pytest.fixture
def agent(project, make_card):
    """A project whose routing card names an agent."""
    make_card(project)
    return project


@pytest.fixture
def memory(home):
    """The agent's folder."""
    return home / ".agentlas/networking/hub-agents/ledger-keeper/memory"


@pytest.fixture
def add(am):
    """Add a row and return its id."""

    def run(text, *options):
        return am("experience", "add", text, *options, "--json").json["id"]

    return run


@pytest.fixture
def rows(am):
    """Return the rows that `list` tells, by id."""
    return lambda: {row["id"]: row for row in am("experience", "list", "--json").json["experience"]}
