"""What install.sh runs: on a bare Python, out of the bundle's own wheel."""

import json
import os

import pytest
from release_bundles import (
    bootstrap,
    make_bundle,
    new_key,
    pack,
    public_text,
    sign,
    write_release,
)

from agentlas_memory.installer.runtimes.bootstrap import tell_host

OLD = "0.1.0"


@pytest.fixture
def environment(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def bundle(tmp_path):
    """Make a bundle in which nothing is to be installed."""
    tool = tmp_path / "pip-1.0-py3-none-any.whl"
    tool.write_bytes(b"never run")

    def make(version=OLD, key=None, **says):
        return make_bundle(tmp_path / "made", version, key, dependencies=[tool], **says)

    return make


def refused(done):
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    document = json.loads(done.stdout)
    assert set(document) == {"error", "kept", "next"}
    return document["error"]


def test_a_dry_run_says_what_would_be_done_and_does_nothing(bundle, home, environment):
    (home / ".grok").mkdir()
    done = bootstrap(bundle(), "--dry-run", "--json", environment=environment)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["path"] == str(home / ".agentlas/runtime/0.1.0")
    assert document["hosts"] == ["grok"]
    assert [path.name for path in home.iterdir()] == [".grok"]


def test_a_dry_run_without_hosts_does_not_say_that_none_was_found(bundle, environment):
    done = bootstrap(bundle(), "--dry-run", "--no-hosts", environment=environment)
    assert "leave the assistants alone" in done.stderr and "no host" not in done.stderr


def test_it_needs_the_standard_library_alone(bundle, environment):
    done = bootstrap(bundle(), "--dry-run", flags=("-I", "-S"), environment=environment)
    assert done.returncode == 0, done.stderr


def test_an_altered_file_is_found_without_installing(bundle, environment):
    made = bundle()
    (made / "requirements.txt").write_text("# what pip insta11s\n")
    told = refused(bootstrap(made, "--dry-run", "--json", environment=environment))
    assert "requirements.txt is not the file" in told


def test_an_unsigned_bundle_is_for_those_without_a_pin_or_with_their_own_code(
    bundle, pin, environment
):
    made = bundle()
    assert "not signed" in refused(bootstrap(made, "--json", environment=environment))
    done = bootstrap(made, "--dry-run", "--checkout", environment=environment)
    assert done.returncode == 0, done.stderr
    pin.unlink()
    assert bootstrap(made, "--dry-run", environment=environment).returncode == 0


def test_an_older_version_is_refused(bundle, home, environment):
    folder = home / ".agentlas/runtime"
    (folder / OLD).mkdir(parents=True)
    (folder / OLD / "runtime.json").write_text(json.dumps({"version": OLD}))
    (folder / "current").symlink_to(OLD)
    told = refused(bootstrap(bundle("0.0.9"), "--json", environment=environment))
    assert "older than the current version" in told
    assert bootstrap(bundle(OLD), "--dry-run", environment=environment).returncode == 0


def test_a_signed_bundle_without_its_key_pins_nothing(bundle, key, environment):
    made = bundle(key=key)
    (made / "release-key.pub").write_text("no key")
    done = bootstrap(made, "--json", environment=environment)
    assert done.returncode == 1 and "holds no Ed25519 public key" in done.stderr


def test_what_cannot_be_written_is_told(bundle, home, environment):
    (home / ".agentlas").write_text("a file")
    done = bootstrap(bundle(), environment=environment)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "Error: " in done.stderr


def test_what_install_says_of_a_host_is_told_too(capsys):
    change = {"path": "plugins/agentlas-memory.js", "action": "create", "reason": ""}
    host = {"host": "opencode", "detected": True, "changes": [change], "notes": ["slow once"]}
    tell_host(host)
    assert capsys.readouterr().err == "  opencode: 1 change\n  opencode: note: slow once\n"
    left = change | {"action": "refused", "reason": "not strict"}
    tell_host(host | {"changes": [left]})
    told = capsys.readouterr().err
    assert "no changes" in told and "not strict" in told and "slow" not in told
    tell_host(host | {"changes": [], "trust": "untrusted", "notes": ["trust it"]})
    assert "trust it" in capsys.readouterr().err


@pytest.mark.slow
def test_a_signature_by_another_key_is_refused_before_the_switch(
    machine, tmp_path, key, light_wheels
):
    made = make_bundle(tmp_path, "0.2.0", key, dependencies=light_wheels)
    sign(made, new_key())  # with that key beside it
    done = bootstrap(made, "--json", environment=machine.environment)
    assert "does not hold under the key" in refused(done)
    assert "check the version" not in done.stderr, "the version that is here tells it at once"
    assert machine.versions == {OLD} and machine.current == OLD and machine.answers()
    pin = machine.data / "release-key.pub"
    assert pin.read_bytes() == public_text(key)
    pin.unlink()
    (made / "release-key.pub").write_bytes(public_text(key))
    done = bootstrap(made, "--json", environment=machine.environment)
    assert "does not hold" in refused(done)
    assert not pin.exists() and machine.current == OLD


@pytest.mark.slow
def test_wheels_that_are_not_carried_come_from_the_index_by_signed_digests(
    machine, tmp_path, key, light_wheels
):
    made = make_bundle(tmp_path, "0.2.0", key, dependencies=light_wheels, pythons=[])
    index = tmp_path / "index"
    index.mkdir()
    for wheel in made.glob("wheels/*.whl"):
        if not wheel.name.startswith("agentlas"):
            wheel.rename(index / wheel.name)
    [own] = made.glob("wheels/*.whl")
    write_release(made, "0.2.0", own, key, pythons=[])
    settings = {"PIP_FIND_LINKS": str(index), "PIP_NO_INDEX": "1"}
    click = next(index.glob("click-*"))
    good = click.read_bytes()
    click.write_bytes(good + b"!")
    done = bootstrap(made, environment=machine.environment | settings)
    assert done.returncode == 1 and machine.current == OLD, done.stderr
    assert "Expected sha256" in done.stderr and machine.versions == {OLD}
    click.write_bytes(good)
    done = bootstrap(made, environment=machine.environment | settings)
    assert done.returncode == 0, done.stderr
    assert machine.current == "0.2.0" and machine.answers()
    assert machine.am("update", "--from", pack(made)).returncode == 0
