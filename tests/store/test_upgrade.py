"""A store of every earlier schema answers as a fresh one, after one run of today's code."""

import gzip
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agentlas_memory.ontology import schema
from agentlas_memory.ontology.agents import Agent, change_experience, renew_experience
from agentlas_memory.ontology.learned import read_learned
from agentlas_memory.ontology.migrations import NewerStore
from agentlas_memory.runtime import OntologyRuntime

EARLIER = Path(__file__).parent / "earlier"
STORES = sorted(file.name.split(".")[0] for file in EARLIER.glob("*.sqlite.gz"))
PROJECTS = [name for name in STORES if "experience" not in name]
EXPERIENCES = [name for name in STORES if "experience" in name]
NEWEST = f"{schema.SCHEMA_VERSION}"
RECORD = ("runbook/7", "The zorkmid gateway is drained before it is restarted.", "Gateway", "ops/7")
QUESTIONS = [
    "why do we settle the ledger in integer minor units?",
    "when are sessions ended without a request?",
    "who keeps the pager rota?",
    "how is the zorkmid gateway restarted?",
    "почему кластер разворачивают по четвергам?",
    "quando expira a autenticação dos usuários?",
]


def unpack(name, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.decompress((EARLIER / f"{name}.sqlite.gz").read_bytes()))


def fill(scene):
    shutil.copytree(EARLIER / "project", scene.root, dirs_exist_ok=True)
    shutil.copytree(EARLIER / "inbox", scene.folder / "ontology-inbox")


@pytest.fixture
def fresh(twin):
    """A store that today's code made from the same files."""
    fill(twin)
    twin.index()
    OntologyRuntime(twin.database).ingest_records([RECORD])
    return twin


@pytest.fixture
def earlier(project):
    """Put an earlier store into a project with the files that it was made from."""

    def put(name):
        fill(project)
        unpack(name, project.database)
        return project

    return put


@pytest.mark.parametrize("name", PROJECTS)
def test_an_earlier_store_becomes_what_a_fresh_one_is(earlier, fresh, assert_same, name):
    project = earlier(name)
    project.index()
    assert_same(project.content(), fresh.content())
    assert project.rows("PRAGMA user_version") == [(schema.SCHEMA_VERSION,)]
    assert not list(project.folder.glob("*.damaged-*"))


@pytest.mark.parametrize("name", PROJECTS)
def test_an_earlier_store_answers_as_a_fresh_one(earlier, fresh, name):
    project = earlier(name)
    project.index()
    for question in QUESTIONS:
        found = project.sources_of(question, scopes=schema.SCOPES)
        assert found == fresh.sources_of(question, scopes=schema.SCOPES) != [], question


@pytest.mark.parametrize("name", PROJECTS)
def test_upgrading_keeps_the_yes_the_notes_and_the_records(earlier, name):
    project = earlier(name)
    before = project.meta("store_id")
    project.index()
    assert project.meta("store_id") == before
    assert project.rows(
        "SELECT text FROM chunks JOIN sources USING (source_id) WHERE path = ?", RECORD[0]
    )
    for note in (EARLIER / "inbox").iterdir():
        assert (project.folder / "ontology-inbox" / note.name).read_bytes() == note.read_bytes()


def test_a_number_is_never_used_for_two_shapes(tmp_path):
    tables = dict(schema.TABLES, **schema.INDEXES)
    assert shape_of(NEWEST, tmp_path) == (schema.SCHEMA_VERSION, tables)


def test_a_number_is_never_used_for_two_shapes_of_experience(tmp_path):
    kept = shape_of(EXPERIENCES[-1], tmp_path)
    assert kept == (schema.EXPERIENCE_VERSION, schema.EXPERIENCE_TABLES)


def shape_of(name, folder):
    """Return the number and the tables that the kept store of a schema has."""
    unpack(name, folder / "kept.sqlite")
    database = sqlite3.connect(folder / "kept.sqlite")
    (number,) = database.execute("PRAGMA user_version").fetchone()
    rows = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    database.close()
    internal = ("chunk_fts_", "sqlite_")  # FTS5's own tables, and what AUTOINCREMENT needs
    return number, {name: sql for name, sql in rows if not name.startswith(internal)}


KILLED = """
import os, signal, sys
from pathlib import Path
from agentlas_memory.ontology import migrations
from agentlas_memory.ontology.index import index_project

def die(when):
    if sys.argv[2] == when:
        os.kill(os.getpid(), signal.SIGKILL)

def step(connection, real=migrations._STEPS[2]):
    # Pages reach the file before the commit, so that there is something to roll back.
    connection.execute("PRAGMA cache_spill = 1")
    connection.execute("PRAGMA cache_size = 1")
    die("before")
    real(connection)
    connection.execute("CREATE TABLE filler(x)")
    connection.execute("INSERT INTO filler VALUES (zeroblob(200000))")
    connection.execute("DROP TABLE filler")
    die("within")

def renew(connection, real=migrations.renew_lexical_index):
    die("behind")
    real(connection)

migrations._STEPS[2] = step
from agentlas_memory.ontology import database
database.renew_lexical_index = renew
index_project(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("name", ["1a", "1b"])
@pytest.mark.parametrize("moment", ["before", "within", "behind"])
def test_a_migration_killed_at_any_step_is_healed_by_the_next_run(
    earlier, fresh, assert_same, name, moment
):
    project = earlier(name)
    done = subprocess.run([sys.executable, "-c", KILLED, project.root, moment])
    assert done.returncode == -signal.SIGKILL
    journal = project.database.with_name(project.database.name + "-journal")
    assert (journal.exists() and journal.stat().st_size > 0) == (moment == "within")
    project.index()
    assert_same(project.content(), fresh.content())
    assert not list(project.folder.glob("*.damaged-*"))


def test_a_newer_store_is_never_taken_down(earlier):
    project = earlier(NEWEST)
    project.run_sql(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    before = project.database.read_bytes()
    with pytest.raises(NewerStore):
        project.index()
    assert project.database.read_bytes() == before
    assert not list(project.folder.glob("*.damaged-*"))


@pytest.fixture
def agent(home):
    """An agent whose ledger is that of the kept projections."""
    folder = home / "agentlas/networking/hub-agents/ledger-keeper/memory"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(EARLIER / "experience.jsonl", folder / "experience.jsonl")
    return Agent("ledger-keeper", folder / "experience.sqlite")


def learned(agent):
    found = OntologyRuntime(agent.database).query(
        "which port does sshd listen on?", agent_id=agent.agent_id
    )
    return [hit.text for hit in found.experience]


@pytest.mark.parametrize("name", EXPERIENCES)
def test_an_earlier_experience_answers_as_a_fresh_one(agent, name):
    unpack(name, agent.database)
    renew_experience(agent)
    assert learned(agent) == ["We moved sshd to 49222 on all hosts"]
    renewed = read_learned(agent, 0)
    agent.database.unlink()
    change_experience(agent, [])
    assert read_learned(agent, 0) == renewed
    assert len(renewed) == 4


def test_a_current_experience_is_left_as_it_is(agent):
    change_experience(agent, [])
    before = agent.database.stat().st_ino
    assert not renew_experience(agent)
    assert agent.database.stat().st_ino == before


def test_an_experience_of_a_newer_schema_is_never_taken_down(agent):
    change_experience(agent, [])
    connection = sqlite3.connect(agent.database)
    connection.execute(f"PRAGMA user_version = {schema.EXPERIENCE_VERSION + 1}")
    connection.execute("ALTER TABLE experience ADD COLUMN more")
    connection.commit()
    connection.close()
    before, ledger = agent.database.read_bytes(), agent.ledger.read_bytes()
    with pytest.raises(NewerStore, match="newer"):
        change_experience(agent, [{"text": "Ledgers are kept"}])
    assert (agent.database.read_bytes(), agent.ledger.read_bytes()) == (before, ledger)
