"""The ranked lists, each by itself, and what becomes of them together."""

import sqlite3
import sys
from contextlib import closing
from itertools import pairwise

import pytest

from agentlas_memory.embedding.asset import asset_dir, open_asset
from agentlas_memory.embedding.coverage import model_knows
from agentlas_memory.embedding.hash96 import cosine, hash_vector
from agentlas_memory.ontology.analyzer import analyze
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.dense import (
    DEPTH,
    CandidateCosines,
    DenseScores,
    dense_scores,
    typical_cosine,
)
from agentlas_memory.recall.embed import embed_question, idf
from agentlas_memory.recall.entity import entity_keys, search_entities
from agentlas_memory.recall.fusion import fuse
from agentlas_memory.recall.lexical import (
    MAX_TERMS,
    document_frequencies,
    rarest_terms,
    search_lexical,
    with_neighbours,
)
from agentlas_memory.recall.question import Question
from agentlas_memory.recall.scan import search_by_scan
from agentlas_memory.recall.ties import break_ties

ALL = ("public", "internal", "private")


@pytest.fixture(scope="session")
def asset():
    return open_asset(asset_dir(), None)


def by_source(store, hits):
    rows = store.chunks([chunk_id for chunk_id, _ in hits])
    return [rows[chunk_id].path for chunk_id, _ in hits]


# Lexical


def test_frequencies_count_chunks(facts, opened):
    facts("rota rota", "rota ledger", "ledger")
    assert document_frequencies(opened(), ["rota", "ledger", "none"]) == {
        "rota": 2,
        "ledger": 2,
        "none": 0,
    }
    assert document_frequencies(opened(), []) == {}


def test_rarest_terms_are_searched_first_and_missing_ones_not_at_all():
    frequencies = {f"t{number}": number for number in range(20)}
    assert rarest_terms(frequencies) == [f"t{number}" for number in range(1, MAX_TERMS + 1)]


def test_bm25_prefers_rare_words_short_texts_and_headings(facts, opened):
    runtime = facts(
        long="gateway " + "filler " * 50, short="gateway drains", other="cluster filler"
    )
    runtime.ingest_records([("headed", "drains", "gateway", "")])
    hits = search_lexical(opened(), ["gatewai"], ALL)
    assert by_source(opened(), hits) == ["headed", "short", "long"]
    assert all(score > 0 for _, score in hits)
    assert search_lexical(opened(), [], ALL) == []


def test_lexical_list_keeps_to_its_scopes(facts, opened):
    facts(secret="gateway salary", scope="private")
    facts(open="gateway rota", scope="public")
    assert by_source(opened(), search_lexical(opened(), ["gatewai"], ("public", "internal"))) == [
        "open"
    ]
    assert len(search_lexical(opened(), ["gatewai"], ALL)) == 2


# Scan


def test_scan_counts_the_terms_that_a_text_holds(facts, opened):
    facts("gateway policies and rota", "the ROTA", "none", secret="gateway")
    facts(secret="gateway policies", scope="private")
    hits = search_by_scan(opened(), analyze("gateway policy rota"), ("public", "internal"))
    assert by_source(opened(), hits) == ["0", "1"]
    assert [score for _, score in hits] == [3.0, 1.0]


def test_scan_takes_any_number_of_terms(facts, opened):
    facts("gateway")
    terms = [f"term{number}" for number in range(1500)]
    assert len(search_by_scan(opened(), ["gatewai", *terms], ALL)) == 1
    assert search_by_scan(opened(), [], ALL) == []


# Dense


@pytest.fixture
def many(facts, opened):
    words = [
        "ledger",
        "gateway",
        "rollout",
        "token",
        "cluster",
        "pager",
        "schema",
        "vault",
        "cursor",
        "quota",
        "shard",
        "lease",
    ]
    facts(
        *(
            f"{words[n % 12]} {words[n // 12 % 12]} {words[n // 144 % 12]} {n % 5}"
            for n in range(2600)
        ),
        "..",
        "\U0001f980",
    )
    return opened()


def ids_of(store):
    return [chunk_id for (chunk_id,) in store.rows("SELECT chunk_id FROM chunks ORDER BY 1")]


def test_guessed_cut_loses_none_of_the_nearest(many, asset):
    query = embed_question(Question("drain the pager cluster"), asset, {}, 1)
    scores, whole = dense_scores(many, query, ALL)
    assert whole
    all_scores = sorted((-scores.cosine(chunk_id), chunk_id) for chunk_id in ids_of(many))
    expected = [-score for score, _ in all_scores[:DEPTH]]
    assert [score for _, score in scores.best()] == pytest.approx(expected, abs=1e-6)


def test_single_cosines_without_simsimd_equal_the_scan(many, asset, monkeypatch):
    query = embed_question(Question("drain the pager cluster"), asset, {}, 1)
    scan, _ = dense_scores(many, query, ALL)
    monkeypatch.setitem(sys.modules, "simsimd", None)
    single, whole = dense_scores(many, query, ALL)
    assert isinstance(scan, DenseScores)
    assert (isinstance(single, CandidateCosines), whole) == (True, False)
    ids = ids_of(many)
    for chunk_id in ids[::50]:
        assert single.cosine(chunk_id) == pytest.approx(scan.cosine(chunk_id), abs=1e-3)
    assert single.cosine(ids[-1]) == scan.cosine(ids[-1]) == 0.0, "a text without a known word"
    assert single.cosine(99_999) is scan.cosine(99_999) is None


def test_without_a_vector_to_ask_with_nothing_is_missing(many):
    assert dense_scores(many, None, ALL) == (None, True)


# The question's vector


def test_rare_words_weigh_more(asset):
    question = Question("gateway cluster")
    plain = embed_question(question, asset, {"gatewai": 5, "cluster": 5}, 100)
    rare = embed_question(question, asset, {"gatewai": 90, "cluster": 1}, 100)
    cluster = embed_question(Question("cluster"), asset, {}, 100)
    assert similarity(rare, cluster) > similarity(plain, cluster)


def similarity(one, other):
    a, b = (list(memoryview(vector).cast("b")) for vector in (one, other))
    return cosine([float(x) for x in a], [float(y) for y in b])


def test_idf_falls_with_frequency_and_is_never_negative():
    values = [idf(count, 100) for count in (0, 1, 50, 100, 500)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("plain", True),
        ("why does kubectl drain the gateway twice", True),
        ("naïve café", True),
        ("тёмная тема", False),
        ("设备", False),
        ("docs: тема", True),
        ("42", True),
        ("Wie stellen wir die Datenbank nach einem Ausfall wieder her?", False),
        ("Comment restaurer la base de données après une panne ?", False),
        ("Quantas pessoas precisam acompanhar as implantações?", False),
        ("¿Por qué se borran las copias cada noche?", False),
    ],
)
def test_model_is_asked_only_about_text_whose_words_it_knows(asset, text, known):
    assert model_knows(text, asset.vocabulary) == known


# Entities


@pytest.fixture
def named(project):
    filler = {
        f"docs/f{number}.md": f"# Part {number}\n\nSee `common.py`.\n" for number in range(40)
    }
    project.index(
        {
            **filler,
            "docs/adr/0007-ledger.md": "# Use minor units\n\nBecause floats lose cents.\n",
            "docs/tokens.md": "# How tokens are refreshed\n\n"
            "See ADR-7, #12 and `src/auth.py`, `getUserById`.\n",
        }
    )
    return project


@pytest.mark.parametrize(
    ("prompt", "first"),
    [
        ("what does ADR-7 say?", "docs/adr/0007-ledger.md"),
        ("adr 0007", "docs/adr/0007-ledger.md"),
        ("is (#12) done?", "docs/tokens.md"),
        ("gh-12", "docs/tokens.md"),
        ("look at src/auth.py please", "docs/tokens.md"),
        ("where is GetUserByID used", "docs/tokens.md"),
        ("explain “how tokens are refreshed”", "docs/tokens.md"),
        ("docs/tokens.md", "docs/tokens.md"),
    ],
)
def test_prompt_that_names_a_thing_finds_where_it_is(named, prompt, first):
    assert entity_sources(named, prompt)[0] == first


def entity_sources(project, prompt, scopes=ALL):
    from agentlas_memory.deadline import Deadline
    from agentlas_memory.ontology.store import open_store

    store = open_store(str(project.runtime._path), Deadline(60_000))
    found = [hit.chunk_id for hit in search_entities(store, Question(prompt), scopes)]
    rows = store.chunks(found)
    store.close()
    return [rows[chunk_id].path for chunk_id in found]


def test_thing_that_is_named_everywhere_points_nowhere(named):
    assert entity_sources(named, "what is in common.py?") == []


def test_entities_of_a_private_document_stay_private(named):
    named.index({".agentlas/memory.toml": '[scopes]\n"docs/adr/" = "private"\n'})
    assert entity_sources(named, "adr 7", ("public", "internal")) == ["docs/tokens.md"]
    assert entity_sources(named, "adr 7")[0] == "docs/adr/0007-ledger.md"


def test_keys_of_a_long_prompt_are_bounded():
    assert len(entity_keys(Question(" ".join(f"w{number}" for number in range(200))))) < 1000


# Fusion and ties


def candidate(chunk_id, **values):
    made = Candidate(chunk_id)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def test_fusion_prefers_what_several_lists_agree_on():
    both = candidate(3, lexical_rank=2, lexical_context=4.0, dense_rank=2, cosine=0.6)
    words = candidate(1, lexical_rank=1, lexical_context=5.0, cosine=0.1)
    likeness = candidate(2, dense_rank=1, cosine=0.7)
    assert [c.chunk_id for c in fuse([words, likeness, both], 1.0)] == [3, 1, 2]


def test_fusion_of_equals_goes_by_id_whatever_the_order():
    make = lambda chunk_id: candidate(chunk_id, entity_rank=1)  # noqa: E731
    assert [c.chunk_id for c in fuse([make(9), make(2), make(5)], 0.0)] == [2, 5, 9]
    assert fuse([], 0.0) == []


def test_ties_go_to_the_text_that_is_more_like_the_question(facts, opened):
    facts("gateway and many other things of another kind", "gateway drains", "rota")
    tied = break_ties(opened(), Question("gateway drains"), [(3, 9.0), (1, 2.0), (2, 2.0)])
    assert tied == [(3, 9.0), (2, 2.0), (1, 2.0)]
    untied = [(1, 3.0), (2, 2.0)]
    assert break_ties(opened(), Question("gateway"), untied) == untied


def test_hash_vectors_have_the_documented_layout():
    vector = hash_vector(["gatewai"])
    assert (len(vector), sorted(map(abs, vector))[-1]) == (96, 1.0)
    assert cosine(vector, hash_vector([])) == 0.0


# Neighbours


def test_text_beside_what_matches_comes_before_text_that_stands_alone():
    alone, beside, match = (10, 2.0), (20, 2.0), (21, 5.0)
    assert [chunk_id for chunk_id, _ in with_neighbours([alone, beside, match])] == [21, 20, 10]


def test_chunks_of_a_document_are_no_neighbours(project):
    section = "\n\n".join(f"Paragraph {n} about the ledger. " + "word " * 150 for n in range(3))
    project.index({"a.md": f"# A\n\n{section}\n", "b.md": "# B\n\nThe gateway.\n"})
    with closing(sqlite3.connect(project.runtime._path)) as database:
        ids = [row[0] for row in database.execute("SELECT chunk_id FROM chunks ORDER BY 1")]
    assert min(gaps(ids)) > 1


def test_records_of_one_title_are_the_turns_of_a_talk(facts, opened):
    runtime = facts("no title")
    talk = [(f"t{n}", f"turn {n}", "8 May") for n in range(3)]
    pages = [(f"p{n}", f"page {n}", "8 May", "diary.md") for n in range(2)]
    runtime.ingest_records([*talk, ("other", "another talk", "9 May"), *pages])
    assert gaps(ids_of(opened())) == [2, 1, 1, 2, 2, 2]


def gaps(ids):
    return [after - before for before, after in pairwise(ids)]


# What is typical


def test_question_is_compared_with_what_any_chunk_is_like(facts, opened, asset):
    facts(*(f"The ledger keeps entry {n} in minor units." for n in range(300)))
    store = opened()
    query = embed_question(Question("ledger entries in minor units"), asset, {}, 1)
    dense, _ = dense_scores(store, query, ALL)
    assert typical_cosine(dense) > 0.5
    nothing, _ = dense_scores(store, query, ("private",))
    assert -0.5 < typical_cosine(nothing) < 0.5, "chunks of other scopes do not count"


@pytest.mark.parametrize("without", ["", "simsimd"])
def test_text_of_another_language_has_no_direction(facts, opened, asset, monkeypatch, without):
    facts("Quantas pessoas precisam acompanhar as implantações do sistema?", "The rota.")
    if without:
        monkeypatch.setitem(sys.modules, without, None)
    query = embed_question(Question("who watches the deployments"), asset, {}, 1)
    dense, _ = dense_scores(opened(), query, ALL)
    first, second = ids_of(opened())
    assert dense.cosine(first) == 0.0 != dense.cosine(second)
