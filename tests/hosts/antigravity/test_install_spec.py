"""Our entry in Antigravity's hooks file, and the command in it as a shell runs it."""

import json
import os
import subprocess
from pathlib import Path, PureWindowsPath

import pytest

from agentlas_memory.host_adapters.antigravity.install_spec import SPEC, render_entry
from agentlas_memory.installer.formats.json_entry import put_entry, remove_entry
from agentlas_memory.installer.surfaces import Detected, JsonEntry, Place

HOOK = "runtime/current/bin/agentlas-memory-hook"


@pytest.fixture
def place(home):
    return Place(home, home / ".agentlas", {})


def command_of(hook, *, windows=False):
    key, value = render_entry(hook, windows=windows)
    (handler,) = value["PreInvocation"]
    assert key == "agentlas-memory"
    assert set(value) == {"PreInvocation"}
    assert (handler.pop("type"), handler.pop("timeout")) == ("command", 10)
    assert set(handler) == {"command"}
    return handler["command"]


def shell(command, event=b"{}"):
    """Run a command as the host does: `sh -c`, the event on stdin."""
    env = {"PATH": os.defpath}
    done = subprocess.run(["sh", "-c", command], input=event, capture_output=True, env=env)
    return done.stdout, done.stderr, done.returncode


def test_one_entry_in_the_user_s_file_is_ours(place):
    (surface,) = SPEC.surfaces(place)
    assert isinstance(surface, JsonEntry)
    assert surface.path == place.home / ".gemini/config/hooks.json"
    assert surface.key == "agentlas-memory"
    assert str(place.hook) in json.dumps(surface.value)


def test_the_entry_goes_into_a_file_and_out_again(place):
    (surface,) = SPEC.surfaces(place)
    text = '{\n  "other": {"Stop": [{"command": "true"}]}\n}\n'
    put = put_entry(text, surface.key, surface.value)
    assert list(json.loads(put)) == ["other", "agentlas-memory"]
    assert remove_entry(put, surface.key) == text


@pytest.mark.parametrize("name", ["plain", "with space", "it's", 'a"b', "$HOME `x` \\ é;&"])
def test_the_command_runs_from_any_folder(tmp_path, name):
    hook = tmp_path / name / HOOK
    hook.parent.mkdir(parents=True)
    hook.write_text('#!/bin/sh\necho "$@"\ncat\n')
    hook.chmod(0o755)
    told = b"--host antigravity --event PreInvocation\nevent"
    assert shell(command_of(hook), b"event") == (told, b"", 0)


@pytest.mark.parametrize("name", ["plain", "it's with space"])
def test_a_hook_that_is_not_there_has_no_news(tmp_path, name):
    assert shell(command_of(tmp_path / name / HOOK)) == (b"{}\n", b"", 0)


def test_a_hook_that_may_not_be_run_has_no_news(tmp_path):
    hook = tmp_path / "hook"
    hook.touch(0o644)
    assert shell(command_of(hook)) == (b"{}\n", b"", 0)


WINDOWS_PATHS = {
    # Without quotes, which a host may hand on as part of the name.
    r"C:\Users\me": r"C:\Users\me\.agentlas\runtime\current\bin\agentlas-memory-hook.cmd",
    r"C:\Users\A B": '"C:/Users/A B/.agentlas/runtime/current/bin/agentlas-memory-hook.cmd"',
    r"D:\Ünï & co (x86)\100%": (
        '"D:/Ünï & co (x86)/100%/.agentlas/runtime/current/bin/agentlas-memory-hook.cmd"'
    ),
}


@pytest.mark.parametrize(("home", "path"), WINDOWS_PATHS.items(), ids=WINDOWS_PATHS)
def test_on_windows_the_command_is_cmd_s(home, path):
    hook = PureWindowsPath(home, ".agentlas", HOOK)
    assert command_of(hook, windows=True) == (
        f"if exist {path} ({path} --host antigravity --event PreInvocation) else (echo {{}})"
    )


@pytest.mark.parametrize(
    ("answer", "version"),
    [("1.2.7\n", "1.2.7"), ("agy version 1.5.14 (abc)\n", "1.5.14"), ("", ""), ("dev", "")],
)
def test_its_program_says_that_it_is_here(place, answer, version):
    asked = []
    assert SPEC.detect(place, lambda words: asked.append(words) or answer) == Detected(
        "agy", version
    )
    assert asked == [["agy", "--version"]]


@pytest.mark.parametrize("folder", ["config", "antigravity", "antigravity-cli", "antigravity-ide"])
def test_a_folder_of_its_says_that_it_is_here(place, folder):
    (place.home / ".gemini" / folder).mkdir(parents=True)
    assert SPEC.detect(place, lambda words: None) == Detected("", "")


@pytest.mark.parametrize("path", [".gemini/settings.json", ".gemini/antigravity", ".gemini/config"])
def test_gemini_s_own_files_do_not(place, path):
    file = place.home / path
    file.parent.mkdir(parents=True)
    file.touch()
    assert SPEC.detect(place, lambda words: None) is None


def test_the_templates_are_in_the_package():
    folder = Path(render_entry.__globals__["__file__"]).parent / "payload"
    assert {file.name for file in folder.iterdir()} == {"hooks.json", "hooks.windows.json"}
