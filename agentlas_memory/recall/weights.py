"""How much each word of a prompt says: in general text, in this store, in this one beside that."""

from math import log

from agentlas_memory.embedding.asset import Asset
from agentlas_memory.ontology.analyzer import QueryTerm
from agentlas_memory.ontology.language import ENGLISH
from agentlas_memory.recall.question import Question

# The model's vocabulary is ordered by how frequent a word is in general text, so a word's place is
# its Zipf rank. Before the first come marks, single letters and function words.
_FIRST_RANK, _LAST_RANK = 1500, 29528
_IN_PIECES = 44_000  # a word that is no token is rarer than any that is
_PASSAGES = 60  # a word of rank r (from 1,000 on) stands in 60 / r of the passages of 100 words

# As if a store held that many chunks more, so that the words of one fact have a weight too.
_MORE_CHUNKS = 200
_MORE_PASSAGES = 50  # of general text, for how typical a word is of the store
_NO_SECOND = -5.0  # typical of nothing


class Weights:
    """The weights of one prompt's terms in one store; all sums are over its distinct terms."""

    def __init__(
        self, question: Question, frequencies: dict[str, int], chunks: int, asset: Asset | None
    ) -> None:
        self.specific = {
            name: specificity(term, asset) if question.language == ENGLISH else 1.0
            for name, term in question.terms.items()
        }
        total = chunks + _MORE_CHUNKS
        self.rarity = {
            name: log((total + 1) / (frequencies.get(name, 0) + 0.5)) / log(total)
            for name in question.terms
        }
        if "adr" in self.rarity and question.records:
            self.rarity["adr"] = 0.0  # a number says which record is meant, not this word
        self.of = {name: self.specific[name] * self.rarity[name] for name in question.terms}
        self.total = sum(self.of.values())
        typical = [
            _typical(commonness(term, asset), frequencies.get(name, 0), chunks)
            for name, term in question.terms.items()
        ]
        typical.sort(reverse=True)
        self.most_typical = sum((*typical, _NO_SECOND)[:2])  # of the two most typical terms
        self.typical = sum(typical) / len(typical)


def specificity(term: QueryTerm, asset: Asset | None) -> float:
    """Return how much a word says in general text: 0 for the most common, 1 for the rarest."""
    if not term.surface.isascii():
        return _of_script(term.surface)
    if asset is None or term.identifier:
        return 1.0
    rank = _zipf_rank(term, asset)
    return max(0.0, min(1.0, log(max(rank, 1) / _FIRST_RANK) / log(_LAST_RANK / _FIRST_RANK)))


def commonness(term: QueryTerm, asset: Asset | None) -> float:
    """Return the share of passages of general text that hold a word."""
    rank = _IN_PIECES if asset is None else _zipf_rank(term, asset)
    return min(0.5, _PASSAGES / (max(rank, _FIRST_RANK) - 1000))


def _typical(common: float, count: int, chunks: int) -> float:
    """Return how much more frequent a word is in this store than in general text: log odds."""
    share = (count + _MORE_PASSAGES * common) / (chunks + _MORE_PASSAGES)
    return log((share + 1e-4) / common)


def _zipf_rank(term: QueryTerm, asset: Asset) -> int:
    rank = asset.vocabulary.find(term.surface)
    if rank < 0 and term.surface.endswith("s"):
        rank = asset.vocabulary.find(term.surface[:-1])
    return _IN_PIECES if rank < 0 else rank


def _of_script(surface: str) -> float:
    """Return how much a pair of characters says, 1 for a word of a script with spaces.

    A word of Chinese, Japanese or Korean is one pair or several, and between words stand pairs that
    are endings and particles alone.
    """
    if surface[0] < "\u2e80":
        return 1.0
    if "\uac00" <= surface[0] <= "\ud7a3":
        return 0.2 if surface in _KOREAN_ENDINGS or len(surface) == 1 else 0.6
    kana = sum("\u3040" <= char <= "\u309f" for char in surface)
    if kana == len(surface):
        return 0.1
    return 0.35 if kana or not _CHINESE_PARTICLES.isdisjoint(surface) else 0.8


_CHINESE_PARTICLES = frozenset(
    "的了是在我你他她它们这那吗呢吧把被和与就都也很会能要有没不个上下里一为什么怎样给对到去"
    "来说做用请让再又还从可以哪谁几多少"
)
_ENDINGS = """
에서 으로 하지 해도 에는 까지 부터 습니 니다 하는 하고 합니 해요 해줘 어떻 떻게 하면 이다
한다 에도 으면 되나 나요 지금 있는 없는 것은 것을 대로 보다 때문 그리 그런 이런 이거 그거
다시 해야 야지 있어 어요 세요 주세 해서 면서
"""
_KOREAN_ENDINGS = frozenset(_ENDINGS.split())
