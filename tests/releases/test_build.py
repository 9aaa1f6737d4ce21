"""A bundle holds what it says, and nothing of the machine that built it."""

import hashlib
import json
import shutil
import subprocess
import tarfile
import zipfile
from base64 import b64decode

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from agentlas_memory import __version__
from agentlas_memory.embedding.asset import DIGESTS

NAME = f"agentlas-memory-{__version__}"
ARCHIVE = f"{NAME}.tar.gz"
pytestmark = pytest.mark.slow  # builds wheels
WHEEL = f"agentlas_memory-{__version__}-py3-none-any.whl"


@pytest.fixture
def changed(checkout, tmp_path):
    """A copy of the checkout, to be changed."""
    return shutil.copytree(checkout, tmp_path / "changed", symlinks=True)


@pytest.fixture(scope="module")
def bundle(build):
    """An unpacked, unsigned bundle without dependencies."""
    done = build("--no-wheels", "--folder")
    assert done.returncode == 0, done.stderr
    return done.output / NAME


@pytest.fixture(scope="module")
def channel(build, key):
    """The output of a signed build, and the same unpacked."""
    done = build("--no-wheels", "--key", key)
    assert done.returncode == 0, done.stderr
    with tarfile.open(done.output / ARCHIVE) as archive:
        archive.extractall(done.output)
    return done.output


def read_release(folder):
    return json.loads((folder / "release.json").read_bytes())


def test_two_builds_of_one_commit_are_the_same_bytes(build, checkout, key, tmp_path):
    signed = ["--no-wheels", "--key", key]
    elsewhere = shutil.copytree(checkout, tmp_path / "else where", symlinks=True)
    there = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "LC_ALL": "C.UTF-8"}
    one = build(*signed)
    two = build(*signed, checkout=elsewhere, umask=0o077, **there)
    assert (one.returncode, two.returncode) == (0, 0), two.stderr
    for name in (ARCHIVE, "release.json", "release.json.sig"):
        assert (one.output / name).read_bytes() == (two.output / name).read_bytes()


def test_the_archive_names_no_owner_and_one_time(channel):
    with tarfile.open(channel / ARCHIVE) as archive:
        entries = archive.getmembers()
    names = [entry.name for entry in entries]
    assert names == sorted(names, key=lambda name: name.split("/"))
    assert {(e.uid, e.gid, e.uname, e.gname) for e in entries} == {(0, 0, "", "")}
    assert len({entry.mtime for entry in entries}) == 1
    assert {e.mode for e in entries if e.isfile() and not e.name.endswith(".sh")} == {0o644}


@pytest.mark.parametrize("name", ["agentlas_memory/hook.py", "notes.txt"], ids=["changed", "new"])
def test_what_is_not_committed_is_refused(build, changed, name):
    with (changed / name).open("a") as file:
        file.write("# later\n")
    done = build("--no-wheels", checkout=changed)
    assert done.returncode == 1
    assert name in done.stderr
    assert not done.output.exists()


def test_what_is_not_committed_is_taken_if_one_asks_for_it(build, changed):
    (changed / "agentlas_memory/later.py").write_text("")
    script = (
        (changed / "pyproject.toml").read_text().replace('version = "0.1.0"', 'version="9.8.7"')
    )
    (changed / "pyproject.toml").write_text(script)
    done = build("--no-wheels", "--folder", "--allow-dirty", checkout=changed)
    wheels = done.output / "agentlas-memory-9.8.7" / "wheels"
    with zipfile.ZipFile(wheels / "agentlas_memory-9.8.7-py3-none-any.whl") as wheel:
        assert "agentlas_memory/later.py" in wheel.namelist()


def test_a_folder_that_is_no_checkout_stands_for_no_commit(build, changed):
    shutil.rmtree(changed / ".git")
    assert build("--no-wheels", checkout=changed).returncode == 1
    done = build("--no-wheels", "--folder", "--allow-dirty", checkout=changed)
    assert read_release(done.output / NAME)["commit"] == "0" * 40


def test_only_a_commit_is_signed(build, key):
    assert build("--no-wheels", "--allow-dirty", "--key", key).returncode == 2


def test_a_version_is_three_numbers(build, changed, commit):
    text = (changed / "pyproject.toml").read_text()
    (changed / "pyproject.toml").write_text(text.replace(f'"{__version__}"', '"1.0rc1"', 1))
    commit(changed)
    done = build("--no-wheels", checkout=changed)
    assert done.returncode == 1
    assert "X.Y.Z" in done.stderr


def test_release_json_names_every_file(bundle):
    seen = {
        path.relative_to(bundle).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in bundle.rglob("*")
        if path.is_file()
    }
    own = {name: seen.pop(name) for name in ("release.json", "SHA256SUMS")}
    files = read_release(bundle)["files"]
    assert {name: file["sha256"] for name, file in files.items()} == seen
    sums = dict(line.split("  ")[::-1] for line in (bundle / "SHA256SUMS").read_text().splitlines())
    assert sums == seen | {"release.json": own["release.json"]}


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="no sha256sum here")
def test_the_sums_are_checked_by_sha256sum(bundle):
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    assert subprocess.run(command, cwd=bundle).returncode == 0


def test_release_json_names_the_model_and_what_hosts_are_given(bundle, checkout):
    release = read_release(bundle)
    assert DIGESTS.items() <= release["model"].items()
    payloads = [path for path in checkout.glob("host_adapters/*/payload/*") if path.is_file()]
    assert release["payloads"] == {
        path.relative_to(checkout).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in payloads
    }


def test_release_json_says_what_was_built(bundle):
    release = read_release(bundle)
    assert (release["format"], release["name"], release["version"]) == (
        1,
        "agentlas-memory",
        __version__,
    )
    assert (release["time"], release["pythons"]) == ("2026-01-02T03:04:05Z", [])
    assert (release["wheel"], release["requires_python"]) == (WHEEL, ">=3.10")


def test_the_signature_is_over_release_json(channel):
    folder = channel / NAME
    assert (channel / "release.json").read_bytes() == (folder / "release.json").read_bytes()
    key = Ed25519PublicKey.from_public_bytes(b64decode((folder / "release-key.pub").read_bytes()))
    signature = b64decode((channel / "release.json.sig").read_bytes())
    data = (channel / "release.json").read_bytes()
    key.verify(signature, data)
    with pytest.raises(InvalidSignature):
        key.verify(signature, data.replace(b"0.1.0", b"0.1.1", 1))


def test_without_a_key_nothing_looks_signed(bundle):
    assert not (bundle / "release.json.sig").exists()
    assert not (bundle / "release-key.pub").exists()


def test_install_sh_is_one_file(bundle):
    text = (bundle / "install.sh").read_text()
    assert "usable_pythons()" in text
    assert "\n. " not in text
    assert (bundle / "install.sh").stat().st_mode & 0o111


def test_markers_are_read_for_the_python_that_is_meant(tools, checkout):
    show = """
import sys
sys.path.insert(0, "scripts")
from pathlib import Path
from release.wheels import pins_for, read_lock
pins = read_lock(Path("requirements.lock"))
for python in ("3.10", "3.13"):
    print(*sorted(pin.requirement.name for pin in pins_for(python, pins)))
"""
    lines = subprocess.check_output([tools, "-B", "-c", show], cwd=checkout, text=True).splitlines()
    oldest, newest = (line.split() for line in lines)
    assert "tomli" in oldest
    assert "tomli" not in newest
    assert "numpy" in newest
    assert "colorama" not in newest  # for Windows alone


def test_a_bundle_carries_the_wheels_of_its_pythons(build):
    done = build("--folder", "--python", "3.13", "--python", "3.10")
    assert done.returncode == 0, done.stderr
    folder = done.output / NAME
    wheels = [path.name for path in (folder / "wheels").iterdir()]
    assert read_release(folder)["pythons"] == ["3.10", "3.13"]
    assert len([name for name in wheels if name.startswith("numpy-")]) == 2
    assert any(name.startswith("tomli-") for name in wheels)
