"""Stores of Agentlas OS, made as it makes them, in projects and homes of a test's own."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentlas_memory.cli import cli
from agentlas_memory.project import DATABASE

SCHEMA = """
CREATE TABLE schema_migrations(version INTEGER PRIMARY KEY, applied_at TEXT);
CREATE TABLE sources(
  source_id TEXT PRIMARY KEY, uri TEXT, display_name TEXT, source_type TEXT, content_hash TEXT,
  version INTEGER, parser_status TEXT, parser_message TEXT, adapter_name TEXT, access_scope TEXT,
  privacy_scope TEXT, parent_source_id TEXT, derived_from_json TEXT, metadata_json TEXT,
  created_at TEXT, updated_at TEXT);
CREATE TABLE source_lineage(
  parent_source_id TEXT, child_source_id TEXT, relationship TEXT, metadata_json TEXT,
  created_at TEXT);
CREATE TABLE chunks(
  chunk_id TEXT PRIMARY KEY, source_id TEXT, chunk_index INTEGER, text TEXT, source_span_json TEXT,
  token_estimate INTEGER, checksum TEXT, privacy_scope TEXT, source_lineage_json TEXT,
  vector_json TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE entities(
  entity_id TEXT PRIMARY KEY, canonical_name TEXT, entity_type TEXT, status TEXT, confidence REAL,
  created_at TEXT, updated_at TEXT);
CREATE TABLE entity_aliases(
  alias TEXT, normalized_alias TEXT, entity_id TEXT, created_at TEXT);
CREATE TABLE relations(
  relation_id TEXT PRIMARY KEY, subject_entity_id TEXT, object_entity_id TEXT, relation_type TEXT,
  confidence REAL, evidence_chunk_id TEXT, source_id TEXT, privacy_scope TEXT,
  source_lineage_json TEXT, valid_from TEXT, valid_to TEXT, observed_at TEXT, status TEXT,
  created_at TEXT, updated_at TEXT);
CREATE TABLE memory_candidates(
  ticket_id TEXT PRIMARY KEY, idempotency_key TEXT UNIQUE, query TEXT, candidate_text TEXT,
  source_refs_json TEXT, reason TEXT, confidence REAL, risk TEXT, expiry TEXT,
  suggested_scope TEXT, status TEXT, durable_write_enabled INTEGER, agent_id TEXT,
  memory_kind TEXT, tags_json TEXT, salience REAL, privacy_scope TEXT, source_memory_id TEXT,
  source_updated_at TEXT, embedding_adapter TEXT, embedding_dimensions INTEGER,
  embedding_json TEXT, embedding_content_hash TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE memory_candidate_events(
  event_id TEXT PRIMARY KEY, ticket_id TEXT, decision TEXT, reason TEXT, created_at TEXT);
CREATE TABLE memory_links(
  link_id TEXT PRIMARY KEY, from_ticket TEXT, to_ticket TEXT, link_type TEXT, score REAL,
  reason TEXT, created_at TEXT);
CREATE TABLE working_memory(
  item_id TEXT PRIMARY KEY, agent_id TEXT, task_scope TEXT, memory_item TEXT,
  source_refs_json TEXT, confidence REAL, importance REAL, ttl_seconds INTEGER, expires_at TEXT,
  last_used_at TEXT, status TEXT, invalidation_reason TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE runtime_adapters(
  name TEXT PRIMARY KEY, kind TEXT, status TEXT, config_json TEXT, updated_at TEXT);
CREATE TABLE experience_entities(
  agent_id TEXT, entity_key TEXT, canonical TEXT, entity_type TEXT, mention_count INTEGER,
  first_seen TEXT, last_seen TEXT);
CREATE TABLE experience_mentions(agent_id TEXT, ticket_id TEXT, entity_key TEXT, weight REAL);
CREATE TABLE experience_relations(
  agent_id TEXT, src_key TEXT, dst_key TEXT, predicate TEXT, directed INTEGER, confidence REAL,
  extractor TEXT, cooccur_count INTEGER, valid_from TEXT, valid_to TEXT, created_at TEXT);
CREATE INDEX idx_chunks_source ON chunks(source_id);
CREATE INDEX idx_candidates_agent ON memory_candidates(agent_id, status);
"""
LEXICAL = "CREATE VIRTUAL TABLE chunk_fts USING fts5(chunk_id UNINDEXED, text, tokenize='{}')"
VECTOR = json.dumps([round(0.001 * n, 4) for n in range(352)])
MOMENT = "2025-03-02T10:11:12.131415+00:00"
LEDGER = "# Ledger\n\nWe settle the ledger in integer minor units, because floats lose cents.\n"
AGENT = "hub:ledger-keeper"


class Upstream:
    """A store of Agentlas OS that is easily filled; WAL and trigrams as it is usual there."""

    def __init__(self, path, *, wal=True, tokenizer="trigram", lexical=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.connection = sqlite3.connect(path)
        if wal:
            self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.executescript(SCHEMA)
        self.lexical = lexical
        if lexical:
            self.connection.execute(LEXICAL.format(tokenizer))
        self.connection.executemany(
            "INSERT INTO schema_migrations VALUES (?, ?)", [(n, MOMENT) for n in range(1, 9)]
        )

    def insert(self, table, **values):
        columns = ", ".join(values)
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table}({columns}) VALUES ({marks})"
        return self.connection.execute(sql, list(values.values())).lastrowid

    def source(self, uri, *texts, scope="internal", moment=MOMENT, identity=None, **values):
        """Add a source and its chunks; return its id."""
        identity = identity or hashlib.sha256(f"{uri}{values}".encode()).hexdigest()[:16]
        digest = hashlib.sha256("".join(texts).encode()).hexdigest()
        self.insert(
            "sources",
            **{
                "source_id": identity,
                "uri": uri,
                "display_name": str(uri).rpartition("/")[2],
                "source_type": "file",
                "content_hash": digest,
                "version": 1,
                "parser_status": "parsed",
                "privacy_scope": scope,
                "derived_from_json": "[]",
                "metadata_json": "{}",
                "created_at": moment,
                "updated_at": moment,
            }
            | values,
        )
        for index, text in enumerate(texts):
            self.chunk(identity, index, text, scope)
        return identity

    def chunk(self, source, index, text, scope="internal"):
        chunk_id = f"{source}-{index}"
        self.insert(
            "chunks",
            chunk_id=chunk_id,
            source_id=source,
            chunk_index=index,
            text=text,
            source_span_json='{"start": 0, "end": 9}',
            token_estimate=9,
            privacy_scope=scope,
            vector_json=VECTOR,
            created_at=MOMENT,
            updated_at=MOMENT,
        )
        if self.lexical and isinstance(text, str):
            self.insert("chunk_fts", chunk_id=chunk_id, text=text)

    def learn(self, ticket, text, *, agent=AGENT, kind="experience", status="active", **values):
        """Add a row of memory."""
        self.insert(
            "memory_candidates",
            **{
                "ticket_id": ticket,
                "idempotency_key": f"key-{ticket}",
                "candidate_text": text,
                "status": status,
                "agent_id": agent,
                "memory_kind": kind,
                "tags_json": "[]",
                "salience": 0.5,
                "privacy_scope": "private",
                "durable_write_enabled": 1,
                "embedding_json": VECTOR,
                "created_at": MOMENT,
                "updated_at": MOMENT,
            }
            | values,
        )

    def link(self, newer, older, kind="supersedes"):
        self.insert(
            "memory_links",
            link_id=f"{newer}-{kind}-{older}",
            from_ticket=newer,
            to_ticket=older,
            link_type=kind,
            created_at=MOMENT,
        )

    def close(self):
        self.connection.commit()
        self.connection.close()
        return self.path


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    def left(self):
        """Return how much was not carried, by what and why."""
        return {(one["what"], one["reason"]): one["count"] for one in self.json["not_carried"]}


@pytest.fixture
def am():
    """Run `agentlas-memory` in this process."""

    def run(*arguments):
        result = CliRunner().invoke(
            cli, [str(one) for one in arguments], prog_name="agentlas-memory"
        )
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project with a document; the current folder."""
    folder = tmp_path / "shop"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs/ledger.md").write_text(LEDGER)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def place(root):
    """Where the project's store lies."""
    return root / DATABASE


@pytest.fixture
def kept(place):
    """Where a store of Agentlas OS lies once it was taken over."""
    return place.with_name("ontology-runtime.upstream.sqlite")


@pytest.fixture
def upstream(place):
    """Make the project's store of Agentlas OS."""

    def make(path=place, **options):
        return Upstream(path, **options)

    return make


@pytest.fixture
def filled(upstream, root):
    """A store with a bit of everything, closed; what it says is asserted on in the tests."""
    store = upstream()
    store.source(f"file://{root}/docs/ledger.md", "We settle the ledger in floats, as ever.")
    store.source("docs/old.md", "# Old\n\nThe blue gateway is drained on Mondays.")
    store.source("https://example.org/zorkmid", "A zorkmid is the coin of the realm.")
    store.source("chat:7", "The vault of the quokka team is in the cellar.", scope="private")
    store.learn("t1", "The ssh port of all hosts is 22")
    store.learn("t2", "We moved sshd to 49222 on all hosts", tags_json='["ssh", "hosts"]')
    store.link("t2", "t1")
    store.learn("t3", "Freeze staging during the audit", expiry="2999-12-31", salience=0.9)
    store.learn("t4", "Deploys were frozen in winter", expiry="2024-02-01T00:00:00+00:00")
    store.learn("t5", "Never mind this", status="rejected")
    store.learn("t6", "Maybe remember this", kind="candidate", status="pending")
    store.learn("t7", "Somebody else's lesson", agent="hub:painter")
    store.insert("working_memory", item_id="w1", memory_item="halfway through", status="active")
    store.insert("entities", entity_id="e1", canonical_name="Ledger")
    return store.close()


@pytest.fixture
def memory(home):
    """The agent's folder."""
    folder = Path(home, ".agentlas/networking/hub-agents/ledger-keeper/memory")
    folder.mkdir(parents=True, mode=0o700)
    for part in folder.parents:
        if part.is_relative_to(home):
            part.chmod(0o700)
    return folder


@pytest.fixture
def ask(am):
    """Return the texts that a question finds, private ones too."""

    def run(question):
        scopes = [
            word for scope in ("public", "internal", "private") for word in ("--scope", scope)
        ]
        return [hit["text"] for hit in am("query", question, *scopes, "--json").json["hits"]]

    return run


@pytest.fixture
def notes(am):
    """Return the texts of the project's notes."""
    return lambda: [one["text"] for one in am("notes", "list", "--json").json["notes"]]


@pytest.fixture
def process():
    """Start `agentlas-memory` in a process of its own, after statements that replace a part."""

    def start(statements, *arguments, **options):
        code = f"import os, signal, sys\n{statements}\nfrom agentlas_memory.cli import main\nmain()"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ, **options)

    return start
