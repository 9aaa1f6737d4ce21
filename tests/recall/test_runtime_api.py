"""The Python interface keeps its promises."""

import json

import pytest

from agentlas_memory.ontology import OntologyRuntime
from agentlas_memory.ontology.store import StoreUnusable

KEYS = "We rotate the signing keys every 90 days with the rotate-keys job."
ASK = "how often do we rotate the signing keys?"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"record_memory": True}, "adds no second memory authority"),
        ({"limit": -1}, "limit=-1"),
        ({"token_budget": -1}, "token_budget=-1"),
        ({"scopes": ("secret",)}, "one of public, internal, private"),
        ({"scopes": "public"}, "a sequence of public, internal, private"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(facts, options, message):
    with pytest.raises(ValueError, match=message):
        facts(KEYS).query(ASK, **options)


def test_result_becomes_json(facts):
    result = facts(KEYS).query(ASK)
    document = json.loads(json.dumps(result.to_dict()))
    assert set(document) == {"query", "retrieval", "hits", "experience"}
    assert document["hits"][0]["text"] == KEYS
    assert document["experience"] == []


def test_token_budget_counts_four_characters_a_token(facts):
    runtime = facts(a=KEYS, b=KEYS.replace("90", "91"), c=KEYS.replace("90", "92"))
    size = len(KEYS)
    for budget, kept in ((0, 0), (size // 4 - 1, 0), (size, 3), (size // 2 + 1, 2), (10**9, 3)):
        assert len(runtime.query(ASK, token_budget=budget).hits) == kept


def test_missing_store_is_said(tmp_path):
    with pytest.raises(StoreUnusable, match="cannot be opened"):
        OntologyRuntime(tmp_path / "none.sqlite").query(ASK)
    assert not list(tmp_path.iterdir())


def test_relative_path_stays_where_it_was_when_the_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runtime = OntologyRuntime("notes.sqlite")
    runtime.ingest_records([("keys", KEYS)])
    monkeypatch.chdir("/")
    assert runtime.query(ASK).hits


def test_one_runtime_answers_from_what_is_there_now(facts):
    runtime = facts(keys=KEYS)
    assert runtime.query(ASK).hits
    runtime.ingest_records([("keys", "The pager rota is weekly.")])
    assert runtime.query(ASK).hits == ()


def test_question_of_lone_surrogates_is_survived(facts):
    assert facts(KEYS).query(f"{ASK} \ud83c").hits[0].text == KEYS


def test_ungated_query_ranks_what_the_gates_would_drop(facts):
    runtime = facts(KEYS)
    assert runtime.query("how are the weekly pagers rotated?").hits == ()
    assert len(runtime.query("how are the weekly pagers rotated?", gated=False).hits) == 1
