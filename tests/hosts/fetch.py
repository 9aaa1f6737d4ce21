"""The real host programs, from npm and PyPI, in a cache that runs share.

The cache is `AGENTLAS_TEST_CACHE`, else a folder of this user among the temporary files. A program
that cannot be had is a reason to skip by name, never to pass. With AGENTLAS_HOST_VERSIONS=newest
the newest versions take the place of those that are asked for.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

NEWEST = os.environ.get("AGENTLAS_HOST_VERSIONS") == "newest"  # before tests hide it
FETCHED = {}  # package -> the version that was had
_SECONDS = 600


class Unavailable(Exception):
    """A program that cannot be had here; the text says why."""


def npm_package(name, version):
    """Return the folder of an npm package in a prefix of its own: `node_modules/<name>`."""
    if shutil.which("npm") is None:
        raise Unavailable("npm is not installed")
    version = FETCHED[name] = _newest(["npm", "view", name, "version"]) if NEWEST else version
    folder = cache_folder() / f"npm-{name.replace('/', '-').lstrip('@')}-{version}"
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(folder)]
    fetch_once(folder, [*command, f"{name}@{version}"])
    return folder / "node_modules" / name


def pypi_package(name, version):
    """Return a folder that holds a PyPI package and what it needs, ready for PYTHONPATH."""
    if NEWEST:
        answer = _newest([sys.executable, "-m", "pip", "index", "versions", name])
        version = answer.partition("(")[2].partition(")")[0] or version
    FETCHED[name] = version
    folder = cache_folder() / f"pypi-{name}-{version}-py{sys.version_info[0]}.{sys.version_info[1]}"
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder)]
    fetch_once(folder, [*command, f"{name}=={version}"])
    return folder


def _newest(command):
    """Return the first line that a registry's client answers."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode or not done.stdout.strip():
        raise Unavailable(f"`{' '.join(command[-3:])}` gave no answer")
    return done.stdout.strip().splitlines()[0]


def cache_folder():
    """Return the folder that runs share."""
    named = os.environ.get("AGENTLAS_TEST_CACHE", "").strip()
    folder = Path(named or Path(tempfile.gettempdir(), f"agentlas-memory-hosts-{os.getuid()}"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch_once(folder, command):
    """Run what fills a folder, once; what it left unfinished is removed and made again."""
    done = folder.with_name(folder.name + ".done")
    with _lock(folder.with_name(folder.name + ".lock")):
        if done.exists() and folder.is_dir():
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"{command[0]} took more than {_SECONDS} seconds") from error
        if result.returncode:
            lines = (result.stderr or result.stdout).strip().splitlines()
            raise Unavailable(f"{command[-1]} cannot be installed: {lines[-1] if lines else '?'}")
        done.touch()


@contextmanager
def _lock(path):
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
