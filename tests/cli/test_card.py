"""`card check` names the condition that a card fails; `trust` says yes to exactly one card."""

import hashlib
import json
import os

import pytest

from agentlas_memory.routing_card import CONDITIONS

AGENT_CARD = {"slug": "ledger_keeper", "about": "keeps ledgers"}


@pytest.fixture
def agent(project, home, am, make_card):
    """A project whose card verifies and is trusted, with the agent's own database."""
    make_card(project)
    database = home / ".agentlas/networking/hub-agents/ledger-keeper/memory/experience.sqlite"
    database.parent.mkdir(parents=True)
    database.touch()
    assert am("trust").code == 0
    return database


def failed(am):
    """Return the condition that does not hold, None when all do."""
    outcome = am("card", "check", "--json")
    document = outcome.json
    bad = [one["condition"] for one in document["conditions"] if one["holds"] is False]
    assert outcome.code == (1 if bad else 0)
    assert (document["slug"] is None) == bool(bad)
    return bad[0] if bad else None


def test_card_that_proves_all_names_the_agent(agent, am):
    outcome = am("card", "check", "--json")
    assert (outcome.code, outcome.json["slug"]) == (0, "ledger-keeper")
    assert all(one["holds"] for one in outcome.json["conditions"])
    assert "ledger-keeper may be recalled" in am("card", "check").err


def test_a_project_without_a_card_says_so(project, am):
    assert failed(am) == "card"
    assert "No experience is recalled here" in am("card", "check").err


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("not json", "json"),
        ("[1]", "json"),
        ("[" * 5000, "json"),
        ("{" + " " * (64 << 10) + "}", "card"),
        ('{"routing_status": "draft"}', "status"),
        ('{"routing_status": ["trusted"]}', "status"),
        ('{"routing_status": "trusted"}', "reference"),
        ('{"routing_status": "trusted", "agent_card_ref": {"path": 7}}', "reference"),
        ('{"routing_status": "trusted", "agent_card_ref": {"path": "a\\u0000b"}}', "reference"),
    ],
)
def test_card_of_another_shape_is_refused(agent, project, am, text, condition):
    (project / ".agentlas/routing-card.json").write_text(text)
    assert failed(am) == condition


@pytest.mark.parametrize(
    "path", ["../outside.json", "/etc/hostname", "link.json", "agents", "none"]
)
def test_agent_card_must_lie_in_the_project(agent, project, am, path, make_card):
    outside = project.parent / "outside.json"
    outside.write_text(json.dumps(AGENT_CARD))
    (project / "link.json").symlink_to(outside)
    digest = hashlib.sha256(outside.read_bytes()).hexdigest()
    make_card(project, agent_card_ref={"path": path, "content_hash": digest})
    assert failed(am) == "reference"


def test_link_that_stays_in_the_project_is_followed(agent, project, am, make_card):
    (project / "link.json").symlink_to("agents/card.json")
    digest = hashlib.sha256((project / "agents/card.json").read_bytes()).hexdigest()
    reference = {"path": "link.json", "content_hash": f"sha256:{digest.upper()}"}
    make_card(project, agent_card_ref=reference)
    assert am("trust").code == 0
    assert failed(am) is None


def test_changed_agent_card_is_not_the_one_that_was_meant(agent, project, am):
    (project / "agents/card.json").write_text(json.dumps(AGENT_CARD) + " ")
    assert failed(am) == "hash"


@pytest.mark.parametrize("slug", ["other", "", "../up", "-dash", "a" * 65, None, "lédger-keeper"])
def test_both_cards_must_name_the_same_agent(agent, project, am, slug, make_card):
    make_card(project, slug=slug)
    assert failed(am) == "slug"


def test_changed_routing_card_needs_another_yes(agent, project, am, make_card):
    make_card(project, note="changed by a pull")
    assert failed(am) == "trust"
    assert am("index").code == 0
    assert failed(am) == "trust", "index says yes to no card"
    assert am("trust").code == 0
    assert failed(am) is None


def test_distrusted_project_has_no_agent(agent, am):
    assert am("distrust").code == 0
    assert failed(am) == "trust"


def test_missing_database_is_named(agent, am):
    agent.unlink()
    outcome = am("card", "check")
    assert failed(am) == "database"
    assert str(agent) in outcome.out


@pytest.mark.parametrize("part", ["experience.sqlite", "memory", "ledger-keeper"])
def test_no_link_leads_to_another_agents_experience(agent, am, part):
    place = next(path for path in (agent, *agent.parents) if path.name == part)
    other = place.with_name("other")
    place.rename(other)
    place.symlink_to(other)
    assert failed(am) == "database"


def test_database_that_others_may_write_is_not_the_agents_own(agent, am):
    agent.chmod(0o666)
    assert failed(am) == "database"


def test_trust_says_what_came_of_the_card(agent, project, am):
    assert "ledger-keeper may be recalled here" in am("trust").err
    agent.unlink()
    told = am("trust").err
    assert "accepted, but nothing is recalled by it" in told
    assert str(agent) in told
    assert failed(am) == "database"


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"routing_status": "draft"}, "it is 'draft'"),
        ({"slug": "other"}, "they name other and ledger-keeper"),
        ({"agent_card_ref": None}, "there is no agent_card_ref"),
    ],
)
def test_trust_says_why_a_card_was_not_accepted(agent, project, am, make_card, changes, found):
    make_card(project, **changes)
    told = am("trust").err
    assert f"not accepted: not so that {CONDITIONS[failed(am)]} ({found})" in told
    assert f"agentlas-memory card check --project '{project}'" in told


def test_trust_does_not_speak_of_a_card_that_is_not_there(project, am):
    assert "card" not in am("trust").err


@pytest.mark.parametrize("odd", ["link", "fifo"])
def test_a_card_that_is_no_file_is_named_without_a_store_too(folder, am, odd):
    (folder / ".agentlas").mkdir()
    card = folder / ".agentlas/routing-card.json"
    card.symlink_to("nowhere") if odd == "link" else os.mkfifo(card)
    assert failed(am) == "card"


def test_trust_without_a_store_says_what_is_wrong_with_the_card(folder, am, make_card):
    make_card(folder, routing_status="draft")
    outcome = am("trust")
    assert (outcome.code, "it is 'draft'" in outcome.err) == (1, True)
