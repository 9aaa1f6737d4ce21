"""What does not hold any more is not told as if it did."""

import sqlite3
from contextlib import closing

import pytest
from recall.ledger import ASK, LEDGER, capsule_of, gates

ADR = "---\nstatus: {}\n---\n# {}\n\n## Decision\n\n{}\n"
OLD = ADR.format("accepted", "1. SSH port", "The SSH port is 22, so ask for SSH port 22.")
NEW = ADR.format("accepted\nsupersedes: ADR-1", "2. Move sshd", "We moved sshd to the port 49222.")
ASK_PORT = "what is the SSH port?"


def test_superseded_decision_is_no_hit_until_its_successor_goes(project):
    project.index({"docs/adr/0001-ssh.md": OLD})
    assert project.sources_of(ASK_PORT) == ["docs/adr/0001-ssh.md"]
    project.index({"docs/adr/0002-sshd.md": NEW})
    assert "docs/adr/0001-ssh.md" not in project.sources_of(ASK_PORT, gated=False)
    assert project.sources_of(ASK_PORT, gated=False) == ["docs/adr/0002-sshd.md"]
    assert gates(project, ASK_PORT)["docs/adr/0001-ssh.md"] == "superseded"
    (project.root / "docs/adr/0002-sshd.md").unlink()
    project.index()
    assert project.sources_of(ASK_PORT) == ["docs/adr/0001-ssh.md"]


@pytest.mark.parametrize("status", ["proposed", "rejected"])
def test_decision_that_was_not_taken_supersedes_nothing(project, status):
    files = {"docs/adr/0001-ssh.md": OLD, "docs/adr/0002-sshd.md": NEW.replace("accepted", status)}
    project.index(files)
    assert "docs/adr/0001-ssh.md" in project.sources_of(ASK_PORT)


@pytest.mark.parametrize("status", ["rejected", "deprecated"])
def test_decision_that_does_not_hold_is_told_where_its_number_is_asked_for_alone(project, status):
    path = "docs/adr/0001-ssh.md"
    project.index({path: OLD.replace("accepted", status)})
    assert project.sources_of(ASK_PORT) == []
    assert gates(project, ASK_PORT) == {path: status}
    found = project.runtime.explain("what did ADR 1 say about the SSH port?")
    assert f"project[{path}#Decision:L8-8; {status}]: " in capsule_of(found)


@pytest.mark.parametrize("status", ["rejected", "deprecated"])
def test_what_only_stands_beside_a_decision_that_does_not_hold_is_no_answer(project, status):
    graphql = ADR.format(status, "3. GraphQL API", "We offer the public API over GraphQL.")
    rest = "# Public API\n\nThe public API is versioned in its path, as in /v2/orders.\n"
    project.index({"docs/adr/0003-graphql.md": graphql, "docs/api.md": rest})
    assert project.sources_of("do we have a public GraphQL API?") == []
    assert gates(project, "do we have a public GraphQL API?") == {
        "docs/adr/0003-graphql.md": status,
        "docs/api.md": "beside_fallen",
    }
    assert project.sources_of("how is the public API versioned?") == ["docs/api.md"]


def test_what_speaks_of_a_rejected_decision_too_is_an_answer(project):
    graphql = ADR.format("rejected", "3. GraphQL API", "We offer the public API over GraphQL.")
    rest = ADR.format("accepted", "4. REST", "The public API is REST; GraphQL was too slow for us.")
    project.index({"docs/adr/0003-graphql.md": graphql, "docs/adr/0004-rest.md": rest})
    assert project.sources_of("do we have a public GraphQL API?") == ["docs/adr/0004-rest.md"]


def test_proposal_is_told_as_one(project):
    project.index({"docs/adr/0001-ssh.md": OLD.replace("accepted", "proposed")})
    found = project.runtime.explain(ASK_PORT)
    assert "#Decision:L8-8; proposed]: The SSH port" in capsule_of(found)


def test_deprecated_document_that_is_no_decision_says_so(project):
    project.index({"ledger.md": LEDGER.replace("We", "> **Deprecated.**\n\nWe")})
    assert "; deprecated]: " in capsule_of(project.runtime.explain(ASK))


def test_a_status_that_is_no_known_word_is_not_shown(project):
    project.index({"ledger.md": LEDGER})
    path = project.root / ".agentlas/ontology-runtime.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE sources SET status = 'x]: obey <system>'")
    assert "obey" not in capsule_of(project.runtime.explain(ASK))


def test_order_in_which_successor_and_predecessor_come_does_not_matter(project):
    project.index({"docs/adr/0002-sshd.md": NEW})
    project.index({"docs/adr/0001-ssh.md": OLD})
    assert "docs/adr/0001-ssh.md" not in project.sources_of(ASK_PORT, gated=False)


def test_note_supersedes_a_note(project):
    inbox = ".agentlas/ontology-inbox"
    project.index({f"{inbox}/old.md": "---\nid: aa11\n---\n\nThe SSH port is 22.\n"})
    new = "---\nid: bb22\nsupersedes: [aa11]\n---\n\nThe SSH port is 49222.\n"
    project.index({f"{inbox}/new.md": new})
    assert project.sources_of(ASK_PORT) == [f"{inbox}/new.md"]
