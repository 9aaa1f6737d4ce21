"""OpenCode's adapter: what the plugin sends becomes an event, and the capsule is the answer."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlas_memory.events import PROMPT
from agentlas_memory.host_adapters.opencode import adapter
from agentlas_memory.host_adapters.opencode.install_spec import SPEC, plugin_text
from agentlas_memory.installer.surfaces import Detected, Place

TEXT = st.text('aü漢🦊 <>"\\\n\0')
FIXTURES = Path(__file__).with_name("fixtures")


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def parse(payload, event="chat.message"):
    return adapter.parse(payload, event, {})


@pytest.mark.parametrize(
    ("name", "prompt", "subagent"),
    [
        ("typed", "why integer minor units in the ledger?", False),
        ("run", 'why "minor" units in the ledger?', False),
        ("subagent", "look up the ledger's units", True),
    ],
)
def test_what_the_plugin_sends_is_a_prompt(name, prompt, subagent):
    event = parse(fixture(name))
    assert (event.kind, event.name, event.cwd) == (PROMPT, "chat.message", "/home/dev/project")
    assert (event.prompt, event.subagent) == (prompt, subagent)
    assert event.session.startswith("ses_")


@pytest.mark.parametrize("prompt", ['"', '""', '"a', 'a"', 'say "a"', ""])
def test_only_a_pair_around_the_whole_is_taken_off(prompt):
    assert parse({"prompt": prompt}).prompt == ("" if prompt == '""' else prompt)


def test_another_event_is_not_ours():
    assert parse(fixture("typed"), "session.idle") is None


@given(
    st.dictionaries(
        st.sampled_from(["cwd", "prompt", "session", "message", "subagent", "source"]),
        st.none() | st.booleans() | st.floats() | TEXT | st.just([]),
    )
)
def test_any_payload_is_an_event_of_text(payload):
    event = parse(payload)
    assert all(isinstance(value, str) for value in (event.cwd, event.prompt, event.session))
    assert event.subagent is (payload.get("subagent") is True)


@given(TEXT)
def test_the_capsule_is_the_answer_byte_for_byte(capsule):
    assert adapter.render(parse({}), capsule, "") == capsule.encode()


@pytest.fixture
def known(program, tmp_path):
    """A trusted project that knows about the ledger's units."""
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    text = "# Ledger\n\nWe settle the ledger in integer minor units: floats lose cents.\n"
    (project / "docs/ledger.md").write_text(text)
    for command in (["init"], ["index"]):
        words = [program, *command, "--project", project]
        subprocess.run(words, check=True, capture_output=True)
    return project


def ask(launcher, project, name, **changes):
    payload = fixture(name) | {"cwd": str(project)} | changes
    command = [launcher, "--host", "opencode", "--event", "chat.message"]
    environment = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin"}
    data = json.dumps(payload).encode()
    return subprocess.run(command, input=data, capture_output=True, env=environment)


def test_the_hook_answers_with_the_capsule_alone(launcher, known):
    answer = ask(launcher, known, "typed")
    assert answer.stdout.startswith(b"<agentlas-memory-context version=")
    assert answer.stdout.endswith(b"\n</agentlas-memory-context>")
    assert b"integer minor units" in answer.stdout
    assert (answer.returncode, answer.stderr) == (0, b"")


def test_a_prompt_is_answered_each_time_and_alike(launcher, known):
    first, second = (ask(launcher, known, "typed").stdout for _ in range(2))
    assert first == second != b""


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("subagent", {}),
        ("typed", {"prompt": "thanks"}),
        ("typed", {"prompt": None}),
        ("typed", {"cwd": "/"}),
    ],
    ids=["subagent", "small-talk", "no-prompt", "elsewhere"],
)
def test_silence_is_no_bytes(launcher, known, name, changes):
    answer = ask(launcher, known, name, **changes)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")


# --- where it is installed ---


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({}, ".config/opencode"),
        ({"XDG_CONFIG_HOME": " ", "OPENCODE_CONFIG_DIR": ""}, ".config/opencode"),
        ({"XDG_CONFIG_HOME": "{}/xdg"}, "xdg/opencode"),
        ({"XDG_CONFIG_HOME": "{}/xdg", "OPENCODE_CONFIG_DIR": "{}/own"}, "own"),
    ],
)
def test_the_plugin_is_one_file_in_the_configuration_folder(tmp_path, environment, folder):
    environment = {name: value.format(tmp_path) for name, value in environment.items()}
    place = Place(tmp_path, tmp_path / ".agentlas", environment)
    (surface,) = SPEC.surfaces(place)
    assert surface.path == tmp_path / folder / "plugins/agentlas-memory.js"
    assert surface.text == plugin_text(place)


@pytest.mark.parametrize("name", ["a b", "it's", 'say "so"', "back\\slash", "Ü\u2028🦊", "${x}`"])
def test_the_hook_s_path_is_one_string_in_the_plugin(tmp_path, name):
    text = plugin_text(Place(tmp_path, tmp_path / name, {}))
    line = next(line for line in text.splitlines() if line.startswith("const HOOK = "))
    hook = tmp_path / name / "runtime/current/bin/agentlas-memory-hook"
    assert json.loads(line.removeprefix("const HOOK = ")) == str(hook)
    assert text.isascii()


def test_opencode_is_found_on_the_path(tmp_path):
    answers = {"opencode": "1.18.33\n"}
    place = Place(tmp_path, tmp_path / ".agentlas", {})
    found = SPEC.detect(place, lambda command: answers.get(command[0]))
    assert found == Detected("opencode", "1.18.33")


def test_opencode_is_found_where_its_installer_puts_it(tmp_path):
    program = str(tmp_path / ".opencode/bin/opencode")
    place = Place(tmp_path, tmp_path / ".agentlas", {})
    found = SPEC.detect(place, lambda command: {program: "?"}.get(command[0]))
    assert found == Detected(program, "")


def test_opencode_is_found_by_its_folder_and_not_without(tmp_path):
    place = Place(tmp_path, tmp_path / ".agentlas", {})
    assert SPEC.detect(place, lambda _: None) is None
    (tmp_path / ".config/opencode").mkdir(parents=True)
    assert SPEC.detect(place, lambda _: None) == Detected("", "")
