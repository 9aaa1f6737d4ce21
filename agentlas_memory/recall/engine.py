"""The road of one question through a store: lists, fusion, gates, hits."""

from agentlas_memory.deadline import Deadline, DeadlineReached
from agentlas_memory.embedding.asset import Asset
from agentlas_memory.embedding.coverage import model_knows
from agentlas_memory.lean import load_sqlite
from agentlas_memory.ontology.analyzer import terms_in
from agentlas_memory.ontology.language import ENGLISH
from agentlas_memory.ontology.store import Store
from agentlas_memory.project import is_policy_file
from agentlas_memory.recall.candidate import OWN, Candidate
from agentlas_memory.recall.dense import dense_scores, typical_cosine
from agentlas_memory.recall.embed import embed_question, idf
from agentlas_memory.recall.entity import search_entities
from agentlas_memory.recall.fusion import fuse, lift_decisions
from agentlas_memory.recall.gates import OTHER_LANGUAGE, WITH_MODEL, WITHOUT_MODEL, Gates
from agentlas_memory.recall.lexical import (
    document_frequencies,
    has_lexical_index,
    rarest_terms,
    search_lexical,
    try_other_language,
    with_neighbours,
)
from agentlas_memory.recall.question import Question, read_question
from agentlas_memory.recall.sources import CURRENT, gone_citations, source_state
from agentlas_memory.recall.weights import Weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentlas_memory.ontology.store import ChunkRow
    from agentlas_memory.recall.dense import Cosines, WithMean
    from agentlas_memory.recall.entity import EntityHit

HYBRID = "hybrid"
LEXICAL_LANGUAGE = "lexical_language"  # the model does not know this text
DEGRADED_HASH = "degraded_hash"  # the model was rejected
DEGRADED_LEXICAL = "degraded_lexical"  # simsimd or FTS5 is missing, or the time was short

JUDGED = 12  # best ranked candidates that are looked at
_BATCHES = 5  # of them, where most are copies of each other
# Of the words of the shorter text: copies of a page, with another link or greeting. In a short text
# one other word, the name of a host say, may be what matters, and another number in any.
_REPEATED, _COMPARED = 0.95, 30


class Recall:
    """What was found, what was dropped and why, and how."""

    __slots__ = (
        "candidates",
        "frequencies",
        "gates",
        "hits",
        "indexed",
        "question",
        "retrieval",
        "silence_reason",
    )

    def __init__(self, question: Question) -> None:
        self.question = question
        self.retrieval = HYBRID
        self.indexed = True  # False: this SQLite has no FTS5, so texts are scanned
        self.frequencies: dict[str, int] = {}  # chunks that hold each term
        self.gates: Gates | None = None  # None where there was nothing to judge
        self.candidates: list[Candidate] = []  # judged ones, best first
        self.hits: list[Candidate] = []
        self.silence_reason = ""  # blank when there are hits


def recall(
    store: Store,
    prompt: str,
    *,
    scopes: tuple[str, ...],
    limit: int,
    root: str | None,
    asset: Asset | None,
    deadline: Deadline,
    gated: bool = True,
) -> Recall:
    """Return the chunks that bear on a prompt, best first, at most `limit`; often none.

    `root` is the folder whose files are compared with what was indexed, None to compare nothing.
    Raises DeadlineReached when even the lexical list did not finish in time.
    """
    result = Recall(read_question(prompt))
    if not result.question.terms:
        result.silence_reason = "no_terms"
        return result
    lexical = _search_lexical(store, result, scopes, deadline)
    dense = _search_dense(store, result, scopes, asset, deadline)
    if asset is None:
        from agentlas_memory.recall.ties import break_ties

        lexical = break_ties(store, result.question, lexical)
    entities = search_entities(store, result.question, scopes)
    chunks = store.number("chunks")
    asked = sum(idf(count, chunks) for count in result.frequencies.values())
    ranked = fuse(_merge(lexical, dense, entities), asked)
    if result.question.records:
        from agentlas_memory.recall.named_records import mark_others, mark_own

        ranked = mark_own(store, result.question, ranked)
    _load_rows(store, ranked, max(JUDGED, 2 * limit), result)
    if result.question.records:
        result.candidates = mark_others(result.question, result.candidates)
    result.gates = gates_of(result, asset, dense, chunks, store.measure("noise"))
    _select(store, result, scopes, result.gates if gated else None, limit, root)
    deadline.stage("judge")
    return result


def gates_of(
    result: Recall,
    asset: Asset | None,
    dense: "WithMean | None",
    chunks: int,
    noise: float | None,
) -> Gates:
    """Return what the candidates of a store of so many chunks are judged by."""
    kind = OTHER_LANGUAGE if result.retrieval == LEXICAL_LANGUAGE else WITH_MODEL
    return Gates(
        result.question,
        result.frequencies,
        chunks,
        Weights(result.question, result.frequencies, chunks, asset),
        kind=WITHOUT_MODEL if asset is None else kind,
        typical=typical_cosine(dense) if dense else None,
        noise=noise,
    )


def _search_lexical(
    store: Store, result: Recall, scopes: tuple[str, ...], deadline: Deadline
) -> list[tuple[int, float]]:
    terms = list(result.question.terms)
    try:
        result.frequencies = document_frequencies(store, terms)
        if result.question.language != ENGLISH or store.number("portuguese"):
            try_other_language(
                result.question,
                result.frequencies,
                lambda others: document_frequencies(store, others),
            )
        return search_lexical(store, rarest_terms(result.frequencies), scopes)
    except load_sqlite().OperationalError as error:
        deadline.check()  # interrupted by our own clock
        if has_lexical_index(store):
            raise error
        from agentlas_memory.recall.scan import search_by_scan

        result.indexed = False
        return search_by_scan(store, terms, scopes)
    finally:
        deadline.stage("lexical")


def _search_dense(
    store: Store,
    result: Recall,
    scopes: tuple[str, ...],
    asset: Asset | None,
    deadline: Deadline,
) -> "Cosines | None":
    try:
        vector = question_vector(result, asset, store.number("chunks"), deadline)
        if asset is None or result.retrieval == LEXICAL_LANGUAGE:
            return None
        dense, whole = dense_scores(store, vector, scopes)
    except DeadlineReached:
        dense, whole = None, False
    if not whole or not result.indexed:
        result.retrieval = DEGRADED_LEXICAL
    deadline.stage("dense")
    return dense


def question_vector(
    result: Recall, asset: Asset | None, chunks: int, deadline: Deadline
) -> bytes | None:
    """Return the vector of what is asked; None, and why in `retrieval`, where the model has none.

    Also None for a question none of whose words has one. Raises DeadlineReached.
    """
    if asset is None:
        result.retrieval = DEGRADED_HASH
        return None
    question = result.question
    if question.language != ENGLISH or not model_knows(question.text, asset.vocabulary):
        result.retrieval = LEXICAL_LANGUAGE
        return None
    deadline.check()
    return embed_question(question, asset, result.frequencies, chunks)


def _merge(
    lexical: list[tuple[int, float]],
    dense: "Cosines | None",
    entities: "list[EntityHit]",
) -> list[Candidate]:
    """Return one candidate a chunk, with its place in each list."""
    found: dict[int, Candidate] = {}
    scores = dict(lexical)
    for rank, (chunk_id, score) in enumerate(with_neighbours(lexical), 1):
        found[chunk_id] = candidate = Candidate(chunk_id)
        candidate.lexical_rank, candidate.lexical_context = rank, score
        candidate.lexical_score = scores[chunk_id]
    for rank, hit in enumerate(entities, 1):
        chunk_id = hit.chunk_id
        candidate = found.get(chunk_id) or found.setdefault(chunk_id, Candidate(chunk_id))
        candidate.entity_rank, candidate.entity = rank, hit
    if dense is None:
        return list(found.values())
    for rank, (chunk_id, cosine) in enumerate(dense.best(), 1):
        candidate = found.get(chunk_id) or found.setdefault(chunk_id, Candidate(chunk_id))
        candidate.dense_rank, candidate.cosine = rank, cosine
    for candidate in found.values():
        if candidate.cosine is None:
            candidate.cosine = dense.cosine(candidate.chunk_id)
    return list(found.values())


def _load_rows(store: Store, ranked: list[Candidate], wanted: int, result: Recall) -> None:
    """Keep the best candidates with their rows: `wanted` different texts, and copies among them.

    The sidecar may name chunks that went since.
    """
    there: list[Candidate] = []
    texts: set[str] = set()
    for start in range(0, min(len(ranked), _BATCHES * wanted), wanted):
        batch = ranked[start : start + wanted]
        rows = store.chunks([candidate.chunk_id for candidate in batch])
        for candidate in batch:
            candidate.row = rows.get(candidate.chunk_id)
            if candidate.row is not None and len(texts) < wanted:
                texts.add(candidate.row.text)
                there.append(candidate)
        if 2 * len(texts) >= wanted:
            break  # few copies: what is left is not worth another look
    result.candidates = lift_decisions(there)


def _select(
    store: Store,
    result: Recall,
    scopes: tuple[str, ...],
    gates: Gates | None,
    limit: int,
    root: str | None,
) -> None:
    """Fill the hits with the best candidates that pass; give each other the test it fails."""
    subject = ""
    for candidate in result.candidates:
        if len(result.hits) == limit:
            candidate.gate = "budget"
            continue
        _match(candidate, result.question)
        candidate.gate = _source_gate(candidate, scopes)
        if gates is not None and not candidate.gate:
            candidate.gate = gates.judge(candidate) or _subject_gate(candidate, subject)
        candidate.gate = candidate.gate or _file_gate(candidate, store, result, root)
        if gates is not None and candidate.gate and not subject and not result.hits:
            subject = _fallen_subject(candidate, gates)
        if not candidate.gate:
            result.hits.append(candidate)
    if not result.hits:
        result.silence_reason = _silence_reason(result.candidates)
    elif root is not None:
        gone = gone_citations(store, [hit.chunk_id for hit in result.hits], root)
        for hit in result.hits:
            hit.gone = gone.get(hit.chunk_id, [])


def _match(candidate: Candidate, question: Question) -> None:
    """Set the terms of the question that a candidate holds."""
    row = candidate.row
    assert row is not None
    # The file of a note is named by a date, and says nothing of what the note is about.
    path = "" if row.path.startswith(".agentlas/") else row.path
    text = f"{path} {row.title} {row.heading} {row.text}"
    found = [terms_in(text, question.terms, language) for language in question.languages]
    candidate.matched = list(dict.fromkeys(term for terms in found for term in terms))


def _source_gate(candidate: Candidate, scopes: tuple[str, ...]) -> str:
    row = candidate.row
    assert row is not None
    if row.scope not in scopes:
        return "scope"
    if is_policy_file(row.path):
        return "policy_source"
    return _standing_gate(candidate) or ("" if row.intact() else "damaged")


def _standing_gate(candidate: Candidate) -> str:
    """Return why a text does not hold; one that is asked for by its number is told as what it is.

    A document that is no decision may go on describing what is deprecated, and says so.
    """
    row = candidate.row
    assert row is not None
    if row.status == "superseded":
        return "superseded"
    if candidate.record == OWN:
        return ""
    fallen = row.status == "rejected" or (row.status == "deprecated" and row.kind != "doc")
    return row.status if fallen else ""


def _fallen_subject(candidate: Candidate, gates: Gates) -> str:
    """Return the word that says most of a question whose best answer does not hold, else blank.

    What else bears on the question speaks of that too: a project that decided against GraphQL does
    not answer "have we a GraphQL API?" by what it says of any API.
    """
    if candidate.gate not in ("rejected", "deprecated", "stale") or gates.judge(candidate):
        return ""
    return max(candidate.matched, key=lambda term: gates.weights.of[term], default="")


def _subject_gate(candidate: Candidate, subject: str) -> str:
    return "beside_fallen" if subject and subject not in candidate.matched else ""


def _file_gate(candidate: Candidate, store: Store, result: Recall, root: str | None) -> str:
    """Return why a candidate that fits is left out: said already, or no longer so."""
    row = candidate.row
    assert row is not None
    if any(hit.row is not None and _repeats(row.text, hit.row.text) for hit in result.hits):
        return "duplicate"
    candidate.source_state = CURRENT if root is None else source_state(row, root, store)
    if candidate.stale:
        return "stale"
    if any(hit.row is not None and _overlaps(row, hit.row) for hit in result.hits):
        return "duplicate"
    return ""


def _overlaps(row: "ChunkRow", shown: "ChunkRow") -> bool:
    """Tell whether more than half of a chunk, or of the shown one, stands in lines of both.

    Neighbours share a sixth, so that no sentence is cut from what it refers to.
    """
    if row.path != shown.path:
        return False
    if row.end_line < shown.start_line or shown.end_line < row.start_line:
        return False
    lines, others = (set(one.text.split("\n")) for one in (row, shown))
    common = sum(map(len, lines & others))  # a line may be cut, and its parts are not the same
    return 2 * common > min(sum(map(len, lines)), sum(map(len, others)))


def _repeats(text: str, shown: str) -> bool:
    """Tell whether a text says hardly anything that another one, already shown, does not."""
    if text == shown:
        return True
    words, others = set(text.split()), set(shown.split())
    fewest = min(len(words), len(others))
    if fewest < _COMPARED or len(words & others) < _REPEATED * fewest:
        return False
    return not any(char.isdigit() for word in words ^ others for char in word)


def _silence_reason(candidates: list[Candidate]) -> str:
    """Return why nothing is left: the word for what came closest to being a hit."""
    gates = {candidate.gate for candidate in candidates}
    return next((reason for reason in ("stale", "policy_source") if reason in gates), "gated")
