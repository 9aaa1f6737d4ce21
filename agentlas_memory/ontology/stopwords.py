"""Words that never carry a match: function words and the courtesies of chat, folded as in a text.

Left out with care is whatever is also a technical word: no German "der", "des", "mit" or "war"
(DER, DES, MIT, WAR files), no French "comment", "est" or "sans", no Spanish "del", no Portuguese
"dos" or "com"; of the English verbs only auxiliaries and what a request is wrapped in.
"""

_ENGLISH = """
a about above across actually after again against all almost along already also although always am
among an and another any anybody anyone anything anyway anywhere are around as at away be became
because become been before being below beside besides between beyond both but by can cannot could
did do does doing done down during each either else ever every everybody everyone everything
everywhere few for from further had has have having he hence her here hers herself him himself his
how however i if in indeed instead into is it its itself just least let lets like many may me
might mine more most much must my myself neither never nevertheless no nobody none nor not nothing
now nowhere of off often on once one only onto or other others otherwise our ours ourselves out
over own per perhaps quite rather really same several shall she should since so some somebody
somehow someone something sometimes somewhere soon still such than that the their theirs them
themselves then there therefore these they this those though through throughout thus till to
together too toward towards under unless until up upon us very via was we well were what whatever
when whenever where whereas wherever whether which whichever while who whoever whole whom whose
why will with within without would yet you your yours yourself yourselves
"""

# What is left of "don't" and "we're" once the apostrophe has split them, and both without it.
_CONTRACTIONS = """
ain aren couldn didn doesn don hadn hasn haven isn mustn needn shouldn wasn weren won wouldn ll re
ve arent cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive shouldnt thats theres
theyre wasnt werent whats wont wouldnt youre
"""

_CHAT = """
ah alright basically bye cool e.g eg fine going gonna good great guess guys hello hey hi hmm hm
hopefully i.e ie kindly know lol maybe nah nice nope oh ok okay oops please pls plz remind simply
sorry sure tell thank thanks thing things think thx ty ugh wanna want wants whoa wow wonder
wondering yea yeah yep yes yo yup and/or
"""

_RUSSIAN = """
а без более бы был была были было быть в вам вас ведь весь во вот все всего всем всех вы где да
даже для до его ее ей если есть еще же за здесь и из или им их к как какая какие какой когда кого
кто ли либо лучше между меня мне может можно мой мы на над надо нам нас наш не него нее ней нет ни
них но ну о об один он она они оно от очень по под пожалуйста пока покажи после потом потому
почему при про просто раз разве с сам свой себе себя сейчас со спасибо так такой там тебе тебя тем
то тогда того тоже только том тот тут ты у уже хорошо чего чем через что чтобы эта эти это этого
этой этом этот эту я
"""

_GERMAN = """
aber auch bitte danke dass diese dieser dieses doch durch eine einem einen einer eines haben hier
ich ihr kann kein keine konnen nicht noch oder ohne schon sich sind und unser warum welche wenn
werden wie wir wird wo wurde zwischen
"""

_FRENCH = """
aussi avec cela cette ces comme dans donc elle elles etre leur mais merci nous notre plait pour
pourquoi quel quelle quels quelles quoi sont votre vous
"""

_SPANISH = """
algo como cual cuando donde ella ellos esta estas este esto estos gracias hasta mas muy nosotros
nuestro para pero porque puede puedo que sino sobre tambien tiene una unos
"""

_PORTUGUESE = """
aquilo aqui ela elas eles essa esse estao isso isto mesmo muito nao nos obrigado onde ou pela pelo
pode qual quando quem sao seu sua tambem tem uma voce
"""

_HEBREW = """
אבל אותה אותו אותם אחרי איזה איזו איך אילו אין איפה אל אם אני אנחנו אפשר את באיזה באיזו באילו בין גם
הוא היא הם הן זאת זה יש כאן כי כך כל כמה כמו לא לי למה לנו לפני מה מי מתי נא עוד על עם צריך צריכה
צריכים רק של שלי שלנו תודה תן
"""

_ALL = (_HEBREW, _ENGLISH, _CONTRACTIONS, _CHAT, _RUSSIAN, _GERMAN, _FRENCH, _SPANISH, _PORTUGUESE)
STOP_WORDS = frozenset(" ".join(_ALL).split())
