"""What Grok sends, what is read of it, and what is left for its model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hosts.grok.conftest import CACHE, LEDGER, LOGIN, Grok, read
from hypothesis import given
from hypothesis import strategies as st
from test_imports import ALLOWED

from agentlas_memory.events import PROMPT, START
from agentlas_memory.host_adapters.grok import adapter

FIXTURES = Path(__file__).parent / "fixtures"
ENTRY = 'Workspace Path: "{}"\n'


def fixture(name, **changes):
    return json.loads(read(FIXTURES / f"{name}.json")) | changes


def parsed(name, option="", **changes):
    return adapter.parse(fixture(name, **changes), option, {})


@pytest.mark.parametrize("form", ["", ".verbatim", ".first"])
def test_a_prompt(form):
    event = parsed(f"UserPromptSubmit{form}")
    assert (event.name, event.kind, event.prompt) == ("UserPromptSubmit", PROMPT, LEDGER[0])
    assert event.cwd == "/home/dev/shop"


@pytest.mark.parametrize("source", ["new", "load"])
def test_the_start_of_a_session(source):
    event = parsed(f"SessionStart.{source}")
    assert (event.name, event.kind, event.source) == ("SessionStart", START, source)


@pytest.mark.parametrize("name", ["SessionStart", "UserPromptSubmit"])
def test_the_path_is_the_one_that_the_model_sees(name):
    assert parsed(f"{name}.below_repository").cwd == "/home/dev/shop/till"  # not workspaceRoot


@pytest.mark.parametrize(
    "name",
    ["UserPromptSubmit.subagent", "UserPromptSubmit.subagent_resumed", "Stop", "PreCompact"],
)
def test_events_that_are_not_ours_to_answer(name):
    assert parsed(name, "UserPromptSubmit") is None


@pytest.mark.parametrize("cwd", ["", None, 7, ["/home"]])
def test_without_a_path_there_is_no_entry(cwd):
    assert parsed("UserPromptSubmit", cwd=cwd) is None


def test_an_event_of_the_command_line():
    event = adapter.parse({"cwd": "/a", "prompt": "b"}, "UserPromptSubmit", {})
    assert (event.kind, event.cwd, event.prompt) == (PROMPT, "/a", "b")
    assert adapter.parse({}, "UserPromptSubmit", {}) is None  # nothing came on stdin


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("<user_query>\nwhy?\n</user_query>", "why?"),
        ("\n<user_query>why?</user_query>\n", "why?"),
        ("<user_query>\nwhy? and the host cut the re", "why? and the host cut the re"),
        ("what is <user_query>?", "what is <user_query>?"),
        ("<user_query>\n\n</user_query>", ""),
        ("", ""),
    ],
)
def test_the_host_s_tags_are_no_part_of_a_prompt(sent, meant):
    assert parsed("UserPromptSubmit", prompt=sent).prompt == meant


FIELDS = ("hookEventName", "cwd", "prompt", "sessionId", "transcriptPath", "source")
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES), st.text())
def test_no_payload_is_an_error(payload, option):
    event = adapter.parse(payload, option, {})
    assert event is None or event.cwd


@pytest.fixture
def run_hook(launcher, home):
    """Run the hook on a payload as Grok does; it never says anything."""

    def run(payload, *options, **variables):
        event = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        done = subprocess.run(
            [launcher, "--host", "grok", "--event", "UserPromptSubmit", *options],
            input=event,
            capture_output=True,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin", **variables},
            timeout=20,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    return run


@pytest.fixture
def project(home, program):
    """A project that has something to say."""
    return Grok(Path("grok"), program, home, model=None).make_project()


@pytest.fixture
def entry_of(home):
    """Return what the index leads to for a path."""
    index = home / CACHE / "index.json"
    return lambda path: read(Path(json.loads(read(index))[str(path)]))


def asked(project, prompt, **changes):
    text = f"<user_query>\n{prompt}\n</user_query>"
    return fixture("UserPromptSubmit", cwd=str(project), prompt=text, **changes)


def test_the_capsule_is_left_in_the_workspace_s_entry(run_hook, project, entry_of):
    run_hook(asked(project, LEDGER[0]))
    entry = entry_of(project)
    assert entry.startswith(ENTRY.format(project) + "\n<agentlas-memory-context ")
    assert LEDGER[1] in entry
    assert entry.endswith("</agentlas-memory-context>\n")


def test_the_same_prompt_leaves_the_same_bytes(run_hook, project, home):
    def left():
        run_hook(asked(project, LEDGER[0]))
        return {p.name: p.read_bytes() for p in (home / CACHE).iterdir()}

    assert left() == left()
    assert len(left()) == 2


@pytest.mark.parametrize(
    ("changes", "variables"),
    [
        ({"prompt": "<user_query>\nthanks\n</user_query>"}, {}),
        ({"prompt": ""}, {}),
        ({"prompt": ["a list"]}, {}),
        ({}, {"AGENTLAS_MEMORY": "off"}),
        ({"hookEventName": "session_start", "source": "load"}, {}),
    ],
    ids=["silent", "empty", "no text", "off", "start"],
)
def test_what_was_recalled_before_is_taken_away(run_hook, project, entry_of, changes, variables):
    run_hook(asked(project, LEDGER[0]))
    run_hook(asked(project, LEDGER[0]) | changes, **variables)
    assert entry_of(project) == ENTRY.format(project)


def test_also_where_the_project_is_gone(run_hook, project, program, entry_of):
    run_hook(asked(project, LEDGER[0]))
    subprocess.run([program, "distrust", "--project", project], check=True, capture_output=True)
    run_hook(asked(project, LEDGER[0]))
    assert entry_of(project) == ENTRY.format(project)


@pytest.mark.parametrize("event", [b"", b"{", b"[]", b"null", b"\xff\xfe"])
def test_what_names_no_workspace_changes_nothing(run_hook, project, entry_of, event):
    run_hook(asked(project, LEDGER[0]))
    run_hook(event)
    assert LEDGER[1] in entry_of(project)


@pytest.mark.parametrize("form", ["subagent", "subagent_resumed"])
def test_a_sub_agent_changes_nothing(run_hook, project, entry_of, home, form):
    run_hook(asked(project, LEDGER[0]))
    before = entry_of(project)
    (home / ".agentlas" / "settings.json").write_text('{"subagents": true}')
    run_hook(fixture(f"UserPromptSubmit.{form}", cwd=str(project), prompt=LOGIN[0]))
    assert entry_of(project) == before


def test_claude_s_hook_leaves_when_grok_runs_it(run_hook, project, home):
    event = {"cwd": str(project), "prompt": LEDGER[0], "hook_event_name": "UserPromptSubmit"}
    run_hook(event, "--host", "claude", GROK_HOOK_EVENT="user_prompt_submit")
    assert not (home / CACHE).exists()


def test_nothing_that_is_slow_is_imported(launcher, project, home):
    def loaded(*arguments):
        done = subprocess.run(
            [Path(sys.prefix, "bin", "python3"), "-I", "-S", "-X", "importtime", *arguments],
            input=json.dumps(asked(project, LEDGER[0])).encode(),
            capture_output=True,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        )
        return {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}

    ours = loaded(str(launcher), "--host", "grok") - loaded("-c", "pass")
    assert {name for name in ours if not name.startswith("agentlas_memory")} <= ALLOWED
    assert "agentlas_memory.capsule" in ours
