"""Reading one JSON value from a pipe."""

import json
import os
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlas_memory.deadline import Deadline, DeadlineReached
from agentlas_memory.lean import parse_json, quote_json
from agentlas_memory.stdin import read_event

json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
events = st.dictionaries(st.text(), json_values, max_size=5)


def read(*pieces, close=True, milliseconds=1500, pause=0.0):
    """Return what is read from a pipe into which these pieces are written."""
    reading, writing = os.pipe()

    def write():
        for piece in pieces:
            os.write(writing, piece)
            time.sleep(pause)
        if close:
            os.close(writing)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return read_event(reading, Deadline(milliseconds))
    finally:
        writer.join()
        os.close(reading)
        if not close:
            os.close(writing)


@given(events, st.booleans())
def test_any_object_is_read_as_it_was_written(event, ascii_only):
    data = json.dumps(event, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert read(data, close=False) == json.loads(data.decode("utf-8", "replace"))


@settings(max_examples=30)
@given(events, st.lists(st.integers(0, 300), max_size=3))
def test_it_does_not_matter_how_it_is_cut(event, cuts):
    data = json.dumps(event).encode()
    at = sorted({0, *[cut for cut in cuts if cut < len(data)], len(data)})
    assert read(*[data[a:b] for a, b in pairwise(at)], close=False) == event


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_none(data):
    assert isinstance(read(data), dict)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 131_072, 1 << 20, (1 << 20) + 1])
@pytest.mark.parametrize("close", [True, False], ids=["closed", "open"])
def test_block_borders_do_not_matter(size, close):
    event = {"prompt": "x" * (size - len('{"prompt": ""}'))}
    data = json.dumps(event).encode()
    assert len(data) == size
    assert read(data, close=close) == event


@pytest.mark.parametrize("tail", [b"\n", b" \r\n \n", b"\xef\xbb\xbf", b"{}", b"garbage"])
def test_what_follows_the_value_is_passed_over(tail):
    assert read(b'{"a": 1}' + tail, close=False) == {"a": 1.0}


def test_a_pause_inside_a_value_does_not_end_it():
    pieces = [b'{"a": {"b": {}', b"}", b', "prompt": "ledger"}']
    assert read(*pieces, close=False, pause=0.08)["prompt"] == "ledger"


@pytest.mark.parametrize("data", [b"", b'{"a": ', b"hello", b" "])
def test_a_pipe_that_stays_open_is_left_at_the_deadline(data):
    started = time.monotonic()
    with pytest.raises(DeadlineReached):
        read_quietly(data)
    assert time.monotonic() - started < 0.5


def read_quietly(data):
    """Read with the input there already; with nothing at all, the hook's own clock is needed."""
    return read(data or b"\n", close=False, milliseconds=100)


def test_the_reader_takes_everything_of_a_large_event():
    block = b"x" * 65_535 + b"}"
    data = b'{"prompt": "' + block * 64 + b'"}'
    started = time.monotonic()
    assert (
        len(read(*[data[at : at + 65_536] for at in range(0, len(data), 65_536)])["prompt"])
        == 64 << 16
    )
    assert time.monotonic() - started < 1.0


NUMBERS = ["9" * 6000, "-" + "9" * 6000, "1e999", "-0", "0.1e-400", "NaN", "Infinity", "-Infinity"]


@pytest.mark.parametrize("number", NUMBERS)
def test_any_number_is_a_number(number):
    assert isinstance(parse_json(f'{{"n": {number}}}')["n"], float)


@pytest.mark.parametrize("text", ["", "{", "[" * 200_000, '{"a"', "nul", "\ufeff", '"\\x"', "{,}"])
def test_what_is_no_value_is_a_value_error(text):
    with pytest.raises(ValueError):
        parse_json(text)


def test_the_last_of_equal_keys_counts():
    assert parse_json('{"a": 1, "a": 2}') == {"a": 2.0}


@given(st.text())
def test_a_quoted_text_is_ascii_and_reads_back(text):
    quoted = quote_json(text)
    assert quoted.isascii()
    assert json.loads(quoted) == text
