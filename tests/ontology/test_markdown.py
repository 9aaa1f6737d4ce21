"""Markdown's outline: which lines are headings, and what they say."""

import pytest

from agentlas_memory.ontology.markdown import clean_heading, outline_markdown


def headings(text):
    return [(heading.level, heading.text, heading.line) for heading in outline_markdown(text)[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# A\nb\n## C ##\n", [(1, "A", 1), (2, "C", 3)], id="atx"),
        pytest.param("A\n===\n\nB c\nd\n---\n", [(1, "A", 1), (2, "B c d", 4)], id="setext"),
        pytest.param("```\n# no\n```\n# A\n", [(1, "A", 4)], id="fence"),
        pytest.param("~~~ sh\n# no\n~~~\n", [], id="tilde fence"),
        pytest.param("```\n# no\n", [], id="fence never closed"),
        pytest.param("````\n```\n# no\n```\n````\n# A\n", [(1, "A", 6)], id="fence in fence"),
        pytest.param("<!--\n\n# no\n\n-->\n# A\n", [(1, "A", 6)], id="comment"),
        pytest.param("1. ```sh\n   # no\n   ```\n\n# A\n", [(1, "A", 5)], id="fence in list"),
        pytest.param("    # no\n", [], id="indented code"),
        pytest.param("> # no\n\n- # no\n", [], id="quotation and list"),
        pytest.param("#no\n\\# no\n", [], id="no space, escaped"),
        pytest.param("- a\n---\n", [], id="rule under a list"),
        pytest.param("# \n## A\n", [(2, "A", 2)], id="empty"),
        pytest.param("l1\nl2\nl3\nl4\n---\n", [], id="rule under a paragraph"),
        pytest.param("# A\r\n\x0c\r\n# B\r", [(1, "A", 1), (1, "B", 3)], id="crlf"),
    ],
)
def test_headings(text, expected):
    assert headings(text.replace("\r\n", "\n").replace("\r", "\n")) == expected


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("The `foo` [link](x) {#id}", "The foo link"),
        ("`__init__` and snake_case", "__init__ and snake_case"),
        ("**Bold** _em_ ~~old~~", "Bold em old"),
        ("[1.2.0] - 2025-01-05", "1.2.0 - 2025-01-05"),
        ("See [this][ref]", "See this"),
        ("![logo](a.png) Name", "logo Name"),
        ("A &amp; B <br> C", "A & B C"),
        (r"2 \* 3 * 4", "2 * 3 * 4"),
        ("Use {braces}", "Use {braces}"),
        ("  two\n  lines ", "two lines"),
        ("[" * 5000, "[" * 300),
    ],
)
def test_a_heading_loses_its_markup(heading, words):
    assert clean_heading(heading) == words


def test_fences_are_found_at_every_depth():
    text = "```\na\n```\n\n- x\n\n  ~~~\n  b\n  ~~~\n\n> ```\n> c\n> ```\n"
    assert outline_markdown(text).fences == [(1, 3), (7, 9), (11, 13)]
