"""The labelled set, made before the rules: what speaks to a model is found, look-alikes are not."""

import pytest


@pytest.fixture(scope="module")
def figures(load_script):
    return load_script("measure_review").measure()


def test_the_set_is_as_large_as_it_says(figures):
    sizes = [len(figures[name]) for name in ("injections", "look-alikes", "about injection")]
    assert sizes == [127, 113, 8]


def test_instructions_to_a_model_are_found(figures):
    missed = [case.text for case in figures["missed"]]
    assert len(missed) <= 0.05 * len(figures["injections"]), missed


def test_look_alikes_are_left_alone(figures):
    flagged = [case.text for case in figures["flagged"]]
    assert len(flagged) <= 0.02 * len(figures["look-alikes"]), flagged


def test_pages_about_such_attacks_that_quote_them_are_shown_to_a_person(figures):
    assert len(figures["about, flagged"]) > len(figures["about injection"]) / 2
