"""The launcher from every place and in every environment a host may start it in."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

FACT = "integer minor units"
ODD_NAMES = [
    "First Last (x86)",
    "Ünï & co",
    "it's",
    "a$HOME b",
    'say "x"',
    "50% `id`",
    "日本",
    "-n",
    "new\nline",
]


@pytest.fixture
def moved(launcher, tmp_path):
    """Make an installation at another place: the launcher, the interpreter, the packages."""

    def make(name, interpreter=True):
        prefix = tmp_path / name
        (prefix / "bin").mkdir(parents=True)
        shutil.copy(launcher, prefix / "bin")
        library = "lib/python{}.{}/site-packages".format(*sys.version_info)
        (prefix / library).parent.mkdir(parents=True)
        (prefix / library).symlink_to(Path(sys.prefix, library))
        shutil.copy(Path(sys.prefix, "pyvenv.cfg"), prefix)
        if interpreter:
            (prefix / "bin/python3").symlink_to(os.path.realpath(sys.executable))
        return prefix / "bin/agentlas-memory-hook"

    return make


@pytest.mark.parametrize("name", ODD_NAMES)
def test_it_runs_from_any_folder(moved, make_project, run_hook, prompt_event, context, name):
    program = moved(name)
    assert FACT in context(run_hook(prompt_event(make_project()), program=program))


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_it_runs_as_a_host_registers_it(
    moved, make_project, run_hook, prompt_event, context, shell
):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = str(moved("First Last (x86)/it's Ünï & co")).replace("'", "'\\''")
    command = [shell, "-c", f"'{program}' --host claude --event UserPromptSubmit"]
    answer = run_hook(
        prompt_event(make_project()), program=[shutil.which(shell)], arguments=command[1:]
    )
    assert FACT in context(answer)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_it_answers_for_any_project(make_project, ask, name):
    assert FACT in ask(make_project(name=name))


LINKS = {
    "absolute": lambda program, folder: os.symlink(program, folder / "one"),
    "relative": lambda program, folder: os.symlink(
        os.path.relpath(program, folder), folder / "one"
    ),
    "a link to a link": lambda program, folder: (
        os.symlink(program, folder / "two"),
        os.symlink("two", folder / "one"),
    ),
}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_it_runs_through_a_link(
    moved, tmp_path, make_project, run_hook, prompt_event, context, link
):
    folder = tmp_path / "some bin"
    folder.mkdir()
    link(moved("runtime"), folder)
    event = prompt_event(make_project())
    assert FACT in context(run_hook(event, program=folder / "one"))
    assert run_hook(event, program=["./one"], cwd=folder) == b""  # told already: it ran


def test_it_runs_through_a_linked_folder(
    moved, tmp_path, make_project, run_hook, prompt_event, context
):
    (tmp_path / "current").symlink_to(moved("runtime").parent.parent)
    program = tmp_path / "current/bin/agentlas-memory-hook"
    assert FACT in context(run_hook(prompt_event(make_project()), program=program))


SWITCHES = """
import posix, sys
root = {root!r}
posix.unlink(root + "/current")
posix.symlink("two", root + "/current")

def main():
    from agentlas_memory.late import NAME
    print(NAME, file=sys.stderr)
    return 0
"""


@pytest.mark.parametrize("target", ["one", "{root}/one"], ids=["relative", "absolute"])
def test_a_run_stays_in_the_version_it_began_in(launcher, tmp_path, monkeypatch, target):
    library = "lib/python{}.{}/site-packages/agentlas_memory".format(*sys.version_info)
    for name in ("one", "two"):
        package = tmp_path / name / library
        package.mkdir(parents=True)
        (package / "hook.py").write_text(SWITCHES.format(root=str(tmp_path)))
        (package / "lean.py").write_text("import posix as system")
        (package / "late.py").write_text(f"NAME = {name!r}")
        (tmp_path / name / "bin").mkdir()
        shutil.copy(launcher, tmp_path / name / "bin")
        (tmp_path / name / "bin/python3").symlink_to(os.path.realpath(sys.executable))
    (tmp_path / "current").symlink_to(target.format(root=tmp_path))
    monkeypatch.setenv("AGENTLAS_MEMORY_HOOK_DEBUG", "1")
    program = tmp_path / "current/bin/agentlas-memory-hook"
    ran = subprocess.run([program], input=b"", capture_output=True)
    assert ran.stderr == b"one\n"


def test_it_runs_as_an_argument_of_the_shell(moved, make_project, run_hook, prompt_event, context):
    program = moved("runtime")
    answer = run_hook(
        prompt_event(make_project()), program=["sh", program.name], cwd=program.parent
    )
    assert FACT in context(answer)


def missing(python):
    pass


def dangling(python):
    python.symlink_to("/nonexistent/python3")


def a_folder(python):
    python.mkdir()


def not_executable(python):
    python.write_text("#!/bin/sh\n")


def without_interpreter(python):
    executable(python, "#!/nonexistent/interpreter\n")


def of_another_machine(python):
    executable(python, "\x7fELF" + "\0" * 60)


def executable(python, text):
    python.write_text(text)
    python.chmod(0o755)


BROKEN = [missing, dangling, a_folder, not_executable, without_interpreter, of_another_machine]


@pytest.mark.parametrize("breaking", BROKEN)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_missing_or_broken_interpreter_is_silent(moved, run_hook, breaking, shell):
    program = moved("runtime", interpreter=False)
    breaking(program.with_name("python3"))
    assert run_hook(b"", program=[shutil.which(shell) or "sh", program]) == b""


@pytest.mark.parametrize(
    "text",
    [
        None,
        "raise ImportError",
        "import nonexistent",
        "def main(:",
        "1/0",
        "\0",
        "raise SystemError",
    ],
)
def test_a_missing_or_half_updated_package_is_silent(moved, run_hook, text):
    program = moved("runtime")
    (packages,) = program.parent.parent.glob("lib/*/site-packages")
    packages.unlink()
    if text is not None:
        (packages / "agentlas_memory").mkdir(parents=True)
        (packages / "agentlas_memory/__init__.py").write_text("")
        (packages / "agentlas_memory/hook.py").write_text(text)
    assert run_hook(b"{}", program=program) == b""


HABITS = {
    "nothing but a home": {},
    "plain C": {"LANG": "C", "LC_ALL": "C"},
    "an unknown locale": {"LC_ALL": "xx_YY.UTF-8"},
    "a Western code page": {"PYTHONIOENCODING": "cp1252", "PYTHONLEGACYWINDOWSSTDIO": "1"},
    "a Korean code page": {"PYTHONIOENCODING": "cp949:strict"},
    "no UTF-8": {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "POSIX"},
    "a wrong python home": {"PYTHONHOME": "/nonexistent"},
    "options": {"PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"},
    "verbose": {"PYTHONVERBOSE": "2", "PYTHONINSPECT": "1", "PYTHONDONTWRITEBYTECODE": ""},
    "Claude's": {"CLAUDE_PROJECT_DIR": "/elsewhere", "CLAUDECODE": "1"},
    "blank": {
        "AGENTLAS_HOME": "",
        "AGENTLAS_MEMORY": "",
        "AGENTLAS_MEMORY_CHILD": "",
        "GROK_HOOK_EVENT": "",
    },
    "other words": {"AGENTLAS_MEMORY": "on", "AGENTLAS_MEMORY_HOOK_DEBUG": "0"},
}


@pytest.mark.parametrize("habits", HABITS.values(), ids=HABITS)
@pytest.mark.parametrize("host", ["claude", "raw"])
def test_the_environment_does_not_matter(
    make_project, environment, run_hook, prompt_event, context, habits, host
):
    fact = "The ledger writes ⟦→ 字 😀 é⟧ between integer minor units."
    event = prompt_event(make_project({"docs/ledger.md": f"# Ledger\n\n{fact}\n"}))
    answer = run_hook(event, host, env=environment | habits)
    assert fact in (context(answer) if host == "claude" else answer.decode("utf-8"))


def test_no_path_is_needed(make_project, environment, run_hook, prompt_event, context):
    del environment["PATH"]
    assert FACT in context(run_hook(prompt_event(make_project())))


SILENCING = {
    "AGENTLAS_MEMORY": "off",
    "AGENTLAS_MEMORY_CHILD": "1",
    "GROK_HOOK_EVENT": "UserPromptSubmit",
}


@pytest.mark.parametrize("name", SILENCING)
def test_a_variable_silences_it_without_a_trace(
    make_project, environment, run_hook, prompt_event, listing, home, name
):
    root = make_project()
    before = listing(home)
    assert run_hook(prompt_event(root), env=environment | {name: SILENCING[name]}) == b""
    assert listing(home) == before


def test_only_a_host_that_others_imitate_knows_them(
    make_project, environment, run_hook, prompt_event
):
    env = environment | {"GROK_HOOK_EVENT": "UserPromptSubmit"}
    assert FACT.encode() in run_hook(prompt_event(make_project()), "raw", env=env)


POISON = "import os; os.write(1, b'poison'); raise SystemExit(3)\n"
NAMES = [
    "json.py",
    "sqlite3.py",
    "_sqlite3.py",
    "posix.py",
    "site.py",
    "sitecustomize.py",
    "usercustomize.py",
    "agentlas_memory/__init__.py",
    "host_adapters/claude/adapter.py",
]


def test_nothing_of_the_project_is_imported(
    make_project, environment, run_hook, prompt_event, context
):
    root = make_project(
        {
            **dict.fromkeys(NAMES, POISON),
            "docs/ledger.md": f"# Ledger\n\nThe ledger settles in {FACT}, as floats lose cents.\n",
        }
    )
    python = {"PATH": str(root), "STARTUP": str(root / "json.py"), "USERBASE": str(root)}
    env = environment | {f"PYTHON{name}": value for name, value in python.items()}
    assert FACT in context(run_hook(prompt_event(root), env=env, cwd=root))


def test_without_a_home_the_account_has_one(
    make_project, environment, run_hook, prompt_event, context, data, tmp_path
):
    environment["AGENTLAS_HOME"] = str(data)
    del environment["HOME"]
    root = make_project()
    assert FACT in context(run_hook(prompt_event(root), cwd=root))
    assert not list(tmp_path.rglob("~"))


@pytest.mark.parametrize("value", ["relative", "./x", "~"])
def test_a_relative_home_is_none(make_project, environment, run_hook, prompt_event, listing, value):
    root = make_project()
    before = listing(root)
    assert run_hook(prompt_event(root), env=environment | {"AGENTLAS_HOME": value}, cwd=root) == b""
    assert listing(root) == before


def test_our_own_folder_can_be_elsewhere(
    make_project, environment, run_hook, prompt_event, context, data, tmp_path, listing, home
):
    root = make_project()
    data.rename(tmp_path / "elsewhere")
    before = listing(home)
    env = environment | {"AGENTLAS_HOME": str(tmp_path / "elsewhere")}
    assert FACT in context(run_hook(prompt_event(root), env=env))
    assert listing(home) == before


def test_failures_are_shown_on_demand_only(make_project, environment, launcher, prompt_event):
    root = make_project()
    (root / ".agentlas/ontology-runtime.sqlite").write_text("x")
    for value, shown in (("1", True), ("0", False)):
        done = subprocess.run(
            [launcher, "--host", "claude"],
            input=str(prompt_event(root)).replace("'", '"').encode(),
            env=environment | {"AGENTLAS_MEMORY_HOOK_DEBUG": value},
            capture_output=True,
        )
        assert (done.returncode, done.stdout, b"StoreUnusable" in done.stderr) == (0, b"", shown)


def test_the_launcher_is_a_script_that_everyone_may_run(launcher):
    assert launcher.read_text().startswith("#!/bin/sh\n")
    assert launcher.stat().st_mode & stat.S_IXOTH


def test_a_folder_as_stdin_is_no_error(launcher, tmp_path):
    handle = os.open(tmp_path, os.O_RDONLY)
    done = subprocess.run([launcher, "--host", "claude"], stdin=handle, capture_output=True)
    os.close(handle)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
