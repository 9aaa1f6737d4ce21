"""Tiny projects, and the installed hook run as a host runs it: one process an event."""

import json
import os
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentlas_memory.cli import cli
from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.index import index_project
from agentlas_memory.ontology.store import open_store
from agentlas_memory.project import DATABASE
from agentlas_memory.trust_file import add_trust

LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units because floats lose cents.\n"
QUESTION = "why do we settle the ledger in integer minor units?"
LESSON = "Use a rollback checklist for every schema migration"
NOTES = ".agentlas/ontology-inbox"
MOST_SECONDS = 2.0


@pytest.fixture
def data(home):
    """Our own folder in the test's home."""
    return home / ".agentlas"


@pytest.fixture
def index():
    """Bring a project's store up to date and return the store's id."""

    def run(root):
        index_project(root)
        store = open_store(str(root / DATABASE), Deadline(60_000))
        store.close()
        return store.text("store_id")

    return run


@pytest.fixture
def make_project(tmp_path, data, index):
    """Write files, index them and say yes to the store."""

    def make(files=None, *, name="project", trusted=True):
        root = tmp_path / name
        for path, text in ({"docs/ledger.md": LEDGER} if files is None else files).items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        root.mkdir(parents=True, exist_ok=True)
        store_id = index(root)
        if trusted:
            add_trust(str(data), str(root), store_id)
        return root

    return make


@pytest.fixture
def environment(home):
    """All that a hook may count on."""
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def run_hook(launcher, environment, tmp_path, data):
    """Run the launcher on an event, hold it to what holds for every run, and return its answer.

    `logs` says that a failure is to be swallowed, or (None) may be: else there must be no log.
    """

    def run(
        event,
        host="claude",
        *,
        event_name="UserPromptSubmit",
        env=None,
        arguments=None,
        program=launcher,
        cwd=tmp_path,
        logs=False,
        **streams,
    ):
        if arguments is None:
            arguments = ["--host", host, "--event", event_name]
        if not streams:
            streams["input"] = event if isinstance(event, bytes) else json.dumps(event).encode()
        started = time.monotonic()
        done = subprocess.run(
            [*(program if isinstance(program, list) else [program]), *arguments],
            env=environment if env is None else env,
            cwd=cwd,
            timeout=20,  # reached only by a hook that would hang for ever
            **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams),
        )
        assert time.monotonic() - started < MOST_SECONDS
        assert (done.returncode, done.stderr or b"") == (0, b"")
        assert logs is None or (data / "state/hook.log").exists() == logs
        return done.stdout

    return run


@pytest.fixture
def run_patched(run_hook):
    """Run the hook as its launcher does, after a statement that replaces a part of it."""
    prefix = Path(sys.prefix)
    packages = prefix / "lib/python{}.{}/site-packages".format(*sys.version_info)
    before = f"import sys; sys.path.append({str(packages)!r}); from time import sleep"
    after = "from agentlas_memory.hook import main; main()"

    def run(statement, event, host="claude", **options):
        code = "\n".join([before, statement, after])
        python = [str(prefix / "bin/python3"), "-I", "-S", "-c", code]
        return run_hook(event, host, program=python, **options)

    return run


@pytest.fixture
def prompt_event():
    """A prompt in a project, in a session of its own, as Claude Code sends it."""
    sessions = count(1)

    def make(root, prompt=QUESTION, **fields):
        return {
            "session_id": f"session {next(sessions)}",
            "transcript_path": "/nonexistent/transcript.jsonl",
            "cwd": str(root),
            "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        } | fields

    return make


@pytest.fixture
def start_event():
    """The start of a session, as Claude Code sends it."""

    def make(root, source="startup", session="one", **fields):
        return {
            "session_id": session,
            "transcript_path": "/nonexistent/transcript.jsonl",
            "cwd": str(root),
            "hook_event_name": "SessionStart",
            "source": source,
        } | fields

    return make


@pytest.fixture
def context():
    """Decode the capsule in Claude's answer, blank for the empty answer."""

    def decode(stdout):
        if not stdout:
            return ""
        answer = json.loads(stdout.decode("ascii"))
        assert set(answer) == {"hookSpecificOutput"}
        assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        return answer["hookSpecificOutput"]["additionalContext"]

    return decode


@pytest.fixture
def ask(run_hook, prompt_event, context):
    """Ask a project something and return the capsule, blank for silence."""

    def run(root, prompt=QUESTION, *, env=None, logs=False, **fields):
        return context(run_hook(prompt_event(root, prompt, **fields), env=env, logs=logs))

    return run


@pytest.fixture
def start(run_hook, start_event, context):
    """Start a session in a project and return the capsule, blank for silence."""

    def run(root, source="startup", session="one", **fields):
        return context(run_hook(start_event(root, source, session, **fields)))

    return run


@pytest.fixture
def settings(data):
    """Write the user's settings."""

    def write(**values):
        data.mkdir(exist_ok=True)
        (data / "settings.json").write_text(json.dumps(values))

    return write


@pytest.fixture
def receipt(data):
    """Read the only receipt there is."""

    def read():
        (file,) = (data / "state/last").iterdir()
        return json.loads(file.read_bytes())

    return read


@pytest.fixture
def listing():
    """List all below a folder with what a write would change, folders' times included."""

    def make(root):
        found = {}
        for path in [root, *root.rglob("*")]:
            info = path.lstat()
            found[path] = info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_mode
        return found

    return make


@pytest.fixture
def note():
    """The text of a note file."""

    def make(text, kind="note", scope="internal", identity="a1b2c3d4e5", **values):
        more = "".join(f"{key}: {value}\n" for key, value in values.items())
        return f"---\nid: {identity}\nkind: {kind}\nscope: {scope}\n{more}---\n\n{text}\n"

    return make


@pytest.fixture
def git(home):
    """Run git without the developer's configuration."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def run(root, *arguments, date="2024-01-01T00:00:00Z"):
        names = {
            f"GIT_{who}_{what}": "a@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(home)}
        subprocess.run(
            ["git", *arguments],
            cwd=root,
            env={"PATH": os.environ["PATH"]} | names | dates | nobody,
            check=True,
            capture_output=True,
        )

    return run


@pytest.fixture
def am():
    """Run `agentlas-memory`, which must succeed."""

    def run(*arguments):
        outcome = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert outcome.exit_code == 0, outcome.output

    return run


@pytest.fixture
def agent(make_project, make_card, am):
    """A project whose card is trusted, with an agent that learned something."""
    root = make_project()
    make_card(root)
    am("experience", "add", LESSON, "--tag", "migration", "--project", root)
    am("trust", "--project", root)
    return root
