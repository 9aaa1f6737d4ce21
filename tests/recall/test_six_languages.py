"""Facts in six languages are recalled by prompts that inflect or reorder their words.

The facts and prompts (languages.jsonl) were written before the code that is judged by them, and by
hand; each prompt shares at least one word with its fact in another form.
"""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from agentlas_memory.runtime import OntologyRuntime

CASES = defaultdict(list)
for line in (Path(__file__).parent / "languages.jsonl").read_text(encoding="utf-8").splitlines():
    case = json.loads(line)
    CASES[case["language"]].append(case)

COURTESIES = {
    "russian": ["спасибо", "да, продолжай", "прогони тесты ещё раз", "переименуй эту функцию"],
    "hebrew": ["תודה", "כן, תמשיך", "תריץ שוב את הבדיקות", "תשנה את השם של הפונקציה"],
    "chinese": ["谢谢", "好的，继续", "再跑一遍测试", "重命名这个函数"],
    "japanese": ["ありがとう", "はい、続けて", "この関数の名前を変えて", "最後の変更を戻して"],
    "korean": ["고마워", "응, 계속해", "테스트를 다시 돌려 줘", "이 함수 이름을 바꿔 줘"],
    "portuguese": ["obrigado", "sim, pode continuar", "renomeia essa função", "desfaz a última"],
}


@pytest.fixture(scope="module", params=["project", "experience"])
def stores(request, tmp_path_factory, data_folder, learn):
    made = {}
    for language, cases in CASES.items():
        if request.param == "experience":
            pairs = ((case["id"], case["fact"]) for case in cases)
            made[language] = learn(tmp_path_factory.mktemp(language) / "experience.sqlite", pairs)
            continue
        made[language] = OntologyRuntime(tmp_path_factory.mktemp(language) / "facts.sqlite")
        made[language].ingest_records((case["id"], case["fact"]) for case in cases)
    return made


def test_there_are_twenty_of_each():
    assert [len(cases) for cases in CASES.values()] == [20] * 6


@pytest.mark.parametrize("gated", [False, True], ids=["ranked", "told"])
@pytest.mark.parametrize("language", CASES)
def test_nine_of_ten_facts_come_first(stores, language, gated):
    first = [
        [hit.source for hit in stores[language].query(case["prompt"], gated=gated).hits[:1]]
        for case in CASES[language]
    ]
    right = sum(hit == [case["id"]] for hit, case in zip(first, CASES[language], strict=True))
    assert right >= 18


@pytest.mark.parametrize("language", COURTESIES)
def test_courtesies_and_orders_are_met_with_silence(stores, language):
    for prompt in COURTESIES[language]:
        assert stores[language].query(prompt).hits == (), prompt


@pytest.mark.parametrize("language", CASES)
def test_the_english_model_is_not_asked(stores, language):
    prompts = [case["prompt"] for case in CASES[language]]
    answers = {stores[language].query(prompt).retrieval for prompt in prompts}
    assert answers == {"lexical_language"}
