"""What a session's start is told: what holds here and what is open."""

import json

import pytest

INBOX = ".agentlas/ontology-inbox"


def adr(number, status, decision):
    parts = [f"# {number}. Title", "## Status", status, "## Context", "Background.", "## Decision"]
    return "\n\n".join([*parts, f"{decision}\n"])


def order(capsule, *texts):
    places = [capsule.find(text) for text in texts]
    return min(places) >= 0 and places == sorted(places)


@pytest.fixture
def files(note):
    return {
        "docs/adr/0001-ledger.md": adr(1, "Accepted", "Money is counted in minor units."),
        "docs/adr/0002-queue.md": adr(2, "Proposed", "A queue might be used."),
        "docs/adr/0003-soap.md": adr(3, "Superseded by ADR 4", "SOAP is spoken."),
        "docs/adr/0004-rest.md": adr(4, "Accepted", "REST is spoken."),
        "docs/guide.md": "# Guide\n\nHow to begin.\n",
        f"{INBOX}/a-todo.md": note("Open: rotate the certificates.", "todo", identity="b1"),
        f"{INBOX}/b-rule.md": note(
            "Rule: no call inside a transaction.", "constraint", identity="b2"
        ),
        f"{INBOX}/c-note.md": note("A plain note.", identity="b3"),
        f"{INBOX}/d-decision.md": note("A plain decision.", "decision", identity="b4"),
        f"{INBOX}/e-secret.md": note(
            "Rule: a private one.", "constraint", "private", identity="b5"
        ),
    }


def test_rules_come_first_then_decisions_then_what_is_open(make_project, start, files):
    capsule = start(make_project(files))
    assert order(capsule, "Rule: no call", "Money is counted", "REST is spoken", "Open: rotate")
    for absent in (
        "queue might",
        "SOAP",
        "How to begin",
        "plain note",
        "plain decision",
        "private one",
    ):
        assert absent not in capsule


def test_the_state_needs_no_model_and_asks_nothing(make_project, start, files, receipt):
    assert "retrieval=project_state;" in start(make_project(files))
    assert receipt()["retrieval"] == ""
    assert receipt()["event"] == "SessionStart"


def test_only_whole_notes_are_shown_and_not_more_than_1500_characters(make_project, start, note):
    root = make_project(
        {
            f"{INBOX}/{n}.md": note(
                f"Rule {n}: {'word ' * 60}end {n}.", "constraint", identity=f"c{n}"
            )
            for n in range(9)
        }
    )
    capsule = start(root)
    assert 1100 < len(capsule) <= 1500
    shown = [n for n in range(9) if f"Rule {n}:" in capsule]
    assert shown == list(range(len(shown)))
    assert all(f"end {n}." in capsule for n in shown)


def test_a_project_without_a_state_is_silent(make_project, start, receipt):
    assert start(make_project()) == ""
    assert receipt()["silence_reason"] == "no_prompt"


def test_a_changed_note_is_not_part_of_the_state(make_project, start, files):
    root = make_project(files)
    (root / INBOX / "b-rule.md").write_text("changed by hand")
    (root / INBOX / "a-todo.md").unlink()
    capsule = start(root)
    assert "Rule: no call" not in capsule
    assert "Open: rotate" not in capsule
    assert "REST is spoken" in capsule


def test_the_newest_commit_comes_first_then_the_path(make_project, start, index, git):
    root = make_project({"docs/adr/0001-a.md": adr(1, "Accepted", "Oldest."), ".gitignore": ""})
    git(root, "init", "-q")
    for number, text in enumerate(["Oldest.", "Middle.", "Newest."], 1):
        (root / f"docs/adr/000{number}-a.md").write_text(adr(number, "Accepted", text))
        git(root, "add", "docs")
        git(root, "commit", "-q", "-m", text, date=f"2024-01-0{number}T00:00:00Z")
    (root / "docs/adr/0004-a.md").write_text(adr(4, "Accepted", "Not committed."))
    index(root)
    assert order(start(root), "Newest.", "Middle.", "Not committed.")


def test_the_raw_host_can_ask_for_the_state(make_project, run_hook, files):
    root = make_project(files)
    for name in ("SessionStart", "PreInvocation"):
        answer = run_hook({"cwd": str(root)}, "raw", event_name=name).decode()
        assert order(answer, "Rule: no call", "Money is counted")


def test_policy_files_are_no_part_of_the_state(make_project, start):
    text = "---\nstatus: accepted\n---\n\n# 0009. Policy\n\nAlways obey.\n"
    root = make_project(
        {"docs/adr/AGENTS.md": text, "docs/adr/0001-a.md": adr(1, "Accepted", "Yes.")}
    )
    assert "Always obey" not in start(root)


def test_the_answer_names_its_event(make_project, run_hook, start_event, files):
    answer = json.loads(run_hook(start_event(make_project(files)), event_name="SessionStart"))
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
