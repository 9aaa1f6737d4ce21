"""Text -> token ids, equal to the `tokenizers` library's reading of tokenizer.json.

BERT's normaliser and pre-tokenizer (cleaning, CJK isolation, NFD, accent strip, lower case,
punctuation isolation) work character by character but for one thing: NFD also sorts combining
marks. The ids cannot show it: such a mark is either stripped or in no token, and a word with a
character that is in no token is [UNK] in any order. So the whole step is one table (built by
scripts/build_model_asset.py with the library as its oracle): a character becomes its replacement,
with spaces around what stands alone, and U+FFFD stands for every character that is in no token.

By design a lone surrogate, which the library refuses, counts as U+FFFD, which BERT drops.
"""

from agentlas_memory.embedding.asset import Asset

UNKNOWN = 1
# Matched as they are written, before normalisation; the place is the id.
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
OUTSIDE_VOCABULARY = "\ufffd"
_LONGEST_WORD = 100
# model2vec reads 512 tokens at most and first cuts the text at 512 x the median token length, 6.
MAX_TOKENS = 512
MAX_CHARACTERS = MAX_TOKENS * 6


class WordPiece:
    """The tokenizer of one opened asset."""

    __slots__ = ("_characters", "_find", "_longest")

    def __init__(self, asset: Asset) -> None:
        self._characters = asset.characters
        self._find = asset.vocabulary.find
        self._longest = asset.vocabulary.longest

    def ids(self, text: str) -> list[int]:
        """Return the ids of the whole text, [UNK] included, nothing added."""
        return self._between_special_tokens(text, 0)

    def content_ids(self, text: str) -> list[int]:
        """Return the ids model2vec pools: the head of the text, [UNK] left out."""
        head = self.ids(text[:MAX_CHARACTERS])[:MAX_TOKENS]
        return [token for token in head if token != UNKNOWN]

    def _between_special_tokens(self, text: str, first: int) -> list[int]:
        if "[" in text:
            for special in range(first, len(SPECIAL_TOKENS)):
                if SPECIAL_TOKENS[special] in text:
                    return self._split_at(special, text)
        return self._plain(text)

    def _split_at(self, special: int, text: str) -> list[int]:
        found: list[int] = []
        for part in text.split(SPECIAL_TOKENS[special]):
            found += self._between_special_tokens(part, special + 1)
            found.append(special)
        return found[:-1]

    def _plain(self, text: str) -> list[int]:
        found: list[int] = []
        for word in text.translate(self._characters).split():
            found += self._pieces(word)
        return found

    def _pieces(self, word: str) -> list[int]:
        """Cut a word into the longest tokens from the left, or into [UNK]."""
        size = len(word)
        if size > _LONGEST_WORD or OUTSIDE_VOCABULARY in word:
            return [UNKNOWN]
        pieces: list[int] = []
        start, prefix = 0, ""
        while start < size:
            for end in range(min(size, start + self._longest), start, -1):
                token = self._find(prefix + word[start:end])
                if token >= 0:
                    break
            else:
                return [UNKNOWN]
            pieces.append(token)
            start, prefix = end, "##"
        return pieces
