"""A passage, and what a person should look at in it: the same for documents, notes and records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agentlas_memory.capsule import inert_line, place
from agentlas_memory.lean import sha256
from agentlas_memory.ontology.decisions import Decision, passage_digest
from agentlas_memory.review.contradictions import Contradiction
from agentlas_memory.review.instructions import find_instruction
from agentlas_memory.review.secrets import marked_line, secret_kinds

INSTRUCTION, SECRET, CONTRADICTION, STALE = "instruction", "secret", "contradiction", "stale"
OPEN, APPROVED, QUARANTINED = "open", "approved", "quarantined"
_ORDER = (INSTRUCTION, SECRET, CONTRADICTION, STALE)


class Passage(NamedTuple):
    """A piece of text with the place it is from; without lines where there is no file."""

    path: str
    heading: str
    start_line: int
    end_line: int
    text: str

    @property
    def digest(self) -> str:
        """What names this passage as long as its words stay."""
        return passage_digest(self.path, self.text)


class Finding(NamedTuple):
    """A question to a person about one passage; `excerpt` and `detail` are inert lines."""

    id: str
    kind: str
    passage: Passage
    excerpt: str
    detail: str
    state: str = OPEN
    twin: str = ""  # the same question, asked of the other of two passages

    @property
    def place(self) -> str:
        """Where it stands, as a capsule says it."""
        p = self.passage
        return place(p.path, p.heading, p.start_line, p.end_line)


def finding_id(kind: str, *digests: str) -> str:
    """Return an id that holds for these words at these places alone."""
    return sha256("\0".join((kind, *digests)).encode()).hexdigest()[:12]


def instruction_in(passage: Passage) -> Finding | None:
    """Return a finding when a passage, or its heading, looks like an instruction to a model."""
    found = find_instruction(f"{passage.heading}\n{passage.text}")
    if found is None:
        return None
    detail = f"looks like an instruction to a model ({found.rule})"
    if found.hidden:
        detail += f", hidden: {inert_line(found.hidden)}"
    return _finding(INSTRUCTION, passage, found.excerpt, detail)


def secret_in(passage: Passage, written: str) -> Finding | None:
    """Return a finding when something of a passage was redacted that `written` still holds."""
    kinds = secret_kinds(passage.text, written)
    if not kinds:
        return None
    detail = f"the file still holds a credential ({', '.join(kinds)}): revoke it and take it out"
    return _finding(SECRET, passage, marked_line(passage.text), inert_line(detail))


def contradiction_findings(
    pair: Contradiction, passages: Sequence[Passage]
) -> tuple[Finding, Finding]:
    """Return a finding for each side: either may be the one that is wrong."""
    one, other = passages[pair.one], passages[pair.other]
    ids = [finding_id(CONTRADICTION, a.digest, b.digest) for a, b in ((one, other), (other, one))]
    sides = (
        (one, pair.one_says, other, pair.other_says),
        (other, pair.other_says, one, pair.one_says),
    )
    first, second = (
        Finding(
            ids[at],
            CONTRADICTION,
            here,
            inert_line(says),
            f"differs in a {pair.differs} from {_place(there)}: {inert_line(there_says)}"
            f" (that one is {ids[1 - at]})",
            twin=ids[1 - at],
        )
        for at, (here, says, there, there_says) in enumerate(sides)
    )
    return first, second


def stale_finding(passage: Passage, state: str, content: bytes) -> Finding:
    """Return a finding for a source whose file is not what was indexed."""
    whole = passage._replace(heading="", start_line=0, end_line=0)
    what = "is gone" if state == "gone" else "changed"
    identity = finding_id(STALE, passage_digest(passage.path, content.hex()))
    detail = f"the file {what} since it was indexed: agentlas-memory index follows it"
    return Finding(identity, STALE, whole, "", detail)


def with_states(findings: Iterable[Finding], decisions: Mapping[str, Decision]) -> list[Finding]:
    """Return the findings with what was decided on them, in a steady order."""

    def state(finding: Finding) -> str:
        made = [decisions[key].state for key in (finding.id, finding.twin) if key in decisions]
        return made[0] if made else OPEN

    return in_order(finding._replace(state=state(finding)) for finding in findings)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in a steady order, what is most urgent first."""
    return sorted(
        findings, key=lambda f: (_rank(f.kind), f.passage.path, f.passage.start_line, f.id)
    )


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)  # of a newer version


def _place(passage: Passage) -> str:
    return place(passage.path, passage.heading, passage.start_line, passage.end_line)


def _finding(kind: str, passage: Passage, excerpt: str, detail: str) -> Finding:
    return Finding(finding_id(kind, passage.digest), kind, passage, inert_line(excerpt), detail)
