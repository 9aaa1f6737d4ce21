"""From a real bundle to a hook that answers, and back to nothing."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from releases.small_bundle import REAL, SCRIPTS, VERSION

pytestmark = pytest.mark.slow  # each installs for real
QUESTION = json.dumps({"prompt": "why is the ledger in integer minor units?"})


@pytest.fixture(scope="module")
def unsigned(build):
    """A bundle with the wheels for the Python of the tests, as a folder."""
    return made(build("--folder", "--python", VERSION))


@pytest.fixture(scope="module")
def signed(build, key):
    """A signed channel for the Python of the tests."""
    return made(build("--python", VERSION, "--key", key)).parent


def made(done):
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1])


def install(script, home, *options, **more):
    """Run install.sh in a minimal environment, without a network where that can be had."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", **more}
    offline = ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*offline, "true"]).returncode:
        offline = []
    command = [*offline, "sh", script, "--python", REAL, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def ask(home, project):
    """Index a project with the installed command and ask the installed hook."""
    (project / "ledger.md").write_text(
        "# Ledger\n\nWe settle the ledger in integer minor units, because floats lose cents.\n"
    )
    programs = home / ".agentlas/runtime/current/bin"
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    told = {"cwd": project, "env": environment, "capture_output": True, "text": True}
    for command in ("init", "index"):
        subprocess.run([programs / "agentlas-memory", command], check=True, **told)
    hook = [
        home / ".local/bin/agentlas-memory-hook",
        "--host",
        "raw",
        "--event",
        "UserPromptSubmit",
    ]
    done = subprocess.run(hook, input=QUESTION, **told)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def unpacked(channel, into):
    [archive] = channel.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(into)
    return into / archive.name.removesuffix(".tar.gz")


def test_it_is_installed_asked_and_removed_without_a_trace(unsigned, tmp_path):
    home, project = tmp_path / 'it\'s "$HOME" größer # 100%', tmp_path / "project"
    home.mkdir()
    project.mkdir()
    done = install(unsigned / "install.sh", home)
    assert done.returncode == 0, done.stderr
    assert "integer minor units" in ask(home, project)
    assert not list(home.glob(".agentlas/runtime/*/lib/python3*/site-packages/pip"))
    command = [home / ".local/bin/agentlas-memory", "uninstall", "--purge", "--yes"]
    told = {"env": {"HOME": str(home), "PATH": "/usr/bin:/bin"}, "capture_output": True}
    subprocess.run(command, check=True, **told)
    assert list(home.iterdir()) == []


def test_running_it_again_repairs(unsigned, tmp_path):
    assert install(unsigned / "install.sh", tmp_path).returncode == 0
    broken = tmp_path / ".agentlas/runtime/current/bin/python3"
    broken.unlink()
    done = install(unsigned / "install.sh", tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "project").mkdir()
    assert "integer minor units" in ask(tmp_path, tmp_path / "project")


def test_a_dry_run_leaves_the_home_as_it_was(unsigned, tmp_path):
    done = install(unsigned / "install.sh", tmp_path, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Would build version" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_signed_bundle_leaves_its_key_and_an_unsigned_one_is_refused_then(
    signed, unsigned, tmp_path
):
    home = tmp_path / "home"
    home.mkdir()
    bundle = unpacked(signed, tmp_path)
    done = install(bundle / "install.sh", home, "--from", signed)
    assert done.returncode == 0, done.stderr
    pin = home / ".agentlas/release-key.pub"
    assert pin.read_bytes() == (bundle / "release-key.pub").read_bytes()
    assert pin.stat().st_mode & 0o777 == 0o600
    before = os.readlink(home / ".agentlas/runtime/current")
    assert install(unsigned / "install.sh", home).returncode == 3
    assert os.readlink(home / ".agentlas/runtime/current") == before


def test_a_signature_of_another_key_is_refused(signed, tmp_path):
    bundle = unpacked(signed, tmp_path)
    other = base64.b64encode(b"\0" * 64).decode()
    (bundle / "release.json.sig").write_text(other)
    done = install(bundle / "install.sh", tmp_path)
    assert done.returncode == 3, done.stderr
    assert not (tmp_path / ".agentlas/runtime/current").exists()


def test_a_checkout_installs_itself(checkout, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    # With the settings of this machine: building asks the package index.
    environment = os.environ | {"HOME": str(home)}
    command = ["sh", checkout / "scripts/install.sh", "--no-hosts", "--python", REAL]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not list(checkout.rglob("*.pyc"))
    facts = json.loads((home / ".agentlas/runtime/current/runtime.json").read_text())
    assert re.fullmatch("[0-9a-f]{40}", facts["commit"])


SYSTEM = [f"3.{n}" for n in range(10, 14) if shutil.which(f"python3.{n}", path="/usr/bin:/bin")]


@pytest.mark.skipif(not SYSTEM, reason="the system itself has no Python that we run on")
def test_the_first_right_answer_on_a_fresh_machine(build):
    bundle = made(build("--folder", "--python", SYSTEM[0]))
    command = [sys.executable, SCRIPTS / "fresh_machine.py", "--bundle", bundle, "--json"]
    done = subprocess.run([*command, "--only", "attrs"], capture_output=True, text=True)
    seen = json.loads(done.stdout)
    assert done.returncode == 0, seen
    assert seen["install_seconds"] < 60
    assert seen["first_right_answer_seconds"] < 60
    assert seen["runtime_megabytes"] <= 200
