"""Decision records and issues that a prompt names by their number."""

import pytest

from agentlas_memory.recall.question import Question

RECORD = (
    "# {number}. {title}\n\n## Status\n\n{status}\n\n## Context\n\n{why}\n\n## Decision\n\n{what}\n"
)
RECORDS = (
    ("Redis queue", "Superseded by [ADR 5](0005.md)", "Jobs survive a restart.", "A Redis list."),
    ("Timeouts", "Accepted", "Slow upstreams hold workers.", "A request may take 800 ms."),
    ("Retries", "Accepted", "Three layers retried at once.", "Only the outermost layer retries."),
    (
        "Postgres queue",
        "Accepted. Supersedes [ADR 2](0002.md).",
        "Redis lost jobs on a full disk.",
        "Jobs are rows of a table, taken with SKIP LOCKED. The retries of ADR 4 stay.",
    ),
    (
        "Logging",
        "Accepted",
        "Nobody can search logs.",
        "A line is JSON. It replaced plain text.",
    ),
)
DOCUMENTS = {
    f"docs/adr/{number:04}.md": RECORD.format(
        number=number, title=title, status=status, why=why, what=what
    )
    for number, (title, status, why, what) in enumerate(RECORDS, 2)
} | {
    "docs/history.md": (
        "# History\n\n## Importer\n\nThe importer was rewritten because of #398: it kept a whole"
        " file in memory.\n\n## Clock\n\nThe scheduler went to UTC in GH-41.\n"
    ),
    "docs/rota.md": "# Rota\n\nWhoever is first on the list answers pages; that is rule #1.\n",
    "docs/http.md": "# HTTP\n\nCallers pass what is left in X-Request-Budget, in milliseconds.\n",
}


@pytest.fixture
def told(project):
    """Return the sources that a prompt recalls, best first, each once."""
    project.index(DOCUMENTS)

    def ask(prompt):
        return list(dict.fromkeys(project.sources_of(prompt)))

    ask.project = project
    return ask


@pytest.mark.parametrize(
    "prompt",
    [
        "ADR 4",
        "what did ADR-0004 decide about the layers?",
        "summarise adr #4",
        "what does decision record 4 say?",
        "что решили в ADR 4?",
    ],
)
def test_a_named_record_comes_first_and_others_only_where_they_mention_it(told, prompt):
    first, *others = told(prompt)
    assert first == "docs/adr/0004.md"
    assert others in ([], ["docs/adr/0005.md"])


def test_other_records_are_dropped_for_being_others(told):
    found = told.project.runtime.explain("what does ADR 4 say about logs nobody can search?")
    gates = {one.row.path: one.gate for one in found.candidates if one.row.path.endswith("06.md")}
    assert set(gates.values()) == {"other_record"}


def test_a_record_that_does_not_exist_is_not_answered_by_another(told):
    assert told("what does ADR 9 say about the queue of jobs?") == []


@pytest.mark.parametrize("prompt", ["what replaced ADR 2?", "which ADR superseded ADR 2?"])
def test_a_superseded_record_is_answered_by_what_superseded_it(told, prompt):
    assert told(prompt) == ["docs/adr/0005.md"]


def test_two_records_are_told_where_two_are_named(told):
    assert set(told("compare ADR 3 and 6")) == {"docs/adr/0003.md", "docs/adr/0006.md"}


def test_records_in_one_file_are_told_apart_by_their_headings(project):
    project.index(
        {
            "decisions.md": "# Decisions\n\n"
            "## ADR 1: Queue\n\nJobs of the queue are rows of a table.\n\n"
            "## ADR 2: Retries\n\nOnly the outermost layer retries a job of the queue.\n"
        }
    )
    hits = project.runtime.query("what does ADR 2 say about jobs of the queue?").hits
    assert [hit.heading.rpartition(" > ")[2] for hit in hits] == ["ADR 2: Retries"]


def test_a_heading_that_refers_to_a_record_is_not_that_record(project):
    text = "# Runbook\n\n## Retries, see ADR 9\n\nStop the worker when retries pile up.\n"
    project.index({"run.md": text})
    assert project.sources_of("ADR 4: what to do when retries of the worker pile up?") == ["run.md"]


def test_a_record_that_everybody_refers_to_is_found_by_its_number(project):
    others = {f"docs/{n}.md": f"# Service {n}\n\nService {n} follows ADR 4.\n" for n in range(120)}
    project.index(others | {"docs/decisions/0004.md": DOCUMENTS["docs/adr/0004.md"]})
    assert project.sources_of("ADR 4")[0] == "docs/decisions/0004.md"


@pytest.mark.parametrize(
    "prompt",
    ["#398", "issue #398", "what was decided in #398", "fix issue 398", "зачем сделали #398?"],
)
def test_an_issue_is_answered_by_what_mentions_it(told, prompt):
    assert told(prompt) == ["docs/history.md"]


@pytest.mark.parametrize("prompt", ["#399", "do #1 next", "option #1, please", "close issue 41000"])
def test_a_number_that_nobody_mentions_or_that_counts_is_silent(told, prompt):
    assert told(prompt) == []


def test_a_header_name_is_a_name_of_the_project(told):
    assert told("fix X-Request-Budget") == ["docs/http.md"]
    assert told("fix the end-to-end tests") == []


def test_the_note_with_an_id_is_told_for_its_id(project):
    project.index(
        {"rfc.md": "---\nid: RFC-0012\n---\n# Clocks\n\nEach server keeps UTC wherever it is.\n"}
    )
    assert project.sources_of("implement RFC-0012") == ["rfc.md"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("ADR-0007's context", {"adr:7": True}),
        ("ADRs 3, 4 and 12 of 30", {"adr:3": True, "adr:4": True, "adr:12": True}),
        ("ADR-3 and 4", {"adr:3": True, "adr:4": True}),
        ("the decision record #14", {"adr:14": True}),
        ("#1 and #12", {"issue:1": False, "issue:12": True}),
        ("issue #1, gh-7", {"issue:1": True, "issue:7": False}),
        ("adr, a record 4, issue-tracker 2, x#3 #0 #", {}),
    ],
)
def test_numbers_are_read_with_what_they_count(text, keys):
    assert Question(text).numbered == keys
