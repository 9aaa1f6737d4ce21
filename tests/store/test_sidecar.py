"""The sidecar is mapped only if it is the one that the store names."""

import os

import pytest

from agentlas_memory.ontology.schema import SCOPES
from agentlas_memory.ontology.sidecar import Sidecar, SidecarRejected

FACTS = {
    "public": "# Gateway\n\nThe gateway drains the blue cluster before a rollout.\n",
    "internal": "# Ledger\n\nWe settle the ledger in integer minor units.\n",
    "private": "# Salaries\n\nThe salary bands are reviewed by Ann every April.\n",
}


@pytest.fixture
def indexed(project):
    scopes = "\n".join(f'"{scope}.md" = "{scope}"' for scope in FACTS)
    (project.folder / "memory.toml").write_text(f"[scopes]\n{scopes}\n")
    project.write(**FACTS)
    project.index()
    return project


@pytest.fixture
def sidecar_file(indexed):
    return indexed.folder / indexed.meta("sidecar")


def test_each_scope_has_its_range_and_each_chunk_its_place(indexed, sidecar_file):
    sidecar = Sidecar(str(sidecar_file), indexed.meta("store_id"))
    assert sidecar.ranges == {"public": (0, 1), "internal": (1, 2), "private": (2, 3)}
    sql = "SELECT chunk_id FROM chunks JOIN sources USING (source_id) WHERE scope = ?"
    for place, scope in enumerate(("public", "internal", "private")):
        [(chunk_id,)] = indexed.rows(sql, scope)
        assert sidecar.position(chunk_id, SCOPES) == place
        assert sidecar.position(chunk_id, tuple(set(SCOPES) - {scope})) is None
    assert sidecar.position(999, SCOPES) is None
    assert (sidecar.dimensions, sidecar.embedding) == (256, "model2vec_potion_base_8m_int8")


def put(at, data):
    return lambda file: file.write_bytes(
        file.read_bytes()[:at] + data + file.read_bytes()[at + len(data) :]
    )


def replace_by_link(file):
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def replace_by_fifo(file):
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    "damage",
    [
        put(0, b"AGVEC002"),
        put(8, b"another store id"),
        put(24, b"\xff\xff\xff\xff"),
        put(28, b"\x00\x02\x00\x00"),
        put(64, b"\x09\x00\x00\x00"),
        put(68, b"\x09\x00\x00\x00"),
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(file.read_bytes() + b"x"),
        lambda file: file.write_bytes(b"AGVEC001"),
        lambda file: file.write_bytes(b""),
        lambda file: file.unlink(),
        replace_by_link,
        replace_by_fifo,
    ],
    ids=[
        "magic", "store id", "count", "dimensions", "scope starts behind the file",
        "scope ends behind the file", "too short", "too long", "header only", "empty", "missing",
        "link", "fifo",
    ],
)  # fmt: skip
def test_another_file_is_rejected_and_recall_goes_on_lexically(indexed, sidecar_file, damage):
    damage(sidecar_file)
    with pytest.raises(SidecarRejected):
        Sidecar(str(sidecar_file), indexed.meta("store_id"))
    result = indexed.ask("do we settle the ledger in integer minor units?")
    assert result.retrieval == "degraded_lexical"
    assert [hit.source for hit in result.hits] == ["internal.md"]
    assert indexed.index().unchanged == 3
    assert indexed.ask("do we settle the ledger in minor units?").retrieval == "hybrid"


def test_store_without_a_vector_is_no_degraded_one(project):
    project.index()
    assert project.ask("do we settle the ledger in integer minor units?").retrieval == "hybrid"


def test_sidecar_of_an_unfinished_run_still_serves(indexed, monkeypatch):
    monkeypatch.setattr("agentlas_memory.ontology.index.finish_run", lambda *_, **__: None)
    indexed.write(internal=FACTS["internal"].replace("minor", "tiny"), more="# More\n\nPagers.\n")
    indexed.index()
    result = indexed.ask("how does the gateway drain the blue cluster?")
    assert (result.retrieval, result.hits[0].source) == ("hybrid", "public.md")
    assert result.hits[0].cosine is not None
    assert indexed.sources_of("do we settle the ledger in integer tiny units?") == ["internal.md"]


def test_private_vectors_have_no_cosine_outside_their_scope(indexed):
    from agentlas_memory.recall.dense import CandidateCosines, DenseScores

    sidecar = Sidecar(str(indexed.folder / indexed.meta("sidecar")), indexed.meta("store_id"))
    query = bytes([1]) * 256
    [(private,)] = indexed.rows(
        "SELECT chunk_id FROM chunks JOIN sources USING (source_id) WHERE scope = 'private'"
    )
    scores = DenseScores(sidecar, query, ("public", "internal"))
    assert scores.cosine(private) is None
    assert private not in dict(scores.best())
    assert private in dict(DenseScores(sidecar, query, ("private",)).best())
    single = CandidateCosines(sidecar, query, ("public", "internal"))
    assert (single.cosine(private), single.best()) == (None, [])


def test_index_heals_vectors_that_were_damaged(indexed, sidecar_file):
    file = sidecar_file
    data = file.read_bytes()
    file.write_bytes(data[:-64] + bytes(64))
    indexed.index()
    assert (indexed.folder / indexed.meta("sidecar")).read_bytes() == data
