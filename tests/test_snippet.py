"""Which lines of a chunk are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlas_memory.recall.snippet import cut_snippet

words = st.sampled_from(["alpha", "beta", "gamma", "delta", "x", "İstanbul", "ﬁn"])
chunk = st.lists(st.lists(words, max_size=12).map(" ".join), min_size=1, max_size=30).map("\n".join)


def cut(text, wanted=(), limit=60, start=1):
    snippet = cut_snippet(text, start, start + text.count("\n"), list(wanted), limit)
    return snippet.text, snippet.start_line, snippet.end_line


@given(chunk, st.lists(words, max_size=4), st.integers(1, 200), st.integers(0, 1000))
def test_what_is_shown_stands_in_the_named_lines(text, wanted, limit, start):
    shown, first, last = cut(text, wanted, limit, start)
    assert len(shown) <= limit
    assert start <= first <= last <= start + text.count("\n")
    assert shown in "\n".join(text.split("\n")[first - start : last - start + 1])


@given(st.text(), st.lists(st.text(max_size=3), max_size=3), st.integers(1, 50))
def test_any_text_can_be_cut(text, wanted, limit):
    assert len(cut(text, wanted, limit)[0]) <= limit


def test_a_short_text_is_shown_whole():
    assert cut("one\ntwo", limit=7) == ("one\ntwo", 1, 2)


LINES = "\n".join(f"line {n} " + "filler " * 4 for n in range(1, 9))


@pytest.mark.parametrize(
    ("wanted", "first"), [((), 1), (("line 6",), 5), (("line 6", "line 5"), 5), (("absent",), 1)]
)
def test_the_lines_that_hold_most_words_are_shown(wanted, first):
    text, start, _ = cut(LINES, wanted, limit=80)
    assert start == first
    assert all(word in text for word in wanted if word != "absent")


def test_of_one_long_line_the_sentence_that_holds_the_words_is_shown():
    line = "This is a sentence about nothing. " * 20 + "The port is 49222 now. And so on."
    text, start, end = cut(line, ["port", "49222"], limit=80)
    assert "The port is 49222 now." in text
    assert text.startswith(("This", "The", "And"))
    assert (start, end) == (1, 1)


def test_words_are_not_cut():
    text, *_ = cut("abcdefgh " * 30, limit=40)
    assert set(text.split()) == {"abcdefgh"}


def test_one_endless_word_is_cut_all_the_same():
    assert cut("x" * 500, limit=40)[0] == "x" * 40


def test_case_does_not_matter():
    assert cut("first line\n" + "Filler. " * 8 + "\nThe PORT", ["port"], limit=80)[1] == 2


def test_lines_of_a_rearranged_chunk_are_those_of_the_whole():
    snippet = cut_snippet("a b c d e f", 10, 20, ["f"], 5)
    assert (snippet.start_line, snippet.end_line) == (10, 20)
