"""The one marketplace folder of Claude Code and Codex, and what the two hosts' commands do."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agentlas_memory.host_adapters.claude.install_spec import SPEC as CLAUDE
from agentlas_memory.host_adapters.codex.install_spec import SPEC as CODEX
from agentlas_memory.installer.marketplace import marketplace_files, marketplace_surfaces
from agentlas_memory.installer.surfaces import Detected, HostCommands, Place

PLUGIN = "plugins/agentlas-memory"
EVENTS = ["SessionStart", "UserPromptSubmit"]
FOLDERS = ["plain", "First Last (x86)", "Ünï & co", "it's", "$HOME `x` %PATH%", 'a "b"; exit 2']
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "fish", "tcsh") if shutil.which(shell)]


@pytest.fixture
def place(home):
    return Place(home, home / ".agentlas", {"PATH": os.defpath})


def handlers(place, name):
    document = json.loads(marketplace_files(place)[f"{PLUGIN}/hooks/{name}.json"])
    return {event: groups[0]["hooks"][0] for event, groups in document["hooks"].items()}


def test_every_file_is_strict_json_without_a_hole(place):
    for text in marketplace_files(place).values():
        json.loads(text)
        assert "{hook" not in text
        assert text.isascii()


def test_both_hosts_find_the_same_plugin_in_it(place):
    files = marketplace_files(place)
    claude = json.loads(files[".claude-plugin/marketplace.json"])
    codex = json.loads(files[".agents/plugins/marketplace.json"])
    assert claude["name"] == codex["name"]
    assert claude["plugins"][0]["source"] == codex["plugins"][0]["source"]["path"] == f"./{PLUGIN}"


def test_codex_reads_its_own_hooks_file(place):
    manifest = json.loads(marketplace_files(place)[f"{PLUGIN}/.codex-plugin/plugin.json"])
    assert f"{PLUGIN}/{manifest['hooks']}".replace("/./", "/") in marketplace_files(place)


# Whoever changes these bytes silences the hook for everybody who trusts them in Codex: raise the
# contract's version in both `plugin.json`, say it in CHANGELOG.md, and only then this digest.
def test_the_bytes_change_only_with_the_contract():
    place = Place(Path("/home/user"), Path("/home/user/.agentlas"), {})
    texts = json.dumps(sorted(marketplace_files(place).items())).encode()
    assert hashlib.sha256(texts).hexdigest()[:16] == "156d9f9322fc018b"


@pytest.mark.parametrize("name", ["hooks", "codex"])
def test_two_events_with_a_bounded_wait(place, name):
    assert list(handlers(place, name)) == EVENTS
    for event, handler in handlers(place, name).items():
        assert handler["timeout"] == 5
        host = "claude" if name == "hooks" else "codex"
        assert f" --host {host} --event {event};" in handler["command"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_command_runs_the_hook_whatever_its_folder_is_called(tmp_path, shell, folder):
    place = Place(tmp_path, tmp_path / folder, {})
    place.hook.parent.mkdir(parents=True)
    place.hook.write_text('#!/bin/sh\ncat\necho "$@"\nexit 2\n')
    place.hook.chmod(0o755)
    for name, host in (("hooks", "claude"), ("codex", "codex")):
        command = handlers(place, name)["UserPromptSubmit"]["command"]
        done = subprocess.run([shell, "-c", command], input=b"event ", capture_output=True)
        assert done.stdout == f"event --host {host} --event UserPromptSubmit\n".encode()
        assert done.returncode == 0  # whatever the hook ends with: a host takes 2 for a veto


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("there", ["nothing", "not executable"])
def test_a_missing_hook_is_silent(place, shell, there):
    if there == "not executable":
        place.hook.parent.mkdir(parents=True)
        place.hook.touch()
    for name in ("hooks", "codex"):
        command = handlers(place, name)["SessionStart"]["command"]
        done = subprocess.run([shell, "-c", command], input=b"{}", capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_fake_bash_and_a_broken_python_on_the_path_do_not_matter(place, tmp_path):
    for name in ("bash", "python3", "python", "env"):
        (tmp_path / name).write_text("#!/bin/sh\necho broken\nexit 49\n")
        (tmp_path / name).chmod(0o755)
    place.hook.parent.mkdir(parents=True)
    place.hook.write_text("#!/bin/sh\necho ran\n")
    place.hook.chmod(0o755)
    command = handlers(place, "hooks")["SessionStart"]["command"]
    done = subprocess.run(
        ["/bin/sh", "-c", command], env={"PATH": str(tmp_path)}, capture_output=True
    )
    assert done.stdout == b"ran\n"


def test_windows_forms_use_forward_slashes_and_power_shell_s_quotes(home):
    handler = handlers(Place(home, Path("C:/Users/O'Neil/.agentlas"), {}), "codex")["SessionStart"]
    path = "'C:/Users/O''Neil/.agentlas/runtime/current/bin/agentlas-memory-hook.cmd'"
    assert handler["commandWindows"] == (
        f"if (Test-Path -LiteralPath {path}) "
        f"{{ & {path} --host codex --event SessionStart }}; exit 0"
    )


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("user", ["me", "First Last (x86)", "Ünï & co/100%", "O'Neil"])
def test_a_windows_path_survives_git_bash(tmp_path, shell, user):
    """Here `C:` is a folder, and the shell stands where it is."""
    place = Place(tmp_path, Path("C:/Users", user, ".agentlas"), {})
    hook = tmp_path / place.hook
    hook.parent.mkdir(parents=True)
    hook.write_text('#!/bin/sh\necho "$@"\n')
    hook.chmod(0o755)
    command = handlers(place, "hooks")["UserPromptSubmit"]["command"]
    assert "\\" not in command.replace("'\"'\"'", "")
    done = subprocess.run([shell, "-c", command], cwd=tmp_path, capture_output=True)
    assert done.stdout == b"--host claude --event UserPromptSubmit\n"


def test_no_command_names_a_shell(place):
    """On Windows the first `bash` on the PATH may be another system's."""
    for name in ("hooks", "codex"):
        for handler in handlers(place, name).values():
            for field in ("command", "commandWindows"):
                words = re.findall(r"[a-z]+", handler.get(field, "").replace(str(place.hook), ""))
                assert not {"bash", "sh", "env", "wsl", "powershell", "pwsh"} & {*words}


def test_either_host_gets_the_whole_marketplace(place):
    for spec in (CLAUDE, CODEX):
        *files, commands = spec.surfaces(place)
        assert files == marketplace_surfaces(place)
        assert {str(file.path.relative_to(place.marketplace)) for file in files} == set(
            marketplace_files(place)
        )
        assert isinstance(commands, HostCommands)


@pytest.mark.parametrize(
    ("spec", "variable"), [(CLAUDE, "CLAUDE_CONFIG_DIR"), (CODEX, "CODEX_HOME")]
)
def test_the_host_s_own_variable_names_its_folder(place, spec, variable, tmp_path):
    default = place.home / spec.folder
    for value, folder in (("", default), ("  ", default), (str(tmp_path), tmp_path)):
        there = Place(place.home, place.data_home, {variable: value})
        assert spec.surfaces(there)[-1].homes[0] == folder


@pytest.mark.parametrize("spec", [CLAUDE, CODEX], ids=["claude", "codex"])
def test_a_host_is_here_if_its_program_runs(place, spec, tmp_path):
    program = tmp_path / spec.name
    program.touch(mode=0o755)
    here = Place(place.home, place.data_home, {"PATH": str(tmp_path)})
    said = {"claude": "2.1.197 (Claude Code)\n", "codex": "codex-cli 0.171.0\n"}[spec.name]
    assert spec.detect(here, lambda _: said) == Detected(str(program), spec.verified)
    assert spec.detect(here, lambda _: None) is None
    assert spec.detect(place, lambda _: said) is None


@pytest.mark.parametrize("spec", [CLAUDE, CODEX], ids=["claude", "codex"])
def test_a_folder_without_a_program_is_no_host(place, spec):
    (place.home / spec.folder).mkdir()
    assert spec.detect(place, lambda _: None) is None
