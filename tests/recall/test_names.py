"""What the prompt names exactly is recalled, however few its words are."""

import pytest

DOCUMENTS = {
    "docs/adr/0005-queue.md": (
        "# 5. One queue for each merchant\n\nStatus: accepted\n\n"
        "## Context\n\nOne queue ran out of file descriptors.\n\n"
        "## Decision\n\nEvery merchant gets a stream of its own.\n"
    ),
    "docs/outage.md": (
        "# Carrier outage\n\n## Who is on call\n\nThe rota lies in the wiki; ask Ingrid.\n\n"
        "## Steps\n\nPause the carrier with `parcelctl pause`.\n"
    ),
    "docs/backup.md": "# Restore\n\nBackups are taken every night and kept for 30 days.\n",
}


@pytest.fixture
def parcels(project):
    project.index(DOCUMENTS)
    return project


@pytest.mark.parametrize(
    ("prompt", "source", "says"),
    [
        ("ADR 5", "docs/adr/0005-queue.md", "a stream of its own"),
        ("what does ADR-0005 say?", "docs/adr/0005-queue.md", "a stream of its own"),
        ("who is on call?", "docs/outage.md", "ask Ingrid"),
        ("what is parcelctl?", "docs/outage.md", "parcelctl pause"),
        ("where are the backups?", "docs/backup.md", "kept for 30 days"),
    ],
)
def test_a_short_question_is_answered(parcels, prompt, source, says):
    hit = parcels.runtime.query(prompt).hits[0]
    assert hit.source == source
    assert says in hit.text


@pytest.mark.parametrize(
    "prompt",
    [
        "who is the president?",
        "fix the call",
        "update the status",
        "what is ADR-6?",
        "steps",
        "why?",
    ],
)
def test_what_is_only_like_a_name_is_silent(parcels, prompt):
    assert parcels.runtime.query(prompt).hits == ()


def test_a_line_that_says_nothing_is_not_shown_for_its_heading(parcels):
    found = parcels.runtime.explain("why one queue for each merchant?")
    gates = {candidate.row.text: candidate.gate for candidate in found.candidates}
    assert gates["Status: accepted"] == "thin"
