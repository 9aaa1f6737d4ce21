"""A run that takes too long ends in time, with what it has or with nothing."""

import time

import pytest

FACT = "integer minor units"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def hang(module, name, call="sleep(60)"):
    """Return a statement that makes a function of ours hang."""
    return f"import agentlas_memory.{module} as m; m.{name} = lambda *a: {call}"


# Where it hangs -> how.
LEXICAL = {
    "project": hang("project", "find_project"),
    "trust": hang("trust", "read_trust"),
    "opening": hang("ontology.store", "check_header"),
    "model": hang("embedding.model", "open_model"),
    "lexical": hang("recall.lexical", "search_lexical"),
    "a query": hang("recall.lexical", "search_lexical", f"a[0].rows({ENDLESS!r})"),
    "gates": hang("recall.gates", "Gates.judge"),
}


@pytest.mark.parametrize("statement", LEXICAL.values(), ids=LEXICAL)
def test_what_is_not_finished_is_not_used(
    make_project, run_patched, prompt_event, settings, statement
):
    root = make_project()
    settings(deadline_ms=300)
    started = time.monotonic()
    assert run_patched(statement, prompt_event(root), logs=None) == b""
    assert 0.3 < time.monotonic() - started < 1.2


@pytest.mark.parametrize("place", ["opening", "lexical", "a query", "gates"])
def test_the_receipt_names_the_last_finished_stage(
    make_project, run_patched, prompt_event, settings, receipt, place
):
    root = make_project()
    settings(deadline_ms=300)
    run_patched(LEXICAL[place], prompt_event(root), logs=None)
    assert receipt()["silence_reason"] == "deadline"
    assert "project" in receipt()["stages"]


def test_without_the_cosines_the_words_decide(
    make_project, run_patched, prompt_event, context, settings, receipt
):
    root = make_project()
    settings(deadline_ms=300)
    capsule = context(run_patched(hang("recall.dense", "dense_scores"), prompt_event(root)))
    assert FACT in capsule
    assert "retrieval=degraded_lexical;" in capsule
    assert receipt()["stages"]["dense"] >= 200


SLOW_NOTES = {
    "recording": hang("delivery", "make_private_folder"),
    "receipt": hang("receipt", "Receipt.save"),
}


@pytest.mark.parametrize("statement", SLOW_NOTES.values(), ids=SLOW_NOTES)
def test_an_answer_is_not_lost_to_our_own_notes(
    make_project, run_patched, prompt_event, context, settings, statement
):
    root = make_project()
    settings(deadline_ms=300)
    assert FACT in context(run_patched(statement, prompt_event(root)))


def test_the_deadline_is_a_second_and_a_half(make_project, run_patched, prompt_event):
    started = time.monotonic()
    run_patched(LEXICAL["lexical"], prompt_event(make_project()))
    assert 1.45 < time.monotonic() - started < 1.9


@pytest.mark.parametrize("value", [0, -1, 5, 1e9, "300", None, True, [], {}])
def test_other_deadlines_count_as_none(make_project, ask, settings, value):
    root = make_project()
    settings(deadline_ms=value)
    assert FACT in ask(root)


FAULTS = [
    "MemoryError",
    "RecursionError",
    "KeyError('integer')",
    "SystemExit(2)",
    "KeyboardInterrupt",
    "BaseException",
]


@pytest.mark.parametrize("fault", FAULTS)
def test_any_fault_ends_in_silence(make_project, run_patched, prompt_event, fault):
    statement = (
        "import agentlas_memory.recall.lexical as m\n"
        f"def fail(*a): raise {fault}\n"
        "m.search_lexical = fail"
    )
    assert run_patched(statement, prompt_event(make_project()), logs=True) == b""
