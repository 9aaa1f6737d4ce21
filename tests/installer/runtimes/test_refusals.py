"""What is not taken, and that nothing of it has run or is left behind."""

import http.server
import json
import shutil
import tarfile
import threading

import pytest
from release_bundles import (
    make_bundle,
    new_key,
    pack,
    public_text,
    sign,
    write_release,
)

OLD, NEW = "0.1.0", "0.2.0"


@pytest.fixture
def tool(tmp_path):
    """What stands for pip's wheel: nothing here comes so far that it would be run."""
    path = tmp_path / "pip-1.0-py3-none-any.whl"
    path.write_bytes(b"never run")
    return path


@pytest.fixture
def bundle(tmp_path, tool, key):
    """Make a bundle of a version, signed; nothing in it is to be installed."""

    def make(version=NEW, key=key, **says):
        return make_bundle(tmp_path / "made", version, key, dependencies=[tool], **says)

    return make


@pytest.fixture
def refused(runtime_folder, am, hosts, snapshot):
    """Try to update, and see that nothing became of it; return what was said."""

    def run(location, code=3):
        before = snapshot()
        outcome = am("update", "--from", str(location), "--json")
        assert outcome.code == code, outcome.err
        assert set(outcome.json) == {"error", "kept", "next"}
        assert (runtime_folder / "current").readlink().name == OLD
        assert {path.name for path in runtime_folder.iterdir()} <= {OLD, "current", "update.lock"}
        assert snapshot() == before
        return outcome.json["error"]

    return run


def spoil(path):
    """Change one byte of a file and nothing else about it."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()
    path.write_bytes(data)


PAYLOADS = ["wheels/agentlas_memory-*.whl", "tools/pip-*.whl", "requirements.txt", "install.sh"]


@pytest.mark.parametrize("archived", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize("pattern", PAYLOADS)
def test_an_altered_file(pin, bundle, refused, pattern, archived):
    made = bundle()
    [path] = made.glob(pattern)
    spoil(path)
    told = refused(pack(made) if archived else made)
    assert f"{path.relative_to(made)} is not the file that the release names" in told


@pytest.mark.parametrize("pattern", PAYLOADS)
def test_a_missing_file(pin, bundle, refused, pattern):
    made = bundle()
    [path] = made.glob(pattern)
    path.unlink()
    assert f"lacks {path.relative_to(made)}" in refused(made)


def test_a_file_that_grew_and_one_that_is_a_link(pin, bundle, refused, tmp_path):
    made = bundle()
    with (made / "install.sh").open("a") as file:
        file.write("# more\n")
    assert "install.sh is not the file" in refused(made)
    (made / "install.sh").unlink()
    (made / "install.sh").symlink_to("/bin/sh")
    assert "lacks install.sh" in refused(made)


def test_an_altered_release(pin, bundle, refused):
    made = bundle()
    text = (made / "release.json").read_text()
    (made / "release.json").write_text(text.replace('"time": "2026', '"time": "2025'))
    assert "does not hold under the key" in refused(made)


def test_a_release_by_another_key_even_with_that_key_beside_it(pin, bundle, refused):
    assert "does not hold under the key" in refused(bundle(key=new_key()))


@pytest.mark.parametrize("signature", [b"", b"not base64!", b"AAAA", b"\xff" * 90])
def test_a_signature_that_is_none(pin, bundle, refused, signature):
    made = bundle()
    (made / "release.json.sig").write_bytes(signature)
    assert "does not hold under the key" in refused(made)


def test_an_unsigned_bundle(pin, bundle, refused):
    assert "not signed" in refused(bundle(key=None))


def test_without_a_pinned_key_nothing_is_taken(bundle, refused, home):
    assert "no key to check a release by" in refused(bundle())
    assert not (home / ".agentlas/release-key.pub").exists()


def test_a_pin_that_is_none_is_named(pin, bundle, refused):
    pin.write_text("hello")
    assert str(pin) in refused(bundle(), code=1)


@pytest.mark.parametrize("version", ["0.0.9", "0.1.0.1", "0.2.0rc1", "v0.2.0", "0.02.0", "1.2", ""])
def test_an_older_version_and_what_is_none(pin, bundle, refused, version, key, tmp_path):
    made = bundle("0.0.9")
    [wheel] = made.glob("wheels/*.whl")
    write_release(made, version, wheel, key)
    told = refused(made)
    assert ("older than the current version" in told) == (version == "0.0.9")
    assert ("no version" in told) == (version != "0.0.9")


OTHER_MACHINES = {
    "another system": {"platform": "plan9-mips"},
    "another Python": {"pythons": ["2.7"]},
    "a newer Python": {"requires_python": ">=9.1"},
    "no wheels": {"pythons": []},
}


@pytest.mark.parametrize("says", OTHER_MACHINES.values(), ids=OTHER_MACHINES)
def test_a_bundle_for_another_machine_or_without_wheels(pin, bundle, refused, says):
    refused(bundle(**says))


BROKEN_RELEASES = {
    "another format": {"format": 2},
    "another program": {"name": "other"},
    "no digest": {"files": {"install.sh": {"sha256": "0", "size": 1}}},
    "no wheel": {"wheel": "other.whl"},
    "a path that leads out": {"model": {"../../x": "0" * 64}},
    "an absolute path": {"payloads": {"/etc/passwd": "0" * 64}},
    "no table": {"files": []},
    "a number for a digest": {"model": {"x": 5}},
}


@pytest.mark.parametrize("says", BROKEN_RELEASES.values(), ids=BROKEN_RELEASES)
def test_a_signed_release_that_does_not_say_what_it_should(pin, bundle, refused, says):
    refused(bundle(**says))


def test_an_archive_that_is_cut_short_or_none(pin, bundle, refused, tmp_path):
    archive = pack(bundle())
    data = archive.read_bytes()
    for part in (data[: len(data) // 2], data[:100], b"", b"hello"):
        archive.write_bytes(part)
        refused(archive)


def test_an_archive_that_writes_elsewhere(pin, bundle, refused, tmp_path):
    made = bundle()
    archive = tmp_path / "x.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        for path in sorted(made.rglob("*")):
            if path.is_file() and path.name != "install.sh":
                out.add(path, f"x/{path.relative_to(made)}")
        out.add(made / "install.sh", "x/../../../../install.sh")
        link = tarfile.TarInfo("x/install.sh")
        link.type, link.linkname = tarfile.SYMTYPE, "/bin/sh"
        out.addfile(link)
    assert "lacks install.sh" in refused(archive)


def test_a_bundle_that_is_not_there(pin, refused, tmp_path):
    assert "no bundle" in refused(tmp_path / "nothing", code=1)
    assert "no release.json" in refused(tmp_path, code=1)
    refused("https://example.invalid/x", code=2)


@pytest.fixture
def channel(home, tmp_path):
    """Set a channel in the user's settings."""

    def set_to(location):
        file = home / ".agentlas/settings.json"
        file.write_text(json.dumps({"update.channel": str(location)}))

    return set_to


def publish(bundle, folder):
    """Lay a bundle out as a channel does."""
    folder.mkdir(exist_ok=True)
    for name in ("release.json", "release.json.sig"):
        shutil.copy(bundle / name, folder)
    shutil.copy(pack(bundle), folder)
    return folder


def test_without_a_channel_update_says_how_to_name_one(runtime_folder, am, pin):
    outcome = am("update", "--json")
    assert outcome.code == 2
    assert "update.channel" in outcome.json["next"] and "--from" in outcome.json["next"]


def test_a_channel_tells_of_a_newer_version(runtime_folder, am, pin, bundle, channel, tmp_path):
    channel(publish(bundle(), tmp_path / "channel"))
    document = am("update", "--check", "--json").json
    assert document == {
        "version": OLD,
        "offered": NEW,
        "newer": True,
        "from": str(tmp_path / "channel"),
    }
    assert {path.name for path in runtime_folder.iterdir()} == {OLD, "current"}


def test_a_channel_of_the_same_version_has_nothing_new(
    runtime_folder, am, pin, bundle, channel, tmp_path
):
    (runtime_folder / "history.json").write_text(json.dumps({"entries": [], "settled": OLD}))
    channel(publish(bundle(OLD), tmp_path / "channel"))
    assert am("update", "--check", "--json").json["newer"] is False
    outcome = am("update", "--json")
    assert outcome.code == 0 and outcome.json["action"] == "unchanged"


def test_a_channel_whose_bundle_is_another_release(
    runtime_folder, am, pin, bundle, channel, tmp_path, key
):
    made = bundle()
    folder = publish(made, tmp_path / "channel")
    [wheel] = made.glob("wheels/*.whl")
    write_release(made, NEW, wheel, key, commit="1" * 40)
    shutil.copy(pack(made), folder)
    channel(folder)
    outcome = am("update", "--json")
    assert outcome.code == 3 and "not the one that the channel's release names" in outcome.err
    assert {path.name for path in runtime_folder.iterdir()} == {OLD, "current", "update.lock"}


@pytest.fixture
def server(tmp_path):
    """An http server on loopback; `redirects` leads its paths elsewhere."""
    redirects = {}

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *words):
            super().__init__(*words, directory=str(tmp_path / "channel"))

        def do_GET(self):
            target = redirects.get(self.path)
            if target is None:
                return super().do_GET()
            self.send_response(302)
            self.send_header("Location", target)
            return self.end_headers()

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.redirects = redirects
        running.address = f"http://127.0.0.1:{running.server_address[1]}"
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_an_address_is_asked(runtime_folder, am, pin, bundle, channel, tmp_path, server):
    publish(bundle(), tmp_path / "channel")
    channel(server.address)
    assert am("update", "--check", "--json").json["offered"] == NEW
    (tmp_path / "channel/release.json.sig").unlink()
    outcome = am("update", "--json")
    assert outcome.code == 3 and "not signed" in outcome.err


def test_a_redirection_to_an_open_address_is_not_followed(
    runtime_folder, am, pin, bundle, channel, tmp_path, server
):
    publish(bundle(), tmp_path / "channel")
    channel(server.address)
    server.redirects["/release.json"] = "http://example.invalid/release.json"
    outcome = am("update", "--check", "--json")
    assert outcome.code == 3 and "is not asked" in outcome.err


@pytest.mark.parametrize("address", ["http://example.invalid/x", "ftp://127.0.0.1/x", "file:///x"])
def test_an_address_that_anybody_could_answer_for(runtime_folder, am, pin, channel, address):
    channel(address)
    outcome = am("update", "--json")
    assert outcome.code == 3 and "is not asked" in outcome.err


def test_an_address_that_does_not_answer(runtime_folder, am, pin, channel):
    channel("http://127.0.0.1:9")
    outcome = am("update", "--json")
    assert outcome.code == 1 and "cannot be had" in outcome.err


def test_an_endless_answer_is_cut(runtime_folder, am, pin, bundle, channel, tmp_path, server):
    publish(bundle(), tmp_path / "channel")
    with (tmp_path / "channel/release.json").open("ab") as file:
        file.truncate(64 << 20)
    channel(server.address)
    outcome = am("update", "--json")
    assert outcome.code == 3 and "larger than" in outcome.err


def test_a_pin_is_never_replaced_by_an_installation(pin, key):
    from agentlas_memory.installer.runtimes.pin import write_pin

    write_pin(pin.parent, public_text(new_key()))
    assert pin.read_bytes() == public_text(key)
    assert [path.name for path in pin.parent.iterdir()] == [pin.name]


def test_the_pin_is_the_person_s_alone(home, key):
    from agentlas_memory.installer.runtimes.pin import write_pin

    (home / ".agentlas").mkdir()
    write_pin(home / ".agentlas", public_text(key))
    file = home / ".agentlas/release-key.pub"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes() == public_text(key)


def test_another_key_in_its_place_by_hand_is_followed(pin, bundle, runtime_folder, am):
    other = new_key()
    made = bundle()
    sign(made, other)
    assert am("update", "--check", "--from", str(made), "--json").code == 3
    pin.write_bytes(public_text(other))
    assert am("update", "--check", "--from", str(made), "--json").code == 0
