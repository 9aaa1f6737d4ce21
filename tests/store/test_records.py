"""Records that a program hands over."""

import pytest

from agentlas_memory.ontology import upkeep
from agentlas_memory.runtime import OntologyRuntime

KEYS = ("keys", "We rotate the signing keys every 90 days.", "Security > Keys", "ops/keys")
PORTS = ("ports", "The ssh daemon listens on port 49222.", "Hosts", "")


@pytest.fixture
def runtime(project):
    return OntologyRuntime(project.database)


def test_a_record_is_found_by_its_id(runtime, project):
    assert runtime.ingest_records([KEYS, PORTS]) == 2
    [hit] = runtime.query("how often do we rotate the signing keys?").hits
    assert (hit.source, hit.heading, hit.lines) == ("keys", "Security > Keys", (0, 0))
    assert (hit.scope, hit.stale) == ("internal", False)


def test_a_record_of_the_same_id_replaces_the_old_one(runtime, project, twin, assert_same):
    runtime.ingest_records([KEYS, PORTS])
    runtime.ingest_records([("keys", "Keys are rotated by hand.", "", ""), PORTS, PORTS])
    other = OntologyRuntime(twin.database)
    other.ingest_records([("keys", "Keys are rotated by hand.", "", ""), PORTS])
    assert_same(project.content(), twin.content())


def test_text_alone_is_enough(runtime):
    assert runtime.ingest_records([("only", "The gateway drains the blue cluster.")]) == 1
    assert runtime.query("how does the gateway drain the blue cluster?").hits[0].heading == ""


def test_records_stay_when_the_project_is_indexed(runtime, project):
    runtime.ingest_records([KEYS])
    project.write(ledger="# Ledger\n\nWe settle in integer minor units.\n")
    assert project.index().removed == 0
    assert set(project.content()["sources"]) == {"keys", "ledger.md"}


def test_files_stay_current_when_records_are_added(runtime, project):
    project.write(ledger="# Ledger\n\nWe settle in integer minor units.\n")
    project.index()
    runtime.ingest_records([KEYS])
    assert project.index().unchanged == 1


def test_lone_surrogates_and_nul_are_survived(runtime, project):
    runtime.ingest_records(
        [("id\ud800", "the pager \udfff rota\0 is kept", "title\ud83c", "p\ud83c/q")]
    )
    runtime.ingest_records([("id\ud800", "changed", "", "")])
    assert project.rows("SELECT path, text FROM sources JOIN chunks USING (source_id)") == [
        ("id?", "changed")
    ]
    assert {term for term, *_ in project.content()["terms"]} == {"chang"}
    assert runtime.query("the pager \ud800 rota").hits == ()


@pytest.mark.parametrize("scope", ["secret", "", "Public"])
def test_unknown_scope_is_refused_before_anything_is_written(runtime, project, scope):
    with pytest.raises(ValueError, match="one of public, internal, private"):
        runtime.ingest_records([KEYS], scope=scope)
    assert not project.database.exists()


def test_record_moves_to_another_scope(runtime, project):
    runtime.ingest_records([KEYS], scope="private")
    assert runtime.query("how often do we rotate the signing keys?").hits == ()
    runtime.ingest_records([KEYS], scope="public")
    assert runtime.query("how often do we rotate the signing keys?").hits[0].scope == "public"
    project.content()


@pytest.mark.parametrize("by", ["index", "ingest"])
def test_newer_rules_prepare_records_again_from_the_store(runtime, project, monkeypatch, by):
    runtime.ingest_records([KEYS, PORTS], scope="private")
    runtime.ingest_records([("42-hidden", "The hidden word is Flummoxedly.")])
    monkeypatch.setattr(upkeep, "REDACTION_VERSION", 99)
    hide = lambda text: text.replace("Flummoxedly", "x").replace("42-hidden", "y")  # noqa: E731
    monkeypatch.setattr("agentlas_memory.ontology.records.redact", hide)
    if by == "index":
        project.index()
    else:
        runtime.ingest_records([])
    assert set(project.content()["sources"]) == {"keys", "ports", "y"}
    assert b"flummox" not in project.all_bytes().lower()
    assert b"42-hidden" not in project.all_bytes()


def test_failing_in_the_middle_keeps_whole_batches(runtime, project):
    def records():
        for number in range(600):
            yield (f"r{number}", f"Lease {number} ends.", "", "")
        raise OSError("the source dried up")

    with pytest.raises(OSError, match="dried up"):
        runtime.ingest_records(records())
    assert project.rows("SELECT count(*) FROM chunks") == [(512,)]
    runtime.ingest_records([KEYS])
    assert len(project.content()["chunks"]) == 513


def test_taking_in_the_same_records_again_does_not_grow_the_store(runtime, project):
    records = [
        (f"r{number}", f"Lease {number} ends in shard {number % 7}.") for number in range(60)
    ]
    runtime.ingest_records(records)
    size = len(project.all_bytes())
    for _ in range(5):
        runtime.ingest_records(records)
    assert len(project.all_bytes()) < 2 * size
