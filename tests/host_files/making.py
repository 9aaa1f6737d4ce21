"""Strategies for hosts' files as people, editors and programs leave them."""

import json

from hypothesis import strategies as st

BEGIN, END = "<!-- agentlas-memory: begin -->", "<!-- agentlas-memory: end -->"
BOM = "\ufeff"

line_ends = st.sampled_from(["\n", "\n", "\r\n", "mixed"])
space = st.sampled_from(["", "", " ", "\n", "\n  ", "\n\t", "\t", "  ", "\n\n    "])
words = st.sampled_from(
    ["lint", "PreInvocation", "Stop", "später", "a b", "x\u2028y", "", "agentlas"]
)
HANDLER = {"type": "command", "command": "[ -x '/h' ] && date \\ \"q\" # {},:", "timeout": 10}
VALUES = [
    None,
    True,
    1.50,
    -3,
    "[1, 2}",
    "é😀\u0000\ud800",
    {"PreInvocation": [HANDLER], "enabled": False},
    [[], {}, [HANDLER, {"a": {"b": [0, "agentlas-memory"]}}]],
]
values = st.sampled_from(VALUES) | st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
LARGE = ['"' + "x" * 100_000 + '"', "[" * 300 + "1" + "]" * 300, "9" * 300, "1.50e+05"]


@st.composite
def members(draw):
    """A member of an object, `"name": value`, in anybody's layout."""
    value = draw(values)
    style = {
        "indent": draw(st.sampled_from([None, None, 2, "\t", 3])),
        "ensure_ascii": draw(st.booleans()),
    }
    text = (
        draw(st.sampled_from(LARGE))
        if draw(st.integers(0, 14)) == 0
        else json.dumps(value, **style)
    )
    name = json.dumps(draw(words), ensure_ascii=style["ensure_ascii"])
    # Half a pair cannot be written in UTF-8, but for its escape.
    return f"{name}{draw(space)}:{draw(space)}{text}".replace("\ud800", "\\ud800")


def name_of(member):
    return json.JSONDecoder().raw_decode(member)[0]


@st.composite
def objects(draw):
    """A strict JSON file; or a blank one, which holds nothing yet."""
    if draw(st.integers(0, 9)) == 0:
        text = draw(st.sampled_from(["", "\n", "  ", "\r\n"]))
    else:
        inside = draw(st.lists(members(), max_size=4, unique_by=name_of))
        spaced = [f"{draw(space)}{member}{draw(space)}" for member in inside]
        text = draw(space) + "{" + (",".join(spaced) or draw(space)) + "}" + draw(space)
    return encode(draw, text)


@st.composite
def rules(draw):
    """A Markdown file."""
    lines = [
        "",
        "# Rules",
        "Always answer in verse.",
        "  - one",
        "```sh",
        "```",
        "~~~ x",
        "<!-- x -->",
    ]
    texts = draw(
        st.lists(st.sampled_from([*lines, "naïve\u2028", BEGIN + ".", "\udce9"]), max_size=7)
    )
    return encode(draw, "\n".join(texts) + draw(st.sampled_from(["", "\n", "\n\n"])))


def encode(draw, text):
    """Give a text line ends and, here and there, a byte order mark."""
    style = draw(line_ends)
    if style == "mixed":
        ends = draw(st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=4))
        text = "".join(
            part + (ends[n % len(ends)] if n < text.count("\n") else "")
            for n, part in enumerate(text.split("\n"))
        )
    elif style == "\r\n":
        text = text.replace("\n", "\r\n")
    if draw(st.integers(0, 4)) == 0:
        text = BOM + text
    return text.encode("utf-8", "surrogateescape")


BROKEN_JSON = [
    '{"a": 1,}',
    '{\n// note\n"a": 1}',
    '{"a": 1,\n"a": 2}',
    '{"a": [{"b": 1,\n"b": 2}]}',
    "[]",
    '{"a": NaN}',
    '{"a": {"b": 1}',
    '{"a": 1} {}',
    "{'a': 1}",
]
BROKEN_RULES = [
    f"a\n{BEGIN}\nb\n",
    f"{END}\n",
    f"```\n{BEGIN}\n{END}\n```\n",
    f"{BEGIN}\n{END}\n" * 2,
    "a\rb\r",
    "\0a",
]
broken_json = st.sampled_from(
    [text.encode() for text in BROKEN_JSON] + ['{"a": 1}'.encode("utf-16")]
)
broken_rules = st.sampled_from([text.encode() for text in BROKEN_RULES] + ["# é".encode("utf-16")])
BROKEN = {text.encode() for text in BROKEN_JSON + BROKEN_RULES} | {
    '{"a": 1}'.encode("utf-16"),
    "# é".encode("utf-16"),
}
