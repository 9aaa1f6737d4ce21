"""What an agent learned goes into its own ledger, if its card is trusted or a person names it."""

import pytest


@pytest.fixture
def rows(am):
    """Return what the agent learned, by text."""

    def read():
        listed = am("experience", "list", "--agent", "ledger-keeper", "--json").json
        return {row["text"]: row for row in listed["experience"]}

    return read


@pytest.fixture
def take(am):
    def run(*options):
        outcome = am("import-store", "--agent", "ledger-keeper", "--yes", "--json", *options)
        assert outcome.code == 0, outcome.err
        return outcome

    return run


@pytest.fixture
def own(upstream, memory):
    """The agent's own store of Agentlas OS."""
    return upstream(memory / "experience.sqlite")


def test_rows_of_the_project_go_into_the_agents_ledger(filled, take, rows, memory):
    outcome = take()
    assert outcome.json["carried"] == {"experience": 4, "links": 1}
    assert (memory / "experience.jsonl").exists()
    held = rows()["We moved sshd to 49222 on all hosts"]
    assert (held["tags"], held["scope"], held["created"]) == (
        "ssh, hosts",
        "private",
        "2025-03-02T10:11:12Z",
    )


def test_what_was_superseded_is_history(filled, take, rows):
    take()
    old = rows()["The ssh port of all hosts is 22"]
    assert old["state"] == "superseded"
    assert rows()["We moved sshd to 49222 on all hosts"]["related"]["supersedes"] == [old["id"]]


def test_expiry_and_salience_are_kept(filled, take, rows):
    take()
    frozen = rows()["Freeze staging during the audit"]
    assert (frozen["expires"], frozen["salience"]) == ("2999-12-31", 0.9)
    assert rows()["Deploys were frozen in winter"]["state"] == "expired"


def test_other_agents_rejected_rows_and_tickets_are_left(filled, take, rows):
    left = take().left()
    assert left["experience rows", "the status is rejected"] == 1
    assert left["experience rows", "of another agent: painter"] == 1
    assert (
        set(rows()) & {"Never mind this", "Maybe remember this", "Somebody else's lesson"} == set()
    )


def test_an_agents_own_store_is_renamed_and_the_projects_stays(
    own, filled, take, rows, memory, place
):
    own.learn("a1", "Use a rollback checklist for every migration")
    own.learn("a2", "An own lesson of the painter", agent="hub:painter")
    before = own.close().read_bytes()
    take()
    assert (memory / "experience.upstream.sqlite").read_bytes() == before
    assert place.read_bytes() == filled.read_bytes()
    assert len(rows()) == 5


def test_an_untrusted_card_brings_nothing_into_a_ledger(filled, am, make_card, root, memory):
    make_card(root)
    assert am("import-store", "--yes").code == 0
    assert not (memory / "experience.jsonl").exists()


def test_a_trusted_card_does(filled, am, make_card, root, rows):
    make_card(root)
    am("import-store", "--yes")
    assert am("trust").code == 0
    assert am("import-store", "--yes", "--json").json["carried"]["experience"] == 4
    assert len(rows()) == 4


def test_a_second_run_adds_nothing_and_takes_no_decision_back(filled, take, rows, am, memory):
    take()
    identity = rows()["Freeze staging during the audit"]["id"]
    am("experience", "expire", identity, "--agent", "ledger-keeper")
    before = (memory / "experience.jsonl").read_bytes()
    assert take().json["carried"] == {"experience": 4, "links": 1}
    assert (memory / "experience.jsonl").read_bytes() == before


def test_a_decision_of_today_outlives_an_old_link(filled, take, rows, am, memory):
    take()
    old, new = (
        rows()[text]["id"]
        for text in ("The ssh port of all hosts is 22", "We moved sshd to 49222 on all hosts")
    )
    am("experience", "supersede", new, "--by", old, "--agent", "ledger-keeper")
    take()
    assert rows()["The ssh port of all hosts is 22"]["state"] == "active"


@pytest.mark.parametrize(
    ("newer", "reason"),
    [
        pytest.param({"text": "x" * 3000}, "the text is longer than 2000 characters", id="long"),
        pytest.param({"text": b"\xff\xfe"}, "there is no text that can be read", id="blob"),
        pytest.param(
            {"text": "new port", "expiry": "soon"}, "the expiry cannot be read", id="expiry"
        ),
    ],
)
def test_what_took_its_place_being_lost_an_old_fact_is_not_current_again(
    own, take, am, newer, reason
):
    own.learn("old", "The ssh port is 22")
    own.learn("new", newer.pop("text"), **newer)
    own.link("new", "old")
    own.close()
    left = take().left()
    assert left["experience rows", reason] == 1
    assert left["experience rows", "what took its place could not be carried"] == 1


def test_rows_marked_as_superseded_come_with_what_took_their_place_or_not_at_all(own, take, rows):
    own.learn("old", "The ssh port is 22", status="superseded")
    own.learn("new", "The ssh port is 49222")
    own.learn("lone", "The http port is 80", status="superseded")
    own.link("new", "old")
    own.close()
    take()
    assert {text: row["state"] for text, row in rows().items()} == {
        "The ssh port is 22": "superseded",
        "The ssh port is 49222": "active",
    }


def test_contradictions_are_carried(own, take, rows):
    own.learn("one", "Ledgers are kept in cents")
    own.learn("two", "Ledgers are kept in euros")
    own.link("one", "two", "contradicts")
    own.link("one", "two", "similar_to")
    own.close()
    assert take().json["carried"] == {"experience": 2, "links": 1}
    assert rows()["Ledgers are kept in cents"]["related"]["contradicts"]


def test_a_scope_that_is_not_understood_is_private(own, take, rows):
    own.learn("one", "Ledgers are kept in cents", privacy_scope=None)
    own.learn("two", "Ledgers are kept in euros", privacy_scope="everybody")
    own.learn("three", "Ledgers are kept in pence", privacy_scope="public")
    own.close()
    take()
    assert sorted(row["scope"] for row in rows().values()) == ["private", "private", "public"]


def test_a_full_scope_is_told(own, take):
    for number in range(1010):
        own.learn(f"t{number}", f"Lesson number {number} of the many")
    own.close()
    assert take().left()["rows of the ledger", "its scope is full: they are not recalled"] == 10


@pytest.mark.parametrize("spelling", ["ledger-keeper", "hub:Ledger_Keeper", "HUB:ledger keeper"])
def test_an_agent_is_found_under_every_spelling_of_its_name(own, take, rows, spelling):
    own.learn("one", "Ledgers are kept in cents", agent=spelling)
    own.close()
    assert take().json["carried"] == {"experience": 1}
    assert set(rows()) == {"Ledgers are kept in cents"}


def test_an_agent_is_told_apart_however_many_others_there_are(upstream, am):
    store = upstream()
    for number in range(60):
        store.learn(f"t{number}", f"Lesson {number}", agent=f"hub:a{number}")
    store.learn("mine", "Ledgers are kept in cents", agent="others")
    store.close()
    outcome = am("import-store", "--agent", "others", "--dry-run", "--json")
    assert outcome.json["carried"] == {"experience": 1}
    assert outcome.left()["experience rows", "of another agent: other agents"] == 10


def test_rows_that_an_agent_has_already_are_not_told_as_left(filled, take, am):
    take()
    plain = am("import-store", "--dry-run", "--json")
    assert plain.json["carried"]["experience"] == 4
    reasons = [reason for what, reason in plain.left() if what == "experience rows"]
    assert reasons == ["of another agent: painter", "the status is rejected"]


def test_the_projects_store_is_not_said_to_be_renamed_for_an_agent(own, filled, am):
    own.close()
    told = am("import-store", "--agent", "ledger-keeper", "--dry-run").err
    assert "ontology-runtime.upstream.sqlite" not in told
    assert "(to be renamed to experience.upstream.sqlite)" in told
