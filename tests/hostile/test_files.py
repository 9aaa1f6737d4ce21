"""Something else in the place of each file that the hook opens."""

import os
import shutil
import socket

import pytest

FACT = "integer minor units"
PROJECT = (
    ".agentlas/ontology-runtime.sqlite",
    ".agentlas/ontology-runtime.sqlite-journal",
    ".agentlas/routing-card.json",
    ".agentlas/memory.toml",
    ".agentlas",
    ".git",
    "docs/ledger.md",
    "docs",
)
HOME = (
    "settings.json",
    "trusted.json",
    "state",
    "state/hook.log",
    "state/last",
    "state/delivery",
    "networking",
)


def folder(path):
    path.mkdir()


def nothing(path):
    pass


def empty(path):
    path.write_bytes(b"")


def noise(path):
    path.write_bytes(b"\xff\x00\xa5[{" * 1000)


def fifo(path):
    os.mkfifo(path)


def local_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # a socket's path is short


def device(path):
    if os.getuid():
        pytest.skip("only root makes devices")
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero: endless


def link_to_a_device(path):
    path.symlink_to("/dev/zero")


def link_to_itself(path):
    path.symlink_to(path.name)


def link_to_nothing(path):
    path.symlink_to("nowhere")


def link_to_a_fifo(path):
    os.mkfifo(path.with_name("fifo"))
    path.symlink_to("fifo")


def sparse(path):
    with path.open("wb") as file:
        file.truncate(10 << 30)


def deep(path):
    path.write_text("[" * 100_000)


def deep_and_closed(path):
    path.write_text('{"a":' * 50_000 + "1" + "}" * 50_000)


def deep_objects(path):
    path.write_text('{"projects":' + "[" * 400_000 + "]" * 400_000 + "}")


def large(path):
    path.write_text('{"a": "' + "x" * 100_000_000 + '"}')


def many(path):
    path.write_text('{"projects": [' + '{"path": "/", "store_id": ""},' * 34_000 + "{}]}")


THINGS = (
    *(nothing, empty, noise, folder, fifo, local_socket, device, sparse, large, many),
    *(link_to_a_device, link_to_itself, link_to_nothing, link_to_a_fifo),
    *(deep, deep_and_closed, deep_objects),
)


def put(path, make, monkeypatch):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    monkeypatch.chdir(path.parent)
    make(path)


@pytest.mark.slow
@pytest.mark.parametrize("make", THINGS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", PROJECT)
def test_another_thing_in_the_project_does_no_harm(scene, survive, monkeypatch, name, make):
    put(scene.project / name, make, monkeypatch)
    survive()


@pytest.mark.slow
@pytest.mark.parametrize("make", THINGS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", HOME)
def test_another_thing_in_the_home_does_no_harm(scene, survive, monkeypatch, name, make):
    put(scene.data / name, make, monkeypatch)
    said = survive(host="claude")
    # Settings that cannot be read may say `off`; without settings nothing is off.
    readable = make in (nothing, many, link_to_nothing)
    silent = name == "trusted.json" or (name == "settings.json" and not readable)
    assert (FACT in said[0]) != silent


@pytest.mark.parametrize("make", THINGS, ids=lambda make: make.__name__)
def test_another_thing_for_the_vectors_costs_the_cosines_only(scene, survive, monkeypatch, make):
    put(scene.sidecar, make, monkeypatch)
    said = survive()[0]
    assert FACT in said
    assert "retrieval=degraded_lexical;" in said


VECTORS = (
    "../../../../../../dev/zero",
    "/dev/zero",
    "ontology-runtime.vec-/../../../../etc/passwd",
    "ontology-runtime.vec-\0",
    "ontology-runtime.sqlite",
    "ontology-runtime.vec-" + "9" * 5000,
    "",
)


@pytest.mark.parametrize("name", VECTORS, ids=range(len(VECTORS)))
def test_a_store_names_no_other_file_as_its_vectors(scene, survive, execute, name):
    quoted = f"CAST(x'{name.encode().hex()}' AS TEXT)"
    execute(f"UPDATE meta SET value = {quoted} WHERE key = 'sidecar'")
    said = survive()[0]
    assert FACT in said
    assert "retrieval=degraded_lexical;" in said


def header(file, count, dimensions, *ranges):
    """Write another number of vectors into a sidecar's head, and make it as long as it says."""
    head = bytearray(file.read_bytes()[:128])
    numbers = (count, dimensions)
    head[24:32] = b"".join(number.to_bytes(4, "little") for number in numbers)
    head[64:88] = b"".join(number.to_bytes(4, "little") for number in ranges).ljust(24, b"\0")
    size = (128 + 4 * count + 63) // 64 * 64 + count * dimensions
    with file.open("r+b") as opened:
        opened.write(head)
        opened.truncate(size)


SIZES = {
    "40 million vectors": (40_000_000, 256, 0, 0, 0, 40_000_000),
    "of one byte": (60_000_000, 1, 0, 0, 0, 60_000_000),
    "of no byte": (16_000_000, 0, 0, 0, 0, 16_000_000),
    "of 128 bytes": (20, 128, 0, 0, 0, 20),
    "of 512 bytes": (20, 512, 0, 0, 0, 20),
    "none": (0, 256, 0, 0, 0, 0),
    "without order": (230_000, 256, 0, 230_000, 0, 230_000, 0, 230_000),
    "a scope beyond": (20, 256, 0, 0, 10, 20),
    "a scope that wraps around": (20, 256, 0, 0, 4_294_967_290, 20),
}


@pytest.mark.parametrize("numbers", SIZES.values(), ids=SIZES)
def test_a_sidecar_that_lies_about_its_size_does_no_harm(scene, survive, numbers):
    header(scene.sidecar, *numbers)
    survive()


@pytest.mark.parametrize("name", ["store", "sidecar"])
def test_files_of_another_user_do_no_harm(scene, survive, name):
    if os.getuid():
        pytest.skip("only root gives files away")
    os.chown(getattr(scene, name), 12345, 12345)
    assert (FACT in survive()[0]) == (name == "sidecar")


@pytest.mark.parametrize("mode", [0o666, 0o602, 0o777])
def test_a_store_that_everyone_may_write_is_silent(scene, survive, mode):
    scene.store.chmod(mode)
    assert survive() == ["", ""]
