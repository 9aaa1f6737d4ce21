"""What is registered with hosts, run as they would: from any folder, and in any shell."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentlas_memory.commands.sample import sample_project
from agentlas_memory.installer.checks.runs import commands_of
from agentlas_memory.installer.hosts import HOSTS, specs_of
from agentlas_memory.installer.ledger import read_ledger
from agentlas_memory.installer.surfaces import Place

SHELLS = {
    name: [shutil.which(name), *more, "-c"]
    for name, more in {"sh": [], "bash": [], "dash": [], "busybox": ["sh"], "zsh": []}.items()
    if shutil.which(name)
}
FOLDERS = [
    "plain",
    "First Last (x86)/Ünï & co",
    "it's",
    "$HOME ${B} $(id)",
    "100% %PATH%",
    "a;b|c>d<e",
    "`id` #x",
    'say "x"',
    "back\\slash",
    "~ * ? [a] {b}",
    "日本 🙂",
    "-n",
    "new\nline",
]


@pytest.fixture
def commands(monkeypatch, tmp_path, fake_host, am):
    """Install into all five hosts of a home below a folder, and return what each would run."""

    def install(name="plain"):
        home = tmp_path / name / "home"
        for folder in (".grok", ".config/opencode", ".gemini/config"):
            (home / folder).mkdir(parents=True)
        monkeypatch.setenv("HOME", str(home))
        for host in ("claude", "codex"):
            if not (home / f".{host}").exists():
                fake_host(host)
        outcome = am("install")
        assert outcome.code == 0, outcome.err
        ledger = read_ledger(home / ".agentlas")
        return {one.name: commands_of(one, ledger.records(one.name)) for one in specs_of()}

    return install


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A trusted project that the hook knows something of."""
    with sample_project() as made:
        yield made


@pytest.fixture
def heard(sample):
    """Run a command in a shell on that project, and return what would get before the model."""

    def run(host, command, shell=SHELLS["sh"], session="one", path=os.defpath, **variables):
        [spec] = specs_of([host])
        shutil.rmtree(sample.data_home / "runtime-memory-context", ignore_errors=True)
        if session == "one":
            shutil.rmtree(sample.data_home / "state/delivery", ignore_errors=True)
        done = subprocess.run(
            [*shell, command],
            input=spec.start(command, sample.project).event,
            capture_output=True,
            env={"HOME": str(sample.home), "PATH": path} | variables,
            cwd=sample.project,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return spec.heard(done.stdout, sample.data_home)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_every_host_s_command_runs_from_any_folder_in_any_shell(commands, heard, sample, name):
    for host, registered in commands(name).items():
        assert registered, host
        for command in registered:
            for shell in SHELLS.values():
                assert sample.word in heard(host, command, shell), (host, command)


@pytest.mark.parametrize("folder", ["First Last (x86)/Ünï & co", "it's $HOME `id`; 100%"])
def test_every_host_s_command_runs_from_a_folder_with_such_a_name(commands, heard, sample, folder):
    for host, registered in commands(folder).items():
        for command in registered:
            assert sample.word in heard(host, command), (host, command)


FAKES = {
    "prints an error": "echo 'bash: not found' >&2; echo oops; exit 1",
    "strips words": 'shift; exec /bin/sh -c "$(echo "$*" | tr -d "\\$")"',
    "is a stub": "echo Python was not found; exit 49",
}


@pytest.mark.parametrize("fake", FAKES.values(), ids=FAKES)
def test_what_comes_first_on_the_path_does_not_matter(commands, heard, sample, tmp_path, fake):
    folder = tmp_path / "fakes"
    folder.mkdir()
    for name in ("bash", "python3", "python", "env", "agentlas-memory-hook"):
        (folder / name).write_text(f"#!/bin/sh\n{fake}\n")
        (folder / name).chmod(0o755)
    for host, registered in commands().items():
        for command in registered:
            assert sample.word in heard(host, command, path=f"{folder}:{os.defpath}")


@pytest.mark.parametrize("poor", ["/usr/bin:/bin", "", "/nonexistent"])
def test_a_poor_path_is_enough(commands, heard, sample, poor):
    for host, registered in commands().items():
        for command in registered:
            assert sample.word in heard(host, command, path=poor)


def test_no_command_asks_the_path_for_anything(commands):
    """Words of the shell's own, and the hook by its absolute path."""
    for host, registered in commands().items():
        for command in registered:
            words = shlex.split(command)
            programs = {word for word in words if "/" in word or "bash" in word}
            assert programs == {one for one in programs if one.endswith("/agentlas-memory-hook")}
            assert all(Path(one).is_absolute() for one in programs), host


def test_every_host_waits_between_two_and_fifteen_seconds(home):
    """In its own unit: seconds, but for OpenCode's plugin, whose timers count milliseconds."""
    place = Place(home, home / ".agentlas", {})
    found = {}
    for spec in specs_of():
        texts = [getattr(one, "text", "") for one in spec.surfaces(place)]
        texts += [json.dumps(getattr(one, "value", None)) for one in spec.surfaces(place)]
        found[spec.name] = {*numbers(texts, '"timeout": '), *numbers(texts, "LIMIT_MS = ")}
    seconds = {"claude": {5}, "codex": {5}, "antigravity": {10}, "opencode": {12000}, "grok": {5}}
    assert found == seconds


def numbers(texts, before):
    return {
        int(part.split("\n")[0].split(" ")[0].strip(",}]").replace("_", ""))
        for text in texts
        for part in text.split(before)[1:]
    }


def test_all_starts_of_a_session_are_registered(home):
    """Without a matcher every source is, a new one of a later version too."""
    place = Place(home, home / ".agentlas", {})
    for spec in specs_of(["claude", "codex", "grok"]):
        for surface in spec.surfaces(place):
            text = getattr(surface, "text", "")
            if "SessionStart" in text and '"command":' in text:
                [group] = json.loads(text)["hooks"]["SessionStart"]
                assert set(group) == {"hooks"}


@pytest.fixture
def versions(commands, home, tmp_path):
    """The commands as they were registered, and a way to let another version serve."""

    def switch(prefix):
        current = Path(os.environ["HOME"], ".agentlas/runtime/current")
        current.unlink(missing_ok=True)
        if prefix:
            current.symlink_to(prefix)

    return commands(), switch


def test_a_command_from_before_an_update_runs_the_new_version(versions, heard, sample, tmp_path):
    registered, switch = versions
    newer = tmp_path / "0.2.0"
    shutil.copytree(Path(sys.prefix) / "bin", newer / "bin", symlinks=True)
    (newer / "lib").symlink_to(Path(sys.prefix) / "lib")
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", newer)
    switch(newer)
    for host, commands in registered.items():
        for command in commands:
            assert sample.word in heard(host, command)


def test_a_command_whose_version_is_gone_is_silent(versions, heard, sample, tmp_path):
    registered, switch = versions
    for prefix in (None, tmp_path / "gone"):
        switch(prefix)
        for host in ("claude", "codex", "antigravity", "grok"):
            for command in registered[host]:
                assert heard(host, command) == ""


def test_an_interpreter_that_is_gone_silences_is_named_and_is_repaired(
    versions, heard, sample, tmp_path, am
):
    registered, switch = versions
    gone = tmp_path / "venv"
    (gone / "bin").mkdir(parents=True)
    shutil.copy(Path(sys.prefix) / "bin/agentlas-memory-hook", gone / "bin")
    (gone / "bin/python3").symlink_to(tmp_path / "pyenv/3.11/bin/python3")
    switch(gone)
    for host, commands in registered.items():
        assert [heard(host, command) for command in commands] == [""] * len(commands)
    [check] = [one for one in am("doctor", "--json").json["checks"] if one["id"] == "interpreter"]
    assert f"{tmp_path}/pyenv/3.11/bin/python3 is missing" in check["detail"]
    assert am("install").code == 0
    [command] = registered["opencode"]
    assert sample.word in heard("opencode", command)


@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_of_a_hook_that_is_registered_twice_one_run_answers(commands, heard, sample, host, event):
    """Plugin and settings, or two versions in a plugin cache: all lead to one program."""
    [command] = [one for one in commands()[host] if f"--event {event}" in one]
    by_hand = shlex.join([shlex.split(command)[2], "--host", host, "--event", event])
    shutil.rmtree(sample.data_home / "state", ignore_errors=True)
    told = [heard(host, one, session="same") for one in (command, by_hand, command)]
    assert [sample.word in answer for answer in told] == [True, False, False]
    assert told[1:] == ["", ""]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_two_runs_at_the_same_moment_are_answered_once(commands, heard, sample, host):
    [command] = [one for one in commands()[host] if "UserPromptSubmit" in one]
    for _ in range(5):
        shutil.rmtree(sample.data_home / "state", ignore_errors=True)
        with ThreadPoolExecutor(2) as pool:
            told = list(pool.map(lambda one: heard(host, one, session="same"), [command] * 2))
        assert sorted(sample.word in answer for answer in told) == [False, True]


@pytest.mark.parametrize("host", HOSTS)
def test_one_process_is_started_beside_the_host_s_own_shell(commands, sample, host):
    """No shim: the hook is the shell's child, or has taken its place."""
    for command in commands()[host]:
        hook = Path(os.environ["HOME"], ".agentlas/runtime/current/bin/agentlas-memory-hook")
        stand_in = hook.parents[2] / "stand-in/bin/agentlas-memory-hook"
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text("#!/bin/sh\necho $$ $PPID\n")
        stand_in.chmod(0o755)
        hook.parents[1].unlink()
        hook.parents[1].symlink_to(stand_in.parents[1])
        [spec] = specs_of([host])
        argv = spec.start(command, sample.project).argv
        with subprocess.Popen(argv, stdin=-1, stdout=-1) as process:
            own, parent = process.communicate(b"{}")[0].split()[:2]
        assert process.pid in (int(own), int(parent))


def test_a_host_that_we_started_ourselves_is_told_nothing(commands, heard):
    """Its prompts are a tool's own, and would call us again without end."""
    for host, registered in commands().items():
        for command in registered:
            assert heard(host, command, AGENTLAS_MEMORY_CHILD="1") == ""


def test_hosts_that_we_start_know_that_they_are_our_children(fake_host, path, am):
    state = fake_host("claude")
    program = path / "claude"
    text = program.read_text().replace('echo "$*"', 'echo "child=$AGENTLAS_MEMORY_CHILD $*"')
    program.write_text(text)
    for words in (["install"], ["doctor"], ["uninstall"]):
        am(*words)
    calls = (state / "calls").read_text().splitlines()
    assert len(calls) > 5
    assert all(line.startswith("child=1 ") for line in calls)
