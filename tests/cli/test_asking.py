"""`query`, `why` and `graph`: what is known, and why it is told or not."""

import json
import subprocess
import sys

import pytest

from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.store import open_store
from agentlas_memory.receipt import Receipt
from agentlas_memory.runtime import OntologyRuntime

ASKED = "how is the ledger settled"
UNRELATED = "what is the weather like in Paris tomorrow"


def why(am, *arguments):
    outcome = am("why", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json


def leave_receipt(project, home, prompt, silence_reason=""):
    """Write the receipt that a hook run with this prompt leaves."""
    database = str(project / ".agentlas/ontology-runtime.sqlite")
    store = open_store(database, Deadline(1000))
    receipt = Receipt("claude", Deadline(1000))
    receipt.store_id = store.text("store_id")
    store.close()
    found = OntologyRuntime(database).explain(prompt, limit=4)
    receipt.retrieval, receipt.candidates = found.retrieval, found.candidates
    receipt.silence_reason = silence_reason or found.silence_reason
    receipt.save(f"{home}/.agentlas")


def test_a_proposal_is_called_one_in_query_and_why(project, am):
    text = "# 8. Quokkas\n\nStatus: proposed\n\n## Decision\n\nQuokkas are fed at noon.\n"
    (project / "docs/adr").mkdir()
    (project / "docs/adr/0008-quokkas.md").write_text(text)
    am("index")
    assert "(internal, proposed, score" in am("query", "when are quokkas fed?").out
    document = am("why", "when are quokkas fed?", "--json").json
    assert "proposed" in {one["standing"] for one in document["candidates"]}


def test_hits_name_their_lines(project, am):
    hit = am("query", ASKED, "--json").json["hits"][0]
    assert (hit["source"], hit["lines"]) == ("docs/0007-ledger.md", [3, 4])
    assert "docs/0007-ledger.md:3-4" in am("query", ASKED).out


def test_limit_bounds_the_hits(project, am):
    for number in range(5):
        (project / f"docs/l{number}.md").write_text(f"# Ledger {number}\n\nThe ledger is {number}.")
    am("index")
    assert len(am("query", "what is the ledger", "--limit", "2", "--json").json["hits"]) == 2


def test_private_text_is_shown_only_when_asked_for(project, am):
    am("remember", "The quokka cluster is old", "--scope", "private")
    asked = ["query", "the quokka cluster", "--json"]
    assert am(*asked).json["hits"] == []
    assert am(*asked, "--scope", "private").json["hits"][0]["scope"] == "private"


def test_silence_is_explained_in_one_sentence(project, am):
    for command in ("query", "why"):
        err = am(command, UNRELATED).err
        assert "Silent: the closest was docs/" in err
        assert "it missed the gate" in err


@pytest.mark.parametrize("prompt", ["", "the of and"])
def test_a_prompt_without_words_is_explained(project, am, prompt):
    assert why(am, prompt)["silence_reason"] == "no_terms"
    assert "no word" in am("why", prompt).err


def test_why_shows_the_numbers_of_a_hit(project, am):
    document = why(am, ASKED)
    first = document["candidates"][0]
    assert document["silence_reason"] is None
    assert (first["rank"], first["gate"], first["lexical_rank"]) == (1, None, 1)
    assert first["margin"] >= 0
    assert "ledger" in first["matched"]
    assert first["shown"]["fits"] is True
    assert first["scope"] == "internal"
    assert first["age_days"] >= 0


def test_why_shows_which_gate_dropped_a_candidate_and_by_how_much(project, am):
    document = why(am, UNRELATED)
    assert document["silence_reason"] == "gated"
    assert document["dropped"]
    for one in document["dropped"]:
        assert one["gate"] in document["gates"]
        assert one["margin"] < 0


def test_why_shows_what_the_evidence_was_held_against(project, am):
    judged_by = why(am, UNRELATED)["judged_by"]
    assert judged_by["gate"] > 0 > judged_by["typical_cosine"] - 1
    assert set(judged_by) == {"gate", "noise", "typical_cosine", "weights"}
    assert f"gate: evidence of {judged_by['gate']:.2f}" in am("why", UNRELATED).err


def test_why_counts_what_redaction_took(project, am):
    am("remember", "The zorkmid vault opens with password = hunter2hunter2")
    shown = why(am, "what opens the zorkmid vault")["candidates"][0]["shown"]
    assert shown["redacted"] == 1


def test_why_knows_a_source_that_changed(project, am):
    (project / "docs/0007-ledger.md").write_text("# Something else\n")
    document = why(am, ASKED)
    assert document["silence_reason"] == "stale"
    assert "changed or vanished" in am("why", ASKED).err


@pytest.mark.parametrize(("line", "reason"), [("distrust", "untrusted"), ("off", "off")])
def test_why_tells_when_the_hook_would_not_even_look(project, am, line, reason):
    am(line)
    document = why(am, ASKED)
    assert document["silence_reason"] == reason
    assert document["candidates"]


def test_query_warns_of_a_strangers_text(project, am):
    am("distrust")
    outcome = am("query", ASKED)
    assert (outcome.code, "not trusted" in outcome.err) == (0, True)


def test_why_last_names_what_the_last_prompt_found(project, home, am):
    leave_receipt(project, home, ASKED)
    document = why(am, "--last")
    assert document["query"] is None
    assert document["silence_reason"] is None
    assert document["hits"][0]["source"] == "docs/0007-ledger.md"
    assert document["candidates"][0]["lines"] == [3, 4]
    assert "docs/0007-ledger.md:3-4" in am("why", "--last").out


def test_why_last_explains_a_silence(project, home, am):
    leave_receipt(project, home, UNRELATED)
    assert why(am, "--last")["silence_reason"] == "gated"
    assert am("status", "--json").json["last_silence"] == "gated"


def test_why_last_says_what_is_gone_since(project, home, am):
    leave_receipt(project, home, ASKED)
    (project / "docs/0007-ledger.md").unlink()
    am("index")
    assert why(am, "--last")["candidates"][0]["source"] is None
    assert "(gone since)" in am("why", "--last").out


@pytest.mark.parametrize(
    "other",
    [
        {"candidates": {"a": 1}, "experience": 3, "silence_reason": [], "retrieval": None},
        {"candidates": [1, {}, {"chunk_id": "x"}, {"chunk_id": 10**30}]},
        {"candidates": [{"chunk_id": 1, "score": "high", "gate": 7, "source_state": []}]},
    ],
    ids=["no lists", "no ids", "other values"],
)
def test_a_receipt_of_another_shape_is_survived(project, home, am, other):
    leave_receipt(project, home, ASKED)
    [file] = (home / ".agentlas/state/last").glob("*.json")
    file.write_text(json.dumps(other))
    assert why(am, "--last")["query"] is None
    assert am("why", "--last").code == 0


def test_why_last_without_any_prompt_is_an_error(project, am):
    outcome = am("why", "--last")
    assert outcome.code == 1
    assert "No prompt has been asked" in outcome.err


@pytest.mark.parametrize("name", ["LedgerService", "ledgerservice", "LEDGERSERVICE"])
def test_graph_finds_an_entity_whatever_its_case(project, am, name):
    document = am("graph", "show", name, "--json").json
    assert document["entity"]["name"] == "LedgerService"
    relation = document["relations"][0]
    assert (relation["relation"], relation["subject"]) == ("mentions", "docs/0007-ledger.md")
    assert relation["evidence"]["source"] == "docs/0007-ledger.md"
    assert relation["evidence"]["lines"] == [3, 4]


def test_graph_folds_more_than_ascii(project, am):
    (project / "docs/ü.md").write_text("# Überweisung\n\nGeld wird überwiesen.\n")
    am("index")
    assert am("graph", "show", "ÜBERWEISUNG", "--json").json["entity"]["name"] == "Überweisung"


def test_graph_shows_relations_between_entities(project, am):
    text = "# Cash\n\nCash follows [the ledger](0007-ledger.md).\n"
    (project / "docs/cash.md").write_text(text)
    am("index")
    relations = am("graph", "show", "docs/0007-ledger.md", "--json").json["relations"]
    assert "links_to" in {one["relation"] for one in relations}


def test_graph_suggests_near_names(project, am):
    outcome = am("graph", "show", "LedgrServise")
    assert outcome.code == 1
    assert "LedgerService" in outcome.err


def test_graph_says_when_it_shows_less_than_there_is(project, am):
    for number in range(3):
        (project / f"docs/{number}.md").write_text(f"# N{number}\n\nUses `LedgerService`.\n")
    am("index")
    outcome = am("graph", "show", "LedgerService", "--limit", "2", "--json")
    assert len(outcome.json["relations"]) == 2
    assert "2 of 4" in outcome.err


def test_model_path_is_a_folder(am):
    assert json.loads(am("model", "path", "--json").out)["path"] == am("model", "path").out.strip()


def test_a_rejected_model_is_an_error_and_still_one_document(am, tmp_path, monkeypatch):
    monkeypatch.setattr("agentlas_memory.commands.model.asset_dir", lambda: str(tmp_path))
    outcome = am("model", "verify", "--json")
    assert (outcome.code, outcome.json["status"]) == (1, "rejected")
    assert "Next: " in outcome.err


def test_the_program_also_runs_as_a_module():
    command = [sys.executable, "-m", "agentlas_memory", "--version"]
    assert subprocess.run(command, capture_output=True).returncode == 0
