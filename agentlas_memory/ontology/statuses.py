"""The words by which a document says whether it holds, in eleven languages.

Nothing is imported here: the hook looks for them in a file that changed since it was indexed.
"""

ACCEPTED, SUPERSEDED, REJECTED = "accepted", "superseded", "rejected"
DEPRECATED, PROPOSED = "deprecated", "proposed"
FALLEN = (SUPERSEDED, REJECTED, DEPRECATED)

WORDS = {  # the first word of a status
    ACCEPTED: "accepted approved adopted implemented"
    " angenommen akzeptiert beschlossen umgesetzt accepté acceptée adopté adoptée aceptado aceptada"
    " aprobado aprobada aceito aceita aprovado aprovada accettato accettata geaccepteerd"
    " принято принят принята утверждено утверждён 已接受 採用 承認済み 승인됨",
    SUPERSEDED: "superseded superceded replaced obsoleted"
    " ersetzt abgelöst remplacé remplacée sustituido sustituida reemplazado reemplazada"
    " substituído substituída sostituito vervangen заменено заменён заменен заменена 已取代",
    REJECTED: "rejected declined withdrawn abandoned cancelled canceled refused"
    " abgelehnt verworfen zurückgezogen rejeté rejetée refusé refusée rechazado rechazada"
    " descartado rejeitado rejeitada rifiutato afgewezen verworpen"
    " отклонено отклонён отклонен отклонена отвергнуто 已拒绝 却下 거부됨",
    DEPRECATED: "deprecated obsolete retired reverted"
    " veraltet überholt obsolète déprécié obsoleto obsoleta verouderd устарело устарел 已废弃 廃止",
    PROPOSED: "proposed draft pending deferred postponed"
    " vorgeschlagen entwurf proposé proposée brouillon propuesto propuesta borrador proposto"
    " proposta rascunho voorgesteld предложено предложен черновик 提议 提案中 草案 제안됨",
}
PHRASES = {  # those of two words
    REJECTED: "not accepted|not approved|won't do|won't fix|won't implement|will not",
    DEPRECATED: "no longer",
    PROPOSED: "in review|in discussion|on hold|under review|under discussion",
}
STATUS_OF = {word: status for status, words in WORDS.items() for word in words.split()}
STATUS_OF_PHRASE = {words: s for s, several in PHRASES.items() for words in several.split("|")}
NAMES = "status|statut|estado|stato|статус|状态|ステータス|상태"
