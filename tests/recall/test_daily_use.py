"""Silence in daily use, and an answer where there is one."""

import itertools
import random

import pytest

SUBJECTS = [
    "ledger",
    "gateway",
    "scheduler",
    "exporter",
    "importer",
    "billing",
    "webhook",
    "search",
    "cache",
    "session",
    "mailer",
    "indexer",
]
PARTS = [
    "queue",
    "schema",
    "retry",
    "token",
    "shard",
    "worker",
    "migration",
    "quota",
    "signature",
    "cursor",
    "lease",
    "snapshot",
]
FACTS = [
    "The {s} keeps its {p} in the table {s}_{p}, which only the nightly job may change.",
    "A failed {p} of the {s} is tried again after {n} seconds, at most five times.",
    "We moved the {p} of the {s} to Postgres because Redis lost it on restart.",
    "The {s} reads its {p} from config/{s}.toml; the environment variable {S}_{P} wins.",
    "Never change the {p} of the {s} by hand: run scripts/{s}_{p}.sh instead.",
]
EVERYDAY = [
    "thanks",
    "thank you!",
    "run the tests",
    "commit this",
    "continue",
    "what is 2+2",
    "yes",
    "no",
    "translate this to French",
    "looks good",
    "go on",
    "try again",
    "please fix it",
    "ok do that",
    "why did that fail?",
    "can you explain this code?",
    "write a commit message",
    "undo the last change",
    "make it shorter",
    "add a comment",
    "rename this variable",
    "what does this function do?",
    "push it",
    "open a pull request",
    "format the file",
    "is there a bug here?",
    "great, next one",
    "summarise what we did",
    "remove the print statements",
    "use a loop instead",
    "hello",
    "good morning",
    "what time is it?",
    "show me the diff",
    "run the linter",
    "add type hints",
    "that is wrong",
    "do it again but faster",
    "clean this up",
    "write a unit test for it",
    "how are you?",
    "stop",
    "what do you think?",
    "convert it to TypeScript",
    "sort the imports",
    "split this into two functions",
    "install the dependencies",
    "where were we?",
    "revert everything",
    "explain like I am five",
]


TEXTS = [
    (text.format(s=s, p=p, n=10 + len(s + p), S=s.upper(), P=p.upper()), s, p)
    for s, p, text in random.Random(70).sample(list(itertools.product(SUBJECTS, PARTS, FACTS)), 300)
]


@pytest.fixture(scope="module", params=["project", "experience"])
def busy(request, tmp_path_factory, learn):
    from agentlas_memory.runtime import OntologyRuntime

    if request.param == "experience":
        pairs = ((str(number), text) for number, (text, *_) in enumerate(TEXTS))
        return learn(tmp_path_factory.mktemp("busy") / "experience.sqlite", pairs)
    runtime = OntologyRuntime(tmp_path_factory.mktemp("busy") / "s.sqlite")
    runtime.ingest_records((str(number), text) for number, (text, *_) in enumerate(TEXTS))
    return runtime


def test_everyday_prompts_are_met_with_silence(busy):
    assert len(EVERYDAY) == 50
    answered = [prompt for prompt in EVERYDAY if busy.query(prompt).hits]
    assert len(answered) <= 2, answered


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks",
        "run the tests",
        "commit this",
        "continue",
        "what is 2+2",
        "translate this to French",
    ],
)
def test_courtesies_and_commands_never_get_an_answer(busy, prompt):
    assert busy.query(prompt).hits == ()


@pytest.mark.parametrize("number", range(0, 300, 20))
def test_a_fact_is_found_among_the_others_by_its_own_words(busy, number):
    text, subject, part = TEXTS[number]
    hits = busy.query(f"tell me about the {part} of the {subject}: {text[:60]}").hits
    assert text in [hit.text for hit in hits]


@pytest.fixture(params=["project", "experience"])
def facts(request, facts, lessons):
    """Facts of a project, and the same as an agent's."""
    return facts if request.param == "project" else lessons


FACT = "Deployments to production are frozen from the 20th of December until the 3rd of January."


@pytest.mark.parametrize(
    "question",
    [
        "are we allowed to deploy to production on December 24?",
        "when does the deployment freeze end?",
        "can I ship to production between Christmas and New Year, or are deployments frozen?",
    ],
)
def test_paraphrase_finds_the_fact_or_the_gate_says_by_how_much_it_failed(facts, question):
    found = facts(FACT, "The pager rota is weekly.").explain(question)
    [candidate] = [one for one in found.candidates if one.row.path == "0"]
    assert not candidate.gate or (candidate.gate == "evidence" and candidate.margin < 0)
    assert candidate in found.hits or candidate.gate


def test_two_projects_of_one_name_do_not_mix(tmp_path):
    from agentlas_memory.ontology.index import index_project
    from agentlas_memory.runtime import OntologyRuntime

    for owner, way in (("a", "cookies"), ("b", "signed headers")):
        root = tmp_path / owner / "app"
        root.mkdir(parents=True)
        (root / "auth.md").write_text(f"# Auth\n\n`auth.py` checks sessions by {way}.\n")
        index_project(root)
    for owner, way in (("a", "cookies"), ("b", "signed headers")):
        runtime = OntologyRuntime(tmp_path / owner / "app/.agentlas/ontology-runtime.sqlite")
        [hit] = runtime.query("how does auth.py check sessions?").hits
        assert way in hit.text
