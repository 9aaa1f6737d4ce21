"""From bytes to a document: decoding, front matter, titles, and sections with exact lines."""

import pytest

from agentlas_memory.ontology.documents import UnreadableDocument
from agentlas_memory.ontology.formats import read_document


def read(path, text):
    return read_document(path, text.encode())


def sections(path, text):
    """Headings with the section's first line, first body line and last line."""
    return [
        ("/".join(section.heading_path), section.start_line, section.body_line, section.end_line)
        for section in read(path, text).sections
    ]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("# Ä\nb\n".encode(), id="utf-8"),
        pytest.param("\ufeff# Ä\nb\n".encode(), id="utf-8 with mark"),
        pytest.param("# Ä\r\nb".encode(), id="crlf without final newline"),
        pytest.param("# Ä\rb\r".encode(), id="cr"),
        pytest.param("# Ä\nb\n".encode("utf-16"), id="utf-16 with mark"),
        pytest.param("\ufeff# Ä\r\nb\r\n".encode("utf-16-be"), id="utf-16 big endian"),
    ],
)
def test_encodings_and_line_ends_make_no_difference(data):
    (section,) = read_document("a.md", data).sections
    assert (section.heading_path, section.text, section.end_line) == (("Ä",), "# Ä\nb", 2)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"caf\xe9", "no valid UTF-8", id="latin-1"),
        pytest.param(b"a\0b", "NUL", id="nul"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0", "not text", id="image"),
        pytest.param(b"\xff\xfea\0b", "no valid UTF-16", id="cut utf-16"),
        pytest.param("ab".encode("utf-16-le"), "NUL", id="utf-16 without mark"),
    ],
)
def test_what_is_not_text_is_refused(data, reason):
    with pytest.raises(UnreadableDocument, match=reason):
        read_document("a.md", data)


def test_an_empty_file_has_no_sections():
    assert read("docs/a.md", "").sections == ()
    assert read("docs/a.md", "").title == "a"


def test_sections_follow_headings():
    text = "intro\n\n# A\n### B\ntext\n## C\n# D\nend"
    assert sections("a.md", text) == [
        ("", 1, 1, 2),
        ("A", 3, 4, 3),
        ("A/B", 4, 5, 5),
        ("A/C", 6, 7, 6),
        ("D", 7, 8, 8),
    ]


def test_form_feeds_and_other_separators_do_not_end_a_line():
    (section,) = read("a.md", "# A\none\x0ctwo\u2028three\x85four\n").sections
    assert section.end_line == 2


def test_front_matter_keeps_what_was_written():
    document = read("a.md", "---\nid: 0007\ntags: [a, no]\ndate: 2025-01-05\n---\n# T\nb\n")
    assert document.front_matter == {"id": "0007", "tags": ["a", "no"], "date": "2025-01-05"}
    assert [section.start_line for section in document.sections] == [6]


@pytest.mark.parametrize(
    "front",
    [
        pytest.param("a: [1", id="broken"),
        pytest.param("just text", id="not a mapping"),
        pytest.param("a: &x [1]\nb: *x", id="aliases"),
        pytest.param("a: " + "[" * 5000, id="deep"),
        pytest.param("a: " + "x" * 17000, id="too long"),
        pytest.param("? [a]\n: b", id="list for a key"),
    ],
)
def test_unusable_front_matter_is_body_text(front):
    document = read("a.md", f"---\n{front}\n---\n\n# T\nb\n")
    assert document.front_matter == {}
    assert document.sections[0].start_line == 1
    assert front in document.sections[0].text
    assert document.title == "T" or len(front) > 16000


def test_front_matter_must_be_closed_and_stand_first():
    assert read("a.md", "---\na: 1\n").front_matter == {}
    assert read("a.md", "\n---\na: 1\n---\n").front_matter == {}
    assert read("a.yaml", "---\na: 1\n---\nb: 2\n").front_matter == {}


def test_a_tag_in_front_matter_names_no_type():
    text = "---\na: !!python/object/apply:os.system ['exit 1']\n---\n"
    assert read("a.md", text).front_matter == {"a": ["exit 1"]}


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("a.md", "---\ntitle: From front\n---\n# Heading\n", "From front"),
        ("a.md", "text\n\n# Heading\n", "Heading"),
        ("docs/a-b.md", "## Second level\n", "a-b"),
        ("a.rst", "Head\n====\n", "Head"),
        ("a.org", "#+title: Org\n* One\n", "Org"),
        ("notes.txt", "text\n", "notes"),
        ("src/a.py", "def f(): ...\n", "a.py"),
        ("a.html", "<title>T &amp; U</title><h1>H</h1>", "T & U"),
        ("a.html", "<h1>H</h1>", "H"),
    ],
)
def test_titles(path, text, title):
    assert read(path, text).title == title


def test_rst_titles_by_adornment():
    text = (
        ".. _top:\n\n=====\nTitle\n=====\n\nIntro::\n\n   Code\n   ----\n\n"
        "Use :ref:`this <x>` and ``that``\n--------------------------------\n\nSub\n~~~\n\n"
        "para\nline\n----\n\nNext\n----\n"
    )
    assert sections("a.rst", text) == [
        ("", 1, 1, 2),
        ("Title", 3, 6, 11),
        ("Title/Use this and that", 12, 14, 14),
        ("Title/Use this and that/Sub", 15, 17, 21),
        ("Title/Next", 22, 24, 23),
    ]


def test_rst_code_is_a_fence():
    text = "a::\n\n  x\n\n  y\n\nb\n\n.. code-block:: sh\n\n   z\n\nc\n"
    assert read("a.rst", text).sections[0].fences == ((1, 5), (9, 11))


def test_asciidoc_titles_outside_of_blocks():
    text = (
        "= Doc\n\n== One\n----\n== no\n----\n\n"
        "Two words\n---------\n\n```sh\n== no\n```\n=== Three\n"
    )
    assert sections("a.adoc", text) == [
        ("Doc", 1, 2, 2),
        ("Doc/One", 3, 4, 7),
        ("Doc/Two words", 8, 10, 13),
        ("Doc/Two words/Three", 14, 15, 14),
    ]


def test_org_headlines_without_keyword_and_tags():
    text = "#+TITLE: Doc\n* TODO One :tag:a:\n** Two\n#+begin_src sh\nx\n#+end_src\n*bold*\n"
    document = read("a.org", text)
    assert [section.heading_path for section in document.sections] == [
        ("Doc",),
        ("Doc", "One"),
        ("Doc", "One", "Two"),
    ]
    assert document.sections[-1].fences == ((4, 6),)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.yaml",
            "# c\nname: x\n  in: y\n'on':\n- z\n",
            [("", 1, 1, 1), ("name", 2, 2, 3), ("on", 4, 4, 5)],
        ),
        ("a.toml", "a = 1\n[t.u]\nb = 2\n", [("", 1, 1, 1), ("t.u", 2, 2, 3)]),
        (
            "a.json",
            '{\n  "a": {\n    "b": 1\n  },\n  "c": 2\n}\n',
            [("", 1, 1, 1), ("a", 2, 2, 4), ("c", 5, 5, 6)],
        ),
        ("min.json", '{"a": 1}', [("", 1, 1, 1)]),
        (
            "a.py",
            "import os\n\n\n# why\n@deco\ndef f():\n    pass\n\n\nclass C:\n    def m(self): ...\n",
            [("", 1, 1, 3), ("f", 4, 4, 9), ("C", 10, 10, 11)],
        ),
        (
            "a.go",
            "package x\n\n// Foo does\nfunc (s *S) Foo() {\n}\n",
            [("", 1, 1, 2), ("Foo", 3, 3, 5)],
        ),
        (
            "a.ts",
            "export default async function load() {\n}\nexport interface Row {\n}\n",
            [("load", 1, 1, 2), ("Row", 3, 3, 4)],
        ),
    ],
)
def test_data_and_code_by_their_top_level(path, text, expected):
    assert sections(path, text) == expected


def test_a_page_keeps_its_lines():
    text = (
        "<html><title>T</title>\n<style>\nh1 {}\n</style>\n<nav><h2>menu</h2></nav>\n"
        "<h1\n  class='a>b'>Big <em>news</em></h1>\n<p>one<br>two &lt;&#10;\n three</p>\n"
        "<!-- <h2>no</h2>\n -->\n<script>'<h2>'</script>\n<pre>\n  code\n</pre>\n</html>\n"
    )
    first, second = read("a.html", text).sections
    assert "".join(first.text.split()) == ""
    assert (second.heading_path, second.start_line, second.body_line) == (("Big news",), 6, 8)
    assert second.text.split("\n")[2:4] == ["one two <", "three"]
    assert second.text.split("\n")[8] == "  code"
    assert second.fences == ((13, 15),)
    assert second.end_line == 16


def test_a_page_on_one_line_loses_nothing():
    (section,) = read("a.html", "<h1>A</h1><p>b</p><h2>C</h2><p>d</p>").sections
    assert section.body_line == 1
    assert section.text == "A b C d"


@pytest.mark.parametrize(
    "text", ["<a ", "<!--", "<a b='<a b=\"", "<![", "</", "<h1>", "<pre><title>"], ids=repr
)
def test_unfinished_pages_are_read(text):
    assert read("a.html", text * 1000).sections[0].end_line == 1
