"""What we put into people's files comes out again, and nothing else moves."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlas_memory.installer.formats import Unparsable
from agentlas_memory.installer.formats.json_entry import put_entry, read_entry, remove_entry
from agentlas_memory.installer.formats.marked_block import put_block, remove_block

KEY = "ours"
VALUE = {"PreInvocation": [{"type": "command", "command": "[ -x '/h' ] \\ \"q\"", "timeout": 10}]}
OTHER = {"PreInvocation": [], "enabled": False}
BOM = "\ufeff"

EMPTY_FILES = ["", "\n", "\r\n", "  ", "\n\n", BOM, BOM + "\r\n"]
EMPTY_OBJECTS = ["{}", "{ }", "{\n}", "{}\n", "{\r\n}\r\n", "{\n\n}", "{\t}", " { \n\t} \n", "{\r}"]
OBJECTS = [
    '{"a":1}',
    '{"a": 1}',
    '{ "a": 1 }',
    '{"a":1,"b":[1,2]}\n',
    '{\n  "a": 1\n}',
    '{\n  "a": 1\n}\n',
    '{\r\n\t"a": {"b": [1.50, "x"]},\r\n\t"c": null\r\n}\r\n',
    '{\n"a": 1,\n"b": "\\u00e9 é \\ud800"\n}\n',
    '{"a": 1\n , "b": 2}',
    '{\n    "a": {\n        "b": 1\n    } ,\n    "c" :\t3\n\n}\n\n',
    BOM + '{\n  "a": 1e5\n}',
    '{"a": ' + "[" * 400 + "]" * 400 + "}",
    '{"a": ' + "9" * 5000 + "}",
]
TEXTS = [*EMPTY_FILES, *EMPTY_OBJECTS, *OBJECTS]


def load(text):
    return json.loads(text.removeprefix(BOM), parse_int=float)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_can_be_read_beside_the_others(text):
    put = put_entry(text, KEY, VALUE)
    assert read_entry(put, KEY) == VALUE
    before = load(text) if text.strip(" \r\n" + BOM) else {}
    assert load(put) == before | load(json.dumps({KEY: VALUE}))


@pytest.mark.parametrize("text", TEXTS)
def test_removing_gives_the_bytes_there_were(text):
    put = put_entry(text, KEY, VALUE)
    assert put_entry(put, KEY, VALUE) == put
    assert remove_entry(put, KEY) == text
    assert remove_entry(put_entry(put, KEY, OTHER), KEY) == text
    assert put_entry(put_entry(put, KEY, OTHER), KEY, VALUE) == put


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_not_there_cannot_be_removed(text):
    assert remove_entry(text, KEY) == text
    assert read_entry(text, KEY) is None


def test_a_new_file_looks_as_people_write_one():
    assert put_entry("", KEY, [1]) == '{\n  "ours": [\n    1\n  ]\n}\n'


def test_a_file_on_one_line_stays_on_it():
    assert put_entry('{"a": 1}', KEY, [1, 2]) == '{"a": 1, "ours": [1, 2]}'
    assert put_entry('{"a":1}', KEY, [1, 2]) == '{"a":1,"ours":[1,2]}'


def test_indentation_and_line_ends_are_those_of_the_file():
    put = put_entry('{\r\n\t"a": 1\r\n}', KEY, [1])
    assert put == '{\r\n\t"a": 1,\r\n\t"ours": [\r\n\t\t1\r\n\t]\r\n}'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{\n  "ours": 1,\n  "b": 2\n}', '{\n  "b": 2\n}'),
        ('{\n  "a": 1,\n  "ours": 1,\n  "b": 2\n}', '{\n  "a": 1,\n  "b": 2\n}'),
        ('{\n  "a": 1,\n  "ours": 1\n}', '{\n  "a": 1\n}'),
        ('{\n  "ours": 1\n}', "{\n}"),
        ('{"a":1 , "ours": {"ours": 2} , "b":{"ours": 3}}', '{"a":1 , "b":{"ours": 3}}'),
    ],
)
def test_wherever_our_entry_stands_it_is_taken_out(text, left):
    assert remove_entry(text, KEY) == left


def test_another_value_stays_at_its_place():
    text = '{\n  "a": 1,\n  "ours": [1],\n  "b": {"x" : 1}\n}'
    assert put_entry(text, KEY, 2) == '{\n  "a": 1,\n  "ours": 2,\n  "b": {"x" : 1}\n}'


@pytest.mark.parametrize("value", [True, 1.0, [1], {"a": 1}, None, "1"])
def test_a_value_of_another_type_is_another_value(value):
    assert json.loads(put_entry('{"ours": 1}', KEY, value)) == {KEY: value}
    assert put_entry('{"ours": 1}', KEY, value) != '{"ours": 1}'


REFUSED = {
    "a comma too many": ('{\n"a": 1,\n}', 3),
    "a comma in a list": ('{\n"a": [1,]\n}', 2),
    "a line comment": ('{\n// note\n"a": 1\n}', 2),
    "a comment first": ('/* note */\n{"a": 1}', 1),
    "NaN": ('{\n"a": 1,\n"b": NaN\n}', 3),
    "a deep infinity": ('{"a": [1,\n{"b": [2,\n-Infinity]}]}', 3),
    "a name twice": ('{\n"a": 1,\n"a": 2\n}', 3),
    "a deep name twice": ('{"a": [{},\n[{"b": 1,\n"c": {},\n"b": 2}]]}', 4),
    "the same name escaped": ('{"a": 1,\n"\\u0061": 2}', 2),
    "a list": ("\n[1]", 2),
    "a text": ('"a"', 1),
    "no comma": ('{"a": 1\n"b": 2}', 2),
    "no colon": ('{"a"\n1}', 2),
    "no end": ('{"a": 1,\n"b": [', 2),
    "more behind": ('{"a": 1}\n\n{}', 3),
    "single quotes": ("{'a': 1}", 1),
    "a bare name": ("{a: 1}", 1),
    "a tab in a text": ('{"a": "\t"}', 1),
    "a leading zero": ('{"a": 01}', 1),
    "half a file": ('{"a": {"b": 1}', 1),
    "no JSON space": ('{\u00a0"a": 1}', 1),
    "endless nesting": ('{"a": ' + "[" * 100_000, 1),
    "endless objects": ('{"a": ' + '{"b":' * 100_000, 1),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_strict_json_is_refused_with_its_line(text, line):
    for edit in (lambda: put_entry(text, KEY, VALUE), lambda: remove_entry(text, KEY)):
        with pytest.raises(Unparsable) as refusal:
            edit()
        assert refusal.value.line == line
        assert refusal.value.reason


space = st.text(" \t\n", max_size=3)
texts = st.text('ab é"\\/\n\u2028\ud800{}[],:', max_size=6)
names = texts.filter(lambda name: name != KEY)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), texts)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def members(draw):
    """A member as somebody types it, with its value's own bytes."""
    name = json.dumps(draw(names), ensure_ascii=draw(st.booleans()))
    indent = draw(st.sampled_from([None, 1, "\t"]))
    value = json.dumps(draw(values), indent=indent, ensure_ascii=draw(st.booleans()))
    return f"{name}{draw(space)}:{draw(space)}{value}"


def name_of(member):
    return json.JSONDecoder().raw_decode(member)[0]


@st.composite
def files(draw):
    """A strict JSON file in anybody's layout."""
    inside = draw(st.lists(members(), max_size=4, unique_by=name_of))
    spaced = [f"{draw(space)}{member}{draw(space)}" for member in inside]
    text = draw(space) + "{" + (",".join(spaced) or draw(space)) + "}" + draw(space)
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", BOM])) + text


def spans(text):
    """Return each member's own bytes, by name, with a reader of the test's own."""
    decoder, found = json.JSONDecoder(), {}
    at = text.index("{") + 1
    while text[at:].lstrip(" \t\r\n,")[:1] != "}":
        at = len(text) - len(text[at:].lstrip(" \t\r\n,"))
        name, end = decoder.raw_decode(text, at)
        start = len(text) - len(text[end:].lstrip(" \t\r\n:"))
        _, end = decoder.raw_decode(text, start)
        found[name], at = text[start:end], end
    return found


@st.composite
def foreign_edits(draw):
    """What somebody else does to a file, in the text: add a member somewhere, or take one out."""
    return draw(st.lists(st.tuples(st.booleans(), st.integers(0, 9), members()), max_size=4))


def edit(text, adds, place, member):
    """Add a member before the one at `place` or behind the last; or take that one out."""
    found = list(spans(text))
    if adds and name_of(member) not in found:
        if place < len(found):
            at = start_of(text, found[place])
            return f"{text[:at]}{member}, {text[at:]}"
        end = text.rindex("}")
        return f"{text[:end]}{', ' if found else ''}{member}\n{text[end:]}"
    others = [name for name in found if name != KEY]
    return remove_entry(text, others[place % len(others)]) if others and not adds else text


def start_of(text, name):
    decoder, at = json.JSONDecoder(), text.index("{") + 1
    while True:
        at = len(text) - len(text[at:].lstrip(" \t\r\n,"))
        found, end = decoder.raw_decode(text, at)
        if found == name:
            return at
        _, at = decoder.raw_decode(text, len(text) - len(text[end:].lstrip(" \t\r\n:")))


def check_round(text, edits):
    put = put_entry(text, KEY, VALUE)
    assert put_entry(put, KEY, VALUE) == put
    assert remove_entry(put, KEY) == text
    for adds, place, member in edits:
        put = edit(put, adds, place, member)
    theirs = spans(put)
    theirs.pop(KEY)
    left = remove_entry(put, KEY)
    if theirs or left.strip(" \t\r\n" + BOM):  # a file that is ours alone leaves nothing
        assert list(spans(left).items()) == list(theirs.items())
    assert left.startswith(BOM) == text.startswith(BOM)


@given(files(), foreign_edits())
def test_ours_goes_and_theirs_stays(text, edits):
    check_round(text, edits)


@given(files(), st.sampled_from([None, 0, 2, 4, "\t"]), st.booleans())
def test_ours_is_found_in_a_file_that_a_program_wrote_anew(text, indent, ordered):
    rewritten = json.dumps(load(put_entry(text, KEY, VALUE)), indent=indent, sort_keys=ordered)
    left = remove_entry(rewritten, KEY)
    assert (load(left) if left else {}) == load(text)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(files(), foreign_edits())
def test_ours_goes_and_theirs_stays_in_many_files(text, edits):
    check_round(text, edits)


BEGIN, END = "<!-- ours: begin -->", "<!-- ours: end -->"
BODY = "One line.\n\nAnother."
BLOCK = f"{BEGIN}\n{BODY}\n{END}"

PLAIN = ["", "\n", "abc", "abc\n", "abc\n\n", "a\r\nb\r\n", "a\r\nb", BOM, BOM + "a", "a\nb\r\nc"]
PLAIN += [
    "```\ncode\n```\n",
    "```\nnever closed\n",
    "# Title\n\n~~~ py\nx\n~~~\n\n",
    "a\x0cb\u2028c",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_block_comes_out_without_a_trace(text):
    put = put_block(text, BEGIN, END, BODY)
    assert put.startswith(text)
    assert put_block(put, BEGIN, END, BODY) == put
    assert remove_block(put, BEGIN, END) == text
    assert remove_block(put_block(put, BEGIN, END, "Other."), BEGIN, END) == text


@pytest.mark.parametrize("text", PLAIN)
def test_a_block_that_is_not_there_cannot_be_removed(text):
    assert remove_block(text, BEGIN, END) == text


def test_a_block_has_the_line_ends_of_its_file():
    put = put_block("a\r\nb\r\n", BEGIN, END, BODY)
    assert put == f"a\r\nb\r\n{BLOCK}\n".replace("\r\n", "\n").replace("\n", "\r\n")


def test_a_block_is_replaced_where_it_stands():
    text = f"before\n{BLOCK}\nafter\n"
    assert put_block(text, BEGIN, END, "New.") == f"before\n{BEGIN}\nNew.\n{END}\nafter\n"


def test_what_others_wrote_around_a_block_stays():
    text = put_block("abc\n", BEGIN, END, BODY)
    edited = f"first\n{text}\nlast"
    assert remove_block(edited, BEGIN, END) == "first\nabc\n\nlast"


def test_a_file_whose_last_line_somebody_ended_keeps_its_end():
    text = put_block("abc", BEGIN, END, BODY) + "\n"
    assert remove_block(text, BEGIN, END) == "abc\n"


BROKEN = {
    "no end": (f"a\n{BEGIN}\nb\n", 2),
    "no beginning": (f"a\n\n{END}\n", 3),
    "turned around": (f"{END}\n{BEGIN}\n", 1),
    "two beginnings": (f"{BEGIN}\n{BEGIN}\n{END}\n", 2),
    "two blocks": (f"{BLOCK}\n{BLOCK}\n", 6),
    "in code": (f"a\n```md\n{BLOCK}\n```\n", 3),
    "in tildes": (f"~~~~\n~~~\n{BLOCK}\n~~~~~\n", 3),
    "half in code": (f"{BEGIN}\n```\n{END}\n```\n", 3),
}


@pytest.mark.parametrize(("text", "line"), BROKEN.values(), ids=BROKEN)
def test_markers_that_are_no_block_are_refused_with_their_line(text, line):
    for edit in (lambda: put_block(text, BEGIN, END, BODY), lambda: remove_block(text, BEGIN, END)):
        with pytest.raises(Unparsable) as refusal:
            edit()
        assert refusal.value.line == line


@pytest.mark.parametrize(
    "quote", ["`{}`", "see {} there", "``` not `a` fence\n\n{}\n", "\\{}", "    x\n{} x"]
)
def test_a_marker_within_a_line_is_no_marker(quote):
    text = quote.format(BEGIN + ".")
    assert remove_block(put_block(text, BEGIN, END, BODY), BEGIN, END) == text


def test_a_file_with_old_line_ends_is_refused():
    with pytest.raises(Unparsable):
        put_block("a\rb\r", BEGIN, END, BODY)


def test_a_text_that_holds_a_marker_is_no_block():
    with pytest.raises(ValueError, match="markers"):
        put_block("", BEGIN, END, f"a\n {END}\nb")


lines = st.lists(
    st.sampled_from(["", "a", "  b", "# c", "```", "~~~ x", "\u2028", "é"]), max_size=6
)


@st.composite
def documents(draw):
    text = draw(st.sampled_from(["\n", "\r\n"])).join(draw(lines))
    return draw(st.sampled_from(["", BOM])) + text


@given(documents(), documents(), documents())
def test_a_block_goes_and_what_stands_around_it_stays(text, above, below):
    put = put_block(text, BEGIN, END, BODY)
    assert remove_block(put, BEGIN, END) == text
    above, put, below = (part.removeprefix(BOM) for part in (above, put, below))
    try:
        left = remove_block(f"{above}\n{put}\n{below}", BEGIN, END)
    except Unparsable:
        assert "```" in above + below or "~~~" in above + below  # it is in somebody's code now
        return
    assert left.startswith(f"{above}\n{text.removeprefix(BOM)}")
    assert left.endswith(f"\n{below}")
    assert len(left.replace("\r\n", "\n").split("\n")) == len(
        f"{above}\n{text}\n{below}".split("\n")
    )
