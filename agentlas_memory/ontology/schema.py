"""The store's tables, word for word: the hook compares them with what a file holds.

Documented in docs/store.md. Numbered migrations live in `migrations.py`.
"""

APPLICATION_ID = 0x41474C4D  # "AGLM", at byte 68 of the file: this store is ours
EXPERIENCE_ID = 0x41474C45  # "AGLE": an agent's experience
# `PRAGMA user_version` of each. Whoever changes a table here raises its number, writes the step in
# migrations.py, and keeps a store of the new number for the tests: tests/store/earlier/README.md.
SCHEMA_VERSION = 2
EXPERIENCE_VERSION = 1

SCOPES = ("public", "internal", "private")
SEGMENT_VECTORS = 1024  # most vectors of one segment, and most chunks of one transaction

TABLES = {
    "meta": "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "sources": """CREATE TABLE sources(
  source_id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  superseded INTEGER NOT NULL DEFAULT 0,
  scope TEXT NOT NULL,
  size INTEGER,
  changed_ns INTEGER,
  content_hash BLOB,
  commit_time INTEGER
)""",
    "chunks": """CREATE TABLE chunks(
  chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id INTEGER NOT NULL REFERENCES sources,
  heading TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  text TEXT NOT NULL,
  digest BLOB NOT NULL,
  segment_id INTEGER
)""",
    "chunk_fts": """CREATE VIRTUAL TABLE chunk_fts USING fts5(
  heading, body, content='', tokenize="ascii tokenchars '-_./'"
)""",
    "vector_segments": """CREATE TABLE vector_segments(
  segment_id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL,
  embedding TEXT NOT NULL,
  chunk_ids BLOB NOT NULL,
  vectors BLOB NOT NULL
)""",
    "entities": """CREATE TABLE entities(
  entity_id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL
)""",
    "mentions": """CREATE TABLE mentions(
  entity_id INTEGER NOT NULL REFERENCES entities,
  chunk_id INTEGER NOT NULL REFERENCES chunks,
  relation TEXT NOT NULL,
  PRIMARY KEY(entity_id, chunk_id, relation)
) WITHOUT ROWID""",
    "relations": """CREATE TABLE relations(
  subject_id INTEGER NOT NULL REFERENCES entities,
  relation TEXT NOT NULL,
  object_id INTEGER NOT NULL REFERENCES entities,
  chunk_id INTEGER NOT NULL REFERENCES chunks,
  PRIMARY KEY(subject_id, relation, object_id, chunk_id)
) WITHOUT ROWID""",
}
INDEXES = {
    "chunks_of_source": "CREATE INDEX chunks_of_source ON chunks(source_id)",
    "mentions_of_chunk": "CREATE INDEX mentions_of_chunk ON mentions(chunk_id)",
    "relations_of_chunk": "CREATE INDEX relations_of_chunk ON relations(chunk_id)",
    "relations_of_object": "CREATE INDEX relations_of_object ON relations(object_id)",
    "sources_by_kind": "CREATE INDEX sources_by_kind ON sources(kind, status)",
}

EXPERIENCE_TABLES = {
    "meta": TABLES["meta"],
    "experience": """CREATE TABLE experience(
  row_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  status TEXT NOT NULL,
  expiry TEXT NOT NULL,
  salience REAL NOT NULL,
  created TEXT NOT NULL,
  tags TEXT NOT NULL,
  text TEXT NOT NULL,
  terms TEXT NOT NULL,
  language TEXT NOT NULL,
  vector BLOB NOT NULL,
  digest BLOB NOT NULL
)""",
    "links": """CREATE TABLE links(
  from_id TEXT NOT NULL,
  relation TEXT NOT NULL,
  to_id TEXT NOT NULL,
  PRIMARY KEY(from_id, relation, to_id)
) WITHOUT ROWID""",
}


class Schema:
    """What a file must be to count as one of ours."""

    __slots__ = ("application_id", "name", "optional", "tables", "version")

    def __init__(
        self,
        name: str,
        application_id: int,
        version: int,
        tables: dict[str, str],
        optional: str = "",
    ) -> None:
        self.name = name
        self.application_id = application_id
        self.version = version
        self.tables = tables
        self.optional = optional  # a table that may be missing: it needs a module of SQLite's


PROJECT = Schema("a store", APPLICATION_ID, SCHEMA_VERSION, TABLES, "chunk_fts")
EXPERIENCE = Schema("an experience", EXPERIENCE_ID, EXPERIENCE_VERSION, EXPERIENCE_TABLES)
