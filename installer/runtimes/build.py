"""Building a version in its final place: an environment, our wheels in it, its programs."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path

from agentlas_memory.installer.runtimes.children import clean_environment, isolated, must_run, run
from agentlas_memory.installer.runtimes.environments import (
    WINDOWS,
    base_python,
    hook_of,
    packages_of,
    programs_of,
    python_of,
)
from agentlas_memory.installer.runtimes.layout import MARK, Runtimes, remove_tree
from agentlas_memory.installer.runtimes.release import REQUIREMENTS, Release
from agentlas_memory.installer.runtimes.steps import step
from agentlas_memory.installer.runtimes.trouble import UpdateFailed, UpdateRefused

_PACKAGE = "agentlas_memory"
_MODEL = "models/model2vec/potion-base-8M-int8"
_NOT_KEPT = ("pip", "setuptools", "wheel")
PROGRAM = "agentlas-memory"
_SECONDS = 600.0
# pip tries at its start whether it may bind an IPv6 address: where nothing is contacted, no socket
# is opened either.
_OFFLINE_PIP = (
    "import runpy, socket, sys; socket.has_ipv6 = False; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)"
)


@contextmanager
def new_folder(runtimes: Runtimes, version: str) -> Iterator[Path]:
    """Make a folder for a version under a name that nobody uses; on any failure it goes again."""
    with step("make its folder"):
        folder = runtimes.free_folder(version)
        folder.mkdir(mode=0o700)
        (folder / MARK).touch()
    try:
        yield folder
    except BaseException:
        with suppress(OSError):  # else the next update removes it
            remove_tree(folder)
        raise


def build(release: Release, bundle: Path, folder: Path) -> None:
    """Make a version in its folder from the files of a checked bundle."""
    with step("make its environment"):
        python = base_python()
        must_run(isolated(python, "-m", "venv", "--without-pip", folder), "The new environment")
    with step("install the wheels"):
        _install_wheels(release, bundle, folder)
    with step("leave pip out"):
        _remove_pip(folder)
    with step("compile"):
        _compile(folder)
    with step("check the model and the hosts' files"):
        check_contents(folder, release)
    with step("write the programs"):
        _write_programs(folder)


def _install_wheels(release: Release, bundle: Path, folder: Path) -> None:
    """Let pip put them in place; it checks every digest once more, and runs nothing of them."""
    # By its name: pip reads a path in such a file up to a `#`, and fills in `${HOME}`.
    own = bundle / "own.txt"
    digest = release.files[release.wheel].sha256
    own.write_text(f"{PROGRAM}=={release.version} --hash=sha256:{digest}\n", "utf-8")
    pip = bundle / release.pip
    environment = clean_environment()
    if release.pythons:
        # No setting of the person's may lead pip anywhere.
        environment = {k: v for k, v in environment.items() if not k.startswith("PIP_")}
        environment["PIP_CONFIG_FILE"] = os.devnull
        command = isolated(python_of(folder), "-c", _OFFLINE_PIP, pip, "install", "--isolated")
        command += ["--no-index"]
    else:
        command = isolated(python_of(folder), pip / "pip", "install")
    options = "--quiet --require-hashes --no-deps --no-compile --no-cache-dir --no-input"
    command += ["--find-links", bundle / "wheels", "--only-binary", ":all:"]
    command += [*options.split(), "--disable-pip-version-check", "--no-warn-script-location"]
    command += ["-r", bundle / REQUIREMENTS, "-r", own]
    must_run(command, "Installing the wheels", environment)


def _remove_pip(folder: Path) -> None:
    packages = packages_of(folder)
    for name in _NOT_KEPT:
        for path in (packages / name, *packages.glob(f"{name}-*.dist-info")):
            if path.is_dir():
                shutil.rmtree(path)


def _compile(folder: Path) -> None:
    """Compile ahead: a hook never writes; what of others' does not compile is their own."""
    packages = packages_of(folder)
    python = isolated(python_of(folder), "-m", "compileall", "-q")
    must_run([*python, packages / _PACKAGE], "Compiling")
    others = [path for path in packages.iterdir() if path.name != _PACKAGE]
    run([*python, "-x", r"[\\/]tests?[\\/]", *others], _SECONDS)


def check_contents(folder: Path, release: Release) -> None:
    """Compare the model and the hosts' files with the release; raise UpdateRefused."""
    package = packages_of(folder) / _PACKAGE
    _check_digests(package / _MODEL, release.model)
    _check_digests(package, release.payloads)


def program_text() -> bytes:
    """Return the program that stands in the place of pip's."""
    return (resources.files(__package__) / "agentlas-memory.sh").read_bytes()


def _check_digests(root: Path, expected: Mapping[str, str]) -> None:
    for name, digest in expected.items():
        path = root / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise UpdateRefused(f"{name}, as it was installed, is not the release's.")


def _write_programs(folder: Path) -> None:
    """Write `agentlas-memory`: pip's has a first line that says nothing once its Python is gone."""
    if not hook_of(folder).exists():
        raise UpdateFailed("The wheel brought no agentlas-memory-hook.")
    if WINDOWS:
        return
    program = programs_of(folder) / PROGRAM
    aside = program.with_name(f".{PROGRAM}")
    aside.write_bytes(program_text())
    aside.chmod(0o755)
    aside.replace(program)
