"""The dense list: cosine of the query's vector with every chunk's."""

from agentlas_memory.embedding.asset import MODEL_NAME
from agentlas_memory.embedding.query import cosine, distances
from agentlas_memory.lean import read_file
from agentlas_memory.ontology.sidecar import Sidecar, SidecarRejected, sidecar_path
from agentlas_memory.ontology.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    Cosines: TypeAlias = "DenseScores | CandidateCosines"

    class WithMean(Protocol):
        """Cosines of one query with all that can be recalled."""

        query: bytes

        def mean(self) -> tuple[float, int]:
            """Return the mean cosine, and over how many it is."""


DEPTH = 50
# The mean of the unit vectors of documentation, by scripts/build_background.py.
DOCUMENTATION = __file__.rpartition("dense.")[0] + "documentation.i8"
_LENGTH = 0.627  # of that mean
_AS_CHUNKS = 50  # it counts as that many chunks of the store
_LARGEST_SIDECAR = 64 << 20  # bytes, 240,000 vectors: mapped, they are memory of the process
_SAMPLE = 500  # distances sorted to guess a cut, instead of sorting all of them


class DenseScores:
    """Cosines of one query with all vectors of a sidecar, by position."""

    __slots__ = ("_distances", "_ranges", "_scopes", "_sidecar", "query")

    def __init__(self, sidecar: Sidecar, query: bytes, scopes: tuple[str, ...]) -> None:
        """Scan the vectors of these scopes; raise ImportError without simsimd."""
        self.query = query
        width = len(query)
        self._sidecar = sidecar
        self._scopes = scopes
        self._ranges = [r for scope in scopes if (r := sidecar.ranges[scope])[0] < r[1]]
        self._distances: list[list[float]] = []
        for start, end in self._ranges:
            self._distances.append(distances(query, sidecar.vectors[start * width : end * width]))

    def cosine(self, chunk_id: int) -> float | None:
        """Return a chunk's cosine, None when the sidecar does not hold it in these scopes."""
        at = self._sidecar.position(chunk_id, self._scopes)
        for (start, end), found in zip(self._ranges, self._distances):  # noqa: B905
            if at is not None and start <= at < end:
                return 1.0 - found[at - start]
        return None

    def mean(self) -> tuple[float, int]:
        """Return the mean cosine of all chunks of these scopes, and how many they are."""
        count = sum(map(len, self._distances))
        return 1.0 - sum(map(sum, self._distances)) / count if count else 0.0, count

    def best(self) -> list[tuple[int, float]]:
        """Return (chunk id, cosine) of the nearest chunks, nearest first."""
        nearest: list[tuple[float, int]] = []
        for (start, _), found in zip(self._ranges, self._distances):  # noqa: B905
            cut = _guess_cut(found)
            near = [at for at, distance in enumerate(found) if distance <= cut]
            nearest += [(found[at], start + at) for at in near]
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

    __slots__ = ("_scopes", "_sidecar", "query")

    def __init__(self, sidecar: Sidecar, query: bytes, scopes: tuple[str, ...]) -> None:
        self._sidecar = sidecar
        self._scopes = scopes
        self.query = query

    def cosine(self, chunk_id: int) -> float | None:
        """Return a chunk's cosine, None when the sidecar does not hold it in these scopes."""
        at = self._sidecar.position(chunk_id, self._scopes)
        if at is None:
            return None
        width = self._sidecar.dimensions
        return cosine(self.query, self._sidecar.vectors[at * width : (at + 1) * width])

    def mean(self) -> tuple[float, int]:
        """Return a mean over no chunks: not all vectors can be compared in time."""
        return 0.0, 0

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
        path = sidecar_path(store.folder, store.text("sidecar"))
        sidecar = Sidecar(path, store.text("store_id"), _LARGEST_SIDECAR)
    except SidecarRejected:
        return None, False
    whole = len(sidecar.vectors) == len(query) * len(sidecar.chunk_ids)
    if sidecar.embedding != MODEL_NAME or not whole:
        return None, False
    try:
        return DenseScores(sidecar, query, scopes), True
    except ImportError:
        return CandidateCosines(sidecar, query, scopes), False


def typical_cosine(dense: "WithMean") -> float:
    """Return the cosine that a question has with any chunk of the scopes asked.

    A few chunks cannot tell, so they are taken together with what documentation is like.
    """
    background = _LENGTH * cosine(dense.query, read_file(DOCUMENTATION, len(dense.query)))
    mean, count = dense.mean()
    return (count * mean + _AS_CHUNKS * background) / (count + _AS_CHUNKS)
