"""The launchers for Windows: the sh one as Git Bash would run it, the .cmd one as text.

The .cmd was run by hand under Wine's cmd; Windows itself was not at hand.
"""

import ast
import re
import shutil
import subprocess
import sys

import pytest

from agentlas_memory.installer.launchers import LAUNCHERS, POINTER, put_launchers

SHELLS = [shell for shell in ("sh", "bash", "dash", "busybox") if shutil.which(shell)]
ECHO = '#!/bin/sh\nprintf "%s\\n" "${0##*/}" "$@"\ncat\nexit 2\n'
NAMES = [
    "plain",
    "First Last (x86)/Ünï & co/100%",
    "it's $HOME `x` ; a^b",
    "%PATH% !OS!",
    "-n",
    "日本",
]


class Runtime:
    """A runtime folder as it is on Windows, with scripts in the place of its interpreters."""

    def __init__(self, root, launcher):
        self.root, self.current = root, root / "current"
        self.scripts = root / "0.1.0~2/Scripts"
        self.base = root.parent / "Program Files (x86)/Python 311"
        for folder in (self.current, self.scripts, self.base):
            folder.mkdir(parents=True)
        for name in LAUNCHERS:
            shutil.copy(launcher.with_name(name), self.scripts)
        put_launchers(self.scripts, self.current)
        (self.current / POINTER).write_bytes(b"0.1.0~2\r\n")
        self.settings = self.scripts.parent / "pyvenv.cfg"
        self.settings.write_bytes(f"home = {self.base}\r\nversion = 3.11.7\r\n".encode())
        for folder in (self.base, self.scripts):
            (folder / "python.exe").write_text(ECHO)
            (folder / "python.exe").chmod(0o755)

    def run(self, shell="sh"):
        """Return what the sh launcher prints for an event; it always ends with 0 and no error."""
        words = [shell, "sh"] if shell == "busybox" else [shell]
        command = [*words, str(self.current / "bin/agentlas-memory-hook"), "--host", "claude"]
        done = subprocess.run(command, input=b"event", capture_output=True)
        assert (done.returncode, done.stderr) in ((0, b""), (2, b""))
        return done.stdout.decode().splitlines()

    def answer(self):
        stub = self.current / "bin/../../0.1.0~2/Scripts/agentlas-memory-hook"
        return ["python.exe", "-I", "-S", str(stub), "--host", "claude", "event"]


@pytest.fixture
def runtime(tmp_path, launcher):
    return lambda name="plain": Runtime(tmp_path / name / ".agentlas/runtime", launcher)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", NAMES)
def test_git_bash_finds_the_version_that_serves_and_its_interpreter(runtime, name, shell):
    one = runtime(name)
    assert one.run(shell) == one.answer()
    (one.base / "python.exe").unlink()  # the second process of a virtual environment
    assert one.run(shell) == one.answer()


def test_switching_is_replacing_one_file(runtime):
    one = runtime()
    shutil.copytree(one.scripts.parent, one.root / "0.2.0")
    (one.current / POINTER).write_bytes(b"0.2.0\n")
    assert str(one.current / "bin/../../0.2.0/Scripts/agentlas-memory-hook") in one.run()


BREAKING = {
    "no pointer": lambda one: (one.current / POINTER).unlink(),
    "a blank pointer": lambda one: (one.current / POINTER).write_bytes(b""),
    "another version": lambda one: (one.current / POINTER).write_bytes(b"9.9.9\r\n"),
    "no settings, no interpreter": lambda one: (
        one.settings.unlink(),
        (one.scripts / "python.exe").unlink(),
    ),
    "no interpreter": lambda one: [
        (folder / "python.exe").unlink() for folder in (one.base, one.scripts)
    ],
    "no stub": lambda one: (one.scripts / "agentlas-memory-hook").unlink(),
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("breaking", BREAKING.values(), ids=BREAKING)
def test_whatever_is_missing_git_bash_is_told_nothing(runtime, breaking, shell):
    one = runtime()
    breaking(one)
    assert one.run(shell) == []


def test_launchers_are_written_once(runtime):
    one = runtime()
    assert put_launchers(one.scripts, one.current) == []
    (one.current / "bin/agentlas-memory-hook.cmd").write_text("older")
    assert put_launchers(one.scripts, one.current) == [one.current / "bin/agentlas-memory-hook.cmd"]
    assert {file.name for file in (one.current / "bin").iterdir()} == set(LAUNCHERS)


@pytest.fixture
def lines(launcher):
    text = launcher.with_name("agentlas-memory-hook.cmd").read_bytes().decode("ascii")
    assert text.count("\r\n") == text.count("\n")
    return [line for line in text.split("\r\n") if line and not line.startswith("@rem")]


def test_the_cmd_launcher_shows_no_line_and_ends_with_0(lines):
    assert all(line.startswith("@") for line in lines)
    assert lines[0] == "@setlocal EnableExtensions DisableDelayedExpansion"  # a `!` is a `!`
    assert lines[-1] == "@exit /b 0"
    assert set(re.findall(r"exit.*", "\n".join(lines))) == {"exit /b 0"}


def test_the_cmd_launcher_reads_no_path_twice_and_starts_one_program(lines):
    for line in lines:  # `call` expands anew; a label is looked for in the file, byte by byte
        assert not re.search(r"\b(call|goto|start|cmd|powershell|chcp)\b", line)
    [run] = [line for line in lines if "%*" in line]
    assert run == '@"%python%" -I -S "%runtime%\\Scripts\\agentlas-memory-hook" %* %errors%'


def test_the_cmd_launcher_keeps_every_path_in_quotes(lines):
    """Outside of quotes a `)`, `&` or `^` of a folder's name would be the shell's."""
    for line in lines:
        outside = "".join(line.split('"')[::2])
        assert not re.search(r"%~|%(runtime|base|python|id)%|%%b", outside), line


@pytest.mark.parametrize("user", ["me", "First Last (x86)", "Ünï & co\\100%"])
def test_python_finds_the_packages_of_a_version_on_windows(launcher, user):
    runtime = rf"C:\Users\{user}\.agentlas\runtime\current\bin\..\..\0.1.0~2"
    stub = rf"{runtime}\Scripts\{launcher.name}"
    code = f"""
import sys
sys.platform = "win32"
try:
    exec(open({str(launcher)!r}).read(), {{"__file__": {stub!r}}})
except SystemExit as end:
    print(end.code, [path for path in sys.path if "Users" in path])
"""
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    [path] = ast.literal_eval(done.stdout.removeprefix("0 "))
    user = user.replace("\\", "/")
    assert path.endswith(f"C:/Users/{user}/.agentlas/runtime/0.1.0~2/Lib/site-packages")
