"""A release key is made where nobody else reads it."""

import os
import subprocess
from base64 import b64decode
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/make_release_key.py"


@pytest.fixture
def make(tools):
    """Run make_release_key.py for a path."""

    def run(path):
        return subprocess.run([tools, "-E", SCRIPT, path], capture_output=True, text=True)

    return run


def test_the_private_key_is_for_its_owner_alone(make, tmp_path):
    done = make(tmp_path / "a key.pem")
    assert done.returncode == 0
    assert os.stat(tmp_path / "a key.pem").st_mode & 0o777 == 0o600
    assert len(b64decode(done.stdout.rpartition(" ")[2])) == 32


def test_no_key_is_made_in_a_repository(make, tmp_path):
    (tmp_path / "project/.git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert make(tmp_path / "link/key.pem").returncode == 1
    assert list((tmp_path / "project").iterdir()) == [tmp_path / "project/.git"]


def test_a_key_that_is_there_stays(make, tmp_path):
    (tmp_path / "key.pem").write_text("mine")
    assert make(tmp_path / "key.pem").returncode == 1
    assert (tmp_path / "key.pem").read_text() == "mine"


def test_the_repository_holds_no_key():
    root = SCRIPT.parents[1]
    own = [path for path in root.iterdir() if not path.name.startswith(".")]
    named = {path.suffix for folder in own for path in (folder, *folder.rglob("*"))}
    assert ".py" in named
    assert named.isdisjoint({".pem", ".pub", ".key"})
