"""What people read: a silence in words, one thing in the singular, a name where a command was."""

import json
import re
import subprocess

import pytest

from agentlas_memory.commands.import_store_report import _counted
from agentlas_memory.commands.silence import _WORDS, in_words

PROMPT = "why does the ledger settle in integer minor units"


def first_line(outcome):
    return outcome.err.splitlines()[0]


def test_why_begins_with_what_an_assistant_is_told(project, am):
    assert first_line(am("why", PROMPT)) == (
        "To this prompt: an assistant is told 1 passage, those with a rank."
    )
    told = first_line(am("why", "who won the football match"))
    assert "is told nothing, as nothing here bears on it enough" in told


def test_why_says_what_an_untrusted_project_lacks(project, am):
    am("distrust")
    told = first_line(am("why", PROMPT))
    assert "is told nothing, as you have not said yes to this store" in told
    assert f"agentlas-memory trust --project '{project}'" in told
    assert "would be told otherwise" in told


def test_why_says_what_ends_a_pause(project, am, monkeypatch, home):
    am("off")
    assert "agentlas-memory on --project" in first_line(am("why", PROMPT))
    am("off", "--all")
    assert "agentlas-memory on --all" in first_line(am("why", PROMPT))
    (home / ".agentlas/settings.json").write_text("{")
    assert "settings.json cannot be read" in first_line(am("why", PROMPT))
    monkeypatch.setenv("AGENTLAS_MEMORY", "off")
    assert "unset AGENTLAS_MEMORY" in first_line(am("why", PROMPT))


def test_why_says_what_a_stale_project_needs(project, am):
    (project / ".agentlas/memory.toml").write_text('exclude = ["x/"]\n')
    assert "agentlas-memory index --project" in first_line(am("why", PROMPT))


@pytest.mark.parametrize("reason", _WORDS)
def test_every_silence_has_words(reason):
    assert reason not in in_words(reason, None).split()
    assert "{" not in in_words(reason, None)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("entities", "1 entity"),
        ("sources", "1 source"),
        ("experience rows", "1 experience row"),
        ("rows of the ledger", "1 row of the ledger"),
        ("working_memory", "1 working memory"),
    ],
)
def test_one_thing_is_told_in_the_singular(what, told):
    assert _counted(1, what) == told
    assert _counted(2, what) == f"2 {what.replace('_', ' ')}"


def test_one_changed_file_is_one_file(project, am):
    (project / "docs/new.md").write_text("# New\n")
    assert "changed since: 1 file\n" in am("status").out


def test_graph_takes_a_name_without_a_command(project, am):
    assert am("graph", "ADR-7").out == am("graph", "show", "ADR-7").out != ""
    assert am("graph", "--limit", "1", "ADR-7").code == 2


def test_an_agents_card_that_is_gone_is_told_from_a_card_that_names_none(project, am):
    reference = {"path": "gone.json", "content_hash": "0" * 64}
    card = {"routing_status": "trusted", "slug": "dev", "agent_card_ref": reference}
    (project / ".agentlas/routing-card.json").write_text(json.dumps(card))
    told = am("experience", "list").err
    assert "The agent's card, which the routing card in" in told
    assert "names no agent" not in told


def test_why_last_names_the_moment_of_the_prompt(project, am, launcher):
    event = json.dumps({"cwd": str(project), "prompt": "who won the football match"})
    command = [launcher, "--host", "raw", "--event", "UserPromptSubmit"]
    subprocess.run(command, input=event.encode(), check=True, timeout=20)
    moment = r"\d{4}-\d\d-\d\d [\d:]{8} UTC"
    told = first_line(am("why", "--last"))
    assert re.match(rf"The last prompt \({moment}\): an assistant was told", told)
    reason = am("status", "--json").json["last_silence"]
    assert f"last silence:  {reason}: " in am("status").out
