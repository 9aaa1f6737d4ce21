"""The content-free record of the last recall: ids, ranks, scores, gate codes, milliseconds.

One file a store, `~/.agentlas/state/last/<store id>.json`, for `status` and `why --last`.
"""

from agentlas_memory.deadline import Deadline
from agentlas_memory.lean import make_private_folder, quote_json, write_private
from agentlas_memory.recall.candidate import Candidate


class Receipt:
    """What one hook run did, filled in on the way."""

    __slots__ = (
        "agent",
        "candidates",
        "deadline",
        "event",
        "experience",
        "host",
        "retrieval",
        "silence_reason",
        "store_id",
    )

    def __init__(self, host: str, deadline: Deadline) -> None:
        self.host = host
        self.deadline = deadline
        self.event = ""
        self.store_id = ""
        self.retrieval = ""
        self.silence_reason = ""
        self.candidates: list[Candidate] = []
        self.agent = ""  # whose experience was asked, blank for none
        self.experience: list[Candidate] = []

    def save(self, home: str) -> None:
        """Replace the store's last receipt; without a home or a store there is none."""
        if home and self.store_id:
            folder = f"{home}/state/last"
            make_private_folder(folder)
            write_private(f"{folder}/{self.store_id}.json", self.to_json().encode("ascii"))

    def to_json(self) -> str:
        """Return the receipt as JSON."""
        return _object(
            ("host", quote_json(self.host)),
            ("event", quote_json(self.event)),
            ("silence_reason", quote_json(self.silence_reason)),
            ("retrieval", quote_json(self.retrieval)),
            ("stages", _object(*((k, str(v)) for k, v in self.deadline.stages.items()))),
            ("candidates", "[" + ",".join(map(_candidate, self.candidates)) + "]"),
            ("agent", quote_json(self.agent)),
            ("experience", "[" + ",".join(map(_candidate, self.experience)) + "]"),
        )


def _candidate(candidate: Candidate) -> str:
    return _object(
        ("chunk_id", str(candidate.chunk_id)),
        ("lexical_rank", _number(candidate.lexical_rank)),
        ("lexical_score", f"{candidate.lexical_score:.4f}"),
        ("cosine", "null" if candidate.cosine is None else f"{candidate.cosine:.4f}"),
        ("entity_rank", _number(candidate.entity_rank)),
        ("score", f"{candidate.score:.5f}"),
        ("margin", f"{candidate.margin:.4f}"),
        ("gate", quote_json(candidate.gate)),
        ("source_state", quote_json(candidate.source_state)),
    )


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _object(*items: tuple[str, str]) -> str:
    return "{" + ",".join(f'"{key}":{value}' for key, value in items) + "}"
