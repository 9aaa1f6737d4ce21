"""A home with hosts in it, and the installer run on it."""

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentlas_memory.cli import cli

HOOKS = '{\n\t"theirs": {"PreInvocation": []}\r\n}'
SHM = "/dev/shm"
RULES = "# My rules\r\n\r\nAlways answer in verse."


class Outcome:
    def __init__(self, result):
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def action(self, host):
        """Return the actions of a host's changes."""
        [document] = [one for one in self.json["hosts"] if one["host"] == host]
        return [change["action"] for change in document["changes"]]


@pytest.fixture(autouse=True)
def path(tmp_path, monkeypatch):
    """A PATH on which no host is, unless a test puts one there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


@pytest.fixture
def in_memory():
    """A folder in memory, where this machine has one."""
    with tempfile.TemporaryDirectory(dir=SHM if os.access(SHM, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def am():
    """Run `agentlas-memory`."""
    return lambda *words: Outcome(CliRunner().invoke(cli, list(words), prog_name="agentlas-memory"))


@pytest.fixture
def checks(am):
    """Run `doctor`, and return what it found of one kind: (status, detail) of each."""

    def run(kind, *options):
        found = am("doctor", "--json", *options).json["checks"]
        return [(one["status"], one["detail"]) for one in found if one["id"] == kind]

    return run


@pytest.fixture
def hooks(home):
    """Antigravity's hooks file, with somebody else's hook in it."""
    file = home / ".gemini/config/hooks.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(HOOKS.encode())
    return file


@pytest.fixture
def rules(home):
    """Grok's rules, written by a person, with CRLF and without a last newline."""
    file = home / ".grok/AGENTS.md"
    file.parent.mkdir()
    file.write_bytes(RULES.encode())
    file.chmod(0o640)
    return file


@pytest.fixture
def plugin(home):
    """Where OpenCode's plugin goes."""
    (home / ".config/opencode").mkdir(parents=True)
    return home / ".config/opencode/plugins/agentlas-memory.js"


@pytest.fixture
def hosts(hooks, rules, plugin):
    """Three hosts that are only known by their folders."""


@pytest.fixture
def snapshot(home):
    """Read all below the home but our own folder: bytes and modes, and links as links."""

    def take():
        found = {}
        for path in sorted(home.rglob("*")):
            if ".agentlas" in path.parts:
                continue
            info = path.lstat()
            data = path.read_bytes() if stat.S_ISREG(info.st_mode) else None
            found[str(path.relative_to(home))] = (stat.S_IMODE(info.st_mode), data)
        return found

    return take


@pytest.fixture
def fake_host(path, home):
    """Put a program on the PATH that keeps a list of plugins, as `claude` and `codex` do."""

    def make(name, version="2.1.197", fail=""):
        state = home / f".{name}"
        state.mkdir()
        program = path / name
        program.write_text(
            "#!/bin/sh\n"
            f'echo "$*" >> {state}/calls\n'
            f'case "$*" in *"{fail or "no such words"}"*) echo "it broke"; exit 1 ;; esac\n'
            'case "$*" in\n'
            f'  --version) echo "{version} (Fake)" ;;\n'
            f'  "plugin list"*) cat {state}/plugins.list 2>/dev/null; exit 0 ;;\n'
            f'  "plugin install "*|"plugin add "*) echo "$3" > {state}/plugins.list ;;\n'
            f'  "plugin uninstall "*|"plugin remove "*) rm -f {state}/plugins.list ;;\n'
            "esac\n"
        )
        program.chmod(0o755)
        return state

    return make
