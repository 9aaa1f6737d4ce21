"""Text -> terms: one analyzer for what is indexed and what is asked.

Each character is folded by a shipped table, so that every Python agrees; the text is cut at spaces;
stop words go; a word yields its stem, an identifier itself and its parts: `src/auth.py` ->
src/auth.py, src, auth.py, auth, py. Scripts without spaces yield overlapping pairs of characters.
No term is a single letter, and none holds a space, a double quote, NUL or a surrogate: put between
double quotes it is safe in an FTS5 query.
"""

from itertools import chain, groupby, pairwise

from agentlas_memory.chartable import CharTable
from agentlas_memory.ontology.language import ENGLISH, PORTUGUESE, PORTUGUESE_WORDS, language_of
from agentlas_memory.ontology.stemming import stem
from agentlas_memory.ontology.stopwords import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# In the store: another version means other terms, and the sources are indexed again.
ANALYZER_VERSION = "3/unicode-15.1.0/snowball-3"

_CHARACTERS = CharTable(__file__.rpartition("analyzer.")[0] + "analyzer.chars")
_COMPOSE = "\0"  # what the table leaves of a character that belongs to its neighbour

_JOINERS = "/.-_"  # outermost first: a path holds file names, a file name a stem and a suffix
# As in FTS5's stemmer. What is longer and has no joiner is a blob (base64, minified code) that
# nobody will type; of a long path only the whole is left out.
_LONGEST_TERM = 64
_CACHED_TOKENS = 1 << 16  # about 20 MB when full; the common words of a large project

_UPPER, _LOWER, _DIGIT, _OTHER = range(4)
_SILENT_IN = {PORTUGUESE: STOP_WORDS | PORTUGUESE_WORDS}  # other languages: STOP_WORDS


class QueryTerm:
    """A term of a query, with the folded word it stems from."""

    __slots__ = ("identifier", "surface", "term")

    def __init__(self, term: str, surface: str, identifier: bool) -> None:
        self.term = term
        self.surface = surface
        self.identifier = identifier  # a whole made of parts: `src/auth.py`, `userId`, `v2`


def analyze(text: str, language: str | None = None) -> list[str]:
    """Return the terms to index, in order and with repetitions, without stop words.

    `language` is that of a text which this one is a part of.
    """
    if language is None:
        return analyze_parts(text)[1][0]
    return _terms_of(_fold(text).split(), language)


def analyze_parts(*parts: str) -> tuple[str, list[list[str]]]:
    """Return the language that the parts of a text are in together, and the terms of each part."""
    tokens = [_fold(part).split() for part in parts]
    language = language_of(" ".join(parts), list(chain.from_iterable(tokens)))
    return language, [_terms_of(part, language) for part in tokens]


def _terms_of(tokens: list[str], language: str) -> list[str]:
    return list(chain.from_iterable(map(_terms_in_language(language).__getitem__, tokens)))


def query_terms(text: str, language: str | None = None) -> list[QueryTerm]:
    """Return the distinct terms to look up, in order; none when all words are stop words."""
    tokens = _fold(text).split()
    language = language_of(text, tokens) if language is None else language
    found: dict[str, QueryTerm] = {}
    for token in tokens:
        for surface, identifier in _forms(token, language):
            term = stem(surface, language)
            if term not in found:
                found[term] = QueryTerm(term, surface, identifier)
    return list(found.values())


def read_language(text: str) -> str:
    """Return the language that a text's words are stemmed by."""
    return language_of(text, _fold(text).split())


def terms_in(text: str, terms: "Iterable[str]", language: str = ENGLISH) -> list[str]:
    """Return which of the terms `analyze` would find in a text, without analysing all of it.

    A stem begins as its words do, so only words that hold such a beginning are analysed: 0.04 ms
    for a chunk, where the whole takes 0.3 in a cold process.
    """
    wanted = list(terms)
    if not all(map(str.isascii, wanted)):
        found = set(analyze(text, language))
        return [term for term in wanted if term in found]
    folded = _fold(text) + " "
    lowered = folded.lower()
    tokens = {
        token
        for term in wanted
        for token in _tokens_with(term[: max(2, min(4, len(term) - 1))], folded, lowered)
    }
    cache = _terms_in_language(language)
    found = {term for token in tokens for term in cache[token]}
    return [term for term in wanted if term in found]


def _tokens_with(part: str, folded: str, lowered: str) -> "Iterator[str]":
    at = lowered.find(part)
    while at >= 0:
        end = lowered.find(" ", at)
        yield folded[lowered.rfind(" ", 0, at) + 1 : end]
        at = lowered.find(part, end)


class _TermCache(dict[str, tuple[str, ...]]):
    """The terms of each token in one language, worked out when it is first met."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, token: str) -> tuple[str, ...]:
        forms = _forms(token, self.language)
        terms = tuple([stem(surface, self.language) for surface, _ in forms])
        if len(token) <= _LONGEST_TERM:
            if len(self) >= _CACHED_TOKENS:
                self.clear()
            self[token] = terms
        return terms


_caches: dict[str, _TermCache] = {}


def _terms_in_language(language: str) -> _TermCache:
    return _caches.get(language) or _caches.setdefault(language, _TermCache(language))


def _fold(text: str) -> str:
    """Return the text in folded word characters, joiners and spaces; only ASCII keeps its case."""
    folded = text.translate(_CHARACTERS)
    if _COMPOSE in folded:
        # Only decomposed й, kana or Hangul come here: one megabyte of tables that others need not
        # load. Composition never changes between Unicode versions, so all Pythons agree.
        from unicodedata import normalize

        folded = normalize("NFKC", text).translate(_CHARACTERS).replace(_COMPOSE, "")
    return folded


def _forms(token: str, language: str) -> "Iterator[tuple[str, bool]]":
    """Yield the surface forms of a token, wholes before parts; True marks an identifier.

    Stop words are left out of the index as well: measured, that ranks no worse and saves a fifth of
    its size.
    """
    silent = _SILENT_IN.get(language, STOP_WORDS)
    for form, identifier in _candidates(token):
        bounded = 1 < len(form) <= _LONGEST_TERM or _is_spaceless(form)
        if bounded and form not in silent:
            yield form, identifier


def _candidates(token: str) -> "Iterable[tuple[str, bool]]":
    if not token.isascii():
        return _mixed_scripts(token)
    if token.isalpha() and (token[1:].islower() or token.isupper()):  # most tokens: a plain word
        return ((token.lower(), False),)
    return _identifier(token)


def _mixed_scripts(token: str) -> "Iterator[tuple[str, bool]]":
    for spaceless, run in groupby(token, _is_spaceless):
        part = "".join(run)
        yield from _pairs(part) if spaceless else _identifier(part)


def _pairs(run: str) -> "Iterator[tuple[str, bool]]":
    """Yield overlapping pairs of characters, or the only one."""
    for at in range(max(1, len(run) - 1)):
        yield run[at : at + 2], False


def _is_spaceless(char: str) -> bool:
    """Tell whether a character belongs to a script that is written without spaces."""
    return char >= "\u0e00" and (
        "\u2e80" <= char <= "\u9fff"  # Han and kana
        or "\uac00" <= char <= "\ud7a3"  # Hangul: it has spaces, but its endings are glued on
        or char <= "\u0eff"  # Thai, Lao
        or "\u1000" <= char <= "\u109f"  # Myanmar
        or "\u1780" <= char <= "\u17ff"  # Khmer
        or "\U00020000" <= char <= "\U0003ffff"  # rare Han
    )


def _identifier(token: str, level: int = 0) -> "Iterator[tuple[str, bool]]":
    """Yield a token and what its joiners, from this level of `_JOINERS` on, hold together."""
    token = token.strip(_JOINERS)
    while level < len(_JOINERS) and _JOINERS[level] not in token:
        level += 1
    if level == len(_JOINERS):
        yield from _word(token)
        return
    yield token.lower(), True
    for part in token.split(_JOINERS[level]):
        yield from _identifier(part, level + 1)


def _word(word: str) -> "Iterator[tuple[str, bool]]":
    """Yield a word and, where case, script or digits cut it, its pieces."""
    if len(word) > _LONGEST_TERM:
        return
    pieces = _pieces(word)
    yield word.lower(), len(pieces) > 1
    # Hashes and base64 fall into crumbs of about two characters, which would match anything: `utf8`
    # and `getUserById` are cut, `e29b` and a commit id are not.
    if len(pieces) > 1 and len(word) >= 2.5 * len(pieces) - 1:
        for piece in pieces:
            yield piece.lower(), False


def _pieces(word: str) -> list[str]:
    """Split `parseHTTPUrl2` into parse, HTTP, Url and 2; the plural `APIs` stays one."""
    starts = [0]
    kinds = list(map(_kind, word))
    for at in range(1, len(word)):
        before, here = kinds[at - 1], kinds[at]
        if before == _UPPER and here == _LOWER:
            if at - 1 > starts[-1] and word[at:] != "s":
                starts.append(at - 1)  # the last capital of a run opens the next piece
        elif before != here:
            starts.append(at)
    return [word[start:end] for start, end in pairwise([*starts, len(word)])]


def _kind(char: str) -> int:
    if "A" <= char <= "Z":
        return _UPPER
    if "0" <= char <= "9":
        return _DIGIT
    return _LOWER if char < "\u0370" else _OTHER  # other scripts begin with Greek
