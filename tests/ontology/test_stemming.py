"""Stems equal FTS5's for English, and join the forms of a word in the other languages."""

import sqlite3
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentlas_memory
from agentlas_memory.ontology.analyzer import analyze, read_language
from agentlas_memory.ontology.language import ENGLISH, PORTUGUESE
from agentlas_memory.ontology.stemming import porter_stem, stem

# Every rule of the algorithm at least once, taken and refused.
WORDS = """
caresses ponies ties caress cats ss gas this ies ses sses feed agreed need plastered bled motoring
sing conflated troubled sized hopping tanned falling hissing fizzed failing filing ied eed aed
happy sky say relational conditional rational valenci hesitanci digitizer conformabli radicalli
differentli vileli analogousli vietnamization predication operator feudalism decisiveness
hopefulness callousness formaliti sensitiviti sensibiliti geologi triplicate formative formalize
electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable
defensible irritant replacement adjustment dependent adoption decision onion communism activate
angulariti homologous effective bowdlerize probate rate cease controll roll yyyy byby syzygy queue
oaten ability ion tion ation ational eli er e settings configuration configured configure
migrations migrating migrate ledger ledgers caching cached caches authentication authenticated
authorize authorization policies policy indexes indexing index dependencies dependency deployed
deployment deploying retries retry retrying queries query querying connections connected
abstraction hooks hooking asynchronous serializer serialization deserialize databases schema
schemas validity validation validated validator encryption encrypted encoding encode
"""


def fts5_stems(words):
    """Return what SQLite's own `porter` tokenizer makes of each word."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(word, tokenize='porter ascii')")
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    database.executemany("INSERT INTO t(rowid, word) VALUES (?, ?)", enumerate(words))
    stems = dict(database.execute("SELECT doc, term FROM v"))
    database.close()
    return [stems[number] for number in range(len(words))]


def test_english_stems_equal_those_of_fts5():
    words = WORDS.split()
    assert list(map(porter_stem, words)) == fts5_stems(words)


ENDINGS = """
s es ed eed ing y e ll ation izer ness fulness ement ion tion ator iviti ical ous ize
"""


@settings(max_examples=300, deadline=None, database=None)
@given(
    st.text("aeiouybdlmstwxz", min_size=1, max_size=6),
    st.lists(st.sampled_from(ENDINGS.split()), max_size=3),
)
def test_made_up_words_stem_as_in_fts5(beginning, endings):
    word = beginning + "".join(endings)
    assert [porter_stem(word)] == fts5_stems([word])


@pytest.mark.parametrize("word", ["y" * 64, "ab" * 32 + "ing", "at", "a"], ids=len)
def test_lengths_at_the_limits_stem_as_in_fts5(word):
    assert [porter_stem(word)] == fts5_stems([word])


@pytest.mark.parametrize(
    "forms",
    [
        "configure configured configuration",
        "тема темы тему темой",
        "темный темная темную темных",
        "пользователь пользователя пользователям",
        "мой моего моей",
        "αρχειο αρχεια αρχειων",
        "ملف الملف والملف بالملف للملف ملفات الملفات",
        "كتاب الكتاب",
        "لغة اللغة",
        "والد الوالد",  # father: its first letters are no article
        "किताब किताबें किताबों",
        "மரம் மரத்த\u0bc7\u0bbeடு",  # with a vowel in two halves, as folded
        "քաղաք քաղաքներ",
    ],
    ids=lambda forms: forms.split()[0],
)
def test_forms_of_a_word_meet(forms):
    assert len(set(map(stem, forms.split()))) == 1


@pytest.mark.parametrize(
    "forms",
    [
        "configuração configurações configurar configurou",
        "versão versões",
        "variável variáveis",
        "mensagem mensagens",
        "papel papéis",
        "troca trocamos trocada",
        "aluno alunos aluna",
    ],
    ids=lambda forms: forms.split()[0],
)
def test_forms_of_a_portuguese_word_meet_with_and_without_accents(forms):
    words = [word for form in forms.split() for word in (form, without_accents(form))]
    assert len({tuple(analyze(word, PORTUGUESE)) for word in words}) == 1


def without_accents(word):
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@pytest.mark.parametrize(
    "forms",
    [
        "מסמך מסמכים המסמך והמסמכים למסמך",
        "הודעה הודעות הודעת ההודעה",
        "בדיקה בדיקות בדיקת הבדיקה",
        "תור תורים התור לתורים",
        "שרת שרתים השרתים",
        "קובץ קבצים הקבצים",
    ],
    ids=lambda forms: ascii(forms.split()[0]),
)
def test_forms_of_a_hebrew_word_meet(forms):
    assert len(set(map(stem, forms.split()))) == 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Quantas pessoas precisam acompanhar as implantações?", PORTUGUESE),
        ("configurações anteriores", PORTUGUESE),
        ("Por quantos anos mantemos cada registro?", PORTUGUESE),
        ("write unit tests for OrderDao and InvoiceDao", ENGLISH),
        ("fix UserDao", ENGLISH),
        ("Bilbao and Qingdao ship batteries", ENGLISH),
        ("SEM TEM", ENGLISH),
        ("El Paso and Del Rio warehouses", ENGLISH),
        ("Supported locales: da, de, el, en", ENGLISH),
        ("que = deque(); que.append(um)", ENGLISH),
        ("review the PR for São Tomé", ENGLISH),
        ("how do we restore the database in São Paulo", ENGLISH),
        ("rename para to paragraph", ENGLISH),
        ("de facto standard", ENGLISH),
        ("", ENGLISH),
        ("тёмная тема", ENGLISH),
    ],
)
def test_language_of_latin_letters_is_told_by_its_function_words(text, language):
    assert read_language(text) == language


@pytest.mark.parametrize("word", ["aed", "src/files", "v2", "getting-started", "日本", "ə", "б"])
def test_identifiers_other_scripts_and_one_letter_stems_stay(word):
    assert stem(word) == word


def test_words_stay_where_the_stemmers_are_missing(tmp_path):
    # A folder with our package alone: in an installed one the stemmers lie beside it.
    (tmp_path / "agentlas_memory").symlink_to(Path(agentlas_memory.__file__).parent)
    code = f"""
import sys
sys.path[:0] = [{str(tmp_path)!r}]
from agentlas_memory.ontology.stemming import stem
print(ascii(stem("темы")))
"""
    command = [sys.executable, "-B", "-I", "-S", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == ascii("темы")


def test_the_whole_stemmer_package_still_imports_after_ours():
    stem("темы")
    import snowballstemmer

    assert snowballstemmer.stemmer("russian").stemWord("темы") == "тем"
