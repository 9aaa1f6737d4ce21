"""How texts in English speak to a model; matched against the plain form of `plain.py`."""

from __future__ import annotations

from agentlas_memory.review.phrases import Rule, rule

# Whom a text would address. "Agent" and "model" alone are everywhere: a monitoring agent, a data
# model.
MODEL = (
    r"(?:(?:ai|llm|coding|autonomous) (?:coding )?(?:agent|assistant|model|system|tool)s?"
    r"|(?:large )?language models?|assistants?|chatbots?|llms?|ais?|copilot|claude(?: code)?"
    r"|chat ?gpt|gpt-?\d?|gemini|codex|cursor|grok)"
)
_DROP = (
    r"(?:ignor(?:e|ing)|disregard|forget|override|overwrite|bypass|neglect|cancel|abandon"
    r"|set aside|(?:do not|don't|stop|no longer|never|refuse to) (?:follow|obey|heed)(?:ing)?"
    r"|pay no attention to)"
)
_ALL = r"(?:(?:all|any|every|each|of|the|your|my|these|those|other|and|or|its) ){0,5}"
_PRIOR = (
    r"(?:(?:previous|prior|preceding|earlier|above|former|original|initial|existing|past"
    r"|foregoing|system|safety|developer)(?:ly)?(?:,| and| or|/)? ?(?:given |stated |set )?){1,3}"
)
_ORDERS = r"(?:instructions?|directions?|directives?|guidelines?|prompts?|guardrails?)"
_RULES = r"(?:rules?|commands?|orders?|polic(?:y|ies)|messages?|context|restrictions?|tasks?)"
_START = r"(?:^|[.!?:;>\"(] ?|\b(?:please|and|then|now|you|must|just|instead|also) )"
_SAID = (
    r"(?:above|before|prior|previously|so far|you (?:were|have been|had been|are) (?:told|given"
    r"|instructed|taught)|you (?:know|learned)|that (?:came|was said|is written) (?:before|above))"
)
_ROLE = (
    r"(?:dan\b|assistant|ai\b|chatbot|bot\b|model\b|llm|agent\b|persona|gpt|jailb\w+|unrestricted"
    r"|uncensored|unfiltered|hacker|tester|root\b|free (?:from|of)|bound by|without)"
)
_LEAK = (
    r"(?:reveal|print|show|repeat|output|display|leak|dump|append|write|give|tell|expose|share"
    r"|send|return|recite|disclose|copy|include|quote|paste|state|translate|convert|encode"
    r"|list|summari[sz]e)\b"
)
_HIDDEN = r"(?:system|initial|hidden|original|secret|developer|internal|exact)"
_DOWNLOAD = (
    r"(?:(?:curl|wget|iwr|invoke-webrequest)\b[^|]{0,200}\| ?(?:sudo (?:-\w+ )*)?"
    r"(?:(?:ba|z|da|k)?sh|python\d?|node|perl|ruby|iex)\b"
    r"|(?:ba|z)?sh (?:-c )?[\"']?(?:<|\$)\( ?(?:curl|wget))"
)
_USER = r"(?:the|your|any) (?:user|human|operator|developer you)"

RULES: tuple[Rule, ...] = (
    rule(
        "override",
        "instruction|direction|directive|guideline|prompt|guardrail",
        rf"\b{_DROP} {_ALL}{_PRIOR}\s?{_ORDERS}\b",
    ),
    rule(
        "override",
        "previous|prior|earlier|above|system",
        rf"{_START}{_DROP} {_ALL}{_PRIOR}\s?{_RULES}\b",
    ),
    rule(
        "override",
        "your",
        rf"\b{_DROP} {_ALL}your (?:\w+ ){{0,2}}(?:{_ORDERS}|{_RULES}|training|programming)\b",
    ),
    rule(
        "override",
        "instruction|rule|prompt|command|guideline",
        rf"\b{_DROP} {_ALL}(?:{_ORDERS}|{_RULES}) (?:\w+ )?{_SAID}\b",
    ),
    rule(
        "override",
        "ignore |disregard |forget ",
        rf"\b(?:ignore|disregard|forget) (?:about )?(?:everything|anything|all|what(?:ever)?)"
        rf" (?:\w+ ){{0,2}}{_SAID}\b",
    ),
    rule(
        "override",
        "the above",
        r"\b(?:ignore|disregard|forget) (?:all )?(?:of )?the above\b(?= ?(?:and|[.,;:!]|$))",
    ),
    rule(
        "override",
        "override|supersede|replace|precedence",
        r"\b(?:supersedes?|overrides?|replaces?|takes? precedence over) (?:all |any )?(?:of )?"
        rf"(?:(?:your|the system'?s?) (?:\w+ )?(?:{_ORDERS}|{_RULES})|(?:previous|prior"
        rf"|earlier) {_ORDERS})\b",
    ),
    rule(
        "override",
        "instruction|guideline|prompt|directive",
        rf"\b(?:previous|prior|earlier|original|your) {_ORDERS} (?:is|are|have been|has been)"
        rf" (?:now |all |hereby )*"
        r"(?:void|cancell?ed|revoked|obsolete|suspended|overridden|replaced|lifted|no longer"
        r" (?:valid|apply|in force))"
        r"|\b(?:ignore|disregard|forget) (?:all |any |the |these )*instructions ?(?:,|;|[.!]"
        r"|\band\b|$)",
    ),
    rule(
        "override",
        "rest of|remainder of|permission|approval|safety|task",
        rf"{_START}(?:ignore|disregard|forget) (?:about )?(?:the )?(?:(?:rest|remainder) of"
        rf" (?:this|the) \w+ (?:and|,|;)"
        r"|(?:permission|approval|safety|moderation) (?:system|checks?|settings?|layer)\b"
        r"|(?:\w+ ){0,2}task\b.{0,4}\binstead\b)",
    ),
    rule(
        "new instructions",
        "instruction|task|goal|orders",
        r"\bnew (?:developer |system |admin |user |priority )?instructions? ?(?:\([^)]*\) ?)?:"
        r"|\byour (?:new|actual|real|true) (?:instructions?|task|goal|job"
        r"|orders?|purpose|objective) ?(?:is|are|:)"
        rf"|\b(?:new|updated|additional|special) (?:\w+ )?instructions for (?:the |all |any"
        rf" )*{MODEL}\b",
    ),
    rule(
        "new instructions",
        "obey|follow|as this document|you must",
        r"\byou (?:will |now )?obey\b|\bobey (?:only )?(?:me|my|this document|the document"
        r"|every request)\b"
        r"|\bdo exactly (?:as|what) this (?:document|file|page|text|note) says\b"
        r"|\b(?:from (?:now|here) on|henceforth),? (?:you )?(?:only )?(?:follow|obey)\b"
        r"|\bfollow (?:only )?(?:these|this|the following) (?:\w+ )?instead\b"
        r"|\byou must (?:only )?(?:respond|reply|answer) (?:only |to every )",
    ),
    rule(
        "role",
        "now|no longer|henceforth",
        r"\b(?:you are|you're|you will be|you shall be|act as|you will act as) (?:now|no longer"
        rf"|from now on|henceforth) (?!able|ready|using|logged)(?:(?:a|an|the|in|my|not)"
        rf" )?(?:[\w-]+ ){{0,3}}{_ROLE}",
    ),
    rule(
        "role",
        "from |henceforth|starting now",
        r"\b(?:from (?:now on|this (?:moment|point)(?: on)?|here on)|henceforth|starting now),? you"
        rf" (?:are|will|must|shall)(?: be| act as| become| behave as)? (?:(?:a|an|the|my)"
        rf" )?(?:[\w-]+ ){{0,3}}{_ROLE}",
    ),
    rule(
        "role",
        "you|mode|anything now",
        r"\b(?:act|behave|answer|respond|pretend) (?:as )?(?:if|though|that)? ?you (?:had|have"
        r"|are|were)"
        r" (?:\w+ ){0,4}?(?:no|not bound|without|unrestricted|uncensored|root|administrator)\b"
        r"|\b(?:enter|enable|activate|switch to|in) (?:jailbreak|dan|god|unrestricted|evil) mode\b"
        r"|\bin (?:developer|debug|maintenance) mode\b.{0,40}\b(?:safety|filters?"
        r"|restrictions?|safeguards)\b"
        r"|\bcan do anything now\b|\byou are dan\b|\bact as if you (?:are|were) an? (?:un\w+"
        r"|evil)\b"
        r"|\byou are now .{1,40}?\b(?:with no|without(?: any)?) (?:content policy|restrictions"
        r"|rules|filters|limits)\b"
        r"|\bfrom (?:now on|this (?:moment|point)(?: on)?|here on),? you (?:are|will be"
        r"|become) (?:an?|my)\b"
        r"|\b(?:ai|assistant|model) (?:with no|without(?: any)?) (?:restrictions|limits"
        r"|limitations|filters|policies|rules)\b",
    ),
    rule(
        "secrecy",
        "user|human|operator|developer",
        r"\b(?:do not|don't|never|must not|should not|shouldn't|mustn't) (?:ever )?(?:tell|inform"
        rf"|notify|alert|warn) {_USER}\b",
    ),
    rule(
        "secrecy",
        "user|human|operator|developer",
        r"\b(?:do not|don't|never|not) (?:mention|reveal|disclose|say|report|show) (?:this|that|it"
        rf"|these|anything|any of)(?: \w+){{0,4}} to {_USER}\b"
        rf"|\bkeep (?:this|that|it)(?: a)? (?:secret|hidden|quiet) from {_USER}\b"
        rf"|\bhide (?:this|that|it|these \w+) from {_USER}\b",
    ),
    rule(
        "secrecy",
        "without",
        rf"(?:^|[.!?] )without (?:\w+ )?(?:telling|notifying|informing|alerting|asking) {_USER}\b"
        rf"|\b(?:you (?:must|should|have to|will)|{MODEL})\b[^.!?]{{0,80}}\bwithout (?:\w+"
        rf" )?(?:telling"
        rf"|notifying|informing|alerting|asking) {_USER}\b",
    ),
    rule(
        "consent",
        "approved|authori|consent|confirmation|permission",
        rf"\b{_USER} (?:has|have) (?:already )?(?:pre-?approved|authori[sz]ed|consented to)"
        rf" (?:all|any|every)\b"
        r"|\byou (?:no longer|do not|don't) need (?:\w+ ){0,2}(?:approval|confirmation"
        r"|permission) (?:for|to|before|from|any)"
        r"|\byou (?:no longer|don't) need (?:human|user) (?:approval|confirmation|permission)"
        r"|\byou (?:may|can) now (?:run|execute) any\b"
        r"|\byou\b[^.!?]{0,60}\bnever ask(?:s|ing)? (?:\w+ )?(?:for )?(?:confirmation"
        r"|permission)\b",
    ),
    rule(
        "prompt leak",
        "prompt|instructions|message",
        rf"\b{_LEAK}[^.!?]{{0,30}}\byour (?:\w+ )?(?:{_HIDDEN} ){{1,2}}(?:prompts?"
        rf"|instructions|messages?|rules)\b"
        rf"|\b{_LEAK}[^.!?]{{0,30}}\b{_HIDDEN} (?:prompt|instructions|messages?) (?:of|in|for|from)"
        r" (?:this|our|the current) (?:conversation|chat|session)\b"
        rf"|\b(?:reveal|leak|disclose) (?:all |any |the |your )*(?:hidden|secret) (?:prompts?"
        rf"|instructions|rules)\b"
        rf"|\bwhat (?:are|is|were) your (?:{_HIDDEN} ){{1,2}}(?:prompts?|instructions|rules)\b",
    ),
    rule(
        "prompt leak",
        "above|before",
        r"\b(?:repeat|print|output|recite|translate) (?:everything|all(?: the)? text|the"
        r" (?:text|words))"
        r" (?:\w+ )?(?:above|before)\b",
    ),
    rule(
        "address",
        "instruction|note|message|notice|memo|warning|directive|reminder|important|attention"
        "|dear|hey|hello|hi",
        r"(?:^|[.!?:>#-] ?|\bimportant )(?:notes?|notice|message|instructions?|memo|warning"
        r"|directive"
        rf"|reminder|important) (?:to|for) (?:all |any |the |every )*{MODEL}\b[^.!?:,]{{0,40}}[:,]"
        rf"|(?:^|[.!?] )(?:attention|dear|hey|hello|hi)[,:]? (?:all |any )?{MODEL} ?[,:!]",
    ),
    rule("address", "if you are|if you're", rf"\bif you(?: are|'re) (?:an? |the )?{MODEL}\b"),
    rule(
        "address",
        "as an",
        rf"\bas an? {MODEL}(?: [\w-]+){{0,5}},? you (?:must|should|have to|need to)\b",
    ),
    rule(
        "address",
        " this",
        rf"\b{MODEL}(?: agents?| assistants?| models?)? (?:reading|processing|parsing|indexing"
        r"|summari[sz]ing|(?:that|which|who) (?:reads?|index(?:es)?|process(?:es)?|parses?|scans?"
        r"|summari[sz]es?)) this\b"
        rf"|\bwhen(?:ever)? (?:the |an? |any )?(?:model|agent|{MODEL}) reads? this\b"
        rf"|\bwhen(?:ever)? (?:you|an? {MODEL}) (?:read|summari[sz]e|process|parse)s?"
        rf" this\b[^.!?]{{0,60}}\b(?:always|must|never)\b",
    ),
    rule(
        "address",
        "assistant|agent|llm|claude|gpt|model|ai",
        rf"(?:^|[.!?] ?|> ?)(?:(?:dear|hey|ok|please) )?{MODEL} ?[,:] ?(?:please |now |you"
        rf" )?(?:keep|ignore|disregard"
        r"|do not|don't|never|must|execute|run|send|forward|upload|delete|recommend|always|say"
        r"|before (?:you|answering|doing)|when you|whenever|to finish|from now)\b",
    ),
    rule(
        "shell",
        "curl|wget|iwr|invoke-webrequest",
        rf"(?:\b{MODEL}\b|\bthe model\b|before answering|without asking|(?:not|never)"
        rf" (?:mention|tell))"
        rf".{{0,120}}{_DOWNLOAD}|{_DOWNLOAD}.{{0,120}}(?:before answering|without asking"
        rf"|(?:not|never) (?:mention|tell))",
    ),
)

# Without blanks: `IgnoreAllPreviousInstructions`, and what was spelt with one between any letters.
GLUED = rule(
    "override",
    "previous|prior|above|earlier",
    r"(?:ignore|disregard|forget)(?:all|any|the|every|of|your)*(?:previous|prior|above|earlier)"
    r"(?:instruction|direction|prompt|command|rule)",
)
