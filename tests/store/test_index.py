"""What a run does and leaves alone."""

import os

import pytest

from agentlas_memory.ontology import embedder, index, migrations, naming, upkeep
from agentlas_memory.ontology.config import ConfigError
from agentlas_memory.ontology.walk import OutsideProject

LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units because floats lose cents.\n"
DEPLOY = "# Deploying\n\nThe blue cluster is drained before every rollout of the gateway.\n"


@pytest.fixture
def indexed(project):
    project.write(ledger=LEDGER, deploy=DEPLOY)
    project.index()
    return project


def counts(report):
    return report.added, report.changed, report.removed, report.unchanged


def chunk_ids(project, path):
    sql = "SELECT chunk_id FROM chunks JOIN sources USING (source_id) WHERE path = ?"
    return project.rows(sql, path)


def test_first_run_takes_in_everything(indexed):
    assert set(indexed.content()["sources"]) == {"ledger.md", "deploy.md"}
    assert indexed.sources_of("why do we settle the ledger in minor units?") == ["ledger.md"]


def test_makes_the_store_where_there_is_no_folder_yet(project):
    project.folder.rmdir()
    assert project.index().sources == 0


def test_unchanged_run_writes_no_byte(indexed):
    before = {file: file.read_bytes() for file in indexed.folder.glob("*runtime.[sv]*")}
    assert counts(indexed.index()) == (0, 0, 0, 2)
    assert {file: file.read_bytes() for file in indexed.folder.glob("*runtime.[sv]*")} == before


def test_changed_source_replaces_only_its_own_rows(indexed):
    kept, replaced = chunk_ids(indexed, "deploy.md"), chunk_ids(indexed, "ledger.md")
    indexed.write(ledger=LEDGER.replace("minor", "tiny"))
    assert counts(indexed.index()) == (0, 1, 0, 1)
    assert chunk_ids(indexed, "deploy.md") == kept
    assert chunk_ids(indexed, "ledger.md") > replaced


def test_vanished_source_goes_with_all_that_came_of_it(indexed, twin, assert_same):
    (indexed.root / "ledger.md").unlink()
    assert counts(indexed.index()) == (0, 0, 1, 1)
    twin.write(deploy=DEPLOY)
    twin.index()
    assert_same(indexed.content(), twin.content())


def test_touched_file_only_gets_its_new_time(indexed):
    before = indexed.rows("SELECT * FROM chunks"), indexed.meta("indexed_at")
    os.utime(indexed.root / "ledger.md", (1, 1))
    assert counts(indexed.index()) == (0, 0, 0, 2)
    assert (indexed.rows("SELECT * FROM chunks"), indexed.meta("indexed_at")) == before
    [(time,)] = indexed.rows("SELECT changed_ns FROM sources WHERE path = 'ledger.md'")
    assert time == (indexed.root / "ledger.md").stat().st_ctime_ns  # not the time that was set


def test_scope_in_memory_toml_takes_effect_on_unchanged_files(indexed, twin, assert_same):
    for scene in (indexed, twin):
        (scene.folder / "memory.toml").write_text('[scopes]\n"ledger.md" = "private"\n')
    twin.write(ledger=LEDGER, deploy=DEPLOY)
    twin.index()
    assert counts(indexed.index()) == (0, 1, 0, 1)
    assert_same(indexed.content(), twin.content())
    assert counts(indexed.index()) == (0, 0, 0, 2)


def test_note_says_its_own_scope(project):
    inbox = project.folder / "ontology-inbox"
    inbox.mkdir()
    (inbox / "n.md").write_text("---\nscope: private\n---\n\nThe vault code is kept by Ann.\n")
    project.index()
    assert project.rows("SELECT scope FROM sources") == [("private",)]
    assert counts(project.index()) == (0, 0, 0, 1)


def test_excluded_file_goes(indexed):
    (indexed.folder / "memory.toml").write_text('exclude = ["ledger.md"]\n')
    assert indexed.index().removed == 1


def test_path_narrows_what_is_added_and_what_is_removed(indexed):
    for folder in ("docs", "other"):
        (indexed.root / folder).mkdir()
        (indexed.root / folder / "a.md").write_text("# A\n\nAbout pagers.\n")
    indexed.index()
    (indexed.root / "docs/a.md").rename(indexed.root / "docs/b.md")
    (indexed.root / "other/a.md").unlink()
    assert counts(indexed.index(indexed.root / "docs")) == (1, 0, 1, 0)
    assert {"docs/b.md", "other/a.md"} < set(indexed.content()["sources"])
    assert counts(indexed.index(indexed.root / "other/a.md")) == (0, 0, 1, 0)


def test_narrowed_path_may_be_a_link_out_of_the_project(indexed, tmp_path):
    (indexed.root / "out.md").symlink_to(tmp_path)
    assert indexed.index(indexed.root / "out.md").skipped[0].reason == "symbolic link"


def test_path_outside_is_refused(indexed, tmp_path):
    with pytest.raises(OutsideProject):
        indexed.index(tmp_path)


def test_file_that_became_unreadable_is_taken_out_and_named(indexed):
    (indexed.root / "ledger.md").write_bytes(b"\xff\xfe\xff")
    report = indexed.index()
    assert [one.path for one in report.skipped] == ["ledger.md"]
    assert "ledger.md" not in indexed.content()["sources"]


@pytest.mark.parametrize(
    ("module", "name"),
    [(upkeep, "REDACTION_VERSION"), (upkeep, "_PREPARED_VERSION")],
    ids=["redaction", "preparing"],
)
def test_newer_rules_prepare_every_source_again(indexed, monkeypatch, module, name):
    monkeypatch.setattr(module, name, 99)
    assert indexed.index().changed == 2
    assert indexed.index().unchanged == 2


def test_newer_rules_and_a_narrowed_run_leave_the_rest_to_the_next_one(indexed, monkeypatch):
    monkeypatch.setattr(upkeep, "REDACTION_VERSION", 99)
    assert counts(indexed.index(indexed.root / "ledger.md")) == (0, 1, 0, 0)
    assert counts(indexed.index()) == (0, 1, 0, 1)


def test_another_analyzer_fills_the_lexical_index_anew(indexed, twin, monkeypatch, assert_same):
    def backwards(name, heading, text):
        return naming.IndexTerms((f"{name} {heading}"[::-1], text[::-1]), "")

    for module in (naming, migrations):
        monkeypatch.setattr(module, "TERMS_VERSION", "other")
    for module in ("migrations", "prepare", "writer", "records"):
        monkeypatch.setattr(f"agentlas_memory.ontology.{module}.index_terms", backwards)
    indexed.write(deploy=DEPLOY + "\nAnd the green one after it.\n")
    indexed.index()
    twin.write(ledger=LEDGER, deploy=DEPLOY + "\nAnd the green one after it.\n")
    twin.index()
    assert_same(indexed.content(), twin.content())
    assert any(term == "regdel" for term, *_ in indexed.content()["terms"])


def test_rejected_model_means_no_vectors_and_back(indexed, monkeypatch):
    before = indexed.content()
    with monkeypatch.context() as patch:
        reject_model(patch)
        assert indexed.index().embedding == "hash96"
        assert indexed.content()["vectors"] == {}
        result = indexed.ask("why do we settle the ledger in minor units?")
        assert result.retrieval == "degraded_hash"
    assert indexed.index().embedding == "model2vec_potion_base_8m_int8"
    assert indexed.content() == before


def test_model_that_only_model2vec_rejects_still_makes_vectors(project, monkeypatch, assert_same):
    monkeypatch.setattr("agentlas_memory.embedding.batch.BatchEmbedder.__init__", reject)
    project.write(big=LEDGER * 2000)
    assert project.index().embedding == "model2vec_potion_base_8m_int8"
    assert project.content()["vectors"]


def reject(*_):
    raise embedder.AssetRejected


def reject_model(patch):
    patch.setattr("agentlas_memory.embedding.model.open_asset", reject)
    patch.setattr("agentlas_memory.embedding.batch.BatchEmbedder.__init__", reject)


def test_lost_sidecar_is_written_again(indexed):
    (indexed.folder / indexed.meta("sidecar")).unlink()
    assert indexed.ask("settle the ledger in minor units").retrieval == "degraded_lexical"
    assert counts(indexed.index()) == (0, 0, 0, 2)
    assert indexed.ask("settle the ledger in minor units").retrieval == "hybrid"


def test_old_generations_and_orphans_of_the_sidecar_go(indexed):
    (indexed.folder / "ontology-runtime.vec-77").write_bytes(b"orphan")
    (indexed.folder / "ontology-runtime.vec-9.new").write_bytes(b"unfinished")
    indexed.write(more="# More\n\nThe pager rota is in the wiki.\n")
    indexed.index()
    sidecars = [file.name for file in indexed.folder.glob("ontology-runtime.vec-*")]
    assert sidecars == [indexed.meta("sidecar")]


def test_file_written_while_another_run_waits_is_not_taken_for_vanished(indexed, monkeypatch):
    """The walk is done under the lock; done before, it would not know what the other took in."""
    from agentlas_memory.ontology import database

    def late_lock(folder, wait, real=database.writer_lock):
        monkeypatch.setattr(database, "writer_lock", real)
        indexed.write(late="# Late\n\nThe pager rota changes on Mondays.\n")
        indexed.index()
        return real(folder, wait)

    monkeypatch.setattr(database, "writer_lock", late_lock)
    assert indexed.index().removed == 0
    assert "late.md" in indexed.content()["sources"]


def test_progress_ends_at_the_whole(project):
    project.write(**{f"f{number}": LEDGER for number in range(5)})
    seen = []
    project.index(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == 5 * len(LEDGER)


def test_a_file_of_the_far_future_is_taken_in(indexed):
    indexed.write(future="# Future\n\nThe clock of this machine is broken.\n")
    os.utime(indexed.root / "future.md", (2**33 + 2**31, 2**33 + 2**31))
    assert counts(indexed.index()) == (1, 0, 0, 2)
    assert counts(indexed.index()) == (0, 0, 0, 3)


def test_a_link_that_took_a_files_place_since_the_walk_is_not_followed(indexed, monkeypatch):
    indexed.write(swapped="# Swapped\n\nThis is a file.\n")
    (indexed.root.parent / "outside.md").write_text("# Outside\n\nNot of this project.\n")
    seen = list(index.walk_project(indexed.root, index.load_config(indexed.root), None))
    (indexed.root / "swapped.md").unlink()
    (indexed.root / "swapped.md").symlink_to(indexed.root.parent / "outside.md")
    monkeypatch.setattr(index, "walk_project", lambda *_: seen)
    assert [one.path for one in indexed.index().skipped] == ["swapped.md"]
    assert b"Not of this project" not in indexed.all_bytes()


def test_a_fifo_in_the_configurations_place_is_an_error(indexed):
    os.mkfifo(indexed.folder / "memory.toml")
    with pytest.raises(ConfigError, match=r"memory\.toml"):
        indexed.index()
