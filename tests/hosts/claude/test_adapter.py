"""Claude Code's events and answers: its own payloads in, its JSON out."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlas_memory.events import HookEvent
from agentlas_memory.host_adapters.claude import adapter

FIXTURES = Path(__file__).parent / "fixtures"
SESSION = "5d2c1f9e-0000-4000-8000-00000000000a"
TEXTS = st.text('aé漢🙂"\\</\n\0\x1b\u2028\ud800')
VALUES = st.none() | st.booleans() | st.floats() | TEXTS | st.lists(TEXTS)


def parsed(name):
    payload = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    return adapter.parse(payload, "", {})


def test_a_prompt_is_read():
    event = parsed("UserPromptSubmit")
    assert (event.kind, event.cwd, event.session) == ("prompt", "/home/user/ledger", SESSION)
    assert event.prompt.startswith("why do we settle")
    assert not event.subagent


def test_a_slash_command_comes_as_it_was_typed():
    assert parsed("UserPromptSubmit.slash_command").prompt == "/explain the ledger"


def test_blocks_of_a_prompt_are_lines():
    assert parsed("UserPromptSubmit.two_blocks").prompt == "first block\nsecond block"


def test_a_sub_agent_has_a_session_of_its_own():
    event = parsed("UserPromptSubmit.subagent")
    assert event.subagent
    assert event.session == SESSION + "a7f3"


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_start_says_why(source):
    event = parsed(f"SessionStart.{source}")
    assert (event.kind, event.source, event.session) == ("start", source, SESSION)


@pytest.mark.parametrize("name", ["Stop", "SubagentStop.compaction"])
def test_other_events_are_not_ours(name):
    assert parsed(name) is None


@given(
    st.dictionaries(st.sampled_from(["session_id", "agent_id", "cwd", "prompt", "source"]), VALUES)
)
def test_no_payload_breaks_it(payload):
    event = adapter.parse(payload, "UserPromptSubmit", {})
    assert all(isinstance(text, str) for text in (event.cwd, event.prompt, event.session))


@given(TEXTS)
def test_an_answer_holds_two_keys_and_the_text(text):
    answer = adapter.render(HookEvent("SessionStart", "start"), text, "")
    said = {"hookEventName": "SessionStart", "additionalContext": text}
    assert json.loads(answer.decode("ascii")) == {"hookSpecificOutput": said}
