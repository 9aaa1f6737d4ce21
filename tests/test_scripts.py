"""The scripts find a Python that works, whatever stands in its place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REAL = os.path.realpath(sys.executable)
VERSION = "{}.{}".format(*sys.version_info)
BROKEN = {
    "a shim without a version": "echo 'pyenv: version is not set' >&2\nexit 127",
    "a store stub": "exit 49",
    "too old": "exit 1",
    "silent": "exit 0",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A PATH of its own, with spaces, that holds the system's tools and no Python."""
    folder = tmp_path / "with spaces"
    folder.mkdir()
    for tool in ("awk", "sort", "tail", "head"):
        (folder / tool).symlink_to(subprocess.check_output(["which", tool], text=True).strip())
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    return folder


def write_program(folder, name, body):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def find(function="find_python"):
    script = f". scripts/find_python.sh; {function}"
    return subprocess.run(["/bin/sh", "-euc", script], cwd=ROOT, capture_output=True, text=True)


def test_a_shim_is_resolved_to_its_interpreter(folder):
    write_program(folder, "python3", f'exec "{sys.executable}" "$@"')
    assert find().stdout.strip() == REAL


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_what_is_no_python_is_passed_over(folder, body):
    write_program(folder, "python3", body)
    write_program(folder, f"python{VERSION}", f'exec "{sys.executable}" "$@"')
    assert find().stdout.strip() == REAL


def test_versions_of_a_version_manager_are_found(folder, home):
    bin_folder = home / ".pyenv" / "versions" / "any" / "bin"
    bin_folder.mkdir(parents=True)
    write_program(bin_folder, "python3", f'exec "{sys.executable}" "$@"')
    assert find("usable_pythons").stdout.split("\n")[0] == f"{VERSION} {REAL}"


def test_a_machine_without_python_is_told_what_is_needed(folder):
    answer = find()
    assert answer.returncode != 0
    assert "3.10 or newer" in answer.stderr


@pytest.mark.parametrize("script", sorted(ROOT.glob("scripts/**/*.sh")), ids=lambda path: path.name)
def test_the_scripts_are_posix_sh(script):
    subprocess.run(["/bin/sh", "-n", script], check=True)


def test_each_host_is_measured_beside_the_raw_hook():
    script = [sys.executable, ROOT / "scripts/measure_hosts.py", "--runs", "1", "--most", "10000"]
    lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()
    hosts = [line.split(" | ")[0].strip("| ") for line in lines[2:]]
    assert hosts == ["raw", "claude", "codex", "antigravity", "opencode", "grok"]
