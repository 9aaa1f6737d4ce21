"""A channel that is none, or that never ends: a sentence, in time, and no lock held."""

import contextlib
import json
import os
import socket
import threading
import time

import pytest

from agentlas_memory.installer.runtimes import channel as room
from agentlas_memory.installer.runtimes.channel import Channel
from agentlas_memory.installer.runtimes.release import File, Release
from agentlas_memory.installer.runtimes.trouble import UpdateFailed

HEADERS = b"HTTP/1.0 200 OK\r\nContent-Length: 1000000\r\n\r\n"


@pytest.fixture
def check(home, am):
    """Ask a channel; return the exit code and what was said."""

    def ask(location):
        (home / ".agentlas").mkdir(exist_ok=True)
        text = json.dumps({"update.channel": str(location)})
        (home / ".agentlas/settings.json").write_text(text)
        outcome = am("update", "--check", "--json")
        return outcome.code, outcome.json["error"]

    return ask


@pytest.fixture
def serve():
    """Answer every connection with some bytes, and a blank each 20 ms from then on."""
    stop, threads = threading.Event(), []

    def run(start, drip=b" "):
        listener = socket.create_server(("127.0.0.1", 0))

        def answer():
            with listener:
                listener.settimeout(5)
                asked, _ = listener.accept()
                with asked:
                    asked.recv(65536)
                    asked.sendall(start)
                    while drip and not stop.wait(0.02):
                        asked.sendall(drip)

        def quietly():
            with contextlib.suppress(OSError):  # whoever asked has gone
                answer()

        threads.append(threading.Thread(target=quietly))
        threads[-1].start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield run
    stop.set()
    for thread in threads:
        thread.join()


ADDRESSES = ["~no-such-user-here/x", "http://[::1", "https://[", "http://127.0.0.1:9/\u00e9"]


@pytest.mark.parametrize("location", ADDRESSES)
def test_what_is_no_address_is_a_sentence(check, location):
    code, told = check(location)
    assert code == 3 and location in told


def test_a_redirection_to_no_address_is_a_sentence(check, serve):
    moved = b"HTTP/1.0 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n"
    code, told = check(serve(moved, b""))
    assert code == 3 and "is not asked" in told


@pytest.mark.skipif(os.name == "nt", reason="no FIFOs")
def test_a_fifo_in_a_channel_s_folder_holds_nobody(check, tmp_path):
    os.mkfifo(tmp_path / "release.json")
    code, told = check(tmp_path)
    assert code == 3 and told == f"{tmp_path / 'release.json'} is not a regular file."


@pytest.mark.parametrize("start", [HEADERS, b"HTTP/1.0 200 OK\r\nX: "], ids=["body", "headers"])
def test_a_text_that_drips_has_an_end(check, serve, monkeypatch, start):
    monkeypatch.setattr(room, "_WHOLE", 1.0)
    begun = time.monotonic()
    code, told = check(serve(start))
    assert code == 1 and told.endswith("release.json did not come within 1 seconds.")
    assert time.monotonic() - begun < 10


def release():
    files = {"x": File("0" * 64, 1_000_000)}
    return Release("0.2.0", "", "", (), "", "", files, {}, {}, "")


@pytest.mark.parametrize("start", [HEADERS, b"HTTP/1.0 200 OK\r\nX: "], ids=["body", "headers"])
def test_a_bundle_that_drips_has_an_end(serve, monkeypatch, tmp_path, start):
    monkeypatch.setattr(room, "_WHOLE", 0.5)
    begun = time.monotonic()
    with pytest.raises(UpdateFailed, match=r"tar\.gz comes with less than 10 KiB a second"):
        Channel(serve(start)).fetch(release(), tmp_path)
    assert time.monotonic() - begun < 10


def test_a_bundle_that_keeps_the_pace_is_fetched(serve, monkeypatch, tmp_path):
    monkeypatch.setattr(room, "_WHOLE", 0.1)
    with pytest.raises(UpdateFailed, match="no whole archive"):  # it came, and holds only blanks
        Channel(serve(HEADERS, b" " * 20_000)).fetch(release(), tmp_path)
    assert (tmp_path / "agentlas-memory-0.2.0.tar.gz").stat().st_size == 1_000_000
