"""A trusted project whose files somebody else has had in hands, and the hook run on it."""

import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from agentlas_memory.ontology.store import chunk_digest

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.append(str(SCRIPTS))

# What takes minutes is left to `scripts/fuzz/nightly.sh`.
NIGHTLY = os.environ.get("FUZZ_NIGHTLY") == "1"
EVENTS = ("UserPromptSubmit", "SessionStart")


def pytest_collection_modifyitems(items):
    """Say so where the campaigns' scripts are not beside the tests."""
    if not (SCRIPTS / "fuzz").exists():
        for item in items:
            item.add_marker(pytest.mark.skip("the scripts are not part of an installed package"))
    for item in items:
        if item.get_closest_marker("nightly") and not NIGHTLY:
            item.add_marker(pytest.mark.skip("takes minutes: scripts/fuzz/nightly.sh runs it"))


@pytest.fixture(scope="session")
def nightly():
    """Whether there is time for all of it."""
    return NIGHTLY


@pytest.fixture(scope="session")
def hooks():
    """Starts hooks as processes."""
    from fuzz.scene import Hooks

    with Hooks() as hooks:
        yield hooks


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A trusted project and its home, made once, and a copy of both."""
    from fuzz.scene import Scene

    scene = Scene(tmp_path_factory.mktemp("scene"))
    copy = tmp_path_factory.mktemp("copy")
    for folder in (scene.project, scene.home):
        shutil.copytree(folder, copy / folder.name)
    return scene, copy


@pytest.fixture
def scene(made):
    """The project as it was made; whatever a test does to it is taken back."""
    scene, copy = made
    yield scene
    for folder in (scene.project, scene.home):
        for entry in folder.iterdir():  # the folder itself stays: trust knows it by its inode
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        shutil.copytree(copy / folder.name, folder, dirs_exist_ok=True)


@pytest.fixture
def survive(scene, hooks):
    """Run the hook at a prompt and at a start; it is silent, or right, and in time.

    Returns what it said, a text each.
    """
    from fuzz.answers import capsule_in

    def run(host="raw", **fields):
        said = []
        for name in EVENTS:
            event = scene.event(**({"session_id": name, "hook_event_name": name} | fields))
            done = hooks.run(scene, event, host=host, name=name)
            assert done.faults() == []
            said.append(capsule_in(done.stdout, host, name))
        return said

    return run


@pytest.fixture
def execute(scene):
    """Run statements on the store, its own rules out of force."""

    def run(*statements):
        connection = sqlite3.connect(scene.store, isolation_level=None)
        connection.execute("PRAGMA writable_schema=1")
        for statement in statements:
            connection.execute(statement)
        connection.close()

    return run


@pytest.fixture
def forge(scene):
    """Change a column of a file's chunks or of the file; the digests are made to fit."""

    def run(table, column, value, path):
        connection = sqlite3.connect(scene.store)
        chosen = "source_id = (SELECT source_id FROM sources WHERE path = ?)"
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {chosen}", (value, path))
        (store_id,) = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()
        rows = connection.execute(
            "SELECT chunk_id, scope, path, heading, start_line, end_line, text"
            " FROM chunks JOIN sources USING (source_id)"
        ).fetchall()
        for chunk_id, *shown in rows:
            values = (chunk_digest(store_id, *shown), chunk_id)
            connection.execute("UPDATE chunks SET digest = ? WHERE chunk_id = ?", values)
        connection.commit()
        connection.close()

    return run
