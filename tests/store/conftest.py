"""A project of a test's own, and all that its store holds, in terms that two stores share."""

import sqlite3
from collections import defaultdict
from pathlib import Path

import pytest

from agentlas_memory.ontology.sidecar import Sidecar
from agentlas_memory.ontology.store import chunk_digest
from agentlas_memory.ontology.vectors import unpack_ids
from agentlas_memory.project import DATABASE


@pytest.fixture(autouse=True)
def data_home(one_data_home):
    """No test here changes what lies in it."""


@pytest.fixture
def project(tmp_path):
    return Scene(tmp_path / "project")


@pytest.fixture
def twin(tmp_path):
    """A second project, for a store that is built in one go."""
    return Scene(tmp_path / "twin")


@pytest.fixture
def make_scene():
    """Make a project in a folder."""
    return Scene


class Scene:
    """A project folder that is easily filled and asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.database = root / DATABASE
        self.folder = self.database.parent
        self.folder.mkdir(parents=True)

    def write(self, **texts: str) -> None:
        """Write Markdown files by their stems."""
        for stem, text in texts.items():
            (self.root / f"{stem}.md").write_text(text, encoding="utf-8")

    def index(self, *paths: Path, **options):
        from agentlas_memory.ontology.index import index_project

        return index_project(self.root, paths, **options)

    def ask(self, question: str, **options):
        from agentlas_memory.runtime import OntologyRuntime

        return OntologyRuntime(self.database).query(question, **options)

    def sources_of(self, question: str, **options) -> list[str]:
        return [hit.source for hit in self.ask(question, **options).hits]

    def rows(self, sql: str, *values: object) -> list[tuple]:
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def meta(self, key: str) -> object:
        return self.rows("SELECT value FROM meta WHERE key = ?", key)[0][0]

    def run_sql(self, *statements: str) -> None:
        connection = sqlite3.connect(self.database)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    def content(self) -> dict:
        return store_content(self.database)

    def all_bytes(self) -> bytes:
        """Return every byte of every file of the store."""
        files = self.folder.glob("ontology-runtime*")
        return b"".join(file.read_bytes() for file in files)


def store_content(database: Path) -> dict:
    """Return everything in a store but ids and times; checks that it agrees with itself."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        names = _names_of_chunks(connection)
        _check_digests(connection)
        return {
            "sources": {
                row[0]: row
                for row in connection.execute(
                    "SELECT path, title, kind, status, superseded, scope, size, content_hash"
                    " FROM sources"
                )
            },
            "chunks": {
                names[chunk_id]: row
                for chunk_id, *row in connection.execute(
                    "SELECT chunk_id, heading, start_line, end_line, text FROM chunks"
                )
            },
            "terms": _terms(connection, names),
            "vectors": _vectors(connection, names, database.parent),
            "entities": set(connection.execute("SELECT key, kind FROM entities")),
            "mentions": {
                (key, names[chunk_id], relation)
                for key, chunk_id, relation in connection.execute(
                    "SELECT key, chunk_id, relation FROM mentions JOIN entities USING (entity_id)"
                )
            },
            "relations": {
                (subject, relation, object_, names[chunk_id])
                for subject, relation, object_, chunk_id in connection.execute(
                    "SELECT s.key, r.relation, o.key, r.chunk_id FROM relations r"
                    " JOIN entities s ON s.entity_id = subject_id"
                    " JOIN entities o ON o.entity_id = object_id"
                )
            },
            "meta": {
                key: value
                for key, value in connection.execute("SELECT key, value FROM meta")
                if key not in ("store_id", "sidecar", "sidecar_crc32", "indexed_at")
            },
        }
    finally:
        connection.close()


def _names_of_chunks(connection) -> dict[int, tuple[str, int]]:
    """Return (path, ordinal in the source) by chunk id."""
    names: dict[int, tuple[str, int]] = {}
    ordinals: dict[str, int] = defaultdict(int)
    for chunk_id, path in connection.execute(
        "SELECT chunk_id, path FROM chunks JOIN sources USING (source_id) ORDER BY chunk_id"
    ):
        names[chunk_id] = (path, ordinals[path])
        ordinals[path] += 1
    return names


def _check_digests(connection) -> None:
    """A digest holds the store's id too, so that two stores' differ."""
    (store_id,) = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()
    rows = connection.execute(
        "SELECT digest, scope, path, heading, start_line, end_line, text"
        " FROM chunks JOIN sources USING (source_id)"
    )
    assert all(digest == chunk_digest(store_id, *shown) for digest, *shown in rows)


def _terms(connection, names) -> set:
    """Return every occurrence of every term that the lexical index holds."""
    connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'chunk_fts', instance)")
    occurrences = connection.execute("SELECT term, doc, col, offset FROM temp.v")
    return {(term, names[doc], column, offset) for term, doc, column, offset in occurrences}


def _vectors(connection, names, folder: Path) -> dict:
    """Return each chunk's scope and vector; the segments and the sidecar must say the same."""
    found = {}
    by_scope = defaultdict(list)
    placed = dict(connection.execute("SELECT chunk_id, segment_id FROM chunks"))
    for segment_id, scope, ids_blob, blob in connection.execute(
        "SELECT segment_id, scope, chunk_ids, vectors FROM vector_segments ORDER BY segment_id"
    ):
        ids = unpack_ids(ids_blob)
        assert 0 < len(ids) <= 1024
        assert len(blob) == 256 * len(ids)
        assert {placed[chunk_id] for chunk_id in ids} == {segment_id}
        for at, chunk_id in enumerate(ids):
            found[names[chunk_id]] = (scope, blob[256 * at : 256 * (at + 1)])
            by_scope[scope].append(chunk_id)
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    sidecar = Sidecar(str(folder / meta["sidecar"]), meta["store_id"])
    for scope, (start, end) in sidecar.ranges.items():
        assert list(sidecar.chunk_ids[start:end]) == by_scope[scope] == sorted(by_scope[scope])
        for at in range(start, end):
            vector = bytes(sidecar.vectors[256 * at : 256 * (at + 1)])
            assert found[names[sidecar.chunk_ids[at]]] == (scope, vector)
    return found


def same_content(one: dict, other: dict) -> None:
    """Compare two stores; a vector may differ by one step, as two programs make them."""
    for part in one:
        if part != "vectors":
            assert one[part] == other[part], part
    assert one["vectors"].keys() == other["vectors"].keys()
    for chunk, (scope, vector) in one["vectors"].items():
        assert scope == other["vectors"][chunk][0]
        twin = memoryview(other["vectors"][chunk][1]).cast("b")
        pairs = zip(memoryview(vector).cast("b"), twin, strict=True)
        assert max(abs(a - b) for a, b in pairs) <= 1


@pytest.fixture
def assert_same():
    return same_content
