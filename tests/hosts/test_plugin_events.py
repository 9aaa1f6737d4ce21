"""Events and answers in the form that Claude Code and Codex share: payloads in, JSON out."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlas_memory.events import HookEvent
from agentlas_memory.host_adapters.claude import adapter as claude
from agentlas_memory.host_adapters.codex import adapter as codex

TEXTS = st.text('aé漢🙂"\\</\n\0\x1b\u2028\ud800')
VALUES = st.none() | st.booleans() | st.floats() | TEXTS | st.lists(TEXTS)
FIELDS = st.sampled_from(["session_id", "agent_id", "cwd", "prompt", "source"])
SESSIONS = {
    "claude": "5d2c1f9e-0000-4000-8000-00000000000a",
    "codex": "019f0000-0000-7000-8000-00000000000a",
}
AGENTS = {"claude": "a7f3", "codex": "019f0000-0000-7000-8000-00000000000c"}
BOTH = pytest.mark.parametrize("host", SESSIONS)


def parsed(host, name):
    """Read one of a host's own payloads, of which `<host>/fixtures` has some."""
    file = Path(__file__).parent / host / "fixtures" / f"{name}.json"
    payload = json.loads(file.read_text(encoding="utf-8"))
    return {"claude": claude, "codex": codex}[host].parse(payload, "", {})


@BOTH
def test_a_prompt_is_read(host):
    event = parsed(host, "UserPromptSubmit")
    assert (event.kind, event.cwd, event.session) == ("prompt", "/home/user/ledger", SESSIONS[host])
    assert event.prompt.startswith("why do we settle")
    assert not event.subagent


@BOTH
def test_a_sub_agent_has_a_session_of_its_own(host):
    event = parsed(host, "UserPromptSubmit.subagent")
    assert event.subagent
    assert event.session == SESSIONS[host] + AGENTS[host]


@pytest.mark.parametrize(
    ("host", "source"),
    [(host, source) for host in SESSIONS for source in ("startup", "resume", "clear", "compact")]
    + [("codex", "fork")],
)
def test_a_start_says_why(host, source):
    event = parsed(host, f"SessionStart.{source}")
    assert (event.kind, event.source, event.session) == ("start", source, SESSIONS[host])


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("claude", "Stop"),
        ("claude", "SubagentStop.compaction"),
        ("codex", "Stop"),
        ("codex", "PreCompact"),
        ("codex", "SessionEnd"),
    ],
)
def test_other_events_are_not_ours(host, name):
    assert parsed(host, name) is None


def test_claude_s_slash_command_comes_as_it_was_typed():
    assert parsed("claude", "UserPromptSubmit.slash_command").prompt == "/explain the ledger"


def test_claude_s_blocks_of_a_prompt_are_lines():
    assert parsed("claude", "UserPromptSubmit.two_blocks").prompt == "first block\nsecond block"


def test_codex_s_prompt_of_any_characters_stays_as_it_is():
    prompt = parsed("codex", "UserPromptSubmit.unicode").prompt
    assert prompt == 'Žluť 漢 🙂 "q" \\ back\nline2\t<tag>'


def test_codex_s_session_without_a_transcript_is_one():
    assert parsed("codex", "SessionStart.ephemeral").session == SESSIONS["codex"]


@pytest.mark.parametrize("adapter", [claude, codex], ids=SESSIONS)
def test_a_payload_without_a_name_is_what_the_command_says(adapter):
    assert adapter.parse({"prompt": "why"}, "UserPromptSubmit", {}).prompt == "why"
    assert adapter.parse({"prompt": "why"}, "", {}) is None


@pytest.mark.parametrize("adapter", [claude, codex], ids=SESSIONS)
@given(payload=st.dictionaries(FIELDS, VALUES))
def test_no_payload_breaks_it(adapter, payload):
    event = adapter.parse(payload, "UserPromptSubmit", {})
    assert all(isinstance(text, str) for text in (event.cwd, event.prompt, event.session))


@pytest.mark.parametrize("adapter", [claude, codex], ids=SESSIONS)
@given(text=TEXTS)
def test_an_answer_holds_two_keys_and_the_text(adapter, text):
    answer = adapter.render(HookEvent("SessionStart", "start"), text, "")
    said = {"hookEventName": "SessionStart", "additionalContext": text}
    assert json.loads(answer.decode("ascii")) == {"hookSpecificOutput": said}


@pytest.mark.parametrize("character", ["a", "é", "漢", "🙂"])
def test_codex_s_limit_counts_bytes(character):
    width = len(character.encode())
    whole = character * (10_000 // width)
    event = HookEvent("UserPromptSubmit", "prompt")
    assert whole in json.loads(codex.render(event, whole, ""))["hookSpecificOutput"].values()
    assert codex.render(event, whole + character, "") == codex.EMPTY == b""
