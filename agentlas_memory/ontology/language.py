"""The language of a text in Latin letters, as far as it decides how its words are stemmed.

Other scripts say themselves which stemmer is theirs. English is what all is taken for that does not
look like another language: Portuguese, with its neighbours Spanish and Galician, whose words are
then cut oddly but the same on both sides.
"""

ENGLISH, PORTUGUESE = "", "portuguese"

# Function words, folded; none that is a common word or abbreviation of the other language
# (Portuguese "a", "as", "do", "no", "os", "com"; English "a", "as", "do", "no", "me").
_PORTUGUESE = """
ao aos da das de deve devem dos ela ele em entao esta estao foi foram isso ja la mas mais muito na
nao nas nem nossa nosso nos onde ou para pela pelo por porque qual quais quando quanto que quem sao
se sem ser seu sua tem tambem um uma uns voce
algo como con cual cuando del donde el ella en entre es este esto hay las lo los muy nuestra nuestro
pero puede sin sobre su sus tiene una y
"""
_ENGLISH = """
an and are at be by can does for from have how i if in is it its my not of on or our that the their
there these they this to was we what when where which who why will with you your
"""
PORTUGUESE_WORDS, _ENGLISH_WORDS = frozenset(_PORTUGUESE.split()), frozenset(_ENGLISH.split())
_NASAL = ("ao", "coes")  # -ão, -ções: hardly an English word of five letters ends so
_LOOKED_AT = 120  # words
_FEWEST = 2  # "de facto" is English


def language_of(words: list[str]) -> str:
    """Return the language of a text, given in folded words."""
    words = [word.lower() for word in words[:_LOOKED_AT]]
    nasal = sum(word.endswith(_NASAL) and len(word) > 4 for word in words)
    foreign = sum(word in PORTUGUESE_WORDS for word in words) + 2 * nasal
    if foreign < _FEWEST:
        return ENGLISH
    english = sum(word in _ENGLISH_WORDS for word in words)
    return PORTUGUESE if foreign > english and foreign * 8 >= len(words) else ENGLISH
