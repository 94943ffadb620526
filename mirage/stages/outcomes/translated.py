"""Expressions of answers, abstentions, yes, no and questions in 17 languages (`phrases.py` has English)."""

from __future__ import annotations

from mirage.stages.outcomes.phrases import Phrases, any_of

TRANSLATED: dict[str, Phrases] = {
    "ar": Phrases(
        yes=r"نعم|اجل",
        no=r"لا|كلا",
        affirm=any_of(
            r"(?:الاجابة|الجواب|الرد) (?:\w+ )?(?:موجودة?|متوفرة?|متاحة?|مذكورة?)",
            r"(?<!لا )(?:توجد|يوجد|هناك) (?:اجابة|جواب)",
        ),
        deny=any_of(
            r"\bلا (?:اعرف|اعلم|ادري|نعرف|نعلم)",
            r"لست متاكد",
            r"(?:لا|لم|ليس|ليست) (?:\w+ ){0,2}(?:اجابة|الاجابة|جواب|الجواب|معلومات|معلومة|ذكر)\b",
            r"(?:الاجابة|الجواب|المعلومات?) (?:\w+ )?(?:غير|ليست?) (?:موجودة?|متوفرة?|متاحة?|معروفة?|مذكورة?)",
            r"لا (?:يمكن|يمكنني|استطيع) (?:الاجابة|تحديد|معرفة)",
            r"غير (?:مذكورة?|معروفة?|محددة?) في",
        ),
        asks=(
            r"^\W*(?:من (?:هو|هي|هم|كان|كانت|الذي|التي|اول)|ما (?:هو|هي)|ماهو|ماهي|ماذا|متي|اين|كيف|لماذا|كم|هل"
            r"|اي|بماذا)\b"
        ),
    ),
    "bn": Phrases(
        yes=r"হ্যাঁ|হ্যা|জি",
        no=r"না",
        affirm=r"(?:উত্তর|জবাব)(?:টি|টা)? (?:\S+ )?(?:উপস্থিত|আছে|রয়েছে|পাওয়া যায়|পাওয়া গেছে)(?! ?(?:না|নয়|নেই))",
        deny=any_of(
            r"(?:আমি )?জানি না",
            r"(?:আমার )?জানা নেই",
            r"নিশ্চিত নই",
            (
                r"(?:উত্তর|জবাব|তথ্য|উল্লেখ)\S* (?:\S+ ){0,3}?(?:নেই|নাই|নয়|পাওয়া যায়নি|দেওয়া হয়নি|উল্লেখ করা হয়নি"
                r"|পাওয়া যায় না)"
            ),
            r"উত্তর (?:দেওয়া|জানা|পাওয়া|বলা) যায় ?না",
            r"উত্তর দেওয়া সম্ভব (?:নয়|না)",
            r"বলা (?:যায়|সম্ভব) ?(?:না|নয়)",
        ),
        asks=r"(?:^| )(?:কে|কি|কী|কোন|কোনটি|কখন|কবে|কোথায়|কত|কতটি|কয়টি|কেন|কিভাবে|কীভাবে|কার|কাকে)(?: |$|\?)",
    ),
    "de": Phrases(
        yes=r"ja|jawohl",
        no=r"nein",
        affirm=any_of(
            (
                r"\bantwort(?:en)?\b<gap>\b(?:ist|sind|befindet sich|findet sich|steht) (?:\w+ )?(?:vorhanden|da\b"
                r"|enthalten|gegeben|angegeben|in (?:den |dem |einem )?kontext|im (?:\w+ )?(?:kontext|text))"
            ),
            r"\bes gibt (?:eine antwort|informationen)\b",
            r"\bbeantwort(?:et|en) die frage\b",
        ),
        deny=any_of(
            r"\bich wei(?:ss|ß) (?:\w+ ){0,6}?nicht\b",
            r"\bwei(?:ss|ß) (?:ich )?nicht\b",
            r"\bkeine? (?:\w+ )?(?:antwort|information(?:en)?|angaben?|hinweise?)\b",
            (
                r"\b(?:antwort|frage|information(?:en)?)\b<gap>\bnicht (?:\w+ ){0,5}?(?:vorhanden|enthalten|gegeben"
                r"|beantwortet|bekannt|angegeben|verfügbar|möglich|da\b)"
            ),
            r"\bkeiner? der (?:\w+ )?(?:kontexte?|texte?|abschnitte?)\b",
            r"\bkann (?:ich )?(?:\w+ ){0,4}?nicht (?:beantwort|bestimm|sag)",
            r"\b(?:lässt|lassen) sich\b[^.?!\n]{0,80}?\bnicht (?:beantworten|bestimmen|sagen|ermitteln|entnehmen)\b",
            r"\bnicht bekannt\b",
        ),
        asks=r"^(?:wer|wen|wem|wessen|was|welche[rsmn]?|wann|wo|woher|wohin|warum|wieso|wie|womit|wodurch|wofür)\b",
    ),
    "es": Phrases(
        yes=r"sí",
        no=r"no",
        affirm=any_of(
            (
                r"(?<!no )(?<!si la )\brespuesta\b<gap>(?<!no )\b(?:está|se encuentra|aparece"
                r"|se menciona) (?:\w+ )?(?:presente|disponible|en\b)"
            ),
            r"(?<!no )\b(?:hay|existe|tiene) (?:una |la )?respuesta\b",
        ),
        deny=any_of(
            r"\bno (?:se )?(?:puede|pueden|es posible) (?:ser )?(?:respond|contest|determin|saber)\w*",
            r"\bno (?:lo )?sé\b",
            r"\bdesconozco\b",
            (
                r"\bno (?:hay|existen?|tengo|se (?:menciona|encuentra|encontró|encontraro|proporciona|indica"
                r"|especifica|da|ofrece)n?|contienen?|proporcionan?|mencionan?|aparecen?|dan?"
                r"|incluyen?) (?:\w+ ){0,3}?(?:información|respuestas?|mención|datos|detalles|contextos?"
                r"|pregunta en los contextos)\b"
            ),
            r"\brespuestas?\b<gap>\bno (?:está|se encuentra|aparece|se menciona|se conoce|se proporciona)",
            r"\bningun[oa]? (?:de los )?(?:\w+ )?(?:contextos?|textos?|pasajes?|información|respuesta)\b",
            r"\bno (?:se )?puede[n]? (?:\w+ )?(?:determinar|responder|contestar|encontrar)\b",
            r"\bno puedo (?:responder|contestar|determinar)\b",
            r"\bno (?:se|es) (?:menciona|especifica|indica|conoce|conocid[oa]|posible (?:determinar|responder))\b",
            r"\bno está presente\b",
        ),
        asks=r"^\W*¿|^(?:qui[eé]n(?:es)?|qué|cuál(?:es)?|cuándo|dónde|cómo|cuánt[oa]s?|por qué)\b",
    ),
    "fa": Phrases(
        yes=r"بله|بلي|آري|اري",
        no=r"خير|نه",
        affirm=r"(?:پاسخ|جواب)[^.?!\n]{0,60}?(?:موجود است|وجود دارد|هست\b|آمده است|امده است)",
        deny=any_of(
            r"(?:پاسخ|جواب)[^.?!\n]{0,80}?نیامده",
            r"نمي ?دانم",
            r"نمي ?دونم",
            r"اطلاع(?:ي)? ندارم",
            r"مطمئن نيستم",
            r"مطمين نيستم",
            (
                r"(?:پاسخ|جواب|اطلاعات|اطلاعاتي)[^.?!\n]{0,80}?(?:وجود ندارد|موجود نيست|يافت نشد|نيست\b|ندارد|ندارند"
                r"|داده نشده|ارايه نشده|ذكر نشده|مشخص نيست)"
            ),
            r"(?:مشخص|معلوم|ذكر|اشاره) (?:نيست|نشده)",
            r"نمي ?توان (?:\w+ ){0,3}?(?:پاسخ|جواب|تعيين|مشخص)",
        ),
        asks=r"(?:^| )(?:چه|چي|چيست|كيست|كجا|كجاست|كي|كدام|چرا|چگونه|چطور|چند|چقدر|ايا)(?: |$|\?)",
    ),
    "fi": Phrases(
        yes=r"kyllä|joo",
        no=r"ei|en",
        affirm=any_of(
            r"\bvastaus\b<gap>\b(?:on (?:läsnä|olemassa|saatavilla|mukana|annettu|konteksti)|löytyy|sisältyy)",
            r"\b(?:on|löytyy) vastaus\b",
        ),
        deny=any_of(
            r"\ben (?:minä )?(?:tiedä|osaa (?:sanoa|vastata)|löydä|voi (?:vastata|sanoa))\b",
            (
                r"\bei (?:ole |löydy |mainita |anneta |sisällä )?(?:\w+ ){0,2}?(?:tietoa?|tietoja|vastausta|mainintaa"
                r"|tiedossa|vastata)\b"
            ),
            r"\bvastausta? ei (?:ole|löydy|mainita|käy|anneta)",
            r"\bmikään (?:\w+ )?(?:konteksti|teksti)\w* ei\b",
            r"\bei (?:mainita|tiedetä|kerrota) ",
        ),
        asks=(
            r"^\W*(?:mikä|mitkä|mitä|kuka|ketkä|ketä|kenen|milloin|missä|mistä|mihin|minne|miksi|miten|millainen"
            r"|millaisia|millä|montako|kuinka|onko|miltä)\b"
        ),
    ),
    "fr": Phrases(
        yes=r"oui",
        no=r"non",
        affirm=any_of(
            (
                r"(?<!pas )\bréponse\b<gap>\b(?:est|se trouve|figure) (?:\w+ )?(?:présente|disponible|donnée|fournie"
                r"|mentionnée|dans)\b"
            ),
            r"\bil (?:y a|existe) une réponse\b",
        ),
        deny=any_of(
            r"\bne (?:permet|permettent) pas de (?:répondre|savoir|déterminer|dire)\b",
            r"\bje (?:ne )?(?:le )?(?:sais|connais|peux) pas\b",
            r"\bje ne (?:sais|connais) (?:pas|aucun)",
            r"\bj'ignore\b",
            r"\baucune? (?:des |de ces )?(?:\w+ )?(?:contextes?|textes?|passages?|informations?|réponses?|mention)\b",
            r"\b(?:réponse|information)s?\b<gap>\b(?:n'est|ne sont|n'a|ne figure|ne se trouve) pas\b",
            (
                r"\b(?:contextes?|textes?)\b[^.?!\n]{0,60}?\bne (?:\w+ )?(?:fourni|contien|mentionn|répond|précis"
                r"|permett|donn|indiqu)\w* (?:pas|aucun)"
            ),
            r"\bil n'y a (?:pas|aucune?) (?:\w+ )?(?:informations?|réponse|mention)",
            r"\bpas (?:de|d') ?(?:réponse|information)\b",
            r"\b(?:impossible|pas possible) de (?:répondre|déterminer)\b",
            r"\bn'est pas (?:mentionnée?|précisée?|indiquée?|connue?|spécifiée?)\b",
        ),
        asks=r"^\W*(?:qui|que|quoi|quels?|quelles?|quand|où|pourquoi|comment|combien|qu'est-ce|est-ce)\b",
    ),
    "hi": Phrases(
        yes=r"हाँ|हां|जी हाँ|जी हां",
        no=r"नहीं|नही|जी नहीं",
        affirm=r"(?:उत्तर|जवाब)[^.?!\n]{0,60}?(?:मौजूद|उपलब्ध|उपस्थित|दिया गया) है",
        deny=any_of(
            r"(?:मुझे|हमें|मैं) (?:\S+ )?(?:नहीं|नही) (?:पता|मालूम|जानत[ाी])",
            r"(?:मुझे )?(?:पता|मालूम|ज्ञात|स्पष्ट) (?:नहीं|नही)(?: है)?",
            r"(?:नहीं|नही) जानत[ाी]",
            (
                r"(?:उत्तर|जवाब|जानकारी|सूचना|उल्लेख|विवरण)[^.?!\n]{0,60}?(?:(?:नहीं|नही) (?:है|हैं|मिल|दिया|दी|किया"
                r"|उपलब्ध|मौजूद|उपस्थित|दे)|उपलब्ध नहीं|मौजूद नहीं)"
            ),
            r"कोई (?:उत्तर|जवाब|जानकारी) (?:नहीं|नही)",
        ),
        asks=(
            r"(?:^| )(?:कौन|कौन-?सा|कौन-?सी|कौनसा|क्या|कब|कहाँ|कहां|कितन[ाेी]|किस|किसका|किसकी|किसके|किसने|किसे|किन"
            r"|कैसे|क्यों|कोनसी)(?:[ -]|$|\?)"
        ),
    ),
    "id": Phrases(
        yes=r"ya|iya|benar",
        no=r"tidak|bukan",
        affirm=any_of(
            r"(?<!tidak )\bjawaban(?:nya)?\b<gap>(?<!tidak )\b(?:ada|tersedia|terdapat|ditemukan|hadir)\b",
            r"(?<!tidak )\b(?:ada|terdapat) jawaban\b",
        ),
        deny=any_of(
            r"\b(?:tidak|kurang|belum|nggak|enggak) (?:tahu|mengetahui|yakin|diketahui|jelas)\b",
            (
                r"\btidak (?:ada|terdapat|ditemukan|disebutkan|memiliki|tersedia) (?:\w+ ){0,2}?(?:informasi|jawaban"
                r"|konteks|keterangan|data)\b"
            ),
            (
                r"\b(?:jawaban|informasi)(?:nya)?\b<gap>\btidak (?:ada|tersedia|ditemukan|disebutkan|terdapat"
                r"|diberikan|hadir)\b"
            ),
            r"\bkonteks\b[^.?!\n]{0,60}?\btidak (?:memberikan|menyebutkan|menjawab|mengandung|menyediakan|memuat)\b",
            r"\btidak (?:dapat|bisa) (?:menjawab|ditentukan|dijawab|menemukan|menentukan)\b",
            r"\btidak disebutkan\b",
        ),
        asks=(
            r"(?:^| )(?:apa|apakah|siapa|siapakah|kapan|kapankah|di ?mana|dimanakah|mana|mengapa|kenapa|bagaimana"
            r"|gimana|berapa|berapakah)(?: |$|\?)"
        ),
    ),
    "ja": Phrases(
        yes=r"はい|ええ",
        no=r"いいえ|いえ",
        affirm=(
            r"(?:答え|回答|答)[はがも][^.?!\n]{0,40}?(?:あります|存在します|含まれています|書かれています"
            r"|記載されています|見つかりました)"
        ),
        deny=any_of(
            r"答え[はがも][^.?!\n]{0,30}?(?:書かれて|記されて|載って|示されて)(?:いません|いない)",
            r"(?:分|わ|判)かりません",
            r"(?:分|わ|判)からない",
            r"知りません",
            r"知らない",
            r"存じません",
            r"不明(?:です|である|$|\.)",
            (
                r"(?:答え|回答|情報|記載|記述|言及|説明)(?:に関する\S{0,20})?[はがも][^.?!\n]{0,30}?(?:ありません"
                r"|ない\b|存在しません|見つかりません|含まれていません|されていません|なかった|得られません)"
            ),
            r"(?:記載|言及|記述|説明|明記)されて(?:いません|いない)",
            r"答えられません",
            r"回答できません",
            r"特定できません",
            r"判断できません",
        ),
        asks=any_of(
            r"(?:です|ます|た|だ|る|の|い|ん)?か(?:\.|\?|」)*\s*$",
            r"(?:何|いつ|どこ|誰|だれ|どれ|どの|どう|なぜ|いくつ|いくら|どんな)",
        ),
    ),
    "ko": Phrases(
        yes=r"예|네|있음",
        no=r"아니요|아니오|아뇨|없음",
        affirm=r"(?:답|답변|정답|대답|해답)(?:이|은|는)? ?(?:\S+ )?(?:있습니다|있다|있음|존재합니다|있어요)",
        deny=any_of(
            r"모르겠",
            r"모릅니다",
            r"몰라요",
            r"모른다",
            r"모름",
            r"알 ?수 ?(?:가 )?없",
            r"확실하지 않",
            (
                r"(?:답|답변|정답|대답|해답|정보|언급|내용)(?:을|를|이|가|은|는|도)? ?(?:\S+ ){0,3}?(?:없습니다|없다"
                r"|없음|없어|존재하지 않|찾을 ?수 ?없|제공하지 않|제공되지 않|포함되어 있지 않|나와 ?있지 않"
                r"|언급되지 않)"
            ),
            r"답할 ?수 ?없",
            r"언급되(?:어 있)?지 않",
        ),
        asks=r"(?:까|나요|가요|니|는지)(?:\.|\?)*\s*$|(?:무엇|누구|누가|언제|어디|어느|어떤|어떻게|왜|얼마|몇)",
    ),
    "ru": Phrases(
        yes=r"да",
        no=r"нет",
        affirm=any_of(
            (
                r"(?<!нет )\bответ\b<gap>(?<!не )\b(?:есть|присутствует|содержится|имеется|находится|найден|дан"
                r"|представлен)\b"
            ),
            r"\b(?:есть|имеется) ответ\b",
        ),
        deny=any_of(
            r"\b(?:ответить|определить|узнать|установить)\b[^.?!\n]{0,30}?\b(?:нельзя|невозможно)\b",
            r"\b(?:нельзя|невозможно)\b[^.?!\n]{0,30}?\b(?:ответить|определить|узнать|установить)\b",
            r"\bне (?:знаю|уверен)",
            r"\bнеизвестно\b",
            r"\bне известн",
            r"\bнет (?:\w+ ){0,2}?(?:ответ|информац|сведени|данных|упоминан)",
            (
                r"\b(?:ответ|информаци|сведени|данны)\w*\b<gap>\b(?:нет\b|отсутству|не (?:\w+ )?(?:содерж|найден"
                r"|указан|упомина|упомянут|предостав|привод|дан|дает|известн|присутству|представлен|име))"
            ),
            r"\bни (?:один|в одном) из (?:\w+ )?(?:контекст|текст|отрывк)",
            r"\bконтекст\w*\b[^.?!\n]{0,60}?\bне (?:содерж|отвеча|дают|предостав|упомина|указ)",
            r"\b(?:невозможно|не могу|нельзя) (?:\w+ )?(?:ответить|определить|сказать|найти)",
        ),
        asks=(
            r"^\W*(?:кто|кого|кому|чей|что|какой|какая|какое|какие|какую|каком|какого|каких|когда|где|куда|откуда"
            r"|почему|зачем|как|сколько|в как\w+|на как\w+|из как\w+|кем|чем)\b"
        ),
    ),
    "sw": Phrases(
        yes=r"ndiyo|ndio",
        no=r"hapana|la",
        affirm=any_of(r"\bjibu\b<gap>\b(?:lipo|liko|linapatikana|limepatikana|limo|limetolewa)\b", r"\bkuna jibu\b"),
        deny=any_of(
            r"\b(?:haliwezi|hayawezi|haiwezekani|hatuwezi) (?:kujibiwa|kujibu|kujulikana|kujua)\b",
            r"\bsijui\b",
            r"\bsifahamu\b",
            r"\bsina (?:uhakika|jibu|taarifa)\b",
            r"\bhakuna (?:\w+ ){0,2}?(?:jibu|majibu|taarifa|habari|maelezo|muktadha)\b",
            r"\bjibu\b<gap>\b(?:halipo|haliko|halimo|halipatikani|halijapatikana|halijulikani|halikupatikana)\b",
            r"\b(?:hai|haku|haija|hazija)(?:julikani|tajwa|jatajwa|jaelezwa|elezwi|taji)\w*",
            r"\bsiwezi (?:kujibu|kujua|kusema)\b",
        ),
        asks=r"(?:^| )(?:nani|nini|lini|wapi|gani|ngapi|vipi|kwa nini|mbona|je)(?: |$|\?)",
    ),
    "te": Phrases(
        yes=r"అవును|ఔను",
        no=r"కాదు|లేదు",
        affirm=r"(?:సమాధానం|జవాబు)[^.?!\n]{0,60}?(?:ఉంది|ఉన్నది|అందుబాటులో ఉంది|లభిస్తుంది)",
        deny=any_of(
            r"(?:చెప్పడం|చెప్పటం|ఇవ్వడం) సాధ్యం కాదు",
            r"(?:చెప్పలేము|ఇవ్వలేము|ఇవ్వలేను)",
            r"(?:నాకు )?(?:తెలియదు|తెలీదు)",
            r"(?:సమాధానం|జవాబు|సమాచారం|ప్రస్తావన)[^.?!\n]{0,60}?(?:లేదు|లేవు|ఇవ్వబడలేదు|దొరకలేదు|ఇవ్వలేదు|లభించలేదు)",
            r"చెప్పలేను",
        ),
        asks=r"(?:^| )(?:ఎవరు|ఎవరి|ఏమిటి|ఏది|ఏ|ఏంటి|ఎప్పుడు|ఎక్కడ|ఎంత|ఎన్ని|ఎందుకు|ఎలా|ఎన్నవ)(?: |$|\?)",
    ),
    "th": Phrases(
        yes=r"ใช่|มี",
        no=r"ไม่|ไม่ใช่|ไม่มี",
        affirm=any_of(r"(?<!ไม่)(?<!ไม่ได้)มีคำตอบ", r"คำตอบ(?:นั้น)?(?:อยู่|มีอยู่|ปรากฏ)"),
        deny=any_of(
            r"ไม่(?:ทราบ|รู้|แน่ใจ|ปรากฏ|มีการกล่าวถึง|ได้ระบุ|ได้กล่าวถึง)",
            r"ไม่(?:มี|พบ|เจอ|ได้ให้|ปรากฏ)(?:คำตอบ|ข้อมูล|บริบท)",
            r"คำตอบไม่(?:มี|อยู่|ปรากฏ)",
            r"ไม่สามารถ(?:ตอบ|ระบุ|หา|บอก)",
        ),
        asks=r"(?:อะไร|ใคร|เมื่อไ|ที่ไหน|เท่าไ|กี่|อย่างไร|ทำไม|ไหม|หรือไม่|ไหน)",
    ),
    "yo": Phrases(
        yes=r"bẹ́ẹ̀ ?ni|ẹn",
        no=r"rárá|bẹ́ẹ̀ ?kọ́|ó ?ti",
        affirm=r"\bìdáhùn\b[^.?!\n]{0,40}?(?<!ko )\b(?:wà|ni (?:mo|a) rí)\b",
        deny=any_of(
            r"\b(?:kò|ò) (?:lè|le|ṣe é|ṣeé) dáhùn\b",
            r"\b(?:n|mi|èmi|mo) (?:kò|ò) mọ̀\b",
            r"^\W*(?:èmi )?kò mọ̀\b",
            r"\bkò sí (?:\w+ )?(?:ìdáhùn|ìròyìn|àlàyé|ìfitónilétí)",
            r"\bìdáhùn\b[^.?!\n]{0,40}?\bkò sí\b",
            r"\bkò dá mi lójú\b",
        ),
        asks=r"(?:^| )(?:ta|tani|ta ni|kí|kíni|kí ni|ewo|wo|meloo|mélòó|báwo|níbo|ìgbà wo|èló)(?: |$|\?)",
    ),
    "zh": Phrases(
        yes=r"是|是的|有|对|對",
        no=r"否|不|不是|没有|沒有|无",
        affirm=any_of(r"(?<![没沒无無])(?:有|存在|包含|找到了?)答案", r"答案(?:存在|在(?:上下文|文中|第|\[)|是存在)"),
        deny=any_of(
            r"不(?:知道|清楚|确定|確定|详|詳)",
            r"(?:无法|無法|不能)(?:回答|确定|確定|得知|判断|判斷|知道|找到)",
            (
                r"(?:没|沒)有(?:任何|相关|相關|足够|足夠|直接|明确|明確)?的?(?:答案|信息|資訊|资料|資料|提供|提到"
                r"|提及|回答|找到|说明|說明)"
            ),
            r"(?:未|并未|並未|没|沒)(?:提及|提到|提供|找到|说明|說明)",
            r"找不到",
            r"答案不(?:存在|在)",
            r"不存在答案",
        ),
        asks=r"(?:什么|什麼|哪|谁|誰|多少|几|幾|何时|何時|怎么|怎麼|怎样|怎樣|如何|为什么|為什麼|吗|嗎|呢\s*$)",
    ),
}
"""By language code."""
