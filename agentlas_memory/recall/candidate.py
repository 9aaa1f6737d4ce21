"""One chunk that might be recalled, with the numbers `why` shows."""

from agentlas_memory.recall.sources import STALE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentlas_memory.ontology.store import ChunkRow
    from agentlas_memory.recall.entity import EntityHit

OWN, MENTIONS, OTHER = "own", "mentions", "other"  # of the record that is named; of another one


class Candidate:
    """A chunk in the ranking; ranks count from 1, None where a list does not hold it."""

    __slots__ = (
        "chunk_id",
        "cosine",
        "dense_rank",
        "entity",
        "entity_rank",
        "evidence",
        "gate",
        "gone",
        "lexical_context",
        "lexical_rank",
        "lexical_score",
        "margin",
        "matched",
        "record",
        "row",
        "score",
        "source_state",
    )

    def __init__(self, chunk_id: int) -> None:
        self.chunk_id = chunk_id
        self.lexical_rank: int | None = None
        self.lexical_score = 0.0  # BM25, larger is better
        self.lexical_context = 0.0  # with a share of the turns' beside it in a talk
        self.dense_rank: int | None = None
        self.cosine: float | None = None
        self.entity_rank: int | None = None
        self.entity: EntityHit | None = None  # what of the prompt is named here
        self.record = ""  # what it has to do with a decision record that the prompt names
        self.score = 0.0  # of the fusion
        self.row: ChunkRow | None = None
        self.matched: list[str] = []  # terms of the prompt in this chunk
        self.evidence = 0.0  # what the gate weighs
        self.margin = 0.0  # evidence above the gate, negative below
        self.gate = ""  # why it was dropped; blank for a hit
        self.gone: list[str] = []  # files it refers to that have vanished
        self.source_state = ""  # `moved`, `changed` or `gone` since it was indexed

    @property
    def stale(self) -> bool:
        """Whether the file no longer says this."""
        return self.source_state in STALE
