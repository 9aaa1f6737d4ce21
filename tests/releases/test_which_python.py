"""install.sh runs on a Python that works, and for a person's own home."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from releases.small_bundle import REAL, VERSION, called, install, make_bundle, write_program


def test_python_may_be_named_python(bundle, path):
    write_program(path, "python", f'exec "{REAL}" "$@"')
    assert called(install(bundle / "install.sh"))["python"] == REAL


@pytest.mark.parametrize(
    "body",
    [
        "echo 'Python was not found; run without arguments to install from the Store' >&2; exit 49",
        "echo 'pyenv: python3: command not found' >&2; exit 127",
        "kill -9 $$",
        "exit 0",
        "echo '3.11 '",
        "echo '3.11 /nowhere/python'",
        "echo 'Welcome to Python'",
    ],
    ids=[
        "store stub",
        "shim without a version",
        "killed",
        "silent",
        "without a path",
        "of a path that is not there",
        "talkative",
    ],
)
def test_what_only_looks_like_python_is_passed_over(bundle, path, body):
    write_program(path, "python3", body)
    write_program(path, f"python{VERSION}", f'exec "{REAL}" "$@"')
    assert called(install(bundle / "install.sh"))["python"] == REAL


@pytest.mark.slow
def test_a_python_that_hangs_is_given_up(bundle, path):
    write_program(path, "python3", f"exec {shutil.which('sleep', path='/usr/bin:/bin')} 60")
    write_program(path, "python", f'exec "{REAL}" "$@"')
    started = time.monotonic()
    assert called(install(bundle / "install.sh"))["python"] == REAL
    assert time.monotonic() - started < 30


def test_without_any_python_the_message_says_what_to_get(bundle, path):
    done = install(bundle / "install.sh")
    assert done.returncode == 1
    for words in ("3.10 or newer", "Nothing was changed", "--python PATH"):
        assert words in done.stderr


def test_a_named_python_must_work(bundle, python, path):
    broken = write_program(path, "broken", "exit 49")
    done = install(bundle / "install.sh", "--python", broken)
    assert done.returncode == 1
    assert f"{broken} cannot be used" in done.stderr


def test_a_named_python_is_the_one(bundle, path):
    named = write_program(path, "my python", f'exec "{REAL}" "$@"')
    assert called(install(bundle / "install.sh", "--python", named))["python"] == REAL


def test_the_bundle_must_carry_wheels_for_a_python_that_is_here(tmp_path, python):
    bundle = make_bundle(tmp_path / "bundle", pythons=["3.99"])
    done = install(bundle / "install.sh")
    assert done.returncode == 1
    assert "wheels for Python 3.99" in done.stderr
    assert VERSION in done.stderr


def test_a_bundle_without_wheels_takes_any_python(tmp_path, python):
    bundle = make_bundle(tmp_path / "bundle", pythons=[])
    assert called(install(bundle / "install.sh"))["python"] == REAL


def test_a_python_without_ensurepip_will_do(bundle, path):
    block = "import sys; sys.modules['ensurepip'] = None; exec(sys.argv.pop(1))"
    body = f'case $2 in -c) shift 2; exec "{REAL}" -I -c "{block}" "$@" ;; esac'
    write_program(path, "python3", f'{body}\nexec "{REAL}" "$@"')
    assert called(install(bundle / "install.sh"))["python"] == REAL


DEBIAN = Path("/usr/bin/python3")


@pytest.mark.skipif(
    not list(Path("/usr/lib").glob("python3*/EXTERNALLY-MANAGED")), reason="no such Python here"
)
def test_a_minimal_environment_on_an_externally_managed_python(tmp_path, home):
    versions = [f"3.{minor}" for minor in range(10, 15)]
    bundle = make_bundle(tmp_path / "bundle", pythons=versions)
    minimal = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    answer = called(install(bundle / "install.sh", env=minimal))
    assert answer["python"] == os.path.realpath(DEBIAN)


ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@ROOT
def test_sudo_in_somebody_s_home_is_refused(bundle, python, home, monkeypatch):
    os.chown(home, 12345, 12345)
    monkeypatch.setenv("SUDO_UID", "12345")
    done = install(bundle / "install.sh")
    assert done.returncode == 1
    assert "without sudo" in done.stderr
    assert "12345" in done.stderr


@ROOT
def test_root_installs_for_root(bundle, python, monkeypatch):
    monkeypatch.setenv("SUDO_UID", "12345")
    called(install(bundle / "install.sh"))


@ROOT
def test_what_root_left_is_named_with_its_owner(bundle, python, home, tmp_path):
    (home / ".agentlas").mkdir(0o755)
    above = [one for one in tmp_path.parents if Path(tempfile.gettempdir()) in one.parents]
    for folder in (home, *above, tmp_path):
        folder.chmod(0o755)
    done = install(bundle / "install.sh", user=12345)
    assert done.returncode == 1
    assert "belongs to user 0, you are 12345" in done.stderr
