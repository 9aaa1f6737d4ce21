"""The lexical index holds exactly the terms of what is there."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlas_memory.ontology import migrations, schema
from agentlas_memory.ontology.analyzer import analyze

WORDS = [
    "ledger",
    "Gateway",
    "naïve",
    "getUserById",
    "src/auth.py",
    "тёмную",
    "设备清单",
    "v2",
    "$%&",
]
NAMES = ["a", "b", "readme"]

texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
steps = st.lists(st.tuples(st.sampled_from(NAMES), st.none() | texts), min_size=1, max_size=8)


def integrity_check(project):
    project.run_sql("INSERT INTO chunk_fts(chunk_fts) VALUES ('integrity-check')")


@given(steps)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_order_of_changes_leaves_what_a_fresh_store_holds(
    tmp_path_factory, make_scene, changes
):
    project = make_scene(tmp_path_factory.mktemp("changes"))
    there = {}
    for name, text in changes:
        there[name] = text
        if text is None:
            (project.root / f"{name}.md").unlink(missing_ok=True)
        else:
            project.write(**{name: f"# About {name}\n\n{text}\n"})
        project.index()
    integrity_check(project)
    twin = make_scene(tmp_path_factory.mktemp("fresh"))
    twin.write(
        **{name: f"# About {name}\n\n{text}\n" for name, text in there.items() if text is not None}
    )
    twin.index()
    assert project.content()["terms"] == twin.content()["terms"]
    for term in analyze(" ".join(WORDS)):
        assert matches(project, term) == matches(twin, term)


def matches(project, term):
    sql = (
        "SELECT path, start_line FROM chunk_fts JOIN chunks ON chunk_id = chunk_fts.rowid"
        " JOIN sources USING (source_id) WHERE chunk_fts MATCH ? ORDER BY path, start_line"
    )
    return project.rows(sql, f'"{term}"')


def test_many_small_runs_do_not_leave_the_index_in_many_pieces(project):
    for number in range(12):
        project.write(**{f"f{number}": f"# Fact {number}\n\nLease {number} ends.\n"})
        project.index()
    assert project.rows("SELECT count(DISTINCT segid) FROM chunk_fts_idx")[0][0] <= 5
    integrity_check(project)


def test_store_of_the_same_notes_taken_in_again_and_again_does_not_grow(project):
    chance = random.Random(3)
    notes = {f"n{i}": " ".join(f"w{chance.randrange(900)}" for _ in range(60)) for i in range(200)}
    project.write(**notes)
    project.index()
    size = project.database.stat().st_size
    for turn in range(8):
        project.write(**{name: f"{text} {turn}\n" for name, text in notes.items()})
        project.index()
    assert project.database.stat().st_size < 2 * size


FORGOTTEN = (
    "# Xylograph\n\nThe Quizzacious `zyzzyvaName` pass phrase is Flummoxedly, see [q](qophs.md).\n"
)


@pytest.mark.parametrize("others", [0, 40])
def test_nothing_of_a_forgotten_text_is_in_any_byte_of_the_store(project, others):
    project.write(secret=FORGOTTEN)
    project.write(
        **{f"f{number}": f"# Fact {number}\n\nLease {number}.\n" for number in range(others)}
    )
    project.index()
    words = ("xylograph", "quizzaci", "zyzzyva", "flummox", "qophs")
    assert all(word.encode() in project.all_bytes().lower() for word in words)
    (project.root / "secret.md").unlink()
    project.index(project.root / "secret.md", forget=True)
    left = project.all_bytes().lower()
    assert not [word for word in words if word.encode() in left]


def test_old_words_of_a_text_go_when_newer_rules_redact_it(project, monkeypatch):
    project.write(secret=FORGOTTEN)
    project.index()
    monkeypatch.setattr("agentlas_memory.ontology.upkeep.REDACTION_VERSION", 99)
    hide = lambda text: text.replace("Flummoxedly", "[redacted]")  # noqa: E731
    monkeypatch.setattr("agentlas_memory.ontology.prepare.redact", hide)
    project.index()
    assert b"flummox" not in project.all_bytes().lower()


class WithoutFts5:
    """What a Python without FTS5 has: the table cannot be made."""

    def __init__(self, patch):
        self.patch = patch

    def __enter__(self):
        sql = schema.TABLES["chunk_fts"].replace("USING fts5", "USING fts_missing")
        self.patch.setitem(schema.TABLES, "chunk_fts", sql)

    def __exit__(self, *_):
        self.patch.undo()


@pytest.fixture
def no_fts5():
    with pytest.MonkeyPatch.context() as patch:
        yield WithoutFts5(patch)


LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units because floats lose cents.\n"


def test_store_without_fts5_is_filled_and_asked(project, no_fts5):
    project.write(ledger=LEDGER)
    with no_fts5:
        assert project.index().added == 1
        result = project.ask("why do we settle the ledger in integer minor units?")
        assert [hit.source for hit in result.hits] == ["ledger.md"]
        assert result.retrieval == "degraded_lexical"
        project.write(ledger=LEDGER + "\nAnd euros.\n")
        assert project.index().changed == 1


def test_index_is_filled_once_fts5_is_there(project, no_fts5, twin, assert_same):
    from agentlas_memory.runtime import OntologyRuntime

    with no_fts5:
        project.write(ledger=LEDGER)
        project.index()
        OntologyRuntime(project.database).ingest_records([("r1", "The pager rota.", "Ops", "x/y")])
    assert project.index().unchanged == 1
    twin.write(ledger=LEDGER)
    twin.index()
    OntologyRuntime(twin.database).ingest_records([("r1", "The pager rota.", "Ops", "x/y")])
    assert_same(project.content(), twin.content())
    (project.root / "ledger.md").unlink()
    project.index()
    integrity_check(project)
    assert not matches(project, "ledger")


def test_filling_the_index_anew_notes_that_words_are_not_all_english(project):
    project.write(deploy="# Deploy\n\nQuantas pessoas acompanham as implantações do sistema?\n")
    project.index()
    project.run_sql("DELETE FROM meta WHERE key IN ('portuguese', 'terms_version')")
    project.index()
    assert project.meta("portuguese") == 1


def test_failing_to_fill_the_index_changes_nothing(project, monkeypatch):
    project.write(ledger=LEDGER)
    project.index()
    before = project.content()
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "TERMS_VERSION", "other")
        patch.setattr(migrations, "index_terms", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            project.index()
    project.index()
    assert project.content() == before
