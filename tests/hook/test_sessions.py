"""What one conversation is told, and what it is not told twice."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

FACT = "integer minor units"
SAME = [
    "why do we settle the ledger in integer minor units?",
    "is it integer minor units that the ledger is settled in?",
    "the ledger loses cents with floats, are integer minor units used?",
]
RULE = "Never call the payment provider inside a database transaction."


@pytest.fixture
def project(make_project, note):
    """A project with a document and a rule."""
    return make_project(
        {
            "docs/ledger.md": f"# Ledger\n\nThe ledger settles in {FACT}, as floats lose cents.\n",
            ".agentlas/ontology-inbox/rule.md": note(RULE, "constraint"),
        }
    )


def test_the_same_evidence_is_given_once_a_session(project, ask):
    answers = [ask(project, prompt, session_id="one") for prompt in SAME]
    assert [FACT in answer for answer in answers] == [True, False, False]
    assert answers[1:] == ["", ""]


def test_each_session_is_given_it(project, ask):
    assert ask(project, session_id="one") == ask(project, session_id="two") != ""


def test_changed_evidence_is_given_again(project, ask, index):
    assert FACT in ask(project, session_id="one")
    with open(project / "docs/ledger.md", "a") as file:
        file.write("\nThe ledger settles integer minor units every Tuesday.\n")
    index(project)
    assert "Tuesday" in ask(project, session_id="one")


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_what_the_host_dropped_is_given_again(project, ask, start, source):
    first = ask(project, session_id="one")
    assert RULE in start(project, source, "one")
    assert ask(project, session_id="one") == first


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_what_the_host_dropped_is_given_again_without_any_state(make_project, ask, start, source):
    root = make_project()
    first = ask(root, session_id="one")
    assert start(root, source, "one") == ""
    assert ask(root, session_id="one") == first != ""


@pytest.mark.parametrize("source", ["resume", "startup", "fork", "load", "", "an unknown word"])
def test_other_starts_keep_what_was_given(project, ask, start, source):
    ask(project, session_id="one")
    assert RULE in start(project, source, "one")
    assert start(project, source, "one") == ""
    assert ask(project, session_id="one") == ""


def test_repeated_compactions_are_one(project, start, ask):
    answers = [start(project, "compact", "one") for _ in range(3)]
    assert [RULE in answer for answer in answers] == [True, False, False]
    assert FACT in ask(project, session_id="one")


def test_a_later_compaction_is_answered_again(project, start, data):
    assert start(project, "compact", "one") != ""
    (marker,) = (data / "state/delivery").rglob("reset")
    os.utime(marker, (time.time() - 6,) * 2)
    assert RULE in start(project, "compact", "one")


def test_a_prompt_cannot_make_us_forget(project, ask):
    ask(project, session_id="one")
    assert ask(project, session_id="one", source="clear") == ""


@pytest.mark.parametrize("event", ["prompt", "compact"])
def test_of_processes_at_once_one_answers(
    project, run_hook, prompt_event, start_event, event, data
):
    start = start_event(project, "compact", "one")
    if event == "compact":  # not the first one of this session
        run_hook(start)
        (marker,) = (data / "state/delivery").rglob("reset")
        os.utime(marker, (time.time() - 60,) * 2)
    sent = prompt_event(project, session_id="one") if event == "prompt" else start
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(run_hook, [sent] * 6))
    assert sum(answer != b"" for answer in answers) == 1


def test_every_turn_is_a_setting(project, ask, start, settings):
    settings(delivery="every_turn")
    assert ask(project, session_id="one") == ask(project, session_id="one") != ""
    assert start(project, "compact", "one") == start(project, "compact", "one") != ""


def test_a_host_that_keeps_nothing_is_told_every_time(project, run_hook, prompt_event):
    event = prompt_event(project)
    assert run_hook(event, "raw") == run_hook(event, "raw") != b""


def test_without_a_session_it_is_told_every_time(project, ask):
    assert ask(project, session_id="") == ask(project, session_id=None) != ""


@pytest.mark.parametrize("session", ["../../up", "a/b", "s" * 5000, "\ud83c", "nul\0", "日本"])
def test_any_session_name_is_only_a_name(project, ask, data, session, home):
    assert FACT in ask(project, session_id=session)
    assert ask(project, session_id=session) == ""
    (folder,) = (data / "state/delivery").iterdir()
    assert len(folder.name) == len("claude-") + 16
    assert {path.name for path in home.iterdir()} == {".agentlas"}


def test_hosts_do_not_share_sessions(project, ask, data):
    ask(project, session_id="one")
    (folder,) = (data / "state/delivery").iterdir()
    assert folder.name.startswith("claude-")
    assert [file.stat().st_size for file in folder.iterdir()] == [0]


def test_where_nothing_can_be_recorded_it_is_told(project, ask, data):
    (data / "state").mkdir(exist_ok=True)
    (data / "state/delivery").write_text("a file in the folder's place")
    assert ask(project, session_id="one") == ask(project, session_id="one") != ""


def test_sub_agents_are_not_told(project, ask, start, receipt):
    assert ask(project, agent_id="a1", agent_type="Explore") == ""
    assert receipt()["silence_reason"] == "subagent"
    assert start(project, agent_id="a1") == ""


@pytest.mark.parametrize("value", ["yes", 1, False, None])
def test_only_true_lets_sub_agents_be_told(project, ask, settings, value):
    settings(subagents=value)
    assert ask(project, agent_id="a1") == ""


def test_sub_agents_are_told_by_a_setting_each_on_its_own(project, ask, settings):
    settings(subagents=True)
    answers = [ask(project, session_id="one", agent_id=agent) for agent in ("a1", "a2", "a1", "")]
    assert [FACT in answer for answer in answers] == [True, True, False, True]
