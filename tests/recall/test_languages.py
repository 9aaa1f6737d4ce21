"""Facts in any script are found by the words people would ask with."""

import unicodedata

import pytest

CJK = ["今日は成語しりとりをした", "设备清单在仓库", "오늘 끝말잇기 게임을 했다"]


@pytest.fixture(params=["project", "experience"])
def facts(request, facts, lessons):
    """Facts of a project, and the same as an agent's."""
    return facts if request.param == "project" else lessons


@pytest.mark.parametrize(("query", "place"), [("しりとり", "0"), ("设备", "1"), ("끝말잇기", "2")])
def test_two_characters_of_cjk_are_enough(facts, query, place):
    assert facts(*CJK, "The gateway drains the blue cluster.").query(query).hits[0].source == place


@pytest.mark.parametrize(
    ("fact", "queries"),
    [
        ("Пользователь предпочитает тёмную тему", ["тёмная тема", "темная тема", "ТЁМНУЮ ТЕМУ"]),
        (
            "A autenticação usa o provedor interno",
            ["provedor de autenticação", "provedor de autenticacao"],
        ),
        ("המשתמש מעדיף מצב כהה", ["מצב כהה", "מַצָּב כֵּהֶה"]),
        ("הַמִּשְׁתַּמֵּשׁ מַעֲדִיף מַצָּב כֵּהֶה", ["מצב כהה"]),
        ("يفضل المستخدم الوضع الداكن", ["الوضع الداكن", "وضع داكن"]),
        ("Le café près de l’entrée est fermé", ["cafe entree ferme", "café l'entrée fermé"]),
    ],
    ids=["russian", "portuguese", "hebrew", "niqqud", "arabic", "french"],
)
def test_inflected_and_accented_words_are_found(facts, fact, queries):
    runtime = facts(fact, "Der Zug fährt um acht.", "The gateway drains the blue cluster.")
    assert {runtime.query(query).hits[0].source for query in queries} == {"0"}


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("Die Überprüfung läuft nachts", unicodedata.normalize("NFD", "Überprüfung nachts")),
        (unicodedata.normalize("NFD", "Die Überprüfung läuft nachts"), "Überprüfung nachts"),
        ("The operator’s rota is kept", "operator's rota"),
        ("We use pre–edit checks", "pre-edit checks"),
        ("The ＡＰＩ gateway drains", "API gateway drains"),
        ("The API gateway drains", "ＡＰＩ gateway drains"),
        ("getUserById reads the cache", "get user by id cache"),
    ],
    ids=[
        "nfd asked",
        "nfd stored",
        "apostrophe",
        "dash",
        "full width",
        "full width asked",
        "camel",
    ],
)
def test_spelling_of_characters_does_not_matter(facts, fact, query):
    runtime = facts(fact, "Nothing of that is said here.")
    assert runtime.query(query).hits[0].source == "0"


@pytest.mark.parametrize("query", ["autenticacao", "autenticação", "autenticações", "fluxos"])
def test_word_alone_does_not_tell_its_language_and_is_found_all_the_same(facts, query):
    runtime = facts("Fluxo de autenticação para os usuários.", "The gateway drains the cluster.")
    assert [hit.source for hit in runtime.query(query).hits] == ["0"]


def test_english_word_of_a_portuguese_text_is_found(facts):
    runtime = facts("Os deployments são feitos às terças por duas pessoas.", "The gateway drains.")
    assert [hit.source for hit in runtime.query("deployments").hits] == ["0"]


@pytest.mark.parametrize(
    "query", ["Schlüssel", "der Schlüssel läuft ab", "wo liegt der Schlüssel?"]
)
def test_text_that_the_model_does_not_know_is_judged_by_its_words(facts, query):
    german = "Der Schlüssel für die Datenbank läuft nach neunzig Tagen ab und liegt im Tresor."
    runtime = facts(german, "The gateway drains the cluster.")
    assert [hit.source for hit in runtime.query(query).hits] == ["0"]


def test_russian_prompt_is_answered_by_words_alone(facts):
    result = facts("Пользователь предпочитает тёмную тему").query(
        "какую тему предпочитает пользователь?"
    )
    assert result.retrieval == "lexical_language"
    assert [hit.cosine for hit in result.hits] == [None]


def test_accent_makes_no_one_letter_term_that_matches_everything(facts):
    runtime = facts("á é í ó ú", "e a o", "Ein Zug")
    assert runtime.query("é").hits == ()
