"""How much of a text the English model knows: what it does not know it only adds noise to."""

from agentlas_memory.embedding.vocabulary import Vocabulary

_LATIN_SHARE = 0.5  # of the letters
# Of the longer words, those that are tokens and not made of pieces. English prompts, full of jargon
# as they are, have 0.5 to 1; Portuguese, German, French and Spanish ones 0 to 0.33.
_WHOLE_SHARE = 0.34
_LONG = 4  # letters
_FEWEST, _MOST = 3, 40  # such words: fewer do not tell, more are not looked at


def model_knows(text: str, vocabulary: Vocabulary) -> bool:
    """Tell whether the model's vocabulary covers a text."""
    if not text.isascii():
        letters = [char for char in text if char.isalpha()]
        if sum(char < "\u0250" for char in letters) < _LATIN_SHARE * len(letters):
            return False
    words = [word for word in _words(text) if len(word) >= _LONG and word.isalpha()][:_MOST]
    whole = sum(vocabulary.find(word) >= 0 for word in words)
    return len(words) < _FEWEST or whole >= _WHOLE_SHARE * len(words)


def _words(text: str) -> list[str]:
    return [word.strip(".,;:?!()\"'`*").lower() for word in text[: 16 * _MOST].split()]
