"""install.sh's check of a bundle: bounded, whatever is in it, and told in one plain sentence."""

import gzip
import io
import json
import os
import tarfile

import pytest
from releases.small_bundle import WHEEL, install, pack, write_release, write_sums

MANY = 513 << 20  # one more MiB than a file may have


def refused(done):
    """The check told one sentence, the script another; nothing of the bundle ran."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
    assert len(done.stderr.splitlines()) == 2, done.stderr
    assert all(one.isprintable() for one in done.stderr.replace("\n", ""))
    return done.stderr


def archive_of(target, *entries):
    with tarfile.open(target, "w:gz") as archive:
        for entry, data in entries:
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return target


@pytest.mark.parametrize("name", ["/dev/zero", "../../etc/hostname", "wheels/../../x", "a\\b"])
def test_the_sums_name_plain_paths_alone(bundle, python, name):
    with (bundle / "SHA256SUMS").open("a") as sums:
        sums.write(f"{'0' * 64}  {name}\n")
    assert "which no bundle holds" in refused(install(bundle / "install.sh"))


@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_what_is_no_plain_file_is_not_opened(bundle, python, kind):
    wheel = bundle / "wheels" / WHEEL
    wheel.unlink()
    os.mkfifo(wheel) if kind == "pipe" else wheel.symlink_to(
        "/dev/zero" if kind == "device" else "/etc/hostname"
    )
    assert "no plain file" in refused(install(bundle / "install.sh", timeout=60))


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_a_text_without_end_is_cut(bundle, python, tmp_path, packed):
    with (bundle / "SHA256SUMS").open("ab") as sums:
        sums.truncate(3 << 30)  # of zeros
    source = bundle
    if packed:
        os.truncate(bundle / "SHA256SUMS", 5 << 20)
        source = pack(bundle, tmp_path / "b.tar.gz")
    assert "too large" in refused(install(bundle / "install.sh", "--from", source))


@pytest.mark.parametrize("size", [MANY, 1 << 42], ids=["513 MiB", "4 TiB"])
def test_a_member_that_claims_to_be_large_is_not_read(bundle, python, tmp_path, size):
    entry = tarfile.TarInfo("x/wheels/a.whl")
    entry.size = size
    head = entry.tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(head + bytes(4096)))
    done = install(bundle / "install.sh", "--from", tmp_path / "b.tar.gz")
    assert "too large" in refused(done)


def test_a_header_that_claims_to_be_large_is_not_read(bundle, python, tmp_path):
    entry = tarfile.TarInfo("x/a")
    entry.type, entry.size = tarfile.XHDTYPE, 3 << 30
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(entry.tobuf() + bytes(4096)))
    done = install(bundle / "install.sh", "--from", tmp_path / "b.tar.gz")
    assert "too large" in refused(done)


@pytest.mark.parametrize("name", ["x/" + "d/" * 3000 + "f", "x/\x1b[2Jf", "x/" + "n" * 300])
def test_a_name_that_no_bundle_holds(bundle, python, tmp_path, name):
    archive = archive_of(tmp_path / "b.tar.gz", (tarfile.TarInfo(name), b"x"))
    done = install(bundle / "install.sh", "--from", archive)
    assert "which no bundle holds" in refused(done)


def test_a_name_that_comes_twice(bundle, python, tmp_path):
    twice = [(tarfile.TarInfo("x/wheels/a.whl"), data) for data in (b"good", b"evil")]
    archive = archive_of(tmp_path / "b.tar.gz", *twice)
    done = install(bundle / "install.sh", "--from", archive)
    assert "not a whole bundle" in refused(done)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[]", "{}", '{"files": []}', '{"files": {"a": 1}}', "\x1b[2J", '"\x1b'],
)
def test_a_release_that_does_not_say_what_it_should(bundle, python, text):
    files = json.loads((bundle / "release.json").read_text())["files"]
    (bundle / "release.json").write_text(text)
    write_sums(bundle, files)
    assert "not a whole bundle" in refused(install(bundle / "install.sh"))


@pytest.mark.parametrize("size", [float("inf"), -1, "9", None, 10**400])
def test_a_size_that_is_none(bundle, python, size):
    release = json.loads((bundle / "release.json").read_text())
    release["files"]["install.sh"]["size"] = size
    write_release(bundle, files=release["files"])
    assert "not what release.json says" in refused(install(bundle / "install.sh"))


@pytest.mark.parametrize("says", [{"pythons": ["3.11\x1b[2J"]}, {"pythons": 3}, {"wheel": "\x1b"}])
def test_what_it_says_steers_no_terminal(bundle, python, says):
    write_release(bundle, **says)
    refused(install(bundle / "install.sh"))


def test_the_release_must_name_what_the_sums_name(bundle, python):
    release = json.loads((bundle / "release.json").read_text())
    del release["files"]["tools/pip-1-py3-none-any.whl"]
    files = release["files"]
    write_release(bundle, files=files)
    assert "not what release.json says" in refused(install(bundle / "install.sh"))
