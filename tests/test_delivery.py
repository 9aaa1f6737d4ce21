"""What a session has been given."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentlas_memory.deadline import DeadlineReached
from agentlas_memory.delivery import Delivery, forget_old_sessions, remove_leftovers


@pytest.fixture
def delivery(tmp_path):
    return Delivery(str(tmp_path), "claude", "session")


def age_reset(tmp_path, seconds):
    (marker,) = tmp_path.rglob("reset")
    os.utime(marker, (time.time() - seconds,) * 2)


def test_a_digest_is_new_once(delivery):
    assert [delivery.first_time("d1"), delivery.first_time("d1"), delivery.first_time("d2")] == [
        True,
        False,
        True,
    ]


def test_of_many_at_once_one_is_first(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: Delivery(str(tmp_path), "claude", "s").first_time("d"), range(64))
        )
    assert sum(answers) == 1


def test_what_is_forgotten_is_new_again(delivery):
    delivery.first_time("d")
    assert delivery.forget()
    assert delivery.first_time("d")


def test_a_repeat_within_five_seconds_forgets_nothing(delivery, tmp_path):
    assert delivery.forget()
    delivery.first_time("d")
    age_reset(tmp_path, 4)
    assert not delivery.forget()
    assert not delivery.first_time("d")


def test_a_later_one_forgets(delivery, tmp_path):
    delivery.forget()
    delivery.first_time("d")
    age_reset(tmp_path, 6)
    assert delivery.forget()
    assert delivery.first_time("d")


def test_sessions_and_hosts_are_apart(tmp_path):
    pairs = [("claude", "a"), ("claude", "b"), ("codex", "a")]
    assert all(Delivery(str(tmp_path), *pair).first_time("d") for pair in pairs)


@pytest.mark.parametrize(("home", "session"), [("", "s"), ("HOME", "")])
def test_without_a_home_or_a_session_all_is_new_and_nothing_is_kept(tmp_path, home, session):
    delivery = Delivery(home.replace("HOME", str(tmp_path)), "claude", session)
    assert delivery.first_time("d")
    assert delivery.first_time("d")
    assert delivery.forget()
    assert not list(tmp_path.iterdir())


def test_sessions_of_last_month_are_forgotten(tmp_path):
    for session in ("old", "new"):
        Delivery(str(tmp_path), "claude", session).first_time("d")
    folders = sorted((tmp_path / "state/delivery").iterdir())
    os.utime(folders[0], (0, 0))
    forget_old_sessions(str(tmp_path))
    assert list((tmp_path / "state/delivery").iterdir()) == folders[1:]


def test_where_nothing_can_be_kept_all_is_new(tmp_path):
    (tmp_path / "state").write_text("")
    delivery = Delivery(str(tmp_path), "claude", "s")
    assert delivery.first_time("d")
    assert delivery.first_time("d")
    assert delivery.forget()


def test_the_deadline_is_no_reason_to_say_nothing(delivery, monkeypatch):
    def ring(path):
        raise DeadlineReached

    monkeypatch.setattr("agentlas_memory.delivery.make_private_folder", ring)
    assert delivery.first_time("d")


def test_an_entry_is_an_empty_file_of_the_user(delivery, tmp_path):
    delivery.first_time("d" * 20)
    (file,) = tmp_path.rglob("d" * 20)
    assert file.stat().st_size == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_receipts_that_killed_hooks_left_half_written_are_removed(tmp_path):
    last = tmp_path / "state/last"
    last.mkdir(parents=True)
    for name, age in {"a.json": 900, "a.json.17": 900, "a.json.18": 0}.items():
        (last / name).touch()
        os.utime(last / name, (time.time() - age, time.time() - age))
    remove_leftovers(str(tmp_path))
    assert sorted(path.name for path in last.iterdir()) == ["a.json", "a.json.18"]
