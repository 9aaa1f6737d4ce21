"""The dense list: cosine of the query's vector with every chunk's."""

from agentlas_memory.embedding.asset import MODEL_NAME
from agentlas_memory.ontology.sidecar import Sidecar, SidecarRejected
from agentlas_memory.ontology.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Cosines: TypeAlias = "DenseScores | CandidateCosines"

DEPTH = 50
_SAMPLE = 500  # distances sorted to guess a cut, instead of sorting all of them


class DenseScores:
    """Cosines of one query with all vectors of a sidecar, by position."""

    __slots__ = ("_distances", "_ranges", "_scopes", "_sidecar")

    def __init__(self, sidecar: Sidecar, query: bytes, scopes: tuple[str, ...]) -> None:
        """Scan the vectors of these scopes; raise ImportError without simsimd."""
        from simsimd import cdist

        width = len(query)
        row = memoryview(query).cast("b", (1, width))
        self._sidecar = sidecar
        self._scopes = scopes
        self._ranges = [r for scope in scopes if (r := sidecar.ranges[scope])[0] < r[1]]
        self._distances: list[list[float]] = []
        for start, end in self._ranges:
            block = sidecar.vectors[start * width : end * width].cast("b", (end - start, width))
            matrix = cdist(row, block, "cosine", dtype="int8")
            self._distances += memoryview(matrix).tolist()  # type: ignore[arg-type]

    def cosine(self, chunk_id: int) -> float | None:
        """Return a chunk's cosine, None when the sidecar does not hold it in these scopes."""
        at = self._sidecar.position(chunk_id, self._scopes)
        for (start, end), distances in zip(self._ranges, self._distances):  # noqa: B905
            if at is not None and start <= at < end:
                return 1.0 - distances[at - start]
        return None

    def best(self) -> list[tuple[int, float]]:
        """Return (chunk id, cosine) of the nearest chunks, nearest first."""
        nearest: list[tuple[float, int]] = []
        for (start, _), distances in zip(self._ranges, self._distances):  # noqa: B905
            cut = _guess_cut(distances)
            near = [at for at, distance in enumerate(distances) if distance <= cut]
            nearest += [(distances[at], start + at) for at in near]
        nearest.sort()
        ids = self._sidecar.chunk_ids
        return [(ids[at], 1.0 - distance) for distance, at in nearest[:DEPTH]]


def _guess_cut(distances: list[float]) -> float:
    """Return a distance that some hundreds of vectors stay below, hardly ever less than DEPTH."""
    if len(distances) <= 4 * DEPTH:
        return 2.0
    step = max(1, len(distances) // _SAMPLE)
    sample = sorted(distances[::step])
    return sample[min(len(sample) - 1, max(4, 3 * DEPTH // step))]


class CandidateCosines:
    """Cosines of single chunks, for interpreters without simsimd: 1,000 would take 12 ms."""

    __slots__ = ("_query", "_scopes", "_sidecar")

    def __init__(self, sidecar: Sidecar, query: bytes, scopes: tuple[str, ...]) -> None:
        self._sidecar = sidecar
        self._scopes = scopes
        self._query = memoryview(query).cast("b")

    def cosine(self, chunk_id: int) -> float | None:
        """Return a chunk's cosine, None when the sidecar does not hold it in these scopes."""
        at = self._sidecar.position(chunk_id, self._scopes)
        if at is None:
            return None
        width = self._sidecar.dimensions
        row = self._sidecar.vectors[at * width : (at + 1) * width].cast("b")
        dot = sum(a * b for a, b in zip(self._query, row))  # noqa: B905
        norms = sum(a * a for a in self._query) * sum(b * b for b in row)
        return dot / norms**0.5 if norms else 0.0

    def best(self) -> list[tuple[int, float]]:
        """Return nothing: not all vectors can be compared in time."""
        return []


def dense_scores(
    store: Store, query: bytes | None, scopes: tuple[str, ...]
) -> "tuple[Cosines | None, bool]":
    """Return the query's cosines, and whether they cover all chunks as they should."""
    if query is None or not store.text("sidecar"):
        return None, query is None
    try:
        sidecar = Sidecar(f"{store.folder}/{store.text('sidecar')}", store.text("store_id"))
    except SidecarRejected:
        return None, False
    if sidecar.embedding != MODEL_NAME:
        return None, False
    try:
        return DenseScores(sidecar, query, scopes), True
    except ImportError:
        return CandidateCosines(sidecar, query, scopes), False
