"""Hash vectors are the same on every Python, and say only how many terms two texts share."""

from math import isclose

import pytest

from agentlas_memory.embedding.hash96 import cosine, hash_vector


def test_a_term_has_its_bucket_and_sign_for_ever():
    vector = hash_vector(["ledger"])
    assert {at: value for at, value in enumerate(vector) if value} == {43: -1.0}


def test_vectors_have_unit_length_and_no_order():
    vector = hash_vector(["ledger", "minor", "units", "ledger"])
    assert len(vector) == 96
    assert isclose(sum(value * value for value in vector), 1.0)
    assert vector == hash_vector(["units", "ledger", "ledger", "minor"])


@pytest.mark.parametrize("term", ["ё", "中文", "\ud800", ""], ids=ascii)
def test_any_term_is_hashed(term):
    assert sum(map(abs, hash_vector([term]))) == 1.0


def test_cosine_grows_with_shared_terms():
    query = hash_vector(["ledger", "settlement", "units"])
    close = cosine(query, hash_vector(["ledger", "settlement", "colours"]))
    far = cosine(query, hash_vector(["ledger", "window", "colours"]))
    assert isclose(cosine(query, query), 1.0)
    assert 0 < far < close < 1


def test_nothing_is_like_nothing():
    assert cosine(hash_vector([]), hash_vector(["ledger"])) == 0.0
