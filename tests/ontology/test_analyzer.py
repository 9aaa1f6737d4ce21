"""What is indexed and what is asked meet, whatever the script, the spelling or the punctuation."""

import ast
import shutil
import sqlite3
import subprocess
import sys
import time
import unicodedata
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st

import agentlas_memory
from agentlas_memory.ontology import analyzer
from agentlas_memory.ontology.analyzer import analyze, query_terms, terms_in
from agentlas_memory.ontology.schema import TABLES

ROOT = Path(agentlas_memory.__file__).parents[1]
SITE = Path(snowballstemmer.__file__).parents[1]


@contextmanager
def fts5(facts):
    """Hold facts in a table like the store's."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(TABLES["chunk_fts"])
        for number, fact in enumerate(facts):
            row = (number, " ".join(analyze(fact)))
            database.execute("INSERT INTO chunk_fts(rowid, heading, body) VALUES (?, '', ?)", row)
        yield database


def best_hits(facts, question):
    """Return the numbers of the facts that match, best first."""
    match = " OR ".join(f'"{term.term}"' for term in query_terms(question))
    sql = "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY rank"
    with fts5(facts) as database:
        return [number for (number,) in database.execute(sql, (match,))]


def run_python(python, code):
    """Run code as the hook runs: isolated, without `site`."""
    paths = f"import sys; sys.path[:0] = {[str(ROOT), str(SITE)]}\n"
    command = [python, "-B", "-I", "-S", "-c", paths + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


NOISE = ["Deploys happen on Tuesday.", "Лимит запросов равен десяти.", "毎週火曜日に公開する"]

MEETINGS = {
    "apostrophe": ("We don't use agents for releases", "don't use agents"),
    "dashes": ("The pre-edit-check runs in CI", "pre-edit-check"),
    "path": ("Audio lives in Downloads/transcripts", "Downloads/transcripts"),
    "option": ("Lint runs --error-on-warnings", '"--error-on-warnings"'),
    "version": ("Runners are ubuntu 20.04", "ubuntu 20.04"),
    "unit": ("The bus peaks at 3 GB/s", "GB/s"),
    "colon": ("Filters look like col:val", "col:val"),
    "operators": ("Quotes are kept", 'quotes" OR NEAR('),
    "caret": ("Carets anchor", "^anchor*"),
    "parenthesis": ("parens (nested) fail", "a AND OR NOT (nested"),
    "backslash": ("Windows paths: src\\auth.py", "src/auth.py"),
    "camel-part": ("getUserById caches", "get user"),
    "camel-whole": ("getUserById caches", "getuserbyid"),
    "acronym-plural": ("the APIs are frozen", "API freeze: which API?"),
    "kana": ("昨日はしりとりで負けた", "しりとり"),
    "two-kanji": ("倉庫の設備を数える", "設備"),
    "two-hanzi": ("设备登记在仓库", "设备"),
    "hangul": ("어제 끝말잇기를 배웠다", "끝말잇기"),
    "glued-latin": ("社内APIの認証", "api"),
    "glued-kanji": ("社内APIの認証", "認証"),
    "thai": ("เอกสารการตั้งค่า", "ตั้งค่า"),
    "yo-in-fact": ("Мы включили тёмную тему", "темная тема"),
    "yo-in-question": ("Мы включили темную тему", "тёмные темы"),
    "russian-cases": ("Настройки пользователей", "настройка пользователя"),
    "accent-in-fact": ("Système d'authentification", "systeme"),
    "accent-in-question": ("Systeme d'authentification", "système"),
    "sharp-s-and-strokes": ("Straße in Łódź", "strasse lodz"),
    "niqqud-in-fact": ("הַשָּׁלוֹם נשמר", "השלום"),
    "niqqud-in-question": ("הגיבוי נשמר", "גִּבּוּי הַגִּיבּוּי"),
    "article-in-question": ("كِتَاب الشهر", "الكتاب"),
    "article-in-fact": ("وصل الكتاب", "كتاب"),
    "arabic-plural": ("حذفنا ملفات قديمة", "الملفات"),
    "greek": ("Τα αρχεία είναι εδώ", "αρχειο"),
    "hindi": ("नई किताबें आईं", "किताब"),
    "curly-apostrophe": ("the user’s key", "user's key"),
    "en-dash": ("range 10–20 ms", "10-20"),
    "full-width-in-fact": ("use the ＡＰＩ", "api"),
    "full-width-in-question": ("use the API", "ＡＰＩ"),
    "half-width-kana": ("ガイドを読む", "ｶﾞｲﾄﾞ"),
}


@pytest.mark.parametrize(("fact", "question"), MEETINGS.values(), ids=MEETINGS)
def test_fact_is_found_first(fact, question):
    for form in ("NFC", "NFD", "NFKD"):
        asked = unicodedata.normalize(form, question)
        assert best_hits([*NOISE, fact], asked)[:1] == [len(NOISE)], form


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserById", "getuserbyid get user id"),
        ("snake_case", "snake_case snake case"),
        ("src/auth.py", "src/auth.py src auth.py auth py"),
        ("gen-itgc", "gen-itgc gen itgc"),
        ("20.04", "20.04 20 04"),
        ("v2", "v2"),
        ("utf8", "utf8 utf"),
        ("parseHTTPUrl", "parsehttpurl pars http url"),
        ("userIDs", "userid user id"),
        ("_private__", "privat"),
        ("../docs/.", "doc"),
        ("what.", ""),
        ("PDFка", "pdfка pdf ка"),
        ("日本語API", "日本 本語 api"),
        ("猫", "猫"),
        ("commit 02727ea774d77f964eed1ce8", "commit 02727ea774d77f964eed1ce8"),
        ("x = y * 7 // C++", ""),
        ("user's we'll d'accord", "user accord"),
        ("👍🏽 done ✅", ""),
        ("1️⃣ step", "step"),
        ("٢٠٢٤", "2024"),
        ("zero\u200bwidth so\u00adft", "zerowidth soft"),
        ("nul\0bidi\u202eend\ud83c", "nul bidiend"),
        ("wait…then", "wait...then wait"),
        ("q\u0306uick ㅋㅋ \u3099", "quick"),
        ("ខ្មែរ", "ខ្ ្ម មែ ែរ"),
        ("မြန်", "မြ ြန န်"),
        ("\U00020bb7野家", "\U00020bb7野 野家"),
    ],
)
def test_terms_of_a_text(text, terms):
    assert analyze(text) == terms.split()


def test_query_terms_are_distinct_and_marked():
    terms = query_terms("Rename getUsers, rename the files in src/db!")
    assert [(term.term, term.surface, term.identifier) for term in terms] == [
        ("renam", "rename", False),
        ("getus", "getusers", True),
        ("get", "get", False),
        ("user", "users", False),
        ("file", "files", False),
        ("src/db", "src/db", True),
        ("src", "src", False),
        ("db", "db", False),
    ]


@pytest.mark.parametrize(
    "prompt",
    ["thanks!", "why not?", "yes, please do it", "ok", "что это и почему?", "merci", '* ^ "', ""],
)
def test_words_of_courtesy_give_no_terms(prompt):
    assert query_terms(prompt) == []


@pytest.mark.parametrize(
    "word", ["DER", "MIT", "DES", "EST", "DEL", "DOS", "COM", "comment", "id", "get", "use", "test"]
)
def test_technical_words_are_no_stop_words(word):
    assert len(query_terms(word)) == 1


def test_blobs_are_dropped_and_long_paths_keep_their_parts():
    folder = "deeply_nested_folder"
    assert analyze("aGVsbG8" * 20) == []
    assert analyze("/".join([folder] * 4)) == [folder, "deepli", "nest", "folder"] * 4


def test_huge_tokens_take_linear_time():
    start = time.perf_counter()
    analyze("ABc" * 300_000 + " " + "a/B." * 50_000 + " " + "あ" * 50_000)
    assert time.perf_counter() - start < 5


def test_cache_of_tokens_is_bounded_and_unseen():
    words = " ".join(f"item{number}" for number in range(70_000))
    assert analyze(words) == analyze(words)
    assert len(analyzer._terms_in_language("")) <= analyzer._CACHED_TOKENS


ODD_CHARACTERS = "aB9_-./' \u0301\u0306\u3099ийёеかハｶﾞ가각ㄱㅏ\u1100\u1161\u11a8שׁكّـتमृéßİıﬁ½²Å№"
ODD_TEXT = st.text(st.one_of(st.characters(), st.sampled_from(ODD_CHARACTERS)))
SURROGATES = st.text(st.sampled_from('aé日\ud800\udfff\0"'))
properties = settings(max_examples=150, deadline=None, database=None)


@properties
@given(ODD_TEXT)
def test_normalisation_forms_give_equal_terms(text):
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert len({tuple(analyze(form)) for form in forms}) == 1


@properties
@given(st.one_of(ODD_TEXT, SURROGATES))
def test_terms_are_safe_and_never_a_letter(text):
    for term in analyze(text):
        term.encode("utf-8")
        assert not set(term) & set(" \"\0\n\t'*():^+")
        assert len(term) > 1 or term >= "\u0e00"


@properties
@given(st.one_of(ODD_TEXT, SURROGATES))
def test_terms_asked_are_the_terms_indexed(text):
    indexed = analyze(text)
    assert [term.term for term in query_terms(text)] == list(dict.fromkeys(indexed))
    for token in text.split(" "):
        assert {term.term for term in query_terms(token)} <= set(analyze(token))


@properties
@given(ODD_TEXT)
def test_store_keeps_every_term_whole(text):
    with fts5([text]) as database:
        database.execute("CREATE VIRTUAL TABLE words USING fts5vocab(chunk_fts, 'row')")
        words = {word for (word,) in database.execute("SELECT term FROM words")}
    assert words == set(analyze(text))


ODD_STRINGS = [
    "тёмную Й и\u0306 ё",
    "ǅ ǆ ẞ ŉ ﬃ Ⅷ ㎏ ㌔ Ω K Å",
    "\u0378 \U00010570 \U0001e030 \u0c5d",  # unassigned, and newer than Unicode 13
    "ᄒ\u1161ᆫ한 ㅎㅏ ﾊﾟ は\u309a",
    "हिन्दी தமிழ் מִקְרָא الكِتَاب Ἀθήνα հայերեն",
    "getÉtat v２ ½ x² \ud800 \U000e0041 \U0001f468\u200d\U0001f469",
]


def other_pythons():
    names = [f"python3.{minor}" for minor in range(10, 15) if minor != sys.version_info[1]]
    found = filter(None, map(shutil.which, names))
    return [path for path in found if run_python(path, "").returncode == 0]


def test_every_python_gives_the_same_terms():
    pythons = other_pythons()
    if not pythons:
        pytest.skip("no other supported Python on PATH")
    code = f"""
from agentlas_memory.ontology.analyzer import analyze
print(ascii([analyze(text) for text in {ODD_STRINGS!a}]))
"""
    for python in pythons:
        result = run_python(python, code)
        assert ast.literal_eval(result.stdout) == [analyze(text) for text in ODD_STRINGS], python


IMPORTS = """
before = set(sys.modules)
from agentlas_memory.ontology.analyzer import query_terms
query_terms({!r})
print(*sorted(set(sys.modules) - before - {{"itertools"}}))
"""
OURS = """agentlas_memory agentlas_memory.chartable agentlas_memory.ontology
agentlas_memory.ontology.analyzer agentlas_memory.ontology.language
agentlas_memory.ontology.stemming
agentlas_memory.ontology.stopwords"""
SNOWBALL = """agentlas_snowball agentlas_snowball.among agentlas_snowball.basestemmer
agentlas_snowball.russian_stemmer"""


@pytest.mark.parametrize(
    ("prompt", "more"),
    [
        ("how does naïve getUserById work – in 日本語?", ""),
        ("the עברית page", "agentlas_memory.ontology.hebrew"),
        ("тёмная тема", SNOWBALL),
        ("か\u3099", "unicodedata"),
    ],
    ids=["plain", "hebrew", "russian", "decomposed"],
)
def test_only_what_a_prompt_needs_is_imported(prompt, more):
    result = run_python(sys.executable, IMPORTS.format(prompt))
    assert result.stderr == ""
    assert result.stdout.split() == sorted((OURS + " " + more).split())


def test_committed_table_is_what_the_script_builds(load_script):
    script = load_script("build_char_tables")
    if unicodedata.unidata_version != script.UNICODE_VERSION:
        pytest.skip(f"the table is built with Unicode {script.UNICODE_VERSION}")
    assert script.TARGET.read_bytes() == script.build_table()


WORDS = [
    *("policy", "Policies", "cries", "cry", "use", "user", "getUserById", "src/auth.py"),
    *("20.04", "v2", "C#", "gateway's", "темы", "设备"),
]


@given(st.lists(st.sampled_from([*WORDS, *ODD_STRINGS])), st.lists(st.sampled_from(WORDS)))
def test_terms_in_a_text_are_those_that_analyze_finds(parts, asked):
    text = " ".join(parts)
    terms = [term for part in asked for term in analyze(part)]
    found = set(analyze(text))
    assert terms_in(text, terms) == [term for term in terms if term in found]


def test_terms_are_found_in_words_that_end_otherwise():
    text = "Policies of the gateway's retries: getUserById, src/auth.py, cries"
    terms = analyze("policy gateways retry user auth.py crying rota")
    assert terms_in(text, terms) == [term for term in terms if term not in ("rota", "cry")]
