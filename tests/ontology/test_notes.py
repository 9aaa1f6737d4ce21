"""The inbox: notes written, read, changed by hand, broken, and removed."""

import os
from datetime import datetime, timezone

import pytest

from agentlas_memory.ontology.documents import INBOX
from agentlas_memory.ontology.notes import (
    NoteError,
    list_notes,
    parse_note,
    read_note,
    remove_note,
    write_note,
)

MOMENT = datetime(2025, 1, 5, 10, 11, 12, tzinfo=timezone.utc)


def by_hand(project, name, text):
    file = project / INBOX / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def test_a_note_is_a_file_that_reads_back(tmp_path):
    note = write_note(
        tmp_path,
        "We settle the ledger in minor units.",
        kind="decision",
        scope="public",
        tags=["money", "no"],
        supersedes=["0123456789"],
        created=MOMENT,
    )
    assert read_note(tmp_path, note.id) == note
    assert (note.kind, note.scope, note.tags) == ("decision", "public", ("money", "no"))
    assert (note.supersedes, note.created) == (("0123456789",), "2025-01-05T10:11:12Z")
    assert note.path == f"{INBOX}/2025-01-05-we-settle-the-ledger-in-minor-{note.id}.md"


@pytest.mark.parametrize(
    "text",
    [
        "one",
        "\n  one\n\ntwo\n",
        "---\na: 1\n---\n",
        "日本語",
        "# h\n\n```\nx\n```",
        "a\x0cb\u2028c",
    ],
)
def test_the_text_is_kept_as_given(tmp_path, text):
    note = write_note(tmp_path, text)
    assert read_note(tmp_path, note.id).text == text


def test_many_notes_of_one_moment_have_their_own_ids(tmp_path):
    ids = {write_note(tmp_path, "same", created=MOMENT).id for _ in range(50)}
    assert len(ids) == len(list_notes(tmp_path).notes) == 50


@pytest.mark.parametrize(
    "secret", ["hunter2hunter2", "sk_live_abcdefgh", "AKIAIOSFODNN7EXAMPLE", "ghp-abc-def"]
)
def test_a_secret_does_not_reach_the_file_name(tmp_path, secret):
    note = write_note(tmp_path, f"the password is {secret} today", created=MOMENT)
    assert note.path.startswith(f"{INBOX}/2025-01-05-the-password-is-today-")


def test_a_text_without_letters_is_named_after_its_kind(tmp_path):
    note = write_note(tmp_path, "端口 49222", kind="constraint", created=MOMENT)
    assert note.path == f"{INBOX}/2025-01-05-constraint-{note.id}.md"


def test_the_mode_is_the_umasks_and_nothing_else_is_left(tmp_path):
    before = os.umask(0o022)
    try:
        note = write_note(tmp_path, "text")
    finally:
        os.umask(before)
    assert (tmp_path / note.path).stat().st_mode & 0o777 == 0o644
    assert len(list((tmp_path / INBOX).iterdir())) == 1


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        pytest.param(" \n", {}, "empty", id="empty"),
        pytest.param("a\0b", {}, "NUL", id="nul"),
        pytest.param("\ud800", {}, "Unicode", id="surrogate"),
        pytest.param("x" * 2**21, {}, "larger", id="large"),
        pytest.param("x", {"kind": "idea"}, "kind is 'idea'", id="kind"),
        pytest.param("x", {"scope": "secret"}, "scope is 'secret'", id="scope"),
        pytest.param("x", {"tags": ["t" * 17_000]}, "16 KiB", id="tags"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, text, options, reason):
    with pytest.raises(NoteError, match=reason):
        write_note(tmp_path, text, **options)
    assert not (tmp_path / INBOX).exists()


def test_a_plain_file_is_a_note(tmp_path):
    by_hand(tmp_path, "ports.md", "sshd listens\r\non 49222\r\n")
    (note,) = list_notes(tmp_path).notes
    assert (note.id, note.kind, note.scope, note.text) == (
        "ports",
        "note",
        "internal",
        "sshd listens\non 49222",
    )


def test_a_hand_edited_file_is_read(tmp_path):
    text = "---\r\nKind: Todo\r\nscope: PRIVATE\r\ntags: one\r\nowner: me\r\n---\r\ncheck\r\n"
    by_hand(tmp_path, "a.md", text)
    (note,) = list_notes(tmp_path).notes
    assert (note.kind, note.scope, note.tags, note.text) == ("todo", "private", ("one",), "check")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("---\nscope: privat\n---\nx\n", "scope is 'privat'", id="scope misspelt"),
        pytest.param("---\nscope: [private\n---\nx\n", "not valid YAML", id="yaml"),
        pytest.param("---\nscope: private\nx\n", "never closed", id="unclosed"),
        pytest.param("---\nscope: {a: b}\n---\nx\n", "scope must be text", id="scope no text"),
        pytest.param("---\nscope: [a, b]\n---\nx\n", "scope must be one", id="two scopes"),
        pytest.param("---\nid: a\n---\n\n", "empty", id="no text"),
        pytest.param("a\0b", "NUL", id="not text"),
    ],
)
def test_a_broken_file_is_reported_and_kept(tmp_path, text, reason):
    file = by_hand(tmp_path, "bad.md", text)
    by_hand(tmp_path, "good.md", "fine\n")
    inbox = list_notes(tmp_path)
    assert [note.id for note in inbox.notes] == ["good"]
    assert [broken.path for broken in inbox.broken] == [f"{INBOX}/bad.md"]
    assert reason in inbox.broken[0].reason
    assert file.exists()


def test_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    project = tmp_path / "project"
    by_hand(project, "b.md", "fine\n")
    (project / INBOX / "a.md").symlink_to(outside / "a.md")
    assert [broken.reason for broken in list_notes(project).broken] == ["not a regular file"]
    (tmp_path / "other/.agentlas").mkdir(parents=True)
    (tmp_path / "other" / INBOX).symlink_to(outside)
    with pytest.raises(NoteError, match="symbolic link"):
        write_note(tmp_path / "other", "text")


def test_removing_a_note_removes_its_file(tmp_path):
    note = write_note(tmp_path, "text")
    assert remove_note(tmp_path, note.id) == note.path
    assert list_notes(tmp_path).notes == ()
    with pytest.raises(NoteError, match=f"no note {note.id}"):
        remove_note(tmp_path, note.id)


def test_a_broken_file_is_removed_by_its_name(tmp_path):
    file = by_hand(tmp_path, "bad.md", "---\nscope: x\n---\ny\n")
    assert remove_note(tmp_path, "bad") == f"{INBOX}/bad.md"
    assert not file.exists()


def test_an_id_that_two_files_have_removes_neither(tmp_path):
    for name in ("a.md", "b.md"):
        by_hand(tmp_path, name, "---\nid: same\n---\ntext\n")
    with pytest.raises(NoteError, match="more than one"):
        remove_note(tmp_path, "same")
    assert len(list_notes(tmp_path).notes) == 2


def test_a_project_without_an_inbox_has_no_notes(tmp_path):
    assert list_notes(tmp_path) == ((), ())


def test_an_id_is_text_whatever_it_looks_like():
    assert parse_note("a.md", b"---\nid: 0123\n---\nx").id == "0123"
