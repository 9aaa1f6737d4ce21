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
import time
from contextlib import contextmanager
from pathlib import Path

# Read before tests hide them.
NEWEST = os.environ.get("AGENTLAS_HOST_VERSIONS") == "newest"
CACHE = os.environ.get("AGENTLAS_TEST_CACHE", "").strip()
FETCHED = {}  # host -> the version that was had
_SECONDS = 300
_TRIES = 2


class Unavailable(Exception):
    """A program that cannot be had here; the text says why."""


def fetch_host(host, version):
    """Return a host's program; of Antigravity, which is driven from Python, the packages' folder.

    What `FETCHED` has of the host afterwards is the version of what was returned.
    """
    if host == "antigravity":
        return pypi_package(host, "google-antigravity", version)
    if host == "grok":
        return pypi_package(host, "grok-cli-bin", version) / "grok_cli_bin/bin/grok"
    names = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}
    return npm_modules(host, names.get(host, "opencode-ai"), version) / ".bin" / host


def npm_modules(host, name, version):
    """Return a `node_modules` with an npm package and what it needs."""
    if shutil.which("npm") is None:
        raise Unavailable("npm is not installed")
    version = FETCHED[host] = _newest(["npm", "view", name, "version"]) if NEWEST else version
    folder = cache_folder() / f"npm-{name.replace('/', '-').lstrip('@')}-{version}"
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(folder)]
    fetch_once(folder, [*command, f"{name}@{version}"])
    return folder / "node_modules"


def pypi_package(host, name, version):
    """Return a folder that holds a PyPI package and what it needs, ready for PYTHONPATH."""
    pip = [sys.executable, "-m", "pip"]
    if NEWEST:
        answer = _newest([*pip, "index", "versions", name])
        version = answer.partition("(")[2].partition(")")[0] or version
    FETCHED[host] = version
    folder = cache_folder() / f"pypi-{name}-{version}-py{sys.version_info[0]}.{sys.version_info[1]}"
    fetch_once(folder, [*pip, "install", "-q", "--target", str(folder), f"{name}=={version}"])
    return folder


def _newest(command):
    """Return the first line that a registry's client answers."""
    answer = _fetch(command).strip()
    if not answer:
        raise Unavailable(f"`{' '.join(command[-3:])}` gave no answer")
    return answer.splitlines()[0]


def _fetch(command, prepare=lambda: None):
    """Run what fetches something, again where it failed, and return what it printed.

    Nothing else of conformance is ever tried twice.
    """
    trouble = ""
    for again in range(_TRIES):
        time.sleep(5 * again)
        prepare()
        try:
            done = subprocess.run(
                command, stdin=-3, capture_output=True, text=True, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            told = f"{command[-1]} cannot be fetched: nothing within {_SECONDS} seconds"
            raise Unavailable(told) from error
        if done.returncode == 0:
            return done.stdout
        lines = (done.stderr or done.stdout).strip().splitlines()
        trouble = lines[-1] if lines else f"exit code {done.returncode}"
    raise Unavailable(f"{command[-1]} cannot be fetched: {trouble}")


def cache_folder():
    """Return the folder that runs share, of this user alone."""
    folder = Path(CACHE or Path(tempfile.gettempdir(), f"agentlas-memory-hosts-{os.getuid()}"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise Unavailable(f"{folder} belongs to another user")
    return folder


def fetch_once(folder, command):
    """Run an installer once; what it left unfinished is removed and made again."""
    done = folder.with_name(folder.name + ".done")
    with _lock(folder.with_name(folder.name + ".lock")):
        if not (done.exists() and folder.is_dir()):
            _fetch(command, lambda: _make_anew(folder))
            done.touch()


def _make_anew(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


@contextmanager
def _lock(path):
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
