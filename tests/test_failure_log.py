"""The hook's log of what it swallowed."""

import re

import pytest

from agentlas_memory.failure_log import LARGEST, log_failure
from agentlas_memory.ontology.store import StoreUnusable

SECRET = "zanzibar"


def raised(error, cause=None):
    try:
        raise error from cause
    except BaseException as caught:
        return caught


@pytest.fixture
def log(tmp_path):
    """Log an error and return the file's lines."""

    def write(error, host="claude"):
        log_failure(str(tmp_path), host, error)
        return (tmp_path / "state/hook.log").read_text().splitlines()

    return write


def test_a_line_says_when_who_what_and_where(log):
    (line,) = log(raised(ValueError(SECRET)))
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ claude ValueError at test_failure_log\.py:\d+", line
    )


def test_an_error_that_was_never_raised_has_a_place_and_its_words(log):
    (line,) = log(ValueError("--host takes one of: claude, raw"))
    assert re.search(
        r" ValueError at test_failure_log\.py:\d+: --host takes one of: claude, raw$", line
    )


OTHERS = [
    KeyError(SECRET),
    ValueError(f"invalid literal: {SECRET}"),
    RuntimeError(SECRET),
    OSError(2, "No such file", f"/home/{SECRET}/x"),
    UnicodeEncodeError("utf-8", SECRET, 0, 1, SECRET),
]


@pytest.mark.parametrize("error", OTHERS, ids=lambda error: type(error).__name__)
def test_what_was_asked_or_found_is_never_in_it(log, error):
    assert SECRET not in "".join(log(raised(error)))


def test_the_reason_of_an_unusable_store_is_in_it(log):
    assert log(raised(StoreUnusable("not a SQLite file")))[0].endswith(": not a SQLite file")


def test_the_path_of_an_unusable_store_is_not_in_it(log):
    error = StoreUnusable(f"cannot be opened: /home/{SECRET}")
    (line,) = log(raised(error, OSError(13, "Permission denied", SECRET)))
    assert line.endswith(": Permission denied")


def test_a_message_cannot_begin_a_line_or_reach_the_terminal(log):
    (line,) = log(raised(StoreUnusable("a\nb\x1b[31m\r\u2028c" + "x" * 5000)), "host\nname")
    assert line.isprintable()
    assert len(line) <= 400


def test_lines_are_added(log):
    log(raised(ValueError()))
    assert len(log(raised(KeyError()))) == 2


def test_it_is_bounded(log, tmp_path):
    error = raised(StoreUnusable("x" * 500))
    for _ in range(3 * LARGEST // 400):
        log_failure(str(tmp_path), "claude", error)
    files = {path.name: path.stat().st_size for path in (tmp_path / "state").iterdir()}
    assert set(files) == {"hook.log", "hook.log.1"}
    assert max(files.values()) < LARGEST + 401


def test_without_a_home_there_is_no_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log_failure("", "claude", raised(ValueError()))
    assert not list(tmp_path.iterdir())


def test_a_log_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "state").write_text("")
    log_failure(str(tmp_path), "claude", raised(ValueError()))
