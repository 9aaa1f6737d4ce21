"""How much of a text the English model knows: to what it does not know it only adds noise."""

from agentlas_memory.embedding.vocabulary import Vocabulary

_LATIN_SHARE = 0.5  # of the letters
# Of the longer words, those that are tokens and not made of pieces. English prompts have 0.5 to 1,
# those full of jargon less; Portuguese, German, French and Spanish ones 0 to 0.33.
_WHOLE_SHARE = 0.34
_DOUBTFUL_SHARE = 0.2  # where one word alone speaks against English: a name, as a rule
_LONG = 4  # letters
_FEWEST, _MOST = 4, 40  # such words: fewer do not tell, more are not looked at

_ENGLISH_WORDS = """
the of and with how what why which does for this our when from that are where should can add fix use
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHER_WORDS = """
aber auf aus bei das dem den der des die ein eine einer fur ich im ist mit nach nicht sich sind und
uber von wenn werden wie wir wird zu zum zur
au aux avec ce cette dans du elle est et il je la le les leur nous ou par pas pour qui sans sont
sur une
al como con cuando del el ella en es esta este las los mas para pero por que se su sus una y
che con cosa da dei del della di e gli ha il lo nel non per piu quando sono
de een en het ik met niet op te van voor wij zijn
att av den det en ett har inte och om pa som till vi
czy jak jest na nie od po sie ze
bir bu da de icin ile ne ve
"""
_AROUND = ".,;:?!()\"'`*\u2019\u201c\u201d\u2014\u2013\u2192\u00bf\u00a1"
_OTHER = frozenset(_OTHER_WORDS.split())


def model_knows(text: str, vocabulary: Vocabulary) -> bool:
    """Tell whether the model's vocabulary covers a text.

    English is what nothing speaks against: its jargon is made of pieces as well.
    """
    if not text.isascii():
        letters = [char for char in text if char.isalpha()]
        if sum(char < "\u0250" for char in letters) < _LATIN_SHARE * len(letters):
            return False
    found = [word.strip(_AROUND).lower() for word in text[: 16 * _MOST].split()]
    accented = sum(not word.isascii() and word.isalpha() for word in found)
    foreign = accented + len(_OTHER & set(found))
    words = [word for word in found if len(word) >= _LONG and word.isalpha()][:_MOST]
    if not foreign or len(words) < _FEWEST or not _ENGLISH.isdisjoint(found):
        return True
    whole = sum(vocabulary.find(word) >= 0 for word in words)
    return whole >= (_WHOLE_SHARE if foreign > 1 else _DOUBTFUL_SHARE) * len(words)
