"""A release is read before its signature is known to hold: whatever it says is told, not obeyed."""

import gzip
import json
import tarfile

import pytest

from agentlas_memory.installer.runtimes.bootstrap import _say
from agentlas_memory.installer.runtimes.release import read_release
from agentlas_memory.installer.runtimes.source import ArchiveSource
from agentlas_memory.installer.runtimes.trouble import UpdateRefused

FILES = ("wheels/a.whl", "requirements.txt", "tools/pip-1.whl")


def release(size=1, **says):
    values = {
        "format": 1,
        "name": "agentlas-memory",
        "version": "0.1.0",
        "commit": "0" * 40,
        "requires_python": ">=3.10",
        "pythons": ["3.11"],
        "platform": "linux-x86_64",
        "wheel": "a.whl",
        "files": {name: {"sha256": "0" * 64, "size": size} for name in FILES},
        "model": {},
        "payloads": {},
    }
    return json.dumps(values | says).encode()


def test_a_plain_release_is_read():
    assert read_release(release()).platform == "linux-x86_64"


@pytest.mark.parametrize("size", [float("inf"), float("nan"), -1, 1.5, "1", True, None, 1 << 40])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(UpdateRefused, match="a size that is none"):
        read_release(release(size))


@pytest.mark.parametrize("name", ["commit", "requires_python", "platform"])
@pytest.mark.parametrize("value", ["\x1b[2J", "a" * 101, "\u202ekcab", 5])
def test_words_that_would_steer_a_terminal_are_refused(name, value):
    with pytest.raises(UpdateRefused, match="cannot be shown") as refusal:
        read_release(release(**{name: value}))
    assert refusal.value.what.isprintable()


def test_what_is_nested_too_deep_is_refused():
    with pytest.raises(UpdateRefused, match="RecursionError"):
        read_release(b"[" * 100_000)


def test_a_sentence_steers_no_terminal(capsys):
    _say("größer: \x1b]0;evil\x07\r\nnext")
    assert capsys.readouterr().err == "größer: ?]0;evil??\nnext\n"


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.REGTYPE])
def test_what_an_archive_claims_to_be_large_is_not_read(tmp_path, kind):
    entry = tarfile.TarInfo("x/release.json")
    entry.type, entry.size = kind, 3 << 30
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(entry.tobuf(tarfile.GNU_FORMAT) + bytes(512)))
    with pytest.raises(UpdateRefused, match="too large"):
        ArchiveSource(tmp_path / "b.tar.gz")
