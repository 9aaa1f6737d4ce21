"""A checkout of the sources under test, and the tools that build a release of it."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from releases.small_bundle import REAL, make_bundle, write_program

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
TOOLS = "awk dirname find id ls mktemp mkdir readlink rm sed sort tail timeout tr uname"
AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", "2026-01-02T03:04:05Z"))
}


def git(folder, *arguments):
    command = ["git", "-C", folder, *arguments]
    return subprocess.run(command, env=os.environ | AUTHOR, check=True, capture_output=True)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """A git repository with one commit: what a release is made of, as it stands here."""
    folder = tmp_path_factory.mktemp("checkout") / "agentlas-memory"
    folder.mkdir()
    for name in runpy.run_path(str(SCRIPTS / "release/source.py"))["SOURCES"]:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / ".gitignore").write_text("__pycache__/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


@pytest.fixture(scope="session")
def commit():
    """Commit all that lies in a checkout."""

    def run(folder):
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "more")

    return run


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """A Python with the tools of tools.lock, made once."""
    make = "import sys, pathlib, release.tools as t; print(t.make_tools(pathlib.Path(sys.argv[1])))"
    command = [sys.executable, "-s", "-c", make, tmp_path_factory.mktemp("tools")]
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS)}
    return subprocess.check_output(command, env=environment, text=True).strip()


@pytest.fixture(scope="session")
def build(checkout, tools, tmp_path_factory):
    """Run build_release.py of a checkout; return what it said, and the output folder."""

    def run(*options, checkout=checkout, umask=0o022, **environment):
        script = checkout / "scripts/build_release.py"
        output = tmp_path_factory.mktemp("out") / "channel"
        settings = {"env": os.environ | environment, "umask": umask}
        command = [tools, "-B", "-E", script, "--output", output, *options]
        done = subprocess.run(command, capture_output=True, text=True, **settings)
        done.output = output
        return done

    return run


@pytest.fixture(scope="session")
def key(tools, tmp_path_factory):
    """A private key made for this run."""
    path = tmp_path_factory.mktemp("key") / "release-key.pem"
    script = SCRIPTS / "make_release_key.py"
    subprocess.run([tools, "-E", script, path], check=True, capture_output=True)
    return path


@pytest.fixture
def bundle(tmp_path):
    return make_bundle(tmp_path / 'it\'s a "$HOME" bundle, größer')


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A PATH of its own that holds the system's tools and no Python."""
    folder = tmp_path / "with spaces"
    folder.mkdir()
    for tool in TOOLS.split():
        (folder / tool).symlink_to(shutil.which(tool))
    monkeypatch.setenv("PATH", str(folder))
    for name in ("PYENV_ROOT", "SUDO_UID", "DOAS_USER"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def python(path):
    """A `python3` on the PATH."""
    return write_program(path, "python3", f'exec "{REAL}" "$@"')
