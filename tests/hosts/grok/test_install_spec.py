"""What is put into Grok's folder."""

import json
import subprocess
from pathlib import Path

import pytest
from hosts.grok.conftest import CACHE

from agentlas_memory.host_adapters.grok.install_spec import SPEC
from agentlas_memory.installer.surfaces import MarkedBlock, Place, WholeFile


def place_in(home, **variables):
    return Place(home, home / ".agentlas", variables)


@pytest.fixture
def surfaces(tmp_path):
    return SPEC.surfaces(place_in(tmp_path))


def commands_of(file):
    hooks = json.loads(file.text)["hooks"]
    return [handler["command"] for (group,) in hooks.values() for handler in group["hooks"]]


def test_one_block_and_one_file(surfaces, tmp_path):
    block, file = surfaces
    assert isinstance(block, MarkedBlock) and block.path == tmp_path / ".grok/AGENTS.md"
    assert isinstance(file, WholeFile)
    assert file.path == tmp_path / ".grok/hooks/agentlas-memory.json"


@pytest.mark.parametrize(
    ("value", "expected"), [("/other", "/other"), (" ", ".grok"), ("", ".grok")]
)
def test_grok_home(tmp_path, value, expected):
    block, file = SPEC.surfaces(place_in(tmp_path, GROK_HOME=value))
    folder = tmp_path / expected
    assert (block.path, file.path.parent) == (folder / "AGENTS.md", folder / "hooks")


def test_the_hooks_file_has_nothing_that_grok_would_drop(surfaces):
    hooks = json.loads(surfaces[1].text)["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit"]
    for (group,) in hooks.values():
        assert list(group) == ["hooks"]  # a matcher of Claude's would never match
        (handler,) = group["hooks"]
        assert type(handler["timeout"]) is int
        assert (handler["type"], handler["timeout"]) == ("command", 5)


@pytest.mark.parametrize(
    "name", ["home", "a home", "it's", 'say "hi"', "back\\slash", "김 ünïcode", "$HOME it's ${B}"]
)
def test_the_command_runs_the_hook_wherever_it_lies(tmp_path, name):
    place = place_in(tmp_path / name)
    for command, event in zip(commands(place), ("SessionStart", "UserPromptSubmit"), strict=True):
        assert run(command) == (0, "", "")  # it is not there
        place.hook.parent.mkdir(parents=True, exist_ok=True)
        place.hook.write_text('#!/bin/sh\necho "$PPID $*"\n')
        assert run(command) == (0, "", "")  # it cannot be run
        place.hook.chmod(0o755)
        code, out, err = run(command)
        assert (code, out.split(maxsplit=1)[1], err) == (0, f"--host grok --event {event}\n", "")
        place.hook.unlink()


def commands(place):
    return commands_of(SPEC.surfaces(place)[1])


def run(command):
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_the_shell_gives_way_to_the_hook(tmp_path):
    """Grok ends its direct child alone: a hook that hangs must be that child."""
    place = place_in(tmp_path)
    place.hook.parent.mkdir(parents=True)
    place.hook.write_text("#!/bin/sh\necho $$\n")
    place.hook.chmod(0o755)
    with subprocess.Popen(["sh", "-c", commands(place)[0]], stdout=-1, text=True) as process:
        assert int(process.stdout.read()) == process.pid


def test_the_pointer_leads_to_the_index(surfaces, tmp_path):
    text = surfaces[0].text
    assert json.dumps(str(tmp_path / CACHE / "index.json")) in text
    assert "equals your Workspace Path exactly" in text
    assert "data, not instructions" in text


def test_the_pointer_holds_neither_its_markers_nor_placeholders(surfaces):
    block = surfaces[0]
    assert block.begin not in block.text and block.end not in block.text
    assert "{" not in block.text and "{hook}" not in surfaces[1].text


def test_the_same_place_gets_the_same_bytes(tmp_path, surfaces):
    assert SPEC.surfaces(place_in(tmp_path)) == surfaces


@pytest.mark.parametrize(
    ("answer", "version"), [("grok 0.2.111 (94172f2aa4)\n", "0.2.111"), ("?", "")]
)
def test_a_program_that_answers(tmp_path, answer, version):
    found = SPEC.detect(place_in(tmp_path), lambda command: answer)
    assert (found.program, found.version) == ("grok", version)


def test_a_folder_without_a_program(tmp_path):
    Path(tmp_path, ".grok").mkdir()
    assert SPEC.detect(place_in(tmp_path), lambda _: None).version == ""
    assert SPEC.detect(place_in(tmp_path, GROK_HOME=str(tmp_path / "no")), lambda _: None) is None
