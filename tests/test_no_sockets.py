"""Nothing of ours opens a socket.

Two nets. An audit hook ends a process at its first socket: it works on every system and without
privileges, and the worker processes of a command inherit it through PYTHONPATH. It cannot see a
compiled library that calls the system itself (model2vec brings one that can), so where `strace` may
trace, the same commands run under it and any internet socket of the whole process tree is an error.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CAUGHT = 86
GUARD = f"""
import os, sys
def refuse(event, arguments):
    if event.startswith("socket."):
        os.write(2, f"{{event}} {{arguments!r}}".encode())
        os._exit({CAUGHT})
sys.addaudithook(refuse)
"""
# The launcher's Python half, read from the installed file and run as the launcher has it run.
RUN_LAUNCHER = """
__file__ = sys.argv[1]
del sys.argv[0]
exec(compile(open(__file__, "rb").read(), __file__, "exec"))
"""
FILLING = (
    ("init",),
    ("index",),
    ("remember", "Never store money as a float.", "--kind", "constraint"),
)
ASKING = (
    ("query", "why is money counted in minor units"),
    ("why", "why is money counted in minor units"),
    ("status",),
    ("model", "verify"),
)


def traced(folder):
    """Return the command that traces sockets, None where tracing is not possible."""
    strace = shutil.which("strace")
    trace = [strace, "-f", "-qq", "-A", "-e", "trace=network", "-o", folder / "trace"]
    if strace and subprocess.run([*trace, "true"], capture_output=True).returncode == 0:
        return trace
    return None


def internet_sockets(folder):
    """Return the lines that name one, in the traces of all commands (they append to one file)."""
    lines = (folder / "trace").read_text().splitlines()
    return [line for line in lines if "AF_INET" in line]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    text = "# Ledger\n\nMoney is counted in integer minor units, since floats lose cents.\n"
    (folder / "ledger.md").write_text(text)
    return folder


@pytest.fixture
def large_project(project):
    """Bytes enough, blank lines mostly, for `index` to start worker processes and model2vec."""
    for number in range(3):
        (project / f"page-{number}.md").write_text(f"# Page {number}\n\nEnd.\n" + "\n" * 1_000_000)
    return project


@pytest.fixture
def guarded(tmp_path, monkeypatch):
    """Have every Python that reads PYTHONPATH end at its first socket."""
    folder = tmp_path / "guard"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(GUARD)
    monkeypatch.setenv("PYTHONPATH", str(folder))


def run_commands(commands, program, project, before=()):
    for command in commands:
        words = [*before, program, *command, "--project", project]
        answer = subprocess.run(words, capture_output=True, text=True, cwd=project)
        assert answer.returncode == 0, f"{command}: {answer.stderr}"


def hook_event(project, name):
    event = {
        "hook_event_name": name,
        "session_id": "1",
        "source": "startup",
        "cwd": str(project),
        "prompt": "why is money counted in minor units?",
    }
    return json.dumps(event).encode()


@pytest.mark.parametrize("code", ["socket.socket()", "socket.getaddrinfo('localhost', 1)"])
def test_the_guard_ends_a_process_at_its_first_socket(guarded, code):
    python = [sys.executable, "-c", f"import socket; {code}"]
    assert subprocess.run(python, capture_output=True).returncode == CAUGHT


def test_the_guard_reaches_worker_processes(guarded):
    worker = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {!r}]))"
    python = [sys.executable, "-c", worker.format("import socket; socket.socket()")]
    assert subprocess.run(python, capture_output=True).returncode == CAUGHT


@pytest.mark.slow
def test_commands_open_no_socket(guarded, program, large_project):
    run_commands((*FILLING, *ASKING), program, large_project)


@pytest.mark.slow
@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
def test_the_hook_opens_no_socket(program, launcher, project, event):
    run_commands(FILLING, program, project)
    python = Path(sys.prefix, "bin", "python3")
    words = [python, "-I", "-S", "-c", GUARD + RUN_LAUNCHER, launcher, "--host", "claude"]
    answer = subprocess.run(words, input=hook_event(project, event), capture_output=True)
    assert answer.returncode == 0, answer.stderr
    assert b"money" in answer.stdout.lower()


@pytest.mark.slow
def test_the_system_sees_no_internet_socket(program, launcher, large_project, tmp_path):
    trace = traced(tmp_path)
    if trace is None:
        pytest.skip("no strace here that may trace; the audit hook's tests ran")
    run_commands((*FILLING, *ASKING), program, large_project, trace)
    hook = [*trace, launcher, "--host", "claude"]
    event = hook_event(large_project, "UserPromptSubmit")
    assert subprocess.run(hook, input=event, capture_output=True).stdout
    assert not internet_sockets(tmp_path)
    subprocess.run([*trace, sys.executable, "-c", "import socket; socket.socket()"], check=True)
    assert internet_sockets(tmp_path), "the trace would have shown one"
