"""Scopes, parts that are missing, limits: what is left is said, and right."""

import sqlite3
import sys

import pytest
from recall.ledger import ASK, LEDGER, gates

from agentlas_memory.deadline import Deadline, DeadlineReached
from agentlas_memory.embedding.model import open_model
from agentlas_memory.home import data_home
from agentlas_memory.ontology.store import open_store
from agentlas_memory.recall.engine import recall
from agentlas_memory.runtime import OntologyRuntime

# Scopes


SCOPES = '[scopes]\n"private.md" = "private"\n"public.md" = "public"\n'


@pytest.fixture
def scoped(project):
    said = {
        name: " ".join(f"{name}{n}" for n in range(9)) for name in ("private", "public", "other")
    }
    files = {f"{name}.md": f"{LEDGER}\nSays {words}.\n" for name, words in said.items()}
    project.index({".agentlas/memory.toml": SCOPES, **files})
    return project


@pytest.mark.parametrize("without", ["", "simsimd", "sidecar", "model", "fts5"])
def test_private_text_is_in_no_result_for_others(scoped, without, monkeypatch):
    take_away(without, scoped, monkeypatch)
    found = scoped.runtime.explain(ASK, gated=False)
    assert {hit.row.path for hit in found.hits} == {"public.md", "other.md"}
    assert "private.md" not in {
        c.row.path
        for c in found.candidates
        if c.lexical_rank or c.dense_rank or c.cosine is not None
    }
    assert scoped.sources_of(ASK, scopes=("private",), gated=False) == ["private.md"]
    assert scoped.sources_of(ASK, scopes=()) == []


def take_away(part, project, monkeypatch):
    """Have recall go without one of its parts."""
    if part == "simsimd":
        monkeypatch.setitem(sys.modules, "simsimd", None)
    elif part == "sidecar":
        for file in (project.root / ".agentlas").glob("*.vec-*"):
            file.unlink()
    elif part == "model":
        monkeypatch.setattr("agentlas_memory.runtime.open_model", lambda home: None)
    elif part == "fts5":
        database = sqlite3.connect(project.runtime._path)
        database.execute("DROP TABLE chunk_fts")
        database.close()


def test_private_chunks_are_no_candidates_by_the_things_they_name(scoped):
    private = "---\nid: zx91\n---\n" + LEDGER
    scoped.index({"private.md": private})
    assert "private.md" not in gates(scoped, "zx91")
    assert scoped.sources_of("what is in zx91?", scopes=("private",), gated=False) == ["private.md"]


# Degraded


@pytest.mark.parametrize(
    ("without", "retrieval"),
    [
        ("", "hybrid"),
        ("simsimd", "degraded_lexical"),
        ("sidecar", "degraded_lexical"),
        ("fts5", "degraded_lexical"),
        ("model", "degraded_hash"),
    ],
)
def test_what_is_missing_is_said_and_the_rest_still_answers(
    project, without, retrieval, monkeypatch
):
    project.index({"ledger.md": LEDGER, "other.md": "# Pagers\n\nThe pager rota is weekly.\n"})
    take_away(without, project, monkeypatch)
    result = project.runtime.query(ASK)
    assert (result.retrieval, [hit.source for hit in result.hits]) == (retrieval, ["ledger.md"])


@pytest.mark.parametrize("without", ["", "simsimd", "sidecar", "fts5", "model"])
def test_what_is_missing_makes_no_noise(project, without, monkeypatch):
    chores = "# Chores\n\nRun the tests, commit and push, then continue with the release.\n"
    project.index({"ledger.md": LEDGER, "chores.md": chores})
    take_away(without, project, monkeypatch)
    for prompt in ("continue", "run the tests", "commit this", "push it", "looks good, release it"):
        assert project.runtime.query(prompt).hits == ()


def test_without_simsimd_the_cosines_of_the_hits_are_the_same(project, monkeypatch):
    project.index({f"f{n}.md": LEDGER.replace("minor", f"minor w{n}") for n in range(5)})
    whole = {hit.source: hit.cosine for hit in project.runtime.query(ASK).hits}
    take_away("simsimd", project, monkeypatch)
    alone = {hit.source: hit.cosine for hit in project.runtime.query(ASK).hits}
    assert alone == pytest.approx(whole, abs=1e-3)


def test_without_the_model_equal_scores_have_a_fixed_order(project, monkeypatch):
    words = ("gateway drains", "drains gateway", "gateway drained", "draining gateways")
    project.index({f"f{n}.md": f"The {text}.\n" for n, text in enumerate(words)})
    take_away("model", project, monkeypatch)
    first = project.sources_of("gateway drains", gated=False)
    assert len(first) == 4
    assert project.sources_of("gateway drains", gated=False) == first


# Limits


def test_limit_is_kept_and_what_is_over_it_is_named(project):
    project.index({f"f{n}.md": LEDGER.replace("cents", f"cents w{n}") for n in range(30)})
    for limit in (0, 1, 5, 8):
        assert len(project.sources_of(ASK, limit=limit)) == limit
    assert list(gates(project, limit=1).values()).count("budget") > 5
    assert len(project.sources_of(ASK, limit=25)) == 25
    assert len(project.sources_of(ASK, limit=10**9)) == 30


def test_time_that_is_up_before_the_words_were_found_is_an_error(project):
    project.index({"ledger.md": LEDGER})
    with pytest.raises(DeadlineReached):
        asked_within(project, milliseconds=0)


def asked_within(project, milliseconds):
    store = open_store(str(project.runtime._path), Deadline(60_000))
    deadline = Deadline(milliseconds)
    store.connection.set_progress_handler(deadline.passed, 1)
    try:
        return recall(
            store, ASK, scopes=("public", "internal"), limit=8, root=None,
            asset=open_model(data_home()), deadline=deadline,
        )  # fmt: skip
    finally:
        store.close()


def test_time_that_is_up_after_the_words_were_found_costs_only_the_vectors(project, monkeypatch):
    project.index({"ledger.md": LEDGER})

    def late(*_):
        raise DeadlineReached

    monkeypatch.setattr("agentlas_memory.recall.engine.embed_question", late)
    result = project.runtime.query(ASK)
    assert (result.retrieval, len(result.hits)) == ("degraded_lexical", 1)


@pytest.mark.parametrize("prompt", ["", "the of and", "?"])
def test_prompt_without_a_word_is_silent(project, prompt):
    project.index({"ledger.md": LEDGER})
    found = project.runtime.explain(prompt)
    assert (found.hits, found.silence_reason) == ([], "no_terms")


def test_store_beside_no_project_compares_no_files(tmp_path):
    runtime = OntologyRuntime(tmp_path / "notes.sqlite")
    runtime.ingest_records([("ledger", LEDGER)])
    assert [hit.source for hit in runtime.query(ASK).hits] == ["ledger"]
