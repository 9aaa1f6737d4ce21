"""A short password of letters and digits goes right behind its word, and nothing else does."""

import time

import pytest

from agentlas_memory.redact import redact


@pytest.mark.parametrize("value", ["hunter22", "s3cret1", "winter19", "Abc123"])
@pytest.mark.parametrize(
    "sentence",
    [
        "the password is {}",
        "The admin password is {}, ask Ada.",
        "root password: {}",
        "- **Password:** {} (old)",
        "pw = {}",
        "PW: {}.",
        "pwd: {}",
        "db_passwd: {}\n",
        "passphrase={}\n",
        "Das Passwort ist {}!",
        "Kennwort lautet {}",
        "La contraseña es {}",
        "Пароль: {}",
    ],
)
def test_a_password_right_behind_its_word_goes(sentence, value):
    assert redact(sentence.format(value)) == sentence.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "the password is required",
        "The password is sha256 hashed",
        "the password is version2 of it",
        "password: rfc2289",
        "password: user12",
        "password: v20241",
        "the password is 8characters long",
        "password: 2024-01-31",
        "password is ABC-1234",
        "password: ERR404",
        "password: password123",
        "password is changeme1",
        "password = unicode2bytes(raw)",
        "password = base64.b64decode(raw)",
        "self.password = hex4u if secure else raw",
        "connect(password=user1x, host=h)",
        "password = user3_pwd",
        "password: fType2",
        "the password is in store12x.py",
        "/etc/passwd: root77",
        "passwd deploy12",
        "compass: north12",
        "the password of release24 is kept",
    ],
)
def test_what_is_no_password_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    ["password: " * 100_000, "pw:a1" * 200_000, "password=" + "a1" * 500_000, "pw" * 500_000],
)
def test_a_text_full_of_them_takes_no_time(text):
    begin = time.process_time()
    redact(text)
    assert time.process_time() - begin < 2
