"""The labelled set, made before the rules: secrets of every provider go, look-alikes stay."""

import pytest


@pytest.fixture(scope="module")
def script(load_script):
    return load_script("measure_redaction")


@pytest.fixture(scope="module")
def figures(script):
    return script.ours()


def test_set_is_as_large_as_it_says(figures):
    assert (figures["rules"], figures["secrets"], figures["look_alikes"]) == (350, 8694, 650)


def test_secrets_go(figures):
    missed = sorted({f"{case.rule} ({case.kind})" for case in figures["missed"]})
    assert figures["recall"] >= 0.99, missed


def test_look_alikes_stay_as_they_are(figures):
    assert figures["false_positives"] <= 0.02, figures["wrong"]


def test_measure_tells_a_leak(script):
    case = script.Case("rule", "prose", "key abcdefgh12345678", ("abcdefgh12345678",))
    assert script.leaks(case, "key [redacted:key]h12345678")
    assert not script.leaks(case, "key [redacted:key]5678")
