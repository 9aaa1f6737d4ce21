"""Chunks: their size, their overlap, and that each is exactly the lines it names."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlas_memory.ontology.chunker import (
    LONELY_WORDS,
    MAX_FENCE_WORDS,
    MAX_WORDS,
    chunk_document,
    count_words,
)
from agentlas_memory.ontology.formats import read_document, split_lines

# Wide enough for a code block with a short text before and after it.
LARGEST = MAX_FENCE_WORDS + 2 * LONELY_WORDS


def chunks(text, path="a.md"):
    return chunk_document(read_document(path, text.encode()))


def prose(lines, words=10):
    return "".join(f"line {number} {'word ' * (words - 3)}end\n" for number in range(lines))


def test_a_short_section_is_one_chunk_without_its_heading():
    (chunk,) = chunks("# A\n\n## B\n\none\n\ntwo\n\n")
    assert chunk.heading_path == ("A", "B")
    assert (chunk.start_line, chunk.end_line, chunk.text) == (5, 7, "one\n\ntwo")


def test_sections_are_never_joined():
    found = chunks("one\n# A\ntwo\n## B\nthree\n# C\n")
    assert [(chunk.heading_path, chunk.text) for chunk in found] == [
        ((), "one"),
        (("A",), "two"),
        (("A", "B"), "three"),
    ]


def test_headings_alone_are_a_chunk_when_there_is_nothing_else():
    (chunk,) = chunks("# A\n\n## B\n")
    assert (chunk.start_line, chunk.end_line, chunk.text) == (1, 3, "# A\n\n## B")
    assert chunks("\n \n") == []
    assert chunks("---\nid: 1\n---\n") == []


def test_a_long_section_is_cut_near_two_hundred_words():
    found = chunks("# A\n" + prose(100))
    sizes = [count_words(chunk.text) for chunk in found]
    assert all(180 <= size <= 220 for size in sizes[:-1])
    assert found[-1].end_line == 101


def test_neighbours_overlap_by_some_fifteen_percent():
    found = chunks("# A\n" + prose(100))
    for before, after in pairwise(found):
        shared = before.end_line - after.start_line + 1
        assert shared * 10 == 30


def test_the_cut_falls_between_paragraphs():
    text = (prose(8) + "\n") * 6
    starts = [0, *(chunk.end_line for chunk in chunks(text))]
    assert all(end % 9 in (0, 8) for end in starts)


def test_the_cut_falls_before_a_list_item():
    text = "".join(f"- item {number}\n  {'word ' * 30}\n  {'word ' * 20}\n" for number in range(12))
    assert all(chunk.end_line % 3 == 0 for chunk in chunks(text))


def test_a_code_block_stays_whole():
    code = "```\n" + prose(30) + "```\n"
    found = chunks(prose(15) + "\n" + code + "\n" + prose(15))
    assert any(chunk.start_line <= 17 and chunk.end_line >= 48 for chunk in found)
    assert all(chunk.text.count("```") in (0, 2) for chunk in found)


def test_a_very_long_code_block_is_cut_at_lines():
    lines = ("```\n" + prose(80) + "```\n").splitlines()
    found = chunks("\n".join(lines))
    assert len(found) > 3
    assert all(
        chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line]) for chunk in found
    )


def test_table_rows_are_not_cut():
    table = "| a | b |\n|---|---|\n" + "".join(f"| row {n} | {'x ' * 20}|\n" for n in range(40))
    assert all(
        line.startswith("|") and line.endswith("|")
        for chunk in chunks(table)
        for line in chunk.text.split("\n")
    )


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(" ".join(f"w{number}" for number in range(1000)), id="words"),
        pytest.param("".join(chr(0x4E00 + number) for number in range(3000)), id="chinese"),
        pytest.param("".join(f"{number:06x}" for number in range(3500)), id="no space at all"),
    ],
)
def test_a_line_longer_than_a_chunk_is_cut_inside(line):
    text = f"short\n{line}\nshort"
    found = chunks(text)
    assert len(found) > 4
    covered = 0
    for chunk in found:
        # Each piece begins at the latest where the one before it ended, but for a space.
        start = text.index(chunk.text, max(0, covered - 2000))
        assert start <= covered + 1
        covered = start + len(chunk.text)
        assert count_words(chunk.text) <= LARGEST
    assert covered == len(text)


def test_a_little_rest_is_no_chunk_of_its_own():
    assert len(chunks(prose(22) + "\n" + prose(2))) == 1


def test_scripts_without_spaces_are_measured_by_their_signs():
    assert count_words("今日は成語しりとりをした") == 7
    assert count_words("three little words") == 3
    assert count_words("x" * 240) == 20


LINES = st.sampled_from(
    [
        "",
        "   ",
        "# A",
        "## B",
        "===",
        "---",
        "```",
        "~~~",
        "<!--",
        "-->",
        "- item one two.",
        "| a | b |",
        "\tcode",
        "  indented text",
        "one\x0ctwo\u2028three",
        "a sentence that ends here. " * 3,
        "word " * 60,
        "x " * 300,
        "漢字仮名" * 120,
        "y" * 4000,
    ]
)
PATHS = st.sampled_from(["a.md", "a.rst", "a.adoc", "a.org", "a.txt", "a.py", "a.yaml", "a.html"])


def lines_of(document):
    """The lines that the sections say they have, front matter left blank."""
    before = document.sections[0].start_line - 1 if document.sections else 0
    return [""] * before + [
        line for section in document.sections for line in section.text.split("\n")
    ]


@given(st.lists(LINES, max_size=80), st.sampled_from(["\n", "\r\n", "\r"]))
def test_sections_hold_every_line_of_the_file(parts, newline):
    data = newline.join(["text", *parts])
    assert lines_of(read_document("a.md", data.encode())) == split_lines(
        data.replace("\r\n", "\n").replace("\r", "\n")
    )


@given(st.lists(LINES, max_size=80), st.sampled_from(["\n", "\r\n", "\r"]), PATHS)
def test_every_chunk_is_the_lines_it_names(parts, newline, path):
    document = read_document(path, newline.join(parts).encode())
    lines = lines_of(document)
    for chunk in chunk_document(document):
        assert 1 <= chunk.start_line <= chunk.end_line <= len(lines)
        whole = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        ends = (lines[chunk.start_line - 1], lines[chunk.end_line - 1])
        assert all(end.strip() for end in ends)
        is_cut = any(count_words(end) > MAX_WORDS for end in ends)
        assert chunk.text in whole if is_cut else chunk.text == whole
        assert count_words(chunk.text) <= LARGEST


@given(st.lists(LINES, max_size=80), PATHS)
def test_every_line_of_a_body_is_in_a_chunk_and_chunks_are_in_order(parts, path):
    document = read_document(path, "\n".join(parts).encode())
    found = chunk_document(document)
    spans = [(chunk.start_line, chunk.end_line) for chunk in found]
    assert spans == sorted(spans)
    assert len(set(found)) == len(found) or any(count_words(part) > MAX_WORDS for part in parts)
    covered = {line for start, end in spans for line in range(start, end + 1)}
    for section in document.sections:
        for number, line in enumerate(section.text.split("\n"), start=section.start_line):
            assert not line.strip() or number in covered or number < section.body_line
