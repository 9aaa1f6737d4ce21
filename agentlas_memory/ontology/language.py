"""The language of a text in Latin letters, as far as it decides how its words are stemmed.

Other scripts say themselves which stemmer is theirs. English is what all is taken for that does not
look like another language: Portuguese, with its neighbours Spanish and Galician, whose words are
then cut oddly but the same on both sides.
"""

ENGLISH, PORTUGUESE = "", "portuguese"

# Function words, folded; none that is a common word or abbreviation of the other language
# (Portuguese "a", "as", "do", "no", "os", "com"; English "a", "as", "do", "no", "me").
_PORTUGUESE = """
ao aos da das de deve devem dos ela ele em entao esta estao foi foram isso ja mas mais muito nao nas
nem nossa nosso nos onde ou para pela pelo por porque qual quais quando quanto que quem sao sem ser
seu sua tem tambem um uma uns voce
algo como cual cuando del donde el ella esto hay muy nuestra nuestro pero puede sobre tiene una
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
    found = {word.lower() for word in words[:_LOOKED_AT]}
    nasal = sum(word.endswith(_NASAL) and len(word) > 4 for word in found)
    foreign = len(found & PORTUGUESE_WORDS) + 2 * nasal
    if foreign < _FEWEST or foreign <= len(found & _ENGLISH_WORDS):
        return ENGLISH
    return PORTUGUESE if foreign * 8 >= len(found) else ENGLISH
