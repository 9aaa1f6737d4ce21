"""One indexing run: what changed on disk is brought into the store, and nothing else is touched."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agentlas_memory.lean import read_file
from agentlas_memory.ontology.config import MemoryConfig, load_config
from agentlas_memory.ontology.database import DamagedStore, writable_database
from agentlas_memory.ontology.decisions import follow_decisions
from agentlas_memory.ontology.documents import INBOX, MAX_FILE_BYTES
from agentlas_memory.ontology.embedder import model_identity
from agentlas_memory.ontology.prepared import Job, PreparedSource, Unprepared
from agentlas_memory.ontology.store import config_mark
from agentlas_memory.ontology.upkeep import (
    expire_sources,
    finish_run,
    has_unwritten_sources,
    is_up_to_date,
)
from agentlas_memory.ontology.walk import Found, Skipped, path_in_project, walk_project
from agentlas_memory.ontology.writer import StoreWriter, set_meta
from agentlas_memory.project import DATABASE

Progress = Callable[[int, int], None]  # bytes done, bytes in all


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What the store holds now, and what a run did with the files that it was about."""

    sources: int  # in the whole store, records included
    chunks: int
    added: int  # files of this run, which paths may have narrowed
    changed: int
    removed: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    embedding: str
    seconds: float


class _Known:
    """What the store says of a file."""

    __slots__ = ("changed_ns", "content_hash", "scope", "size")

    def __init__(self, size: int, changed_ns: int, content_hash: bytes | None, scope: str) -> None:
        self.size = size
        self.changed_ns = changed_ns
        self.content_hash = content_hash
        self.scope = scope


def index_project(
    project: Path,
    paths: Sequence[Path] = (),
    *,
    progress: Progress | None = None,
    wait: float = 10.0,
    forget: bool = False,
) -> IndexReport:
    """Bring a project's store up to date with its files; make the store where there is none.

    `paths` narrow the run. Each file is written in one transaction with its hash, so an interrupted
    run keeps what it finished and the next one does the rest. Raises StoreLocked after `wait`
    seconds of another writer, ConfigError, ForeignStore, NewerStore, sqlite3.OperationalError, and
    ValueError for a path outside the project.
    """
    try:
        return _index(project, paths, progress, wait, forget)
    except DamagedStore:
        return _index(project, (), progress, wait, forget)


def _index(
    project: Path, paths: Sequence[Path], progress: Progress | None, wait: float, forget: bool
) -> IndexReport:
    started = time.monotonic()
    mark = config_mark(str((project / DATABASE).parent))  # first: it may change meanwhile
    config = load_config(project)
    with writable_database(project / DATABASE, wait) as connection:
        run = _Run(connection, project, config)
        paths = run.widened(paths)
        # Under the lock: what another writer took in meanwhile would look vanished.
        seen = list(walk_project(project, config, paths or None))
        found = [one for one in seen if isinstance(one, Found)]
        skipped = [one for one in seen if isinstance(one, Skipped)]
        run.compare(found, _asked_for(project, paths))
        skipped += run.write(progress)
        run.finish(forget)
        if not paths:
            run.note_config(mark)
        sources, chunks = run.totals()
    return IndexReport(
        sources=sources,
        chunks=chunks,
        added=run.added,
        changed=run.changed,
        removed=len(run.gone),
        unchanged=len(found) - run.added - run.changed - run.unreadable,
        skipped=tuple(sorted(skipped)),
        embedding=run.embedding,
        seconds=round(time.monotonic() - started, 3),
    )


class _Run:
    """The writing part of one run, under the writer lock."""

    def __init__(self, connection: sqlite3.Connection, project: Path, config: MemoryConfig) -> None:
        self._connection = connection
        self._project = project
        self._config = config
        self._writer = StoreWriter(connection)
        self.embedding = model_identity()
        expire_sources(connection, self.embedding)
        self._quarantine = follow_decisions(connection, (project / DATABASE).parent)
        self._expired = has_unwritten_sources(connection)
        self._renew_records()
        self._known = self._load_known()
        self._jobs: list[Job] = []
        self._touched: list[Job] = []
        self.gone: list[str] = []
        self.added = self.changed = self.unreadable = 0

    def widened(self, paths: Sequence[Path]) -> Sequence[Path]:
        """Return the paths of a narrowed run with what must leave the store now, wherever it is."""
        if not paths:
            return paths
        unwritten = [path for path, known in self._known.items() if known.content_hash is None]
        decided = set(self._quarantine.paths())
        return [*paths, *(self._project / path for path in unwritten if path in decided)]

    def compare(self, found: Sequence[Found], asked: Callable[[str], bool]) -> None:
        """Decide by size and time, and where they differ by content, which files to prepare."""
        for file in found:
            known = self._known.get(file.path)
            scope, left_out = self._scope_of(file.path, known), self._quarantine.of(file.path)
            job = Job(file.path, file.size, file.changed_ns, scope, None, left_out)
            if known is None or not self._same_content(job, known):
                self._jobs.append(job)
            elif (known.size, known.changed_ns) != (job.size, job.changed_ns):
                self._touched.append(job)
        there = {file.path for file in found}
        self.gone = sorted(path for path in self._known if path not in there and asked(path))
        self._date_jobs()

    def write(self, progress: Progress | None) -> list[Skipped]:
        """Write what changed; return the files that turned out unreadable."""
        total = sum(job.size for job in self._jobs)
        sizes = {job.path: job.size for job in self._jobs}
        done = 0
        unreadable: list[Skipped] = []
        try:
            for path in self.gone:
                self._writer.remove(path)
            for job in self._touched:
                self._writer.touch(job.path, job.size, job.changed_ns)
            with closing(self._prepare()) as sources:
                for prepared in sources:
                    if isinstance(prepared, Unprepared):
                        unreadable.append(Skipped(prepared.path, prepared.reason))
                    self._write_one(prepared)
                    done += sizes[prepared.path]
                    if progress:
                        progress(done, total)
            self._writer.commit()
        except BaseException:
            self._writer.rollback()
            raise
        return unreadable

    def finish(self, forget: bool) -> None:
        """Bring what is derived up to date, if anything changed or was left behind by a kill."""
        folder = (self._project / DATABASE).parent
        if forget or not is_up_to_date(self._connection, folder):
            # What newer rules redact must not live on in the lexical index either.
            finish_run(self._connection, folder, forget=forget or self._expired)

    def note_config(self, mark: str) -> None:
        """Keep which `memory.toml` the whole store follows now."""
        sql = "SELECT value FROM meta WHERE key = 'config'"
        if self._connection.execute(sql).fetchone() != (mark,):
            self._connection.execute("BEGIN IMMEDIATE")
            set_meta(self._connection, "config", mark)
            self._connection.execute("COMMIT")

    def totals(self) -> tuple[int, int]:
        """Return how many sources and chunks the store holds."""
        count = self._connection.execute
        sources: int = count("SELECT count(*) FROM sources").fetchone()[0]
        chunks: int = count("SELECT count(*) FROM chunks").fetchone()[0]
        return sources, chunks

    # Most runs find nothing to do, and one is started after each commit: what only work needs is
    # imported when there is some (0.1 s for the readers of all formats).

    def _renew_records(self) -> None:
        if self._expired:
            from agentlas_memory.ontology.records import renew_records

            renew_records(self._connection, self._writer, self._quarantine)

    def _date_jobs(self) -> None:
        if self._jobs:
            from agentlas_memory.ontology.history import commit_times

            times = commit_times(self._project, (job.path for job in self._jobs))
            self._jobs = [job._replace(commit_time=times.get(job.path)) for job in self._jobs]

    def _prepare(self) -> Generator[PreparedSource | Unprepared, None, None]:
        if self._jobs:
            from agentlas_memory.ontology.pipeline import prepare_all

            yield from prepare_all(self._project, self._jobs)

    def _write_one(self, prepared: PreparedSource | Unprepared) -> None:
        known = prepared.path in self._known
        if isinstance(prepared, Unprepared):
            self.unreadable += 1
            if known:  # it was readable once: what it said then is no longer so
                self._writer.remove(prepared.path)
            return
        self._writer.put(prepared)
        if known:
            self.changed += 1
        else:
            self.added += 1

    def _load_known(self) -> dict[str, _Known]:
        rows = self._connection.execute(
            "SELECT path, size, changed_ns, content_hash, scope FROM sources WHERE kind <> 'record'"
        )
        return {path: _Known(*row) for path, *row in rows}

    def _scope_of(self, path: str, known: _Known | None) -> str:
        """Return the scope that `memory.toml` gives a file; a note says its own."""
        if known is not None and path.startswith(f"{INBOX}/"):
            return known.scope
        return self._config.scope_of(path)

    def _same_content(self, job: Job, known: _Known) -> bool:
        if known.content_hash is None or known.scope != job.scope:
            return False
        if (known.size, known.changed_ns) == (job.size, job.changed_ns):
            return True
        try:
            data = read_file(str(self._project / job.path), MAX_FILE_BYTES, follow=False)
        except OSError:
            return False
        return hashlib.sha256(data).digest() == known.content_hash


def _asked_for(project: Path, paths: Sequence[Path]) -> Callable[[str], bool]:
    """Return a test for whether a run narrowed to `paths` is about a source's path."""
    names = {path_in_project(project.resolve(), path) for path in paths}
    if not names or "" in names:
        return lambda path: True
    below = tuple(f"{name}/" for name in names)
    return lambda path: path in names or path.startswith(below)
