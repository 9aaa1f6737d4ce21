"""What is read of a prompt."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlas_memory.recall.question import Question, read_question

KEYS = "How do we rotate the signing keys?"


def terms(prompt):
    return set(read_question(prompt).terms)


def test_short_prompt_is_read_whole():
    assert read_question(KEYS).text == KEYS
    assert terms(KEYS) == {"rotat", "sign", "kei"}


def test_words_keep_their_own_terms():
    question = Question("the src/auth.py keys")
    assert [word for word, _ in question.words] == ["the", "src/auth.py", "keys"]
    assert question.words[0][1] == []
    assert question.terms["src/auth.py"].identifier


METADATA = json.dumps(
    {f"message_id_{number}": {"sender": "u-4711", "channel": "general"} for number in range(40)},
    indent=1,
)
LOG = "\n".join(
    f"2024-03-01T10:{n:02d}:00 ERROR worker[{n}] pool.connect:57 timed out" for n in range(60)
)
DIFF = "diff --git a/x.py b/x.py\n" + "\n".join(
    f"+++ line_{number} = compute({number})" for number in range(80)
)
TRACE = "\n".join(
    f'  File "/srv/app/mod{number}.py", line {number}, in run' for number in range(40)
)
FENCE = "```python\n" + "compute the whole matrix product again\n" * 40 + "```"


@pytest.mark.parametrize(
    "data", [METADATA, LOG, DIFF, TRACE, FENCE], ids=["json", "log", "diff", "trace", "fence"]
)
@pytest.mark.parametrize("order", ["before", "after", "around"])
def test_question_beside_pasted_data_is_what_counts(data, order):
    parts = {"before": [data, KEYS], "after": [KEYS, data], "around": [data, KEYS, data]}[order]
    assert terms("\n".join(parts)) == terms(KEYS)


def test_first_and_last_sentences_of_a_long_prompt_count():
    middle = "Something else entirely is told here at great length.\n" * 400
    found = terms(f"The gateway drains slowly.\n{middle}Why does the ledger round?")
    assert {"gatewai", "drain", "ledger", "round"} <= found


def test_middle_of_a_huge_prompt_is_not_even_looked_at():
    prompt = f"{'head ' * 1300}{'zebra ' * 1_000_000}{'tail ' * 1300}"
    assert terms(prompt) == {"head", "tail"}


def test_prompt_of_data_alone_is_read_in_part():
    assert terms(LOG)


def test_windows_do_not_cut_words():
    question = read_question("abcdefgh " * 300)
    assert {word for word, _ in question.words} == {"abcdefgh"}


@pytest.mark.parametrize(
    "prompt", ["", " ", "\n\t", "the of and", "?!", "\x00", "\ud83c", "```", "a"]
)
def test_prompts_without_a_word_have_no_terms(prompt):
    assert terms(prompt) == set()


OPERATORS = [
    "don't use agents",
    "pre-edit-check",
    "Downloads/transcripts",
    '"--error-on-warnings"',
    "ubuntu 20.04",
    "GB/s",
    "a AND OR NOT (",
    "col:val",
    "*",
    "^x",
    'a lone "',
    "NEAR(x y, 3)",
    "body: gateway",
    "x' OR 1=1 --",
    "{heading body} : x",
    "-x +y",
    '"""',
    "a\0b",
    "(((",
    "\\",
    "%_[",
    "gateway AND ledger",
]


@pytest.fixture
def plain(facts):
    return facts(*OPERATORS, "The gateway drains the blue cluster.")


@pytest.mark.parametrize("prompt", OPERATORS)
def test_operators_in_plain_speech_are_words(plain, prompt):
    found = plain.explain(prompt, gated=False)
    if found.question.terms:
        assert found.candidates[0].row.text == prompt


@given(st.text(max_size=400) | st.text(alphabet='"*^:(){}+- \nANDORTab\ud800', max_size=120))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_can_be_asked(plain, prompt):
    plain.explain(prompt)


def test_long_prompt_of_many_terms_can_be_asked(plain):
    plain.explain(" ".join(f"a{n}.b{n}/c{n}" for n in range(75)))
    plain.explain("".join(chr(0x4E00 + 7 * number % 5000) for number in range(600)))


def test_metadata_around_a_question_does_not_answer_it(facts):
    runtime = facts(
        keys="We rotate the signing keys every 90 days with the rotate-keys job.",
        metadata="Each message id names its sender and the channel general.",
    )
    [hit] = runtime.query(f"{METADATA}\n{KEYS}").hits
    assert hit.source == "keys"
