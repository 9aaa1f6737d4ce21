"""Only what this machine's user said yes to is shown."""

import json
import os
import shutil

import pytest

from agentlas_memory.trust_file import add_trust, remove_trust, set_paused

FACT = "integer minor units"


def test_a_memory_toml_that_changed_silences_until_index(make_project, ask, index, receipt):
    root = make_project()
    (root / ".agentlas/memory.toml").write_text('[scopes]\n"docs/" = "private"\n')
    assert ask(root) == ""
    assert receipt()["silence_reason"] == "stale"
    (root / ".agentlas/memory.toml").write_text('[scopes]\n"other/" = "private"\n')
    index(root)
    assert "minor units" in ask(root)


def test_an_untrusted_store_is_silent_and_leaves_nothing(make_project, ask, start, home, listing):
    root = make_project(trusted=False)
    before = listing(home)
    assert ask(root) == start(root, "clear") == ""
    assert listing(home) == before


def test_a_distrusted_store_is_silent(make_project, ask, data):
    root = make_project()
    remove_trust(str(data), str(root))
    assert ask(root) == ""


def test_another_store_in_the_place_of_a_trusted_one_is_silent(make_project, ask, receipt):
    root, other = make_project(), make_project(name="other", trusted=False)
    shutil.copytree(other / ".agentlas", root / ".agentlas", dirs_exist_ok=True)
    assert ask(root) == ""
    assert receipt()["silence_reason"] == "untrusted"


def test_a_copy_of_a_trusted_project_is_not_trusted(make_project, ask, tmp_path):
    shutil.copytree(make_project(), tmp_path / "copy")
    assert ask(tmp_path / "copy") == ""


def test_a_paused_project_is_silent_until_it_is_resumed(make_project, ask, data, receipt):
    root = make_project()
    set_paused(str(data), str(root), True)
    assert ask(root) == ""
    assert receipt()["silence_reason"] == "off"
    set_paused(str(data), str(root), False)
    assert FACT in ask(root)


def test_everything_can_be_paused(make_project, ask, settings, receipt):
    settings(off=True)
    assert ask(make_project()) == ""
    assert receipt()["silence_reason"] == "off"


def test_trust_is_no_matter_of_spelling(make_project, ask, data, index, tmp_path):
    root = make_project(trusted=False)
    (tmp_path / "link").symlink_to(root)
    add_trust(str(data), f"{tmp_path}/link/../link", index(root))
    assert FACT in ask(root)


BROKEN = {
    "empty": "",
    "not JSON": "{",
    "a list": "[]",
    "projects is no list": '{"projects": {"path": "/"}}',
    "entries are no objects": '{"projects": [1, null, "x", []]}',
    "no store id": '{"projects": [{"path": "ROOT"}]}',
    "store id is no text": '{"projects": [{"path": "ROOT", "store_id": 7}]}',
    "path is no text": '{"projects": [{"path": ["ROOT"], "store_id": "x"}]}',
    "path with NUL": '{"projects": [{"path": "\\u0000", "store_id": "x"}]}',
    "blank": '{"projects": [{"path": "", "store_id": ""}]}',
}


def test_another_project_on_a_dead_network_folder_holds_nobody_up(
    make_project, run_patched, prompt_event, context, data
):
    file = data / "trusted.json"
    root = make_project()
    trusted = json.loads(file.read_text())
    trusted["projects"].insert(0, {"path": "/dead/project", "store_id": "0" * 32})
    file.write_text(json.dumps(trusted))
    hangs = (
        "import agentlas_memory.trust as t; look = t.identity\n"
        "t.identity = lambda path: sleep(60) if path.startswith('/dead') else look(path)"
    )
    assert FACT in context(run_patched(hangs, prompt_event(root)))


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_trust_file_trusts_nothing(make_project, ask, data, text):
    root = make_project()
    (data / "trusted.json").write_text(text.replace("ROOT", str(root)))
    assert ask(root) == ""


def test_settings_of_another_kind_count_as_none(make_project, ask, settings):
    root = make_project()
    settings(off=1, delivery=[], worktree=7, deadline_ms="x", unknown=True)
    assert FACT in ask(root)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b'{"off": true,}', b'{"off": false} x', b"\xff\xfe{}", b"[" * 100_000],
    ids=["empty", "open", "list", "comma", "more", "bytes", "nested"],
)
def test_settings_that_cannot_be_read_may_say_off(make_project, ask, data, receipt, text):
    root = make_project()
    (data / "settings.json").write_bytes(text)
    assert ask(root, logs=True) == ""
    assert receipt()["silence_reason"] == "off"
    assert "settings.json holds no JSON object" in (data / "state/hook.log").read_text()


def test_settings_that_are_no_file_may_say_off(make_project, ask, data):
    root = make_project()
    (data / "settings.json").mkdir()
    assert ask(root, logs=True) == ""


def test_settings_may_begin_with_a_mark_and_end_with_a_blank_line(make_project, ask, data):
    root = make_project()
    (data / "settings.json").write_bytes(b'\xef\xbb\xbf{"off": false}\r\n\n')
    assert FACT in ask(root)
    assert not (data / "state/hook.log").exists()


def make_writable_by_everyone(store):
    store.chmod(0o666)


def give_away(store):
    if os.getuid():
        pytest.skip("only root can give a file away")
    os.chown(store, 12345, -1)


@pytest.mark.parametrize("share", [make_writable_by_everyone, give_away])
def test_a_store_that_others_can_change_needs_a_word_of_its_own(
    make_project, ask, data, receipt, index, share
):
    root = make_project()
    share(root / ".agentlas/ontology-runtime.sqlite")
    assert ask(root) == ""
    assert receipt()["silence_reason"] == "untrusted"
    store_id = json.loads((data / "trusted.json").read_bytes())["projects"][0]["store_id"]
    add_trust(str(data), str(root), store_id, shared=True)
    assert FACT in ask(root)


def test_a_group_may_share_a_store(make_project, ask):
    root = make_project()
    (root / ".agentlas/ontology-runtime.sqlite").chmod(0o664)
    assert FACT in ask(root)


def test_a_word_on_a_shared_store_is_taken_back_with_the_rest(make_project, ask, data, index):
    root = make_project(trusted=False)
    (root / ".agentlas/ontology-runtime.sqlite").chmod(0o666)
    add_trust(str(data), str(root), index(root), shared=True)
    assert remove_trust(str(data), str(root))
    add_trust(str(data), str(root), index(root))
    assert ask(root) == ""
