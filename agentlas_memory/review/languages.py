"""How texts in other languages speak to a model; matched against the plain form of `plain.py`.

That form is without case, and without accents on Latin letters.
"""

from __future__ import annotations

from agentlas_memory.review.phrases import Rule, rule

_W = r"(?:[\w'-]+,? )"

RULES: tuple[Rule, ...] = (
    # Russian
    rule(
        "override",
        "инструкц|указани|правил|команд|промпт",
        rf"\b(?:(?:про)?игнорируй|забудь|отмени|отбрось|не (?:следуй|обращай внимания на"
        rf"|выполняй))(?:те)?"
        rf" {_W}{{0,3}}(?:предыдущ|прежн|прошл|прошлые|ранее|систем|вышеуказан|все|всё"
        rf"|свои)\w* {_W}{{0,2}}"
        r"(?:инструкц|указани|правил|команд|промпт)",
    ),
    rule(
        "override",
        "забудь|игнорируй",
        r"\b(?:забудь|игнорируй)(?:те)? (?:про |обо? )?(?:вс[её]м?|то)\b.{0,30}\b(?:раньше"
        r"|ранее|выше|до этого|прежде)\b",
    ),
    rule(
        "role",
        "ты",
        r"\b(?:теперь|отныне|с этого момента) ты (?:[-—] )?(?:[\w-]+ ){0,3}"
        r"(?:без |ассистент|бот\b|администратор|хакер|dan\b|ии\b|модель)",
    ),
    rule(
        "secrecy",
        "пользовател",
        rf"\bне (?:говори|сообщай|рассказывай|упоминай)(?:те)? {_W}{{0,4}}пользовател",
    ),
    rule(
        "prompt leak",
        "промпт|инструкц",
        rf"\b(?:покажи|выведи|раскрой|напечатай|повтори|назови)(?:те)? {_W}{{0,2}}(?:свой|свои"
        rf"|твой|твои|ваш\w*)"
        rf" {_W}{{0,2}}(?:промпт|инструкц)",
    ),
    rule(
        "address",
        "ии|llm|модел|ассистент",
        r"\bдля (?:ии|ai|llm|языков\w+ модел\w+)(?:[- ](?:ассистент|агент|модел|помощник)\w*)?"
        r" ?[:,]"
        r"|(?:^|[.!?] )(?:ии|ai)[- ](?:ассистент|агент|помощник)\w* ?[:,!]",
    ),
    # Ukrainian
    rule(
        "override",
        "інструкц|вказівк|правил|команд",
        rf"\b(?:(?:про)?ігноруй|забудь)(?:те)? {_W}{{0,3}}(?:попередн|усі|всі|вище)\w*"
        rf" {_W}?(?:інструкц|вказівк|правил|команд)",
    ),
    # Chinese
    rule(
        "override",
        "忽略|无视|無視|忘记|忘掉|忘記|不要理会|不要遵循|不要遵守|抛开",
        r"(?:忽略|无视|無視|忘记|忘掉|忘記|不要理会|不要遵循|不要遵守|抛开)[^。,,\n]{0,10}"
        r"(?:之前|以上|上面|先前|前面|此前|上述|所有|一切|系统)[^。,,\n]{0,8}(?:指令|指示|提示|命令|规则|規則|对话)",
    ),
    rule(
        "role",
        "你",
        r"(?:从现在(?:开始|起)|从此|现在起|你现在)[^。\n]{0,4}(?:你?是|你将是|扮演|你就是)[^。\n]{0,14}"
        r"(?:助手|模型|ai\b|机器人|没有任何限制|不受限制|dan\b|黑客|角色)",
    ),
    rule(
        "secrecy",
        "用户|使用者",
        r"(?:不要|别|请勿|切勿|不得|不能)(?:告诉|告知|通知|提醒|向)(?:用户|使用者)",
    ),
    rule(
        "prompt leak",
        "系统|初始|隐藏",
        r"(?:输出|显示|打印|泄露|告诉我|重复|透露|给出|展示)[^。\n]{0,4}(?:你|您)的"
        r"[^。\n]{0,4}(?:系统提示|系统指令|初始指令|隐藏指令)",
    ),
    rule(
        "address",
        "必须|务必|请|不要|应当",
        r"(?:ai|人工智能|大?语言模型|大模型)(?:助手|代理|模型|助理)?[:,:,](?:请|你?必须|务必|不要|应当)",
    ),
    # Japanese
    rule(
        "override",
        "指示|命令|ルール|プロンプト",
        r"(?:これまで|以前|上記|前述|今まで|すべて|全て|過去|先ほど|上)の?[^。\n]{0,10}(?:指示|命令|ルール|プロンプト)"
        r"[^。\n]{0,8}(?:無視(?!され|する場合)|忘れ(?:て|ろ)|従わないで)",
    ),
    rule(
        "secrecy",
        "ユーザ|利用者",
        r"(?:ユーザー?|利用者)[^。\n]{0,6}(?:伝え|知らせ|教え|言わ|話さ|通知し|報告し|明かさ)ないで",
    ),
    rule(
        "role",
        "あなた|お前",
        r"(?:あなた|お前)は(?:今から|これから|今後|もう)[^。\n]{0,14}(?:制限|アシスタント|ai|モデル|ボット|dan)",
    ),
    rule(
        "prompt leak",
        "システムプロンプト|初期指示|隠された指示",
        r"(?:システムプロンプト|初期指示|隠された指示)[^。\n]{0,10}(?:(?:表示|出力|公開)して(?:ください|くれ)"
        r"|教えて|見せて|繰り返して)",
    ),
    # Korean
    rule(
        "override",
        "지시|명령|규칙|지침|프롬프트",
        r"(?:이전|위|앞선|기존|지금까지)의? ?(?:\S+ ){0,3}(?:지시|명령|규칙|지침|프롬프트)\S* "
        r"(?:\S+ )?(?:무시(?:하|해)|잊어|따르지 마)",
    ),
    rule(
        "secrecy",
        "사용자",
        r"사용자에게 ?(?:\S+ ){0,3}(?:말하지|알리지|언급하지|보고하지) ?(?:마|말)",
    ),
    # Spanish
    rule(
        "override",
        "instrucciones|reglas|ordenes|indicaciones|directrices",
        rf"\b(?:ignor[ae]|olvid[ae]|descarta|desestima|no sigas|haz caso omiso de)"
        rf" {_W}{{0,4}}(?:instrucciones|reglas|ordenes"
        rf"|indicaciones|directrices) {_W}{{0,2}}(?:anteriores|previas|de arriba|precedentes"
        rf"|originales|recibidas|del sistema)",
    ),
    rule(
        "override",
        "te dij|te ha dicho|lo anterior|nuevas instrucciones",
        r"\b(?:olvida|ignora) (?:todo )?lo (?:que se te (?:dijo|ha dicho)|que te dij\w+|anterior)\b"
        r"|\b(?:sigue|estas son) (?:estas |tus )?nuevas instrucciones\b",
    ),
    rule(
        "secrecy",
        "usuari",
        rf"\bno (?:(?:le|les|se lo) )?(?:digas|informes|menciones|cuentes|avises|reveles)"
        rf" {_W}{{0,4}}usuari",
    ),
    rule(
        "role",
        "eres|seras|actua",
        r"\b(?:ahora|a partir de ahora|desde ahora),? (?:tu )?(?:eres|seras|actuas como) (?:un"
        r"|una|el|la|mi) ?(?:\w+ ){0,2}"
        r"(?:asistente|modelo|ia\b|bot\b|chatbot|agente|hacker|dan\b|sin )",
    ),
    rule(
        "prompt leak",
        "sistema|iniciales|ocultas",
        rf"\b(?:muestra|revela|imprime|repite|escribe|dime) {_W}?(?:tu|tus) (?:prompt"
        rf"|instrucciones|mensaje)"
        r" (?:del? )?(?:sistema|iniciales|ocultas)",
    ),
    # German
    rule(
        "override",
        "anweisung|instruktion|regel|befehl|vorgabe|richtlinie|prompt",
        rf"\b(?:ignorieren? sie|ignoriere?|vergiss|vergessen sie|missachte|verwirf|befolge"
        rf" nicht) {_W}{{0,3}}"
        rf"(?:vorherig|vorig|bisherig|obig|fruher|vorangegangen|ursprunglich|deine|ihre"
        rf"|alle)\w* {_W}?"
        r"(?:anweisung|instruktion|regel|befehl|vorgabe|richtlinie|prompt)",
    ),
    rule(
        "override",
        "vergiss",
        r"\bvergiss (?:alles|was)\b.{0,40}\b(?:gesagt|bisher|oben|vorher|weisst)\b",
    ),
    rule(
        "secrecy",
        "benutzer|nutzer|anwender",
        r"\b(?:sage?|erzahle?|verrate?|teile?|melde|erwahne?)\b[^.!?]{0,20}\b(?:be)?(?:nutzer"
        r"|anwender)\w*\b[^.!?]{0,12}"
        r"\bnichts?\b",
    ),
    rule(
        "role",
        "bist du|du bist",
        r"\b(?:(?:ab jetzt|ab sofort|von nun an) bist du|du bist (?:ab jetzt|ab sofort|von nun"
        r" an|jetzt|nun)) (?:ein|eine|kein"
        r"|keine|der|die|mein) ?(?:\w+ ){0,2}(?:assistent|ki\b|modell|bot\b|agent|hacker|dan\b)",
    ),
    rule(
        "prompt leak",
        "system",
        r"\b(?:gib|zeige?|nenne?|verrate?|drucke?|wiederhole?) (?:mir )?(?:deine?n?|ihre?n?)"
        r" (?:\w+ )?"
        r"(?:system-? ?prompt|system-?anweisung|system-?nachricht)",
    ),
    # French
    rule(
        "override",
        "instruction|consigne|regle|ordre|directive",
        rf"\b(?:ignore[rz]?|oublie[rz]?|neglige[rz]?|ne (?:suis|suivez|respecte[rz]?) (?:pas"
        rf"|plus)) {_W}{{0,4}}"
        rf"(?:instruction|consigne|regle|ordre|directive)s? {_W}{{0,2}}(?:precedent|ci-dessus"
        rf"|anterieur|initial|recue|du systeme|plus haut)",
    ),
    rule(
        "new instructions",
        "nouvelles",
        r"\bvoici (?:tes|vos) nouvelles (?:instructions|consignes|regles)\b",
    ),
    rule(
        "secrecy",
        "utilisat",
        r"\bne (?:(?:le|lui|la|les) )?(?:dis|dites|mentionnez?|revelez?|informez?|previens"
        r"|signalez?)"
        r" (?:pas|rien|jamais)\b[^.!?]{0,20}utilisat",
    ),
    rule(
        "role",
        "tu es |vous etes ",
        r"\b(?:tu es|vous etes) (?:maintenant|desormais) (?:un|une|le|la|mon) ?(?:\w+ ){0,2}"
        r"(?:assistant|ia\b|modele|bot\b|agent|hacker|dan\b|sans )",
    ),
    rule(
        "prompt leak",
        "systeme|initial|cache",
        rf"\b(?:affiche|montre|revele|repete|donne|imprime)z?(?:[- ]moi)? {_W}?(?:ton|tes"
        rf"|votre|vos) (?:prompt|instructions?|message)"
        r" (?:systeme|initial|cache)",
    ),
    # Portuguese
    rule(
        "override",
        "instrucoes|regras|ordens|comandos|orientacoes",
        rf"\b(?:ignor[ae]|esqueca|esquece|desconsider[ae]) {_W}{{0,4}}(?:instrucoes|regras"
        rf"|ordens|comandos|orientacoes)"
        rf" {_W}{{0,2}}(?:anteriores|previas|acima|originais|do sistema)",
    ),
    rule(
        "secrecy",
        "usuari|utilizador",
        rf"\bnao (?:conte|diga|informe|avise|mencione|revele) {_W}{{0,3}}(?:usuari|utilizador)",
    ),
    rule(
        "role",
        "voce",
        r"\b(?:agora|a partir de agora),? voce (?:e|sera) (?:um|uma|o|a) ?(?:\w+"
        r" ){0,2}(?:assistente|modelo|ia\b|bot\b|agente|sem )",
    ),
    # Italian
    rule(
        "override",
        "istruzioni|regole|ordini|indicazioni|direttive",
        rf"\b(?:ignora|ignorate|dimentica|dimenticate|non seguire) {_W}{{0,4}}(?:istruzioni"
        rf"|regole|ordini|indicazioni|direttive)"
        rf" {_W}{{0,2}}(?:precedenti|sopra|iniziali|originali|ricevute|di sistema)",
    ),
    rule(
        "secrecy",
        "utente",
        rf"\bnon (?:dire|informare|menzionare|rivelare|avvisare) {_W}{{0,4}}(?:all'|l')?utente",
    ),
    # Dutch, Polish, Turkish
    rule(
        "override",
        "instructies|regels|opdrachten|aanwijzingen",
        rf"\b(?:negeer|vergeet) {_W}{{0,3}}(?:vorige|eerdere|bovenstaande|voorgaande)"
        rf" {_W}?(?:instructies|regels|opdrachten|aanwijzingen)",
    ),
    rule(
        "override",
        "instrukcj|polece|zasad|regul|wytyczn",
        rf"\b(?:zignoruj|ignoruj|zapomnij|pomin)\w* {_W}{{0,3}}(?:poprzedni|wczesniejsz"
        rf"|powyzsz)\w* (?:instrukcj|polece|zasad|regul|wytyczn)",
    ),
    rule(
        "override",
        "talimat|kural|komut|yonerge",
        rf"\b(?:onceki|yukar[iı]daki) {_W}{{0,2}}(?:talimat|kural|komut|yonerge)\w*"
        rf" {_W}{{0,2}}(?:yok say|unut|goz ard[iı] et|gormezden gel)",
    ),
    # Hebrew, Arabic
    rule(
        "override",
        "הוראות|הנחיות|פקודות|כללים",
        r"(?:התעלמ?ם?[יו]?|תתעלם|שכח) (?:\S+ ){0,2}(?:מ?ה)?(?:הוראות|הנחיות|פקודות|כללים)"
        r" (?:\S+ )?ה?(?:קודמות|קודמים|לעיל|למעלה)",
    ),
    rule(
        "override",
        "التعليمات|الأوامر|القواعد|الإرشادات",
        r"(?:تجاهل|انس|لا تتبع) (?:\S+ ){0,3}(?:التعليمات|الأوامر|القواعد|الإرشادات) (?:\S+"
        r" )?(?:السابقة|أعلاه|الأصلية)",
    ),
)

LATIN: tuple[Rule, ...] = tuple(one for one in RULES if any(map(str.isascii, one.needs)))
