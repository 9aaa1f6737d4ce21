"""Files that an earlier run as root left behind, seen by an ordinary user."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

NOBODY = 65534
FACT = "integer minor units"


@pytest.fixture(scope="module")
def as_nobody(hooks):
    """What starts a program as a user without rights."""
    setpriv = shutil.which("setpriv")
    if os.getuid() or setpriv is None:
        pytest.skip("only root, with setpriv, becomes somebody else")
    ids = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    before = (setpriv, *ids, "--inh-caps=-all", "--bounding-set=-all")
    python = Path(hooks.launcher).with_name("python3")
    if subprocess.run([*before, "/usr/bin/test", "-x", python], check=False).returncode:
        pytest.skip("this Python is for root alone")
    return before


@pytest.fixture
def theirs():
    """A project and a home of that user, where all may look."""
    from fuzz.scene import Scene

    with tempfile.TemporaryDirectory() as name:
        scene = Scene(Path(name).resolve())
        Path(name).chmod(0o755)
        for path in Path(name).rglob("*"):
            os.chown(path, NOBODY, NOBODY)
        yield scene


@pytest.fixture
def ask(as_nobody, theirs, hooks):
    """Ask as that user."""

    def run():
        done = hooks.run(theirs, theirs.event(), before=as_nobody)
        assert done.faults() == []
        return done.stdout.decode()

    return run


def test_files_of_the_user_are_read(ask):
    assert FACT in ask()


LEFT = {
    "the home": ("data", 0o700),
    "the trust": ("data/trusted.json", 0o600),
    "the project": ("project", 0o700),
    "the store": ("store", 0o600),
    "the store for all to read": ("store", 0o644),
}


@pytest.mark.parametrize(("place", "mode"), LEFT.values(), ids=LEFT)
def test_what_root_left_makes_it_silent(ask, theirs, place, mode):
    name, _, rest = place.partition("/")
    path = getattr(theirs, name) / rest
    os.chown(path, 0, 0)
    path.chmod(mode)
    assert ask() == ""


@pytest.mark.parametrize("place", ["state", "settings.json"])
def test_what_is_not_needed_is_no_hindrance(ask, theirs, place):
    path = theirs.data / place
    path.touch() if place.endswith("json") else path.mkdir(exist_ok=True)
    os.chown(path, 0, 0)
    path.chmod(0o700)
    assert FACT in ask()


def test_vectors_that_root_left_cost_the_cosines_only(ask, theirs):
    os.chown(theirs.sidecar, 0, 0)
    theirs.sidecar.chmod(0o600)
    assert "retrieval=degraded_lexical;" in ask()
