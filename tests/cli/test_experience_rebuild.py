"""`experience rebuild`: a ledger gives the same database each time, or changes nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli.learning import CHECKLIST, content, ledger


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


def test_a_kill_while_the_ledger_is_replaced_leaves_one(agent, add, am, memory, tmp_path):
    add(CHECKLIST)
    copy = tmp_path / "ledger.jsonl"
    copy.write_text('{"text": "Ledgers are kept in cents", "id": "cents"}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert am("experience", "rebuild", "--from", str(copy)).code == 130
    assert CHECKLIST in ledger(memory)[0]


def test_an_open_last_line_is_ended_first(agent, add, memory, am):
    memory.mkdir(parents=True)
    (memory / "experience.jsonl").write_text('{"text": "SSH port is 22", "id": "a"}')
    add(CHECKLIST)
    assert len(ledger(memory)) == 2
    assert am("experience", "rebuild").code == 0


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
