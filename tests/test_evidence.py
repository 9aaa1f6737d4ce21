"""A stored chunk as evidence."""

import pytest

from agentlas_memory.capsule import render_capsule
from agentlas_memory.ontology.store import ChunkRow
from agentlas_memory.recall.evidence import evidence_of_row

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def row(text, heading="Guide > Setup > Tokens", start=10):
    lines = start, start + text.count("\n")
    more = (b"", "docs/a.md", "A", "doc", "", "internal", 1, 1, b"", None)
    return ChunkRow((1, heading, *lines, text, *more), "")


def shown(*arguments):
    return render_capsule([evidence_of_row(*arguments)], "hybrid").text


def test_it_names_the_file_the_last_heading_and_the_lines():
    assert "\nproject[docs/a.md#Tokens:L10-11]: one two\n" in shown(row("one\ntwo"))


@pytest.mark.parametrize("at", range(0, 160, 20))
@pytest.mark.parametrize("hidden", ["", "\u034f", "\x1b[0m"], ids=["plain", "split", "coloured"])
def test_a_key_that_is_still_in_the_store_is_not_halved_by_the_cut(at, hidden):
    """Rules grow after a store was written."""
    key = TOKEN[:9] + hidden + TOKEN[9:]
    text = shown(row("word " * ((600 + at) // 5) + key + " more" * 200))
    assert "ghp_" not in text
    assert "a1B2" not in text


def test_the_lines_are_those_that_are_shown():
    lines = [f"line {number} " + "x" * 100 for number in range(20)]
    lines[15] = "the port is 49222 " + "x" * 100
    text = shown(row("\n".join(lines)), ["port"])
    assert "49222" in text
    first, last = text.partition(":L")[2].partition("]")[0].split("-")
    assert 10 <= int(first) <= 25 <= int(last) <= 29
