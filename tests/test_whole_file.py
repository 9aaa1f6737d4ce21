"""A file of ours is the old one or the new one, whatever becomes of the process that writes it."""

import os
import signal
import subprocess
import sys

import pytest

from agentlas_memory.whole_file import new_version, remove_half_file, replace_file


@pytest.fixture
def file(tmp_path):
    """A file with something in it."""
    path = tmp_path / "facts.json"
    path.write_text("old")
    return path


def names(file):
    return [path.name for path in file.parent.iterdir()]


def test_a_file_is_replaced_and_nothing_is_left_beside_it(file):
    replace_file(file, b"new")
    assert (file.read_text(), names(file)) == ("new", [file.name])


def test_the_umask_takes_from_the_mode(file):
    before = os.umask(0o027)
    try:
        replace_file(file, b"new")
        assert file.stat().st_mode & 0o777 == 0o640
        replace_file(file, b"new", 0o600)
        assert file.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_until_the_block_ends_the_old_one_is_there(file):
    with new_version(file) as new:
        new.file.write(b"new")
        new.sync()
        assert (file.read_text(), new.path.read_text()) == ("old", "new")
    assert file.read_text() == "new"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_block_that_fails_changes_nothing(file, error):
    with pytest.raises(error), new_version(file) as new:
        new.file.write(b"new")
        raise error
    assert (file.read_text(), names(file)) == ("old", [file.name])


@pytest.mark.parametrize("then", [lambda path: replace_file(path, b"new"), remove_half_file])
def test_what_a_killed_process_left_is_removed_by_the_next(file, then):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from agentlas_memory.whole_file import NewVersion, replace_file\n"
        "NewVersion.sync = lambda new: os.kill(os.getpid(), 9)\n"
        "replace_file(Path(sys.argv[1]), b'half')\n"
    )
    died = subprocess.run([sys.executable, "-c", code, file])
    assert died.returncode == -signal.SIGKILL
    assert (file.read_text(), len(names(file))) == ("old", 2)
    then(file)
    assert names(file) == [file.name]
