"""What a word says, what evidence is, and the gate that moves with a store."""

import sqlite3
from contextlib import closing

import pytest

from agentlas_memory.embedding.asset import asset_dir, open_asset
from agentlas_memory.recall import calibrate
from agentlas_memory.recall.gates import gate_above
from agentlas_memory.recall.question import Question
from agentlas_memory.recall.weights import Weights, commonness, specificity


@pytest.fixture(scope="module")
def asset():
    return open_asset(asset_dir(), None)


def term(word):
    return next(iter(Question(word).terms.values()))


def test_words_of_general_text_say_less(asset):
    words = [term(word) for word in ("people", "deployment", "kubernetes")]
    assert sorted(words, key=lambda one: specificity(one, asset)) == words
    assert sorted(words, key=lambda one: -commonness(one, asset)) == words


def test_identifier_says_everything(asset):
    assert specificity(term("src/auth.py"), asset) == 1.0


@pytest.mark.parametrize(
    ("less", "more"), [("した", "保存"), ("什么", "编号"), ("에서", "배포"), ("에서", "выгрузка")]
)
def test_endings_and_particles_say_less_than_words(asset, less, more):
    assert specificity(term(less), asset) < specificity(term(more), asset)


def test_rare_word_of_a_large_store_weighs_more(asset):
    question = Question("ledger gateway")
    weights = Weights(question, {"ledger": 900, "gatewai": 3}, 1000, asset)
    assert weights.rarity["gatewai"] > weights.rarity["ledger"] > 0
    assert weights.total == pytest.approx(sum(weights.of.values()))


def test_words_that_are_frequent_here_alone_are_typical_of_a_store(asset):
    question = Question("ledger")
    here, elsewhere = (
        Weights(question, {"ledger": count}, 1000, asset).most_typical for count in (200, 0)
    )
    assert here > elsewhere


def test_gate_rises_with_the_noise_of_a_store_within_bounds():
    heights = [gate_above(noise) for noise in (-1e6, 0.0, 5.2, 6.0, 1e6)]
    assert heights == sorted(heights)
    assert heights[-1] - heights[0] == pytest.approx(2.25)


# Measured at index time


@pytest.fixture
def measured(monkeypatch):
    """Note each measuring of a store."""
    calls = []
    real = calibrate.measure_noise

    def measure(*arguments):
        calls.append(real(*arguments))
        return calls[-1]

    monkeypatch.setattr(calibrate, "measure_noise", measure)
    return calls


def numbered(first, last):
    return [(str(n), f"The {n}th gateway drains its queue.") for n in range(first, last)]


def test_store_is_measured_when_it_is_made_and_when_it_has_changed_a_good_deal(facts, measured):
    runtime = facts()
    sizes = []
    for first, last in ((0, 90), (90, 150), (150, 155), (155, 400)):
        runtime.ingest_records(numbered(first, last))
        sizes.append(len(measured))
    assert sizes == [0, 1, 1, 2]


def test_store_that_shrank_has_the_usual_gate_again(project, measured):
    from agentlas_memory.recall.calibrate import calibrate

    files = {f"f{n}.md": f"The {n}th gateway drains its queue.\n" for n in range(120)}
    project.index(files)
    calibrate(project.runtime._path)
    for n in range(1, 120):
        (project.root / f"f{n}.md").unlink()
    project.index()
    calibrate(project.runtime._path)
    assert len(measured) == 1
    assert project.runtime.explain("how does a gateway drain?").gates.noise is None


@pytest.mark.parametrize("note", ["1/abc", "1/", "1/-5", "x", ""])
def test_note_of_a_measuring_that_makes_no_sense_means_another(facts, measured, tmp_path, note):
    runtime = facts(*(text for _, text in numbered(0, 120)))
    with closing(sqlite3.connect(tmp_path / "facts.sqlite")) as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'noise_measured'", (note,))
        database.commit()
    runtime.ingest_records(numbered(0, 1))
    assert len(measured) == 2


def test_product_names_are_no_identifiers_of_the_project(facts):
    runtime = facts("Because JavaScript and Python then agree on cents.", "The `billCents` helper.")
    assert runtime.query("how do closures work in JavaScript?").hits == ()
    assert [hit.source for hit in runtime.query("what is billCents?").hits] == ["1"]


def test_noise_is_in_the_store_and_moves_the_gate(facts, measured):
    runtime = facts(*(text for _, text in numbered(0, 150)))
    gates = runtime.explain("how does a gateway drain?").gates
    assert gates.noise == measured[0]
    assert gates.height == gate_above(measured[0])


@pytest.mark.parametrize("noise", ["loud", None, 10**9, b"\0"])
def test_noise_that_is_no_measure_counts_as_none(facts, tmp_path, noise):
    runtime = facts(*(text for _, text in numbered(0, 120)))
    with closing(sqlite3.connect(tmp_path / "facts.sqlite")) as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'noise'", (noise,))
        database.commit()
    assert runtime.explain("how does a gateway drain?").gates.noise is None


def test_store_without_a_model_is_not_measured(facts, measured, monkeypatch):
    monkeypatch.setattr(calibrate, "open_model", lambda home: None)
    facts(*(text for _, text in numbered(0, 120)))
    assert measured == []
