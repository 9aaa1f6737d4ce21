"""`experience`: what an agent learned is added, listed, superseded and taken back, row by row."""

import pytest
from cli.learning import CHECKLIST


def test_what_is_added_is_listed_and_shown_with_its_history(agent, add, rows, am):
    one = add(CHECKLIST, "--tag", "migration", "--salience", "0.9", "--expires", "2999-12-31")
    row = rows()[one]
    assert (row["text"], row["tags"], row["scope"]) == (CHECKLIST, "migration", "private")
    assert (row["state"], row["salience"], row["expires"]) == ("active", 0.9, "2999-12-31")
    assert CHECKLIST in am("experience", "show", one).out
    assert am("experience", "show", one, "--json").json["history"][0]["event"]["op"] == "add"


def test_the_same_text_is_the_same_row(agent, add, rows):
    assert {add(CHECKLIST) for _ in range(3)} == set(rows())
    assert add(CHECKLIST, "--scope", "internal") in rows()
    assert len(rows()) == 2


def test_the_same_text_keeps_its_tags_unless_others_are_named(agent, add, rows):
    identity = add(CHECKLIST, "--tag", "migration")
    add(CHECKLIST, "--salience", "0.9")
    assert (rows()[identity]["tags"], rows()[identity]["salience"]) == ("migration", 0.9)
    add(CHECKLIST, "--tag", "rollback")
    assert rows()[identity]["tags"] == "rollback"


def test_superseded_row_stays_as_history(agent, add, rows, am):
    old = add("SSH port is 22", "--tag", "ssh")
    new = am("experience", "supersede", old, "we moved sshd to 49222", "--json").json["id"]
    assert (rows()[old]["state"], rows()[new]["state"]) == ("superseded", "active")
    assert rows()[old]["related"]["superseded_by"] == [new]
    assert rows()[new]["tags"] == "ssh", "what is kept of the old row"
    history = am("experience", "show", old, "--json").json["history"]
    assert [event["line"] for event in history] == [1, 2]


def test_supersession_through_a_row_that_is_there(agent, add, rows, am):
    old, new = add("SSH port is 22"), add("we moved sshd to 49222")
    assert am("experience", "supersede", old, "--by", new).code == 0
    assert rows()[old]["state"] == "superseded"


def test_a_row_of_another_scope_supersedes_nothing(agent, add, rows, am):
    old, new = add("SSH port is 22"), add("the port is 49222", "--scope", "public")
    outcome = am("experience", "supersede", old, "--by", new)
    assert (outcome.code, "different scopes" in outcome.err) == (1, True)
    assert rows()[old]["state"] == "active"


def test_expired_row_says_so(agent, add, rows, am):
    one = add(CHECKLIST)
    assert am("experience", "expire", one).code == 0
    assert rows()[one]["state"] == "expired"
    assert am("experience", "expire", one, "--on", "2999-01-01").code == 0
    assert rows()[one]["state"] == "active"


def test_list_shows_what_contradicts_and_what_is_alike(agent, add, am):
    one = add("Deploy the payment service on Thursdays only")
    other = add("Deploy the payment service on Fridays only", "--contradicts", one)
    table = am("experience", "list").out
    assert f"contradicts {one}" in table
    assert f"contradicts {other}" in table
    assert f"similar_to {other}" in table


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("add|  ", 2, "blank"),
        ("add|x y|--expires|tomorrow", 2, "neither 2026-12-31 nor"),
        ("add|x y|--expires|20261231", 2, "neither 2026-12-31 nor"),
        ("add|x y|--expires|2026-02-30", 2, "day"),
        ("add|x y|--supersedes|none", 2, "no row none"),
        ("add|x y|--salience|2", 2, "0<=x<=1"),
        ("add|x y|--agent|../up", 2, "cannot be an agent's name"),
        ("show|none", 2, "no row none"),
        ("expire|none", 2, "no row none"),
        ("supersede|none", 2, "Give TEXT"),
        ("supersede|none|text", 2, "no row none"),
        ("rebuild", 1, "there is no ledger"),
    ],
)
def test_wrong_use_is_told_and_changes_nothing(agent, am, memory, arguments, code, told):
    outcome = am("experience", *arguments.split("|"))
    assert (outcome.code, told in outcome.err) == (code, True), outcome.err
    assert not memory.exists(), "nothing was changed"


def test_without_a_card_the_agent_must_be_named(project, am):
    outcome = am("experience", "list")
    assert outcome.code == 2
    assert "--agent" in outcome.err
    assert am("experience", "list", "--agent", "Ledger_Keeper").code == 0


def test_a_text_that_was_superseded_says_how_to_bring_it_back(agent, add, am, rows):
    old = add("SSH port is 22")
    new = am("experience", "supersede", old, "we moved sshd to 49222", "--json").json["id"]
    outcome = am("experience", "add", "SSH port is  22")
    assert (outcome.code, f"supersede {new} --by {old}" in outcome.err) == (1, True)
    assert am("experience", "supersede", new, "--by", old).code == 0
    assert (rows()[old]["state"], rows()[new]["state"]) == ("active", "superseded")


def test_terminal_sequences_do_not_reach_the_terminal(agent, add, am):
    add("red \x1b[31mtext\x1b[0m and \u202eevil")
    out = am("experience", "list").out
    assert "\x1b" not in out
    assert "\u202e" not in out
