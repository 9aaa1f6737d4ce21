"""The language of a text in Latin letters, as far as it decides how its words are stemmed.

Other scripts say themselves which stemmer is theirs. English is what all is taken for that does not
look like Portuguese: `UserDao`, `SEM` and `da, de, el` are nothing to go by.
"""

ENGLISH, PORTUGUESE = "", "portuguese"

# Function words, folded; none that is a common word or abbreviation of the other language
# (Portuguese "a", "as", "do", "no", "os", "com"; English "a", "as", "do", "no", "me").
_PORTUGUESE = """
ao aos cada como da das de deve devem dos ela ele em entao esta estao foi foram isso ja mas mais
muito nao nas nem nossa nosso nos onde ou outra outras outro outros para pela pelo por porque qual
quais quando quanto quantas quantos que quem sao sem ser seu sua tambem tem um uma uns voce
"""
_ENGLISH = """
an and are at be by can does for from have how i if in is it its my not of on or our that the their
there these they this to was we what when where which who why will with you your
"""
PORTUGUESE_WORDS, _ENGLISH_WORDS = frozenset(_PORTUGUESE.split()), frozenset(_ENGLISH.split())
_NASALS = ("\u00e3", "\u00f5", "a\u0303", "o\u0303")  # ã, õ, composed or not
_CONFIGURATION = ("\u00e7\u00e3o", "\u00e7\u00f5es", "c\u0327a\u0303o", "c\u0327o\u0303es")  # -ção
_LOOKED_AT = 120  # words
_ENOUGH = 2.0  # words; those of two letters count half: "da" and "de" are codes as well


def language_of(text: str, words: list[str]) -> str:
    """Return the language of a text, given with its folded words, which keep their ASCII case."""
    head = words[:_LOOKED_AT]
    # A capital is a name's, or an abbreviation's, but for the first word's.
    found = {word for word in head if word.islower()} | {word.lower() for word in head[:1]}
    foreign = sum(1.0 if len(word) > 2 else 0.5 for word in found & PORTUGUESE_WORDS)
    if not text.isascii():
        foreign += sum(map(text.count, _NASALS)) + sum(map(text.count, _CONFIGURATION))
    if foreign < _ENOUGH + 2 * len(found & _ENGLISH_WORDS):
        return ENGLISH
    return PORTUGUESE if foreign * 8 >= len(found) else ENGLISH
