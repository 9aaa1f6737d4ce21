"""The hook's token ids are the `tokenizers` library's."""

import random
import sys
import unicodedata
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from agentlas_memory.embedding.asset import asset_dir
from agentlas_memory.embedding.batch import static_model
from agentlas_memory.embedding.wordpiece import MAX_CHARACTERS, MAX_TOKENS, SPECIAL_TOKENS

CONTEXTS = "{0} a{0}b {0}{0} e\u0301{0}\u0323 \u302e{0} \u4e2d{0}\u4e2d"
SCRIPTS = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "etaoin shrdlu .,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`\t\r\n",
    "éÉèüÜñßæŒøŁığİẞǅĳﬁﬃ²½ªµΩÅK°",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяЁёЙй",
    "αβγδεζηθικλμνξοπρστυφχψωςΆΏΐΰ",
    "中文字漢豈﨎𠀀々〇ひらがなカタカナパｱｲｳﾞ한국어각각",
    "אבגדשׁשׂכּ عربيأإآؤئ٠١٢",
    "हिन्दीक़ாதமிழ்ไทยกำລາວབོད်မြန်",
    "😀👩\u200d👩\u200d👧🏽🇩🇪❤\ufe0f",
    "\u0300\u0301\u0323\u0327\u0345\u05b0\u064b\u3099\u302e\u302f\U0001d165\U0001d16d\u1b44\u093c\u0f71\u20dd",
    "\0\x01\x1c\x1f\x7f\x85\xa0\xad\u200b\u2028\u2029\u3000\ufeff\ufffd\ue000\u0378\U000e0001\U0010ffff",
]


@pytest.fixture(scope="module")
def library():
    return Tokenizer.from_file(f"{asset_dir()}/tokenizer.json")


def assert_parity(texts, library, wordpiece):
    expected = library.encode_batch_fast(texts, add_special_tokens=False)
    different = [
        ascii(text)
        for text, encoding in zip(texts, expected, strict=True)
        if wordpiece.ids(text) != encoding.ids
    ]
    assert not different, different[:5]


def code_points():
    """Every assigned code point, and each 97th of the private and unassigned ones."""
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if category != "Cs" and (category not in ("Co", "Cn") or code % 97 == 0):
            yield chr(code)


def fuzzed_text(chance):
    """A text of up to eight runs, each from one script or hard for another reason."""
    return "".join(fuzzed_run(chance) for _ in range(chance.randint(1, 8)))


def fuzzed_run(chance):
    kind = chance.random()
    if kind < 0.05:
        return chance.choice(SPECIAL_TOKENS)
    if kind < 0.08:
        return chance.choice("aпé") * chance.randint(98, 102)
    if kind < 0.2:
        return "".join(chr(chance.randrange(0xD800)) for _ in range(chance.randint(1, 6)))
    return "".join(chance.choices(chance.choice(SCRIPTS), k=chance.randint(1, 12)))


def test_every_code_point_in_every_context_matches_the_library(library, wordpiece):
    assert_parity([CONTEXTS.format(character) for character in code_points()], library, wordpiece)


def test_fuzzed_texts_match_the_library(library, wordpiece):
    chance = random.Random(20240517)
    assert_parity([fuzzed_text(chance) for _ in range(20_000)], library, wordpiece)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("getUserById() in src/auth.py, v2.1", id="code"),
        pytest.param("a[CLS]b [unk] [ SEP ] [[MASK]][PAD", id="special tokens"),
        pytest.param("[CLS]" * 3000, id="thousands of special tokens"),
        pytest.param("a" * 100 + " " + "a" * 101, id="words of 100 and 101 characters"),
        pytest.param("가" * 50 + " " + "가" * 51, id="100 and 102 jamo after decomposition"),
        pytest.param("\u302e\u302f\u0323\u302ea \U0001d165\u0301\U0001d16d", id="marks NFD sorts"),
        pytest.param("x\0y\ufffdz\u200bw", id="removed characters join their neighbours"),
    ],
)
def test_a_hard_text_matches_the_library(text, library, wordpiece):
    assert_parity([text], library, wordpiece)


def test_a_lone_surrogate_counts_as_the_replacement_character(wordpiece):
    assert wordpiece.ids("re\ud800read \udfff") == wordpiece.ids("re\ufffdread \ufffd")


def test_no_token_holds_a_mark_that_nfd_could_move(library):
    assert not [token for token in library.get_vocab() if any(map(unicodedata.combining, token))]


def test_the_cut_is_the_one_model2vec_makes():
    model = static_model(Path(asset_dir()))
    assert model.max_length == MAX_TOKENS
    assert model.max_length * model.median_token_length == MAX_CHARACTERS


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("the retention of ܀ old blocks [UNK]", id="unknown words"),
        pytest.param("a b " * 2000, id="more than 512 tokens"),
        pytest.param("internationalization " * 200, id="more than 3,072 characters"),
        pytest.param("܀ a " * 700, id="unknown words count towards 512"),
    ],
)
def test_content_ids_are_those_model2vec_pools(text, wordpiece):
    model = static_model(Path(asset_dir()))
    assert wordpiece.content_ids(text) == model.tokenize([text[:MAX_CHARACTERS]])[0]
