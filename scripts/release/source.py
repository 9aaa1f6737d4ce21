"""What a release is made of: a copy of the checkout's files that depends on their bytes alone."""

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

SOURCES = (
    "LICENSE",
    "README.md",
    "agentlas_memory",
    "bin",
    "host_adapters",
    "installer",
    "pyproject.toml",
    "requirements.lock",
    "scripts",
)
NO_COMMIT = "0" * 40


class Refused(Exception):
    """The release is not made; the text says why and what to do."""


def no_room(output: Path) -> str:
    """Return what to say of a full disk: the temporary folder's, or where the result should go."""
    temporary, target = Path(temporary_folder()), output.absolute()
    while not target.exists():
        target = target.parent
    if shutil.disk_usage(target).free < shutil.disk_usage(temporary).free:
        return f"{target} is full: make room there."
    return f"The temporary folder {temporary} is full: make room, or set TMPDIR to one with 500 MB."


def temporary_folder() -> str:
    """Return where to build: Python itself passes over a TMPDIR that is full, without a word."""
    return os.environ.get("TMPDIR") or tempfile.gettempdir()


def is_full(error: Exception) -> bool:
    """Tell whether a full disk stopped us; a program, or shutil, tells it in words alone."""
    words = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
    return any(word in str(error) for word in words)


class Source(NamedTuple):
    """A copy of the checkout, the commit it stands for and that commit's time."""

    folder: Path
    commit: str
    time: int


def copy_source(root: Path, into: Path, allow_dirty: bool) -> Source:
    """Copy what git knows of the checkout, with fixed modes and times; raise Refused."""
    commit, time = NO_COMMIT, _time_without_git(root)
    if _is_checkout(root):
        commit = _git(root, "rev-parse", "HEAD").strip()
        time = int(_git(root, "log", "-1", "--format=%ct"))
    _refuse_changes(root, commit, allow_dirty)
    for path in _files(root, commit):
        _copy(root / path, into / path, time)
    return Source(into, commit, time)


def _refuse_changes(root: Path, commit: str, allow_dirty: bool) -> None:
    if allow_dirty:
        return
    if commit == NO_COMMIT:
        raise Refused(f"{root} is no git checkout. Make releases from one, or use --allow-dirty.")
    if changes := _git(root, "status", "--porcelain"):
        raise Refused(f"Not committed:\n{changes}Commit or stash it, or use --allow-dirty.")


def _is_checkout(root: Path) -> bool:
    """Whether the folder is the top of a git work tree, and not just somewhere in one."""
    try:
        top = _git(root, "rev-parse", "--show-toplevel")
    except (OSError, subprocess.CalledProcessError):
        return False
    return Path(top.removesuffix("\n")) == root.resolve()


def _files(root: Path, commit: str) -> Iterable[str]:
    if commit != NO_COMMIT:
        # What is new and not ignored counts too: only --allow-dirty comes here with such files.
        names = _git(root, "ls-files", "-coz", "--exclude-standard", "--", *SOURCES)
        return [name for name in names.split("\0") if name and (root / name).is_file()]
    found = (path for name in SOURCES for path in (root / name, *(root / name).rglob("*")))
    return [
        path.relative_to(root).as_posix()
        for path in found
        if path.is_file() and path.suffix != ".pyc"
    ]


def _copy(source: Path, target: Path, time: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)
    os.utime(target, (time, time))


def _time_without_git(root: Path) -> int:
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    return int(stated or (root / "pyproject.toml").stat().st_mtime)


def _git(root: Path, *arguments: str) -> str:
    # In a git hook, GIT_DIR names another repository than the folder.
    command = ["git", "-C", str(root), "-c", "core.quotePath=false", *arguments]
    environment = {key: value for key, value in os.environ.items() if key[:4] != "GIT_"}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.run(command, env=environment, check=True, **output).stdout
