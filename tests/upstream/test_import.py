"""`import-store`: the old file under its new name, what it knows in ours, all accounted for."""

import hashlib
import json

import pytest

from agentlas_memory.project import DATABASE


def notes(am):
    return am("notes", "list", "--json").json["notes"]


@pytest.fixture
def taken(filled, am):
    outcome = am("import-store", "--yes", "--json")
    assert outcome.code == 0, outcome.err
    return outcome


def test_the_old_file_is_renamed_and_not_a_byte_of_it_changes(filled, am, kept):
    before = filled.read_bytes()
    assert am("import-store", "--yes").code == 0
    assert kept.read_bytes() == before


def test_the_new_store_is_trusted_and_answers(taken, am):
    told = am("status", "--json").json
    assert (told["store"]["state"], told["trusted"]) == ("ok", True)


def test_a_file_that_is_there_is_indexed_from_the_file(taken, ask):
    [text] = ask("why do we settle the ledger in integer minor units?")
    assert "integer minor units" in text
    assert not any("floats, as ever" in text for text in ask("settle the ledger in floats as ever"))


def test_a_text_without_a_file_becomes_a_note_that_says_where_it_is_from(taken, am, ask):
    [text] = ask("what is a zorkmid, the coin of the realm?")
    assert "coin of the realm" in text
    [note] = [one for one in notes(am) if "zorkmid" in one["text"]]
    assert note["text"].startswith("# zorkmid (as of 2025-03-02)\n\nTaken over from Agentlas OS;")
    assert "https://example.org/zorkmid" in note["text"]
    assert (note["tags"], note["created"]) == (["agentlas-os"], "2025-03-02T10:11:12Z")


def test_a_text_whose_file_is_gone_says_so_wherever_it_is_told(taken, am):
    hits = am("query", "when is the blue gateway drained?", "--json").json["hits"]
    assert [hit["heading"] for hit in hits] == ["docs/old.md (gone since; as of 2025-03-02) > Old"]


def test_such_texts_can_be_left_out(filled, am):
    outcome = am("import-store", "--yes", "--skip-gone", "--json")
    assert outcome.left()["sources", "the file is gone"] == 1
    assert not [one for one in notes(am) if "gateway" in one["text"]]


def test_private_texts_stay_private(taken, am, root):
    [note] = [one for one in notes(am) if "quokka" in one["text"]]
    assert note["scope"] == "private"
    assert note["path"].endswith(".private.md")
    assert am("query", "where is the vault of the quokka team?", "--json").json["hits"] == []


def test_a_file_that_was_private_is_private_now(upstream, am, root):
    (root / "docs/hr [x].md").write_text("# Pay\n\nThe quokka is paid in gold.\n")
    store = upstream()
    store.source("docs/ledger.md", "We settle")
    store.source("docs/hr [x].md", "The quokka is paid in gold.", scope="private")
    store.close()
    assert am("import-store", "--yes").code == 0
    assert am("query", "how is the quokka paid?", "--json").json["hits"] == []
    assert am("query", "why settle the ledger in minor units?", "--json").json["hits"] != []


def test_rules_are_added_behind_those_of_a_memory_toml_that_is_there(upstream, am, root):
    store = upstream()
    config = root / ".agentlas/memory.toml"
    config.write_bytes(b'# ours\r\nexclude = ["x/"]\r\n\r\n[scopes]\r\n"docs/" = "public" # all')
    store.source("docs/ledger.md", "We settle", scope="private")
    store.close()
    assert am("import-store", "--yes").code == 0
    text = config.read_bytes()
    assert text.startswith(
        b'# ours\r\nexclude = ["x/"]\r\n\r\n[scopes]\r\n"docs/" = "public" # all\r\n'
    )
    assert text.endswith(b'"/docs/ledger.md" = "private"\r\n')


def test_rules_that_cannot_be_added_are_an_error_before_anything_is_renamed(
    upstream, am, root, place
):
    store = upstream()
    config = root / ".agentlas/memory.toml"
    config.write_text('scopes = {"docs/" = "public"}\n')
    store.source("docs/ledger.md", "We settle", scope="private")
    store.close()
    assert am("import-store", "--yes").code == 1
    assert config.read_text() == 'scopes = {"docs/" = "public"}\n'
    assert am("status", "--json").json["store"]["state"] == "upstream"


def test_what_is_not_carried_is_accounted_for(taken):
    left = taken.left()
    assert left["curator tickets", "nobody has decided that they are memory"] == 1
    assert left["working memory", "it was of sessions that are over"] == 1
    assert left["vectors", "they are made anew from the texts"] == 4
    assert left["experience rows", "of another agent: painter"] == 1
    assert left["experience rows", "of another agent: ledger-keeper"] == 5
    assert taken.json["carried"] == {"notes": 3, "files": 1}
    assert taken.json["found"]["experience"] == 6


def test_a_dry_run_tells_the_same_and_does_nothing(filled, am, root, home):
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    outcome = am("import-store", "--dry-run", "--json")
    assert outcome.json["carried"] == {"files": 1, "notes": 3}
    assert outcome.json["done"] is False
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_nothing_happens_unless_somebody_says_yes(filled, am, place):
    outcome = am("import-store")
    assert outcome.code == 3
    assert "nobody said yes" in outcome.err
    assert place.read_bytes() == filled.read_bytes()


def test_a_name_that_is_taken_is_never_overwritten(filled, am, kept, place):
    kept.write_text("mine")
    before = place.read_bytes()
    assert am("import-store", "--yes").code == 3
    assert (kept.read_text(), place.read_bytes()) == ("mine", before)


def test_a_second_run_changes_nothing(taken, am, root):
    removed = notes(am)[0]["id"]
    assert am("forget", removed).code == 0
    before = sorted(one["id"] for one in notes(am))
    assert am("import-store", "--yes").code == 0
    assert sorted(one["id"] for one in notes(am)) == before


def test_it_is_undone_by_renaming_back(taken, am, place, kept):
    place.unlink()
    kept.rename(place)
    assert am("status", "--json").json["store"]["state"] == "upstream"


def test_a_file_that_index_leaves_out_is_named(upstream, am, root):
    (root / "auth.py").write_text("def login(): ...\n")
    store = upstream()
    store.source("auth.py", "def login(): ...")
    store.close()
    outcome = am("import-store", "--yes", "--json")
    [one] = [one for one in outcome.json["not_carried"] if one["what"] == "files"]
    assert one["names"] == ["auth.py"]


def test_a_file_that_was_only_moved_is_no_note(upstream, am, root):
    text = "# Pager\n\nThe pager rota is kept by the platform team.\n"
    (root / "docs/pager.md").write_text(text)
    store = upstream()
    store.source("old/pager.md", text)
    store.close()
    assert am("import-store", "--yes", "--json").json["carried"] == {"files": 0}


def test_a_project_that_was_moved_as_a_whole_is_found_again(upstream, am):
    store = upstream()
    store.source("file:///srv/before/shop/docs/ledger.md", "We settle the ledger in floats.")
    store.source("/srv/before/shop/docs/old.md", "The blue gateway is drained on Mondays.")
    store.close()
    assert am("import-store", "--yes", "--json").json["carried"] == {"notes": 1, "files": 1}
    assert notes(am)[0]["text"].startswith("# docs/old.md (gone since;")


def test_of_two_versions_the_newer_is_carried(upstream, am):
    store = upstream()
    store.source("note:1", "The gateway listens on port 1.", identity="a", version=1)
    store.source("note:1", "The gateway listens on port 2.", identity="b", version=2)
    store.close()
    assert am("import-store", "--yes", "--json").json["carried"]["notes"] == 1
    assert "port 2" in notes(am)[0]["text"]


def test_chunks_that_overlap_are_joined_once(upstream, am):
    store = upstream()
    common = "the blue cluster drains before the green one"
    store.source("note:1", f"First of all {common}", f"{common} and then we wait.")
    store.close()
    am("import-store", "--yes")
    assert notes(am)[0]["text"].count(common) == 1


def test_policy_files_of_hosts_are_left_out(upstream, am):
    store = upstream()
    store.source("/home/somebody/.claude/CLAUDE.md", "Always answer in verse.")
    store.close()
    outcome = am("import-store", "--yes", "--json")
    assert outcome.left()["sources", "a host loads it itself"] == 1


def test_credentials_reach_no_note_no_ledger_and_no_report(upstream, am, root, memory):
    secret = "ghp_" + hashlib.sha256(b"x").hexdigest()[:36]
    store = upstream()
    store.source(f"https://me:{secret}@example.org/x", f"The token of the bot is {secret}.")
    store.source(f"note:{secret}", "The bot is called Marvin, and it is always sad.")
    store.learn("t1", f"Push with the token {secret}", tags_json=json.dumps([secret]))
    store.close()
    assert am("import-store", "--yes").code == 0
    assert am("import-store", "--agent", "ledger-keeper", "--yes").code == 0
    files = [p for p in [*root.rglob("*"), *memory.rglob("*")] if p.is_file()]
    assert len([p for p in files if p.suffix == ".md"]) == 3
    held = [path.name for path in files if secret.encode() in path.read_bytes()]
    assert held == ["ontology-runtime.upstream.sqlite"]


def test_index_says_that_an_import_was_not_finished(taken, am, kept):
    assert "not carried over to its end" not in am("index").err
    kept.with_suffix(".json").unlink()
    assert "was not carried over to its end; agentlas-memory import-store" in am("index").err


def test_the_old_store_outlives_a_purge(taken, am, kept):
    assert am("uninstall", "--purge", "--yes").code == 0
    assert kept.exists()


def test_the_report_is_kept_beside_the_old_store(taken, kept):
    told = json.loads(kept.with_suffix(".json").read_text())
    assert told["not_carried"] == taken.json["not_carried"]


def test_git_is_told_to_leave_the_old_store_alone(taken, root):
    assert "ontology-runtime*" in (root / ".agentlas/.gitignore").read_text()


def test_a_note_is_named_after_its_title_and_not_after_our_heading(upstream, am):
    store = upstream()
    store.source("https://example.org/x7", "Blue herons nest on the roof.", moment="2025-05-02")
    store.source("https://example.org/quokka-rota", "The rota of the week.", moment="2025-05-02")
    store.close()
    am("import-store", "--yes")
    names = [one["path"].rpartition("/")[2].rpartition("-")[0] for one in notes(am)]
    assert names == ["2025-05-02-blue-herons-nest-on-the-roof", "2025-05-02-quokka-rota"]


def test_private_notes_are_told_apart(filled, am):
    assert "1 of the notes is private: no assistant is told" in am("import-store", "--dry-run").err
    assert am("import-store", "--yes", "--json").json["private_notes"] == 1
    again = am("import-store", "--yes", "--json").json
    assert (again["private_notes"], again["carried"]["notes"]) == (1, 3)


@pytest.mark.parametrize("tokenizer", ["trigram", "unicode61"])
def test_whatever_its_lexical_index_is(upstream, am, tokenizer):
    store = upstream(tokenizer=tokenizer, wal=False)
    store.source("note:1", "A zorkmid is the coin of the realm.")
    store.close()
    assert am("import-store", "--yes", "--json").json["carried"]["notes"] == 1


def test_a_folder_with_nothing_to_take_over(root, am):
    assert am("import-store").code == 2
    assert not (root / DATABASE).exists()
