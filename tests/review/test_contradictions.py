"""Nearly the same words, but another number or a `not`."""

import time

import pytest

from agentlas_memory.review.contradictions import find_contradictions


def differs(one, other, *, sources=("a", "b")):
    texts = [(sources[0], one), (sources[1], other)]
    return [pair.differs for pair in find_contradictions(texts).pairs]


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("The SSH port of the bastion is 22.", "The SSH port of the bastion is 49222.", "number"),
        ("The quokka cluster has three nodes", "The quokka cluster has 5 nodes", "number"),
        ("Always retry payments on Sundays", "Never retry payments on Sundays", "negation"),
        ("We do retry failed payments", "We don't retry failed payments", "negation"),
        (
            "Sessions of the shop expire after 60s",
            "Sessions of the shop expire after 30s",
            "number",
        ),
        ("Uploads to the shop may have 3gb", "Uploads to the shop may have 2 gb", "number"),
        (
            "The shop alerts when disks are 90% full",
            "The shop alerts when disks are 80% full",
            "number",
        ),
        ("The crew pins Node to v72 in builds", "The crew pins Node to v71 in builds", "number"),
        ("Резервные копии храним 30 дней", "Резервные копии храним 7 дней", "number"),
        (
            "Die Zahlung wird sonntags wiederholt",
            "Die Zahlung wird sonntags nicht wiederholt",
            "negation",
        ),
    ],
)
def test_a_difference_in_a_number_or_a_negation_is_found(one, other, what):
    assert differs(one, other) == [what]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The SSH port of the bastion is 22.", "The SSH port of the bastion is 22."),
        ("The SSH port of the bastion is 22.", "Backups of invoices are kept 30 days."),
        ("Three nodes in Berlin serve invoices", "Five nodes in Paris serve reports"),
        ("Port 22", "Port 49222"),
        ("Sessions of the shop expire after 60s", "Sessions of the shop expire after 60 s"),
        ("Never log a customer's token", "Don't log a customer's token"),
    ],
)
def test_what_agrees_or_is_about_something_else_is_none(one, other):
    assert differs(one, other) == []


@pytest.mark.parametrize(
    "head",
    [
        "Status: accepted\nDate: 2025-01-{}\nDeciders: Ada, Nils and Grace of the platform\n",
        "* Status: accepted\n* Deciders: Ada, Nils and Grace\n* Sprint of the platform crew: {}\n",
        "**Status**: accepted\n**Date**: {} May 2025, at the meeting of the platform crew\n",
        "| Status | accepted |\n| Date | {} May, meeting of the platform crew |\n",
    ],
    ids=["lines", "list", "bold", "table"],
)
def test_the_head_of_a_record_is_no_sentence(head):
    one, other = (head.format(day) for day in (11, 12))
    assert differs(one, other) == []
    said = "{}\nThe quokka cluster has {} nodes."
    assert differs(said.format(one, 3), said.format(other, 5)) == ["number"]


@pytest.mark.parametrize(
    "text",
    [
        "- 2023-04-{0}: First draft written by Nils",
        "The pull request is https://example.org/team/project/pull/{0}",
        "Superseded decisions about storage: ADR {0}",
        "Settings of the cluster:\n\n```\nmessage block header = {0}\n```\n",
    ],
    ids=["change list", "address", "reference", "code"],
)
def test_what_differs_from_page_to_page_is_none(text):
    assert differs(text.format(11), text.format(12)) == []


def test_one_source_does_not_contradict_itself():
    assert differs("It has three big nodes", "It has five big nodes", sources=("a", "a")) == []


def test_a_sentence_in_the_middle_of_a_note_is_held_against_others():
    note = "We met on Monday.\n\n- The quokka cluster has 3 nodes.\n- Nils brings cake."
    assert differs(note, "The quokka cluster has 5 nodes.") == ["number"]


def test_many_notes_take_seconds_and_what_is_left_out_is_told():
    words = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape"]
    sentence = "The {} cluster number {} has {} big nodes in rack r{}."
    texts = [(str(n), sentence.format(words[n % 7], n, n % 5, n % 300)) for n in range(20_000)]
    started = time.perf_counter()
    find_contradictions(texts)
    assert time.perf_counter() - started < 60
    assert find_contradictions([("a", f"{texts[0][1]} " * 60_000)]).cut_short
