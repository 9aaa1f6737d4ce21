"""The Python interface: a store that can be asked and fed. Documented in docs/api.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlas_memory.deadline import Deadline
from agentlas_memory.embedding.model import open_model
from agentlas_memory.home import data_home
from agentlas_memory.ontology.schema import EXPERIENCE, SCOPES
from agentlas_memory.ontology.store import StoreUnusable, open_store
from agentlas_memory.recall.candidate import Candidate
from agentlas_memory.recall.engine import Recall, recall

if TYPE_CHECKING:
    from agentlas_memory.ontology.records import Record

PROJECT_SCOPES = ("public", "internal")  # a project's private rows are asked for by name
_PATIENCE_MS = 60_000.0  # nobody waits for a prompt here
_CHARACTERS_PER_TOKEN = 4  # of English text, rounded down


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled chunk.

    `score` is the fusion's, comparable within one result only; `lexical_score` is BM25 (larger is
    better), `cosine` in -1..1; a rank counts from 1, None where a list does not hold the chunk.
    """

    chunk_id: int
    source: str
    heading: str
    lines: tuple[int, int]
    text: str
    score: float
    lexical_rank: int | None
    lexical_score: float
    cosine: float | None
    entity_rank: int | None
    scope: str
    stale: bool


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Hits, best first; those of an agent are `experience`, and their source is an id."""

    query: str
    retrieval: str
    hits: tuple[Hit, ...]
    experience: tuple[Hit, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


class OntologyRuntime:
    """One project's store, or one agent's experience.

    `db_path` is the SQLite file, `root` the folder whose files are compared with what was indexed:
    by default the project's that the store stands in, a linked worktree's where that is named. A
    query opens a snapshot of its own, so an instance may be kept.
    """

    def __init__(self, db_path: str | Path, *, root: str | Path | None = None) -> None:
        self._path = Path(db_path).absolute()
        self._named_root = root

    def query(
        self,
        question: str,
        *,
        scopes: Sequence[str] | None = None,
        agent_id: str | None = None,
        limit: int = 8,
        token_budget: int | None = None,
        record_memory: bool = False,
        gated: bool = True,
    ) -> QueryResult:
        """Return what bears on a question; nothing passes the gates for most.

        `agent_id` (`hub:<slug>`) asks an `experience.sqlite` for that agent's rows. `scopes` are by
        default public and internal, for an agent's rows all three. `token_budget` bounds the text
        (four characters a token): the first hit that does not fit ends the list; of experience all
        is returned if it fits, else the best. `gated=False` ranks without the absolute gates.

        Raises ValueError for `record_memory=True`, a negative number and an unknown scope, and
        StoreUnusable for a file that cannot be read or is not what was asked for.
        """
        if record_memory:
            raise ValueError(
                "record_memory=True: this runtime adds no second memory authority;"
                " write notes with `agentlas-memory remember`"
            )
        if token_budget is not None and token_budget < 0:
            raise ValueError(f"token_budget={token_budget}: it cannot be negative")
        characters = None if token_budget is None else token_budget * _CHARACTERS_PER_TOKEN
        if agent_id is not None:
            found = self.explain_experience(
                question, agent_id, scopes=scopes, limit=limit, budget=characters, gated=gated
            )
            learned = tuple(hit_of(candidate) for candidate in found.hits)
            return QueryResult(question, found.retrieval, (), learned)
        found = self.explain(
            question, scopes=PROJECT_SCOPES if scopes is None else scopes, limit=limit, gated=gated
        )
        hits = [hit_of(candidate) for candidate in found.hits]
        if characters is not None:
            hits = _within(hits, characters)
        return QueryResult(question, found.retrieval, tuple(hits))

    def explain(
        self,
        question: str,
        *,
        scopes: Sequence[str] = PROJECT_SCOPES,
        limit: int = 8,
        gated: bool = True,
    ) -> Recall:
        """Return the whole recall: candidates, gates, terms. Its shape may change."""
        check_scopes(scopes)
        _check_limit(limit)
        deadline = Deadline(_PATIENCE_MS)
        store = open_store(str(self._path), deadline)
        try:
            return recall(
                store,
                question,
                scopes=tuple(scopes),
                limit=limit,
                root=self._root(),
                asset=open_model(data_home()),
                deadline=deadline,
                gated=gated,
            )
        finally:
            store.close()

    def explain_experience(
        self,
        question: str,
        agent_id: str,
        *,
        scopes: Sequence[str] | None = None,
        limit: int = 8,
        budget: int | None = None,
        gated: bool = True,
    ) -> Recall:
        """Return the whole recall of an agent's rows; `budget` is in characters."""
        from agentlas_memory.recall.experience import BUDGET, recall_experience
        from agentlas_memory.recall.experience import SCOPES as ALL

        check_scopes(ALL if scopes is None else scopes)
        _check_limit(limit)
        deadline = Deadline(_PATIENCE_MS)
        store = open_store(str(self._path), deadline, EXPERIENCE)
        try:
            return recall_experience(
                store,
                question,
                agent_id=agent_id,
                scopes=ALL if scopes is None else tuple(scopes),
                asset=open_model(data_home()),
                deadline=deadline,
                budget=BUDGET if budget is None else budget,
                most=limit,
                gated=gated,
            )
        finally:
            store.close()

    def ingest_records(
        self, records: Iterable[Record | Sequence[str]], *, scope: str = "internal"
    ) -> int:
        """Replace or add records of (id, text, title, path), and return how many were written.

        A record has no file to go stale; its id is what a hit shows, `path` names it for ranking.
        """
        from agentlas_memory.ontology.records import ingest_records
        from agentlas_memory.recall.calibrate import calibrate

        check_scopes([scope])
        written = ingest_records(self._path, records, scope=scope)
        calibrate(self._path)
        return written

    def _root(self) -> str | None:
        """Return the project's folder, None for a store that stands elsewhere."""
        if self._named_root is not None:
            return str(Path(self._named_root).absolute())
        folder = self._path.parent
        return str(folder.parent) if folder.name == ".agentlas" else None


def check_scopes(scopes: Sequence[str]) -> None:
    """Raise ValueError unless these are scopes; a text alone would be read letter by letter."""
    known = ", ".join(SCOPES)
    if isinstance(scopes, str):
        raise ValueError(f"scopes={scopes!r}: a sequence of {known}")
    for scope in scopes:
        if scope not in SCOPES:
            raise ValueError(f"scope {scope!r}: one of {known}")


def _check_limit(limit: int) -> None:
    if limit < 0:
        raise ValueError(f"limit={limit}: it cannot be negative")


def hit_of(candidate: Candidate) -> Hit:
    """Return a candidate as a value for callers."""
    row = candidate.row
    assert row is not None
    return Hit(
        chunk_id=row.chunk_id,
        source=row.path,
        heading=row.heading,
        lines=(row.start_line, row.end_line),
        text=row.text,
        score=candidate.score,
        lexical_rank=candidate.lexical_rank,
        lexical_score=candidate.lexical_score,
        cosine=candidate.cosine,
        entity_rank=candidate.entity_rank,
        scope=row.scope,
        stale=candidate.stale,
    )


def _within(hits: list[Hit], characters: int) -> list[Hit]:
    kept = []
    for hit in hits:
        characters -= len(hit.text)
        if characters < 0:
            break
        kept.append(hit)
    return kept


__all__ = ["Hit", "OntologyRuntime", "QueryResult", "StoreUnusable"]
