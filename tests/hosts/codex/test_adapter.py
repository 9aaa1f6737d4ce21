"""Codex's events and answers: its own payloads in, its strict JSON out."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlas_memory.events import HookEvent
from agentlas_memory.host_adapters.codex import adapter

FIXTURES = Path(__file__).parent / "fixtures"
SESSION = "019f0000-0000-7000-8000-00000000000a"
AGENT = "019f0000-0000-7000-8000-00000000000c"
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


def test_a_prompt_of_any_characters_stays_as_it_is():
    assert parsed("UserPromptSubmit.unicode").prompt == 'Žluť 漢 🙂 "q" \\ back\nline2\t<tag>'


def test_a_sub_agent_has_a_session_of_its_own():
    event = parsed("UserPromptSubmit.subagent")
    assert event.subagent
    assert event.session == SESSION + AGENT


@pytest.mark.parametrize("source", ["startup", "resume", "fork", "clear", "compact"])
def test_a_start_says_why(source):
    event = parsed(f"SessionStart.{source}")
    assert (event.kind, event.source, event.session) == ("start", source, SESSION)


def test_a_session_without_a_transcript_is_one():
    assert parsed("SessionStart.ephemeral").session == SESSION


@pytest.mark.parametrize("name", ["Stop", "PreCompact", "SessionEnd"])
def test_other_events_are_not_ours(name):
    assert parsed(name) is None


def test_a_payload_without_a_name_is_what_the_command_says():
    assert adapter.parse({"prompt": "why"}, "UserPromptSubmit", {}).prompt == "why"
    assert adapter.parse({"prompt": "why"}, "", {}) is None


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


@pytest.mark.parametrize("character", ["a", "é", "漢", "🙂"])
def test_the_limit_counts_bytes(character):
    width = len(character.encode())
    whole = character * (10_000 // width)
    event = HookEvent("UserPromptSubmit", "prompt")
    assert whole in json.loads(adapter.render(event, whole, ""))["hookSpecificOutput"].values()
    assert adapter.render(event, whole + character, "") == adapter.EMPTY == b""
