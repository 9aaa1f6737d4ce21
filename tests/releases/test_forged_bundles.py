"""install.sh and a bundle by somebody else: none of its code runs, none of it is believed."""

import os
import sys

import pytest
from release_bundles import new_key, public_text, sign
from releases.small_bundle import called, install, pack, write_program, write_release

BY_PIN = "does not hold under the key that this machine has pinned"


@pytest.fixture(scope="module")
def key():
    return new_key()


@pytest.fixture
def pin(home, key):
    """A key that is pinned, and a version that is here."""
    programs = home / ".agentlas/runtime/current/bin"
    programs.mkdir(parents=True)
    write_program(programs, "python3", f'exec "{sys.executable}" "$@"')
    (home / ".agentlas/release-key.pub").write_bytes(public_text(key))
    return home / ".agentlas/release-key.pub"


def forge(bundle):
    """Put code into a file and write digests that agree with it."""
    (bundle / "requirements.txt").write_text("evil\n")
    write_release(bundle)


def refused(done):
    assert done.returncode == 3, done.stderr
    assert done.stdout == "" and "Installing" not in done.stderr  # its routine prints how it ran
    return done.stderr


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["install", "dry run"])
@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_a_forged_bundle_never_runs(bundle, python, pin, key, tmp_path, options, packed):
    sign(bundle, key)
    forge(bundle)
    source = pack(bundle, tmp_path / "b.tar.gz") if packed else bundle
    told = refused(install(bundle / "install.sh", "--from", source, *options))
    assert BY_PIN in told and f"replace {pin} by hand" in told


def test_one_by_the_pinned_key_runs(bundle, python, pin, key):
    sign(bundle, key)
    called(install(bundle / "install.sh"))


def test_a_key_in_the_bundle_speaks_for_nothing(bundle, python, pin):
    sign(bundle, new_key())
    assert BY_PIN in refused(install(bundle / "install.sh"))


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"AAAA"], ids=["none", "no text", "short"])
def test_a_signature_that_is_none(bundle, python, pin, text):
    (bundle / "release.json.sig").write_bytes(text)
    assert BY_PIN in refused(install(bundle / "install.sh"))


def test_an_unsigned_bundle_is_refused_where_a_key_is_pinned(bundle, python, pin):
    assert "is not signed" in refused(install(bundle / "install.sh", "--dry-run"))
    (pin.parent / "runtime/current/bin/python3").unlink()
    assert str(pin) in refused(install(bundle / "install.sh"))


def test_a_pin_that_is_none_stops_everything(bundle, python, pin, key):
    sign(bundle, key)
    pin.write_text("no key\n")
    done = install(bundle / "install.sh")
    assert done.returncode == 1 and done.stdout == ""


def test_words_of_the_loader_hide_no_refusal(bundle, python, pin):
    sign(bundle, new_key())
    here = pin.parent / "runtime/current/bin"
    write_program(
        here, "python3", f'echo "ld.so: no such library" >&2; exec "{sys.executable}" "$@"'
    )
    assert BY_PIN in refused(install(bundle / "install.sh"))


def test_a_version_that_cannot_check_leaves_the_way_to_repair_it(bundle, python, pin, key):
    sign(bundle, key)
    (pin.parent / "runtime/current/bin/python3").unlink()
    done = install(bundle / "install.sh")
    assert called(done) and "by its own code" in done.stderr


def test_what_is_run_is_what_was_checked(bundle, python):
    answer = called(install(bundle / "install.sh"))
    assert not os.path.exists(answer["arguments"][0])
    assert os.path.realpath(answer["arguments"][0]) != os.path.realpath(bundle)
