"""`experience`: what an agent learned is kept in its ledger, told, taken back and rebuilt."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

CHECKLIST = "Use a rollback checklist for every schema migration"


@pytest.fixture
def agent(project, make_card):
    """A project whose routing card names an agent."""
    make_card(project)
    return project


@pytest.fixture
def memory(home):
    """The agent's folder."""
    return home / ".agentlas/networking/hub-agents/ledger-keeper/memory"


@pytest.fixture
def add(am):
    """Add a row and return its id."""

    def run(text, *options):
        return am("experience", "add", text, *options, "--json").json["id"]

    return run


@pytest.fixture
def rows(am):
    """Return the rows that `list` tells, by id."""
    return lambda: {row["id"]: row for row in am("experience", "list", "--json").json["experience"]}


def content(memory):
    """Return all that the agent's database says, as SQL."""
    with closing(sqlite3.connect(memory / "experience.sqlite")) as connection:
        return list(connection.iterdump())


def ledger(memory):
    return (memory / "experience.jsonl").read_text(encoding="utf-8").splitlines()


def test_what_is_added_is_listed_and_shown_with_its_history(agent, add, rows, am):
    one = add(CHECKLIST, "--tag", "migration", "--salience", "0.9", "--expires", "2999-12-31")
    row = rows()[one]
    assert (row["text"], row["tags"], row["scope"]) == (CHECKLIST, "migration", "private")
    assert (row["state"], row["salience"], row["expires"]) == ("active", 0.9, "2999-12-31")
    assert CHECKLIST in am("experience", "show", one).out
    assert am("experience", "show", one, "--json").json["history"][0]["event"]["op"] == "add"


def test_only_the_owner_reads_ledger_and_database(agent, add, memory):
    add(CHECKLIST)
    for file in memory.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


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


def test_rebuilt_database_has_the_same_content(agent, add, am, memory):
    old = add("SSH port is 22", "--tag", "ssh")
    add("we moved sshd to 49222", "--supersedes", old)
    am("experience", "expire", add(CHECKLIST), "--on", "2999-01-01")
    before = content(memory)
    (memory / "experience.sqlite").unlink()
    assert am("experience", "rebuild").code == 0
    assert content(memory) == before


def test_a_ledger_from_elsewhere_takes_the_place_and_the_old_one_is_kept(
    agent, add, rows, am, memory, tmp_path
):
    add(CHECKLIST)
    copy = tmp_path / "ledger.jsonl"
    copy.write_text('{"text": "Ledgers are kept in cents", "id": "cents"}\n')
    outcome = am("experience", "rebuild", "--from", str(copy), "--json")
    assert list(rows()) == ["cents"]
    with open(outcome.json["kept"], encoding="utf-8") as kept:
        assert CHECKLIST in kept.read()
    before = content(memory)
    assert am("experience", "rebuild", "--from", str(copy)).code == 0
    assert content(memory) == before


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("not json", "line 2 is not JSON"),
        ("[1]", "line 2 is no JSON object"),
        ("[" * 100_000, "line 2 is not JSON"),
        ('{"op": "add"}', "line 2: it adds no text"),
        ('{"text": "x", "salience": NaN}', "line 2: salience"),
        ('{"text": "x", "salience": true}', "line 2: salience"),
        ('{"text": "x", "scope": "secret"}', "line 2: scope"),
        ('{"text": "x", "id": "a b"}', "line 2: id"),
        ('{"text": "x", "tags": [1]}', "line 2: tags"),
        ('{"text": "x", "created": 7}', "line 2: created"),
        ('{"text": "x", "agent": "hub:other"}', "line 2 is of the agent 'hub:other'"),
        ('{"op": "forget", "id": "a"}', "line 2: op is 'forget'"),
        ('{"op": "expire", "id": "b", "expires": "2026-01-01"}', "line 2: no line before"),
        ('{"op": "supersede", "id": "a", "by": "a"}', "line 2: a supersedes itself"),
        (json.dumps({"text": "x" * 2001}), "line 2: its text is longer"),
        ('{"text": "first", "id": "a", "scope": "public"}', "line 2: a was added in the scope"),
    ],
)
def test_a_line_that_cannot_be_understood_stops_the_rebuild(
    agent, add, am, memory, tmp_path, line, reason
):
    add(CHECKLIST)
    before = content(memory), ledger(memory)
    file = tmp_path / "ledger.jsonl"
    file.write_text(f'{{"id": "a", "text": "first"}}\n{line}\n')
    outcome = am("experience", "rebuild", "--from", str(file))
    assert (outcome.code, reason in outcome.err) == (1, True), outcome.err
    assert (content(memory), ledger(memory)) == before


def test_importing_a_thousand_rows_fifty_times_adds_nothing(agent, am, memory, tmp_path):
    file = tmp_path / "ledger.jsonl"
    lines = [json.dumps({"text": f"Lesson {n} is about part {n % 7}"}) for n in range(60)]
    sizes = set()
    for times in (1, 2, 50):
        file.write_text("\n".join(lines * times))
        assert am("experience", "rebuild", "--from", str(file)).code == 0
        sizes.add((memory / "experience.sqlite").stat().st_size)
    assert len(sizes) == 1


@pytest.mark.slow
def test_a_full_scope_leaves_out_what_matters_least_and_says_so(agent, am, rows, tmp_path):
    file = tmp_path / "ledger.jsonl"
    kinds = [{"id": "little", "salience": 0.1}, {"id": "old"}, {"id": "new", "supersedes": ["old"]}]
    special = [{"text": f"what {kind['id']} says"} | kind for kind in kinds]
    many = [{"text": f"Lesson {n}", "id": f"n{n}"} for n in range(999)]
    file.write_text("\n".join(map(json.dumps, special + many)))
    outcome = am("experience", "rebuild", "--from", str(file), "--json")
    assert (outcome.json["rows"], outcome.json["left_out"]) == (1000, ["little", "old"])
    assert {"new", "n0", "n998"} <= rows().keys()


def test_foreign_database_is_left_as_it_is(agent, am, memory):
    memory.mkdir(parents=True)
    with closing(sqlite3.connect(memory / "experience.sqlite")) as connection:
        connection.execute("CREATE TABLE memory_candidates(ticket_id TEXT)")
    before = (memory / "experience.sqlite").read_bytes()
    outcome = am("experience", "add", CHECKLIST)
    assert outcome.code == 3
    assert "another program" in outcome.err
    assert (memory / "experience.sqlite").read_bytes() == before


def test_damaged_database_is_moved_aside_and_built_anew(agent, add, rows, memory):
    add(CHECKLIST)
    (memory / "experience.sqlite").write_bytes(b"not a database")
    add("SSH port is 22")
    assert len(rows()) == 2
    assert [file.read_bytes() for file in memory.glob("*.damaged-*")] == [b"not a database"]


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_is_not_waited_for(agent, am, memory, kind):
    memory.mkdir(parents=True)
    (memory / "experience.sqlite").mkdir() if kind == "folder" else os.mkfifo(
        memory / "experience.sqlite"
    )
    for words in (["add", CHECKLIST], ["list"]):
        assert am("experience", *words).code in (1, 3)
    assert not (memory / "experience.jsonl").exists()


def test_without_its_ledger_a_database_is_not_emptied(agent, add, am, memory):
    add(CHECKLIST)
    (memory / "experience.jsonl").unlink()
    before = content(memory)
    outcome = am("experience", "add", "SSH port is 22")
    assert (outcome.code, "is gone" in outcome.err) == (3, True)
    assert content(memory) == before


def test_without_its_database_a_ledger_is_not_taken_for_nothing(agent, add, am, memory):
    add(CHECKLIST)
    (memory / "experience.sqlite").unlink()
    outcome = am("experience", "list")
    assert (outcome.code, "experience rebuild" in outcome.err) == (1, True)


def test_what_fails_changes_neither_ledger_nor_database(agent, add, am, memory, monkeypatch):
    add(CHECKLIST)
    before = ledger(memory), content(memory)

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentlas_memory.ontology.projection._fill", full)
    outcome = am("experience", "add", "SSH port is 22")
    assert (outcome.code, "No space left" in outcome.err) == (1, True)
    monkeypatch.undo()
    assert (ledger(memory), content(memory)) == before


def test_a_kill_while_the_ledger_is_replaced_leaves_one(agent, add, am, memory, tmp_path):
    add(CHECKLIST)
    copy = tmp_path / "ledger.jsonl"
    copy.write_text('{"text": "Ledgers are kept in cents", "id": "cents"}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert am("experience", "rebuild", "--from", str(copy)).code == 130
    assert CHECKLIST in ledger(memory)[0]


def test_a_text_that_was_superseded_says_how_to_bring_it_back(agent, add, am, rows):
    old = add("SSH port is 22")
    new = am("experience", "supersede", old, "we moved sshd to 49222", "--json").json["id"]
    outcome = am("experience", "add", "SSH port is  22")
    assert (outcome.code, f"supersede {new} --by {old}" in outcome.err) == (1, True)
    assert am("experience", "supersede", new, "--by", old).code == 0
    assert (rows()[old]["state"], rows()[new]["state"]) == ("active", "superseded")


def test_leftovers_of_a_killed_run_are_removed(agent, add, memory):
    memory.mkdir(parents=True)
    (memory / "experience.sqlite.4242").write_text("private")
    add(CHECKLIST)
    assert not list(memory.glob("*.4242"))


@pytest.mark.parametrize("place", ["key", "agent", "scope"])
def test_a_secret_anywhere_in_a_ledger_is_not_printed(agent, am, memory, place):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    odd = {"key": {key: 1, "id": "x"}, "agent": {"agent": key}, "scope": {"scope": {key: 1}}}[place]
    memory.mkdir(parents=True)
    (memory / "experience.jsonl").write_text(json.dumps({"text": "x"} | odd) + "\n")
    told = [am("experience", *words) for words in (["rebuild"], ["show", "x", "--json"])]
    assert not any(key in one.out + one.err for one in told)


def test_left_journal_is_moved_out_of_the_way(agent, add, rows, memory):
    add(CHECKLIST)
    (memory / "experience.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + bytes(600))
    add("SSH port is 22")
    assert len(rows()) == 2
    assert not (memory / "experience.sqlite-journal").exists()


@pytest.mark.parametrize("part", ["memory", "hub-agents"])
def test_nothing_is_written_through_a_link(agent, am, memory, tmp_path, part):
    place = next(path for path in (memory, *memory.parents) if path.name == part)
    place.parent.mkdir(parents=True, exist_ok=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.symlink_to(elsewhere)
    assert am("experience", "add", CHECKLIST).code == 1
    assert not list(elsewhere.rglob("*.jsonl"))


def test_secret_reaches_neither_ledger_nor_database(agent, am, memory, rows):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    outcome = am("experience", "add", f"The token {key} pushes to the mirror", "--tag", key)
    assert "credential" in outcome.err
    assert not any(key.encode() in file.read_bytes() for file in memory.iterdir())
    assert "[redacted:" in next(iter(rows().values()))["text"]


def test_secret_in_a_ledger_written_by_hand_is_named_and_kept_out(agent, am, memory, tmp_path):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.mkdir(parents=True)
    (memory / "experience.jsonl").write_text(json.dumps({"text": f"push with {key}"}) + "\n")
    outcome = am("experience", "rebuild")
    assert "line 1" in outcome.err
    assert key.encode() not in (memory / "experience.sqlite").read_bytes()
    assert key not in am("experience", "list").out


def test_an_open_last_line_is_ended_first(agent, add, memory, am):
    memory.mkdir(parents=True)
    (memory / "experience.jsonl").write_text('{"text": "SSH port is 22", "id": "a"}')
    add(CHECKLIST)
    assert len(ledger(memory)) == 2
    assert am("experience", "rebuild").code == 0


def test_terminal_sequences_do_not_reach_the_terminal(agent, add, am):
    add("red \x1b[31mtext\x1b[0m and \u202eevil")
    out = am("experience", "list").out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.slow
def test_two_sessions_add_at_once_and_nothing_is_lost(agent, memory, rows, am):
    import subprocess
    import sys

    code = (
        "import sys; from click.testing import CliRunner; from agentlas_memory.cli import cli\n"
        "for n in range(25): assert CliRunner().invoke(cli, ['experience', 'add',"
        " f'{sys.argv[1]} lesson {n}']).exit_code == 0"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, name]) for name in ("one", "two")]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert len(rows()) == len(ledger(memory)) == 50
    before = content(memory)
    assert am("experience", "rebuild").code == 0
    assert content(memory) == before


def test_index_brings_what_an_agent_learned_to_this_version(agent, add, am, memory):
    add("The pager rota is kept by the platform team")
    assert am("trust").code == 0
    with closing(sqlite3.connect(memory / "experience.sqlite")) as database:
        database.execute("UPDATE meta SET value = 'old' WHERE key = 'terms_version'")
        database.commit()
    assert am("index").code == 0
    with closing(sqlite3.connect(memory / "experience.sqlite")) as database:
        sql = "SELECT value FROM meta WHERE key = 'terms_version'"
        assert database.execute(sql).fetchone() != ("old",)


def test_an_experience_that_cannot_be_renewed_is_no_failure_of_index(agent, add, am, memory):
    add("The pager rota is kept by the platform team")
    am("trust")
    with closing(sqlite3.connect(memory / "experience.sqlite")) as database:
        database.execute("PRAGMA user_version = 99")
        database.execute("ALTER TABLE experience ADD COLUMN more")
    outcome = am("index", "--json")
    assert outcome.code == 0
    assert "was left as it is" in outcome.err
