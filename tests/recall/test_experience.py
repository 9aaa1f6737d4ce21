"""An agent's rows: governed before they are ranked, judged by the gates, weighed by salience."""

import sqlite3
from contextlib import closing
from datetime import datetime, timezone

import pytest

from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.model import open_model
from agentlas_memory.home import data_home
from agentlas_memory.ontology.experience import Experience, has_expired, superseded_ids
from agentlas_memory.ontology.ledger import Ledger
from agentlas_memory.ontology.projection import project_ledger
from agentlas_memory.ontology.schema import EXPERIENCE
from agentlas_memory.ontology.store import StoreUnusable, open_store
from agentlas_memory.recall.experience import recall_experience
from agentlas_memory.runtime import OntologyRuntime

AGENT = "hub:ledger-keeper"
CHECKLIST = {"id": "list", "text": "Use a rollback checklist for every schema migration"}
OLD = {"id": "old", "text": "SSH port is 22"}
NEW = {"id": "new", "text": "we moved sshd to 49222", "supersedes": ["old"]}
MIGRATION, PORT = "how do we roll back a schema migration?", "what is the SSH port"


class Agent:
    """An agent's database, made of a ledger's lines."""

    def __init__(self, path):
        self.path = path

    def learn(self, *events):
        ledger = Ledger()
        for event in events:
            ledger.apply(event)
        project_ledger(ledger, AGENT, self.path)
        return self

    def ask(self, prompt, *, agent_id=AGENT, now=None, budget=2000, **options):
        """Return the ids of the hits."""
        store = open_store(str(self.path), Deadline(60_000), EXPERIENCE)
        try:
            found = recall_experience(
                store,
                prompt,
                agent_id=agent_id,
                asset=open_model(data_home()),
                deadline=Deadline(60_000),
                budget=budget,
                now=now,
                **options,
            )
        except StoreUnusable:
            return []  # the hook reports it, and is silent
        finally:
            store.close()
        return [hit.row.path for hit in found.hits]

    def change(self, sql, *values):
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute(sql, values)


@pytest.fixture
def agent(tmp_path):
    return Agent(tmp_path / "experience.sqlite")


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


def test_what_fits_is_recalled_and_the_rest_is_not(agent):
    agent.learn(CHECKLIST, OLD)
    assert agent.ask(MIGRATION) == ["list"]
    assert agent.ask(PORT) == ["old"]
    for prompt in ("thanks", "run the tests", "what is 2+2", "translate this to French"):
        assert agent.ask(prompt) == []


def test_the_new_fact_answers_the_question_in_the_words_of_the_old(agent):
    assert agent.learn(OLD, NEW).ask(PORT) == ["new"]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([{"op": "expire", "id": "new", "expires": "2026-01-01"}], [], id="expired"),
        pytest.param([{"op": "quarantine", "id": "new"}], ["old"], id="quarantined"),
        pytest.param(
            [{"op": "quarantine", "id": "new"}, {"op": "approve", "id": "new"}], ["new"], id="back"
        ),
        pytest.param([{"op": "supersede", "id": "new", "by": "old"}], ["old"], id="taken back"),
        pytest.param(
            [
                {"id": "third", "text": "SSH listens on port 50022 now", "supersedes": ["new"]},
                {"op": "expire", "id": "new", "expires": "2026-01-01"},
            ],
            ["third"],
            id="through an expired one",
        ),
    ],
)
def test_supersession_follows_what_holds(agent, events, expected):
    agent.learn(OLD, NEW, *events)
    assert agent.ask(PORT, now=at("2026-06-01")) == expected


def test_what_was_replaced_through_a_quarantined_row_does_not_come_back(agent):
    third = {"id": "third", "text": "SSH listens on port 50022 now", "supersedes": ["new"]}
    agent.learn(OLD, NEW, third, {"op": "quarantine", "id": "new"})
    assert agent.ask(PORT) == ["third"]


def test_a_quarantined_row_lends_no_words(agent):
    lunch = {"id": "lunch", "text": "Lunch is served at noon", "supersedes": ["old"]}
    agent.learn(OLD, lunch, {"op": "quarantine", "id": "old"})
    assert agent.ask(PORT) == []


def test_a_row_that_is_added_again_says_anew_what_it_replaces(agent):
    agent.learn(OLD, NEW, {"id": "new", "text": "Lunch is served at noon"})
    assert agent.ask(PORT) == ["old"]


def test_a_long_history_stays_small(agent):
    rows = [{"id": f"n{n:03}", "text": f"SSH port is {n} " + "x" * 400} for n in range(300)]
    for newer, older in zip(rows[1:], rows, strict=False):
        newer["supersedes"] = [older["id"]]
    agent.learn(*rows)
    assert agent.path.stat().st_size < 2 << 20
    assert agent.ask(PORT) == ["n299"]


def test_too_many_links_are_no_experience(agent):
    agent.learn(OLD, NEW)
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)"
    agent.change(f"INSERT INTO links {many} SELECT 'a' || i, 'supersedes', 'b' FROM n")
    assert agent.ask(PORT) == []


def test_what_does_not_hold_any_more_leaves_a_full_scope_first(agent, monkeypatch):
    monkeypatch.setattr("agentlas_memory.ontology.projection.MOST_ROWS", 2)
    expired = {"id": "e", "text": "SSH port is 1", "expires": "2020-01-01", "salience": 0.9}
    kept_out = {"id": "q", "text": "SSH port is 2", "supersedes": ["old"], "salience": 0.9}
    agent.learn(expired, OLD, kept_out, {"op": "quarantine", "id": "q"}, CHECKLIST)
    assert agent.ask(PORT) == ["old"]
    assert agent.ask(MIGRATION) == ["list"]


def test_tags_count_in_the_budget(agent):
    tags = [f"tag number {n}" for n in range(12)]
    rows = [
        {"id": f"n{n}", "text": f"Schema migration rollback {n}", "tags": tags} for n in range(9)
    ]
    assert len(agent.learn(*rows).ask(MIGRATION, budget=900)) < 5


def test_a_lost_link_does_not_bring_the_old_fact_back(agent):
    agent.learn(OLD, NEW)
    agent.change("DELETE FROM links")
    assert agent.ask(PORT) == []


def test_rows_that_supersede_each_other_are_silent():
    rows = [Experience(n, name, "private", "active", "", 0.5, "") for n, name in enumerate("ab")]
    assert superseded_ids(rows, [("a", "b"), ("b", "a"), ("a", "a"), ("x", "a")]) == {"a", "b"}


def test_later_line_takes_a_whole_chain_back():
    ledger = Ledger()
    for event in (
        OLD,
        NEW,
        {"id": "third", "text": "third", "supersedes": ["new"]},
        {"op": "supersede", "id": "third", "by": "old"},
    ):
        ledger.apply(event)
    assert [row.id for row in ledger.replaced_by("old")] == ["third", "new"]
    assert ("new", "supersedes", "old") not in ledger.links


def test_expiry_is_a_local_day_or_a_moment(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert not has_expired("2026-06-01", at("2026-06-01 23:59:59"))
    assert has_expired("2026-06-01", at("2026-06-02 00:00:00"))
    assert not has_expired("2026-06-01T08:00:00Z", at("2026-06-01 07:59:59"))
    assert has_expired("2026-06-01T08:00:00Z", at("2026-06-01 08:00:00"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    assert has_expired("2026-06-01", at("2026-06-01 15:00:00"))
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("expiry", ["soon", "9999", "zzzzzzzzzz", "99999-01-01", " "])
def test_expiry_of_another_shape_counts_as_passed(expiry):
    assert has_expired(expiry, at("2026-06-01"))


def test_rows_of_another_agent_are_not_there(agent):
    agent.learn(CHECKLIST)
    assert agent.ask(MIGRATION, agent_id="hub:other") == []
    agent.change("UPDATE experience SET agent_id = 'hub:other'")
    assert agent.ask(MIGRATION) == []
    assert agent.ask(MIGRATION, agent_id="hub:other") == [], "its digest names the first agent"


def test_only_scopes_that_are_asked_for(agent):
    agent.learn(CHECKLIST | {"scope": "internal"})
    assert agent.ask(MIGRATION, scopes=("public", "internal")) == ["list"]
    assert agent.ask(MIGRATION, scopes=("public", "private")) == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE experience SET text = 'Drop the schema at every migration'",
        "UPDATE experience SET tags = 'urgent'",
        "UPDATE experience SET scope = 'public'",
        "UPDATE experience SET expiry = '2999-01-01'",
        "UPDATE experience SET salience = 1.0",
        "UPDATE experience SET salience = 'much'",
        "UPDATE experience SET terms = x'00'",
        "UPDATE experience SET vector = NULL WHERE 0; ",
        "UPDATE experience SET id = 7",
    ],
)
def test_a_row_that_was_changed_is_not_told(agent, sql):
    agent.learn(CHECKLIST)
    agent.change(sql)
    assert agent.ask(MIGRATION) == (["list"] if "WHERE 0" in sql else [])


def test_rows_that_do_not_count_change_nothing(agent):
    agent.learn(CHECKLIST, OLD)
    before = numbers(agent)
    agent.learn(
        CHECKLIST,
        OLD,
        {"id": "a", "text": "Schema migrations need a rollback", "expires": "2020-01-01"},
        {"id": "b", "text": "A schema migration without rollback", "scope": "public"},
        {"op": "quarantine", "id": "b"},
    )
    assert numbers(agent) == before


def numbers(agent):
    runtime = OntologyRuntime(agent.path)
    hits = runtime.query(MIGRATION, agent_id=AGENT).experience
    return [(h.source, h.score, h.lexical_score, h.cosine) for h in hits]


def test_salience_decides_between_equals_and_no_more(agent):
    texts = {n: f"A schema migration needs a rollback plan, part {n}" for n in "abc"}
    rows = [{"id": n, "text": text, "salience": 0.1} for n, text in texts.items()]
    rows[1]["salience"] = 1.0
    far = {"id": "far", "text": "A migration of birds begins in autumn", "salience": 1.0}
    assert agent.learn(*rows, far).ask(MIGRATION)[0] == "b"
    assert "far" not in agent.ask(MIGRATION)


def test_all_are_told_if_they_fit_else_the_best_that_do(agent):
    rows = [
        {"id": f"n{n}", "text": f"Schema migration {n} needs a rollback plan"} for n in range(12)
    ]
    agent.learn(*rows)
    assert len(agent.ask(MIGRATION)) == 12
    assert len(agent.ask(MIGRATION, budget=200)) == 3
    assert len(agent.ask(MIGRATION, budget=500, most=3)) == 3
    assert agent.ask(MIGRATION, budget=0) == []


def test_what_replaces_nothing_is_found_by_its_own_words_alone(agent):
    agent.learn(OLD, {"id": "new", "text": "we moved sshd to 49222"})
    assert agent.ask(PORT) == ["old"]


def test_other_languages_are_found_by_words(agent):
    agent.learn({"id": "ru", "text": "Перед каждой миграцией схемы готовим план отката"})
    assert agent.ask("как готовим откат миграции схемы?") == ["ru"]
    assert agent.ask("какая сегодня погода?") == []


def test_portuguese_rows_are_found_by_short_prompts(agent):
    text = "As migrações de esquema são feitas às quintas, nunca antes dos feriados"
    agent.learn({"id": "pt", "text": text})
    assert agent.ask("migrações de esquema") == ["pt"]


def test_the_interface_keeps_project_and_agent_apart(agent, facts):
    agent.learn(CHECKLIST)
    asked = OntologyRuntime(agent.path).query(MIGRATION, agent_id=AGENT)
    assert ([hit.source for hit in asked.experience], asked.hits) == (["list"], ())
    runtime = facts("We roll back a schema migration by hand.")
    with pytest.raises(Exception, match="not an experience"):
        runtime.query(MIGRATION, agent_id=AGENT)
    with pytest.raises(Exception, match="not a store"):
        OntologyRuntime(agent.path).query(MIGRATION)


def test_without_simsimd_words_still_find(agent, monkeypatch):
    import sys

    agent.learn(CHECKLIST, OLD)
    monkeypatch.setitem(sys.modules, "simsimd", None)
    found = OntologyRuntime(agent.path).query(MIGRATION, agent_id=AGENT)
    assert found.retrieval == "degraded_lexical"
    assert [hit.source for hit in found.experience] == ["list"]
