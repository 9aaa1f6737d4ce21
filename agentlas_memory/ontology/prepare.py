"""From a file to a source that is ready to be written: read, cut, redact, analyze, relate."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, compress
from pathlib import Path

from agentlas_memory.lean import read_file
from agentlas_memory.ontology.chunker import chunk_document
from agentlas_memory.ontology.citations import with_citations
from agentlas_memory.ontology.decision_log import without_fallen_entries
from agentlas_memory.ontology.decisions import passage_digest
from agentlas_memory.ontology.documents import (
    MAX_FILE_BYTES,
    Chunk,
    Document,
    Link,
    Mention,
    UnreadableDocument,
)
from agentlas_memory.ontology.embedder import Embedder
from agentlas_memory.ontology.entities import extract_entities
from agentlas_memory.ontology.formats import decode_text, read_document
from agentlas_memory.ontology.gitignore import IgnoredFiles
from agentlas_memory.ontology.naming import embedded_text, index_terms, source_name
from agentlas_memory.ontology.notes import NoteError, parse_note
from agentlas_memory.ontology.prepared import (
    Job,
    PreparedChunk,
    PreparedMention,
    PreparedRelation,
    PreparedSource,
    Unprepared,
)
from agentlas_memory.ontology.standing import document_kind, document_status
from agentlas_memory.redact import redact


def prepare_files(
    root: Path, jobs: Sequence[Job], embedder: Embedder
) -> list[PreparedSource | Unprepared]:
    """Prepare a batch of files; their chunks are embedded together."""
    ignored = IgnoredFiles(root)
    prepared = [_prepare_file(root, job, ignored) for job in jobs]
    sources = [one for one in prepared if isinstance(one, PreparedSource)]
    texts = [
        embedded_text(source_name(s.path, s.title, s.kind), chunk.heading, chunk.text)
        for s in sources
        for chunk in s.chunks
    ]
    vectors = iter(embedder.embed(texts))
    return [
        _with_vectors(one, embedder.name, [next(vectors) for _ in one.chunks])
        if isinstance(one, PreparedSource)
        else one
        for one in prepared
    ]


def _with_vectors(source: PreparedSource, name: str, vectors: Sequence[bytes]) -> PreparedSource:
    chunks = zip(source.chunks, vectors, strict=True)
    return replace(
        source,
        embedding=name,
        chunks=tuple(replace(chunk, vector=vector) for chunk, vector in chunks),
    )


def _prepare_file(root: Path, job: Job, ignored: IgnoredFiles) -> PreparedSource | Unprepared:
    try:
        document, data = _read(root, job.path)
        kind, scope = _kind_and_scope(document, data, job.scope)
    except (OSError, UnreadableDocument, NoteError) as error:
        return Unprepared(job.path, _reason(error))
    chunks = chunk_document(document)
    graph = extract_entities(document, chunks)
    title = redact(document.title)
    if job.left_out:
        kept = [passage_digest(job.path, chunk.text) not in job.left_out for chunk in chunks]
        if not all(kept):
            graph, title = _kept_graph(*graph, kept), ""  # the title may be what was put out
        chunks = list(compress(chunks, kept))
    mentions, links = _clean_graph(*graph)
    name = source_name(job.path, document.title, kind)
    return PreparedSource(
        path=job.path,
        title=title,
        kind=kind,
        status=document_status(document) or "",
        scope=scope,
        chunks=tuple(_prepare_chunk(name, chunk) for chunk in chunks),
        mentions=with_citations(root, job.path, chunks, mentions, ignored),
        relations=links,
        size=len(data),
        changed_ns=job.changed_ns,
        content_hash=hashlib.sha256(data).digest(),
        commit_time=job.commit_time,
    )


def read_chunks(root: Path, path: str) -> list[Chunk]:
    """Return a file's chunks as they would be stored; raise as its reader does."""
    return chunk_document(_read(root, path)[0])


def _read(root: Path, path: str) -> tuple[Document, bytes]:
    # Not a link or a FIFO that took the file's place since the walk.
    data = read_file(str(root / path), MAX_FILE_BYTES, follow=False)
    # Before anything is cut: a key may run over many lines, and half of it is still a secret.
    document = read_document(path, redact(decode_text(data)).encode())
    return without_fallen_entries(document), data


def _kept_graph(
    mentions: Sequence[Mention], links: Sequence[Link], kept: Sequence[bool]
) -> tuple[list[Mention], list[Link]]:
    """Return what the kept chunks name; what the file itself is, and replaces, stays said."""
    places = [at - 1 if keep else None for keep, at in zip(kept, accumulate(kept), strict=True)]
    first = 0 if any(kept) else None
    replaced = {key for x in links if x.relation == "supersedes" for key in (x[0], x[2])}

    def place(chunk: int, stays: bool) -> int | None:
        return first if places[chunk] is None and stays else places[chunk]

    def of_file(m: Mention) -> bool:
        return m.key in replaced or (m.relation == "defined_in" and m.kind in _OWN_KINDS)

    named = [
        m._replace(chunk=at) for m in mentions if (at := place(m.chunk, of_file(m))) is not None
    ]
    related = [
        x._replace(chunk=at)
        for x in links
        if (at := place(x.chunk, x.relation == "supersedes")) is not None
    ]
    return named, related


_OWN_KINDS = ("path", "adr", "id")


def _clean_graph(
    mentions: Sequence[Mention], links: Sequence[Link]
) -> tuple[tuple[PreparedMention, ...], tuple[PreparedRelation, ...]]:
    """Return what is named and related, without names that hold a credential.

    Markup that is taken out of a heading may join what it had kept apart.
    """
    clean = tuple(PreparedMention(*m) for m in mentions if redact(m.name) == m.name)
    keys = {mention.key for mention in clean}
    return clean, tuple(PreparedRelation(*x) for x in links if keys.issuperset((x[0], x[2])))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or 'not a regular file'}"
    return str(error)


def _prepare_chunk(name: str, chunk: Chunk) -> PreparedChunk:
    heading = redact(" > ".join(chunk.heading_path))
    terms = index_terms(name, heading, chunk.text)
    return PreparedChunk(heading, chunk.start_line, chunk.end_line, chunk.text, terms)


def _kind_and_scope(document: Document, data: bytes, scope: str) -> tuple[str, str]:
    """Return adr, doc or the kind of a note, and the scope; a note says both itself."""
    kind = document_kind(document)
    if kind != "note":
        return kind, scope
    note = parse_note(document.path, data)
    return note.kind, note.scope
