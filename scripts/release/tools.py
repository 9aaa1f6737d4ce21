"""The programs that build a release, in the versions of tools.lock and in a folder of their own."""

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from release.source import Refused, temporary_folder

PREFIX = "agentlas-release-"
LEAST = 20 << 20  # bytes of a temporary folder, without which nothing is built
LOCK = Path(__file__).with_name("tools.lock")
# Settings of pip that would put things elsewhere than where we say.
UNWANTED = ("PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_TARGET", "PIP_USER")


def run_with_tools(script: str, arguments: list[str]) -> int | None:
    """Run the script again where the tools are; return its exit code, or None if they are here."""
    if tools_are_here():
        return None
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=temporary_folder()) as folder:
        python = make_tools(Path(folder))
        command = [str(python), "-B", script, *arguments]  # a checkout gets no cache of ours
        return subprocess.run(command, env=clean_environment()).returncode


def tools_are_here() -> bool:
    """Whether this Python has exactly the tools of the lock."""
    pins = re.findall(r"^(packaging|pip|setuptools|cryptography)==(\S+)", LOCK.read_text(), re.M)
    try:
        return all(version(name) == pin for name, pin in pins)
    except PackageNotFoundError:
        return False


def make_tools(folder: Path) -> Path:
    """Make an environment with the tools and return its Python.

    A Python without ensurepip (Debian's) is helped by its own pip, if it has one.
    """
    try:
        import ensurepip  # noqa: F401

        options, installer = [], []
    except ImportError:
        options, installer = ["--without-pip"], [sys.executable, "-m", "pip", "--python"]
    run_quietly([sys.executable, "-m", "venv", *options, str(folder)])
    python = next(path for path in _pythons(folder) if path.exists())
    pip = [*installer, str(python)] if installer else [str(python), "-m", "pip"]
    locked = ["install", "--quiet", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCK)]
    run_quietly([*pip, *locked])
    return python


def run_quietly(command: list[str], **environment: str) -> None:
    """Run a program; what it says is shown when it fails, as the text of Refused."""
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, env=clean_environment(**environment), **told)
    if done.returncode and shutil.disk_usage(temporary_folder()).free < LEAST:
        # Not each program says why: `venv` tells of pip, which it runs, the exit code alone.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if done.returncode:
        raise Refused(f"Failed: {' '.join(command[:4])} ...\n{done.stdout}")


def _pythons(folder: Path) -> tuple[Path, Path]:
    return folder / "bin" / "python3", folder / "Scripts" / "python.exe"


def clean_environment(**more: str) -> dict[str, str]:
    """Return the environment for pip: the person's own index counts, their targets do not."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in UNWANTED and not key.startswith("PYTHON")
    }
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}
