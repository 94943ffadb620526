"""Vocabulary of free answers in 18 languages: gaps, turns, questions back and asides. Data of `free.py`.

Every string is a regular expression in lower case for the folded text of `fold.py`: stems that allow endings, not whole
sentences. In scripts without word boundaries for `re` (it does not count vowel signs as word characters), stems stand
alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """Expressions of one language. An empty one matches nothing."""

    sources: str
    """Documents, passages, context, text."""
    nouns: str
    """Sources and their content: information, answer, details."""
    statutes: str
    """Texts that a question can be about: an act that does not mention eels is a fact, not a gap."""
    denies: str
    """Negated predicates of containing, saying, finding and answering; with one of `nouns` in the clause, a gap."""
    gap: str
    """A gap by itself: "I don't know", "is not mentioned", "no information"."""
    short: str
    """A whole answer that abstains in a word or two."""
    turns: str
    """Adversative words between clauses: but, however, although."""
    concedes: str
    """Concessive words at the start of a sentence whose first comma ends a clause: although, while."""
    topic: str
    """Statements of what the sources are about."""
    about: str
    """Verbs of a topic, which need no subject after a gap: "It describes the gardens"."""
    only: str
    """Words that say that the sources have nothing else: only, instead, mainly."""
    implies: str
    """Words for an implication of the sources: a claim, even with a denial in it."""
    known: str
    """Words of general knowledge: a claim, whatever stands before it."""
    reports: str
    """Words by which a clause about the sources claims: according to, states that."""
    hedges: str
    """Words of a guess: a clause with one that is not about the sources claims, whatever it doubts."""
    sorry: str
    """Apologies."""
    aside: str
    """Offers, advice, words about the writer, what leads to an answer."""
    offers: str
    """Questions that offer more."""
    asks: str
    """Asks the reader what is meant."""
    declines: str
    """Will not help."""
    negates: str = ""
    """Any negation: a gap in a clause about sources, or once sources were spoken of."""
    me: str = ""
    """The writer: a negation with it is a gap."""
    weak: str = ""
    """Clauses that beside a gap claim nothing: of another source ("the second one"), unreal ("would"), a guess."""
    given: str = ""
    """What the reader gave, named by that: "the list you sent"."""
    wants: str = ""
    """Asks for more material, as what was given is not enough: a gap."""
    figure: str = ""
    """Words of a question for a number or a date: how many, when."""
    there: str = ""
    """Places in the sources, by anaphora: in it, among them, nowhere. With a negation, a gap after other clauses."""
    lacks: str = ""
    """Words for something that is missing or does not come up: after other clauses, a gap."""
    hence: str = ""
    """Words by which a gap follows from what stands before it: so, therefore."""
    because: str = ""
    """Words that give a reason: a denial with one is a fact, unless it is about sources or the writer."""


def _words(*expressions: str) -> str:
    return "|".join(expressions)


def _all(*expressions: str) -> str:
    """Each of them, in any order, in one clause."""
    return "^" + "".join(f"(?=.*?(?:{expression}))" for expression in expressions)


_EN_SOURCES = (
    r"(?:what i have|what's in front of me|notes|writings?|handouts?|chunks?|segments?|sections?|records provided|attachments?|pieces?|citations?|documents?|docs?|sources?|contexts?|passages?|texts?|results?|articles?|excerpts?|snippets?|references?"
    r"|materials?|paragraphs?|files?|contents?|knowledge base|corpus|pages?|extracts?|entries)"
)
_EN_INFO = (
    r"(?:information|info|answers?|details?|mention|data|indication|reference|clues?|discussion"
    r"|description|explanation|context|specifics|content|material|hint)"
)
_EN_HOLD = (
    r"(?:contain|mention|provid|giv|includ|stat(?:e|ing)|specif|sa(?:y|id)|tell|indicat|offer|cover|address|answer"
    r"|discuss|describ|explain|reveal|disclos|list|identif|detail|support|suppl|present|show|touch|refer|confirm|clarif"
    r"|elaborat|note|report|record|name|determin|find|found|locat|conclud|verif|establish|known?\b|clear|availab"
    r"|relevan|related|enough|sufficient|possible|have\b|has\b|allow|help|relat|pertain|speak|go into|make (?:it )?clear"
    r"|appear|exist|hold|deal|answer|document|directly|explicit|specific|any\b|about\b|on\b|shed|quote|comment|in the)"
)

_EN = Wording(
    sources=rf"\b{_EN_SOURCES}\b",
    nouns=_words(
        r"\b(?:registers?|ledgers?|logs?|newspapers?|press releases?|websites?|faqs?|tables?|charts?|e-?mails?|threads?|tickets?|wikis?|statements?|summar(?:y|ies)|archives?|schedules?|programmes?|timetables?|obituar(?:y|ies)|inscriptions?|blurbs?|listings?)\b",
        rf"\b(?:{_EN_SOURCES}|{_EN_INFO}|questions?|query|none of (?:them|these|those))\b",
        r"\b(?:manuals?|brochures?|leaflets?|reports?|interviews?|letters?|biograph\w+|memoirs?|labels?|flyers?|catalogues?|booklets?|guides?|chronicles?|minutes|transcripts?|diar(?:y|ies)|newsletters?|handbooks?)\b",
    ),
    statutes=r"\b(?:acts?|laws?|treat(?:y|ies)|constitution|regulations?|decrees?|charter|ordinance|statutes?|contract|bible|quran|directive|convention|agreement|code|bill|rules?)\b",
    denies=_words(
        r"\b(?:keeps?|stays?|remains?|are|is) (?:quiet|silent|mute)\b",
        r"\b(?:contain|ha[sv]e?|list|giv|provid|includ|offer|mention|state|name)\w* no\b",
        rf"\b(?:do|does|did|is|are|was|were|has|have|had|can|could|would)(?:n't|not| not| never) (?:\w+ ){{0,3}}?{_EN_HOLD}",
        rf"\b(?:never|neither|nor) (?:do |does |did )?(?:\w+ )?{_EN_HOLD}",
        rf"\b(?:no|not any|without|lack(?:s|ing|ed)?(?: of)?|insufficient|not (?:enough|sufficient)|too little) "
        rf"(?:\w+ ){{0,3}}?{_EN_INFO}\b",
        rf"\b(?:none of|neither of|neither|no(?:ne)?) (?:\w+ ){{0,5}}?{_EN_SOURCES}\b",
        r"\b(?:nothing|nowhere|silent|fails? to|omits?|omitted|absent from|missing from|lacks?|lacking|missing)\b",
        r"\b(?:insufficient|inadequate|inconclusive|unrelated|irrelevant|not (?:\w+ )?(?:enough|sufficient|relevant|related|helpful))\b",
        r"\b(?:outside|beyond) (?:of )?the scope\b",
    ),
    gap=_words(
        r"\b(?:nothing|none) (?:in|of|about) (?:this|these|it|that|them|here|what)\b|^(?:there(?:'s| is) )?no info\b",
        r"^(?:sorry,? |unfortunately,? |but |and )?(?:this|that|it|these|those)(?: (?:detail|point|information|part|bit|one|question|topic|aspect|figure|fact)\w*)? (?:(?:is|was|are|were|does|do)(?:n't| not)|never|cannot|can't) (?:\w+ ){0,2}?(?:covered|in there|in here|there$|here$|included|contained|touched|dealt|gone into|come up|addressed|part of|among|something (?:i|they|it|the)|evident|visible|apparent|derivable|follow|answered|treated|raised|show up|appear)\b",
        r"(?:\b|(?=n't))(?:not|n't|never|nothing|nowhere|no)\b.{0,60}what (?:you|i)(?:'ve| have| was| were|'d)?(?: been)? (?:sent|gave|given|shared|provided|handed|received|uploaded|pasted|supplied|have|got)|what (?:you|i)(?:'ve| have| was| were|'d)?(?: been)? (?:sent|gave|given|shared|provided|handed|received|uploaded|pasted|supplied|have|got).{0,40}(?:\b|(?=n't))(?:not|n't|never|nothing|nowhere|no)\b",
        r"\bi (?:really |honestly |simply |just )?(?:do not|don't|dont) (?:\w+ )?(?:know|have|see|find)\b",
        r"\bi have no (?:idea|information|knowledge|way|data|answer|details)",
        r"\bi(?: am|'m) (?:not|un)(?: )?(?:sure|certain|aware|familiar|able to (?:\w+ )?(?:answer|find|determine|locate|say|tell|identify|provide|give|confirm|verify))",
        r"\b(?:can ?not|can't|cant|could not|couldn't|unable to|not able to|not possible to|impossible to|no way to|difficult to"
        r"|hard to|failed to) (?:be )?(?:\w+ly )?(?:answer|determin|find|found|locat|say|tell|identif|verif|confirm|conclu"
        r"|ascertain|establish|provide (?:an?|the|any|you)|give (?:an?|the|any|you)|infer|deriv|deduc|respond|kn[eo]w"
        r"|extract|be sure|see (?:any|the|an?)|state\b|specify|pinpoint|discern|make out|offer an)",
        r"(?:\b(?:not|never|nowhere|neither)|n't) (?:\w+ly )?(?:(?:be|been) )?(?:mentioned|specified|stated|indicated|answerable|disclosed|addressed"
        r"|discussed|spelled out|touched (?:up)?on)\b",
        r"(?:\b(?:not|never|nowhere)|n't) (?:\w+ly )?(?:(?:be|been) )?(?:provided|given|described|known|found|available|included|covered|listed|named|explained"
        r"|recorded|documented|contained|reported|present|shown|clear|answered|revealed|identified|detailed)\b(?= (?:\w+ ){0,2}?(?:in|by|from|within|among|here|based)\b|\W*$)",
        r"\b(?:is|are|remains?|was|it's|stays?|left) (?:\w+ly |still |also )?(?:unknown|unclear|uncertain|unspecified|unanswered|undetermined|unmentioned|unanswerable|unstated)\b",
        r"^(?:it is |it's |and )?(?:unclear|uncertain|unknown|unanswerable)\b",
        rf"\b(?:there(?:'s| is| are| was| were)|contains?|provides?|offers?|gives?|makes?|has|have|with|find|found|see|hold|holds) "
        rf"(?:no|not any|insufficient|not enough|nothing|little)\b(?: \w+){{0,4}}? {_EN_INFO}\b",
        r"\b(?:there(?:'s| is)(?:n't| not)) (?:any |enough |sufficient |an? )?(?:\w+ ){0,2}" + _EN_INFO,
        rf"^(?:sorry,? )?no (?:\w+ ){{0,3}}?{_EN_INFO}\b",
        r"\bnothing (?:\w+ ){0,3}?(?:in|about|on|from|regarding|here) ",
        r"\bsays? nothing\b",
        r"\b(?:not enough|insufficient|inadequate) (?:\w+ )?(?:information|context|details?|data|evidence)",
        r"^not (?:when|who|whom|whose|how|why|where|what|whether|which|the|its|his|her|their|by|in|for|on|with|about)\b",
        r"^nor\b",
        r"\b(?:information|answer|question|query|it|that|this|topic) (?:is|are|falls?) (?:outside|beyond) (?:of )?(?:the |my )",
        r"\bgo(?:es)? beyond (?:the |what )",
        r"\bwithout (?:\w+ ){0,2}(?:information|context|details)",
        r"\b(?:more|additional|further) (?:information|context|details|sources?|documents?) (?:is|are|would be|may be|will be) (?:needed|required|necessary)",
        r"\bdon't know\b",
        r"\b(?:doesn't|does not|don't|never|didn't) (?:come up|show up|turn up|get a mention|feature)\b",
    ),
    short=(
        r"(?:the |this |it |question |answer |answer: ?|i )?(?:is |are |was )?(?:(?:not|un|ir|non)[ -]?(?:relevant|answerable|answered|found|available|provided"
        r"|mentioned|stated|specified|given|applicable|sure|known|clear|certain|possible|supported|present|determinable|able to answer|in (?:the )?\w+)"
        r"|no[ -]?(?:relevant )?(?:answers?|info|information|data|results?|context|documents?|evidence|match(?:es)?|idea|sources?|passages?)(?: (?:found|available|provided|present|possible|exists?|given|in (?:the )?\w+))*"
        r"|n/?\.?a|none(?: (?:given|found|available|provided|of (?:the above|them|these)))?|null|nil|idk|abstain(?:ed)?"
        r"|(?:insufficient|not enough|inadequate|missing|lacking) (?:\w+ )?(?:information|info|context|evidence|data|details|sources|documents)(?: \w+)?"
        r"|can(?:'t| ?not) (?:be )?(?:answer(?:ed)?|say|tell|determined?|know|find)|out of scope|no comment|dunno|unable to answer)(?: (?:the |this )?question)?"
    ),
    turns=(
        r"[,;] (?=(?:[\w'-]+ ){1,5}?(?:however|nevertheless|though)\b)|"
        r",? ?(?<!no )(?<!nothing )\b(?:but(?! also)|however|although|even though|though|whereas|nevertheless|nonetheless|that said|except that"
        r"|albeit)\b,?|, (?:while|yet|so)\b|;| - | – | — |, and (?=(?:the |these |those |none |no |i |it is )?(?:\w+ )?(?:documents|sources|passages|context|text|cannot|can't|could|do not|don't))"
        rf"| and (?=(?:the |these |this )(?:\w+ )?{_EN_SOURCES} (?:do|does|did|is|are)(?:n't| not))"
    ),
    concedes=r"(?:although|though|while|even though|whereas|despite|even if|apart from|besides)\b",
    topic=_words(
        rf"^(?:\W*(?:based on|according to|in)[^,]*, )?(?:instead,? |rather,? |overall,? |similarly,? |together,? |unfortunately,? )?(?:(?:all|both|each|most|some|one|two|three|several|many) (?:of )?)?(?:the |these |this |those |that |your |my |any |available )?"
        rf"(?:(?!that\b)[\w'-]+ ){{0,3}}?(?:{_EN_SOURCES}|one|ones|others?|they|it|information)(?: \d+| [a-z])?(?:,? (?:and|or) (?:\w+ )?(?:\d+|the other\w*|{_EN_SOURCES}))?(?: (?:i (?:have|was given|found|see)|you (?:provided|gave|shared|sent)|provided|given|above|here|available|retrieved|supplied|in question))* ?"
        r"(?:(?:do|does|also|only|solely|just|mainly|mostly|primarily|merely|instead|rather|all|both|each|seem to|appear to|are|is|mention and|to|exclusively|entirely|simply|briefly|generally|largely|concern and|that) )*"
        r"(?:about|discuss\w*|describ\w*|focus\w*|cover\w*|deal\w*|concern\w*|talk\w*|relat\w*|mention\w*|refer\w*|pertain\w*|contain\w*|provid\w*|includ\w*|address\w*|list\w*|giv\w*|outlin\w*"
        r"|explor\w*|touch\w*|speak\w*|treat\w*|cent(?:er|re)\w*|offer\w*|limited|on|present\w*|revolv\w*|examin\w*|report on|tell of|name|explain)\b",
        rf"^(?:the )?(?:only )?(?:{_EN_SOURCES}|information|details?|topics?)\b[^,]{{0,60}}? (?:is|are|was|were) (?:only |mainly |mostly |just |all |solely |instead )?(?:about|on|limited|related|concern\w*|for|regarding|of|from)\b",
        r"^(?:instead|rather)\b",
        r"^what (?:the |these |is |they |i )",
    ),
    about=r"^(?:\w+ ){0,3}?(?:it|they|these|those|one|this|both|all|each|the (?:first|second|third|last|other|others|latter|former|rest|closest|only one)(?: one)?|instead)(?: (?:only|also|mainly|do|does|just|mostly|merely))* (?:describ|discuss|cover|mention|focus|concern|deal|talk|list|address|is about|are about|refer|relat|outlin|explain|contain|provide|include|give|treat)\w*|\b(?:is|are|was|were|gets?|got|being|been) (?:\w+ )?(?:touched (?:up)?on|discussed|mentioned|covered|described|addressed|dealt with|brought up|outlined|treated|listed|a mention|raised|noted)\b(?! as)|\b(?:the (?:focus|emphasis) is|the main (?:topic|subject|theme)s? (?:is|are)|cent(?:er|re)s? on)\b",
    only=r"\b(?:only|solely|merely|instead|rather|mainly|primarily|mostly|exclusively|other topics?|different|unrelated)\b|\ball (?:there is|i have|i (?:can )?see)\b",
    implies=r"(?<!not )(?<!n't )\b(?:suggest|impl(?:y|ie)|hint|let(?:s)? (?:one|us) (?:think|assume))(?:s|ed|d)? (?:\w+ )?(?:that|at\b|they|it|there)",
    known=r"\b(?:general(?:ly)?|common(?:ly)?|own|widely|background|prior|historical) (?:known|knowledge)\b|\bwell[- ]known\b|^in general,|^generally,|\b(?:as far as i(?:'m| am)? (?:know|aware)|to (?:the best of )?my knowledge|from (?:what|everything) i know|from memory|from general)\b|\b(?:my understanding is|to my understanding|i understand that|i recall that|i know that|i believe|from my (?:own )?knowledge)\b",
    reports=_words(
        r"\bnam(?:e|es|ed) .{3,60} as\b|\b(?:credit|attribut|ascrib|dat)\w* .{3,60} (?:to|with)\b",
        r"\baccording to\b",
        r"\b(?:say|state|indicate|note|report|explain|show|suggest|claim|confirm|reveal|tell|mention|describe|imply|estimate|argue)(?:s|d|ed|ing)? (?:us )?(?:clearly |explicitly |only )?that (?!it\b)",
        r"\b(?:is|are|was|were) (?:\w+ )?(?:described|mentioned|named|listed|given|cited|stated|reported) as\b",
        r"\b(?:general(?:ly)?|common(?:ly)?|own|widely|background|prior|historical) (?:known|knowledge)\b",
    ),
    hedges=r"\b(?:probably|perhaps|likely|possibly|seems?|appears? (?:to|that)|presumably|maybe|apparently|is (?:thought|believed|said)|suggests?)\b",
    sorry=r"\b(?:sorry|afraid|apologies|apologi[sz]e|unfortunately|regrettably)\b",
    aside=_words(
        r"^(?:so )?(?:the |your )?(?:question|query|user|you) (?:asks?|asked|is|concerns?|seeks?|wants?|are asking|wanted|requires?|refers?)\b",
        r"\b(?:may|might|could|will|would|should|can|probably|perhaps|surely|likely) (?:\w+ )?(?:know|help|have (?:more|the|this|that|it|records?|details)|be able|hold|keep|tell)\b",
        r"^(?:and |so |then |or |if [^,]{0,60},? )*(?:upload|paste|attach|drop|point|hand|forward|show|let's|take a look|give)\b",
        r"^thank",
        r"\b(?:please|feel free|let me know|don't hesitate|do not hesitate|happy to|glad to|hope (?:this|that) helps)\b",
        r"^(?:and |so |then |also |or |perhaps |maybe |alternatively,? |for (?:that|this|an answer)[^,]*, |therefore,? |hence,? |in general,? |generally,? |of course,? )*(?:if|should) (?:you|there|needed|more|any|it|the|this)\b",
        r"^(?:and |so |then |also |or |perhaps |maybe |alternatively,? |for [^,]{0,50}, |to [^,]{0,50}, |in general,? |generally,? |therefore,? |instead,? |if [^,]{0,60}, )*"
        r"(?:you (?:can|may|might|could|should|would|will|need|'ll)|you'd|we recommend|we suggest|it (?:is|'s|may be|might be|would be|could be) (?:always |often |usually |generally |probably )?(?:best|good|advisable|recommended|worth|helpful|useful|necessary|better|wise|a good idea|important)"
        r"|try |consult|check(?:ing)? |contact(?:ing)? |look(?:ing)? (?:up|at|for|in)|ask(?:ing)? |visit|see (?:also|the)|refer(?:ring)? to|search(?:ing)?|share|provide|send|add|upload|give me|tell me|consider|make sure|always|remember)",
        r"^(?:and |so |but |therefore,? |thus,? |hence,? |as (?:such|a result),? |for (?:this|that) reason,? |to [^,]{0,60}, |as an ai[^,]*,? ?|based on [^,]*, |instead,? |also,? |in (?:this|that) case,? |if [^,]{0,60}, |from [^,]{0,40}, )*"
        r"(?:i(?:'d|'ll|'m|'ve)?|my|we) (?!(?:think|believe|know|guess|assume|suspect|recall|remember|would say|would guess|estimate|found that|can (?:say|tell you|confirm|see) that)\b)",
        r"\b(?:more|additional|further|another|other|different|better) (?:\w+ )?(?:information|context|details|sources?|documents?|material|passages?|data|texts?|archives?) (?:is|are|would|may|might|could|will|can)\b",
        r"^(?:answering|to answer|an answer)\b",
        r"^would you like|^do you want|^shall i|^is there anything|^can i help|^may i|^how (?:else )?can i|^anything else|^what else\b",
        r"^(?:an? |the |your )?(?:\w+ ){0,3}(?:library|archive|website|expert|professional|doctor|lawyer|encyclopa?edia|office|authority|museum|specialist)s?\b[^.]{0,40}\b(?:may|might|could|can|would|should)\b",
        r"^(?:based on|according to|from|in|given) (?:the |these |this |your |what )?(?:\w+ )*(?:documents?|sources?|context|passages?|texts?|information|results|materials?|excerpts?)(?: (?:provided|given|above|available|you \w+))*$",
        r"^(?:here (?:is|are)|here's|the following|as follows|summary|in (?:summary|conclusion|short)|note|answer|conclusion|final answer|sources?|references?|hello|hi|great question|good question|sure|certainly|of course|regarding your question|as for your question|therefore|thus|so|hence|also|in addition|additionally|instead|rather)(?: (?:the|your|my|what|i) ?[^.]{0,30})?$",
        r"\b(?:outside|independent|official|local|reliable|specialised|specialized|other|trusted) sources?\b",
    ),
    offers=r"\b(?:know|learn|hear|read|find out|see|get|have|tell you|look|search|try) (?:\w+ )?(?:more|further|elsewhere|again)\b|\b(?:anything|something|what) else\b|\bhelp (?:you )?with\b|\bmore (?:information|details) (?:on|about)\b|\b(?:want me to|like me to|should i|shall i|can i|may i|could i|i can)\b(?! (?:know|ask))",
    asks=_words(
        r"\b(?:please|kindly) (?:say|state|tell me|specify|name|indicate|pick|choose) (?:which|what|who)\b",
        r"^(?:just |please )?(?:tell me|say|let me know|name) which\b",
        r"\b(?:may|can|could|might) i (?:know|ask)\b",
        r"\b(?:do|did|are|were) you (?:mean|meaning|refer|referring|asking (?:about|for)|interested|thinking|looking for|talking about|have in mind)\b",
        r"\byou (?:mean|are (?:asking|referring|interested|thinking|looking|talking)|'re (?:asking|referring|interested|thinking|looking|talking)|have in mind|wish to know|want to know about|were asking)\b",
        r"\b(?:could|can|would|will|please) (?:you )?(?:please |kindly )?(?:clarify|specify|be (?:more |a (?:bit|little) more )?(?:specific|precise)|say which|tell me (?:which|what|whether|who|more|if)|narrow|rephrase|elaborate|indicate which|let me know which|state which|name the|explain what you|confirm which|confirm whether)",
        r"^(?:which|what|whose|who)\b[^?]{0,80}(?:\bdo you\b|\bare you\b|\bwould you\b|\bis meant\b|\byour question\b|\bshould i\b)[^?]*",
        r"\b(?:need to know|depends on) which\b",
        r"\blet me know which\b",
    ),
    declines=_words(
        r"\b(?:can't|cannot|can not|won't|will not|not able to|unable to|not going to|must decline|have to decline|decline) (?:to )?(?:\w+ly )?(?:help|assist|comply|do that|do this|discuss|fulfil|engage|support (?:this|that)|advise|share (?:this|that)|talk about|give (?:\w+ )?advice|give instructions|provide (?:instructions|advice|guidance))",
        r"\brather not (?:answer|say|comment|discuss)\b",
        r"\bagainst (?:my|the|our) (?:guidelines|policy|policies|rules)\b",
        r"\bi (?:must|have to) decline\b",
        r"\bnot (?:appropriate|comfortable)\b",
        r"\b(?:harmful|illegal|dangerous) (?:activit|request|content|instruction)",
    ),
    negates=r"n't\b|\b(?:not|never|nor|none|nothing|nowhere|neither|without|cannot|cant|dont|no|un(?:mentioned|addressed|answered|stated|clear|known|specified|resolved)|left out|leaves? (?:\w+ ){0,12}?open|silent|absent|missing|lacks?|lacking|omits?)\b|\b(?:impossible|un(?:able|determined|certain|available|documented|recorded|reported|specified|disclosed))\b|\btoo (?:\w+ )?(?:little|few|short|vague|brief|sparse|thin|general|limited|scant\w*|\w+ to)\b|\b(?:stops? short|ends? before|breaks? off|runs? out)\b|\b(?:open question|anyone's guess|a mystery)\b",
    me=r"\b(?:i|we)(?:'\w+)?(?! (?:do not|don't|would not|wouldn't) (?:think|believe))\b",
    weak=r"^(?:and |so |then )?(?:the )?(?:first|second|third|fourth|fifth|last|others?|former|latter|rest|remaining|they|these|those|both|[b-h](?= )|\d{1,2}(?= )|[a-h] (?:and|to) [a-h])\b|\b(?:would|might|could)\b(?! have been)|\b(?:such|this kind of|that kind of|this sort of|that sort of) (?:\w+ )?(?:details?|figures?|information|data|records?|facts?|questions?|numbers?|specifics)\b|\b(?:guess\w*|speculat\w*|conjecture)\b|^(?:only|solely|merely|just)\b|^(?:the )?(?:authors?|writers?)\b|\bno such\b|\b(?:normally|usually|typically|ordinarily|generally) (?:\w+ )?(?:appear|found|kept|listed|published|recorded|be|in|held|given)\b|^(?:and |or )?(?:how|why|when|whether|who|whom|whose)\b(?!.*\?)|\b(?:web ?sites?|homepage|web page)\b|^(?:(?:an)?other|one|a (?:second|third|fourth|further))\b|^(?:the|this|that) (?:report|study|paper|book|chapter|letter|diary|table|index|account|piece)s?\b|\b(?:the following|as follows)\b|\b(?:phone|call|ring) (?:\w+ ){0,3}office\b",
    because=r"\b(?:because|since|due to|owing to)\b|\b(?:no one|nobody|historians?|scholars?|researchers?|scientists?|archaeologists?|to this day|even today|excavations?|so far|yet\b)\b",
    given=r"\byou(?:'ve| have|'d)? (?:just |only )?(?:sent|given|shared|provided|uploaded|pasted|attached|supplied|posted)\b|\b(?:photos?|pictures?|screenshots?|scans?|pdf) (?:shows?|you|only|ends?|stops?|is|does|do|has|cuts?)\b|\bi (?:only )?(?:have|was given|got) (?:only |just )?(?:the|this|a|page|pages)\b|\b(?:your|the) (?:screenshot|photo|picture|scan|capture|pdf)\b|\ball i (?:can see|have|see|got) is\b|\bi can only see\b|\b(?:report|record|result|list|account|page|entry|log|minutes|text|article)s? (?:that )?i (?:found|have|got|received|located)\b|\bwhat (?:was|has been) (?:retrieved|found|returned)\b|\bwhat came back\b",
    wants=r"\b(?:if|once|when|should) you (?:can |could |have |do |would |will |also )?(?:send|share|paste|upload|attach|provide|forward|post|drop|supply|snap|scan|photograph)\b|^(?:please |just )?(?:send|share|paste|upload|attach|forward) (?:me |us |over )?(?:the|that|it|those|them|another|a)\b.*\bi(?:'ll| will| can)\b|^(?:please |just )?add (?:\w+ ){1,4}(?:and|so) i\b",
    hence=r"^(?:so|therefore|thus|hence|consequently|from (?:that|this|these)|as a result|for (?:that|this) reason|on that basis)\b",
    there=r"\b(?:in (?:it|them|there|here)|there|among (?:them|these|those)|anywhere)\b",
    lacks=r"\b(?:left (?:out|open|unsaid|blank)|leaves? (?:out|open)|is (?:missing|absent)|do(?:es)?(?:n't| not) (?:feature|figure|come (?:up|into)|appear|occur)|(?:has|have|had) to (?:remain|stay|be left) (?:open|unanswered)|(?:remains?|stays?) (?:open|unanswered)|go(?:es)? unmentioned|passed over)\b|\b(?:nobody|no one|none) (?:gives|names|mentions|states|says|tells)\b|\b(?:skipped|glossed|jumped) over\b|\bskips\b|\bpure (?:invention|fiction)\b|\bnowhere to be (?:seen|found)\b|\bdo(?:es)?(?:n't| not) give\b|\b(?:sought|looked (?:for|up)|searched|found|look(?:ing)?|search) (?:\w+ ){0,2}?elsewhere\b",
    figure=r"\b(?:how (?:many|much|old|long|far|high|tall|deep|wide|heavy|often)|when\b|what (?:year|date|time|temp)|cost|price|temperature|boiling)",
)

_DE_SOURCES = (
    r"(?:was mir vorliegt|\w*ausschnitt\w*|notiz\w*|aufzeichnung\w*|beitr[aä]g\w*|beleg\w*|textauszüge\w*|korpus|seiten?\b|schriftstück\w*|vorlage\w*|\w*dokument\w*|quelle\w*|kontext\w*|\w*texte?[ns]?|passage\w*|\w*abschnitt\w*|\w*ergebniss?e?\w*|\w*artikel\w*|\w*auszug\w*|auszüge\w*"
    r"|unterlage\w*|\w*material\w*|textstelle\w*|absatz\w*|absätze\w*|datei\w*|inhalt\w*|fundstelle\w*|stelle\w*|datensatz\w*|datensätze\w*)"
)
_DE_INFO = (
    r"(?:information\w*|antwort\w*|angabe\w*|hinweis\w*|details?|einzelheit\w*|aussage\w*|erwähnung\w*|daten|auskunft|auskünfte|anhaltspunkt\w*"
    r"|anhalt|kenntnis\w*|erklärung\w*|treffer)"
)
_DE_NOT = (
    r"\b(?:nicht|kein(?:e[rnms]?)?|nichts|nirgend\w*|weder|ohne|mangels|fehl(?:t|en|ende\w*)|unzureichend\w*|kaum)\b"
)
_DE_HOLD = (
    r"enthalt|enthält|erwähn|nenn|genannt|gegeben|geben|gibt|liefer|biet|beantwort|antwort|\bsag|gesagt|steht|stehen|finde|fand|gefunden|hervor"
    r"|entnehm|entnomm|beschr|erklär|erläuter|thematisier|behandel|aufgef|dokumentier|verzeichn|vermerk|bekannt|beleg|äußer|eingeh|\bein\b|auskunft"
    r"|möglich|klar|ersicht|vorhanden|verfüg|ausreich|genüg|reich|hilf|helfen|relevan|bezug|bezieh|festgehalten|ermittel|bestimm|feststell|machen"
    r"|hinweis|information|angabe|\bvor\b|vorlieg|verrat|rede|berichte|erfass|mitgeteilt|aufschluss|themen|passend|zu tun|darüber|dazu"
)
_DE = Wording(
    sources=rf"\b{_DE_SOURCES}\b",
    nouns=_words(
        r"\b(?:register\w*|kassenbuch\w*|zeitung\w*|pressemitteilung\w*|webseite\w*|faq|tabelle\w*|e-?mails?|wiki\w*|zusammenfassung\w*|archiv\w*|fahrpl[aä]n\w*|programmheft\w*|nachruf\w*|inschrift\w*|klappentext\w*|meldung\w*|verzeichnis\w*|liste\w*)\b",
        rf"\b(?:{_DE_SOURCES}|{_DE_INFO}|frage\w*|darin|davon)\b",
        r"\b(?:\w*handbuch\w*|\w*anleitung\w*|broschüre\w*|faltblatt\w*|\w*berichte?\b|\w*interview\w*|briefe?\b|biogra[fp]\w*|memoiren|etikett\w*|\w*katalog\w*|leitfaden\w*|chronik\w*|protokoll\w*|\w*tagebuch\w*|\w*richtlinie\w*|prospekt\w*)",
        r"\bakten?\b|\bblatt\b|heftchen\b",
    ),
    statutes=r"\b\w*(?:gesetz|vertrag|verfassung|verordnung|erlass|satzung|abkommen|richtlinie|koran|bibel|konvention|dekret|ordnung)\w*\b",
    denies=_words(
        _all(_DE_NOT, _DE_HOLD),
        r"\b(?:schweig\w*|verschweig\w*|hüll\w+ sich in schweigen)\b",
    ),
    gap=_words(
        r"\bnichts (?:davon|hiervon|darin|hierin|daran|von alledem)\b|\bkeine infos?\b",
        r"\büberfragt\b|\bkeinen schimmer\b|\bnicht (?:bekannt|geläufig)\b$",
        r"^(?:leider |aber |und )?(?:das|dies|dieses? \w+|dazu|darüber|hierzu|darauf|davon|so etwas) .{0,30}\b(?:nicht|nirgends?|keine?r?|nichts)\b.{0,20}\b(?:abgedeckt|behandelt|enthalten|thema\w*|angesprochen|drin|dabei|vorhanden|hervor|ersichtlich|erkennbar|zu (?:finden|entnehmen|erkennen|sehen|lesen)|gefunden|erfasst|beantwort\w*|ableit\w*|vor|angaben|auskunft)\b",
        r"\b(?:nicht|kein\w*|nichts|nirgends)\b.{0,60}(?:was|dem|die|das),? (?:was |die |das )?(?:sie|du|ich|mir|ihr) (?:\w+ ){0,3}(?:geschickt|gegeben|geteilt|bereitgestellt|erhalten|bekommen|hochgeladen|vorlieg\w*|übermittelt)|(?:was|dem|die|das),? (?:was |die |das )?(?:sie|du|ich|mir|ihr) (?:\w+ ){0,3}(?:geschickt|gegeben|geteilt|bereitgestellt|erhalten|bekommen|hochgeladen|vorlieg\w*|übermittelt).{0,40}\b(?:nicht|kein\w*|nichts|nirgends)\b",
        r"\bweiß (?:ich )?(?:\w+ ){0,4}?nicht\b|\bweiss (?:ich )?(?:\w+ ){0,4}?nicht\b|\bkeine ahnung\b|\bbin (?:ich )?(?:mir )?(?:\w+ )?(?:nicht sicher|unsicher)",
        rf"\b(?:kein(?:e[rnms]?)?|ohne|mangels|unzureichende\w*|fehlende\w*|zu wenig|(?:nicht )?genug|nicht genügend|nicht ausreichend) (?:[\w-]+ ){{0,4}}?[\w-]*(?:{_DE_INFO}|kontext)\b",
        r"\bnicht (?:[\w-]+ ){0,4}?(?:erwähn|genannt|angegeben|beantwort|bekannt|ersicht|hervor|bestimm|ermittel|spezifi|beschrieb|aufgef|thematis|entnehm|festgehalten|vermerk|präzisier|eingegangen|überliefert|enthalten|dokumentiert|angeführt|erläutert|erklärt|behandelt|klar|gesagt|die rede)",
        r"\b(?:kann|können|konnte|konnten|lässt|lassen|ließ|vermag)\b.{0,120}?\b(?:nicht|keine?n?)\b.{0,80}?(?:beantwort|\bsagen|finden|bestimm|ermittel|nennen|feststell|entnehm|antwort|geben|machen|liefern|erkennen|ableiten|klären|belegen|angeben|wissen|schließen|gefunden|erschließen)",
        r"\b(?:ist|bleibt|sind|bleiben|sei|bleib)\b (?:[\w-]+ ){0,5}?(?:unklar|unbekannt|offen|ungewiss|unbeantwortet|ungeklärt|unerwähnt)\b",
        r"^(?:\w+ )?(?:unklar|unbekannt|offen|ungeklärt) (?:ist|bleibt)",
        r"\b(?:unklar|unbekannt|offen|ungeklärt|unerwähnt|unbeantwortet) (?:ist|bleibt|bleiben|sind)\b",
        rf"\bfehl(?:t|en)\b.{{0,60}}?\b[\w-]*(?:{_DE_INFO}|kontext|{_DE_SOURCES})|\b[\w-]*(?:{_DE_INFO}|kontext)\b.{{0,60}}?\bfehl(?:t|en)\b",
        r"\breich(?:t|en)\b.{0,60}?\bnicht\b",
        r"\b(?:nicht|keine?n?) (?:in der lage|möglich|imstande)|\bunmöglich\b.{0,40}(?:sagen|beantwort|bestimm)",
        r"^(?:jedoch |allerdings |aber )?nicht(?: aber)?,? (?:wann|wer|wie|warum|wo|was|welche\w*|ob|wem|wen|wessen|woher|wohin|weshalb|d(?:er|ie|as|en|em)|auf|zu|über|von)\b",
        r"\b(?:gibt|geben|macht|machen|liefert|liefern|enthält|enthalten|findet sich|finden sich|finde ich|fand ich|habe ich) (?:\w+ ){0,3}?(?:keine?[nr]?|nichts)\b",
        r"\bnichts (?:über|zu|von|darüber|dazu)\b",
        r"\bschweig(?:t|en)\b",
        r"\b(?:geht|lässt sich|geht aus)\b.{0,80}\bnicht hervor\b",
        r"\bweder\b.{0,80}\bnoch\b.{0,40}(?:erwähn|genannt|angegeben|enthalten|beschrieben|informationen|dokument)",
        r"\b(?:wären|sind|wäre|ist) (?:weitere|mehr|zusätzliche)\b|\b(?:weitere|mehr|zusätzliche) \w+ (?:nötig|notwendig|erforderlich|benötigt)",
        r"\baußerhalb (?:de[sr]|meine)",
        r"\bkeine?[rnms]? (?:\w+ ){1,4}?(?:aufgeführt|verzeichnet|vermerkt|angegeben|genannt|zu finden|erwähnt|abgedruckt|hinterlegt|notiert|ausgewiesen)\b",
    ),
    short=(
        r"(?:das |die frage |die antwort |frage |antwort |antwort: )?(?:ist |sind )?(?:(?:nicht|ir|un)[ -]?(?:relevant|beantwortbar|zu beantworten|verfügbar|vorhanden|bekannt|angegeben|genannt|erwähnt|gefunden|"
        r"enthalten|zutreffend|möglich|bestimmbar|klar|lösbar|ersichtlich)|kein(?:e|en|er)? (?:passende |relevante[nr]? |zutreffende )?(?:antwort|angaben?|informationen?|daten|ergebniss?e?|treffer|ahnung|bezug|kontext|auskunft|dokumente?)(?: (?:gefunden|vorhanden|möglich|verfügbar|zu finden|enthalten|im \w+))?"
        r"|k\.? ?a\.?|unzureichende \w+|zu wenig \w+|weiß nicht|weiss nicht|ohne antwort|keine|entfällt|nicht im \w+(?: enthalten)?|unbeantwortet)"
    ),
    turns=r"[,;] (?=(?:[\w-]+ ){1,5}?(?:jedoch|aber|allerdings|hingegen|dagegen|dennoch)\b)|(?:^|[,;:–—-] ?)(?:aber|jedoch|allerdings|doch|obwohl|obgleich|obschon|wenngleich|auch wenn|während|wobei|dennoch|trotzdem|nur|sondern)\b(?! auch)|;| – | — | und (?=(?:die|der|das|den|dem|im|in) (?:\w+ )?(?:dokument|quelle|kontext|text|passage)\w* .{0,40}(?:nicht|kein))",
    concedes=r"(?:obwohl|obgleich|obschon|wenngleich|auch wenn|während|zwar|trotz|abgesehen)\b",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_DE_SOURCES}|information\w*|sie|darin|dort|es|diese|beide|alle|eines)\b",
            r"\b(?:handel\w*|behandel\w*|beschreib\w*|besprech\w*|befass\w*|beschäftig\w*|bezieh\w*|betreff\w*|erwähn\w*|enthalt\w*|enthält|drehen|dreht|geht|gehen|sprech\w*|spricht|liefer\w*|geben|gibt|nenn\w*|konzentrier\w*"
            r"|thematisier\w*|bericht\w*|erklär\w*|erläuter\w*|umfass\w*|beschränk\w*|biet\w*|schilder\w*|dokumentier\w*|rede|widme\w*|findet|finden|stellen|stellt)\b",
        ),
        r"^(?:stattdessen|vielmehr)\b",
        r"^(?:beschrieben|behandelt|erwähnt|dargestellt|geschildert|thematisiert|besprochen|erläutert) (?:wird|werden)\b",
    ),
    about=r"\b(?:behandel|beschreib|beschrieb|handel|erwähn|befass|thematisier|schilder|geht es um|geht um|dreht sich|drehen sich|aufgezählt|aufgelistet|listet|zählt (?:\w+ ){0,3}?auf)\w*|\b(?:zur sprache|angesprochen|erwähnt|beschrieben|behandelt|aufgeführt|gestreift|thema\b|vorgestellt|genannt werden|werden genannt|besprochen|angerissen)\b|\b(?:kommt|kommen|taucht|tauchen)\w*|\b(?:im (?:mittelpunkt|fokus|zentrum|vordergrund)|schwerpunkt\w*)\b",
    only=r"\b(?:nur|lediglich|ausschließlich|stattdessen|vielmehr|vor allem|hauptsächlich|allein|bloß|andere themen|überwiegend)\b",
    implies=r"\b(?:lassen|lässt|deuten|deutet|legen|legt) (?:\w+ ){0,4}?(?:vermuten|schließen|annehmen|darauf hin|nahe|erkennen)\b(?!.{0,4}nicht)|\bandeuten, dass|\bdeuten .{0,20}an, dass",
    known=r"\ballgemein (?:\w+ )?(?:\w+ )?bekannt\b|\b(?:im allgemeinen|generell|üblicherweise|allgemeinwissen|bekannt(?:lich)?,? dass|bekanntlich)\b|\b(?:meines wissens|soviel ich weiß|soweit (?:ich weiß|mir bekannt)|nach meinem (?:kenntnisstand|wissen)|aus meinem (?:allgemein)?wissen)\b|\bnach allem, was ich weiß|\bwas ich weiß\b|\bnach meine[mnr] (?:\w+ )?(?:verständnis|kenntnis\w*|information\w*|erinnerung)\b|\bmeine[rs]? (?:kenntnis|erinnerung) nach\b",
    reports=r"\ballgemein (?:\w+ )?(?:\w+ )?bekannt\b|\b(?:im allgemeinen|generell|üblicherweise|laut|gemäß|zufolge|allgemein bekannt|allgemeinwissen|bekannt(?:lich)?,? dass)\b|\b(?:sag|erwähn|besag|berichte|bericht|nenn|erklär|heiß|schreib|geb|gib|zeig|beschreib|leg|vermut|bestätig)\w* (?:\w+ )?,? ?dass\b|\bheißt es\b|\bwird .{0,30}\bals\b|\bschreib\w* .{3,60} zu$|\bnenn\w* .{3,60} als\b|\bführ\w* .{3,60} auf\b|\bdatier\w+",
    hedges=r"\b(?:vermutlich|wahrscheinlich|wohl|möglicherweise|vielleicht|scheint|offenbar|anscheinend|soll|mutmaßlich|dürfte|könnte|angeblich)\b",
    sorry=r"\b(?:leider|entschuldig\w*|tut mir leid|bedaure\w*|verzeih\w*|bedauerlicherweise)\b",
    aside=_words(
        r"^(?:gefragt (?:ist|wird|war)|(?:die|ihre|deine) frage (?:ist|war|lautet|bezieht|betrifft|zielt|verlangt|fragt)|(?:sie|du) (?:fragen|fragst|wollen|willst|möchten|möchtest))\b",
        r"\b(?:weiß|wissen|wüsste\w*|wüßte\w*|hat|haben|kann|können) (?:\w+ )*(?:mehr|bescheid|auskunft|näheres|genaueres)\b",
        r"^(?:und |dann |oder )?(?:\w{3,}en sie|lad(?:e)?|schick(?:e)?|sende|gib|zeig(?:e)?|teile?|füge?|nenne?|such(?:e)?|schau(?:e)?|frag(?:e)?)\b",
        r"\b(?:hilft|helfen|weiterhilft|weiterhelfen|auskunft geben)\b",
        r"\b(?:bitte|gerne?|ich (?!glaube|denke|vermute|meine|schätze|nehme an)|mir|mich|meine[rnms]?|wir empfehlen|empfehl\w*|ratsam|empfehlenswert|hilfreich|sinnvoll|am besten|wende dich|wenden sie|konsultier\w*|helfen|weiterhelfen)\b",
        r"\b(?:sie|du|ihr) (?:könn|soll|müss|woll|möcht|brauch|benötig)\w*|\b(?:könn|soll|möcht|woll|müss|benötig)\w* (?:sie|du|ihr)\b|\bkannst du\b|\bkönnte\w* .{0,60}(?:weiterhelfen|auskunft|nachsehen|helfen|liefern|enthalten)",
        r"^(?:falls|wenn) (?:sie|du|ihr|weitere|es|mehr)\b|^(?:für|um) (?:weitere|genauere|mehr|nähere|eine genaue|diese frage|eine antwort)",
        r"\b(?:weitere|mehr|zusätzliche|andere|genauere) (?:\w+ )?(?:quellen|informationen|dokumente|unterlagen|angaben|details)\b",
        rf"^(?:laut|nach|gemäß|basierend auf|auf (?:der )?(?:basis|grundlage)|anhand|aus|in) (?:de[nrms] |den |diese[nrm] |der )?(?:[\w-]+ )*{_DE_SOURCES}$",
        r"^(?:deshalb|daher|somit|also|folglich|zusammenfassung|fazit|hinweis|antwort|quellen?|hallo|natürlich|gute frage|hier ist\b.{0,40}|zu ihrer frage|kurz gesagt|zusammengefasst|außerdem|zusätzlich)$",
    ),
    offers=r"\bmehr (?:\w+ )?(?:wissen|erfahren|hören|lesen|dazu)|\b(?:noch|sonst) (?:etwas|was|andere)|\bweiterhelfen\b|\bweitere (?:informationen|fragen|details)\b|\bhelfen\b|\b(?:soll|kann) ich\b|\bdass ich\b|\b(?:soll|kann|darf) ich\b(?! (?:fragen|wissen|nachfragen))|\bmöchten sie (?:noch|eine|einen|mehr|dass)\b",
    asks=_words(
        r"^(?:bitte )?(?:sagen|nennen|schreiben|wählen|teilen) sie (?:mir )?(?:bitte )?,? ?(?:welche\w*|was|wen|um welche\w*)",
        r"^(?:bitte )?(?:sagen|nennen|teilen|sag|nenn|schreiben|verraten) (?:sie )?(?:mir )?(?:bitte )?,? ?(?:mit,? )?(?:welche|wen|um welche)\w*\b",
        r"\bdarf ich (?:\w+ )*(?:fragen|wissen)\b",
        r"\b(?:meinen sie|meinst du|sie meinen|du meinst|meint ihr|gemeint|beziehen sie|beziehst du|sie beziehen|du dich beziehst|interessieren sie|interessiert sie|dich interessiert|interessierst|suchen sie(?=.*\?)|suchst du|fragen sie(?=.*\?)|fragst du|geht es ihnen|geht es dir|sprechen sie|sprichst du|denken sie|denkst du|sie wissen möchten|du wissen möchtest|sie sich beziehen)\b",
        r"\b(?:präzisier|konkretisier|spezifizier|genauer (?:sagen|angeben|beschreiben|erklären)|eingrenzen|angeben|klarstell|verdeutlich|näher (?:bestimm|erläuter)|teilen sie mir mit|sag(?:en sie)? mir|nennen sie)\w*.{0,60}(?:welche|was|wen|wer|ob|frage|anliegen|\?)|^(?:bitte |könn\w+ (?:sie|du) |kannst du ).{0,50}(?:präzisier|konkretisier|spezifizier|eingrenz|genauer|klarstell)",
        r"^(?:von |auf |über |um |nach |zu |an |in |für )?(?:welche[rsnm]?|wen|was genau|was)\b.{0,80}\b(?:meinen|meinst|gemeint|soll|möchten|möchtest|geht|wollen|interessier)",
    ),
    declines=r"\b(?:kann|können|darf|werde)\b.{0,40}\b(?:dabei|hierbei|damit|bei dieser anfrage|diese anfrage|dazu|diesem wunsch|bei diesem)\b.{0,40}\bnicht (?:\w+ )?(?:helfen|behilflich|unterstützen|nachkommen|weiterhelfen|entsprechen)|\bnicht (?:dabei )?(?:helfen|weiterhelfen|behilflich|unterstützen)\b|\bgegen (?:meine|die|unsere) (?:\w+ )?(?:richtlinien|regeln)|\bkeine (?:\w+ )?(?:anleitung|beratung|ratschläge)\b",
    negates=r"\b(?:nicht|kein(?:e[rnms]?)?|nichts|nirgend\w*|nie|niemals|weder|ohne|fehl(?:t|en)|un(?:erwähnt|beantwortet|klar|bekannt|gewiss)|offen|ausgespart|ausgeklammert|schweig(?:t|en))\b|\bun(?:möglich|bestimmt|geklärt|sicher|gesagt|genannt|gelöst)\w*|\bzu (?:\w+ )?(?:wenig|kurz|knapp|vage|dürftig|allgemein|ungenau|lückenhaft|\w+, um)\b|\b(?:endet|bricht|hört) (?:\w+ )*(?:vor|ab|auf)\b|\b(?:rätsel\w*|ungewiss\w*)\b",
    me=r"\b(?:ich|mir)\b(?! (?:glaube|denke|vermute|meine|schätze))",
    weak=r"^(?:und |so |dann )?(?:(?:der|die|das|den|im|in) )?(?:erste[nrs]?|zweite[nrs]?|dritte[nrs]?|vierte[nrs]?|fünfte[nrs]?|letzte[nrs]?|letztere\w*|andere[nrs]?|übrigen?|restlichen?|beide|[b-h](?= )|\d{1,2}(?= )|[a-h] (?:und|bis) [a-h])\b|\b(?:wäre|würde|könnte|müsste|ließe|bräuchte|hätte)[nt]?\b|\b(?:solche|derartige|diese art) (?:\w+ )?(?:angaben|daten|zahlen|informationen|details|einzelheiten|fragen|fakten)\b|\b(?:spekul\w+|geraten|raterei|mutmaß\w+)\b|^(?:nur|lediglich|bloß|allein)\b|^(?:der |die )?(?:verfasser\w*|autor\w*)\b|\b\w*(?:berichte?s?|register|archive?|statistik\w*|protokoll\w*)\b.*\b(?:normalerweise|üblicherweise|meist|gewöhnlich)\b|\b(?:normalerweise|üblicherweise|meist|gewöhnlich)\b.*\b\w*(?:bericht|register|archiv|statistik|protokoll)\w*|\bstünde[nt]?\b|^(?:und |oder )?(?:wie|wer|wen|wem|wann|warum|weshalb|wo|woher|wohin|ob|wessen|wie viele?)\b|\b(?:\w*website\w*|homepage|webseite\w*|internetseite\w*)\b|\b(?:nur|lediglich) (?:am rande|kurz|beiläufig|nebenbei)\b|^(?:ein(?:e[rsnm]?)? )?(?:andere[rsn]?|weitere[rsn]?)\b|^(?:der|die|das|im|in der) (?:bericht|studie|buch|kapitel|brief|tagebuch|tabelle|aufsatz|beitrag)\w*\b|\bfolgendes\b|\b(?:anrufen|ein anruf)\b",
    because=r"\b(?:weil|denn|aufgrund|wegen|da)\b|\b(?:niemand|historiker\w*|forsch\w+|wissenschaft\w*|archäolog\w*|bis heute|bislang|bisher|noch immer|grabung\w*)\b",
    given=r"\b(?:hochgeladen\w*|angehängt\w*|beigefügt\w*|mitgeschickt\w*|geschickt(?:e[nrs]?)? (?:haben|hast|liste|seite|datei|plan)|eingefügt\w*|übermittelt\w*|zur verfügung (?:steh\w*|gestellt\w*)|mir vorlieg\w*|mir vorliegt|auf dem (?:foto|bild|scan|screenshot))\b|\b(?:bildschirmfoto|screenshot)s?\b|\bihre? (?:fotos?|scans?)\b|\bmir lieg(?:t|en) nur\b|\bich sehe nur\b|\bdie sie (?:geteilt|geschickt) haben\b|\btreffern?\b|\b(?:das )?gefundene\w*|\b(?:den|die|das|der) (?:mir|ich)\b (?:vorlieg\w*|gefunden|bekommen|erhalten|habe)",
    wants=r"\b(?:wenn|falls|sobald|sofern) (?:sie|du|ihr)\b.{0,70}\b(?:\w*schick\w*|\w*send\w*|hochl\w+|zukommen|bereitstell\w*|einfüg\w*|anhäng\w*|nachreich\w*|übermittel\w*|weiterleit\w*|vorleg\w*|fotografier\w*|teilen|teilst)\b|^(?:bitte )?(?:schicken|senden|laden|reichen|fügen|schick|lade?)\b.{0,70}\b(?:dann|so|ich)\b|^reichen sie\b",
    hence=r"^(?:also|daher|deshalb|somit|damit|folglich|demnach|insofern|daraus)\b|\b(?:also|somit|daher|folglich|deshalb|damit|so nicht)\b",
    there=r"\b(?:darin|dort|dabei|darunter|hierin|hierzu|dazu|darüber|nirgends|nirgendwo|an keiner stelle|irgendwo)\b",
    lacks=r"\b(?:fehl(?:t|en)|kein(?:e|en|em)? (?:wort|silbe|rede|spur)|nicht (?:zur sprache|vor|auf|erwähnung)|offen ?(?:lassen|bleib\w*|gelassen)|bleibt .{0,30}offen|ausgespart|ausgelassen|weggelassen|unerwähnt|vergeb(?:ens|lich)|fehlanzeige|mit keiner silbe)\b|\bniemand (?:nennt|gibt|erwähnt|sagt|verrät)\b|\b(?:übersprungen|übergangen)\b|\berfunden\b|\bnicht (?:her|dabei|darunter)\b|\bmuss ich passen\b|\b(?:anderswo|woanders|an anderer stelle)\b.{0,30}\b(?:\w*such\w*|find\w*|nachles\w*|nachschlag\w*)",
    figure=r"\b(?:wie ?viel|wie (?:alt|lang|hoch|tief|breit|weit|schwer|oft)|wann\b|kostet|welche\w* (?:jahr|datum|temperatur))",
)

_ES_SOURCES = (
    r"(?:lo que (?:tengo|me)|notas|trozos?|adjuntos?|citas?|corpus|apuntes|apartados?|documentos?|fuentes?|contextos?|textos?|pasajes?|resultados?|artículos?|articulos?|fragmentos?|extractos?|material(?:es)?|párrafos?|archivos?|referencias?"
    r"|contenidos?|páginas?|registros?|escritos?|documentación|secciones|sección)"
)
_ES_INFO = r"(?:información|informacion|respuestas?|datos?|detalles?|mención|menciones|indicios?|referencias?|pistas?|constancia|explicación|aclaración|precisión|alusión|cifras?|contexto)"
_ES_NOT = r"\b(?:no|ni|nada|ningun[oa]?s?|ningún|sin|tampoco|carec\w+|falta\w*|insuficientes?|escas\w+)\b"
_ES_HOLD = (
    r"\b(?:conten|contien|mencion|proporcion|inclu|indic|especific|dice|dicen|decir|dan?\b|dar\b|dé\b|den\b|ofrec|respond|respuesta|contest|describ|explic|revel|detall|aparec|encuentr|encontr|figur|señal|aclar|precis"
    r"|trat|abord|habl|hay\b|haya\b|exist|aport|recog|citan?\b|consta|suficient|relevant|permit|refier|refer|determin|sab|nombr|present|disponible|está|hace|identific|muestr|cubr|conoc|relaci|ayud|basta|halla|informa|alud|contempl|brind|tien|resuelv|especí|menciona|definen?|afirma|concret|suministr|facilit|arroj|localiz)"
)
_ES = Wording(
    sources=rf"\b{_ES_SOURCES}\b",
    nouns=_words(
        r"\b(?:registros?|periódicos?|comunicados?|webs?|faq|tablas?|correos?|wikis?|resúmen(?:es)?|resumen|archivos?|horarios?|programas?|necrológicas?|inscripci(?:ón|ones)|listas?|listados?|capítulos?)\b",
        rf"\b(?:{_ES_SOURCES}|{_ES_INFO}|preguntas?|consulta|ningun[oa] de (?:ell[oa]s|est[oa]s))\b",
        r"\b(?:manual\w*|folletos?|informes?|entrevistas?|cartas?|biografías?|memorias|etiquetas?|catálogos?|guías?|crónicas?|actas?|fichas?|prospectos?)\b",
        r"\bhojas?\b",
    ),
    statutes=r"\b(?:ley|leyes|(?:un|el|del|este|al|los) tratado|constitución|reglamento|decreto|estatuto|ordenanza|contrato|biblia|corán|convenio|directiva|código|norma)s?\b",
    denies=_words(
        _all(_ES_NOT, _ES_HOLD),
        r"\bcallan?\b|\bsilencio\b",
    ),
    gap=_words(
        r"\bnada de (?:esto|eso|ello|lo)\b|\bsin infos?\b|\bno hay info\b",
        r"^(?:pero |lamentablemente,? |por desgracia,? )?(?:eso|esto|ello|ese \w+|este \w+|esa \w+|esta \w+)? ?no (?:se |está |están |viene |aparece |figura |consta |queda )?(?:contempla\w*|cubiert\w*|cubre|recogid\w*|tratad\w*|aquí|ahí|incluid\w*|desprende|deduce|ve\b|aprecia|abord\w*|menciona\w*|aparece|figura|consta|viene)\b",
        r"\b(?:no|nada|ning\w+|falta\w*)\b.{0,60}lo que (?:me |he )?(?:envi|pas|dier|diste|dio|compart|recib|mand|facilit|proporcion|entreg)\w*|lo que (?:me |he )?(?:envi|pas|dier|diste|dio|compart|recib|mand|facilit|proporcion|entreg)\w*.{0,40}\b(?:no|nada|ning\w+|falta\w*)\b",
        r"\bno (?:lo |la )?sé\b|\bno lo se$|\bdesconozco\b|\bignoro\b|\bno (?:tengo|dispongo|cuento|poseo|contamos|disponemos|tenemos)\b|\bno estoy segur|\bni idea\b",
        r"\bno (?:\w+ ){0,2}?(?:puede|puedo|pueden|podemos|es posible|ha sido posible|fue posible|pude|logr\w+|consig\w+|he podido|resulta posible|podría|sabría|alcanzo)\b.{0,50}?\b(?:respond|contest|determin|sab|dec|encontr|encuentr|dar|identific|confirm|proporcion|establec|hall|ofrec|afirm|indic|precis|especific|conoc|extra|deduc|verific|conclu|localiz|ubic)",
        r"\bno (?:se )(?:\w+ )?(?:mencion|especific|indic|precis|aclar|detall|conoc|sabe|dice|encuentr|encontr|proporcion|señal|explic|nombr|revel|describ|facilit|ofrec|hall|incluy|hace|habla|trata|aborda|dispon|informa|da\b|dan\b|aporta|recoge|desprend|deduc|define|cita|refiere)",
        rf"\b(?:no (?:\w+ )?(?:hay|existen?|encuentro|encontré|veo|he encontrado|se encuentra|contienen?|hallé|aparecen?|ofrecen?|dan?|aportan?|proporcionan?|incluyen?|tienen?)) (?:\w+ ){{0,4}}?(?:{_ES_INFO}|{_ES_SOURCES}|nada)\b",
        rf"\b(?:sin|ningun[oa]?|ningún|insuficientes?|falta(?:n)?(?: de)?|carec\w+ de|escas[oa]s?) (?:\w+ ){{0,3}}?(?:{_ES_INFO}|{_ES_SOURCES})\b|\b{_ES_INFO} (?:\w+ ){{0,2}}?(?:insuficiente|no (?:está|es suficiente))",
        r"\b(?:es|sigue siendo|siguen siendo|permanece|queda|resulta|son|está|continúa siendo) (?:\w+ )?(?:desconocid|inciert|poco clar|una incógnita|sin (?:respuesta|aclarar|especificar|responder)|imposible)",
        r"\bno (?:está|están|queda|quedan|es|son|resulta|fue|aparece|aparecen|figura|figuran|viene|consta)\b(?: \w+){0,2}? ?(?:clar|conocid|especificad|mencionad|disponible|posible|indicad|precisad|detallad|respond|contest|recogid|explicad|seguro)|\bno (?:consta|figura|aparece|está|es posible)n?$",
        r"\bimposible (?:\w+ )?(?:respond|determin|saber|decir|contest)",
        r"^(?:pero |aunque )?no (?:así )?(?:cuándo|quién|quiénes|cómo|cuánt\w+|dónde|por qué|qué|cuál|de|del|el|la|los|las|sobre|a|en|por|su)\b(?!.*\b(?:es|son|fue|era|está|tiene|hay)\b)",
        r"\bnada (?:sobre|acerca|al respecto|de eso|en (?:los|las|el))\b",
        r"\b(?:no|ni) (?:basta|bastan|alcanza|alcanzan|son suficientes|es suficiente)\b",
        r"\b(?:se necesit\w+|se requier\w+|haría falta|harían falta|sería necesari\w+|serían necesari\w+|necesitaría) (?:\w+ )?(?:más|otr|información|datos|document)",
        r"\bguardan? silencio\b|\bomiten?\b|\bfuera del? (?:alcance|ámbito|contexto)",
        r"^(?:pues |bueno |vaya )?(?:la verdad(?: es que)? )?(?:no (?:lo )?sé|lo desconozco|lo ignoro)\b|\bse me escapa\b",
        r"\bno viene\w* (?:\w+ )?\w+ alguna?\b|^(?:pues |bueno |vaya |uf )+(?:no|ni idea)\b|\bno (?:sale|aparece|figura)n? por ning\w+",
    ),
    short=(
        r"(?:la |esta |respuesta |respuesta: |pregunta |es |está )*(?:no (?:es |está |se puede |puede ser |se |hay |existe |tengo |encontrad\w|se encontró )?(?:relevantes?|pertinentes?|aplicables?|aplica|respondible|contestable|disponibles?|encontrad[oa]|mencionad[oa]|especificad[oa]|indicad[oa]|conocid[oa]|responder|respondid[oa]|contestar|determinable|posible|sé|idea|suficiente (?:información|contexto)|(?:una )?respuesta|información(?: \w+){0,2}|datos|menciona|especifica|sabe|indica|encuentra)"
        r"|irrelevantes?|no lo sé|sin (?:respuesta|información|datos|resultados|relación|relevancia|contexto)(?: \w+)?|ningun[oa] (?:respuesta|relevante)?|desconocid[oa]|información insuficiente|insuficiente|n/?[ad]|incontestable|imposible (?:de )?responder|ningun[oa]|no consta|sin especificar)"
    ),
    turns=r"(?:^|[,;.–—-] ?)(?:y )?(?:pero|sin embargo|aunque|no obstante|si bien|mientras que|aun así|a pesar de que|ahora bien|con todo|sino)\b(?!,? ?(?:también))|;| – | — | pero | aunque ",
    concedes=r"(?:aunque|si bien|aun cuando|a pesar de|pese a|mientras|aparte de|más allá de)\b",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_ES_SOURCES}|información|datos|ell[oa]s|tod[oa]s|ambos|sólo|solo|estos|estas|únicamente|uno|el otro)\b",
            r"\b(?:trat|habl|describ|mencion|refier|refer|centr|abord|contien|incluy|proporcion|ofrec|cubr|explic|analiz|discut|coment|limit|aluden|alude|tienen que ver|versan?|detall|present|relacion|expon|aport|dan\b|da\b|enfoc|hacen? referencia|dedic)",
        ),
        r"^(?:en cambio|en su lugar|más bien)\b",
    ),
    about=r"\b(?:describ|trat[ae]|mencion|habl|abord|coment|explic|enumer|detall|se (?:refiere|centra|limita)|list)\w*|\b(?:se (?:coment|mencion|describ|trat|cit|enumer|toc|abord|detall)|figuran?|versan?)\w*|\b(?:cita|citan|aparec|sale|salen|narra|cuenta|repas|relat|recorr|recog|anot|traz|retrat|gira)\w*|\b(?:el foco|el énfasis|el tema)\b",
    only=r"\b(?:sólo|solo|solamente|únicamente|exclusivamente|en cambio|en su lugar|principalmente|más bien|otros temas|sobre todo)\b",
    implies=r"\b(?:sugier\w+|dan? a entender|insinúa\w*|dejan? entrever|parecen? indicar|hacen? pensar|apuntan? a) (?:que)?\b",
    known=r"\b(?:es (?:bien )?sabido|bien sabido|se sabe que|conocimientos? general\w*|en general se sabe|es de conocimiento|en general,?|por lo general)\b|\b(?:que yo sepa|hasta donde (?:yo )?sé|por lo que sé|según tengo entendido|de memoria)\b|\b(?:tengo entendido|según mis conocimientos|por lo que yo sé|si no recuerdo mal)\b|\bsuelen? (?:deb|ser|ocurr|produc)\w*",
    reports=r"\b(?:según|de acuerdo con|es sabido|se sabe que|conocimientos? general\w*|en general se sabe|es de conocimiento)\b|\b(?:dic|señal|indic|afirm|mencion|sostien|explic|muestr|inform|sugier|confirm|relat|cuent|estim)\w* que\b|\batribuy\w+|\bdatan? (?:la|el)\b|\bnombra\w* .{3,60} como\b",
    hedges=r"\b(?:probablemente|quizás?|tal vez|posiblemente|parece|parecen|al parecer|seguramente|se cree|se supone|presumiblemente|aparentemente|podría|supuestamente|se dice)\b",
    sorry=r"\b(?:lo siento|lamento|lamentablemente|disculp\w+|perdón|perdona|desafortunadamente|desgraciadamente|por desgracia)\b|\bsiento (?:no|mucho)\b",
    aside=_words(
        r"\b(?:podría\w*|puede\w*|quizá\w*) (?:\w+ )?(?:servir\w*|ayudar\w*|valer\w*|contener\w*|sirva\w*)\b",
        r"^(?:la|su|tu) (?:pregunta|consulta) (?:pide|es|trata|se refiere|busca|pregunta|versa|exige|requiere)\b|^se (?:pide|pregunta)\b|^(?:preguntas?|usted pregunta)\b",
        r"\b(?:sabrán?|sepan?|conozcan?|tengan?|podrán?) (?:\w+ )*(?:más|ayudar\w*|decir\w*|mejor)\b",
        r"^(?:y |o |entonces )?(?:sub|mand|envi|envía|pás|pas|adjunt|pég|peg|carg|d[aeé]|muéstr|muestr|tra[ei]g|facilit)(?:a|e|á|é|en|ad|alo|ala|elo|ela|ame|eme|amelo|emelo|an|bel[oa]|bal[oa])*\b",
        r"\b(?:pued[ae]n?|podrían?|pueda) (?:\w+ )?(?:ayud|orient|inform)\w+",
        r"\b(?:por favor|no dud(?:e|es)|con gusto|gustos[oa]|encantad[oa]|avís\w+|hág\w+lo saber|dime|dígame|hazme saber|espero|te sugiero|le sugiero|recomi\w+|sugier[oe]\w*|aconsej\w+|conviene|convendría|lo mejor (?:es|sería)|recomendable|aconsejable)\b",
        r"\b(?:puedo|podría ayudar|podemos|estoy|necesito|necesitaría|quisiera|mi|me|intentaré|soy)\b(?! (?:parece que|imagino))",
        r"^(?:y |también |además,? |en todo caso,? |para [^,]{0,60},? |si [^,]{0,60}, |en ese caso,? |quizás? |tal vez )*(?:puedes?|podrías?|debería\w*|tendría\w*|consult\w+|intent\w+|prueb\w+|busc\w+|revis\w+|visit\w+|contact\w+|pregunt\w+|proporcion\w+|compart\w+|verific\w+|acud\w+|diríj\w+|quiz\w+ )",
        r"^si (?:necesit|quier|dese|tien|me|lo|pued|hay|dispon|prefier|busc|está|gust)",
        r"\b(?:más|otras?|otros|fuentes) (?:información|detalles|fuentes|documentos|datos|externas|oficiales|adicionales|especializadas)\b",
        rf"^(?:según|de acuerdo con|basándo\w+ en|con base en|a partir de|en|de|conforme a|con) (?:l[ao]s? |el |est[eao]s? )?(?:\w+ )?{_ES_SOURCES}(?: \w+){{0,2}}$",
        r"^(?:por (?:lo )?tanto|por eso|así que|en resumen|resumen|conclusión|en conclusión|nota|respuesta|fuentes?|hola|claro|gracias|además|también|respecto a su pregunta|aquí (?:está|tienes)\b.{0,40}|buena pregunta)$",
    ),
    offers=r"\b(?:saber|conocer|aprender|leer) (?:algo )?más\b|\balgo más\b|\bmás (?:información|detalles)\b|\bayud\w+|\bbusque\b|\bque (?:te|le|les|lo|la)? ?(?:busque|proponga|muestre|haga|explique|prepare|mire|revise|indique|sugiera|dé|diga|cuente)\b|\b(?:puedo|debo)\b(?! (?:saber|preguntar))",
    asks=_words(
        r"^(?:por favor,? )?(?:diga|di|concrete|concreta|especifique|elija)(?:me)? (?:\w+ )?(?:cuál|qué|quién)\w*",
        r"^(?:dígame|dime|indíqueme|indícame) (?:en |a |de |por )?(?:cuál\w*|qué)\b",
        r"\b(?:puedo|podría) (?:saber|preguntar\w*)\b",
        r"\b(?:te refieres|se refiere\b(?=[^.]*\?)|te estás refiriendo|se está refiriendo|se refieren\b(?=[^.]*\?)|quieres decir|quiere decir usted|estás (?:preguntando|hablando|buscando|pensando)|está (?:preguntando|hablando|buscando|pensando|usted)|te interesa|le interesa|tienes en mente|tiene en mente|quieres saber|quiere saber|desea saber|deseas saber)\b",
        r"\b(?:podrías?|puedes?|por favor|podría usted|podríais|necesito que|necesitaría que|me)\b.{0,20}?\b(?:aclar|especific|precis|concret|indic|dec|diga|dig|confirm|detall|reformul)\w*.{0,40}(?:qué|cuál|quién|si |a qué|pregunta|más|\?)",
        r"^\W*(?:a |de |en |sobre |por )?(?:cuál|cuáles|qué)\b.{0,80}\b(?:refier|interes|quier|dese|hablas?|busc|preguntas?\b|necesit)",
        r"(?:^|[,:;] ?|favor,? )(?:aclare|aclara|especifique|especifica|precise|precisa|indique|indica|dime|dígame|concrete) (?:\w+ )?(?:a )?(?:qué|cuál|quién|si )",
    ),
    declines=r"\bno (?:\w+ )?(?:puedo|podemos|puede|me es posible|voy a|debo) (?:\w+ ){0,2}?(?:ayudar|asistir|colaborar|cumplir|atender|brindar (?:consejo|asesor|instruc)|dar (?:consejo|instruc)|ofrecer (?:consejo|asesor|instruc)|proporcionar (?:instruc|consejo|asesor)|facilitar instruc)\w*|\bva en contra de\b",
    negates=r"\b(?:no|ni|nada|nunca|jamás|ningun[oa]?s?|ningún|sin|tampoco|faltan?|ausentes?|fuera|abiert[oa]|calla|callan|silencio|omit\w+)\b|\b(?:desconocid\w+|se (?:ignora|desconoce)|imposible|inciert\w+|insuficient\w+|indeterminad\w+)\b|\b(?:ignor\w+|desconozc\w+)|\bdemasiado (?:poc\w+|\w+ para|vag\w+|brev\w+|escuet\w+|general\w*)\b|\bse (?:corta|detiene|interrumpe)\w*\b|\bal margen\b|\b(?:en el aire|misterio|incógnita)\b",
    me=r"\b(?:he|tengo|puedo|pude|podría|logro|logré|encuentro|encontré|veo|vi|dispongo|sé|sabría|consigo|conseguí|hallo|hallé|hallado|me|mi|mí)\b",
    weak=r"^(?:y |e |entonces )?(?:(?:el|la|los|las) )?(?:primer[oa]?s?|segund[oa]s?|tercer[oa]?s?|cuart[oa]s?|quint[oa]s?|últim[oa]s?|otr[oa]s?|demás|ell[oa]s|ambos|[b-df-h](?= )|\d{1,2}(?= )|[a-h] (?:y|a) (?:el )?[a-h])\b|\b\w+(?:ría|rían|ríamos|rías)\b|\b(?:este tipo de|ese tipo de|tales|esta clase de) (?:\w+ )?(?:datos?|detalles?|cifras?|información|preguntas?)\b|\b(?:especul\w+|conjetur\w+|adivin\w+|suposici\w+)\b|^(?:solo|sólo|únicamente|solamente)\b|^(?:el|la|los|las) autor\w*\b|\b(?:suelen?|normalmente|habitualmente)\b|^(?:y |o )?(?:cómo|por qué|cuándo|si|quién|quiénes|dónde|cuánt\w+|de quién)\b|\b(?:web|sitio oficial|página oficial|internet)\b|\b(?:solamente|únicamente|nada más)$|^(?:un|una) (?:segund|tercer)\w*\b|^(?:el|la|este|esta) (?:informe|estudio|libro|capítulo|carta|diario|tabla)\b|\b(?:lo siguiente|esto es lo que)\b|\b(?:llamar|telefonear)\b",
    because=r"\b(?:porque|pues|ya que|puesto que|debido a|a causa|dado que)\b|\b(?:nadie|historiador\w*|investigador\w*|científic\w*|arqueólog\w*|hasta (?:hoy|la fecha|ahora)|todavía|aún|excavacion\w*)\b",
    given=r"\b(?:que|lo que) (?:me )?(?:subiste|enviaste|mandaste|adjuntaste|compartiste|pegaste|diste|has (?:subido|enviado|adjuntado|compartido|pasado|pegado)|envió|adjuntó|compartió|subió|ha (?:subido|enviado|adjuntado|compartido))\b|\b(?:adjunt[oa]s?|enviad[oa]s?|facilitad[oa]s?|proporcionad[oa]s?|compartid[oa]s?|la foto|la captura|el pdf)\b|\b(?:captura|pantallazo)s?\b|\btus? fotos?\b|\bsolo veo\b|\blo único que (?:veo|tengo)\b|\blo (?:recuperado|encontrado|hallado)\b|\bque (?:he encontrado|tengo|encontré|me ha llegado)\b",
    wants=r"\b(?:si|cuando) .{0,50}\b(?:env[ií](?:as|a|es|e|áis)|mand(?:as|a|es|e)|comparte?s?|adjunt(?:as|a|es|e)|peg(?:as|a|ues|ue)|sub(?:es|e|as|a)|me pas(?:as|a|es|e)|facilit(?:as|a|es|e))\b|\b(?:súb|envía|mánd|pása|pég|adjúnta)\w*(?:l[oa]s?|me)\b.{0,40}\b(?:y|que)\b|^añad\w+\b.{0,50}\by\b",
    hence=r"^(?:por (?:eso|ello)|así que|en consecuencia|de modo que|con es[ot])\b|\bpor (?:lo )?tanto\b",
    there=r"\b(?:ahí|allí|en (?:él|ella|ellos|ellas|ningun\w+|ningún)|entre (?:ellos|ellas)|por ning\w+)\b",
    lacks=r"\b(?:faltan?|no (?:sale|aparece|figura|asoma|viene|consta|está|se da)n?|(?:queda|sigue|permanece)\w*[, ](?:[\w ]{1,40}, )?(?:sin (?:contestar|responder|respuesta|resolver)|abierta|pendiente)|se (?:omite|calla|deja fuera|silencia)n?|brillan? por su ausencia|ni rastro|ni palabra|ausentes?|en vano|no (?:dan?|hay) noticia)\b|\bnadie (?:da|dice|menciona|precisa|indica)\b|\bse (?:la |lo |las |los )?salt[ao]n?\b|\binvent[aá]r\w*\b|\bno se ven?\b|\bbusc\w+\b.{0,20}\b(?:en otr[oa]s? (?:sitio|lugar|parte|fuente)s?|fuera)\b",
    figure=r"\b(?:cuánt|cuándo|en qué año|a qué (?:hora|temp)|qué (?:altura|edad|temperatura|año|longitud|fecha)|cuesta|precio|mide)",
)

_FR_SOURCES = r"(?:ce que j'ai|notes|morceaux|fragments?|pièces? jointes?|matériel|écrits|citations?|corpus|fiches?|documents?|sources?|contextes?|textes?|passages?|résultats?|articles?|extraits?|documentation|références?|matériaux|paragraphes?|fichiers?|contenus?|pages?|éléments|corpus|dossiers?|sections?|notices?)"
_FR_INFO = r"(?:informations?|infos?|réponses?|données?|détails?|mentions?|indications?|indices?|références?|précisions?|explications?|allusions?|renseignements?|base|contexte|chiffres?)"
_FR_NOT = (
    r"(?:\bne\b|\bn'|\bpas\b|\bnon\b|\baucune?s?\b|\brien\b|\bsans\b|\bni\b|\bmanqu\w+|\binsuffisant\w*|\bnulle part\b)"
)
_FR_HOLD = r"\b(?:contien|conten|mentionn|fourni|inclu|indiqu|précis|dit\b|disent|dire\b|donn|offr|répon|décri|expliqu|révèl|détaill|apparai|apparaî|trouv|figur|signal|évoqu|trait|abord|parl|a pas|existe|apport|cit|suffi|pertinen|perme|réfèr|détermin|sai[st]\b|savoir|nomm|présent|disponib|est\b|sont\b|fait|font|identifi|montr|couvr|connai|connu|aid|concern|compor|rapport|port|spécifi|renseign|trac|établ|propos|livr|énum|dispos|clair|permett)"
_FR = Wording(
    sources=rf"\b{_FR_SOURCES}\b",
    nouns=_words(
        r"\b(?:registres?|journa(?:l|ux)|communiqués?|sites?|faq|e-?mails?|courriels?|wikis?|résumés?|archives?|horaires|programmes?|nécrologies?|inscriptions?|listes?|comptes? rendus?|chapitres?)\b",
        rf"\b(?:{_FR_SOURCES}|{_FR_INFO}|question|d'entre (?:eux|elles)|de ceux-ci)\b",
        r"\b(?:notices?|manuels?|brochures?|dépliants?|rapports?|entretiens?|lettres?|biographies?|mémoires|étiquettes?|catalogues?|livrets?|guides?|chroniques?|procès-verba\w+|tableaux?)\b",
        r"\bfeuillets?\b|\bpièce\b",
    ),
    statutes=r"\b(?:loi|(?:un|le|du|ce|au|les|des) traité|constitution|règlement|décret|statut|ordonnance|contrat|bible|coran|convention|directive|code|arrêté|charte)s?\b",
    denies=_words(
        _all(_FR_NOT, _FR_HOLD),
        r"\b(?:taisent|tait|silence|muets?|muettes?)\b",
    ),
    gap=_words(
        r"\brien (?:là-dedans|de (?:tout )?(?:cela|ça)|ici|de tout)\b|\b(?:pas d'|aucune )infos?\b",
        r"^(?:mais |malheureusement,? |désolée?,? )?(?:cela|ceci|ce|c'|ça|cette (?:question|information|donnée)|ce (?:point|détail|sujet|chiffre)) ?(?:n'|ne )(?:\w+ )*?(?:est |y |en )*(?:pas|nulle part|jamais) (?:\w+ )*?(?:couvert|trait|abord|dans|ressort|mentionn|évoqu|visible|présent|indiqu|précis|là|ici|traité|inclus)\w*|^(?:cela|ça) n'en (?:ressort|sort|est) pas",
        r"\b(?:pas|aucun\w*|rien|nulle)\b.{0,60}ce (?:que (?:vous|tu|j)|qu'on|qui m)['\w]* ?(?:\w+['’ ]?){0,3}(?:envoy|donn|transm|fourni|remis|reçu|partag|communiqu)\w*|ce (?:que (?:vous|tu|j)|qu'on|qui m)['\w]* ?(?:\w+['’ ]?){0,3}(?:envoy|donn|transm|fourni|remis|reçu|partag|communiqu)\w*.{0,40}\b(?:pas|aucun\w*|rien|nulle)\b",
        r"\bimpossible à (?:\w+ )?(?:dire|déterminer|répondre|savoir|établir)|\bil (?:me |nous )?manque\b",
        r"\bje (?:ne )?(?:le |la |l'|vous )?(?:sais|connais|trouve|vois|dispose|possède|peux|suis)\b (?:\w+ )?(?:pas|aucun|rien)|\bj'ignore\b|\bje n'ai (?:\w+ )?(?:pas|aucun|rien|trouvé)|\baucune idée\b|\bje ne (?:dispose|trouve|connais|vois|peux|saurais|parviens)|\bje n'arrive pas",
        r"\b(?:ne|n')\s?(?:\w+ )?(?:peut|peuvent|peux|permet|permettent|pouvons|pourrais?|saurait)(?: \w+){0,2}? ?(?:pas )?(?:de |d'|être |y |en |me )?(?:\w+ )?(?:répon|détermin|savoir|dire|trouv|donn|identifi|confirm|établ|connaît|conclu|précis|affirm|fourni|indiqu|vérifi|dédui)",
        rf"\b(?:aucune?s?|pas (?:assez )?(?:de |d')|sans|pas suffisamment (?:de |d')|insuffisance (?:de |d')|manque (?:de |d')|peu (?:de |d')) ?(?:[\w'-]+ ){{0,3}}?(?:{_FR_INFO}|{_FR_SOURCES})\b",
        r"\b(?:n'est|ne sont|n'a|n'ont|n'était|n'y est|n'y sont|ne soit|n'apparaît|ne figure|ne figurent|ne se trouve|n'apparaissent|n'en est)(?: \w+){0,2}? ?\b(?:pas|nulle part|jamais|aucunement)\b(?: \w+){0,3}? ?\b(?:mentionn|précis|indiqu|conn|spécifi|clair|disponib|possible|répond|fourni|donn|trait|abord|évoqu|détaill|expliqu|établi|dans (?:le|la|les|ces|ce) (?:doc|text|sour|cont|pass|extr|rés)|parmi|en mesure|certain|sûr)",
        r"\b(?:est|reste|restent|demeure|demeurent|sont) (?:\w+ )?(?:inconnu|incertain|pas clair|flou|sans réponse|indétermin|imprécis|à préciser)",
        r"\b(?:impossible|pas possible|incapable|pas en mesure|difficile) (?:\w+ )?(?:de |d')\s?(?:\w+ )?(?:répon|détermin|savoir|dire|trouv|donn|identifi|établ|fourni|conclu|précis)",
        r"\b(?:on ignore|nul ne sait|on ne sait pas|rien n(?:e |')(?:\w+ )?(?:indiqu|permet|est dit|précis|dit|mentionn))",
        r"\brien (?:sur|à propos|concernant|au sujet|dans|là-dessus|de tel)\b",
        r"^(?:mais )?(?:non |pas )(?:quand|qui|comment|où|pourquoi|ce|combien|quel\w*|de|le|la|les|l'|du|sur|à|par)\b",
        r"\b(?:manque|manquent|insuffisant\w*)\b.{0,40}(?:information|contexte|données|détail|réponse|élément)|\b(?:informations?|contexte|données|éléments|documents)\b.{0,50}(?:manqu|insuffisant|font défaut|ne suffi)",
        r"\bne suffi(?:t|sent)\b|\bfait défaut\b|\bpasse(?:nt)? sous silence\b|\bmuets?\b|\bmuettes?\b",
        r"\bil (?:faudrait|faut) (?:\w+ )?(?:plus|davantage|d'autres|des)\b|\bserai(?:t|ent) nécessaires?\b",
        r"\bhors (?:du |de )(?:champ|portée|contexte|sujet)",
        r"\bn(?:e|')(?: |')?(?:\w+ ){1,3}?nulle part\b|\bn'est (?:\w+ )?(?:mentionn|précis|indiqu|évoqu)\w*",
        r"\bne (?:\w+ )?(?:le |la |l'|les |en |y )?(?:précis|mentionn|indiqu|dit|disent|spécifi|évoqu)\w* (?:\w+ )?(?:pas|rien|aucun|jamais|ni)",
    ),
    short=(
        _words(
            r"(?:la |cette |réponse |question |réponse: |est |c'est )*(?:(?:non|pas|im|in|ir)[ -]?(?:pertinente?s?|applicable|répondable|disponible|trouvée?|mentionnée?|précisée?|spécifiée?|connue?|indiquée?|fournie?|de réponse|d'informations?|possible(?: de répondre)?|concernée?|résoluble|répondu|déterminée?)"
            r"|aucune? (?:réponse|information|donnée|résultat|mention|document|rapport|idée)s?(?: \w+){0,2}|sans (?:réponse|objet|rapport|information)|hors sujet|inconnue?|je ne sais pas|informations? insuffisantes?|contexte insuffisant|données insuffisantes|n/?[ad]|néant|aucune?|impossible à (?:répondre|déterminer)|rien trouvé|irrelevante?|sans pertinence)",
            r"(?:non|pas) (?:renseigné|communiqué|précisé|mentionné|indiqué|spécifié|fourni|documenté|trouvé|connu|déterminé|applicable|défini)e?s?",
        )
    ),
    turns=r"[,;] ?(?=(?:[\w'-]+ ){1,5}?(?:toutefois|cependant|pourtant|néanmoins)\b)|(?:^|[,;.–—-] ?)(?:et )?(?:mais|cependant|toutefois|bien que|bien qu'|quoique|même si|néanmoins|pourtant|tandis que|alors que|en revanche|or|sauf que)\b(?!,? ?aussi)|;| – | — | mais | bien que | bien qu'| même si ",
    concedes=r"(?:bien que|bien qu'|quoique|même si|malgré|tandis que|alors que|si\b(?=.*\bne\b)|hormis|à part)",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_FR_SOURCES}|informations?|ils|elles|tous|toutes|ceux-ci|celles-ci|l'un|l'autre|il|elle|ces derniers|seul\w*)\b",
            r"\b(?:trait|parl|décri|mentionn|concern|port|abord|contien|fourni|donn|offr|évoqu|expliqu|présent|limit|discut|cite|s'intéress|rapport|détaill|propos|se réfèr|font référence|se concentr|consacr|relat|compren|couvr)",
        ),
        r"^(?:à la place|au lieu|plutôt)\b",
    ),
    about=r"\b(?:décri|trait|évoqu|parl|mentionn|abord|présent|concern|énumèr|énumér|list|détaill|port[ea] sur|portent sur|relat|expliqu)\w*|\b(?:est|sont) (?:\w+ )*(?:évoqu|abord|trait|mentionn|décri|cit|list|détaill|effleur)\w*|\bil (?:y )?est (?:\w+ )?question\b|\b(?:retrac|racont|revien|narr|dress|not(?:e|ent)\b|consacr|attard|relèv)\w*|\b(?:l'accent est mis|il s'agit|au centre)\b",
    only=r"\b(?:seulement|uniquement|exclusivement|plutôt|principalement|surtout|essentiellement|à la place|autres sujets|simplement|que (?:de|des|du|les|le|la)\b|seule?s?|ne \w+ que)\b|\bn'y a que\b",
    implies=r"\b(?:laissent? (?:entendre|penser|supposer|croire)|suggèrent?|sous-entend\w*|semblent? indiquer|donnent? à penser|font penser|laissent? à penser) qu",
    known=r"\b(?:il est (?:généralement |bien |largement )?(?:connu|admis|établi)|bien connu|on sait (?:\w+ )?que|connaissances? générales?|culture générale|notoire|de notoriété|en général|généralement)\b|\b(?:à ma connaissance|autant que je sache|(?:pour autant|d'après ce) que je sa\w+|de mémoire)\b|\bd'après (?:mes|ce que je) (?:connaissances|sais|souvenirs|crois)\b|\bje crois savoir\b|\bselon mes connaissances\b",
    reports=r"\b(?:selon|d'après|il est (?:généralement |bien |largement )?(?:connu|admis|établi)|on sait (?:\w+ )?que|connaissances? générales?|culture générale|notoire|de notoriété)\b|\b(?:dit|disent|indiqu\w+|affirm\w+|mentionn\w+|expliqu\w+|montr\w+|précis\w+|signal\w+|rapport\w+|not\w+|suggèr\w+|confirm\w+|racont\w+|estim\w+) (?:\w+ )?qu(?:e|')|\battribu\w+|\bdate(?:nt)? (?:la|le|l|les|du|de)\b|\bnomm\w+ .{3,60} comme\b",
    hedges=r"\b(?:probablement|peut-être|sans doute|semble|semblent|vraisemblablement|possiblement|apparemment|on pense|on suppose|il se peut|pourrait|serait|aurait|présumé|dit-on)\b",
    sorry=r"(?:\bdésolée?s?\b|\bmalheureusement\b|\bexcus\w+|\bje regrette\b|\bpardon\b|\bhélas\b)",
    aside=_words(
        r"^(?:la|votre|ta) question (?:port|est|concern|demand|vis|cherch|exig)\w*|^(?:vous|tu) (?:demand|voul|cherch)\w*|^on (?:me )?demande\b",
        r"\b(?:sav\w+|saur\w+|dir\w+|disposer\w*) (?:[\w'-]+ )*(?:davantage|plus|mieux|plus long)\b",
        r"^(?:et |ou |alors |puis )?(?:\w{3,}ez|envoie|donne|téléverse|charge|partage|joins|colle|montre|essaie|cherche|regarde)\b",
        r"\b(?:pourrai(?:en)?t|peut|peuvent|pourra|pourront) (?:\w+ )?(?:vous |t')?(?:aider|renseigner|informer|être utiles?)",
        r"(?:\bs'il (?:vous|te) plaît\b|\bn'hésite\w*|\bveuillez\b|\bvolontiers\b|\bravie?\b|\bheureux\b|\bfaites-moi savoir\b|\bdites-moi\b|\bdis-moi\b|\bespère\b|\bconseill\w+|\brecommand\w+|\bsuggèr[eo]\w*|\bpréférable\b|\bil (?:est|serait) (?:\w+ )?(?:conseillé|recommandé|utile|préférable|nécessaire|judicieux|bon)|\bil convient\b|\bvaut mieux\b)",
        r"(?:\bje (?!pense|crois|dirais|suppose)|\bj'(?!estime|imagine)|\bm'|\bmon\b|\bma\b|\bmes\b|\bmoi\b|\bme\b)",
        r"\b(?:vous|tu) (?:pouvez|pourriez|peux|pourrais|devriez|devrais|devez|trouverez|souhaitez|voulez|avez)\b",
        r"^(?:et |alors |aussi |ou |pour [^,]{0,60},? |si [^,]{0,60}, |dans ce cas,? |peut-être )*(?:consult|essay|vérifi|cherch|contact|visit|demand|fourniss|partag|reporte|adress|référ|interroge)\w*(?:ez|e)\b",
        r"^si (?:vous|tu|besoin|d'autres|nécessaire)",
        r"\b(?:davantage|d'autres|plus d'|sources?|autres) ?(?:informations?|détails|sources|documents|données|externes|officielles|spécialisées|fiables|supplémentaires)\b",
        rf"^(?:selon|d'après|sur la base|en me basant sur|à partir|dans|au vu|compte tenu) ?(?:de |des |du |les |ces |le |la |l')*(?:\w+ )?{_FR_SOURCES}(?: \w+){{0,2}}$",
        r"^(?:donc|par conséquent|ainsi|en résumé|résumé|en conclusion|conclusion|note|remarque|réponse|sources?|bonjour|bien sûr|merci|de plus|par ailleurs|concernant votre question|voici\b.{0,40}|bonne question)$",
        r"^souhaitez|^voulez|^puis-je|^est-ce que je peux",
    ),
    offers=r"\bsavoir (?:plus|davantage)\b|\ben savoir\b|\bautre chose\b|\bplus (?:d'informations|de détails)\b|\baider\b|\bque je cherche\b|\bque je\b|\bpuis-je\b(?! (?:savoir|demander))|\bdois-je\b|\bvoulez-vous (?:une?|des|d'autres|plus)\b|\bsouhaitez-vous (?:une?|des|d'autres|plus|que)\b",
    asks=_words(
        r"^(?:merci de )?(?:dites|précisez|indiquez|choisissez|nommez)(?:-moi)?,? (?:s'il vous plaît,? )?(?:lequel|laquelle|lesquel\w+|quel\w*|de qui|ce que)",
        r"^(?:merci de )?(?:me )?(?:dites|dire|dis|précisez|indiquez)(?:-moi)? (?:simplement )?(?:lequel|laquelle|lesquels|quel\w*)\b",
        r"\bpuis-je (?:savoir|(?:vous )?demander)\b",
        r"\b(?:voulez-vous (?:dire|parler)|veux-tu (?:dire|parler)|vous voulez (?:dire|parler)|tu veux (?:dire|parler)|parlez-vous|parles-tu|vous parlez|tu parles|faites-vous (?:référence|allusion)|fais-tu (?:référence|allusion)|vous faites (?:référence|allusion)|tu fais (?:référence|allusion)|pensez-vous|penses-tu|vous intéresse|t'intéresse|vous référez|cherchez-vous|cherches-tu|demandez-vous|entendez-vous|entends-tu|souhaitez-vous savoir|évoquez-vous|s'agit-il)\b",
        r"\b(?:pourriez-vous|pouvez-vous|peux-tu|pourrais-tu|merci de|veuillez|s'il vous plaît|j'ai besoin|il faudrait)\b.{0,30}?\b(?:précis|clarifi|indiqu|spécifi|dire|reformul|détaill|confirm|éclairc)\w*.{0,50}(?:quel|qui|si |question|de quoi|ce que|\?)",
        r"^(?:de |à |sur |par |en |dans |pour )?(?:quel(?:le)?s?|lequel|laquelle|lesquels|duquel|de laquelle)\b.{0,80}\b(?:vous|tu|t')\b",
        r"\b(?:précisez|indiquez|précise|dites-moi|dis-moi) (?:\w+ )?(?:de |à )?(?:quel|qui|lequel|laquelle|si |ce que)",
        r"\bj'(?:ai|aurais) besoin de (?:savoir|connaître)\b|\bil (?:me )?faudrait (?:savoir|préciser)\b",
    ),
    declines=r"\bne (?:peux|pourrai|puis|suis|saurais) pas (?:\w+ ){0,3}?(?:aider|assister|donner (?:suite|de conseil|d'instruc|des conseil|des instruc)|répondre à (?:cette|votre) (?:demande|requête)|fournir (?:de conseil|d'instruc|des instruc|d'avis|d'aide)|satisfaire|accéder)|\bcontraire (?:à|aux) (?:mes|nos)",
    negates=r"\b(?:ne|pas|aucune?s?|rien|jamais|sans|ni|nulle part|absente?s?|manquent?|muets?|passée?s? sous silence|ouvertes?|tait|taisent|omet\w*|non)\b|\bn'|\b(?:inconnue?s?|indéterminée?s?|incertaine?s?|impossible|inexistante?s?|insuffisant\w*|faute d\w*)\b|\bignor\w+|\btrop (?:peu|\w+ pour|vagues?|courts?|maigres?|brefs?|générau?x?)\b|\bs'arrêt\w+ (?:avant|là)\b|\b(?:inconnue|mystère|énigme)\b",
    me=r"\b(?:je|me|moi)\b(?! (?:pense|crois|doute))|\bj'|\bm'",
    weak=r"^(?:et |puis |alors )?(?:(?:le|la|les|l') ?)?(?:premi(?:er|ère)s?|deuxièmes?|seconde?s?|troisièmes?|quatrièmes?|cinquièmes?|derni(?:er|ère)s?|autres?|ils|elles|[b-h](?= )|\d{1,2}(?= )|[a-h] (?:et|à) [a-h])\b|\b\w+(?:rait|raient|riez|rions|rais)\b|\b(?:de tels?|de telles?|ce genre de|ce type de) (?:\w+ )?(?:détails?|chiffres?|informations?|données|renseignements|précisions|questions)\b|\b(?:spécul\w+|conjectur\w+|devin\w+|supposition\w*)\b|^(?:uniquement|seulement|simplement)\b|^l'aut(?:eur|rice)\b|^les aut(?:eurs|rices)\b|\b(?:d'ordinaire|d'habitude|habituellement|normalement|généralement) (?:\w+ )*(?:dans|par|aux?)\b|^(?:et |ou )?(?:comment|pourquoi|quand|si|qui|à qui|où|combien)\b|\b(?:sites? (?:web|internet|officiel\w*|d[eu])|internet)\b|^(?:un|une) autre\b|^(?:le|la|l'|ce|cette) ?(?:rapport|étude|livre|chapitre|lettre|journal|tableau)\b|\b(?:voici|ce qui suit|comme suit)\b|\b(?:appeler|téléphoner)\b",
    because=r"\b(?:car|parce qu\w*|puisqu\w*|à cause|en raison)\b|\b(?:personne|nul|historiens?|chercheurs?|scientifiques?|archéologues?|à ce jour|jusqu'(?:à présent|ici)|encore aujourd'hui|fouilles)\b",
    given=r"\b(?:fournie?s?|jointe?s?|transmise?s?|envoyée?s?|partagée?s?|communiquée?s?|consultée?s?|collée?s?|téléversée?s?)\b|\bque vous m'avez\b|\b(?:sur la photo|la photo|la capture|le scan|sous les yeux)\b|\b(?:votre|vos|la) (?:capture|photo|scan)s?\b|\bje ne vois que\b|\bce qui (?:\w+ )?(?:est|m'est) (?:\w+ )?(?:remonté|revenu|ressorti)|\bque j'ai (?:sous|trouv|obten|reç)\w*|\bcomptes? rendus?\b",
    wants=r"\b(?:si|dès que|quand) (?:vous|tu)\b.{0,50}\b(?:envoy\w+|transmet\w*|joign\w+|joins|partag\w+|coll(?:ez|es)|télévers\w+|télécharg\w+|montr\w+|communiqu\w+|photographi\w+)|^(?:envoy|transmett|joign|partag|coll)ez\b.{0,60}\bje\b|\b(?:avez-vous|auriez-vous) .{0,30}\bà me (?:transmettre|envoyer|montrer)\b|^ajoutez\b.{0,50}\bje\b",
    hence=r"^(?:ainsi|par conséquent|dès lors|c'est pourquoi|de ce fait)\b|\bdonc\b",
    there=r"\bn'y\b|\blà\b|\bdedans\b|\bnulle part\b|\bparmi (?:eux|elles)\b",
    lacks=r"\b(?:manqu(?:e|ent)|fai(?:t|sait) défaut|laiss\w+ (?:de côté|ouverte|sans réponse)|(?:reste|demeure) (?:ouverte?|sans réponse|en suspens)|passée?s? sous silence|(?:aucune|nulle|pas) trace|en vain|omise?s?|absente?s?)\b|\bn(?:'y|e|'en|') ?(?:appara\w+|figure\w*|ressort\w*|paraît|sort) (?:\w+ )?(?:pas|nulle part)\b|\bpersonne ne (?:donne|dit|précise|nomme|indique)\b|\bsautée?s?\b|\brelèverait de l'invention\b|\bserait inventer\b|\bde \w+, point\b|\bn'y (?:est|sont) pas\b|\bn'en sais rien\b|\b(?:cherch|trouv)\w*\b.{0,20}\bailleurs\b",
    figure=r"\b(?:combien|quand\b|quelle? (?:est la (?:longueur|hauteur|masse|temp)|année|date|heure|âge|hauteur|longueur)|à quelle (?:heure|temp|date)|en quelle année|coût)",
)

_FI_SOURCES = r"(?:muistiinpano\w*|lainau\w*|liit(?:e|tee)\w*|julkaisu\w*|aineksi\w*|näyt(?:e|tee)\w*|dokumen\w*|asiakirj\w*|läht\w*|lähde\w*|konteks\w*|teks\w*|katkelm\w*|tulok\w*|tulos\w*|hakutulo\w*|artikkel\w*|ot(?:e|teis|teet|os)\w*|ottee\w*|aineisto\w*|materiaal\w*|kappale\w*|kappalei\w*|sisäl(?:tö|lö)\w*|viitte\w*|kohd[aie]\w*|tiedosto\w*|kirjoitu\w*)"
_FI_INFO = r"(?:tieto\w*|tiedo\w*|vastau\w*|maininta\w*|mainintoja|viittau\w*|yksityiskoh\w*|viitteitä|selity\w*|data\w*|vihje\w*|perust\w*|kysymy\w*|merkintää|selvyyttä)"
_FI = Wording(
    sources=rf"\b{_FI_SOURCES}\b",
    nouns=_words(
        r"\b(?:rekister\w*|sanomaleh\w*|tiedot(?:e|te)\w*|verkkosivu\w*|taulukko\w*|taulukoi\w*|sähköposti\w*|wiki\w*|tiivistelm\w*|arkisto\w*|aikataulu\w*|käsiohjelma\w*|muistokirjoitu\w*|luettelo\w*|lista\w*|luku\w*)\b",
        rf"\b(?:{_FI_SOURCES}|{_FI_INFO}|niissä|niistä)\b",
        r"\b(?:opas\w*|oppaa\w+|ohje\w*|esitte\w*|raport\w*|haastattel\w*|kirjee\w*|elämäkerra\w*|muistelm\w*|luettelo\w*|kronik\w*|pöytäkirj\w*|päiväkirj\w*|lehtijut\w*)",
    ),
    statutes=r"\b\w*(?:laki|lain|laissa|sopimu|perustusla|asetu|säädö|säännö|raamattu|koraani|direktiivi|sääntö)\w*\b",
    denies=_words(
        _all(
            r"\b(?:ei|eivät|en|emme|eikä|ilman|puuttu\w*|riittämät\w*|mikään|mitään|missään)\b",
            r"(?:main|sisäl|kerro|anna|anne|löyd|löyt|käsit|vasta|kuva|selit|tarjo|esit|ilme|selvi|ole\b|ollut|oltu|kerr|tied|riit|puhu|viit|käy\b|käyn|liit|koske|tunne|määrit|sano|täsmen|nime|tarken|saatav|mahdollis|paljast|todeta|luet|ota |puutu|avaa|auta|puuttu)",
        ),
        r"\bvaiti\b|\bvaikene\w*|\bhiljaa\b",
    ),
    gap=_words(
        r"\bmikään (?:tästä|niistä|näistä|täällä)\b|\bei infoa\b",
        r"^(?:mutta |valitettavasti )?(?:sitä|tätä|tuota|siitä|tästä|tuosta|se|tämä|tuo|asiaa|asia|siihen|tähän|kyseistä \w+|tieto|tietoa) (?:\w+ )?ei (?:\w+ )*?(?:näe|näy|näkyy|käsitellä|käsitelty|ilmene|selviä|löydy|ole (?:mukana|siinä|niissä|tässä|mainittu)|kata|kateta|mainita|kerrota|oteta|voi (?:päätellä|sanoa|nähdä))\b",
        r"\b(?:ei|eivät|puuttu\w*)\b.{0,60}(?:siinä|niissä|joukossa|sitä),? (?:mitä|minkä|jotka|jonka) (?:\w+ )?(?:sain|lähetit|annoit|jaoit|toimitit|lähetitte|annoitte|minulle)\w*|(?:siinä|niissä|joukossa|sitä),? (?:mitä|minkä|jotka|jonka) (?:\w+ )?(?:sain|lähetit|annoit|jaoit|toimitit|lähetitte|annoitte|minulle)\w*.{0,40}\b(?:ei|eivät|puuttu\w*)\b",
        r"\ben (?:\w+ ){0,2}?(?:tiedä|osaa|löydä|löytänyt|voi|pysty|kykene|ole varma|ole tietoinen|näe|saa selville|pystynyt|onnistunut|tunne)\b",
        r"\bei (?:ole )?(?:\w+ ){0,4}?(?:main|kerro|tiede|tiedossa|selviä\b|käy ilmi|ilmene|löyd|löyty|vastata|määrit|täsmen|tarken|anneta|saatavilla|selvää|tunneta|selvä|selitet|kuvata|käsitellä|puhuta|voi (?:\w+ )?(?:vasta|sano|päät|selvit|määrit)|voida (?:\w+ )?(?:vasta|sano|päät|määrit|selvit)|pysty|viitata|esitet|sisäl)",
        r"\b(?:ei|eivät) (?:\w+ ){0,5}?(?:tietoa|tietoja|vastausta|mainintaa|viittausta|viitteitä|mainintoja|tarkkaa|riittävä\w*|tarpeeksi|yksityiskohtia)\b",
        r"\b(?:vastausta|tietoa|tietoja|mainintaa|viittausta|viitteitä)\b.{0,60}?\b(?:ei|eivät|en)\b",
        r"\beivät (?:\w+ ){0,3}?(?:main|kerro|sisäl|vasta|anna|käsittele|tarjoa|riitä|kuvaa|ota|puhu|liity|koske|selitä|täsmennä|paljasta|ilmoita|viittaa|kata)",
        r"\b(?:jää|on|jäävät|pysyy) (?:\w+ )?(?:epäselv|tuntemat|avoime|epävarma|mainitsemat|vastaamat|kertomat|hämärän|arvoituk)",
        r"\b(?:epäselvää|tuntematonta)\b",
        r"\b(?:riittämät|puuttu)\w*.{0,40}(?:tieto|tiedo|kontekst|vastau)|(?:tieto|tiedo|vastau|maininta)\w*.{0,40}(?:puuttu|riittämät|eivät riitä|ei riitä)",
        r"\b(?:mahdotonta|ei ole mahdollista)\b",
        r"^(?:mutta )?(?:ei|eivät|eikä) (?:sitä|siitä|sen|niiden|kuitenkaan|milloin|kuka|miten|missä|miksi|kuinka|mitä|mikä|tarkkaa|tekijää|rakentajaa|tarkempaa|muuta)\b",
        r"\b(?:tarvittaisiin|tarvitaan|tarvitsisin|vaatisi|edellyttäisi) (?:\w+ )?(?:lisä|enemmän|muita|tarkempi)",
        r"\bilman (?:\w+ )?(?:lisätietoa|lisätietoja|kontekstia)",
        r"\b(?:mikään|yksikään|missään|yhdessäkään|mistään)\b.{0,50}\b(?:ei|eivät)\b|\bei (?:mikään|yksikään|missään|mistään)\b",
        r"\bvai(?:etaan|kene\w+|ettu)\b",
    ),
    short=(
        r"(?:vastaus: |vastaus |kysymys |kysymykseen )?(?:on )?(?:ei (?:ole )?(?:\w+ttavissa|\w+ttävissä|relevantti|oleellinen|olennainen|vastattavissa|vastausta|tietoa|tiedossa|saatavilla|mainittu|löydy|löytynyt|sovellettavissa|merkityksellinen|liity(?: aiheeseen)?|voi vastata|voida vastata|asiaankuuluva|määritelty|tiedetä|mainita|riittävästi tietoa|tarpeeksi tietoa|vastattu|riittäviä tietoja)"
        r"|epärelevantti|epäolennainen|irrelevantti|tuntematon|en tiedä|riittämättömät tiedot|ei mitään|vastaus puuttuu|tieto puuttuu|mahdoton vastata|vastaamaton|ei vastattavissa|epäselvä|n/?a|merkityksetön|asiaankuulumaton|ei tietoja|ei osumia|ei tuloksia)"
    ),
    turns=r"[,;] (?=(?:\w+ ){1,5}?(?:kuitenkin|silti|sen sijaan)\b)|(?:^|[,;.–—-] ?)(?:mutta|kuitenkin|tosin|vaikka|joskin|sen sijaan|silti|vaan|kun taas)\b|;| – | — | mutta | vaikka ",
    concedes=r"(?:vaikka|joskin|huolimatta|kun taas|lukuun ottamatta)\b",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_FI_SOURCES}|tiedot|ne|niissä|siinä|kaikki|molemmat|se|yksi|toinen|muut)\b",
            r"(?:käsitte|kerto|kerro|kuvaa|kuvail|koske|mainit|mainin|liitty|puhu|sisält|keskitty|anta|tarjo|esitte|viitta|luette|rajoittu|selittä|kuvata|käsitell)",
        ),
        r"^(?:sen sijaan|pikemminkin)\b",
    ),
    about=r"\b(?:kuvaa|kuvaavat|kuvataan|käsittele|käsitellään|käsittelevät|kertoo|kertovat|kerrotaan|mainitsee|mainitaan|luettelee|luetellaan|koskee|koskevat|esittelee|puhutaan|selostaa)\w*|\b(?:tule(?:e|vat) (?:esille|esiin|puheeksi)|sivutaan|sivuaa|mainitaan|kuvataan|viitataan|käydään läpi|nousee esiin)\b|\b(?:esiinty|valott|kirja(?:a|avat)|palje|kertaa|paneu|pureu|syven)\w*|\b(?:pääpaino|keskiössä|aiheena)\b",
    only=r"\b(?:vain|ainoastaan|pelkästään|sen sijaan|lähinnä|pääasiassa|pikemminkin|yksinomaan|muita aiheita|enimmäkseen)\b",
    implies=r"\b(?:viittaavat siihen|viittaa siihen|antavat ymmärtää|antaa ymmärtää|vihjaa\w*|antavat olettaa|perusteella näyttää)",
    known=r"\b(?:yleisesti (?:tiede\w*|tunnet\w*)|yleistieto\w*|tiedetään yleisesti|tunnetusti|yleensä)\b|\b(?:tietääkseni|sikäli kuin tiedän|omien tietojeni mukaan|muistaakseni|yleistiedon)\b|\b(?:käsittääkseni|ymmärtääkseni|muistini mukaan)\b",
    reports=r"\b(?:mukaan|yleisesti tiede\w*|yleistieto\w*|tiedetään yleisesti|yleisesti tunnet\w*|tunnetusti)\b|\b(?:kerro|main|tode|sano|ilmoit|väit|selit|osoit|kertoo|vahvist|arvio)\w*,? että\b|\b(?:lukee|laskee|nimeä\w+) .{3,60} (?:ansioksi|\w+ksi)\b|\bajoitt\w+",
    hedges=r"\b(?:luultavasti|todennäköisesti|ehkä|kenties|mahdollisesti|ilmeisesti|näyttää|vaikuttaa|lienee|oletetaan|arvellaan|saattaa|tiettävästi)\b",
    sorry=r"\b(?:valitettavasti|pahoittele\w*|anteeksi|ikävä kyllä|olen pahoillani|pahoitellen|pahoillani)\b",
    aside=_words(
        r"^(?:kysymy\w+|kysytään|kysyt|kysytte) (?:koskee|liittyy|on|koski|viittaa|edellyttää|kysyy|\w+)",
        r"\b(?:tietä\w+|osa\w+|voi\w*) (?:\w+ )*(?:enemmän|lisää|tarkemmin|paremmin|auttaa)\b",
        r"^(?:ja |tai |niin )?(?:lataa|lähetä|lähettäkää|liitä|jaa|kopioi|syötä|anna|antakaa|katso|etsi|tarkista|näytä|toimita)\b",
        r"\b(?:kysyä|tarkistaa|voisi (?:auttaa|löytyä|kysyä|tietää)|kannattaisi|saattaa (?:auttaa|löytyä|tietää))\b",
        r"\b(?:voit|voitte|voisit|voisitte|kannattaa|kannattaisi|suositt?el\w+|ehdot\w+|ota yhteyttä|ottakaa yhteyttä|tarkista|kokeile|katso|kysy|etsi|pyydä|jos (?:haluat|tarvitset|sinulla|haluatte|annat|on|voit|löydät|haluaisit)|autan|auttaa|mielelläni|ystävällisesti|kerro(?: minulle)?\b|anna(?: minulle)?\b|toivottavasti|haluatko|haluatteko|voinko|lisätietoja|lisätietoa|olisi hyvä|olisi syytä)\b",
        r"\b(?:minä|minun|minulla|minulle|minua|olen|voin|pystyn|tarvitsen|tarvitsisin|haluan|en|yritän|osaan|perustan|vastaan)\b(?! (?:sitä mieltä|että))",
        rf"^(?:annettujen |tarjottujen |näiden |saatavilla olevien |annetun )?(?:\w+ )?{_FI_SOURCES} (?:perusteella|mukaan|pohjalta)$",
        r"^(?:siksi|näin ollen|siis|joten|yhteenveto|yhteenvetona|johtopäätös|huomautus|huomio|vastaus|lähteet?|hei|kiitos|toki|lisäksi|tässä\b.{0,40}|hyvä kysymys)$",
        r"\b(?:muista|muut|muita|luotettav\w*|viralli\w*|ulkopuoli\w*) läht\w*",
    ),
    offers=r"\b(?:tietää|kuulla|lukea) (?:\w+ )?(?:lisää|enemmän)\b|\blisä(?:ä|tietoa|tietoja)\b|\bmuuta\b|\bauttaa\b|\b(?!saanko|saisinko|tiedänkö)\w{3,}(?:nko|nkö)\b|\b(?:haluatko|haluatteko|haluaisitko|haluaisitteko),? (?:että|minun|jotain|lisää)",
    asks=_words(
        r"^kerro\w*,? (?:\w+ )?(?:kumpi|kumpaa|kumman|mitä|mikä|minkä|ketä|mistä)\b",
        r"^(?:kerro|kertokaa|sano|ilmoita|täsmennä),? (?:\w+ )?(?:mitä|mikä|minkä|kumpaa|kumpi|mistä|kuka|ketä|mihin)\b",
        r"\b(?:saanko|saisinko|voinko|voisinko) (?:tietää|kysyä)\b",
        r"\b(?:kertoisit\w*|kerrotko),? (?:mi\w+|ke\w+|kumpi\w*|kumpa\w*)\b|\b(?:kenestä|mistä|kummasta|mikä|kumpi|kuka) (?:\w+ )?(?:on kyse|on kysymys|olikaan)\b",
        r"\b(?:tarkoitat\w*|tarkoitatko\w*|tarkoititte|viittaat\w*|haet(?:te|ko)?\b|etsit(?:te|kö)?\b|kysyt\w*|kiinnostaa sinua|sinua kiinnostaa|teitä kiinnostaa|kiinnostaako|haluaisit tietää|haluat tietää|haluatte tietää|puhutko|puhut|ajattelet\w*|halua(?:t|isit) kuulla|tarkoitetaan)\b",
        r"\b(?:voisit\w*|voit\w*|voitko|voisitko|voitteko|voisitteko|pyydän|ystävällisesti|olisitko)\b.{0,40}?\b(?:tarken|täsmen|selven|kerto|kerro|ilmoit|määrit|rajata|tarkemmin|yksilöi)\w*.{0,60}",
        r"^(?:tarkenna|tarkentakaa|täsmennä|täsmentäkää|kerro|kertoisitko|selvennä)\b.{0,60}(?:mitä|mikä|kumpaa|kumpi|ketä|minkä|mitä|kysymys)",
    ),
    declines=r"\ben (?:\w+ )?(?:voi|pysty) (?:\w+ ){0,3}?(?:auttaa|avustaa|neuvoa|toteuttaa|antaa (?:ohjeita|neuvoja))|\bohjeideni vasta",
    negates=r"\b(?:ei|eivät|en|enpä|eipä|eivätpä|emme|eikä|eivätkä|ilman|mikään|mitään|missään|puuttu\w*|avoimeks\w*|avoinna|auki|sivuute\w*|vaiet\w*|vaikene\w*|\w{3,}matta|\w{3,}mättä)\b|\b(?:tuntemat\w+|tuntematon|epäselv\w+|mahdoton\w*|mahdotonta|epävarma\w*|riittämät\w+)\b|\bliian \w+",
    me=r"\ben(?:pä|kä)?\b|\bminu\w+",
    weak=r"^(?:ja )?(?:ensimmäi\w+|toi(?:nen|se\w*)|kolma\w+|neljä\w+|viide\w+|viimei\w+|muut|muissa|loput|lopuissa|ne|niissä|molemmat|[b-h](?= )|\d{1,2}(?= )|[a-h] ja [a-h])\b|\b\w{2,}isi(?:vat|n|t|mme)?\b|\b(?:tällai\w+|tuollai\w+|sellai\w+) (?:\w+ )?(?:tie\w+|yksityiskoh\w+|luku\w*|luvu\w*)\b|\b(?:arvail\w+|spekul\w+|arvaamis\w+|arvaus\w*)\b|^(?:vain|ainoastaan|pelkästään)\b|^(?:kirjoitta\w+|tekijä|artikkelin laatija)\b|\bsellais(?:ta|ia)\b|\b(?:yleensä|tavallisesti|normaalisti)\b.*\b\w*(?:raporti|rekisteri|arkisto|tilasto|luettelo|kirja)\w*|^(?:ja |tai )?(?:miten|miksi|milloin|kuka|kenen|missä|kuinka|montako|paljonko)\b|\b(?:verkkosivu\w*|kotisivu\w*|nettisivu\w*|internet\w*)|^(?:raporti\w*|raportti\w*|tutkimu\w*|kirja\w*|luvu\w*|kirje\w*|taulukko\w*)\b|\b(?:seuraava\w*)\b|\b(?:soittaa|soittakaa)\b",
    because=r"\b(?:koska|sillä|vuoksi|takia)\b|\b(?:kukaan|kenellekään|historioitsij\w*|tutkij\w*|tiedemie\w*|arkeolog\w*|tähän päivään|toistaiseksi|vieläkään|yhä|kaivauks\w*)\b",
    given=r"\b(?:liitit|liittämä\w*|lähetit|lähettämä\w*|antama\w*|antamis\w*|jaoit|jakama\w*|lataama\w*|latasit|toimittama\w*|valokuva\w*|kuvakaappau\w*)\b|\bkuvakaappau\w*|\bnäen vain\b|\bminulla on vain\b|\b(?:löytämäni|saamani|löydety\w+|hakutulok\w+|minulla ol\w+)\b",
    wants=r"\b(?:jos|kun|kunhan)\b.{0,60}\b(?:lähet\w+|liit(?:ät|ätte|tää|tä)\w*|lataat\w*|jaat\w*|toimit\w+)\b.{0,60}|\b(?:liitäthän|lähetäthän|lähetä|liitä|lataa|toimita)\b.{0,60}\b(?:niin|tarkist\w+|katso\w+|vastaan|kerron)\b|\blisää(?:thän)? .{0,40}\bniin\b",
    hence=r"^(?:siksi|siten|näin|joten|niinpä)\b|\b(?:siis|näistä)\b",
    there=r"\b(?:siinä|niissä|siitä|niistä|siellä|tässä|missään|mistään|niiden joukossa)\b",
    lacks=r"\b(?:puuttu\w*|jä\w+ (?:\w+ )?(?:auki|avoime\w*|pois|selvittämättä|mainitsematta|vastaamatta|vaille vastausta|kertomatta|epäselväksi)|ei\w* (?:\w+ )?(?:näy|esiinny|löydy|tule esiin|tule esille|mainita|ilmene|selviä|käy ilmi)|sivuutet\w*|sanaakaan|vaikene\w*|turhaan)\b|\bkukaan ei (?:anna|kerro|mainitse)\b|\bhypät\w+ (?:\w+ )?yli\b|\bkeksimistä\b|\beikä siinä\b|\b(?:etsi\w*|hae\w*|haet\w+)\b.{0,20}\bmuual\w+|\bmuual\w+\b.{0,20}\b(?:etsi\w*|hae\w*|haet\w+)",
    figure=r"\b(?:kuinka (?:mon|pal|pit|kork|van|syv|lev|kauk)|milloin|koska\b|minä vuonna|paljonko|maksaa|lämpötil|sulamis|montako)",
)

_RU_SOURCES = r"(?:то, что (?:передо мной|у меня)|заметк\w*|цитат\w*|запис(?:и|ях|ей|ям)\b|вырезк\w*|кус(?:ок|к)\w*|приложени\w*|подборк\w*|документ\w*|источник\w*|контекст\w*|текст\w*|отрыв\w*|фрагмент\w*|результат\w*|стать\w*|материал\w*|пассаж\w*|абзац\w*|файл\w*|ссылк\w*|выдержк\w*|содержани\w*|справк\w*|выписк\w*|публикаци\w*)"
_RU_INFO = r"(?:информаци\w*|ответ\w*|сведени\w*|данн\w*|упоминани\w*|указани\w*|детал\w*|подробност\w*|ссылк\w*|объяснени\w*|описани\w*|намек\w*|намёк\w*|цифр\w*)"
_RU_NOT = r"\b(?:не|нет|ни|ничего|нигде|нельзя|невозможно|отсутству\w*|недостаточн\w*|без|мало|никаких|никакой|никакая|ни один|ни одна|ни одно)\b"
_RU_HOLD = (
    r"\b(?:содерж|упомина|упомян|говор|сказан|указ|сообща|сообщ|приво|приве|привед|дан[аоы]?\b|дают|даёт|дает|предостав|отвеча|ответ|описыва|описан|объясня|объясн|раскры|найд|найти|найдено|обнаруж|наш[её]л|нашл|есть\b|имеет|имею|нет\b|определ"
    r"|установ|узна|следу|освеща|затраг|рассматрива|достаточн|хвата|известн|ясно|касает|относ|поясн|уточня|уточн|назван|называ|назва|отраж|перечисл|позволя|включа|информаци|фигурир|встреча|находит|помог|представл|обсужда|связан|недоста|отсутству|свед|ничего|помога|ни слова|прояв|располага)"
)
_RU = Wording(
    sources=rf"\b{_RU_SOURCES}\b",
    nouns=_words(
        r"\b(?:реестр\w*|газет\w*|пресс-релиз\w*|сайт\w*|таблиц\w*|письм\w*|вики|сводк\w*|архив\w*|расписани\w*|программ\w*|некролог\w*|надпис\w*|спис\w*|перечн\w*|глав[аеы]\w*)\b",
        rf"\b(?:{_RU_SOURCES}|{_RU_INFO}|вопрос\w*|(?:ни один|ни одна|ни одно|ни в одном) из|в них|там)\b",
        r"\b(?:руководств\w*|инструкци\w*|брошюр\w*|буклет\w*|отчет\w*|отчёт\w*|интервью|письм[аоеу]\w*|биографи\w*|воспоминани\w*|этикет\w*|каталог\w*|летопис\w*|протокол\w*|дневник\w*|памятк\w*|объявлени\w*)\b",
        r"\bлист(?:е|ок|ке|ы|ах)?\b",
    ),
    statutes=r"\b(?:закон\w*|договор\w*|конституци\w*|указ[аеу]?|декрет\w*|устав\w*|кодекс\w*|постановлени\w*|библи\w*|коран\w*|конвенци\w*|директив\w*|положени\w*|правила)\b",
    denies=_words(
        _all(_RU_NOT, _RU_HOLD),
        r"\bмолч\w+|\bумалчива\w+",
    ),
    gap=_words(
        r"\bнич(?:то|его) из (?:этого|них|перечисленного)\b|\bнет инф\w+",
        r"^(?:но |увы,? |к сожалению,? )?(?:это|этого|об этом|про это|отсюда(?: этого)?|такого|данный вопрос|этот вопрос|эта тема) (?:\w+ )?(?:не|нет) ?(?:\w+ )?(?:охвачен|видно|нет|указан|затронут|рассмотрен|говорится|сказано|следует|освещ|встреча|попал|отражен|отражён|прописан|вид[ен]|понять|узнать)\w*",
        r"\b(?:не|нет|отсутств\w+)\b.{0,60}(?:присланн|переданн|предоставленн|полученн|загруженн)\w* (?:вами|мне)|(?:среди|в) (?:присланн|переданн|полученн|предоставленн)\w*|т(?:ом|ого),? что (?:вы|мне|я) (?:\w+ )?(?:прислал|передал|получил|предоставил|дал)\w*|(?:присланн|переданн|предоставленн|полученн|загруженн)\w* (?:вами|мне)|(?:среди|в) (?:присланн|переданн|полученн|предоставленн)\w*|т(?:ом|ого),? что (?:вы|мне|я) (?:\w+ )?(?:прислал|передал|получил|предоставил|дал)\w*.{0,40}\b(?:не|нет|отсутств\w+)\b",
        r"\b(?:я |мне |мы |нам )?(?:этого |точно |об этом |к сожалению,? |также )?не (?:знаю|уверен\w*|располагаю|владею|имею|вижу|нашел|нашёл|нашла|нахожу|обладаю|смог\w*|сумел\w*|могу|можем|можно|удалось|удается|удаётся|получится|получилось|представляется возможным|в состоянии|осведомлен)\b",
        r"\bпонятия не имею\b|\bзатрудняюсь\b|\bнеясно\b|\bне ?ясно\b|\bнеизвестн(?:о|ы|а|ен)\b|\bне ?понятно\b|\bневыяснен\w*|\bостается (?:неясн|неизвестн|открыт|загадк)|\bостаётся (?:неясн|неизвестн|открыт|загадк)|\bне (?:до конца )?(?:известн|выяснен|установлен|уточнен|уточнён|определен|определён)",
        r"\b(?:нельзя|невозможно|не ?льзя|трудно|сложно)\b.{0,60}(?:ответ|определ|установ|узна|сказа|найти|да[тв]|выясн|подтвер|сдел|вывод|суди|ска)|(?:ответ|определ|установ|узна|сказа|найти|да[тв]|выясн|подтвер|сдел|вывод|суди)\w*.{0,80}\b(?:нельзя|невозможно|не представляется возможным|не удалось|не удаётся|не могу|не получ)",
        rf"\b(?:нет|отсутству\w+|недостаточно|не хватает|недоста[её]т\w*|не ?достаточно|мало|без|никаких|никакой|не содержит\w*|не содержат|не нашлось|не найдено|не обнаружено) (?:[\w-]+ ){{0,4}}?(?:{_RU_INFO}|{_RU_SOURCES})\b|\b(?:{_RU_INFO}) (?:[\w-]+ ){{0,8}}?(?:нет\b|отсутству|не (?:\w+ )?(?:содерж|найд|наш|указ|привод|привед|предостав|обнаруж|имеет|имею|достаточн|хвата|представл|да[ёеюн]|встреч|сообща))",
        r"\bне (?:[\w-]+ )?(?:упомина|упомян|указан|указыва|сказан|говорит|говорят|сообща|приводит|приведен|приведён|уточня|раскрыва|освеща|назван|называ|описан|описыва|поясня|объясня|отражен|отражён|затрагива|содержит|предоставл|рассматрива|обсужда|фигуриру)",
        r"^(?:но |однако )?не (?:о том|о|об|про|когда|кто|кем|как|где|почему|сколько|что|какой|чем)\b",
        r"\bничего (?:об|о|не|про|по)\b|\bни слова\b|\bумалчива\w+|\bнет ответа\b|\bнет указан|\bнет упомина",
        r"\b(?:нужн[ыао]|потребу[ею]тся|потребовал\w+|требу[ею]тся|необходим\w*) (?:\w+ )?(?:дополнительн|больше|более|ещё|еще|другие)",
        r"\bвыход(?:ит|ят) за (?:рамки|пределы)|\bвне (?:рамок|контекста)",
    ),
    short=(
        r"(?:ответ: |ответ |вопрос |это |на вопрос )?(?:не ?(?:релевантн\w*|относится(?: \w+){0,3}|применимо|отвечаем\w*|найден\w*|указан\w*|упомина\w*|упомянут\w*|известн\w*|доступн\w*|знаю|определен\w*|хватает \w+|могу (?:ответить|сказать)|связан\w*(?: \w+){0,3}|достаточно (?:данных|информации|сведений)|имеет отношения(?: \w+){0,2}|по теме|содержится)"
        r"|нет (?:ответа|данных|информации|сведений|в \w+|результатов|упоминани\w+)(?: \w+){0,3}|ответа? (?:нет|отсутствует|не найден\w*|невозможен)|нерелевантн\w*|неизвестно|невозможно (?:ответить|определить|установить)|без ответа|недостаточно (?:данных|информации|сведений|контекста)|н/?д|отсутствует|ответить (?:невозможно|нельзя)|неприменимо|неотвечаем\w*|данных нет|данные отсутствуют|информация отсутствует)"
    ),
    turns=r"[,;] (?=(?:[\w-]+ ){1,4}?(?:однако|вс[её] же|зато)\b)|(?:^|[,;.–—-] ?)(?:но|однако|хотя|тем не менее|при этом|зато|впрочем|правда|несмотря на то|а вот|а(?= (?:о|об|про|сам\w*|точн\w*|кто|когда|дата|имя|число|численность|данн\w*|информаци\w*|сведени\w*|вот|количеств\w*)))\b(?! и\b)|;| – | — | но | однако | хотя ",
    concedes=r"(?:хотя|несмотря|пусть|если не считать|помимо|кроме)\b",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_RU_SOURCES}|информаци\w*|сведени\w*|они|в них|все|оба|обе|там|один|другой|перв\w+|втор\w+|трет\w+|остальн\w+|речь)\b",
            r"\b(?:рассказ|говор|описыва|описан|посвящ|касает|касаю|относ|упомина|содерж|обсужда|освеща|рассматрива|сообща|охватыва|перечисл|приводят|приводит|дают|дает|даёт|идёт|идет|речь|затрагива|объясня|ограничива|представл|излага|содержится|касающ|трактует|характериз)",
        ),
        r"^(?:вместо этого|скорее(?! всего))\b",
    ),
    about=r"\b(?:описан|описыва|рассказ|говорится|посвящ|перечисл|упомина|упомянут|рассматрива|обсужда|освеща|охватыва|излага|касает|речь ид)\w*|\b(?:затронут|затрагива|упомина|упомянут|обсужда|разбира|освеща|обозначен|идёт о|идет о|зашла о|говорят о|посвящён)\w*|\b(?:встреча|объясн|разбира|повеств|прослежи|знаком|фиксир|перечисл|привод)\w*|\b(?:в центре внимания|главная тема|основное внимание|сосредоточен\w*)\b",
    only=r"\b(?:только|лишь|исключительно|вместо этого|скорее|в основном|преимущественно|другие темы|другим темам|главным образом|о другом|иные)\b",
    implies=r"\b(?:позволя\w+ (?:предположить|думать)|намека\w+|наводит на мысль|дают понять|указывают на то|следует предположить|судя по документам|можно предположить|заставля\w+ думать|создаётся впечатление|создается впечатление)",
    known=r"\b(?:как известно|общеизвестно|общеизвестный|из общих знаний|хорошо известно|обычно|как правило|широко известно|известно,? что)\b|\b(?:насколько (?:я знаю|мне известно|я помню)|по моим (?:данным|сведениям)|мне известно,? что)\b|\b(?:насколько (?:я )?(?:понимаю|помню)|если не ошибаюсь|по моему разумению)\b",
    reports=r"\b(?:согласно|по данным|как известно|общеизвестно|общеизвестный|из общих знаний|по общедоступным|известно,? что|считается)\b|\b(?:сказано|говорится|сообщает(?:ся)?|указан[оы]?|указывает(?:ся)?|утвержда\w+|упомина\w+|отмеча\w+|следует|пиш\w+|подтвержда\w+|показыва\w+),? что\b|\b(?:приписыва\w+|датиру\w+|называ\w+ .{3,60} (?:автором|создателем|первым))",
    hedges=r"\b(?:вероятно|возможно|по-видимому|видимо|похоже|скорее всего|предположительно|кажется|считается|должно быть|наверное|может быть|очевидно|якобы|полагают|предполагают|предполагается)\b",
    sorry=r"\b(?:к сожалению|извини\w*|простите|прошу прощения|сожалею|приношу извинения|увы)\b",
    aside=_words(
        r"^(?:ваш |этот |сам )?вопрос (?:о\b|об\b|про\b|касается|звучит|состоит|требует|в том|—|-|задан)|^(?:вы )?спрашива\w+|^требуется узнать",
        r"\b(?:знает|знают|подскаж\w+|ответ[ия]т|располагает|располагают)\b.*\b(?:больше|лучше|точнее|подробнее)\b",
        r"^(?:и |или |тогда )?[а-яё]{3,}(?:ите|йте|ьте)(?:сь)?\b|^(?:пришли|загрузи|скинь|покажи|отправь|вставь|дай|поищи|проверь|спроси)\b",
        r"\b(?:помож\w+|помочь|подскаж\w+|подсказать)\b",
        r"\b(?:пожалуйста|с радостью|с удовольствием|буду рад\w*|рад\w* помочь|обратитесь|обратиться|рекоменду\w+|совету\w+|попробуйте|проверьте|уточните|свяжитесь|посмотрите|поищите|лучше (?:всего )?(?:обратиться|проверить|спросить|уточнить)|стоит (?:обратиться|проверить|поискать)|дайте знать|предоставьте|пришлите|загрузите|задайте|надеюсь|имеет смысл|сообщите)\b",
        r"\b(?:я(?! думаю| полагаю| считаю| предполагаю)|мне|меня|мо[йяёеи]|могу|смогу|готов|постараюсь|помогу)\b",
        r"\b(?:вы|вам) (?:можете|могли бы|может|нужно|стоит|следует|потребуется|хотите|могут|понадобится)\b|\bможете\b|^если (?:вы|у вас|нужно|нужны|хотите|есть|необходим|потребу|появ|вас|вам)",
        r"\b(?:другие|другими|другим|дополнительн\w+|официальн\w+|внешн\w+|надежн\w+|надёжн\w+|иные|специализированн\w+) (?:источник|материал|документ|сведен|информаци|данн)\w*",
        rf"^(?:согласно|на основе|на основании|исходя из|по|в|судя по) (?:[\w-]+ ){{0,3}}?{_RU_SOURCES}$",
        r"^(?:поэтому|таким образом|следовательно|итак|итог|вывод|резюме|примечание|ответ|источники?|здравствуйте|привет|конечно|спасибо|кроме того|также|вот\b.{0,40}|хороший вопрос|что касается вашего вопроса)$",
        r"^(?:хотите|могу ли|чем ещё|чем еще|нужна ли)\b",
        r"^(?:тогда|и тогда) (?:я )?(?:сразу )?(?:отвечу|скажу|посмотрю|проверю|подскажу|помогу|найду)\b",
    ),
    offers=r"\b(?:узнать|знать|услышать|прочитать|рассказать) (?:\w+ )?(?:больше|подробнее|ещ[её])|\bчто-то ещ[её]\b|\bчем-(?:то|нибудь) (?:ещ[её]|помочь)|\bпомочь\b|\bподробн|\b(?:хотите|хочешь|желаете),? (?:чтобы )?(?:я|\w+жу|\w+щу|\w+лю|\w+шу|\w+ду)\b|\bмогу ли я\b|\b(?:мне|надо ли|нужно ли) (?:\w+ть)\b",
    asks=_words(
        r"^(?:напишите|назовите|выберите|сообщите),? (?:пожалуйста,? )?(?:что|как\w+|котор\w+|о ч[её]м)\b",
        r"^(?:скажите|уточните|укажите|напишите|подскажите),? (?:пожалуйста,? )?(?:\w{1,3} )?(?:котор\w+|как\w{2,3}|ком|кого|ч[её]м)\b",
        r"\b(?:можно|позвольте|разрешите|могу ли я) (?:узнать|спросить|уточнить)\b",
        r"\b(?:имеете в виду|имеешь в виду|имеется в виду|вас интересует|тебя интересует|вы спрашиваете|ты спрашиваешь|вы говорите|о ком (?:идёт|идет) речь|о ч[её]м (?:идёт|идет) речь|вы хотите узнать|хотите узнать|вы подразумеваете|вы ищете|ищете ли|вы о\b|вы про\b|вы говорите|подразумева\w+)\b",
        r"\b(?:уточни\w*|поясни\w*|конкретизир\w*|укажите|скажите|подскажите|сообщите|назовите)\b.{0,60}\b(?:как\w{2,4}|кого|ком|кто|что именно|о ч[её]м|что|котор\w+|вопрос|запрос|идёт|идет|ли|вы|город\w*|год\w*)\b",
        r"^(?:о |об |про |в |на |к |из |с )?(?:как(?:ой|ая|ое|ие|ую|ом|ого|их)|котор\w+|о ком|кого|чего)\b.{0,60}\b(?:вы|вас|вам|именно|ты|тебя)\b",
    ),
    declines=r"\bне (?:могу|буду|стану|вправе) (?:\w+ ){0,2}?(?:помочь|помогать|содействовать|выполнить|дать совет|давать совет|предоставить инструкц|давать инструкц|поддержать|консультировать)|\bпротиворечит (?:моим|правилам)",
    negates=r"\b(?:не|нет|ни|ничего|нигде|никогда|нельзя|невозможно|отсутству\w*|без|умалчива\w*|обход\w+|открыт(?:ым|ой|ыми|а|ы)?\b|молч\w+)\b|\b(?:неизвестн\w+|неясн\w+|трудно|сложно|недостаточн\w+|мало|неопредел\w+)\b|\bслишком \w+|\bобрыва\w+|\b(?:загадк\w+|тайн\w+)\b",
    me=r"\b(?:я(?! думаю| считаю| полагаю)|мне|мной|могу|смог\w*)\b",
    weak=r"^(?:и |а |в |во |об? )?(?:перв\w+|втор\w+|трет\w+|четв[её]рт\w+|пят\w+|последн\w+|остальн\w+|други\w+|они|в них|оба|обе|\d{1,2}|[а-гa-h] и [а-гa-h])\b|\bбы\b|\b(?:так(?:ие|ого рода|ая)|подобн\w+|этого рода) (?:\w+ )?(?:данн\w+|сведени\w+|подробност\w+|детал\w+|цифр\w*|информаци\w+)\b|\b(?:домыс\w+|догадк\w+|гада\w+|спекуляц\w+)\b|^(?:лишь|только|исключительно)\b|^автор\w*\b|\bобычно\b.*\b(?:отч[её]т|донесени|реестр|архив|статистик|справочник|указыва|публику|печата)\w*|^(?:и |или |а )?(?:как|почему|когда|кто|кого|кому|где|сколько|чем|откуда|чей|чья)\b|\b(?:сайт\w*|интернет\w*)\b|^(?:друг(?:ой|ая|ое|ом|им)|один из|ещ[её] один|одна из)\b|^(?:отч[её]т\w*|исследовани\w*|книг\w*|глав[аеы]|письм\w*|дневник\w*|таблиц\w*)\b|\b(?:следующее)\b|\b(?:позвонить|обратиться|написать в)\b",
    because=r"\b(?:потому что|поскольку|так как|из-за|благодаря|ибо)\b|\b(?:никто|никому|историк\w*|уч[её]н\w*|исследовател\w*|археолог\w*|до сих пор|по сей день|до наших дней|пока что|раскопк\w*)\b",
    given=r"\b(?:присланн\w+|приложенн\w+|загруженн\w+|прикреплённ\w+|прикрепленн\w+|отправленн\w+|предоставленн\w+|прислали|приложили|загрузили|прикрепили|дали мне|мне дали|на (?:снимке|фото|скане|скриншоте))\b|\bскриншот\w*|\bваш\w* (?:снимк|фото)\w*|\bя вижу только\b|\bвижу лишь\b|\bу меня только\b|\bнайденн\w+|\bкотор\w+ (?:мне попал\w*|я (?:наш[её]л|нашла|получил\w*))",
    wants=r"\b(?:если|когда|как только)\b.{0,40}\b(?:пришл[её]\w*|отправ\w+|прилож\w+|загруз\w+|выложи\w+|встави\w+|скин\w+|перешл\w+|сфотогр\w+|прикреп\w+)\b|\b(?:пришл[её]те|пришлите|пришли|скиньте)\b|^добавьте\b.{0,50}\bи\b",
    hence=r"^(?:поэтому|так что|значит|следовательно|таким образом|стало быть|итак|отсюда|выходит)\b",
    there=r"\b(?:там|в (?:н[её]м|ней|них)|здесь|среди них|нигде|об этом)\b",
    lacks=r"\b(?:отсутств\w+|(?:не|ни) (?:фигурир\w+|упомин\w+|встреча\w+|попада\w+|появля\w+|значит\w+|назван\w*|всплыва\w+|прозвуч\w+)|оста[её]тся (?:открыт\w+|без ответа)|упущен\w*|опущен\w*|ни слова|ни следа|тщетно)\b|\bникто не (?:привод|называ|указыва|говорит)\w*|\bне (?:приводит|называет) никто\b|\bпропущен\w*|\bвыдум\w+|\bне (?:отражен\w*|попал\w*)\b|\bиска\w+\b.{0,25}\b(?:друг\w+ мест\w*|ином месте)",
    figure=r"\b(?:скольк|когда|в каком году|при какой темп|какова (?:длина|высота|плотн|темп|глуб)|стоит|до какого часа|во сколько)",
)

_ID_SOURCES = r"(?:yang ada di (?:hadapan|tangan)|bahan\w*|tulisan\w*|lampiran\w*|fragmen\w*|petikan\w*|penggalan\w*|pasase\w*|dokumen\w*|sumber\w*|konteks\w*|teks\w*|bagian|kutipan\w*|hasil\w*|artikel\w*|bacaan\w*|materi\w*|paragraf\w*|berkas\w*|referensi\w*|cuplikan\w*|isi\w*|naskah\w*|potongan\w*|arsip\w*|catatan\w*)"
_ID_INFO = r"(?:informasi\w*|jawaban\w*|data\w*|keterangan\w*|rincian\w*|detail\w*|penyebutan|petunjuk\w*|penjelasan\w*|rujukan|angka)"
_ID_NOT = r"\b(?:tidak|tak|belum|bukan|tanpa|kurang|nihil|tiada|tidaklah|gagal|minim)\b"
_ID_HOLD = r"(?:sebut|kandung|muat|beri|isi\b|berisi|sedia|terdapat|\bada\b|jawab|jelas|terang|temu|bahas|cantum|cakup|tunjuk|singgung|ungkap|kata|rinci|bicara|liput|cukup|relevan|kait|tahu|tentu|nyata|urai|laku|dapat|mungkin|bantu|dukung|punya|milik|rekam|catat|definisi|spesifik|informasi|disampaikan|sampaikan|bisa|memadai|lengkap|laporkan|tulis|paparkan|hubungan)"
_ID = Wording(
    sources=rf"\b{_ID_SOURCES}\b",
    nouns=_words(
        r"\b(?:daftar\w*|koran\w*|siaran pers|situs\w*|tabel\w*|surel\w*|email\w*|ringkasan\w*|arsip\w*|jadwal\w*|obituari\w*|prasasti\w*|bab)\b",
        rf"\b(?:{_ID_SOURCES}|{_ID_INFO}|pertanyaan\w*|hal (?:itu|ini|tersebut)|satu pun)\b",
        r"\b(?:manual\w*|brosur\w*|selebaran\w*|laporan\w*|wawancara\w*|surat\w*|biografi\w*|memoar\w*|label\w*|katalog\w*|panduan\w*|resep\w*|pengumuman\w*)\b",
    ),
    statutes=r"\b(?:undang-undang|uu|perjanjian|konstitusi|peraturan|dekret|piagam|kontrak|alkitab|quran|konvensi|ordonansi|ketetapan|hukum)\b",
    denies=_words(
        _all(_ID_NOT, _ID_HOLD),
        r"\b(?:diam|bungkam|membisu)\b",
    ),
    gap=_words(
        r"\btidak (?:ada )?satu pun (?:dari )?(?:ini|bahan|semua)\b|\btidak ada (?:apa-apa|info)\b",
        r"^(?:namun |tetapi |sayangnya,? |maaf,? )?(?:itu|ini|hal (?:itu|ini|tersebut)|rincian (?:itu|ini)|soal (?:itu|ini)|informasi (?:itu|ini|tersebut)) (?:tidak|belum|tak) (?:\w+ )?(?:tercakup|terlihat|tampak|dibahas|diulas|dimuat|termuat|tercantum|disertakan|termasuk|terbaca|ada|terungkap|ditemukan|diangkat|muncul|terdapat|kelihatan)\b",
        r"\b(?:tidak|tak|belum|bukan)\b.{0,60}(?:yang|bahan yang) (?:anda|kamu|saya) (?:kirim|berikan|terima|bagikan|unggah|lampirkan|dapat|sampaikan)\w*|(?:yang|bahan yang) (?:anda|kamu|saya) (?:kirim|berikan|terima|bagikan|unggah|lampirkan|dapat|sampaikan)\w*.{0,40}\b(?:tidak|tak|belum|bukan)\b",
        r"\b(?:saya |aku |kami )?(?:tidak|tak|kurang|belum|nggak|gak|enggak) (?:(?:tahu|mengetahui\w*|yakin)\b|(?:menemukan|paham|bisa|dapat|mampu|sanggup|mungkin|berhasil|dimungkinkan|memungkinkan)\b(?=.{0,50}(?:jawab|tentu|kata|pasti|informasi|temu|tahu|beri|simpul|identifikasi|konfirmasi|sebut|data|jelas|detail|akses|sedia|ketahui|verifikasi|pengetahuan|apa pun|siapa|kapan|berapa)))",
        rf"\b(?:tidak ada|tak ada|tidak (?:\w+ )?(?:terdapat|ditemukan|tersedia|memuat|berisi|mengandung|memberikan|mencantumkan|memiliki|menyediakan|menemukan)|tanpa|kurangnya|kurang|belum ada|minimnya) (?:\w+ ){{0,4}}?(?:{_ID_INFO}|{_ID_SOURCES}|cukup)\b|\b(?:{_ID_INFO}) (?:[\w-]+ ){{0,8}}?(?:tidak|belum|kurang|tak) (?:\w+ )?(?:ada|tersedia|cukup|ditemukan|disebut\w*|terdapat|diberikan|memadai|lengkap|dicantumkan|tercantum|jelas|dijelaskan|mencukupi|diketahui|bisa|dapat)",
        r"\b(?:tidak|tak|belum|kurang) (?:secara \w+ |pernah |juga |pula )?(?:di|ter|me|ber)\w*(?:sebut|cantum|tahu|jelas|jawab|rinci|singgung|ungkap|bahas|terangkan|tulis|catat|temukan|tentukan|muat|urai|sampaikan|spesifikasi|pastikan|nyatakan|tunjuk|laporkan|definisi)\w*",
        r"\btidak (?:\w+ )?(?:jelas|pasti|diketahui|menyebut\w*|menjelaskan|menjawab|membahas|menyinggung|mencantumkan|merinci|mengungkap\w*|memuat|mengatakan|menyatakan|menerangkan|menguraikan|memberi\w*|menunjukkan)\b",
        r"\b(?:masih|tetap) (?:belum|tidak|menjadi misteri)\b|\bsulit (?:untuk )?(?:\w+ )?(?:dijawab|ditentukan|menjawab|menentukan)",
        r"^(?:tetapi |namun |tapi )?(?:tidak|bukan) (?:kapan|siapa|bagaimana|di mana|mengapa|berapa|apa|tentang|mengenai|pada|soal)\b",
        r"\b(?:diperlukan|dibutuhkan|perlu) (?:\w+ )?(?:informasi|dokumen|sumber|konteks|data) (?:\w+ )?(?:lebih|tambahan|lain)",
        r"\bdi luar (?:cakupan|konteks|lingkup)",
        r"\bmustahil\b",
    ),
    short=(
        r"(?:jawaban: |jawaban |pertanyaan |ini )?(?:tidak (?:relevan|dapat dijawab|bisa dijawab|terjawab|ada (?:jawaban|informasi|data|hasil|yang relevan|kaitan\w*|hubungan\w*)(?: \w+){0,2}|tersedia|ditemukan|disebutkan|diketahui|tahu|berlaku|berkaitan|terkait|cukup (?:informasi|data|konteks)|jelas|dicantumkan|tercantum|ada|mungkin dijawab|berhubungan|dinyatakan|memadai|dijelaskan)"
        r"|informasi tidak (?:tersedia|cukup|ditemukan|ada|memadai)|data tidak (?:tersedia|cukup|ditemukan|ada)|jawaban tidak (?:ditemukan|ada|tersedia)|tanpa jawaban|irelevan|kurang informasi|nihil|n/?a|tak (?:relevan|terjawab|diketahui|ada jawaban)|belum diketahui|di luar konteks|saya tidak tahu)"
    ),
    turns=r"(?:^|[,;.–—-] ?)(?:tetapi|namun|tapi|akan tetapi|meskipun|walaupun|meski|walau|sedangkan|sementara(?: itu)?|hanya saja|kendati|sekalipun|melainkan)\b(?! juga)|;| – | — | tetapi | tapi | namun | meskipun | walaupun | meski ",
    concedes=r"(?:meskipun|walaupun|meski|walau|kendati|sekalipun|terlepas|selain|sementara)\b",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_ID_SOURCES}|informasi\w*|semua\w*|keduanya|ketiganya|di dalamnya|hanya|yang)\b",
            r"\b(?:membahas|menjelaskan|menyebut\w*|berisi|mengenai|tentang|terkait|menceritakan|memuat|berfokus|fokus|menggambarkan|mengulas|membicarakan|dibahas|berkaitan|memberikan|menguraikan|mendeskripsikan|mencakup|berbicara|terbatas|menyajikan|mencantumkan|menyinggung|merinci|mendaftar|menyediakan|menerangkan|dijelaskan|memaparkan|mencatat|menampilkan|daftar)\b",
        ),
        r"^(?:sebaliknya|sebagai gantinya)\b",
    ),
    about=r"\b(?:membahas|menjelaskan|menggambarkan|menceritakan|menguraikan|mendeskripsikan|mencantumkan|mendaftar|menyebut\w*|berisi|dijelaskan|dibahas|diuraikan|menyinggung|tentang)\b|\b(?:disinggung|diulas|disebut\w*|dibicarakan|dipaparkan|digambarkan|diceritakan|diangkat|mengangkat|mengulas|berkisar|mencatat|menyoroti)\b|\b(?:fokusnya|isinya|pokok bahasan\w*|berpusat|memperkenalkan)\b",
    only=r"\b(?:hanya|sekadar|cuma|semata|sebaliknya|terutama|melulu|topik lain|hal lain)\b",
    implies=r"\b(?:mengisyaratkan|menyiratkan|mengindikasikan|memberi kesan|mengesankan|menyarankan bahwa|tersirat|menimbulkan kesan) ?(?:bahwa)?",
    known=r"\b(?:umum diketahui|diketahui (?:secara )?umum|umumnya|pada umumnya|pengetahuan umum|secara umum|seperti diketahui)\b|\b(?:setahu saya|sepengetahuan saya|sejauh (?:yang )?saya (?:tahu|ketahui)|seingat saya)\b|\b(?:yang saya (?:tahu|ketahui)|menurut pengetahuan saya)\b",
    reports=r"\b(?:menurut|berdasarkan pengetahuan|secara umum diketahui|pengetahuan umum|umum diketahui|umumnya diketahui|seperti diketahui)\b|\b(?:menyebut\w*|menyata\w*|mengata\w*|menunjuk\w*|menjelas\w*|dikatakan|disebutkan|melapor\w*|mengungkap\w*|menegaskan|diketahui) bahwa\b|\b(?:mengaitkan|menyebut \w+ .{3,60} sebagai)\b",
    hedges=r"\b(?:mungkin|kemungkinan|tampaknya|sepertinya|agaknya|diduga|barangkali|konon|kelihatannya|diperkirakan|dipercaya|rupanya|kiranya|boleh jadi)\b",
    sorry=r"\b(?:maaf\w*|sayangnya|mohon maaf|menyesal)\b",
    aside=_words(
        r"^(?:yang ditanyakan|pertanyaan(?:nya)?(?: (?:ini|itu|anda))?) (?:adalah|ini|itu|menyangkut|meminta|menanyakan|tentang|mengenai|berkaitan|ialah)?",
        r"\b(?:lebih (?:tahu|paham|mengetahui)|mungkin (?:\w+ )?(?:tahu|punya|memiliki|bisa membantu))\b",
        r"^(?:dan |atau |lalu )?(?:unggah|kirim|bagikan|lampirkan|tempel|sertakan|berikan|tunjukkan|cari|telusuri|tanyakan)\w*",
        r"\b(?:membantu|dibantu|ditanyakan)\b",
        r"\b(?:silakan|silahkan|harap|mohon|tolong|jangan ragu|dengan senang hati|senang membantu|beri ?tahu (?:saya|kami)|kabari|semoga|disarankan|sebaiknya|saran\w*|menyarankan|merekomendasikan|coba\w*|hubungi|periksa|kunjungi|rujuk|cek|lihatlah|anda (?:dapat|bisa|mungkin|perlu|harus|sebaiknya|boleh)|bisa membantu|ada baiknya|lebih baik)\b",
        r"\b(?:saya|aku|kami)\b(?! (?:kira|rasa|pikir|percaya|menduga|duga))",
        r"^(?:jika|bila|apabila|kalau) (?:anda|ada|kamu|diperlukan|membutuhkan|perlu|memiliki|ingin)",
        r"\b(?:sumber|dokumen|informasi|referensi) (?:lain|tambahan|resmi|eksternal|lebih lanjut|tepercaya|terpercaya|lainnya)\b",
        rf"^(?:berdasarkan|menurut|dari|dalam|di|pada) (?:\w+ )?{_ID_SOURCES}(?: \w+){{0,3}}$",
        r"^(?:oleh karena itu|karena itu|jadi|dengan demikian|maka|ringkasan|kesimpulan|singkatnya|catatan|jawaban|sumber|halo|hai|tentu|terima kasih|selain itu|berikut\b.{0,40}|pertanyaan bagus|mengenai pertanyaan anda)$",
        r"^apakah (?:anda|kamu) (?:ingin|mau|perlu|membutuhkan)|^ada (?:lagi|hal lain)",
    ),
    offers=r"\b(?:tahu|mengetahui|membaca|informasi) (?:\w+ )?lebih\b|\blebih (?:lanjut|banyak|jauh)\b|\bada (?:lagi|hal lain)\b|\bbantu\b|\b(?:mau|ingin|perlu|apakah|boleh|bolehkah|haruskah|perlukah|maukah) (?:anda |kamu )?(?:mau |ingin |jika |kalau )?saya\b(?! (?:tahu|tanya|bertanya|mengetahui))",
    asks=_words(
        r"\b(?:sebutkan|pilih|katakan|tuliskan) (?:yang )?(?:mana|apa|siapa)\b",
        r"^(?:tolong |mohon )?(?:beri ?tahu|katakan|sebutkan)(?: (?:saya|kami))? .{0,30}(?:mana|siapa) (?:yang )?(?:dimaksud|anda maksud)",
        r"\b(?:boleh|bisa|bolehkah) (?:saya )?(?:tahu|tanya|bertanya)\b",
        r"\b(?:anda maksud\w*|kamu maksud\w*|maksud anda|maksud kamu|maksudnya|dimaksud|anda (?:bicarakan|tanyakan|cari|merujuk|bertanya|menanyakan|tuju)|kamu (?:bicarakan|tanyakan|cari)|yang ingin (?:anda|kamu) (?:ketahui|tanyakan)|merujuk (?:pada|ke)|anda tertarik)\b(?!.*\btidak (?:ada|disebut))",
        r"\b(?:bisakah|dapatkah|bisa|dapat|mohon|tolong|harap|bolehkah|silakan|apakah anda bisa)\b.{0,30}?\b(?:perjelas|memperjelas|jelaskan|menjelaskan|sebutkan|menyebutkan|spesifik\w*|perinci|merinci|konfirmasi|tentukan|menentukan|klarifikasi|mengklarifikasi|pertegas|mempertegas|beri tahu|memberi tahu)\b.{0,60}",
        r"^(?:yang )?(?:mana|siapa|apa|\w+ (?:yang )?(?:mana|manakah))\b.{0,60}\b(?:anda|kamu|maksud)\b",
    ),
    declines=r"\btidak (?:dapat|bisa|akan|boleh) (?:\w+ )?(?:membantu|memenuhi|memberi(?:kan)? (?:saran|nasihat|instruksi|panduan|petunjuk)|mendukung|melayani)|\bbertentangan dengan (?:pedoman|kebijakan)",
    negates=r"\b(?:tidak|tak|belum|bukan|tanpa|tiada|tidaklah|luput|absen|nihil|terbuka|bungkam)\b|\b(?:sulit|mustahil|kurang|gagal|nir\w+)\b|\bterlalu \w+|\bterputus\b|\b(?:tanda tanya|misteri|teka-teki)\b",
    me=r"\b(?:saya|aku|kami)\b",
    weak=r"^(?:dan |lalu )?(?:yang )?(?:pertama|kedua|ketiga|keempat|kelima|terakhir|lainnya|sisanya|keduanya|semuanya|[b-h](?= )|\d{1,2}(?= )|[a-h] dan [a-h])\b|\b(?:akan|seandainya|andai\w*)\b|\b(?:data|rincian|angka|informasi|hal|detail) (?:semacam|seperti|sejenis) (?:itu|ini)\b|\b(?:tebak\w*|menebak|spekulasi|menduga-duga|mengira-ngira|dugaan)\b|^(?:hanya|cuma|sebatas|sekadar)\b|^(?:penulis\w*|pengarang\w*)\b|\bbiasanya\b|^(?:dan |atau )?(?:bagaimana|mengapa|kapan|siapa|di mana|berapa|apakah)\b|\b(?:situs(?: (?:web|resmi))|laman|internet)\b|^(?:laporan|kajian|buku|bab|surat|tabel|makalah)\w*\b|\b(?:sebagai berikut|begini|berikut ini)\b|^\w+ lain\b|\b(?:menelepon|menghubungi)\b",
    because=r"\b(?:karena(?! itu)|sebab(?! itu)|lantaran|akibat)\b|\b(?:tak seorang pun|tidak ada (?:seorang|orang)|sejarawan|peneliti|ilmuwan|arkeolog|hingga (?:kini|sekarang)|sampai (?:kini|sekarang)|penggalian)\b",
    given=r"\b(?:yang )?(?:anda|kamu|kakak|bapak|ibu) (?:berikan|kirim(?:kan)?|unggah|lampirkan|bagikan|tempel(?:kan)?|sertakan|beri)\b|\b(?:yang )?(?:dilampirkan|dikirim(?:kan)?|diunggah|ditempel\w*|dibagikan)\b|\b(?:di|dalam|pada) (?:foto|gambar|tangkapan layar)\b|\bfoto (?:yang|itu|ini)\b|\b(?:tangkapan layar\w*|screenshot)\b|\byang (?:saya lihat|terlihat) (?:hanya|cuma)\b|\byang (?:saya )?(?:dapat|temukan|peroleh|miliki|ditemukan)\b",
    wants=r"\b(?:jika|kalau|bila|apabila|begitu)\b.{0,40}\b(?:kirim\w*|mengirim\w*|unggah|mengunggah|lampir\w*|melampir\w*|bagikan|tempel\w*|menempel\w*)\b|^(?:silakan |tolong |mohon )?(?:kirim|unggah|lampir|tempel)\w* .{0,60}\b(?:saya|nanti)\b|\b(?:sambil )?menunggu (?:data|dokumen|halaman|daftar|kiriman)|^tambahkan\b.{0,50}\b(?:nanti|saya)\b",
    hence=r"^(?:jadi|maka|(?:oleh )?(?:karena|sebab) itu|dengan demikian|akibatnya)\b|\bsehingga\b",
    there=r"\b(?:di (?:situ|sana|dalamnya|sini|antaranya)|di mana pun|sama sekali)\b",
    lacks=r"\b(?:(?:tidak|tak|belum) (?:\w+ )?(?:disebut(?:-sebut|kan)?|muncul|tampak|tercantum|ikut|disinggung|terbaca|tertera)|luput|terlewat\w*|dilewat\w*|(?:biarkan|tetap|masih) terbuka|tanpa jawaban|nihil)\b|\b(?:tidak|tak) (?:ada )?seorang pun (?:memberi|menyebut)\w*|\b(?:dilompati|dilewati)\b|\bmengarang\b|\btidak kelihatan\b|\bbukan bagian dari\b|\b(?:dicari|cari|mencari\w*)\b.{0,20}\b(?:di tempat lain|sumber lain)",
    figure=r"\b(?:berapa|kapan|pukul|tahun berapa|harga)",
)

_SW_SOURCES = r"(?:nilicho nacho|nilizo nazo|kipande|vipande|nukuu|manukuu|sehemu|machapisho|chapisho|nyenzo|viambatisho|insha|jalada|majarida|madondoo|hati|nyaraka|waraka|vyanzo|chanzo|muktadha\w*|matini|maandishi|andiko|vifungu|kifungu|matokeo|makala|dondoo|aya|maelezo|marejeo|rejea|yaliyomo|habari|taarifa|faili|kurasa|ukurasa|rekodi|dokezo|madokezo|maandiko)"
_SW_INFO = r"(?:taarifa\w*|habari|maelezo|jibu|majibu|data|takwimu|ufafanuzi|undani|kutajwa)"
_SW = Wording(
    sources=rf"\b{_SW_SOURCES}\b",
    nouns=_words(
        r"\b(?:daftari|orodha|magazeti|gazeti|tovuti|jedwali|majedwali|barua|muhtasari|kumbukumbu|ratiba|tanzia|sura|tangazo|matangazo)\b",
        rf"\b(?:{_SW_SOURCES}|{_SW_INFO}|swali\w*|hilo)\b",
        r"\b(?:mwongozo|miongozo|kipeperushi|vipeperushi|ripoti|mahojiano|barua|wasifu|kumbukumbu|lebo|katalogi|tangazo|matangazo|mwandishi)\b",
        r"\bchanzo\b",
    ),
    statutes=r"\b(?:sheria|mkataba|katiba|kanuni|amri|biblia|kurani|azimio|makubaliano|maagizo)\b",
    denies=_words(
        r"\b(?:\w*nyamaz\w*|kimya)\b",
        _all(
            r"\b(?:ha(?:i|u|wa|ya|zi|li|ki|vi|ku|mu|pa)\w*|bila|si(?:ku(?:pat|wez|on)|ja|wez|ju|na\b|pat|on|fah)\w*|hakuna|hamna|pasipo|kutokuwepo|ukosefu|haitoshi|hazitoshi)\b",
            r"(?:taj|elez|sem|jib|tosh|onyesh|onesh|toa\b|\wtoi\b|toi\b|pat|zungumz|gus|bainish|fafanu|na\b|patik|kuna|hamna|julik|jumuish|oroshesh|orodhesh|husu|hus|eleke|ripot|we(?:z|k)|fich|nyesh|ongele|thibitish|taja|ndik|kuwepo|po\b|mo\b|eleza|naelez|bain)",
        ),
    ),
    gap=_words(
        r"\bhakuna (?:chochote|lolote) (?:hapa|humu|kati|ndani)\b|\b(?:niliache|acha) wazi\b",
        r"^(?:lakini |samahani,? )?(?:hilo|hili|hiyo|hii|hayo|haya|jambo hilo|suala hilo) (?:hali|hai|haya|ha)\w*(?:shughulik|onekan|jadil|gus|husish|jumuish|elez|taj|zungumz|po\b|mo\b|patikan)\w*|\bsii?oni\b",
        r"\bha\w+\b.{0,60}\b(?:uli(?:cho|yo|zo|vyo)\w+|nili(?:cho|yo|zo|vyo)(?:pewa|pokea|tumiwa)\w*)|\b(?:uli(?:cho|yo|zo|vyo)\w+|nili(?:cho|yo|zo|vyo)(?:pewa|pokea|tumiwa)\w*).{0,40}\bha\w+\b",
        r"\b(?:sijui|sifahamu|sina (?:uhakika|jibu|taarifa|habari|maelezo|ufahamu|ujuzi|data|uwezo|hakika)|siwezi|sikuweza|sijaweza|hatujui|hatuwezi|sikupata|sijapata|sijaona|sioni|sikuona)\b",
        rf"\b(?:hakuna|hamna|hapana|bila|ukosefu wa|hazina|haina|hayana|hauna|halina|hakukuwa na|hakupatikana|hawana|hakujapatikana|havina|kuna upungufu wa) (?:[\w']+ ){{0,4}}?(?:{_SW_INFO}|{_SW_SOURCES}|\w+(?:sema|eleza|taja|onyesha|jibu|husu|bainisha)\w*)\b",
        r"\bha(?:i|ya|zi|li|ki|vi|wa|ku|u|mu|pa|)(?:ja|ku|ta)?(?:wez\w+|julikan\w+|julikani|taj\w*|elez\w*|sem\w*|tosh\w*|bainish\w*|fahamik\w*|fafanu\w*|jibu\w*|jibik\w*|onesh\w*|onyesh\w*|gus\w+|zungumz\w+|tambulik\w*|ongele\w+|wekwa\w*|andik\w+|ripoti\w*|tolewa\w*|toi|toa|jumuish\w*|orodhesh\w*|thibitish\w*|eleweki|eleweka|ko wazi|po wazi|yumo|imo|limo|mo|husian\w*|husu|husik\w*|jathibit\w+|pewa|kutaj\w+|na uhakika)\b",
        r"\b(?:haijulikani|haijulikan\w*|haiko wazi|hakijulikani|hayajulikani|haieleweki|haliko wazi|hapana jibu)\b",
        r"\b(?:jibu|taarifa|maelezo|habari|swali)\b.{0,50}?\b(?:haipo|hayapo|hazipo|halipo|haupo|hazitoshi|hayatoshi|haitoshi|haliwezi|halijibiki)\b|\bsi (?:wazi|rahisi|dhahiri)\b|\bhaiwezekani\b",
        r"^(?:lakini |bali )?(?:si|sio) (?:lini|nani|jinsi|wapi|kwa nini|kiasi|idadi|kuhusu|tarehe)\b",
        r"\b(?:zinahitajika|yanahitajika|inahitajika|zingehitajika) (?:\w+ )?(?:zaidi|nyingine|nyaraka|taarifa)|\b(?:taarifa|maelezo|nyaraka) (?:zaidi|ya ziada|za ziada) (?:zinahitajika|yanahitajika|inahitajika)",
        r"\bnje ya (?:muktadha|upeo)",
        r"\bsiku(?:kuta|ona|pata|bahatika)\b|\bnimeshindwa\b|\bsiwezi (?:kutaja|kusema|kujibu|kukadiria|kujua|kueleza|kuthibitisha)\b|\b(?:ni|nime|tume)kosa (?:jibu|taarifa)",
    ),
    short=(
        r"(?:jibu: |jibu |swali |hili |hii )?(?:si(?:yo)? (?:husika|muhimu|sahihi|mada)|sio (?:husika|muhimu|mada)|haihusiani(?: \w+){0,2}|halihusiani(?: \w+){0,2}|hai(?:husiki|jibiki|wezekani kujibu(?:wa|ka)?|patikani|jatajwa|tajwi|julikani|na uhusiano|na jibu|tumiki|jajibiwa)|hali(?:jibiki|wezi kujibiwa|patikani|jatajwa|julikani|jibiwi|husiki)|hakuna (?:jibu|majibu|taarifa|habari|maelezo|data|matokeo|uhusiano)(?: \w+){0,3}"
        r"|haki(?:patikani|jatajwa)|haku(?:jibika|patikana)|sijui|taarifa (?:hazitoshi|haitoshi|hazipo|haipo|hazipatikani)|maelezo (?:hayatoshi|hayapo)|haijulikani|bila jibu|jibu halipo|jibu halipatikani|jibu halijapatikana|hayahusiani(?: \w+){0,2}|hazihusiani(?: \w+){0,2}|n/?a|hapana jibu|haipo|halipo|siwezi kujibu|haiwezi kujibiwa)"
    ),
    turns=r", na (?=ha(?:i|ya|zi|li|ku|ki|wa)\w+)|(?:^|[,;.–—-] ?)(?:lakini|hata hivyo|ingawa|ijapokuwa|ila|ilhali|walakini|japokuwa|japo|hata kama|bali|huku)\b|;| – | — | lakini | ingawa | ila | ijapokuwa | japo ",
    concedes=r"(?:ingawa|ijapokuwa|japokuwa|japo|licha|mbali|isipokuwa|hata kama)\b",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_SW_SOURCES}|zote|yote|hizo|hizi|hayo|haya|wote|vyote|inayo|moja|nyingine)\b",
            r"(?:zungumz|elez|taj|husu|jadil|onyesh|onesh|hus[iu]|andik|orodhesh|gus|ongele|toa\b|linatoa|zinatoa|yanatoa|lenga|jikita|fafanu|simuli|inatoa)",
        ),
        r"^(?:badala yake)\b",
    ),
    about=r"(?:zungumzi|elezea|eleza|naelez|jadili|orodhesha|husu\b|taja|simulia|ongelea|onyesha)|(?:tajwa|elezwa|jadiliwa|guswa|gusa\b|gusia|zungumziwa|angazia|oneshwa|onyeshwa)|\b\w*(?:lenga|jikita|tambulisha|angazia)\b",
    only=r"\b(?:tu|pekee|badala yake|hasa|zaidi|mada nyingine|mambo mengine)\b",
    implies=r"\b\w*(?:dokez|ashiri|onyesha kana|pendekeza kuwa|leta dhana)\w* (?:kuwa|kwamba)",
    known=r"\b(?:inajulikana (?:kwa ujumla )?kuwa|inajulikana kwamba|kwa ujumla|ujuzi wa jumla|maarifa ya jumla|inafahamika|kwa kawaida)\b|\b(?:nijuavyo|ninavyojua|kwa ninavyojua|kadiri (?:ya )?nijuavyo|kwa ufahamu wangu|nifahamuvyo)\b|\b(?:ninavyoelewa|kama nijuavyo|kwa uelewa wangu)\b",
    reports=r"\b(?:kulingana na|kwa mujibu wa|inajulikana (?:kwa ujumla )?kuwa|inajulikana kwamba|kwa ujumla|ujuzi wa jumla|maarifa ya jumla|inafahamika)\b(?!.{0,40}(?:nyaraka|hati|muktadha|vyanzo) (?:zilizo|yaliyo|ulio|vilivyo|zili|nili)\w*$)|\b(?:\w*(?:sema|eleza|onyesha|onesha|taja|thibitisha|dai|ripoti)) (?:kuwa|kwamba|ya kuwa)\b",
    hedges=r"\b(?:huenda|labda|inaonekana|pengine|yaelekea|inasemekana|inadhaniwa|inaaminika|inakisiwa|yawezekana|inawezekana|nadhani)\b",
    sorry=r"\b(?:samahani|kwa bahati mbaya|pole|naomba radhi|tunasikitika|nasikitika|radhi)\b",
    aside=_words(
        r"\b(?:muone|waone|ona|mwulize|muulize) (?:daktari|mtaalamu|wakili|\w+)\b",
        r"^swali (?:hili |lako )?(?:linauliza|linahusu|ni|linataka|lilihusu|linahitaji)\b|^unauliza\b",
        r"\b(?:wana|ana|ata|wata)(?:jua|fahamu|kuwa na) (?:\w+ )*zaidi\b",
        r"^(?:na |au |basi )?(?:pakia|tuma|leta|weka|shiriki|ambatisha|nakili|tafuta|onyesha|uliza|peleka|jaribu|uki\w+)\b|\b(?:nami |na)?nita\w+",
        r"(?:kusaidia|zaweza kusaidia)\b",
        r"\b(?:tafadhali|nitafurahi|ningefurahi|kwa furaha|nijulishe|usisite|nakushauri|ninapendekeza|napendekeza|inashauriwa|jaribu|wasiliana|angalia|tembelea|uliza|soma|unaweza|mnaweza|ungependa|nitumie|nipe|niambie|ni vyema|ni bora|ni vizuri|ikiwa una|kama una|ikiwa unaweza|kama unaweza|ukinipa|ukitoa|ukiwa|natumaini|ningependekeza|nashauri|ukinitumia|ukishiriki|ukituma|unapaswa)\b",
        r"\b(?:mimi|yangu|wangu|langu|naweza|nitakusaidia|nitaweza|ninaweza|nitatafuta|nahitaji|ninahitaji|nimepewa|niliyopewa|nimesoma)\b",
        r"^(?:ikiwa|kama|iwapo) (?:una|uta|ungependa|unge|kuna|ni|unataka|unahitaji|mna)",
        r"\b(?:vyanzo|nyaraka|taarifa|maelezo|hati) (?:vingine|nyingine|zaidi|rasmi|za ziada|ya ziada|vya nje)\b",
        rf"^(?:kulingana na|kwa mujibu wa|kutokana na|kwa kuzingatia|katika|kwa msingi wa) (?:\w+ )?{_SW_SOURCES}(?: (?!una)\w+){{0,3}}$",
        r"^(?:kwa hiyo|hivyo|hivyo basi|kwa hivyo|muhtasari|hitimisho|kwa ufupi|kumbuka|jibu|vyanzo|chanzo|habari|bila shaka|asante|pia|zaidi ya hayo|hapa kuna\b.{0,40})$",
    ),
    offers=r"\b(?:kujua|kusoma|kusikia|maelezo|taarifa) (?:\w+ )?zaidi\b|\bkitu kingine\b|\bkusaidi\w+|\bnikusaidie\b|\b(?:ni(?:ku|ki|pendekez|tafut|onyesh|ele|tum|andik|toe|wek|som|fanye)\w+)\b|\bungependa ni\w+",
    asks=_words(
        r"^(?:tafadhali )?(?:taja|sema|chagua|andika|niambie) .{0,12}(?:ip[iy]|up[iy]|gani|nani|yup[iy])",
        r"^(?:tafadhali )?(?:niambie|nieleze|taja|sema) (?:ni )?(?:up[iy]|ip[iy]|yup[iy]|kip[iy]|zip[iy]|gani|nani)\b",
        r"\b(?:naomba|naweza|ningependa) (?:kujua|kuuliza)\b",
        r"\b(?:unamaanisha|una maana|(?:unarejelea|unakusudia|unazungumzia)(?=.*(?:\b(?:gani|nani|ipi|yupi|lipi|upi)\b|\?))|unauliza|unaulizia|ulimaanisha|unataka kujua|unatafuta|ungependa kujua|una(?:ye|yo|lo|cho|m)(?:maanisha|kusudia|rejelea|zungumzia|ulizia|uliza|taka|itaka|itafuta|sema|isema|imaanisha|ikusudia|mzungumzia|muulizia|mmaanisha|iulizia|izungumzia|limaanisha|lizungumzia|liulizia)|mnamaanisha|mnauliza)\w*\b",
        r"\b(?:unaweza|tafadhali|naomba|ungeweza|je)\b.{0,30}?\b(?:fafanua|kufafanua|bainisha|kubainisha|eleza|kueleza|taja|kutaja|niambia|kuniambia|niambie|unieleze|ufafanue|ubainishe|utaje|kuthibitisha|uniambie)\b.{0,60}",
        r"^(?:je,? )?(?:ni )?(?:\w+ )?(?:yupi|ipi|lipi|kipi|upi|gani|zipi|nani|yapi)\b.{0,60}\b(?:una\w+|ulicho|uliye|ulilo|uliyo)",
    ),
    declines=r"\bsiwezi (?:ku)?(?:saidia|kusaidia|kukusaidia|kutekeleza|kutoa (?:ushauri|maelekezo)|kufanya hivyo)|\bkinyume (?:cha|na) (?:miongozo|sera)",
    negates=r"\b(?:ha(?:i|u|wa|ya|zi|li|vi|ku|ki(?!k|m)|mu|pa)[a-z]{3,}|ha(?:i|u|wa|ya|zi|li|ki|vi|ku|mu|pa)(?:po|mo|na)|hamna|hakuna|bila|si|sio|siyo|pasipo|si(?:kuw|kup|ja[a-z]|wez|na\b|oni|jui)\w*|wala|kutokuwepo)\b|\b(?:vigumu|ngumu kujua)\b|\b(?:mno|kupita kiasi)\b|\bkimya\b",
    me=r"\bsi(?:ku(?:pat|wez|on|fan|ju|fah|tamb|ten)|ja[a-z]{2}|wez|jui\b|na\b|oni\b|pati\b|fah)\w*|\bhatu(?:ku|ja|wez|na\b|ju|fah)\w*",
    weak=r"^(?:na )?(?:cha|ya|wa|la|za|vya) (?:kwanza|pili|tatu|nne|tano|mwisho)\b|^(?:vingine|nyingine|zingine|mengine|[b-h](?= )|\d{1,2}(?= )|[a-h] na [a-h])\b|\b\w*(?:nge|ngali)(?:ku)?\w{2,}\b|\b(?:takwimu|maelezo|taarifa|data|habari) (?:kama hizo|kama hiyo|kama hayo|za aina hiyo|ya aina hiyo)\b|\b(?:kubahatisha|kukisia|kisio|dhana)\b|^(?:tu|pekee)\b|^(?:mwandishi|waandishi)\b|\bkwa kawaida\b.*\b(?:ripoti|rejista|kumbukumbu|takwimu)\b|^(?:na |au )?(?:jinsi|kwa nini|lini|nani|wapi|kiasi gani)\b|\b(?:tovuti|mtandaoni|intaneti)\b|\b(?:pekee|tu)$|^(?:kingine|lingine|jingine|mwingine)\b|^(?:ripoti|utafiti|kitabu|sura|barua|jedwali)\b|\b(?:hali ni hii|yafuatayo|ifuatayo)\b|\b(?:kupiga simu|kuwasiliana)\b",
    because=r"\b(?:kwa sababu|kwa kuwa|kwani|kutokana na|maana)\b|\b(?:hakuna (?:mtu|ajuaye|anayejua)|wanahistoria|watafiti|wanasayansi|wanaakiolojia|mpaka (?:leo|sasa)|hadi (?:leo|sasa))\b",
    given=r"\b(?:uli(?:yo|yo|zo|vyo|cho|po|lo|o)(?:ni)?(?:weka|tuma|pa|tumia|ambatisha|pakia|bandika|shiriki|toa|leta)\w*|mli(?:yo|zo|vyo|cho|lo)(?:ni)?(?:weka|tuma|pa|tumia|ambatisha|toa|leta)\w*|picha (?:uli|hii|hiyo|inaon)\w*|nilichosoma|nilizosoma|nilizopewa|nilichopewa)\b|\bninachoona\b|\bnilicho nacho ni\b|\bnili(?:yo|zo|cho|vyo|lo|ye|po)\w*(?:pata|ona|pewa)\b|\b(?:yali|zili|vili|kili|li|ili)(?:yo|zo|vyo|cho|lo)patikana\b",
    wants=r"\buki(?:ni)?(?:tum|pak|band|wek|ambat|let|pig|shirik)\w*|^(?:tafadhali )?(?:ni)?(?:tum[ai]\w*|pakia|bandika|ambatisha)\b.{0,60}\bni(?:ta|ka)\w+|\bukiongeza\b",
    hence=r"^(?:kwa hiyo|hivyo|basi|kwa hivyo|ndiyo maana)\b",
    there=r"\b(?:humo|mwake|ndani yake|hapo|popote|kati yake|miongoni mwa\w*|ha\w{1,3}mo)\b",
    lacks=r"\bha\w+(?:tajwi|onekani|jitokezi|tokei|patikani|jatajwa|kutajwa|kutolewa|kuonekana|kupatikana)\b|\b\w{1,3}meachwa\b|\blinabaki (?:bila|wazi)\b|\bbila jibu\b|\bha\w{1,3}[pm]o\b|\bhakuna neno\b|\b\w{2,4}nakosekana\b|\bhakuna anaye(?:toa|taja|sema)\b|\b\w{1,3}merukwa\b|\bkubuni\b|\bha\w{1,3}onekani\b|\b\w*tafut\w+\b.{0,20}\bkwingine\w*",
    figure=r"\b(?:ngapi|lini\b|kiasi gani|bei gani|muda gani|joto gani|urefu|mwaka gani|saa ngapi)",
)

_AR_SOURCES = r"(?:\w*(?:وثيق|وثائق|مستند|مصدر|مصادر|سياق|نصوص|مقاطع|مقطع|نتائج|نتيجة|مقال|مقتطف|مراجع|مرجع|فقر|محتوي|فقرات|صفح|سجلات|مواد|ملفات|مرفقات)\w*|\w{0,3}ملف (?=ال(?:اول|ثاني|ثالث|رابع|خامس|مرفق|مقدم)|[\d]|$)|(?:و|ف|ب|ل|ك)?(?:ال)?نصوص|(?:و|ف|ب|ل|ك)?(?:ال|لل)?نص(?:ين)?|\w*المادة)"
_AR_INFO = r"(?:\b(?:و|ف|ب|ل|ك)?(?:ال|لل)?(?:معلوم|اجاب|جواب|بيانات|تفاصيل|تفصيل|اشارة|اشارات|ذكر\b|شرح|توضيح|ايضاح|معطيات|(?:شيئا|شيء) عن\b|رد\b|كلمة|حرف\b|اثر\b|دليل)\w*)"
_AR_NOT = (
    r"\b(?:و|ف)?(?:لا|لم|لن|ليس|ليست|ليسوا|غير|دون|بدون|عدم|ما|لست|تخلو|يخلو|خالية|تفتقر|يفتقر|ينقص\w*|تنقص\w*|ولا)\b"
)
_AR_HOLD = r"\w*(?:ذكر|تضمن|حتوي|تحتو|شير|شار|قدم|توفر|وفر|وضح|حدد|جيب|اجاب|جواب|تناول|تطرق|بين|صرح|شرح|جد|عثر|كشف|وارد|ترد|يرد|ورد|فصح|معلوم|كاف|علاق|صلة|مذكور|متاح|محدد|معروف|موجود|فيه|تغط|تعرض|فسر|نص|قول|تقول|ساعد|اشتمل|شمل|سمح|مكن|عرف|تخبر|تحدث|تكلم|تعط|يعط|سرد|شيء|صف|ناقش|خبر|عالج|كلمة|حرف|اثر|تلمس|تمس|خوض|هتم|ظهر|لمح|لامس|وجود|تعرض|فيد|نفع|لتفت|شمول|مت (?:الي|بصلة)|ياتي|تاتي|تات\b|يات\b|حكي|ضمن)\w*"
_AR = Wording(
    sources=rf"\b{_AR_SOURCES}",
    nouns=_words(
        r"السجل|سجلات|الصحيفة|الصحف|البيان|الموقع|الجدول|الجداول|البريد|الملخص|الأرشيف|النعي|النقش|القائمة|القوائم|الفصل|الإعلان|التقرير|التقارير",
        rf"(?:\b{_AR_SOURCES}|{_AR_INFO}|\w*سؤال\w*|\w*سءال\w*|\bفيها\b|\bمنها\b|\bاي منها\b)",
        r"(?:الدليل|كتيب|كراس|منشور|تقرير|تقارير|مقابلة|رسالة|رسائل|السيرة|مذكرات|ملصق|كتالوج|محضر|نشرة|الاعلان)",
        r"(?:الورقة|ورقة)",
    ),
    statutes=r"\w*(?:قانون|معاهد|دستور|مرسوم|لائح|لايح|ميثاق|قران|انجيل|اتفاقي|نظام|تشريع|عقد)\w*",
    denies=_words(
        r"صامت|تصمت|يصمت|سكت|تسكت|يسكت",
        rf"{_AR_NOT} (?:\w+ ){{0,4}}?{_AR_HOLD}",
        r"\b(?:و|ف)?(?:يغيب|تغيب|غاب|غابت|غايب\w*|غائب\w*|ساكت\w*|صامت\w*|يصمت|تصمت|الصمت|تهمل|يهمل|اهمل\w*|تتجاهل|يتجاهل|تجاهل\w*|ناقص\w*|مفقود\w*|منعدم\w*|قاصر\w*|بعيد\w* عن|خارج)\b",
    ),
    gap=_words(
        r"\b(?:و|ف)?(?:لا|لم|لن|ما) (?:اعرف|اعلم|ادري|نعرف|نعلم|ندري|املك|امتلك|اجد|استطيع|استطع|اتمكن|يمكنني|يمكننا|نستطيع|اعثر|يتسني|يتوفر لدي|تتوفر لدي|توجد لدي|اقدر|نجد|يسعني|اري|ار|اتوصل|اصل|اهتد|اقف|اصادف|الحظ|افلح|انجح|اظفر|اطلع|الم|استخلص|اجزم|احدد|اخمن|ارغب في التخمين|نتمكن|نعثر|نستطع)\b|\bما (?:وجدت|عثرت|رايت|استطعت)\b|\b\w?(?:عجزت|امتنع عن|اتحفظ|اعجز)\b",
        r"\b(?:ليس|ليست) (?:لدي|عندي|لديه|لدينا|بامكاني|بوسعي|في وسعي|بمقدوري|في الامكان|بالامكان|بين يدي|امامي|ضمن|من ضمن|بين|في متناولي|من الممكن|من الواضح|واضحا|معروفا|معلوما|متاحا)\b|\b(?:لا|ليس\w?) (?:علم|معرفة|فكرة|دراية|المام) (?:لي|لدي|عندي)|\b(?:و|ف)?لا (?:اريد|ارغب|اود|احب|يسعفني)\b|\b(?:الجواب|الاجابة) ليس\w?\b|غير مشمول\w?|\bف?لا سبيل\b|\bلم يكن\b.{1,40}\b(?:ضمن|بين|في) (?:ما|ال(?:وثائق|نصوص|مواد))|\bلست (?:متاكد|واثق|قادر|علي (?:علم|دراية|اطلاع|معرفة)|متيقن)",
        r"\b(?:و|ف)?(?:لا|لم|لن) (?:يتسن|يتسني|تكفي|يكفي|تكف|يتاح|تتيح|يتيح)\b",
        rf"\b(?:و|ف)?(?:لا|لم|ليس|ليست|ما من|دون|بدون|عدم|نقص|غياب|تفتقر|يفتقر|لا تكفي|قلة|تخلو|يخلو) (?:\w+ ){{0,3}}?{_AR_INFO}|{_AR_INFO} (?:\w+ ){{0,4}}?(?:غير|ليست|ليس|لا|لم|ناقص|غايب)\b",
        r"\b(?:و|ف)?(?:لا|لم|لن) (?:يتم |تتم |يرد |ترد |ياتي |تات |يات )?(?:\w{0,2})(?:ذكر|تذكر|يذكر|تحدد|يحدد|توضح|يوضح|تشر|يشر|يرد|ترد|تبين|يبين|تتطرق|يتطرق|تتناول|يتناول|تات|ياتي|يات|تجيب|يجيب|تجب|يجب عن|تتضمن|يتضمن|تحتوي|يحتوي|تحتو|يحتو|تقدم|يقدم|توفر|يوفر|تشرح|يشرح|تفصح|يفصح|تكشف|يكشف|تشير|يشير|تنص|ينص|تعط|يعط|تخبر|يخبر|تتحدث|يتحدث|يعرف|يعلم|تعرف|تصرح|يتضح|تتضح)\w{0,3}\b(?=(?:.*(?:وثي|وثا|مستند|مصدر|مصادر|سياق|نصوص|النص|مقاطع|نتائج|مقال|ذلك|هذا|هذه|معلوم|فيها|فيه|عن))|\W*$)",
        r"\bغير (?:\w+ )?(?:واضح|معروف|معلوم|مذكور|محدد|متاح|متوفر|موجود|كاف|متاكد|قادر|ممكن|مبين|موضح|وارد|مشار|معرف)\w*",
        r"\b(?:من غير|يظل|يبقي|تظل|تبقي|لا يزال|لا تزال|ما زال|ما يزال) (?:\w+ )?(?:غير|مجهول|غامض|الواضح|الممكن)\w*|\bمجهول\w*\b|\b(?:و|ف)?[يت]?تعذر\w*|\bيستحيل\b|\bمن (?:المستحيل|الصعب|المتعذر)\b|\bيصعب\b",
        r"^(?:لكن |ولكن )?(?:و)?(?:ليس|لا) (?:متي|من|كيف|اين|لماذا|كم|عن|تاريخ|اسم|عدد)\b",
        r"\bوليس(?:ت)? (?:عن|حول|بشان)\b",
        r"\b(?:و|ف)?(?:لا|لم|لن) (?:[يتا]?تمكن\w*|[يت]مكن\w*|[يت]سمح\w*|يجوز) (?:\w+ ){0,3}?ب?(?:الاجابة|تحديد|التحديد|معرفة|الجزم|القول|التاكد|استنتاج|الاستنتاج|الرد|الجواب|نعرف|نحدد|نجيب|اجيب|احدد|اعرف|ايجاد|العثور|استخلاص|التحقق|الحكم|اعطاء|تقديم|تاكيد|الوصول|الحصول|التعرف|الحسم|حسم|جواب|اجابة)\b",
        rf"^(?:\w+ ){{0,2}}?{_AR_SOURCES}.* لا (?:ب|ل|عن |حول )\w+(?: \w+){{0,3}}\W*$",
        r"\b(?:خارج|تتجاوز|يتجاوز) (?:نطاق|حدود|سياق)",
        r"\b(?:نحتاج|احتاج|يلزم|تلزم|يتطلب|تتطلب|هناك حاجة) (?:\w+ ){0,2}(?:مزيد|معلومات|وثائق|مصادر)",
        r"\b(?:و|ف)?(?:خال(?:ية|ي|يا)? (?:تماما )?(?:من|مما)|تخلو|يخلو|تفتقر|يفتقر|خلت|خلا|سكت\w*|تسكت|اغفل\w*|تغفل)\b",
    ),
    short=(
        r"(?:الاجابة: ?|الجواب: ?|السؤال |هذا |هذه )?(?:غير (?:ذي|ذات|ذو) (?:صلة|علاقة)|غير (?:قابل|قابلة) للاجابة|غير (?:متعلق\w*|متصل\w*|مرتبط\w*)(?: \w+){0,2}|غير (?:معروف|معلوم|مذكور|متوفر|متاح|محدد|موجود|مناسب|كاف|كافي|واضح|وارد|منطبق)\w*(?: \w+){0,2}|لا (?:توجد|يوجد|تتوفر|يتوفر|جواب|اجابة|رد|معلومات|علاقة|صلة|ينطبق|اعرف|اعلم|ادري|يمكن الاجابة|يمكن الجواب|بيانات|نتائج)(?: \w+){0,3}"
        r"|لا يمكن (?:الاجابة|الرد|تحديد|الجواب)(?: \w+){0,3}|(?:ليس|ليست) (?:له|لها|ذا|ذات|هناك|ذو) (?:\w+ ?){1,2}|ليس (?:متاحا|معروفا|مذكورا|ذا صلة)|معلومات غير كافية|المعلومات غير (?:كافية|متوفرة|متاحة|موجودة)|بلا (?:اجابة|جواب)|بدون (?:اجابة|جواب)|دون (?:اجابة|جواب)|لم (?:يذكر|يرد|تذكر|يحدد)(?: \w+){0,3}|مجهول\w*|تعذرت الاجابة|لا شيء|لا صلة له\w*(?: \w+){0,2}|خارج (?:السياق|الموضوع)|n/?a)"
    ),
    turns=r"؛ ?|, (?=ولا |ولم |وليس|وما زال|ولا يزال)|(?:^|[,;.–—-] ?| )(?:و?لكن\w*|غير ان\w*|الا ان\w*|بيد ان\w*|مع ذلك|ومع ذلك|رغم ذلك|بينما|علي الرغم من|رغم ان|بالرغم من|برغم|وان (?:كان|كانت|لم)|اما|في حين|مع ان|رغم|وان)\b,?|;| – | — ",
    concedes=r"(?:و?رغم|علي الرغم|بالرغم|مع ان|بينما|و?في حين|باستثناء|بخلاف)\b",
    topic=_words(
        _all(
            rf"^.{{0,60}}?(?:\b{_AR_SOURCES}|\bالمعلومات|\bهي\b|\bكلها\b|\bجميعها\b|\bفقط\b|\bفهي\b)",
            r"\w*(?:تتناول|يتناول|تتحدث|يتحدث|تصف|يصف|تذكر|يذكر|تناقش|يناقش|تركز|يركز|تتعلق|يتعلق|تحتوي|يحتوي|تتضمن|يتضمن|تشير|يشير|تسرد|يسرد|تقدم|يقدم|تعرض|يعرض|تقتصر|يقتصر|تشرح|يشرح|تدور|يدور|تغطي|يغطي|تخص|يخص|تعدد|يعدد|تشمل|يشمل|تحكي|يحكي|توضح|يوضح|تبين|يبين|تتطرق|يتطرق|تعالج|يعالج|تفصل|تورد|يورد|متعلق|تعني|يعني|تروي|يروي|يستعرض|تستعرض|مخصص|تنشغل|ينشغل|يتكلم|تتكلم|حول|تتمحور|يتمحور|تهتم|يهتم|ترصد|توثق|يوثق|تعرف|يستوفي|تقول|يقول|تحصي|تجمع|تسهب|يسهب|تكتفي|يكتفي|تنحصر|ينحصر|عن)\w*",
        ),
        r"^(?:بدلا من ذلك)\b",
    ),
    about=r"\w*(?:تتناول|يتناول|تتحدث|يتحدث|تصف|يصف|تناقش|يناقش|تسرد|يسرد|يتعلق|تتعلق|تعرض|يعرض|تركز|يركز|تقتصر|يقتصر|تدور|يدور|تخص|يخص|تحكي|تعدد|تذكر|يذكر|تشرح|يشرح|يقف عند|تقف عند|يتوقف عند|تتوقف عند|ينتهي عند|تنتهي عند|للحديث عن|لذكر|تتكلم|يتكلم|يستعرض|تستعرض|تروي|يروي|مخصص|تنشغل|ينشغل|حول|بشان)\w*",
    only=r"\b(?:فقط|تقتصر|يقتصر|تكتفي|يكتفي|تنحصر|ينحصر|وحسب|وحدها|وحده|للحديث عن|فحسب|بدلا من ذلك|لا غير|اساسا|مواضيع اخري|موضوعات اخري|سوي)\b",
    implies=rf"^(?!.*\b{_AR_SOURCES}).*\b(?:و|ف)?(?:قال|قالت|قالوا|صرح\w*|نفي|اكد\w*) (?:\w+ ){0, 2}(?:انه|انها|انهم|بانه)\b|^(?!.*\b{_AR_SOURCES}).*\b(?:لم|لا|لن) (?!\w?(?:ذكر|يذكر|تذكر|يرد|ترد|يشر)).*\b(?:قط|ابدا)\b|^(?:بحسب|حسب|وفقا ل|وفق|طبقا ل|بناء علي) ?\w*{_AR_SOURCES}(?!.*(?:مجهول|غير|يمكن|ذكر|يرد|ترد|معلوم|جواب|اجاب|تحديد|معرف|تتوفر|يتوفر|توجد|يوجد|اي))|^(?!.*\b{_AR_SOURCES}).*\b(?:ادلة|الادلة|دليل (?:قاطع|مادي|علي|قوي)\w*)\b|^(?!.*\b{_AR_SOURCES}).*\b(?:حتي (?:اليوم|الان|يومنا)|الي (?:اليوم|يومنا|الان)|لا احد يعرف|لا احد يعلم|لا يعرف احد|لا يعلم احد)\b|\b(?:و|ف)?(?:توحي|يوحي|تلمح|يلمح|تدل|يدل|تشي|يشي|يفهم|تعطي انطباعا|تدفع الي)(?: \w+){0, 3} (?:بان|الي ان|علي ان|ان)\w*",
    known=r"\b(?:من المعروف|المعروف عموما|المعلوم|معلوم عموما|معلوماتي العامة|المعرفة العامة|معرفتي العامة|عموما|عادة|بشكل عام|بوجه عام|علي حد علمي|بحسب علمي|حسب علمي|في حدود علمي|فيما اعلم|حسبما اعلم|من معلوماتي|من معرفتي|كما اعرف|علي ما اعرف|علي ما اذكر)\b|(?:بحسب|حسب|وفق) (?:ما|علمي) ?(?:أعرف|أعلم|أدري)?",
    reports=r"\b(?:وفقا|وفق|بحسب|حسب|طبقا|من المعروف|المعروف عموما|المعلوم|معلوم عموما|معلوماتي العامة|المعرفة العامة|معرفتي العامة)\b(?!.{0,30}(?:المقدمة|المعطاة|المتاحة|المتوفرة|المقدم|المعطي|المتاح|المرفقة)\W*$)|\b(?!\w{0,2}تبين لي)\w{0,2}(?:تذكر|يذكر|تقول|يقول|تشير|يشير|تفيد|يفيد|تبين|يبين|تؤكد|يؤكد|ذكر|تنص|ورد|جاء|توضح|يوضح)\w{0,2} (?:\w+ )?(?:الي )?(?:ان|انه|انها|بان)\b",
    hedges=r"\b(?:ربما|يبدو|علي الارجح|قد|يرجح|يحتمل|من المحتمل|لعل|يعتقد|الارجح|يظن|المرجح|غالبا|يقال)\b",
    sorry=r"(?:\b\w?(?:عذرا|اسف|اعتذر|معذرة|للاسف|نعتذر|المعذرة|يؤسفني)\b|\bمع الاسف\b|آسف)",
    aside=_words(
        r"\b(?:قد|ربما|يمكن ان|لعل) (?:ت|ي)(?:فيد|ساعد|جد)\w*",
        r"\b(?:و|ف)?(?:يرجي|رجاء|من فضلك|بكل سرور|يسعدني|يسرني|ساكون|سعيد|لا تتردد|اخبرني|انصح|ينصح|اقترح|يمكنك|يمكنكم|بامكانك|راجع|تفضل|يفضل|يستحسن|زودني|يسعدنا|حاول|جرب|تواصل|استشر|ابحث|ارسل|اعطني|قد ترغب|قد يكون من|من الافضل|من المفيد|قد تجد|سابحث|ساساعد|يستحب|من المستحسن|نوصي|اوصي|لو سمحت|ارجو|اتمني|بوسعك|تستطيع|هل (?:ترغب|تريد|تود)|يجدر بك|عليك|حبذا|ليتك|ارفع|ارفق|ابعث|شارك|شاركني|زود|اضف|وافني|ساراجع|ساطلع|ساقرا|ساتحقق|نراجع|سيسرني|يسعدنا)\w*\b",
        r"\b(?:و|ف)?(?:بحثت|راجعت|قرات|اطلعت|تصفحت|فحصت|دققت|تفقدت|نظرت|فتشت)\b",
        r"^(?:و)?(?:السؤال|سؤالك|سؤالكم)\b.{0,10}(?:يدور|عن|حول|يتعلق|عام|واسع|مبهم|غامض|يحتمل|فضفاض|غير|يتناول|يخص|بحاجة|يحتاج)",
        r"\b(?:انا|لدي|عندي|استطيع|يمكنني|ساحاول|بصفتي|كنموذج|احتاج|اعتمد|معرفتي)\b(?! اعتقد)",
        r"^(?:و|ف)?(?:اذا|ان|لو|في حال) (?:كان|كنت|زود|اردت|رغبت|وجد|احتجت|قدم|توفر|ارسل|شارك|لديك|اعطي|كانت|امكن|\w{2,}ت(?:م|ي|ني|موني|نا)?\b)\w*",
        r"\b(?:مصادر|وثائق|معلومات|مراجع|مستندات) (?:اخري|اضافية|خارجية|رسمية|موثوقة|متخصصة)\b",
        rf"^(?:و)?(?:بناء علي|استنادا الي|وفقا ل|وفقا|وفق|بحسب|حسب|من خلال|في|اعتمادا علي|طبقا ل) ?(?:\w+ )?{_AR_SOURCES}(?: \w+){{0,3}}$",
        r"^(?:و|ف)?(?:لذلك|لذا|بالتالي|باختصار|الخلاصة|خلاصة القول|ملاحظة|الاجابة|المصادر|المصدر|مرحبا|بالطبع|شكرا\b.{0,40}|كذلك|ايضا|بالاضافة الي ذلك|اليك\b.{0,40}|سؤال جيد|بالنسبة الي سؤالك|بخصوص سؤالك|(?:ملخص|خلاصة|نتيجة|نتائج|تحليل|استنتاج)\b.{0,20})$",
    ),
    offers=r"امر اخر|شيء اخر|في (?:امر|شيء)|(?:المزيد|مزيد من|شيء اخر|امر اخر|(?:ان |هل )اساعدك|مساعدتك في)",
    asks=_words(
        r"(?:يرجى|أرجو) (?:تحديد|ذكر|قول) (?:أي|اي|من)",
        r"^(?:من فضلك )?(?:اخبرني|قل لي|حدد|اذكر|وضح)(?: لي)? (?:أي|من|اي)",
        r"\b\w{0,2}(?:تقصد|تقصده|تقصدها|تقصدين|قصدك|تعني|تعنيه|تعنيها|المقصود|المقصودة|تسال عن|تسال عنه|تسال عنها|تتحدث عنه|تتحدث عنها|تشير اليه|تشير اليها|تبحث عنه|تبحث عنها|تريد معرفة|تود معرفة|تستفسر|سؤالك عن|يهمك|تريده|تريدها|تقصدون|تودون|تعنون)\b(?!.*\bفي (?:الوثائق|السياق|المصادر)\b)(?=.*\?)|^(?=.*(?:\bهل\b|\bايهما\b|\?|يرجي|فضلك|رجاء)).*\b(?:تقصد|تعني|المقصود)\w*",
        r"\bام\b.{1,60}\?|\b(?:اي|ما|من|كم|متي|اين)\b.{1,40}\b(?:لديك|لديكم|عندك|معك|تستخدم\w*|تملك\w*)\W*\?|\bلم (?:افهم|اتبين) (?:اي|من|ما)\b|\bهلا (?:\w+ت|تفضلت)\b|(?:ايهم|ايهما|ايها|ايهن|اي واحد|اي منهم|اي منها) (?:تريد|تقصد|تعني|هو|هي|يهم)|\b(?:يعتمد|يتوقف|تعتمد|تتوقف)\w* (?:\w+ )?علي (?:اي|ما|من|اية)\b",
        r"^(?:قبل|كي|لكي|حتي|و)?.{0,40}\b(?:في|من|الي|عن|ب)?(?:اي|اية|اين)\b.{0,60}\b(?:تسال|تقصد|تعني|تريد|ستنطلق|تسكن|تنوي)\w*.{0,20}\?",
        r"(?:\bهل (?:يمكنك|يمكنكم|بامكانك|لك ان|تستطيع)|\bيرجي|\bمن فضلك|\bرجاء|\bالرجاء|\bلو سمحت|\bارجو|\bاحتاج).{0,20}(?:توضيح|توضح|تحديد|تحدد|اخباري|تخبرني|اخبرني|حدد|وضح|التوضيح|التحديد|ذكر|تذكر|معرفة|اعرف)",
        r"^(?:عن |في |الي |من )?(?:اي|ايهما|ايهم|من|ما|اية)\b.{0,60}\b(?:تقصد|تريد|تعني|تسال|يهمك|تود|تتحدث|تبحث)\w*",
    ),
    declines=r"\b(?:و|ف)?لا (?:اريد|ارغب|اود|احب) (?:في |ان )?(?:اقدم|اعطي|اخمن|اذكر|اضلل|تقديم|التخمين)|\b(?:لا|لن) (?:استطيع|يمكنني|اقدر|يسعني|نستطيع) (?:\w+ ){0,2}?(?:المساعدة|مساعد\w+|تقديم (?:نصيحة|نصائح|تعليمات|ارشادات|استشار\w+)|تلبية|تنفيذ|اعطاء تعليمات|دعم|الامتثال)|\bيتعارض مع\b",
    weak=r"^(?:و|ف)?(?:فيها|فيه|منها|في احد\w+|ففيها)\b|^(?:و|ف)?(?:بعضها|معظمها|جميعها|كلها|احدها|كلاهما|كلتاهما)|^(?:و|ف)?(?:اما )?(?:و|ف)?(?:الاول|الثاني|الثالث|الرابع|الخامس|الاخير|الاخر|البقية|باقي|بقية|سائر|احدها|احداها|الاولي|الثانية|الثالثة|الرابعة)\w*",
    because=r"\b(?:بسبب|لان\w*|نظرا|اذ|لعدم|نتيجة)\b",
    given=r"(?:المرفق|مرفق|ارسلت|زودتن|رفعته|الصورة|الصور\b|ضمن الصور|اللي عندي|بحوزتي|لدي هنا|اعطيتن|قدمته|شاركت)|(?:لقطة الشاشة|صورتك)|كل ما (?:لدي|اراه)|لا اري (?:سوي|الا)|(?:الذي|التي) (?:وجدت|حصلت|لدي|عثرت)|النتائج التي ظهرت",
    wants=r"(?:^|[ ,])(?:اذا|ان|لو|متي|ان كان\w*|حال)\b.{0,30}(?:ارسل|رفعت|ارفقت|شاركت|زودت|لصقت|اضفت)|(?:^|[ ,])(?:ارسل|ارفع|ارفق|الصق|زودن)(?:ها|ه|وا|ي|ني|لي)\b.{0,40}(?:و?س[انت]|فا|حتي|لا)|^اضف",
    negates=r"\b(?:لا|لم|ليست?|ليسا|لن|ما من|دون|بلا|غير|خال(?:ي|ية)?)\b|(?:مجهول|لغز)",
    hence=r"^(?:لذلك|لذا|بالتالي|وبالتالي|وعليه|وبذلك|ومن ثم|من هنا|وبغياب|فلا|فيبقي|فلم)\b",
    there=r"\b(?:فيه(?:ا|ما|م|ن)?|بين(?:ها|هم)|منها|ضمن(?:ها|ه))\b",
    lacks=r"غائب|غابت?\b|لا (?:ذكر|يرد|ترد|يظهر|تظهر|أثر)\b|لم (?:يرد|ترد|يذكر|تذكر|يظهر|تظهر|أعثر)\b|بلا (?:جواب|إجابة)|سكتت?\b|ليست? (?:فيه|من بين|ضمن|موجود)|أغفل|تجاهل|يخلو|تخلو|لا أحد (?:يذكر|يعطي|يحدد)|قفزت?\b|اختراعا|غير (?:وارد|موجود|مذكور)|لا (?:تظهر|يظهر)|(?:البحث|تبحث|يبحث|تطلب|تلتمس).{0,25}(?:مكان|موضع|مصدر) آخر",
    figure=r"\bكم\b|متي|اي (?:سنه|سنة|عام|درجة|يوم|ساعة|وقت)|ما (?:درجة|طول|ارتفاع|ثمن|عمر)|ثمن",
)

_FA_SOURCES = r"(?:سند\w*|اسناد\w*|مدارك\w*|منبع\w*|منابع\w*|زمينه\w*|متن\w*|متون\w*|بافت\w*|قطعه\w*|نتايج\w*|نتيجه\w*|مقاله\w*|مقالات\w*|بخش\w*|پاراگراف\w*|مطالب\w*|مطلب\w*|محتوا\w*|نوشته(?:\b|هاي?|.? (?:بالا|حاضر|داده))|گزيده\w*|مرجع\w*|مراجع\w*|سندها\w*|داده ?هاي?\b|عبارات\w*|عبارت\w*|فايل\w*|قطعات\w*|پرونده ?هاي?\w*|پرونده. (?:نخست|اول|دوم|سوم|چهارم)|بندها\w*|صفح\w*|مأخذ\w*|ماخذ\w*|جست ?و ?جو\w*|آنچه (?:به من|در اختيار|دارم|داريم)\w*)"
_FA_TEXTS = r"(?:(?:اين |هيچ |چهار |پنج |سه |دو |همه. |تمام )?(?:سند|اسناد|منبع|منابع|متن|متون|مقاله|مقالات|گزيده|مراجع|مرجع|پاراگراف|مطالب|محتوا|فايل|نتايج جست ?و ?جو|بخش(?=[^ ]* (?:بازيابي|ارائه|ارايه|داده|موجود))|آنچه (?:به من|در اختيار))\S*)"
_FA_INFO = r"(?:اطلاعات\w*|اطلاع\w*|پاسخ\w*|جواب\w*|جزئيات\w*|جزييات\w*|اشاره\w*|داده ?هاي?\b|توضيح\w*|سخني|حرفي|ذكري|چيزي|نشاني|سرنخ\w*|آمار\w*|يادي|مطلب\w*|كلمه\w*|اثري|ردي|ردپاي\w*|نامي|نظر|بحثي|گفته\w*)"
_FA_NOT = r"(?:\bن(?:مي|دار|شد|يست|كرد|يام|داد|بود|گفت|توان|دان|ياف|خواه|پرداخ|برد|يافت|كن|ده|گو|دا|اشت|بو)\w*|\bنا(?:مشخص|معلوم|كافي|موجود|مرتبط|روشن|شناخته)\w*|\bهيچ\w*|\bبدون\b|\bبي ?آن ?كه\b|\bفاقد\b|\bدشوار\b|\bكم دار\w+|\bجايش\b.{0,20}\bخالي|\bغايب|\bعدم\b|\bكمبود\b|\bنه\b)"
_FA_HOLD = r"(?:ذكر|اشار|آمده|نيامده|نياورد|بيان|گفته|نگفت|نمي ?گو|نمي ?ده|ارائه|ارايه|دارد|ندار|وجود|موجود|يافت|مشخص|معلوم|پاسخ|جواب|توضيح|اطلاع|پرداخ|شامل|شده|نشده|كافي|مرتبط|روشن|حاوي|پيدا|نيست|نيستند|تعيين|ديده|مطرح|كمك|نمي ?شود|دربار|در مورد|آشكار|داده|قيد|سخن|حرف|خالي|غايب|ديد|پوشش|پرداز|در بر|كم دار|سراغ|ربط|نگاه|در آنچه)"
_FA = Wording(
    sources=rf"\b{_FA_SOURCES}",
    nouns=_words(
        r"دفتر|روزنامه|اطلاعیه|وب ?گاه|وب ?سایت|جدول|ایمیل|نامه|خلاصه|بایگانی|آرشیو|برنامه|سنگ ?نبشته|فهرست|فصل|آگهی|گزارش",
        rf"(?:\b{_FA_SOURCES}|\b{_FA_INFO}|\bسؤال\w*|\bسوال\w*|\bپرسش\w*|\bهيچ ?(?:يك|كدام)\b(?! از (?!آن|اين|سند|اسناد|متن|منابع|مقاله|بخش|گزيده))|\bآنها\b|\bآن ها\b)",
        r"(?:راهنما|دفترچه|بروشور|گزارش|مصاحبه|نامه|زندگينامه|خاطرات|برچسب|فهرست|اعلاميه|آگهي)",
    ),
    statutes=r"\b(?:قانون|قوانين|معاهده|قانون اساسي|آيين ?نامه|فرمان|منشور|قرآن|انجيل|كنوانسيون|پيمان|مصوبه|قرارداد|توافق)\w*",
    denies=_words(
        _all(_FA_NOT, _FA_HOLD),
        r"ساکت|خاموش|سکوت",
    ),
    gap=_words(
        rf"^(?!.*(?:\bكه\b|طبق|به ?گفته|بنا بر))(?:.*\b(?:در|از|ميان|با|جز[وء]) (?:\w+ ){{0,2}})?{_FA_TEXTS}(?!\S* را\b).*\b(?:ن(?:مي ?)?\w{{2,}}|بي ?خبر\w*|خاموش\w*|ساكت\w*)(?: است| اند| بود)?\W*$",
        rf"^{_FA_TEXTS}.*(?<!نه )\bنه (?:\w+ ?){{1,6}}\W*$",
        r"\bن(?:رسيدم|مي ?رسم|مي ?فهمم|خواندم|شنيده ?ام|يافته ?ام|ديده ?ام|مي ?كنم|مي ?زنم)\b|\bخودداري مي ?كنم\b|\bبي ?خبر(?:م|يم)\b|\b(?:از )?عهده.{0,30}\bبر ?ن?مي ?آي\w+|\bآگاهي ندارم\b|\b(?:پاسخ|جواب)\b.{0,20}\bممكن نيست\b|\bبراي (?:جواب|پاسخ)\w*\b.{0,20}\b(?:بسنده|كافي|بس) ن",
        r"\b(?:دشوار|سخت|مشكل|ناممكن|غيرممكن|محال)\b.{0,12}(?:بتوان|مي ?توان|است\W*$)",
        r"\bنمي ?(?:دانم|دونم|دانيم|توانم|توانيم|تونم|يابم|بينم|شناسم)\b|\bن(?:توانستم|يافتم|دانستم|ديدم)\b|\bپيدا نكردم\b|\bاطلاعي? ندار\w+|\bمطمين نيستم|\bمطمئن نيستم|\bخبر ندارم|\bآگاه نيستم|\bقادر (?:به .{0,30})?نيستم|\bدر دسترس(?:م)? (?:نيست|ندارم)|\bندارم\b|\bنيستم\b|\bنمي ?خواهم\b|\bبه (?:درد|كار)\b.{0,20}\bنمي ?(?:خور|آي)\w+|\bبي ?اطلاع(?:م)?\b",
        r"\bنمي ?(?:توان|شود|تواند|توانند)\b.{0,60}(?:پاسخ|جواب|تعيين|مشخص|گفت|فهميد|دريافت|يافت|دانست|تشخيص|نتيجه|اظهار|بيان|پيدا|استنباط|معلوم|داد|ارايه|ارائه)|(?:پاسخ|جواب|تعيين|مشخص|تشخيص|اظهار).{0,60}\b(?:نمي ?(?:توان|شود|تواند|توانند|دهد|دهند)|ممكن نيست|امكان ?پذير نيست|غيرممكن|مقدور نيست|ميسر نيست|نشد)",
        rf"\b(?:هيچ|بدون|فاقد|عدم|كمبود)\b.{{0,25}}?(?:{_FA_INFO}|{_FA_SOURCES})|\b(?:{_FA_INFO})\b.{{0,60}}?(?:ندار|نيست|نشد|نيام|نمي ?ده|ناكافي|كافي نيست|كم است|نمي ?شود|نداد|نيافت|نكرد|يافت نشد|نرفته|ناقص|نمي ?خورد|نمي ?كن)",
        r"(?:ذكر|مشخص|معلوم|اشاره\w*|قيد|بيان|گفته|تعيين|ارائه|ارايه|مطرح|توضيح داده|پرداخته|آورده|شرح داده|آشكار|درج|پاسخ داده|عنوان|نام برده|نامي? برده|صحبت) ?(?:اي )?(?:ن(?:شده|يست|كرده|شد|كردند|كرد|كرده ?اند|مي ?كن\w*|مي ?شو\w*|داده|گرديده|ساخته)|نمي ?(?:كند|كنند|شود|دهد|دهند))",
        r"\b(?:نيامده|نگفته|نگفته ?اند|نمي ?گوي\w*|نمي ?پرداز\w*|نپرداخته\w*|نامشخص|نامعلوم|نياورده\w*|ننوشته\w*|نياوردند|مبهم)\b",
        r"\b(?:ناكافي|كافي ني\w+|كفايت نمي ?كن\w*|ساكت\w*|سكوت|خالي)\b",
        r"^(?:اما |ولي )?(?:و )?نه (?:زمان|تاريخ|نام|كي|چه|چگونه|چرا|كجا|تعداد|درباره|در مورد)\b",
        r"\b(?:خارج از|فراتر از) (?:محدوده|حوزه|متن|دامنه)",
        r"\b(?:نياز|لازم)\b.{0,30}(?:بيشتر|اضافي|تكميلي|ديگر)|(?:بيشتر|اضافي|تكميلي)\w*.{0,25}(?:نياز|لازم) ",
    ),
    short=(
        r"(?:پاسخ: ?|جواب: ?|سؤال |سوال |اين )?(?:غير ?مرتبط|نامرتبط|بي ?ربط|بي ?ارتباط|مرتبط نيست|مربوط نيست|ربطي ندارد|ارتباطي ندارد|غير ?قابل ?پاسخ(?: ?گويي)?|قابل پاسخ(?: ?گويي)? نيست|پاسخ ?پذير نيست|غيرقابل پاسخ|بدون پاسخ|بدون جواب|بي ?پاسخ|بي ?جواب|(?:هيچ )?(?:پاسخ|جواب|اطلاعات|داده|اطلاعاتي|پاسخي|جوابي|نتيجه ?اي|داده ?اي)(?: \w+){0,2} (?:ندارد|نيست|نشد|يافت نشد|موجود نيست|وجود ندارد|در دسترس نيست|ناكافي|كافي نيست|داده نشده)|نامشخص|نامعلوم|ناشناخته|مشخص نيست|معلوم نيست|ذكر نشده(?: است)?|نمي ?دانم|اطلاعات ناكافي|اطلاعات كافي نيست|يافت نشد|در دسترس نيست|موجود نيست|وجود ندارد|نمي ?توان پاسخ داد|نامربوط|غير ?مربوط|هيچ|هيچ ?كدام|قابل اعمال نيست|قابل پاسخ دادن نيست|مشخص نشده(?: است)?|پاسخي? (?:ندارم|در \w+ نيست)|n/?a)"
    ),
    turns=r"؛ ?|(?:(?<=است)|(?<=شد)|(?<=كرد)|(?<=بود)|(?<=گذشت)|(?<=ند)|(?<=داد)|(?<=رفت)|(?<=گرفت))(?:,| و) (?=[^,]{0,60}?(?:\bن\w{2,}|ناشناخته|نامعلوم|معلوم))|(?:^|[,;.–—-] ?| )(?:اما|ولي|با اين حال|با اين وجود|گرچه|اگرچه|هرچند|اگر چه|هر چند|در حالي ?كه|ليكن|وليكن|بلكه|با اينكه|با آنكه|با وجود اين|ليك|منتها)\b,?|;| – | — ",
    concedes=r"(?:اگرچه|گرچه|هرچند|اگر چه|هر چند|با اينكه|با آنكه|با وجود|در حالي ?كه|به ?جز|غير از)\b",
    topic=_words(
        _all(
            rf"^.{{0,60}}?(?:\b{_FA_SOURCES}|\bاطلاعات|\bفقط|\bتنها|\bهمه|\bهمگي)",
            r"(?:دربار|در ?مورد|درخصوص|در خصوص|راجع|مي ?پرداز|پرداخته|توصيف|شرح|اشاره|مربوط|تمركز|بحث|ذكر|شامل|فهرست|توضيح|بيان|معرفي|پيرامون|محدود|بررسي|ارائه|ارايه|سخن|صحبت|نام مي ?بر|گزارش|مي ?گوي|اختصاص|آمده|حاوي|متمركز|بازگو|برشمرد|بر ?مي ?شمار|روايت|مرور|سرگذشت|نقل|دنبال|خلاصه)",
        ),
        r"^(?:در عوض|به جاي آن)\b",
    ),
    about=r"(?:توصيف|شرح مي ?ده|شرح داده|پرداخته|مي ?پرداز|اشاره|درباره\w*|در ?مورد|فهرست|معرفي مي ?كن|^از .{1,60}مي ?گوي|بررسي|توضيح مي ?ده|مربوط|بيان مي ?كن|بازگو|برشمرد|بر ?مي ?شمار|روايت|مرور|سرگذشت|سخن مي ?گو|آورده|متوقف مي ?شو|(?:پايان|خاتمه) مي ?ياب)",
    only=r"\b(?:فقط|تنها|صرفا|در عوض|عمدتا|منحصرا|به جاي آن|بيشتر به|موضوعات ديگر|موضوعات ديگري)\b",
    implies=_words(
        rf"^(?!.*\b{_FA_TEXTS}).*\b(?:هرگز|هيچ ?گاه|هيچ ?وقت) (?!ذكر|گفته|اشاره|بيان)|^(?:طبق|بنا بر|به گفته.|بر ?اساس|مطابق) {_FA_TEXTS}(?!.*(?:نامعلوم|نامشخص|ناشناخته|ممكن|مي ?توان|ذكر|معلوم|مشخص|جواب|پاسخ|اطلاع|اشاره|روشن))|^(?!.*\b{_FA_TEXTS}).*\b(?:مدرك قاطع\w*|ادله|شواهد)\b|^(?!.*\b{_FA_TEXTS}).*\b(?:تا (?:امروز|كنون|به امروز|حالا)|هنوز هم|هيچ ?كس نمي ?داند|كسي نمي ?داند)\b|(?:حاكي از|نشان مي ?ده\w*|القا مي ?كن\w*|چنين بر مي ?آيد|برمي ?آيد|به نظر مي ?رسد كه|مي ?توان حدس|تلويحا|حدس زد(?!ن)|اين گمان|اشاره دارند كه|به اين فكر)",
        r"^(?:دادگاه|قاضي|پليس|هيئت منصفه|كارشناسان|پژوهشگران)",
    ),
    known=r"\b(?:به طور كلي|دانش عمومي|اطلاعات عمومي|معروف است|مشهور است|مي ?دانيم كه|همه مي ?دانيم|معمولا|عموما|تا (?:جايي|آنجا|آن ?جا)(?:يي)? ?كه (?:من )?مي ?دان\w*|به صورت كلي|روشن است كه)\b",
    reports=r"\b(?:طبق|بر ?اساس دانش|به ?گفته|به ?گزارش|مطابق|به طور كلي (?:مي ?دانيم|معلوم)|دانش عمومي|اطلاعات عمومي|معروف است|مشهور است|مي ?دانيم كه)\b(?!.{0,40}(?:ارائه ?شده|ارايه ?شده|داده ?شده|موجود)\W*$)|(?:گفته|آمده|ذكر|بيان|مي ?گويد|مي ?گويند|اشاره|نوشته|تصريح|تاكيد)(?: \w+){0,2} كه\b|^(?:آنها |و )?(?:مي ?گويند|گفته ?اند|نوشته ?اند|آورده ?اند) ",
    hedges=r"\b(?:احتمالا|شايد|به نظر مي ?رسد|ظاهرا|گويا|ممكن است|گمان مي ?رود|محتملا|تصور مي ?شود|احتمال دارد|گفته مي ?شود|انگار|به احتمال)\b",
    sorry=r"(?:\bمتاسفانه\b|\bمتاسفم\b|\bمتأسفانه\b|\bمتأسفم\b|\bببخشيد\b|\bپوزش\b|\bعذر\b|\bشرمنده\b)",
    aside=_words(
        r"(?:كمك كن|كمكي|راهگشا|بپرس|راهنمايي|به كارتان|مفيد|سودمند)",
        r"\b(?:لطفا|خوشحال|با كمال ميل|خوشحال مي ?شوم|مي ?توانيد|مي ?تواني|مي ?توانم|پيشنهاد|توصيه|بهتر است|مراجعه|بپرسيد|بگوييد|بفرماييد|تماس بگيريد|جستجو كنيد|بررسي كنيد|كمك كنم|كمكتان|راهنمايي|اميدوارم|مايليد|آيا مي ?خواهيد|دريغ نكنيد|ارسال كنيد|در اختيارم|ارائه كنيد|ارائه دهيد|بدهيد|شايد بهتر|بفرستيد|كنيد|بگذاريد|كاش|مي ?شد|سپاسگزار\w*|متشكر\w*|ممنون\w*|بدهيد|دهيد|مي ?خواهيد|نگاه مي ?كنم|بگردم|بگويم|مي ?بينم|مي ?گردم|بررسي مي ?كنم|بهتر بود|بد نيست|خوب است)\b",
        r"(?:مرور|بررسي|نگاه|جست ?و ?جو|مطالعه) كرد(?:م|ه ?ام|يم)\b|\b(?:خواندم|ديدم|گشتم|خوانده ?ام|گشته ?ام)\b",
        r"^(?:پرسش|سؤال|سوال)\S*(?: شما)?\b.{0,20}(?:دربار|در ?مورد|راجع|كلي|مبهم|گسترده|مربوط|است)",
        r"\b(?:من|برايم|به من|ام را|جست ?و ?جو مي ?كنم)\b(?! (?:فكر|گمان|معتقد))",
        r"^(?:و )?(?:اگر|چنانچه|در صورت\w*|در صورتي ?كه)\b",
        r"\b(?:منابع|اسناد|اطلاعات|مدارك|منبع) (?:ديگر\w*|بيشتر\w*|معتبر\w*|رسمي\w*|اضافي\w*|خارجي|تكميلي\w*)\b",
        rf"^(?:بر ?اساس|طبق|با توجه به|در|مطابق(?: با)?|از|به استناد|بر پايه) (?:\w+ ){{0,2}}?{_FA_SOURCES}(?: \w+){{0,3}}$",
        r"^(?:بنابراين|بنا ?بر ?اين|در نتيجه|پس|خلاصه|نتيجه|نتيجه ?گيري|به طور خلاصه|نكته|پاسخ|منابع|منبع|سلام|البته|متشكرم|همچنين|علاوه بر اين|در مورد سؤال شما|(?:خلاصه|نتيجه|جمع ?بندي|تحليل|يافته)\S*.{0,20})$",
    ),
    offers=r"ببينم|نگاه كنم|از دستم|كار ديگري|بگردم|پيدا كنم|(?:بيشتر (?:بدانيد|بگويم|توضيح)|اطلاعات بيشتري|چيز ديگري|كمكي|كمك كنم\W*\?|كمكتان)",
    asks=_words(
        r"(?:بگویید|بنویسید|مشخص کنید) (?:که )?(?:کدام|چه کسی)",
        r"^(?:لطفا )?(?:بگویید|بفرمایید|مشخص کنید|بنویسید) (?:که )?(?:كدام|چه كسی)",
        r"(?:منظورتان|منظورت|منظور شما|مد ?نظرتان|مد ?نظر شما|مدنظرتان|منظور(?:تان)? (?:كدام|چيست|كيست)|مقصودتان|مقصود شما|مي ?پرسيد|در نظر داريد|مي ?خواهيد بدانيد|سؤالتان درباره|سوالتان درباره|مورد نظرتان|مورد نظر شما|دنبال كدام|صحبت مي ?كنيد|مد ?نظر(?:تان)? (?:است|باشد|داريد)|كدام ?(?:شان|يك|ها)?(?:شان)? را (?:مي ?|بگ|در)\w*|را مي ?گوييد|(?:نام|اسم|سال|شهر|دهه)\S*.{0,25}(?:مي ?فرماييد|مي ?گوييد|مي ?دانيد|بگوييد|بنويسيد)|بايد بدانم|\bنفهميدم كدام|\bمتوجه نشدم كدام|\b\w{2,} ?تان (?:چيست|كدام|چند|كجا)\w*\W*\?|بستگي (?:دارد|به) .{0,10}(?:كدام|چه)|\bيا\b.{1,50}\?)",
        r"(?:لطفا|ممكن است|مي ?توانيد|مي ?شود|مي ?توانيد|خواهشمند).{0,60}?(?:مشخص|روشن|دقيق|بگوييد|توضيح ده|بفرماييد|معلوم كنيد|تعيين كنيد|روشن ?تر|ذكر كنيد|واضح|شفاف|نام ببريد)",
        r"^(?:درباره |در مورد |به |از )?(?:كدام|چه كسي|كدام ?يك)\b.{0,60}(?:شما|تان|ايد|ايد\b|داريد|مي ?خواهيد|هستيد|است\W*$)",
    ),
    declines=r"نمي ?توانم.{0,30}(?:كمك|ياري|همكاري|راهنمايي|مشاوره|دستورالعمل)|(?:كمك|همكاري|انجام اين كار|برآورده|مشاوره|راهنمايي).{0,25}نمي ?توانم|(?:در اين زمينه|در اين مورد) (?:كمك|كمكي) .{0,15}ن(?:مي|خواهم)",
    weak=r"^بند(?:هاي?)? ?(?:يك|دو|سه|چهار|پنج|\d)|^(?:و )?(?:در (?:آن|اين) ?ها|در يكي|يكي)\b|^(?:بعضي|برخي|همه|همگي)(?: از (?:آن|اين) ?ها)? |^(?:و )?(?:نخستين|نخست|اولي?|دومي?|دومين|سومي?|سومين|چهارمي?|پنجمي?|آخري|اين متن|آنها|آن ها|هر دو|بقيه|ديگري|باقي|يكي)(?: |$)",
    because=r"\b(?:به سبب|به دليل|به علت|چون|زيرا|چرا ?كه)\b",
    given=r"(?:فرستاديد|فرستادي|دادهايد|كه داديد|بارگذاري|در عكس|اين عكس|كه دارم|در اختيار|نزد من|گذاشتيد|ارسالي)|(?:نماگرفت|اسكرين|عكستان)|آنچه ميبينم|که (?:یافتم|دارم|پیدا کردم|به دستم)|آنچه (?:پیدا|یافت)",
    wants=r"(?:اگر|چنانچه|هر وقت)\b.{0,60}(?:بفرست|ارسال|بگذار|بارگذاري|پيوست|ضميمه|به اشتراك|بچسبان)|اضافه كنيد",
    negates=r"(?:\bن(?:ي?ست|دار|يامد|شد|كرد|گفت|مي|دا|بود|يافت|وشت|خورد|ه)\w*|مسكوت|خالي|بدون|بيآن|بي )",
    hence=r"^(?:پس|بنابراين|درنتيجه|در نتيجه|از اين ?رو|لذا)\b",
    there=r"در (?:آن|این)(?: ?ها)?\b|آنجا|میان(?:شان| آن)|هیچ ?(?:جا|یک)|جایی",
    lacks=r"خبری نیست|نیامده|نامی نیست|دیده نمی|پیدا (?:نشد|نیست)|جا افتاده|از قلم افتاده|بی ?پاسخ|بی ?جواب|یافت نشد|نیافتم|ندیدم|به چشم نمی|ذکر\S* نشده|مسکوت|هیچ ?کس .{0,20}نمی|یکسره گذشته|خیال ?بافی|در آن نیست|جزو این ?ها نیست|به چشم نمی|جای دیگر.{0,20}(?:جست|گشت|یافت)|(?:جست|گشت).{0,20}جای دیگر",
    figure=r"چند|\bكي\b|چقدر|چه (?:سالي|دمايي|ساعتي|زماني|روزي|تاريخي)|نقطه ?ي ذوب",
)

_YO_SOURCES = r"(?:ayolo\w*|apile ?k[oɔ]\w*|ak[oɔ]sile\w*|atejise\w*|nkan ti mo ni|iwe\w*|akosile\w*|orisun\w*|ayoka\w*|oro\b|ipo oro|ayika oro|esi\b|abajade\w*|apileko\w*|nkan ti a (?:fun|pese)|abala\w*|ipin\w*|apa\b|iwadii|ohun elo|akoonu|doku\w*|konteksti|akojo\w*|ako\w*|oju-?iwe|atejade|faili|awari|itokasi)"
_YO_INFO = r"(?:is[oe]funni|ifunni-?mo|alaye\w*|idahun\w*|iroyin|imo\b|nipa|ifitonileti|ibeere|esi|data|itokasi)"
_YO = Wording(
    sources=rf"\b{_YO_SOURCES}\b",
    nouns=_words(
        r"\b(?:ìwé|ìròyìn|àkójọ|àtẹ|létà|àkọsílẹ̀|ìkéde|orí ìwé)\b",
        rf"\b(?:{_YO_SOURCES}|{_YO_INFO}|ninu won)\b",
        r"\b(?:ikede|iroyin|leta|iforowero|itan igbesi aye|akoole)\b",
    ),
    statutes=r"\b(?:ofin|adehun|iwe ofin|bibeli|kurani|ase)\b",
    denies=_words(
        r"\b(?:ko|kii|ki i|awon ko|laisi)\b (?:\w+ ){0,3}?(?:so|daruko|ni\b|si\b|se alaye|salaye|fi\b|menu|menuba|pese|ba\b|ri\b|dahun|to\b|toka|le\b|han|mo\b|kan\b|fun|je\b|da\b|sapejuwe|soro|kun|pe\b|gbe\b|ka\b|ye\b|kowe|juwe|so\b|fun wa|se\b|ninu|daju|pato|wulo|dara|lo\b|mu\b|ko\b|jiroro)",
        r"\bdákẹ́\b",
    ),
    gap=_words(
        r"\bko si (?:ohunkohun|nnkan kan|nkankan) (?:nibi|ninu)\b",
        r"\b(?:ko|kosi)\b.{0,40}\bohun to te (?:mi|wa) lowo\b",
        r"^(?:sugbon |amo )?(?:won |iyen|eyi|a) ?ko (?:kari|han|si ninu|si nihin|menu|farahan|wa ninu|soro|fowo kan)\b",
        r"\b(?:ko|kosi)\b.{0,60}(?:ohun|eyi|iwe) ti (?:o|e|won|mo|a) (?:fi ranse|fun mi|fi sowo|gba|pese|fi sile)|(?:ohun|eyi|iwe) ti (?:o|e|won|mo|a) (?:fi ranse|fun mi|fi sowo|gba|pese|fi sile).{0,40}\b(?:ko|kosi)\b",
        r"\b(?:n|mi|emi|mo|a|awa|ng) (?:ko|o|kii|ki i) (?:\w+ )?(?:mo\b|le\b|ri\b|ni\b|daju|ri idahun|ni imo|ni idaniloju)|\b(?:nko|mio|n ko|mi o) (?:mo|le|ri|ni)\b|^(?:emi )?(?:ko|o) (?:da mi loju|ye mi)\b|\bko da mi loju\b|\b(?:emi )?ko mo\b|\bmi o mo\b|\bn ko ri\b|\bn ko le\b",
        rf"\b(?:ko si|kosi|ko ni|laisi|aisi|ko ri|aini|ko to|kii se|ko pese|ko fun|ko so)\b (?:[\w']+ ){{0,4}}?(?:{_YO_INFO}|{_YO_SOURCES})\b|\b(?:alaye|idahun|imo|iroyin|esi)\b.{{0,50}}?\b(?:ko si|kosi|ko to|ko wa|ko han|ko pe|ko ba|ko le|ko pese|ko daju|ko ye)\b",
        r"\bko (?:\w+ )?(?:daruko|menuba|menu ba|menu|so (?:ohunkohun|nnkan|nkan|nipa|iye|igba|eni|ojo|bi|ibi|odun|oruko|eyi|pe)|salaye|toka|sapejuwe|dahun|han gbangba|han\b|ye\b|ye wa|daju|yeni|seese|soro|se e|fi idi|se pato)",
        r"\b(?:a|won|enikeni|ko seni ti o) ko (?:tii |ti )?(?:mo|daruko|so|salaye|ri|fi|ko|menuba|le so|le mo)\b|\b(?:ko le|ko se e|ko see|o soro lati|ko seese lati|ko si bi) (?:\w+ )?(?:dahun|so|mo|ri|pinnu|fi|wa|da)\b|\bko (?:se|s)ee ?dahun\b",
        r"^(?:sugbon |amo )?(?:kii se|ki i se|ko si) (?:igba|eni|bi|ibi|nipa|iye|odun|oruko|ojo)\b",
        r"\b(?:nilo|beere fun|a nilo) (?:\w+ ){0,2}(?:alaye|iwe|orisun) (?:sii|si i|miiran|afikun)",
        r"\b(?:koja|jade kuro ninu) (?:\w+ )?(?:ayika|ipo|oro)",
        r"\b(?:airidi|aimo|ohun ijinle)\b",
    ),
    short=(
        r"(?:idahun: |idahun |ibeere |eyi )?(?:ko (?:ba (?:\w+ )?mu|baamu|ba a mu|yi ?e|ye|see? ?dahun|se e dahun|se dahun|seese(?: lati dahun)?|si (?:idahun|esi|alaye|ninu|nkan|imo|iroyin|data)(?: \w+){0,3}|si|ni idahun|kan(?: \w+){0,2}|je mo(?: \w+){0,2}|jemo(?: \w+){0,2}|le dahun|wa|to|mo|ni (?:itumo|ibatan|asopo|pelu|nnkan se|i se|ise)(?: \w+){0,3}|wulo|tan mo(?: \w+){0,2}|ba ibeere mu|ba koko mu|daruko|pe|tona)|kosi(?: idahun| alaye| esi)?(?: \w+){0,2}|(?:n|mi|emi) (?:ko|o) mo|nko mo|mi o mo|alaye ko (?:to|si|pe)|idahun ko si|aimo|laisi idahun|kii se (?:\w+ ?){1,3}|ki i se (?:\w+ ?){1,3}|a ko (?:mo|daruko|ri)(?: \w+){0,2}|ko seni to mo|n/?a|ko to alaye|ai(?:lidahun|nidahun|sidahun)|ko see dahun)"
    ),
    turns=r"(?:^|[,;.–—-] ?| )(?:sugbon|amo|sibesibe|sibe|botile(?: ?je)?(?: pe)?|bo tile je(?: pe)?|botileje pe|bi o tile je(?: pe)?|bi o ti le je(?: pe)?|bi o tile|biotilejepe|biotileje|bo ti le je(?: pe)?|bo tile|amo sa|nigba ti|ni ti|ni ida keji|afi)\b,?|;| – | — ",
    concedes=r"(?:botile(?: ?je)?(?: ?pe)?|bo tile je|botileje pe|bi o tile je|bi o ti le je|biotilejepe|bo ti le je|yato si)\b",
    topic=_words(
        _all(
            rf"^.{{0,50}}?\b(?:{_YO_SOURCES}|alaye|gbogbo awon iwe|nikan)\b",
            r"\b(?:soro|so (?:nipa|ti)|salaye|daruko|menuba|sapejuwe|nipa|jiroro|toka|fojusi|da lori|dojuko|pese|se apejuwe|juwe|dale|menu|fi han|akojo)\b",
        ),
        r"^(?:dipo bee|dipo)\b",
    ),
    about=r"\b(?:soro nipa|so\w* nipa|so(?:ro)? nipa|salaye|sapejuwe|menuba|jiroro|se apejuwe|ka (?:awon )?\w+ si|to (?:awon )?\w+ leseese|dalori|da lori)\b|\b(?:menu ?ba|soro lori|so nipa|ro?yin|toka si)\b",
    only=r"\b(?:nikan|kan soso|dipo|dipo bee|koko miiran|nkan miiran|ni pataki|o kan)\b",
    implies=r"\b(?:fi han pe|fihan pe|daba pe|jo pe|jo bi eni|toka si pe|mu ki a ro)\b",
    known=r"\b(?:gbogbo eniyan mo|gbogbo eniyan lo mo|a mo pe|imo gbogbogbo|o di mimo|ni gbogbogbo|lapapo|gbogbo aye mo|nigba gbogbo)\b|\b(?:gege bi mo (?:se|ti) mo|bi mo se mo|ninu imo mi|gege bi imo mi|ohun ti mo mo)\b|\bbi mo (?:se|ti) mo\b|\b(?:ni oye mi|oye mi ni pe)\b|\bohun ti (?:emi |mo )+mo\b|\bní gbogbogbòò\b|\bgẹ́gẹ́ bí mo (?:ṣe|ti) mọ̀",
    reports=r"^(?:gege bi|ni ibamu pelu)\b.{3,}|\b(?:gbogbo eniyan mo|a mo pe|imo gbogbogbo|o di mimo)\b(?!.{0,40}(?:iwe|orisun|akosile)\b(?: \w+){0,5}$)|\b(?:so|salaye|fihan|fi han|ni|jabo|toka|daruko|sapejuwe|tenumo) (?:\w+ )?pe\b",
    hedges=r"\b(?:boya|o seese|o dabi|o jo|o le je|a gbagbo|a ro pe|won ni|bi o ba se pe|o farahan|o see se|o ṣeeṣe|a gbo)\b",
    sorry=r"\b(?:ma binu|e ma binu|pele|jowo|gafara|o seni laanu|o se ni laanu|laanu|e jowo|ejowo|a tọrọ|e dariji|dariji|mo toro|e foriji|foriji)\b",
    aside=_words(
        r"^(?:ibeere (?:naa|yii|re)|o n beere|e n beere)\b",
        r"\b(?:le|maa) mo (?:\w+ )*(?:ju|sii|die)\b|\ble (?:ni|mo) (?:alaye|idahun)\b",
        r"^(?:fi|e fi|gbe|e gbe|mu|e mu) .{0,40}\b(?:ranse|sibi|wa|sile|si ibi)\b|^(?:maa|ma a|emi yoo)\b",
        r"\b(?:ran (?:o|yin|wa|eni) lowo|seranlowo|se iranwo)\b",
        r"\b(?:e jowo|jowo|ejowo|inu mi (?:yoo|a|maa) dun|inu mi dun|mo le|mo daba|mo gba|mo maa|maa ran|ran o lowo|ran yin lowo|e le|o le (?:wo|bi|kan|lo|se|wa|be|gbiyanju|fun|pese|beere|yewo)|gbiyanju|kan si|wo (?:iwe|orisun|oju)|lo si|beere|e kan si|e bi|e wo|e gbiyanju|e fun|e pese|ti o ba (?:ni|fe|le|fun|pese|se|je pe|nilo)|bi o ba (?:ni|fe|le|fun|pese|se|nilo)|ti e ba|bi e ba|tobaje|se o fe|se e fe|o dara lati|yoo dara|o ye ki|n le ran|mo setan|fi ranse|fun mi)\b",
        r"\b(?:emi|mi|mo|n)\b(?! (?:ro pe|gbagbo|lero))(?=.*\b(?:le|yoo|maa|lo|fe|nilo|ni|wa|ran)\b)",
        r"\b(?:orisun|iwe|alaye) (?:miiran|mii|sii|si i|afikun|osise|ti o gbagbo)\b",
        rf"^(?:gege bi|ni ibamu pelu|lati inu|ninu|da lori|nipa|pelu|gege bi ohun ti) (?:\w+ )?(?:awon )?{_YO_SOURCES}(?: \w+){{0,5}}$",
        r"^(?:nitorinaa|nitori naa|nitori bee|nitorina|ni akotan|akotan|ni soki|akiyesi|idahun|orisun|e nle|dajudaju|e seun|bakan naa|ni afikun)$",
    ),
    offers=r"\b(?:mo|ka|gbo|alaye) (?:\w+ )?(?:sii|si i)\b|\bnkan (?:miiran|mii)\b|\bran (?:o|yin) lowo\b|\b(?:se|nje) (?:ki|ki i|e fe ki|o fe ki) (?:n|mo)\b|\bkin\b|\bfe ki n\b",
    asks=_words(
        r"\bẹ (?:jọ̀wọ́ )?ẹ? ?sọ (?:fún mi )?èwo",
        r"^(?:ẹ )?(?:jọ̀wọ́ )?sọ (?:fún mi )?(?:èwo|ta|ìlú wo|ẹni)",
        r"\b(?:se mo le mo|mo fe mo|je ki n mo)\b",
        r"\b(?:o n so|e n so|n soro nipa|o n soro|e n soro|ni o tumo si|ni e tumo si|o tumo si|n beere|o n beere|e n beere|ni o ni lokan|ni e ni lokan|ni lokan|o fe mo|e fe mo|o n wa|e n wa|ti o wi|ti o n wi|ti e wi|n tumo|n toka si|ni o n|ni e n|ti o n|ti e n|o ni i lokan|e ni i lokan|e gba lero|o gba lero|gba lero|tọkasi|o n pe|e n pe|ero yin|ero re)\b(?=.*(?:\?|\bewo\b|\btani\b|\babi\b|\bki ni\b|\bkini\b))",
        r"\b(?:jowo|e jowo|ejowo|se o le|se e le|nje o le|nje e le|e le|o le|mo nilo)\b.{0,30}?\b(?:salaye|so (?:fun|eyi|iru|pato)|se alaye|tona|fi ?ye|yan|toka|daruko|je ki (?:n|mi) mo|se pato|so eyi|la ye|lalaye|so (?:eni|ibi|ilu|odun|ewo))\b",
        r"^(?:\w+ ){0,4}(?:wo|ewo|tani|ta)\b.{0,60}\b(?:o n|e n|o fe|e fe|lokan|ni e|ni o)\b",
    ),
    declines=r"\b(?:n|mi|emi|a) (?:ko|o) (?:le|ni le) (?:\w+ )?(?:ran|se iranlowo|ran o lowo|ran yin lowo|se eyi|fun (?:\w+ )?(?:ni )?(?:imoran|itosona))",
    negates=r"\b(?:ko|kosi|kii|ki i|laisi|lai|aisi)\b|\b(?:soro lati|aimo)\b|\b(?:kere|ku(?:ru)?|die) ju\b",
    me=r"\b(?:(?:mi|mo|emi) (?:o|ko)|mio|nko)\b",
    weak=r"^(?:akoko|akokɔ|ekeji|ikeji|eketa|iketa|ekerin|ikerin|ekarun|igbeyin|eyi to kehin|awon yooku|awon miiran|[a-h] ati [a-h])\b|\b(?:iba|ibaa|i ba ti|yoo)\b|\b(?:alaye|iye|iru) (?:bee|bayi)\b|\b(?:amoro|aba lasan|iro lasan)\b|^(?:onkowe|akowe|onkɔwe)\b|\bsaba\b.*\b(?:iroyin|iwe)\b|^(?:bi (?!mo)|idi ti|igba ti|eni ti|ibi ti) (?:\w+ ){1,8}?(?:se|fi)\b|\b(?:oju opo|ayelujara)\b|\bnikan\b|^(?:omiran|ikeyin)\b|^(?:iroyin|iwadii)\b",
    because=r"\b(?:nitori(?! ?(?:naa|bee|eyi))|nitoripe|tori|torii)\b|\b(?:enikeni|onimo\w*|awadi\w*|onitan|titi (?:di oni|doni|di isinsin)|iwale)\b",
    given=r"\b(?:ti (?:e|o) (?:fi ranse|fun mi|fi sowo|so po|gbe sori|pin)|ti mo ni l[oɔ]w[oɔ]|ninu aworan|aworan yii|eyi ti (?:e|o) fun)\b|\baworan yin\b|\bnikan ni mo ri\b|\btí (?:mo|a) (?:rí|ní|gbà)\b|\bàbájáde\b",
    wants=r"\b(?:ti|bi) (?:e|o) ba\b.{0,50}\b(?:ya|fi|so|gbe|le|fun|mu|pin)\b.{0,60}\b(?:maa|ma a|n o|un o|mo le|emi yoo|mo maa)\b|\bti e ba fi\b.{0,40}\branse\b",
    hence=r"^(?:nitori (?:naa|bee|eyi)|fun idi eyi|bayii)\b",
    there=r"\b(?:níbẹ̀|nínú (?:rẹ̀|wọn)|níbì kankan|lára (?:wọn|rẹ̀))\b",
    lacks=r"\bkò (?:sí|farahàn|jáde|hàn|ní ìdáhùn)\b|\bwọn (?:ò|kò) (?:mẹ́nu ba|sọ|dárúkọ)|\b(?:a|n|mi) (?:kò|ò) (?:rí|lè mọ̀)\b|\bfojú fò\b|\bẹnikẹ́ni kò (?:sọ|dárúkọ)|\bwọ́n fo\b|\bàròsọ\b|\bkò sí (?:nínú|lára)\b|\bwá\b.{0,30}\bníbòmíràn\b",
    figure=r"\b(?:melo|elo\b|nigba wo|igba wo|iwon|aago|odun wo|gun to|ojo wo|nje owo)",
)

_HI_SOURCES = r"(?:दस्तावे|स्रोत|स्त्रोत|संदर्भ|सन्दर्भ|(?<!\S)पाठ(?!शाल|क)|अनुच्छेद|परिच्छेद|परिणाम|नतीज|(?<!\S)लेख(?!क|न)|अंश(?! तक)|सामग्री|गद्यांश|उद्धरण|फ़?ाइल|पैराग्राफ|टेक्स्ट|प्रसंग|कॉन्टेक्स्ट|दिए गए|दी गई|प्रलेख|काग|पृष्ठ|अभिलेख|खोज|पन्न|टुकड़|रिकॉर्ड|रिपोर्ट|सन्दर्भ|(?<!\S)आलेख|डॉक्यूमेंट|पैसेज|संदर्भिका)"
_HI_INFO = r"(?:जानकारी|सूचना|उत्तर|जवाब|विवरण|ब्योर|ब्यौर|यहाँ|यहां|उल्लेख(?!नीय)|तथ्य|डेटा|आँकड़|आंकड़|संकेत|ज़?िक्र|वर्णन|ब्योरा|ब्यौरा|चर्चा|स्पष्टीकरण|कुछ|बात|हवाल|अता-?पता|शब्द|सुराग|आँकड|नाम तक|पता|पहचान|इशारा|दर्ज|गिनती)"
_HI_TEXTS = r"(?:दस्तावे|स्रोत|स्त्रोत|संदर्भ|सन्दर्भ|(?<!\S)पाठ(?!शाल|क)|अनुच्छेद|परिच्छेद|खोज परिणाम|परिणामों|लेख(?:ों)?(?= )|(?<!\S)आलेख|अंश(?! तक)|सामग्री|गद्यांश|उद्धरण|फ़?ाइलों|पैराग्राफ|टेक्स्ट|कॉन्टेक्स्ट|पन्नों|टुकड़)"
_HI_NOT = r"(?:नहीं|नही|(?:^| )न (?:तो|ही)|बिना|अभाव|कमी|अपर्याप्त|अनुपलब्ध|असमर्थ|मौन|चुप|ख़?ामोश|नदारद|ग़?ायब|अनुपस्थित|मुश्किल|कठिन|(?:^| )न (?=\S+ (?:है|हैं|गया|गई|सका|सकी)))"
_HI = Wording(
    sources=_HI_SOURCES,
    nouns=_words(
        r"रजिस्टर|अख़बार|अखबार|विज्ञप्ति|वेबसाइट|तालिका|ईमेल|चिट्ठी|सारांश|अभिलेख|समय-सारणी|शिलालेख|सूची|अध्याय|विज्ञापन|रिपोर्ट",
        rf"(?:{_HI_SOURCES}|{_HI_INFO}|प्रश्न|सवाल|इनमें|उनमें|इसमें|किसी में)",
        r"(?:पुस्तिका|पर्च|रिपोर्ट|साक्षात्कार|चिट्ठी|जीवनी|संस्मरण|लेबल|सूची|ख़बर|खबर)",
    ),
    statutes=r"(?:अधिनियम|क़?ानून|संधि|संविधान|अध्यादेश|आदेश|समझौत|बाइबिल|क़?ुरान|विधेयक|नियमावली|घोषणापत्र)",
    denies=_words(
        _all(
            _HI_NOT,
            r"(?:दिया|दी गई|दिए|देत|मिल|बता|उल्लेख|शामिल|मौजूद|उपलब्ध|उपस्थित|लिख|कह|चर्चा|वर्णन|स्पष्ट|निर्दिष्ट|पर्याप्त|संबंधित|सम्बंधित|प्रासंगिक|ज़?िक्र|समझा|जानकारी|नज़र|दिख|छू|छेड़|आत|आई|आया|पहुँच|पहुंच|पहचान|पकड़|उठा|पड़|किया गय|दर्ज|(?:है|हैं)(?=[ .,]*$)|तय)",
        ),
        r"मौन|चुप|ख़ामोश|खामोश",
    ),
    gap=_words(
        rf"^(?!.*(?:(?:^| )कि |के अनुसार|मुताबिक)).*?{_HI_TEXTS}\S*(?: \S+)?? (?:में|से|पर|के सहारे|के आधार पर|को देखकर)(?= )(?:(?! जो ).)*(?:नहीं|नही|ख़?ामोश|मौन|चुप|मुश्किल|कठिन|असंभव)(?: \S+){{0,4}}$",
        rf"^(?!.*(?:(?:^| )कि |के अनुसार|मुताबिक))(?:\S+ ){{0,4}}?{_HI_TEXTS}\S*(?! (?:के|की|का|ने|को|पढ़)).*(?:नहीं|नही|ख़?ामोश|मौन|चुप)(?: \S+){{0,3}}$",
        r"(?:^|[ ,])(?:किस|कब|कौन|कितन|क्यों(?!कि)|कैसे|कहाँ|कहां|क्या)\S{0,4} [^,]{0,80}?(?:,| यह| इस\S*| उस\S*| वह)[^,]{0,60}?(?:नहीं|नही)(?: \S+){0,3}\W*$",
        r"काम (?:के|की|का) (?:नहीं|नही)|काम (?:नहीं|नही) आ|(?:नहीं|नही) (?:देना|बताना|कहना|करना) चाह|(?:किसी|इनमें)[^,]{0,12} (?:वास्ता|संबंध|लेना-देना) (?:नहीं|नही)|(?:जवाब|उत्तर)\S* (?:नहीं|नही) (?:बनत|निकलत|दे)|अटकल|अंदाज़?ा (?:नहीं|नही)|(?:तय|निर्धारित|पता) (?:करना|कर पाना|लगाना|लगा पाना)[^,]{0,10}(?:मुश्किल|कठिन|संभव (?:नहीं|नही))|कहना (?:मुश्किल|कठिन|संभव (?:नहीं|नही))|एक शब्द (?:भी|तक) (?:नहीं|नही)|अता-?पता (?:नहीं|नही)",
        rf"{_HI_SOURCES}\S*(?: \S+)? में(?: \S+){{0,3}} (?:नहीं|नही)(?: है| हैं| था| थी| मिल\S*| दिख\S*|$)",
        r"(?:मुझे|हमें|मैं|मुझको)[^,]{0,40}(?:नहीं|नही)|(?:पता|मालूम|ज्ञात|स्पष्ट|साफ़?|निश्चित|तय|विदित) (?:नहीं|नही)|(?:नहीं|नही) (?:पता|मालूम|जानत|जान पा|बता सक|दे सक|कह सक|ढूँढ|ढूंढ|खोज|दिया जा सक|दे पा|बता पा|कहा जा सक|बताया जा सक|लगाया जा सक)|(?:निर्धारित|तय|पुष्टि|स्पष्ट|निश्चित|प्रदान|अनुमान|पहचान|निर्धारण) (?:नहीं|नही) (?:कर|किया जा|की जा|हो (?:पा|सक))|अज्ञात|अस्पष्ट|अनिश्चित|असमर्थ|(?:संभव|सम्भव|मुमकिन) (?:नहीं|नही)|असंभव|असम्भव",
        rf"(?:{_HI_INFO})[^,]{{0,60}}?(?:नहीं|नही|अपर्याप्त|अभाव|अनुपलब्ध|कमी)|(?:नहीं|नही|बिना|अपर्याप्त|पर्याप्त) [^,]{{0,12}}?(?:जानकारी|उल्लेख|ज़?िक्र|उत्तर|जवाब|विवरण)(?: (?:नहीं|नही|है|हैं|मिल))",
        r"(?:नहीं|नही) (?:बताय|बताई|बताए|बतात|बतला|कहा गय|दर्शाय|समझाय|समझात|दर्शात|है कि|हैं कि|उल्लिख|निर्दिष्ट|मिल पा(?:ई|या)|मिल सकी)|(?:उल्लिखित|निर्दिष्ट|वर्णित|दर्ज|बताय[ाी]|स्पष्ट|उल्लेखित|ज्ञात) (?:नहीं|नही)",
        r"^(?:लेकिन |पर |परंतु )?(?:यह |ये )?(?:नहीं|नही) (?:कि|बत)",
        r"(?:अपर्याप्त|पर्याप्त[^,]{0,20}(?:नहीं|नही)|(?:नहीं|नही)[^,]{0,10}पर्याप्त|काफ़?ी (?:नहीं|नही))",
        r"(?:अधिक|अतिरिक्त|और) (?:जानकारी|दस्तावे\S*|संदर्भ|स्रोत\S*)[^,]{0,20}(?:आवश्यक|ज़?रूरत|चाहिए)",
        r"(?:दायरे|सीमा) (?:से|के) बाहर|(?:मौन|चुप) (?:है|हैं)|से बाहर है|(?:कोई|दोनों)[^,]{0,12} कुछ (?:नहीं|नही) (?:कहत|बतात)",
    ),
    short=(
        r"(?:उत्तर: ?|जवाब: ?|प्रश्न |यह )?(?:अप्रासंगिक|असंबंधित|असम्बंधित|अज्ञात|प्रासंगिक (?:नहीं|नही)|संबंधित (?:नहीं|नही)|सम्बंधित (?:नहीं|नही)|अनुत्तरित|अनुत्तरणीय|उत्तर ?देने योग्य (?:नहीं|नही)|उत्तर योग्य (?:नहीं|नही)|(?:कोई )?(?:उत्तर|जवाब|जानकारी|सूचना|डेटा|परिणाम|संबंध|सम्बन्ध)(?: \S+){0,2} (?:नहीं|नही)(?: \S+){0,3}|(?:नहीं|नही) (?:पता|मालूम|मिला|मिली|बता सकते|बता सकता)|(?:पता|मालूम|ज्ञात|उपलब्ध|लागू|स्पष्ट|संभव|उल्लेखित|उल्लिखित) (?:नहीं|नही)|अपर्याप्त (?:जानकारी|सूचना|संदर्भ|डेटा)|(?:पर्याप्त )?जानकारी (?:अपर्याप्त|अनुपलब्ध|का अभाव)|अनुपलब्ध|कोई (?:उत्तर|जवाब) (?:नहीं|नही)|उत्तर (?:अज्ञात|उपलब्ध नहीं|असंभव|अनुपलब्ध)|उत्तर देना संभव (?:नहीं|नही)|लागू नहीं|बिना उत्तर|एन/?ए|n/?a|शून्य|निरुत्तर|असंगत|विषय से (?:बाहर|असंबंधित)|जवाब (?:देने लायक|देना संभव) (?:नहीं|नही)|उत्तर नहीं दिया जा सकता)(?: है| हैं)?"
    ),
    turns=r"(?:^|[,;.–—-] ?| )(?:लेकिन|परंतु|परन्तु|किंतु|किन्तु|हालाँकि|हालांकि|मगर|यद्यपि|जबकि|फिर भी|तथापि|बल्कि|तो भी|अलबत्ता|वैसे)(?= |,)|(?:,) ?पर(?= )|;| – | — ",
    concedes=r"(?:हालाँकि|हालांकि|यद्यपि|जबकि|भले ही)(?= |,)",
    topic=_words(
        _all(
            rf"^.{{0,50}}?(?:{_HI_SOURCES}|जानकारी|इनमें|उनमें|वे |ये |इसमें)",
            r"(?:बारे में|के विषय|पर (?:केंद्रित|चर्चा|आधारित|बात)|चर्चा|वर्णन|विवरण|उल्लेख|बताते|बताता|बताया|संबंधित|सम्बंधित|ज़?िक्र|सूची|जानकारी (?:है|देते|दी|मिलती)|समझा|तक सीमित|शामिल|प्रस्तुत|बात करत|बात की|गिना|दर्शा|दिए|देत|का है|की है|जुड़|सुनात|पर (?:है|हैं)(?: |$)|जीवनी|बतात|सिमट|टिक|घूमत|केंद्रित|इर्द-गिर्द)",
        ),
        r"^(?:इसके बजाय|इसकी बजाय)",
        r"का (?:वर्णन|उल्लेख|ज़िक्र|जिक्र|विवरण|ब्योरा|ब्यौरा|बयान) (?:है|हैं|मिलता|मिलती)",
    ),
    about=r"(?:वर्णन|चर्चा|के बारे में|बताया गया|बताता|बताते|उल्लेख|ज़?िक्र|सूची|से संबंधित|पर केंद्रित|विवरण|पर आधारित|गिना|की बात|आकर (?:रुक|थम|ख़?त्म)|तक (?:ही|सीमित)|जुड़[ेा]|सुनात|पर (?:है|हैं)|जीवनी|हाल बतात)",
    only=r"(?:केवल|सिर्फ|सिर्फ़|मात्र|बजाय|मुख्यतः|मुख्य रूप से|अन्य विषय|दूसरे विषय)",
    implies=rf"^(?!.*{_HI_TEXTS}).*(?:कहा|बताया|बोले|दावा किया) कि (?:उन|उस|वे|वह)|^(?!.*{_HI_TEXTS}).*(?:^| )कभी (?!.*(?:बताय|उल्लेख|ज़िक्र))|^{_HI_TEXTS}\S* (?:\S+ )??(?:के अनुसार|के मुताबिक)(?!.*(?:अज्ञात|ज्ञात|पता|स्पष्ट|साफ़|संभव|मुमकिन|उल्लेख|ज़िक्र|जानकारी|उत्तर|जवाब|बताय|सकत|सका|निर्धारित))|^(?!.*{_HI_TEXTS}).*(?:सबूत|साक्ष्य|प्रमाण)|^(?!.*{_HI_SOURCES}).*(?:आज (?:तक|भी)|अब तक|कोई नहीं जानता|किसी को नहीं पता|किसी को पता नहीं)|(?:लगता है कि|प्रतीत होता है कि|संकेत (?:देते|मिलत|देता)|इशारा (?:करते|करता)|अनुमान (?:होता|लगता) है कि|आभास)",
    known=r"(?:आम तौर पर|आमतौर पर|सर्वविदित|सामान्य ज्ञान|सामान्यतः|सामान्य रूप से|सब जानते|जहाँ तक (?:मुझे|मैं|मेरी)|जहां तक (?:मुझे|मैं|मेरी)|मेरी (?:अपनी )?जानकारी (?:में|के अनुसार|से)|मेरे ज्ञान|मेरी याद)",
    reports=r"(?:के अनुसार(?!.{0,4}$)|आम तौर पर ज्ञात|सर्वविदित|सामान्य ज्ञान|सामान्यतः|सामान्य रूप से ज्ञात|आमतौर पर)|(?:बताया गया है|कहा गया है|लिखा है|कहता है|कहते हैं|बताता है|बताते हैं|उल्लेख है|ज्ञात है|उल्लेख किया गया है|दर्ज है|बताती है) कि",
    hedges=r"(?:शायद|संभवतः|सम्भवतः|लगता है|प्रतीत|संभावना|कदाचित|माना जाता|हो सकता है|अनुमान|मानते हैं|कहा जाता है)",
    sorry=r"(?:क्षमा|माफ़?\S* ?(?:कर|चाह|कीज)|माफ|खेद|दुर्भाग्य|अफ़?सोस|दुर्भाग्यवश)",
    aside=_words(
        r"(?:मदद|सहायता) (?:कर सक|मिल सक|कर द|कर)|काम आ|उपयोगी|मददगार",
        r"(?:कृपया|मुझे (?:खुशी|ख़ुशी|प्रसन्नता)|खुशी होगी|ख़ुशी होगी|प्रसन्नता होगी|आप (?:चाहें|चाहते|किसी|मुझे|इसे|और|अन्य|इस|संबंधित|उनसे|उनकी)|सलाह|सुझाव|अनुशंसा|संपर्क करें|सम्पर्क करें|जाँच करें|जांच करें|देखें|खोजें|पूछें|बताएँ|बताएं|बताइए|साझा करें|सहायता कर|मदद कर|बेहतर होगा|उचित होगा|उपयोगी होगा|क्या आप चाहेंगे|परामर्श|भेजें|दीजिए|उपलब्ध कराएँ|उपलब्ध कराएं|उपलब्ध करा (?:दें|सकें)|दे सकें|दें तो|करें तो|देख लें|पूछ लें|भेज (?:दें|देते|दीजिए)|पढ़ लेते|भेजिए|जोड़ दें|जोड़ें|अपलोड|संलग्न कर|देख लूँगा|देख लूंगा|देख लेते|देखूँ|देखूं|खोजूँ|खोजूं|ढूँढूँ|ढूंढूं|खोज दूँ|ढूँढ दूँ|रहेगा|बता दूँगा|बता सकूँगा)",
        rf"(?:पढ़|देख|खंगाल|जाँच|जांच|छान|खोज|टटोल)\S*(?: (?:लिय|डाल|गय)\S*)?(?: हैं| है)?$|{_HI_SOURCES}.{{0,20}}(?:पढ़|देख|खंगाल|जाँच|जांच|छान|टटोल)\S*(?: (?:लिय|डाल|गय)\S*)?(?: हैं| है)?\W*$",
        r"^(?:आपका |यह )?(?:प्रश्न|सवाल)\S* .{0,40}(?:है|हैं|व्यापक|अस्पष्ट)\W*$",
        r"(?:^| )(?:मैं|मुझे|मेरे|मेरी|मेरा|हम|हमें)(?= )(?!.{0,12}(?:लगता|मानता|सोचता))",
        r"^(?:यदि|अगर)(?= )|धन्यवाद|शुक्रिया",
        r"(?:अन्य|आधिकारिक|अतिरिक्त|बाहरी|विश्वसनीय|दूसरे) (?:स्रोत|दस्तावे|जानकारी|सामग्री)",
        rf"^(?:\S+ ){{0,4}}?{_HI_SOURCES}\S*(?: \S+){{0,2}} (?:के अनुसार|के आधार पर|से)$",
        r"^(?:इसलिए|अतः|अत:|इस प्रकार|सारांश|निष्कर्ष|संक्षेप में|नोट|उत्तर|जवाब|स्रोत|नमस्ते|नमस्कार|बिल्कुल|धन्यवाद|साथ ही|इसके अलावा|अच्छा प्रश्न|(?:\S+ )?(?:का )?(?:सार|सारांश|विश्लेषण|परिणाम|निष्कर्ष|नतीजा))$",
    ),
    offers=r"(?:और (?:अधिक )?(?:जानना|जानकारी|पढ़|कुछ)|अधिक (?:जानना|जानकारी)|कुछ और|किसी और|(?:मदद|सहायता) कर(?!ने के|ने से))",
    asks=_words(
        r"(?:कौन-?सा|कौन-?सी|किस\S*|क्या)[^,.]{0,24}(?:बताएँ|बताएं|बताइए|लिखें)|(?:बताएँ|बताएं|बताइए) (?:कि )?(?:आप\S* )?.{0,16}(?:कौन|किस)",
        r"^(?:कृपया )?(?:बताइए|बताएँ|बताएं|बता दें) .{0,24}(?:कौन|किस)",
        r"(?:आपका (?:मतलब|आशय|तात्पर्य|अभिप्राय|इशारा)|आपका प्रश्न किस|आप किस|आप कौन|आप किन|किसके बारे में (?:पूछ|जानना|बात)|आप पूछ रह|जानना चाहते|जानना चाहती|जानना चाहेंगे|आप.{0,40}पूछ रहे|आप.{0,40}बात कर रहे|आशय किस|मतलब किस)",
        r"(?:कृपया|क्या आप|ज़?रा|मुझे).{0,60}?(?:स्पष्ट कर|स्पष्ट कीज|बताएँ कि|बताएं कि|बता सकते|बताइए कि|बताएँगे|बताएंगे|बताइएगा|बता पाएँगे|निर्दिष्ट|साफ़?़? कर|विशिष्ट|बताएँ|बताएं|बताइए|बता दें|बताइये).{0,40}",
        r"^(?:किस|कौन|किन|कौन-?सा|कौन-?सी|कौन-?से)(?= |-).{0,80}आप",
        r"(?:^| )या .{1,60}\?|(?:नाम|साल|वर्ष|शहर|जगह|देश|राज्य|दशक).{0,12}(?:बताएँगे|बताएंगे|बता दें|बताइए|बता सकते|लिख दें|जानना ज़?रूरी|पता हो)|(?:किस|कौन|कहाँ|कहां|कब)\S* .{1,60}\?$|आप(?:का|की|के|को|के पास)? .{1,40}(?:क्या|कौन|कितन|कहाँ|किस)[^?]{0,12}\?|समझ (?:नहीं|में).{0,12}(?:कौन|किस)|निर्भर (?:करता|है)",
        r"(?:कौन|किस)\S* .{0,40}(?:की बात|के बारे में|का मतलब).{0,30}\?",
    ),
    declines=r"(?:मदद|सहायता|सहयोग|सलाह|निर्देश).{0,25}(?:नहीं|नही) (?:कर|दे) (?:सक|पा)|(?:नीति|दिशानिर्देश|दिशा-निर्देश)\S* के (?:खिलाफ|ख़िलाफ़|विरुद्ध)|(?:मदद|सहायता) करने में असमर्थ",
    weak=r"^(?:एक में|कुछ में)|^(?:वे|ये|इनमें|उनमें|दोनों) |^(?:और )?(?:पहल[ाीे]|दूसर[ाीे]|तीसर[ाीे]|चौथ[ाीे]|पाँचव|पांचव|आख़?िरी|अंतिम|बाकी|बाक़ी|शेष|अन्य|एक में|एक )",
    because=r"(?:की वजह से|क्योंकि|के चलते)",
    given=r"(?:आपके दिए|आपकी दी|आपने (?:जो|दिए|दी|भेज)|भेजे? गए|भेजी|मेरे (?:सामने|पास)|तस्वीर में|फ़?ोटो में|संलग्न|चिपकाए|मुझे मिल)|(?:स्क्रीनशॉट)|मुझे (?:केवल|सिर्फ़|सिर्फ) .{0,30}दिख|मुझे (?:मिल[ेीा]|दी ग)|मेरे पास|जो परिणाम",
    wants=r"(?:भेज|चिपका|अपलोड कर|साझा कर|जोड़|संलग्न कर)(?: ?(?:भी )?द(?:ें|ीजिए|ेंगे|ेंगी|ो|े)|ें|िए|ेंगे|ेंगी)|जोड़ दें",
    negates=r"(?:नहीं|नही|न तो|ना |बिना)|(?:पहेली|रहस्य)",
    hence=r"^(?:इसलिए|अतः|लिहाज़ा|इस कारण|सो )",
    there=r"उसमें|उनमें|इसमें|इनमें|वहाँ|वहां|कहीं|उस में",
    lacks=r"छूट (?:ग|जात)|छोड़ दि|नाम तक नहीं|अनुत्तरित|बेजवाब|नहीं (?:मिल|आत|आय|दिख|दिय|दी |बताय)|नदारद|ग़ायब|गायब|ज़िक्र नहीं|उल्लेख नहीं|शामिल नहीं|किसी ने नहीं|लाँघ|मनगढ़ंत|नज़र नहीं|इनमें (?:शामिल )?नहीं|नहीं दी ग|कहीं और (?:खोज|ढूँढ|ढूंढ|तलाश)",
    figure=r"कितन|कब\b|कब |किस (?:साल|वर्ष|तापमान|तारीख)|कितने बजे|दाम|गलनांक",
)

_BN_SOURCES = r"(?:নথি|দলিল|উৎস(?![বর])|উত্স|প্রসঙ্গ|পাঠ্য|অনুচ্ছেদ|ফলাফল|নিবন্ধ|অংশ|উপাদান|লেখা|প্রবন্ধ|সূত্র|কনটেক্সট|কন্টেক্সট|ডকুমেন্ট|টেক্সট|উদ্ধৃতি|প্রদত্ত|পৃষ্ঠা|ফাইল|প্যাসেজ|বিষয়বস্তু|কাগজ|তথ্যসূত্র|প্রেক্ষাপট|রচনা|পাতা(?=[গয়টর])|টুকরো|উপকরণ|হাতে থাকা (?:নথি|উৎস|উপকরণ|লেখা)|আর্কাইভ)"
_BN_INFO = r"(?:তথ্য|উত্তর(?!াধিকার)|জবাব|উল্লেখ(?!যোগ্য)|বিবরণ|খুঁটিনাটি|এখানে|ইঙ্গিত|ব্যাখ্যা|উপাত্ত|বর্ণনা|আলোচনা|হদিস|ডেটা|বিস্তারিত|নির্দেশ|সূত্র|চিহ্ন|শব্দ|প্রসঙ্গ|কিছু|পরিচয়|বিষয়টি|খোঁজ)"
_BN_TEXTS = r"(?:নথি|দলিল|উৎস(?![বর])|উত্স|প্রসঙ্গ|পাঠ্য|অনুচ্ছেদ|ফলাফল|নিবন্ধ|(?:প্রদত্ত|প্রাপ্ত|উদ্ধৃত|এই|চারটি|কোনো) অংশ|উপাদান|উপকরণ|লেখা|প্রবন্ধ|সূত্র|কন?টেক্সট|কন্টেক্সট|ডকুমেন্ট|টেক্সট|উদ্ধৃতি|পাতা|টুকরো|ফাইল|প্যাসেজ|প্রেক্ষাপট)"
_BN_NOT = r"(?:নেই|নাই|(?:^|[ ,])না(?=[ .,!;]|$)|(?<!তি)নি(?=[ .,!;]|$)|নয়|ছাড়া|অভাব|অপর্যাপ্ত|অক্ষম|যায় না|নীরব|অনুপস্থিত|অসম্ভব|পারছি না|ব্যর্থ|কঠিন|মুশকিল|এড়িয়ে|ঘাটতি|চুপ|নিশ্চুপ|গেল না|(?:য়|ে|েন|েনি|ি)না(?=[ .,!;]|$))"
_BN = Wording(
    sources=_BN_SOURCES,
    nouns=_words(
        r"নিবন্ধ|খাতা|সংবাদপত্র|বিজ্ঞপ্তি|ওয়েবসাইট|সারণি|ইমেইল|চিঠি|সারাংশ|আর্কাইভ|সময়সূচি|শিলালিপি|তালিকা|অধ্যায়|বিজ্ঞাপন|প্রতিবেদন",
        rf"(?:{_BN_SOURCES}|{_BN_INFO}|প্রশ্ন|এগুলো|সেগুলো|এতে|তাতে|কোনোটি|কোনটি)",
        r"(?:নির্দেশিকা|পুস্তিকা|লিফলেট|প্রতিবেদন|সাক্ষাৎকার|চিঠি|জীবনী|স্মৃতিকথা|লেবেল|তালিকা|বিজ্ঞপ্তি)",
    ),
    statutes=r"(?:আইন|চুক্তি|সংবিধান|অধ্যাদেশ|বিধি|সনদ|বাইবেল|কুরআন|কোরআন|নীতিমালা)",
    denies=_words(
        _all(
            _BN_NOT,
            r"(?:উল্লেখ|বলা|বলে|দেওয়া|দেয়|পাওয়া|পাই|জানা|স্পষ্ট|যথেষ্ট|পর্যাপ্ত|সম্পর্কিত|প্রাসঙ্গিক|লেখা|বর্ণনা|ব্যাখ্যা|আলোচনা|উপস্থিত|অন্তর্ভুক্ত|করা|করে|সম্ভব|মেলে|মিল|জানায়|ধারণ|সংক্রান্ত|পারছি|পারি|যায়|তথ্য|আসে|ছোঁয়|চোখে|পড়|ধার|এড়িয়ে|গেল|পৌঁছ|মাড়ায়|কথা|চিহ্ন|শব্দ|বের করা|সম্পর্ক|তাকায়|স্পর্শ|পড়ে|ঘাটতি|অন্তর্ভুক্ত|প্রদান|উপলব্ধ)",
        ),
        r"নীরব|চুপ",
    ),
    gap=_words(
        rf"^(?!.*(?:(?:^| )যে |অনুযায়ী|অনুসারে|মতে ))(?:\S+ ){{0,8}}?{_BN_TEXTS}(?:\S*(?:তে|য়|ে|গুলো|গুলি|টি|টিও|ই)|\S* (?:মধ্যে|থেকে|দেখে|পড়ে|ভিত্তিতে|কোথাও|ভিতরে))(?= )(?!.*(?:হলেও|থাকলেও|নেই,|না,|নি,)).*(?:নেই|নাই|না|নি|নয়|নীরব|চুপ|নিশ্চুপ|কঠিন|মুশকিল|অসম্ভব|অনুপস্থিত|গেছে)(?= ?$)",
        r"(?:^|[ ,])(?:কে|কবে|কখন|কত|কোন|কেন|কীভাবে|কোথায়|কী|কার)\S{0,3}(?= )[^,]{0,80}?(?:,| তা| সেটা| সে \S+)[^,]{0,60}?(?:না|নেই|নি|নয়)\W*$",
        r"খুঁজে পেলাম না|পেলাম না|পাইনি|(?:জবাব|উত্তর)\S* (?:দেওয়া গেল না|পৌঁছ\S* পারলাম না|মেলে না|মিলছে না)|(?:ঠিক করা|বলা|নির্ধারণ করা|বোঝা|জানা) (?:কঠিন|মুশকিল|অসম্ভব)|অনুমান (?:করতে চাই না|করব না|করছি না)|একটি শব্দও নেই|কথা(?:ও)? (?:নেই|অনুপস্থিত)|এড়িয়ে গেছে",
        rf"{_BN_SOURCES}\S*(?: মধ্যে| কোথাও| ভিতরে)?(?: \S+){{0,2}} (?:নেই|নাই)(?=[ .,!;]|$)",
        r"(?:আমি|আমার|আমাদের)[^,]{0,60}(?:না(?=[ .,!;]|$)|নেই|নই|(?<!তি)নি(?=[ .,!;]|$)|অক্ষম)|জানি ?না|জানা (?:নেই|নাই|যায় ?না|যায়নি|যাচ্ছে না|সম্ভব নয়)|অজানা|অজ্ঞাত|অস্পষ্ট|অনিশ্চিত|নিশ্চিত (?:নই|নয়|না)|স্পষ্ট (?:নয়|না|নেই|করা হয়নি)|(?:সম্ভব|পরিষ্কার) (?:নয়|না|হচ্ছে না|হয়নি)|অসম্ভব",
        rf"(?:{_BN_INFO})[^,]{{0,60}}?(?:নেই|নাই|নয়|পাওয়া যায় ?না|যায়নি|হয়নি|দেয় ?না|দেয়নি|করে ?না|করেনি|পাইনি|পাচ্ছি না|যাচ্ছে না|মেলেনি|মেলে না|অপর্যাপ্ত|অনুপস্থিত|অভাব|পারছি না|যাবে না|পারি না|পারব না|থাকে না|ছিল না|করা হয় ?নি|নাই)",
        r"(?:উল্লেখ|উল্লিখিত|উল্লেখিত|বলা|বর্ণনা|বর্ণিত|ব্যাখ্যা|আলোচনা|আলোচিত|লেখা|নির্দিষ্ট|জানানো|স্পষ্ট|নির্ধারণ|নির্ণয়|শনাক্ত|জানা|খুঁজে)\S*(?: \S+){0,3}? ?(?:নেই|হয় ?নি|কর(?:ে|েন)? ?নি|করেন না|নয়|করে না|যায় ?না|যায় ?নি|পাইনি|হয় না|নাই|দেয় না|দেয়নি|যাচ্ছে না|সম্ভব নয়|সম্ভব না|পারছি না|পারি না|পারলাম না|পারিনি|থাকে না|ছিল না)",
        r"(?:বলে ?না|বলেনি|জানায় ?না|জানায়নি|বলা নেই|লেখা নেই|মেলে না|মেলেনি)(?=[ .,!;]|$)",
        r"^(?:কিন্তু |তবে )?(?:কখন|কে|কীভাবে|কোথায়|কেন|কত)\S* (?:তা )?(?:নয়|না|নেই)$",
        r"কোনোটি\S* কিছু (?:জানায়|বলে) না|(?:দিতে|বলতে|করতে) চাই না|কোনোটি\S* (?:কোনো )?সম্পর্ক নেই|তথ্য\S* ঘাটতি|হদিস মেলে|(?:অপর্যাপ্ত|যথেষ্ট নয়|পর্যাপ্ত নয়|যথেষ্ট না)(?! (?:মনে কর|বলে))",
        r"(?:আরও|আরো|অতিরিক্ত|বাড়তি) (?:তথ্য|নথি|উৎস|প্রসঙ্গ)\S*[^,]{0,12}(?:প্রয়োজন|দরকার|লাগবে)",
        r"(?:আওতা|পরিধি|সীমা)\S* (?:বাইরে|বহির্ভূত)|নীরব",
    ),
    short=(
        r"(?:উত্তর: ?|জবাব: ?|প্রশ্নটি |এটি )?(?:অপ্রাসঙ্গিক|প্রাসঙ্গিক (?:নয়|না)|সম্পর্কিত (?:নয়|না)|সম্পর্কহীন|অসম্পর্কিত|উত্তরযোগ্য (?:নয়|না)|উত্তর ?(?:দেওয়ার|দেবার) যোগ্য (?:নয়|না)|উত্তর(?:টি|টা)? (?:নেই|নাই|অজানা|পাওয়া যায়নি|পাওয়া যায় না|জানা নেই|সম্ভব নয়|দেওয়া সম্ভব নয়|দেওয়া যায় না|দেওয়া যাবে না|মেলেনি)|কোনো? (?:উত্তর|তথ্য|জবাব|সম্পর্ক|ফলাফল|ডেটা|মিল)\S*(?: \S+){0,2}|জানা (?:নেই|নাই|যায়নি|যায় না)|অজানা|অজ্ঞাত|তথ্য (?:নেই|অপর্যাপ্ত|পাওয়া যায়নি|অপ্রতুল|যথেষ্ট নয়)|যথেষ্ট তথ্য (?:নেই|নাই)|পর্যাপ্ত তথ্য (?:নেই|নাই)|অপর্যাপ্ত (?:তথ্য|প্রসঙ্গ)|উল্লেখ (?:নেই|নাই|করা হয়নি)|উল্লিখিত নয়|প্রযোজ্য (?:নয়|না)|উপলব্ধ (?:নয়|না)|জানি না|নিরুত্তর|উত্তরহীন|পাওয়া যায়নি|প্রশ্নের সঙ্গে (?:সম্পর্কিত|প্রাসঙ্গিক) নয়|উত্তর দেওয়া (?:সম্ভব নয়|যাচ্ছে না|যায় না)|বলা (?:নেই|যায় না|সম্ভব নয়)|n/?a)|অনুপস্থিত|উল্লেখ নেই|অনুল্লিখিত|দেওয়া নেই"
    ),
    turns=r"(?<=লেও)[ ,]+|(?:(?<=েন)|(?<=নি)|(?<=ছে)|(?<=ছিল)), (?=\S+ \S+)|(?<=সত্ত্বেও)[ ,]+|(?:^|[,;.–—-] ?| )(?:কিন্তু|তবে|যদিও|অথচ|তবুও|তা সত্ত্বেও|বরং|তা হলেও|অবশ্য)(?= |,)|;| – | — ",
    concedes=r"(?:যদিও|সত্ত্বেও)(?= |,)",
    topic=_words(
        _all(
            rf"^.{{0,50}}?(?:{_BN_SOURCES}|তথ্য|এগুলো|সেগুলো|এতে|সব|শুধু|কেবল)",
            r"(?:নিয়ে|সম্পর্কে|বিষয়ে|সংক্রান্ত|আলোচনা|বর্ণনা|উল্লেখ|বিবরণ|কথা (?:আছে|বলে|বলা)|তালিকা|ব্যাখ্যা|কথা থাক|তুলে ধর|সীমাবদ্ধ|কেন্দ্র|গল্প|কাহিনি|জীবন|নিয়েই|জুড়ে|দেয়|দিয়েছে|রয়েছে|আছে|জানায়|প্রসঙ্গে)",
        ),
        r"^(?:এর বদলে|এর পরিবর্তে)",
    ),
    about=r"(?:বর্ণনা|আলোচনা|সম্পর্কে|উল্লেখ|তালিকা|নিয়ে|বিষয়ে|কথা|বিবরণ|প্রসঙ্গে|এসে (?:থেমে|শেষ)|পর্যন্ত (?:এসে|বলে))",
    only=r"(?:শুধু|কেবল|শুধুমাত্র|কেবলমাত্র|মূলত|বদলে|পরিবর্তে|অন্য বিষয়|প্রধানত|টুকু)",
    implies=rf"^(?!.*{_BN_TEXTS}).*(?:কখনো|কখনও|কোনোদিন)(?= )(?!.*(?:উল্লেখ|বলা))|^{_BN_TEXTS}\S* (?:\S+ )??(?:অনুযায়ী|অনুসারে|মতে)(?!.*(?:অজানা|জানা|স্পষ্ট|সম্ভব|উল্লেখ|তথ্য|উত্তর|জবাব|বলা|যায়))|^(?!.*{_BN_TEXTS}).*(?:প্রমাণ|সাক্ষ্য)|^(?!.*{_BN_SOURCES}).*(?:আজও|আজ পর্যন্ত|এখনো পর্যন্ত|এখনও পর্যন্ত|কেউ জানে না|কেউই জানে না)|(?:মনে হয়|ইঙ্গিত (?:দেয়|করে|পাওয়া যায়)|আভাস|বোঝা যায়(?! না)|ধারণা (?:হয়|পাওয়া যায়))",
    known=r"(?:সাধারণভাবে|সাধারণ জ্ঞান|সাধারণত|সর্বজনবিদিত|সুবিদিত|সবাই জানে|যত ?দূর (?:আমি )?জানি|আমার জানা ?মতে|জানামতে|আমার জ্ঞান|নিজস্ব জ্ঞান)",
    reports=r"(?:অনুযায়ী(?!.{0,3}$)|অনুসারে(?!.{0,3}$)|সাধারণভাবে জানা|সাধারণ জ্ঞান|সাধারণত|সর্বজনবিদিত|সুবিদিত)|(?:বলা হয়েছে|বলে|বলছে|উল্লেখ আছে|উল্লেখ করা হয়েছে|লেখা আছে|জানায়|জানা যায়|জানা যায়,|দাবি করে) যে",
    hedges=r"(?:সম্ভবত|হয়তো|মনে হয়|ধারণা করা হয়|সম্ভাবনা|বোধহয়|অনুমান|মনে করা হয়|বলা হয় যে|হতে পারে)",
    sorry=r"(?:দুঃখিত|ক্ষমা|দুর্ভাগ্য|মাফ|দুঃখের)|মার্জনা",
    aside=_words(
        r"(?:সাহায্য|সহায়তা) (?:করতে পার|পাওয়া যেতে|মিলতে)|কাজে (?:লাগ|আস)|^চাইলে |(?:খুঁজতে|দেখতে|খুঁজে দেখতে) পারি|উপযোগী|উপকারী",
        r"(?:অনুগ্রহ|দয়া করে|খুশি হব|আনন্দিত হব|আনন্দের সঙ্গে|সানন্দে|খুশি মনে|আপনি (?:চাইলে|যদি|আরও|আরো|অন্য|কোনো|এ বিষয়ে|স্থানীয়)|আপনি.{0,40}(?:পারেন|দেখুন|করুন|দিলে|চাইলে|দিন)|পরামর্শ|সুপারিশ|যোগাযোগ করুন|যাচাই করুন|দেখুন|খুঁজুন|জিজ্ঞাসা করুন|জানান|শেয়ার কর|সাহায্য কর|সহায়তা কর|ভালো হবে|ভাল হবে|উচিত হবে|দেখতে পারেন|পাঠান|দিলে|পাঠালে|জানতে চান|দেখে নিন|জেনে নিন|দেখে (?:দেব|নেব|দিচ্ছি)|খুঁজব|খুঁজে (?:দেব|দেখব|দেখি)|যুক্ত করলে|আপলোড|ভালো হয়|দিতে পারেন|দিলেই|মিলিয়ে দেখ)",
        rf"{_BN_SOURCES}.{{0,24}}(?:পড়েছি|দেখেছি|দেখলাম|পড়লাম|খুঁজেছি|ঘেঁটেছি|ঘাঁটলাম|খুঁটিয়ে)\S*",
        r"^(?:আপনার )?প্রশ্ন\S* .{0,40}(?:নিয়ে|সম্পর্কে|বিষয়ে|ব্যাপক|অস্পষ্ট|সাধারণ|বড়|স্পষ্ট নয়)\W*$",
        r"(?:^| )(?:আমি|আমার|আমাকে|আমাদের)(?= )(?!.{0,12}(?:মনে হয়|মনে করি|ধারণা))",
        r"^(?:যদি|প্রয়োজনে)(?= )|ধন্যবাদ",
        r"(?:অন্য|অন্যান্য|সরকারি|অতিরিক্ত|নির্ভরযোগ্য|বাইরের) (?:উৎস|নথি|সূত্র|তথ্য)",
        rf"^(?:\S+ ){{0,3}}?{_BN_SOURCES}\S*(?: \S+){{0,2}} (?:অনুযায়ী|অনুসারে|ভিত্তিতে|থেকে)$",
        r"^(?:তাই|সুতরাং|অতএব|সারাংশ|সংক্ষেপে|উপসংহার|দ্রষ্টব্য|উত্তর|উৎস|নমস্কার|হ্যালো|অবশ্যই|ধন্যবাদ|এছাড়া|ভালো প্রশ্ন|\S{0,14} ?(?:সারাংশ|সারসংক্ষেপ|বিশ্লেষণ|ফলাফল|সিদ্ধান্ত))$",
    ),
    offers=r"(?:(?:আরও|আরো|বেশি) (?:কিছু )?(?:জানতে|তথ্য|পড়তে|বিস্তারিত)|অন্য কিছু|আর কিছু|সাহায্য (?:করতে পারি|করব|করি|লাগবে|দরকার)|অন্য (?:কোথাও|উৎস|নথি)|খুঁজ(?:ব|ে (?:দে|দি))|তার বদলে)",
    asks=_words(
        r"(?:জানান|বলুন|লিখুন) (?:কোন|কার|কী)",
        r"(?:কোনটি|কোনটা|কোন্‌?টি|কোন \S+|কার|কে)[^,.]{0,16}(?:জানান|জানাবেন|বলুন|বলে দিন)",
        r"(?:আপনি (?:কি|কোন|কাকে|কার|কী|ঠিক|কোনটি|কোনটির|কোথাকার)|বোঝাচ্ছেন|বুঝাচ্ছেন|বোঝাতে চা|বলতে চাইছেন|বলতে চাচ্ছেন|জানতে চাইছেন|জানতে চাচ্ছেন|জিজ্ঞাসা করছেন|জিজ্ঞেস করছেন|কথা বলছেন|কার কথা|কোনটির কথা|কোন .{0,30}কথা|জানতে চান .{0,20}\?)",
        r"(?:অনুগ্রহ|দয়া করে|আপনি কি|একটু|আমাকে).{0,50}?(?:স্পষ্ট কর|নির্দিষ্ট কর|বলবেন|জানাবেন|জানান|বলুন|পরিষ্কার কর|উল্লেখ কর|নির্দিষ্ট করে|খুলে|জানাতে পারেন|বলতে পারেন)",
        r"^(?:কোন|কার|কাকে|কে)(?= ).{0,80}(?:আপনি|চান|বলছেন|করছেন)",
        r"(?:, | )(?:না|নাকি|কিংবা|অথবা|না কি) .{1,60}\?|(?:নাম|সাল|বছর|শহর|জায়গা|দেশ|দশক)\S*.{0,14}(?:বলবেন|জানাবেন|লিখবেন|দেবেন|জানা আছে)|(?:কোন|কোথা|কার|কবে)\S* .{1,60}\?$|জানতে (?:চাই|হবে)[,:]? .{0,40}(?:কোন|কার|কোথা|কবে)|আপনার .{1,40}(?:কী|কি|কোন\S*|কত)\W*\?|কোন.{1,24}বুঝ(?:লাম|তে পার)|নির্ভর কর(?:ছে|ে) .{0,20}কোন",
        r"(?:স্পষ্ট|নির্দিষ্ট) (?:করে )?(?:বলুন|জানান|করুন|করবেন)",
    ),
    declines=r"(?:সাহায্য|সহায়তা|পরামর্শ|নির্দেশনা|নির্দেশ)\S*[^,]{0,20}(?:পারব না|পারি না|পারছি না|সম্ভব নয়|পারবো না)|(?:নীতি|নির্দেশিকা)\S* (?:বিরুদ্ধে|বিরোধী|পরিপন্থী)",
    weak=r"^(?:একটিতে|কয়েকটি)|^(?:এগুলো|সেগুলো|ওগুলো|দুটি)|^(?:আর |এবং )?(?:প্রথম|দ্বিতীয়|তৃতীয়|চতুর্থ|পঞ্চম|শেষ|বাকি|অন্য|একটি|আরেকটি)",
    because=r"(?:ের কারণে|যেহেতু|কেননা)",
    given=r"(?:আপনার দেওয়া|আপনি (?:যে|যা)[^,]{0,20}(?:দি|পাঠি)|পাঠিয়েছেন|জুড়ে দেওয়া|সংযুক্ত|লিফলেটে|আমার (?:কাছে|সামনে)|হাতে যা)|(?:স্ক্রিনশট)|আমি শুধু .{0,20}দেখ|(?:যে|যা) [^,.]{0,24}?(?:পেয়েছি|পেলাম|এসেছে)|আমার (?:কাছে|হাতে)",
    wants=r"(?:পাঠালে|পাঠিয়ে দি(?:লে|ন)|আপলোড কর(?:লে|ুন)|জুড়ে দি(?:লে|ন)|পেস্ট কর(?:লে|ুন)|শেয়ার কর(?:লে|ুন)|তুলে দিলে|বাকিটা দিলে)|যোগ করলে",
    negates=r"(?:নেই|অনুপস্থিত|(?:েন|য়|ে|া|স|\s)নি(?=[ ,.]|$)|(?<=\s)না(?=[ ,.]|$)|নয়)",
    hence=r"^(?:তাই|অতএব|সুতরাং|কাজেই|ফলে)",
    there=r"তাতে|সেখানে|এতে|তার মধ্যে|এগুলি(?:তে|র মধ্যে)|কোথাও|সেগুলিতে",
    lacks=r"বাদ (?:পড়|গেছে|থেক)|উত্তরহীন|অনুত্তরিত|(?:নাম|উল্লেখ|কথা)[^,.]{0,12}(?:নেই|আসেনি|পাইনি|মেলে না|মেলেনি)|পেলাম না|পাইনি|মেলেনি|মেলে না|অনুপস্থিত|নীরব|দেখা যায়? ?ন|আসেনি|কেউ .{0,20}(?:দেয়ন|বলেন|জানায়ন)|এড়িয়ে|মনগড়া|চোখে পড়ে না|দেওয়া নেই|মধ্যে নেই|অন্য (?:কোথাও|জায়গায়) (?:খুঁজ|দেখ)",
    figure=r"কত|কবে|কখন|কোন সালে|কয়|গলনাঙ্ক",
)

_TE_SOURCES = r"(?:పత్రా|పత్రం|డాక్యుమెంట్|మూలా|మూలం|సందర్భ|పాఠ్య|పాఠం|పేరా|ఫలితా|వ్యాస|భాగా|గ్రంథ|విషయం|అందించిన|ఇచ్చిన|ఆధారా|వచన|వాక్య|టెక్స్ట్|కాంటెక్స్ట్|ఫైల్|ఫైళ్|ఫైలు|పుటల|పేజీ|పాసేజ్|సోర్స్|సమాచార వన|దస్తావే|దస్త్ర|ముక్క|సామగ్రి|కథనా|కథనం|రికార్డు|నా ముందున్న|అంశా|శోధన)"
_TE_TEXTS = r"(?:పత్రా|పత్రం|పత్రమూ|డాక్యుమెంట్|మూలా|మూలం|సందర్భ|పాఠ్య|పేరా|ఫలితా|వ్యాసా|వ్యాసం|భాగాల|వచన|టెక్స్ట్|కాంటెక్స్ట్|ఫైల్|ఫైళ్|ఫైలు|పుటల|పేజీ|పాసేజ్|సోర్స్|దస్త్ర|ముక్క|సామగ్రి|కథనా|సమాచారం)"
_TE_NEG = r"(?:లేదు|లేవు|లేరు|లేను|లేము|లేం|కాదు|కావు|రాదు|పోదు|(?:ద|వ|ల|య|చ|డ|న|గ|ప|త|క|స్త|ట్ట)(?:దు|వు|లేదు|లేము|లేం|లేను)|\S(?:లేం|లేము|లేను|లేదు)|కష్టం|అసాధ్యం|మౌనం\S*(?: ఉన్నా\S+| ఉంది)?)(?=[ .,!;]*$)"
_TE_INFO = r"(?:సమాచారం|సమాచార|సమాధానం|సమాధాన|జవాబు|వివరా|వివరణ|ప్రస్తావన|సూచన|డేటా|ఏమీ(?= (?:చెప్ప|లే))|ఉల్లేఖ|వివరం|వివర|దాఖలా|జాడ|ఊసు|ఊసే|మాట|ఆచూకీ|స్పష్టత|ఇక్కడ|వేటిలో|ఆ అంశ|ఈ అంశ|ఈ విషయ)"
_TE_NOT = r"(?:లేదు|లేవు|లేరు|లేను|లేము|లేక|లేని|కాదు|కావు|లేకపో|[క-హ]దు(?=[ .,!;]|$)|(?:[క-రళ-హ]|(?<!క)(?<!గ)(?<!సె)(?<!నె)ల)వు(?=[ .,!;]|$)|సరిపో(?:దు|వు)|కుండా|అసాధ్య|కొరవడ|(?:రా|పో|లే)దు(?=[ .,!;]|$)|ఇష్టం లేదు|కష్టం|మౌన|లేం(?=[ .,!;]|$)|నందున|వీలు ?కా|కుదర(?:దు|లేదు)|తెలియ(?:దు|లేదు|రాలేదు)|దొరక|లభించ|చెప్పలే|తెలీ)"
_TE = Wording(
    sources=_TE_SOURCES,
    nouns=_words(
        r"రిజిస్టర్|పత్రిక|ప్రకటన|వెబ్‌?సైట్|పట్టిక|ఈమెయిల్|ఉత్తరం|సారాంశం|శాసనం|జాబితా|అధ్యాయం|నివేదిక|కరపత్రం",
        rf"(?:{_TE_SOURCES}|{_TE_INFO}|ప్రశ్న|వాటిలో|వీటిలో|ఇందులో|అందులో|ఏదీ|ఏ ఒక్క|ఎక్కడా)",
        r"(?:కరపత్ర|నివేదిక|ఇంటర్వ్యూ|లేఖ|జీవిత ?చరిత్ర|జ్ఞాపకాల|లేబుల్|జాబితా|ప్రకటన|పట్టిక)",
        r"శాసనం|స్థలపురాణం",
    ),
    statutes=r"(?:చట్టం|చట్ట|ఒప్పందం|రాజ్యాంగం|ఆర్డినెన్స్|శాసనం|బైబిల్|ఖురాన్|నిబంధన)",
    denies=_words(
        _all(
            _TE_NOT,
            r"(?:ఉంద|ఉన్న|లేదు|లేవు|చెప్ప|పేర్కొన|ప్రస్తావ|ఇవ్వ|అందించ|వివరించ|తెల|దొర|లభ|కనిపించ|స్పష్ట|సంబంధ|సరిపో|చర్చించ|పొందుపర|సూచించ|నిర్ధారించ|గుర్తించ|కనుగొన|సమాధాన|రాయ|వ్రాయ|నమోద|తెలప|తెలుప|వెల్లడ|కలిగి|ప్రస్తావన|కనబడ|కనపడ|కాదు|మాట్లాడ|తాక|ఎత్త|రావ|రాలే|రాన|తేల్చ|దొరక|పట్టించు|వీలు|కుదర|కొరవడ|సంబంధ|జోలి|చూడ|రాదు|సాయప|నిర్ణయ|ఊహ|తెలుసుకో)",
        ),
        r"మౌనం",
    ),
    gap=_words(
        rf"^(?!.*(?:ప్రకారం|(?:లేదు|దని|వని|రని|కాద)ని? ))(?:\S+ ){{0,8}}?{_TE_TEXTS}(?!\S*(?:కు|కి|ని|ను) )(?:\S*|\S* (?:ఆధారంగా|నుంచి|నుండి|ద్వారా|చూసి|చదివి))(?= )(?!.*(?:లేకపోయినా|కున్నా|పోయినా)).*{_TE_NEG}",
        rf"(?:ఎవ(?:రు|రో|రి)|ఎప్పు|ఎంత|ఎక్కడ|ఎందుకు|ఎలా|ఏ(?= )|ఏమి|ఎన్ని|ఏది|ఏదో)[^,]{{0,80}}?(?:ో|ా|ే|ి) [^,]{{0,60}}?{_TE_NEG}",
        r"(?:సమాధానం|జవాబు)\S* ?(?:చేరుకోలేక|చేరలేక|ఇవ్వలే|దొరకలే|కుదర)|జవాబివ్వలే|సమాధానమివ్వలే|చెప్పడం నాకు ఇష్టం లేదు|(?:పనికి|ఉపయోగపడ)(?:రా)?(?:వు|దు)|సమాచారం\S* కొరవడ|వేటికీ సంబంధం లేదు|(?:తేల్చ|తెలుసుకో|నిర్ణయించ|నిర్ధారించ|గుర్తించ|చెప్ప|ఇవ్వ)(?:లేం|లేము|లేను|డం (?:కష్టం|కుదరదు|వీలు ?కాదు|అసాధ్యం|సాధ్యం కాదు))|ఊహించ(?:ను|లేను|దలచుకోలేదు)",
        r"(?:నాకు|నేను|మాకు|నా వద్ద|నా దగ్గర)[^,]{0,60}(?:తెలియ|తెలీ|లేదు|లేను|లేవు|లేకపో|కాదు)|తెలియ(?:దు|లేదు|రాలేదు|డం లేదు|కపో)|తెలీదు|తెలియరా|అస్పష్ట|స్పష్టత లేదు|స్పష్టంగా (?:లేదు|తెలియ|చెప్పలేదు|పేర్కొనలేదు)|స్పష్టం కాదు|అజ్ఞాత|అసాధ్యం|సాధ్యం (?:కాదు|కాలేదు|కావడం లేదు|కావట్లేదు)|సాధ్యపడ(?:దు|లేదు|టం లేదు)|(?:చెప్ప|ఇవ్వ|నిర్ధారించ|గుర్తించ|కనుగొన|నిర్ణయించ|తెలుసుకో|అందించ)(?:లే(?:ను|ము|కపో|దు|రు|వు)|లేకపో)|తెలియని|అనిశ్చిత",
        rf"(?:{_TE_INFO})[^,]{{0,60}}?(?:లేదు|లేవు|దొరకలేదు|దొరకదు|లభించలేదు|లభించదు|ఇవ్వలేదు|ఇవ్వదు|ఇవ్వవు|కనిపించలేదు|కనిపించదు|ఇవ్వబడలేదు|అందించలేదు|అందించదు|అందించవు|సరిపోదు|సరిపోవు|సరిపోలేదు|లేకపోవ|చేయలేదు|చేయవు|చేయదు|రాలేదు|కాదు|చాలదు|చాలవు|కనబడలేదు|కనుగొనలే|లేని)",
        r"(?:పేర్కొన|ప్రస్తావించ|చెప్ప|వివరించ|వెల్లడించ|తెలుప|తెలియజేయ|సూచించ|చర్చించ|నమోదు చేయ|పొందుపర(?:చ|చబడ)|ప్రస్తావన|స్పష్టం చేయ|ఉల్లేఖించ|తెలపబడ|పేర్కొనబడ|చెప్పబడ|ప్రస్తావించబడ|ఇవ్వబడ|వివరించబడ|లభ్యం కా|ఏమీ చెప్ప)(?:లేదు|దు|వు|లేవు|డం లేదు|టం లేదు|లేదని)(?=[ .,!;]|$)",
        r"(?:సరిపో(?:దు|వు|లేదు)|సరిపడా[^,]{0,20}(?:లేదు|లేవు)|తగినంత[^,]{0,25}(?:లేదు|లేవు)|చాలదు|చాలవు)",
        r"(?:మరింత|మరిన్ని|అదనపు|ఇంకా) (?:సమాచారం|వివరాలు|పత్రాలు|మూలాలు|సందర్భం)[^,]{0,10}(?:అవసరం|కావాలి)",
        r"(?:పరిధి|సందర్భం)\S* (?:బయట|వెలుపల|దాటి)|మౌనం",
        r"^(?:కానీ )?(?:ఎప్పుడు|ఎవరు|ఎలా|ఎక్కడ|ఎందుకు|ఎంత)\S* (?:కాదు|లేదు)$",
        r"ఎ(?:వర|ప్పుడ|ంద|క్కడ|లా|ంత|న్న|న్ని)\S{0,8}ో.{0,60}(?:లేదు|లేవు|లేరు)",
        r"ఎవరో.{0,50}లేదు",
    ),
    short=(
        r"(?:సమాధానం: ?|జవాబు: ?|ప్రశ్న |ఇది )?(?:సంబంధం (?:లేదు|లేనిది|లేని\S*)|సంబంధించినది కాదు|సంబంధిత(?:ం|మైనది)? కాదు|సంబంధిత(?:మైనది)? లేదు|అసంబద్ధ\S*|అసంబంధ\S*|అప్రస్తుత\S*|సందర్భోచితం కాదు|సమాధానం (?:లేదు|తెలియదు|దొరకలేదు|ఇవ్వలేము|ఇవ్వలేను|లభించలేదు|చెప్పలేము|అందుబాటులో లేదు|ఇవ్వడం సాధ్యం కాదు|సాధ్యం కాదు|లభ్యం కాదు)|జవాబు (?:లేదు|తెలియదు|దొరకలేదు|ఇవ్వలేము|చెప్పలేము)|సమాధానం (?:ఇవ్వ|చెప్ప)దగిన(?:ది)? కాదు|సమాధానం లేని (?:ప్రశ్న|\S+)|తెలియదు|తెలీదు|నాకు తెలియదు|సమాచారం (?:లేదు|దొరకలేదు|సరిపోదు|అందుబాటులో లేదు|చాలదు)|తగినంత సమాచారం లేదు|తగిన సమాచారం లేదు|అందుబాటులో లేదు|పేర్కొనలేదు|పేర్కొనబడలేదు|ప్రస్తావించలేదు|ప్రస్తావన లేదు|వర్తించదు|ఏమీ లేదు|వివరాలు లేవు|దొరకలేదు|లభ్యం కాదు|అసాధ్యం|చెప్పలేం|చెప్పలేము|n/?a|నిర్ధారించలేము|సంబంధం లేని సమాచారం|ఫలితాలు లేవు|డేటా లేదు)"
    ),
    turns=r"(?<=యినా)[ ,]+|(?:(?<=రు)|(?<=ంది)|(?<=ాయి)|(?<=లేదు)|(?<=డు)), (?=\S+ \S+)|(?<=కున్నా)[ ,]+|(?:^|[,;.–—-] ?| )(?:కానీ|కాని|అయితే|అయినా|అయినప్పటికీ|ఐతే|అయినా కూడా|అయినను|మరోవైపు|బదులుగా)(?= |,)|(?<=\S)(?:ప్పటికీ|నప్పటికీ|నా కూడా)(?= |,)|;| – | — ",
    concedes="",
    topic=_words(
        _all(
            rf"^.{{0,50}}?(?:{_TE_SOURCES}|సమాచారం|అవి|ఇవి|అన్నీ|వాటిలో|వీటిలో)",
            r"(?:గురించి|వివరిస్తు|వివరిస్తా|వివరించ|వివరిస్తో|చర్చిస్|చర్చించ|ప్రస్తావిస్|ప్రస్తావించ|చెబుతు|చెప్తు|చెబుతా|చెప్తా|వర్ణిస్తా|చేస్తుంది|చేస్తాయి|చరిత్ర|గురించే|తెలుపుతు|సంబంధించిన|సంబంధించి|జాబితా|వర్ణిస్|వర్ణించ|పరిమిత|మాత్రమే|పేర్కొన్న|పేర్కొంటు|ఇస్తు|ఉంది|ఉన్నాయి|వివరాలు|అందిస్తు|మాట్లాడు)",
        ),
        r"^(?:బదులుగా|దానికి బదులు)",
    ),
    about=r"(?:గురించి|వివరిస్తు|వివరిస్తో|వివరించ|చర్చిస్|చర్చించ|వర్ణిస్|వర్ణించ|జాబితా|సంబంధించిన|ప్రస్తావిస్|పేర్కొంటు|చెబుతు|తెలుపుతు|చెబుతా|తెలుపుతా|పరిమితం|చరిత్ర|దగ్గర (?:ఆగి|ముగు)|తో (?:ఆగి|ముగు))",
    only=r"(?:మాత్రమే|కేవలం|బదులుగా|ప్రధానంగా|ముఖ్యంగా|ఇతర విషయాల)",
    implies=rf"^(?!.*{_TE_TEXTS}).*(?:ఎన్నడూ|ఎప్పుడూ|ఎన్నటికీ)(?!.*(?:చెప్ప|ప్రస్తావ|పేర్కొ))|^{_TE_TEXTS}\S* (?:\S+ )??ప్రకారం(?!.*(?:తెలియ|స్పష్ట|సాధ్యం|సమాచారం|జవాబు|సమాధాన|చెప్పలే|పేర్కొన|ప్రస్తావ))|^(?!.*{_TE_TEXTS}).*(?:ఆధారం|సాక్ష్య|రుజువు)|^(?!.*{_TE_SOURCES}).*(?:నేటికీ|ఇప్పటికీ|ఈ ?రోజుకీ|ఇప్పటివరకు|ఎవరికీ తెలియదు)|(?:అనిపిస్తు|సూచిస్తున్నా|సూచిస్తోంద|సూచిస్తుంద|అర్థమవుతో|అర్థమవుతు|తెలుస్తోంది|సంకేతాలు ఇస్త)",
    known=r"(?:సాధారణంగా|సాధారణ జ్ఞాన|అందరికీ తెలిస|నాకు తెలిసి|నా (?:సొంత )?(?:జ్ఞానం|పరిజ్ఞానం)|నాకున్న (?:సమాచారం|అవగాహన))",
    reports=r"(?:ప్రకారం(?!.{0,3}$)|సాధారణంగా తెలిసిన|సాధారణ జ్ఞాన|సాధారణంగా|అందరికీ తెలిసిన|అందరికీ తెలిసిందే)|\S(?:దని|రని|నని|యని|డని|వని|లని|రనీ) (?:చెబు|చెప్ప|తెలు|తెలిపా|పేర్కొ|అంటు|రాసి|ఉంది|వివరి)|(?:అని|అనీ) (?:పత్రం|మూలం|పేర్కొ|చెప్|చెబు|తెలు|ఉంది|రాసి|వివరి|అందులో)",
    hedges=r"(?:బహుశా|అనిపిస్|కావచ్చు|అవకాశం|ఉండవచ్చు|అనుకుంట|భావిస్|అంచనా|అంటారు|ఉండొచ్చు|కావొచ్చు)",
    sorry=r"(?:క్షమించ|దురదృష్ట|విచారిస్|మన్నించ|సారీ|చింతిస్)",
    aside=_words(
        r"సహాయ(?:పడ|ం చేయ|ం అంద)|ఉపయోగ(?:పడ|కరం)",
        r"(?:దయచేసి|సంతోషంగా|సంతోషిస్తా|సంతోషం|ఆనందంగా|మీరు[^,]{0,60}(?:వచ్చు|చూడండి|అడగండి|ఇస్తే|ఇవ్వగలిగితే|పంపితే|అందిస్తే|కావాలంటే|కోరుకుంటే|పంచుకుంటే|చేయండి|సంప్రదించండి|గలరా|అనుకుంటే|చేస్తే|ఇవ్వండి)|సంప్రదించ|సలహా|సూచిస్తు|సిఫార్సు|చూడండి|అడగండి|వెతకండి|తనిఖీ|పంపండి|ఇవ్వండి|తెలియజేయండి|సహాయం చేస్తా|సహాయపడ|మంచిది|ఉత్తమం|చూడవచ్చు|సాయం చేస్తా|వెతుకుతాను|చూస్తాను|వెతికి|చెబుతాను|ఇస్తే|పంపితే|జతచే(?:స్తే|యండి)|జత చే(?:స్తే|యండి)|బాగుంటుంది|వెతకనా|వెతకమంటారా|వెతకాలా|చూడమంటారా|అప్‌?లోడ్|చూద్దాం)",
        rf"{_TE_SOURCES}.{{0,24}}(?:చదివా|చూశా|పరిశీలించా|వెతికా|గాలించా|పరిశీలించి చూ)\S*",
        r"^(?:మీ )?ప్రశ్న .{0,40}(?:గురించి|విస్తృత|అస్పష్ట|స్పష్టంగా లేదు|సాధారణ|ఉంది)\S*(?: ఉంది)?\W*$",
        r"(?:^| )(?:నేను|నాకు|నా|నన్ను|మేము)(?= )(?!.{0,14}(?:అభిప్రాయం|అనుకుంట|భావిస్))",
        r"(?:ఇతర|అధికారిక|అదనపు|మరిన్ని|నమ్మదగిన) (?:మూలా|పత్రా|సమాచార|వనరు|ఆధారా)",
        rf"^(?:\S+ ){{0,3}}?{_TE_SOURCES}\S*(?: \S+){{0,2}} (?:ప్రకారం|ఆధారంగా|బట్టి|నుండి)$",
        r"^(?:కాబట్టి|అందువల్ల|అందుకే|సారాంశం|ముగింపు|గమనిక|సమాధానం|జవాబు|మూలం|మూలాలు|నమస్కారం|తప్పకుండా|ధన్యవాదాలు|అలాగే|అదనంగా|మంచి ప్రశ్న|(?:\S+ )?(?:సారాంశం|విశ్లేషణ|ఫలితం|ముగింపు))$|ధన్యవాదాలు",
    ),
    offers=r"(?:(?:మరింత|ఇంకా|మరిన్ని) (?:సమాచారం |వివరాలు )?(?:తెలుసుకో|కావాల|చెప్ప)|ఇంకేమైనా|మరేదైనా|వేరే|సహాయం|వేరే చోట|వెతక|బదులుగా)",
    asks=_words(
        r"(?:ఏదో|ఏదని|ఎవరో)[^,.]{0,10}(?:చెప్పండి|తెలపండి)",
        r"(?:ఏది|ఏదో|ఎవరో|ఏ \S+|దేని\S*)[^,.]{0,16}(?:చెబితే|చెప్పండి|తెలిపితే|తెలపండి)",
        r"(?:మీ (?:ఉద్దేశం|ఉద్దేశ్యం|భావం|ప్రశ్న (?:ఏ|ఎవరి|దేని))|మీరు (?:ఏ|ఎవరి|ఏది|దేని|ఎవరిని|ఏమి)|ఉద్దేశించినది|ఉద్దేశించారు|ఉద్దేశిస్తున్నా|అడుగుతున్నా|అంటున్నా|మాట్లాడుతున్నా|తెలుసుకోవాలనుకుంటున్నా|తెలుసుకోవాలను|గురించి అడిగా|అడుగుతున్నది)",
        r"(?:దయచేసి|మీరు|కొంచెం|కాస్త|నాకు).{0,60}?(?:స్పష్టం చేయ|స్పష్టంగా చెప్ప|స్పష్టత|స్పష్టపరచ|చెప్పండి|చెప్పగల|వివరించగల|తెలియజేయగల|తెలపగల|పేర్కొనగల|నిర్దిష్ట|తెలపండి|పేర్కొనండి|చెబుతారా|చెప్తారా|తెలియజేయండి)",
        r"\S(?:ా|ేనా)(?:,| లేక| లేదా)? \S.{0,60}ా\W*\?|అర్థం కాలేదు|(?:లేక|లేదా) .{1,60}\?|(?:పేరు|సంవత్సర|ఏడాది|నగర|ఊరు|దేశ|దశాబ్ద|ప్రాంత)\S*.{0,12}(?:చెప్తారా|చెబుతారా|చెప్పగల|చెప్పండి|తెలుసా|ఇవ్వగల|తెలపగల)|(?:^|[ ,])(?:ఏ|ఎవరి|ఏది|దేని|ఎవరు|ఎక్కడ|ఎప్పటి)\S* .{1,60}\?$|(?:^|[ ,])మీ\S* .{1,40}(?:ఏమిటి|ఏది|ఎంత|ఎక్కడ|ఏది)\W*\?|ఆధారపడి ఉంటుంది|బట్టి (?:ఉంటుంది|మారుతుంది)",
        r"^(?:ఏ|ఎవరి|ఏది|దేని|ఎవరు)(?= ).{0,80}(?:మీరు|మీ |అడుగు|ఉద్దేశ)",
    ),
    declines=r"(?:సహాయం|సాయం|సలహా|సూచనలు)\S*[^,]{0,20}(?:చేయలేను|ఇవ్వలేను|చేయలేము|అందించలేను|చెయ్యలేను)|సహాయపడలేను|(?:విధానాలకు|మార్గదర్శకాలకు|నియమాలకు) విరుద్ధ",
    weak=r"^(?:వాటిలో|వీటిలో|ఒకదానిలో|కొన్ని)(?= )|^(?:అవి|ఇవి|రెండూ) |^(?:మొదటి|రెండ[ోవు]|మూడ[ోవు]|నాలుగ[ోవు]|ఐద[ోవు]|చివరి|మిగ(?:తా|ిలిన)|ఒకటి|మరొకటి|ఇతర)",
    because=r"(?:(?<!అందు)వల్ల|కారణంగా|ఎందుకంటే)",
    given=r"(?:మీరు (?:జోడించిన|పంపిన|ఇచ్చిన|అతికించిన|పెట్టిన)|నా దగ్గర|నాకు (?:ఇచ్చిన|అందిన)|జతచేసిన|ఫోటోలో|చిత్రంలో|వాటిలో)|(?:స్క్రీన్ ?షాట్)|నాకు కనిపిస్తున్న|నాకు (?:దొరికిన|లభించిన|ఇచ్చిన|వచ్చిన)|నా దగ్గర|వచ్చిన ఫలితా",
    wants=r"(?:పంపి|పంపిస్|అతికి|జోడి|అప్ ?లోడ్ చే|జత చే|షేర్ చే).{0,4}(?:స్తే|తే|ంచితే|ండి)|జోడిస్తే",
    negates=r"(?:లేదు|లేవు|లేరు|కాదు|లేక|లేన)",
    hence=r"^(?:కాబట్టి|అందువల్ల|అందుకే|కనుక|దీంతో)|నందున",
    there=r"అందులో|వాటిలో|ఇందులో|అక్కడ|ఎక్కడా|వీటిలో",
    lacks=r"ఇవ్వలేదు|దొరకలేదు|కనిపించ(?:లేదు|దు)|రాలేదు|వదిలే|ప్రస్తావన[^,.]{0,14}లేదు|మౌనంగా|జవాబు లేదు|కనబడ(?:లేదు|దు)|చెప్పలేదు|ఎవరూ .{0,20}(?:ఇవ్వ|చెప్ప)లేదు|దాటవేశ|కల్పన|కనిపించవు|అందులో లేదు|వీటిలో లేదు|(?:వేరే|మరో) చోట (?:వెతక|చూడ)",
    figure=r"ఎంత|ఎప్పుడు|ఎన్ని|ఏ (?:సంవత్సర|ఏడాది|తేదీ)|ధర",
)

_TH_SOURCES = r"(?:เอกสาร|แหล่งข้อมูล|แหล่งที่มา|บริบท|ข้อความ|เนื้อหา|ผลการค้นหา|ผลลัพธ์|บทความ|ย่อหน้า|ข้อมูลที่ให้|ข้อมูลที่|ตัวบท|ส่วนที่|อ้างอิง|ไฟล์|บทอ่าน|แหล่ง|ตอนที่|ข้อมูล|ต้นฉบับ|หน้าเหล่านี้|ทุกหน้า|หน้าที่(?:ให้|แสดง)|รายงานข่าว|ข้อเขียน|บันทึก|ชิ้นส่วน|ที่ได้รับมา|ที่ให้มา|ที่ส่งมา|ที่แนบ)"
_TH_TEXTS = r"(?:เอกสาร|แหล่งข้อมูล|แหล่งที่มา|บริบท|ข้อความ|เนื้อหา|ผลการค้นหา|ผลลัพธ์|บทความ|ย่อหน้า|ข้อมูลที่|ตัวบท|ไฟล์|บทอ่าน|หน้าเหล่านี้|ที่ได้รับมา|ที่ให้มา|ที่แนบมา)"
_TH_INFO = r"(?:ข้อมูล|คำตอบ|รายละเอียด|การกล่าวถึง|คำอธิบาย|เบาะแส|การระบุ|เนื้อหา|ตัวเลข|บันทึก|ข้อความ|ร่องรอย|สักคำ|เรื่อง|ประเด็น)"
_TH = Wording(
    sources=_TH_SOURCES,
    nouns=_words(
        r"ทะเบียน|หนังสือพิมพ์|แถลงการณ์|เว็บไซต์|ตาราง|อีเมล|จดหมาย|บทสรุป|จารึก|รายชื่อ|บทความ|ประกาศ|รายงาน|แผ่นพับ|ฉลาก",
        rf"(?:{_TH_SOURCES}|{_TH_INFO}|คำถาม|ในนั้น|ส่วนใด|ฉบับ|เรื่องนี้)",
        r"(?:คู่มือ|แผ่นพับ|รายงาน|บทสัมภาษณ์|จดหมาย|ชีวประวัติ|ฉลาก|ประกาศ|ใบปลิว)",
    ),
    statutes=r"(?:กฎหมาย|พระราชบัญญัติ|สนธิสัญญา|รัฐธรรมนูญ|กฤษฎีกา|ประกาศ|คัมภีร์|ข้อตกลง|อนุสัญญา|ระเบียบ)",
    denies=_words(
        r"(?:ไม่|มิ|ยังไม่|ไร้|ขาด|ปราศจาก|ไม่ได้|มิได้)[^,.]{0,14}?(?:ระบุ|กล่าว|พูด|บอก|พบ|ให้|ปรากฏ|อธิบาย|เพียงพอ|เกี่ยวข้อง|เกี่ยวกับ|ครอบคลุม|ตอบ|บรรจุ|ประกอบ|รวม|แสดง|ชี้|เอ่ย|ชัด|เปิดเผย|พาดพิง|แจ้ง|บันทึก|เขียน|สามารถ|ทราบ|แน่|ตรง|ข้อมูล|เจอ|นำเสนอ|เล่า|ยืนยัน|ถูก|แตะ|เห็น|ได้คำตอบ|เหลียวแล|อยู่|ร่องรอย|สักคำ|ปริปาก|ใช่เรื่อง|พอ)|เงียบ(?=เรื่อง|เกี่ยว|ต่อ|$)|ขาดเรื่อง|ข้ามเรื่อง|ละเว้น",
        r"เงียบ",
    ),
    gap=_words(
        rf"{_TH_SOURCES}\S{{0,20}}?(?:ไม่(?:ได้)?|มิได้)มี",
        rf"^(?!.*(?:ระบุ|กล่าว|บอก|รายงาน|อธิบาย)(?:ไว้)?ว่า).{{0,16}}?{_TH_TEXTS}[^,.]{{0,50}}?(?:ไม่|มิ|ยังไม่)(?:ได้|อาจ|มี|พบ|แตะ|เคย|พอ|เห็น|ปรากฏ|ใช่|ถึง|ตอบ|กล่าว|บอก|พูด)",
        r"(?:ใคร|เมื่อใด|เมื่อไร|เมื่อไหร่|ปีใด|ปีไหน|อะไร|เท่าใด|เท่าไร|เท่าไหร่|อย่างไร|ที่ใด|ที่ไหน|ทำไม|เพราะเหตุใด|กี่\S{1,8})\S{0,20}? ?(?:นั้น)? ?(?:ไม่|มิ|ยังไม่)(?:ได้|มี|อาจ|พบ|ปรากฏ|สามารถ|ทราบ|แน่)",
        r"(?:ชี้|สรุป|ฟันธง|ระบุ|ตอบ)(?:ชัด|คำตอบ|ปี|ชื่อ|ให้)?(?:ไม่ได้|ได้ยาก|ยาก)|หา(?:คำตอบ|ปี|ชื่อ)ไม่ได้|(?:ขอ)?ไม่(?:ขอ|อยาก)?(?:ให้วันที่|ให้ตัวเลข|ให้ข้อมูลที่|คาดเดา|เดา|ด่วนสรุป)|ยังไม่ได้คำตอบ|ไม่เห็น\S{0,30}(?:ใน|จาก)",
        rf"ไม่(?:ได้)?(?:อยู่|มีอยู่|มี|ปรากฏ|พบ|รวมอยู่)ใน\S*{_TH_SOURCES}",
        r"ไม่(?:อาจ)?(?:ทราบ|รู้|แน่ใจ|แน่ชัด|แน่นอน|ชัดเจน|ปรากฏ|ปรากฎ|มีใครทราบ|มีใครรู้|เป็นที่ทราบ|เป็นที่แน่ชัด)|(?:ยัง|ไม่)(?:คง)?(?:ไม่(?:ชัด|แน่|ทราบ|เป็นที่)|คลุมเครือ)|ไม่มั่นใจ",
        r"(?:ไม่สามารถ|ไม่อาจ|ไม่มีทาง|เป็นไปไม่ได้|ไม่ได้มากพอ)[^,.]{0,30}?(?:ตอบ|ระบุ|หา|บอก|สรุป|ให้|ยืนยัน|ทราบ|กำหนด|พบ|ค้น|ชี้|อธิบาย|รู้|ตัดสิน|ให้คำตอบ|คาด)|(?:หา|ค้นหา|ตอบ|ระบุ|บอก|สรุป|ค้น|พบ|ยืนยัน)[^,. ]{0,24}?ไม่(?:ได้|พบ|เจอ)",
        r"(?:ไม่|มิ|ยังไม่|ไม่เคย|ไม่ได้มีการ)(?:ได้|มีการ|ถูก|มีใคร|เคย|ได้มีการ|มีส่วนใด)?(?:ระบุ|กล่าวถึง|พูดถึง|บอก|เอ่ยถึง|อธิบาย|ให้ข้อมูล|ให้รายละเอียด|ให้คำตอบ|แจ้ง|เปิดเผย|ชี้แจง|แสดง|ครอบคลุม|พาดพิง|บันทึก|นำเสนอ|เขียน|กล่าว)",
        rf"(?:ไม่มี|ไม่พบ|ไม่เจอ|ไม่ปรากฏ|ไม่ได้มี|ไม่ได้ให้|ไม่ให้|ขาด|ปราศจาก|ไร้|ไม่มีส่วน|ยังไม่มี|ยังไม่พบ|ไม่ได้บรรจุ|ไม่ได้รวม|ไม่ประกอบ|ไม่เห็น)[^,.]{{0,25}}?(?:{_TH_INFO}|{_TH_SOURCES}|ระบุ|กล่าว|บอก|คำ|สิ่ง|ส่วนใด|ฉบับใด)|{_TH_INFO}[^,.]{{0,40}}?(?:ไม่(?:เพียงพอ|พอ|มี|พบ|ได้|ชัด|ปรากฏ|ครบ|เกี่ยว)|ยังไม่|ขาด)",
        r"(?<!หลักฐาน)(?:ไม่เพียงพอ|ไม่พอ|ไม่มากพอ)(?:ที่จะ|สำหรับ|ต่อ|$)",
        r"(?:จำเป็นต้อง|ต้องการ|ต้อง)(?:มี|ใช้)?(?:ข้อมูล|เอกสาร|บริบท)[^,.]{0,10}เพิ่มเติม",
        r"(?:นอกเหนือ|อยู่นอก|นอกขอบเขต)",
        r"^(?:แต่)?ไม่(?:ใช่|ได้)?(?:ว่า|เมื่อไร|เมื่อใด|ใคร|อย่างไร|ที่ไหน|ทำไม)",
    ),
    short=(
        r"(?:คำตอบ: ?|คำถาม)?(?:ไม่เกี่ยวข้อง(?:กับ\S*|กัน)?|ไม่เกี่ยว(?:กับ\S*|กัน)?|ไม่สัมพันธ์\S*|ตอบไม่ได้|ไม่สามารถ(?:ตอบ|ให้คำตอบ|ระบุ|หา)\S{0,20}|ไม่มี(?:คำตอบ|ข้อมูล|ใน\S*|ผลลัพธ์|ข้อมูลเพียงพอ|ข้อมูลที่เกี่ยวข้อง)\S{0,20}|ไม่พบ(?:คำตอบ|ข้อมูล|ผลลัพธ์)?\S{0,20}|ไม่ทราบ(?:คำตอบ|ครับ|ค่ะ|แน่ชัด)?|ไม่รู้|ข้อมูลไม่(?:เพียงพอ|พอ|มี|ครบ)\S{0,8}|หาคำตอบไม่(?:ได้|พบ)|ไม่ได้ระบุ\S{0,14}|ไม่ระบุ|ไม่ปรากฏ\S{0,14}|ไม่แน่ชัด|ไม่ตรง(?:คำถาม|ประเด็น)\S*|ไร้คำตอบ|ไม่เพียงพอ|ไม่ใช่ข้อมูลที่เกี่ยวข้อง|n/?a|ไม่มี|ไม่ได้กล่าวถึง|ไม่สามารถตอบได้|ไม่ชัดเจน|เป็นคำถามที่ตอบไม่ได้|ไม่อาจตอบได้|นอกบริบท|ไม่เข้าข่าย)"
    ),
    turns=r"(?<=[\u0e00-\u0e7f\d\])]) (?=ไม่มี(?:รายละเอียด|ข้อมูล)|(?:จำนวน|ชื่อ|วันที่|ปี|เวลา|สาเหตุ|ราคา|ขนาด|ความ)\S{2,30}ไม่)|(?<=[\u0e00-\u0e7f\d\])]) (?=(?:คุณ|ฉัน|ผม|หาก|ถ้า|กรุณา|โปรด|เอกสาร|แหล่ง|ข้อความ|บริบท|ข้อมูล|คู่มือ|รายงาน|ตาราง|บาง(?:ส่วน|ฉบับ)))|(?:^| |[,;.–—-] ?)?(?:แต่(?!ละ|ง|ก่อน|เดิม|แรก|เพียง|อย่างใด|ประการใด)(?:ว่า)?|อย่างไรก็ตาม|อย่างไรก็ดี|ถึงแม้(?:ว่า)?|แม้(?:ว่า)?(?!น)|ทั้งนี้|ทว่า|ในขณะที่|(?<!บาง)(?<!หลาย)(?<!แต่ละ)ส่วน(?=\S)(?!ใหญ่|หนึ่ง|ตัว|ที่|ใด|ของ|ประกอบ|กลาง|เกิน))|;| – | — |(?:ขอให้ทราบ|ขอแจ้ง|โปรดทราบ)(?:ไว้)?(?:ด้วย)?ว่า",
    concedes=r"(?:ถึงแม้|แม้|นอกจาก|ยกเว้น)",
    topic=_words(
        _all(
            rf"^.{{0,50}}?(?:{_TH_SOURCES}|ข้อมูล|ทั้งหมด)",
            r"(?:กล่าวถึง|พูดถึง|เกี่ยวกับ|อธิบาย|ระบุ|บรรยาย|เน้น|มุ่งเน้น|ครอบคลุม|นำเสนอ|ให้ข้อมูล|เล่า|รายชื่อ|รายการ|แสดง|ว่าด้วย|จำกัด|ให้รายละเอียด|แจกแจง|มีเพียง|มีแต่|เป็นเรื่อง|เป็นประวัติ|ไล่เรียง|ไล่ราย|เอ่ยถึง|พูด)",
        ),
        r"^(?:แทนที่จะ|ในทางกลับกัน)",
    ),
    about=r"(?:อธิบาย|กล่าวถึง|พูดถึง|บรรยาย|เกี่ยวกับ|ระบุราย|รายชื่อ|เป็นเรื่อง|เป็นประวัติ|เริ่ม(?:จาก|ด้วย)|ไปถึง|(?:จบ|หยุด|สิ้นสุด)(?:ลง)?(?:ที่|แค่)|เล่า|ไล่เรียง|ไล่ราย|ว่าด้วย|เน้น|ครอบคลุม|แสดงราย)",
    only=r"(?:เพียง|เท่านั้น|แค่|เฉพาะ|แต่เพียง|ส่วนใหญ่|เป็นหลัก|เรื่องอื่น|ประเด็นอื่น|มีแต่)",
    implies=_words(
        rf"^(?!.*{_TH_TEXTS}).*ไม่เคย(?!.*(?:กล่าว|ระบุ|บอก))|^ตาม{_TH_TEXTS}\S* (?!.*(?:ทราบ|ระบุ|กล่าว|พูดถึง|บอก|ข้อมูล|คำตอบ|แน่ชัด|ชัดเจน|ตอบ|สามารถ|อาจ|เป็นไปไม่ได้|พบ))|^(?!.*{_TH_TEXTS}).*หลักฐาน|^(?!.*{_TH_TEXTS}).*(?:จนทุกวันนี้|จนถึงทุกวันนี้|จนปัจจุบัน|จนถึงปัจจุบัน|ไม่มีใคร(?:ทราบ|รู้))|หลักฐานไม่(?:เพียง)?พอ|(?:ชวนให้(?:คิด|เข้าใจ)|บ่งชี้ว่า|บ่งบอกว่า|ส่อว่า|ทำให้เข้าใจว่า|แสดงนัย|บอกเป็นนัย|สื่อว่า)",
        r"(?:จนบัดนี้|จนทุกวันนี้|จนถึงปัจจุบัน|จวบจน|ไม่มีใครรู้|นักวิชาการ|นักประวัติศาสตร์|นักวิทยาศาสตร์|ผู้เชี่ยวชาญ)",
    ),
    known=r"(?:เป็นที่ทราบกัน|ความรู้ทั่วไป|โดยทั่วไป|เป็นที่รู้กัน|ทราบกันดี|ทราบกันทั่วไป|โดยปกติ|เท่าที่(?:ผม|ฉัน|ดิฉัน)?(?:พอจะ|จะ)?(?:ทราบ|รู้)|ความรู้(?:ของ|ส่วนตัว|เดิม))",
    reports=r"(?:ตามที่|เป็นที่ทราบกัน|ความรู้ทั่วไป|โดยทั่วไป|เป็นที่รู้กัน|ทราบกันดี|ทราบกันทั่วไป)|(?:ระบุ|กล่าว|บอก|รายงาน|ชี้|อ้าง|ยืนยัน)(?:ไว้|เอาไว้|ให้เห็น)?ว่า",
    hedges=r"(?:น่าจะ|คาดว่า|อาจ|ดูเหมือน|เชื่อว่า|เชื่อกันว่า|คงจะ|สันนิษฐาน|เข้าใจว่า|เป็นไปได้|คาดกัน|กล่าวกันว่า|ว่ากันว่า)",
    sorry=r"(?:ขออภัย|ขอโทษ|เสียใจ|น่าเสียดาย|โชคไม่ดี|เสียดาย)",
    aside=_words(
        r"^ถ้า(?:เป็นประโยชน์|สะดวก|ต้องการ)",
        r"(?:อาจ|น่าจะ|สามารถ)(?:จะ)?(?:ช่วย|มีประโยชน์|ให้ข้อมูล|ตอบ|มีคำตอบ)",
        r"(?:กรุณา|โปรด|ยินดี|หากคุณ|ถ้าคุณ|หากท่าน|หากต้องการ|ถ้าต้องการ|หากมี|ถ้ามี|คุณสามารถ|คุณอาจ|ท่านสามารถ|ลอง|แนะนำ|ควร|ติดต่อ|ตรวจสอบ|สอบถาม|ช่วยค้น|ช่วยเหลือ|ต้องการให้|แจ้งให้|ส่งเอกสาร|ส่งข้อมูล|รบกวน|ให้ฉันช่วย|ปรึกษา|จะช่วย|หากให้|หากส่ง|ถ้าส่ง|ถ้าแนบ|ถ้าให้|หากแนบ|แนบ\S{0,20}มา|ให้ลอง|ให้หา|ให้ค้น|จะดี|ดูให้|หาให้|อัปโหลด|เช็กให้|ตรวจให้)",
        rf"(?:ตรวจ|อ่าน|ค้น|ดู|พิจารณา|ไล่ดู)\S{{0,16}}?{_TH_SOURCES}\S{{0,30}}?(?:แล้ว|หมด|ครบ|ดู)|^(?:ได้)?(?:ตรวจ|อ่าน|ค้น|พิจารณา)\S{{0,40}}แล้ว",
        r"^คำถาม(?:นี้|ของคุณ)?(?:ถามถึง|เกี่ยวกับ|กว้าง|คลุมเครือ|ค่อนข้าง|ยังไม่)",
        r"(?:^| )(?:ฉัน|ผม|ดิฉัน|ข้าพเจ้า|เรา)(?!คิดว่า|เชื่อว่า|เดาว่า|เข้าใจว่า)",
        r"(?:แหล่ง|เอกสาร|ข้อมูล)(?:ข้อมูล)?(?:อื่น|เพิ่มเติม|ทางการ|ที่เชื่อถือได้|ภายนอก)",
        rf"^(?:จาก|ตาม|อ้างอิงจาก|ใน|โดยอิงจาก|อิงจาก|พิจารณาจาก)[^ ]*?{_TH_SOURCES}\S*$",
        r"^(?:ดังนั้น|สรุป|โดยสรุป|หมายเหตุ|คำตอบ|แหล่งที่มา|สวัสดี\S*|แน่นอน|ขอบคุณ\S*|นอกจากนี้|เพราะฉะนั้น|สำหรับคำถามของคุณ|เป็นคำถามที่ดี|(?:สรุป|ผล|วิเคราะห์|การวิเคราะห์)(?:ผล|การ\S{1,12})?)$",
    ),
    offers=r"(?:(?:ทราบ|รู้|ข้อมูล|อ่าน|รายละเอียด)\S{0,10}เพิ่มเติม|อะไรอีก|เรื่องอื่น|(?:หา|ค้น)\S{0,30}(?:อื่น|แทน)|ให้ลอง|ให้(?:ช่วย)?(?:หา|ค้น)|ให้(?:ฉัน|ผม)?ช่วย)",
    asks=_words(
        r"(?:โปรด|กรุณา)(?:บอก|ระบุ|เลือก)[^,.]{0,12}(?:ไหน|ใด|อะไร)",
        r"(?:บอก|แจ้ง|ระบุ)(?:ผม|ดิฉัน|ฉัน|เรา)?(?:หน่อย|ด้วย|มา)?ว่า(?:หมายถึง|เป็น|คือ)?[^,.]{0,12}(?:ไหน|ใด|ใคร)",
        r"(?:คุณ|ท่าน)(?:กำลัง)?(?:หมายถึง|หมายความ|ต้องการทราบ|ต้องการถาม|ถามถึง|พูดถึง|อยากทราบ|อยากรู้|สนใจ|กล่าวถึง|ต้องการรู้|ถาม|ต้องการข้อมูล|ต้องการให้|หมาย)|หมายถึง[^?]{0,60}(?:ไหน|ใด|ใคร|อะไร|หรือ|ไหม)|(?:ไหน|ใด|ใคร)[^?]{0,30}ที่(?:คุณ|ท่าน)",
        r"(?:กรุณา|โปรด|รบกวน|ช่วย|ขอให้|คุณช่วย|ขอ)[^,]{0,12}(?:ระบุ|ชี้แจง|บอก|อธิบาย|แจ้ง|ยืนยัน|ให้รายละเอียด|ทราบ)[^,]{0,20}(?:ว่า|ให้ชัด|เพิ่มเติม|ชัดเจน|ได้ไหม|ได้หรือไม่|ชื่อ|หน่อย|ด้วย|เจาะจง)",
        r"(?:ไหน|ใด|ใคร|อะไร|กี่\S{1,6}|เมื่อไร|เมื่อไหร่|ปีอะไร)(?:หรือ|กันแน่)?(?:ครับ|คะ|ค่ะ|\?)+|ในที่นี้หมายถึง|(?:ต้องการ|อยาก|ขอ)(?:ทราบ|ถาม|รู้)\S{0,40}(?:ไหน|ใด|ใคร|อะไร|ก่อน)|ขอทราบ|ขอถาม|หรือ\S{1,50}(?:ครับ|คะ|\?)\W*$|^(?:โปรด|กรุณา|รบกวน|ช่วย)(?:ช่วย)?(?:ระบุ|บอก|แจ้ง)(?:ว่า)?\S{0,40}|^(?:ถามถึง|หมายถึง|พูดถึง)\S{0,40}(?:หรือ|ไหน|ใด)|(?:ช่วย|พอ|รบกวน|กรุณา)(?:จะ)?(?:บอก|ระบุ|แจ้ง)\S{0,40}(?:ได้ไหม|ได้มั้ย|หน่อย|ไหม|ด้วย)|(?:ระบุ|บอก|แจ้ง)\S{0,30}(?:ได้ไหม|ได้มั้ย|ได้หรือไม่)|ไม่(?:แน่ใจ|เข้าใจ)ว่า.{0,30}(?:คน|อัน|แห่ง|ฉบับ|เรื่อง|แบบ|ตัว)ไหน|รุ่นอะไร|ขึ้นอยู่กับ(?:ว่า)?\S{0,30}(?:ไหน|ใด|ใคร|อะไร)",
    ),
    declines=r"(?:ไม่สามารถ|ไม่อาจ|ช่วย(?:เหลือ)?)[^,]{0,25}(?:ช่วย(?:เหลือ)?|ให้คำแนะนำ|ให้คำปรึกษา|สนับสนุน|ทำตาม|ดำเนินการ|เรื่องนี้ไม่ได้)|ขัดต่อ|ช่วย(?:เหลือ)?เรื่องนี้ไม่ได้",
    weak=r"^(?:บางส่วน|บางฉบับ)|^(?:ทั้งสอง|ทั้งหมด|ทั้งคู่)|^(?:ไฟล์|ข้อความ|เอกสาร|บทความ|ฉบับ|ชิ้น|ส่วน|อัน|เรื่อง)?(?:ที่)?(?:แรก|สอง|สาม|สี่|ห้า|หนึ่ง|สุดท้าย|เหลือ|อื่น)",
    because=r"(?:เพราะ|เนื่องจาก|ด้วยเหตุที่)",
    given=r"(?:ที่(?:คุณ|ท่าน)?(?:ส่ง|แนบ|อัปโหลด|ให้)(?:มา|ไว้)|ในรูป|รูปที่|ภาพที่|ที่(?:ผม|ฉัน|ดิฉัน)?(?:มี|ได้รับ)|ในนั้น)|(?:ภาพหน้าจอ)|ที่เห็นมี|ที่(?:ผม|ดิฉัน|ฉัน|เรา)(?:ได้มา|มี|พบ|ค้น)|ผลการค้น",
    wants=r"(?:ถ้า|หาก|รบกวน|ช่วย).{0,24}(?:ส่ง|อัปโหลด|แนบ|แปะ|แชร์|ถ่าย).{0,30}(?:มา|ให้|เพิ่ม)|เพิ่ม.{0,20}(?:แล้ว|จะ)",
    negates=r"(?:ไม่(?:มี|อยู่|ได้|พบ|ปรากฏ|เห็น)|ไร้|ยังไม่)",
    hence=r"(?:จึง|ดังนั้น|เพราะฉะนั้น)(?:ยัง)?(?:ไม่(?:สามารถ|อาจ|ทราบ|รู้)|เทียบ|เรียง|บอก|ตัดสิน|สรุป|ระบุ|ตอบ)|จึง(?:ยัง)?(?:ไม่มีคำตอบ|ตอบไม่ได้|เทียบไม่ได้|บอกไม่ได้)",
    there=r"ในนั้น|ตรงนั้น|ที่ใด|ที่ไหนเลย|ในตอนใด|ในนี้",
    lacks=r"ไม่มี(?:กล่าวถึง|ให้เห็น|ปรากฏ|ชื่อ)|ไม่ปรากฏ|ละเว้น|ตกหล่น|ขาดหาย|หาไม่(?:พบ|เจอ)|ไม่(?:พบ|เจอ)|ยังไม่มีคำตอบ|เว้นไว้|ไม่ได้(?:บอก|ระบุ|เอ่ย|อยู่ใน)|ไม่มีใคร(?:ให้|บอก|ระบุ)|ถูกข้าม|แต่งขึ้น|ไม่เห็นมี|ไม่มี(?:ตัวเลข|ยอด)|(?:หา|ค้น).{0,12}ที่อื่น",
    figure=r"เท่าไ|เมื่อไ|กี่|ปีใด|ปีไหน|ราคา|วันใด",
)

_KO_SOURCES = r"(?:문서|자료|출처|문맥|컨텍스트|텍스트|본문|지문|검색 ?결과|결과|기사|발췌|단락|참고|맥락|구절|제공된|주어진|원문|소스|문헌|글에|글은|글들|파일|페이지|기록|내용|지문|문단|데이터|조각|받은 것|주신 것|보도|논문|스니펫|콘텐츠|항목)"
_KO_TEXTS = r"(?:문서|자료|출처|문맥|컨텍스트|텍스트|본문|지문|검색 ?결과|기사|발췌문?|단락|맥락|구절|원문|소스|문헌|파일|페이지|문단|조각|글|내용|정보|받은 것|주신 것)(?:들|\s?\d+)?"
_KO_NEG = r"(?:않|없|못|침묵|안 나|안 보|빠져|모르|어렵|어려|불가|곤란)"
_KO_INFO = r"(?:정보|답변?|내용|언급|설명|기록|데이터|세부|근거|단서|서술|자료|기술|해답|정답|대답|사항|수치|명시|기재|흔적|한마디|이야기|이 점|그 점|실마리)"
_KO_NOT = r"(?:않|없|못|아니|부족|불충분|미흡|불가|모르|몰라|모릅|안 |침묵|모자[라랍란랄]|빠져|빠졌|생략|누락)"
_KO_HOLD = r"(?:포함|언급|명시|기재|기록|제공|설명|서술|기술|제시|나와|나오|나타|다루|다뤄|담겨|담고|적혀|수록|드러나|밝히|밝혀|알려|말하|답하|답할|답변|찾|확인|존재|주어|들어|소개|표시|있지|정보|내용|근거|관련|충분|판단|특정|명확|분명|알 수|쓰여|대해|관한|해당|보이|실려|구할|밝힐|설명하|알 ?수|전하|파악|얻|건드리|띄|짚|거론|입에|올리|보입|논한|상관|돌리|들어 ?있|침묵|빠져|빠졌|누락|이르|도달|흔적|한마디|실마리|보이|정할|헤아|다룬)"
_KO = Wording(
    sources=_KO_SOURCES,
    nouns=_words(
        r"신문|보도자료|누리집|웹사이트|메일|편지|요약|비문|명단|광고|보고서|기사|목록|연보",
        rf"(?:{_KO_SOURCES}|{_KO_INFO}|질문|어디에도|어느 것도|여기|그중|이 중)",
        r"(?:설명서|안내문|안내서|보고서|인터뷰|편지|회고록|라벨|목록|회의록|공지|팸플릿|연보)",
        r"(?:쪽지|서한)",
    ),
    statutes=r"(?:법(?=[은이을 률령안]|에|$)|법률|어업령|조례|조약|헌법|법령|칙령|협약|협정|성경|규정집|(?:[가-힣])령(?=[은이을]))",
    denies=_words(
        _all(_KO_HOLD, _KO_NOT),
        r"침묵|입을 다물",
    ),
    gap=_words(
        rf"^(?!.*(?:다고|라고|따르면|의하면|았다는|었다는)).{{0,30}}?{_KO_TEXTS}(?:에서는|에서도|에서|에는|에도|에|은|는|이|가|도|만으로는?|으로는?|로는?| 중에는| 중에| 어디에도)(?= ).*?{_KO_NEG}\S*(?: \S+)?\W*$",
        rf"(?:누가|누구|언제|어디|무엇|왜|어떻게|얼마|몇|어느|어떤|무슨)[^,]{{0,40}}?(?:지|가)(?:는|도|를|에 대해서는|에 대한|조차)? [^,]{{0,60}}?{_KO_NEG}",
        r"(?:답|결론|해답|답변)에 (?:이르|도달하|다다르)지 ?못|(?:답|답변|대답|해답)(?:을|를)? ?(?:내놓|내릴|드리|낼|찾|하)\S* ?(?:수 ?(?:가|는)? ?없|못|어렵)|(?:드리고|말하고|말씀드리고) 싶지 않|(?:관심|대상|범위) 밖|쓸모가? ?없|(?:글|자료|정보|문서)\S*만으로는 (?:모자|부족)|어느 것도 [^,]{0,20}(?:상관|관련|관계)(?:이|은)? ?없|(?:드리기|내놓기|제시하기)(?:는|가)? ?(?:어렵|힘들)|(?:추측|짐작|단정)(?:은|을|하지) ?(?:삼가|하지 않|않)|(?:연도|값|수치|이름|시기)\S* (?:정|특정|확정)\S* ?(?:수|못)",
        r"(?:관한|대한) (?:것|글|내용|정보)(?:이|은|는)? (?:아닙|아니)|아무 ?(?:말|언급)(?:도|이)? ?(?:없|하지 않)",
        r"(?:은|는|이|가) (?:그 )?(?:어디에도|어느 \S+에도|한 군데도|한 곳도) (?:나와 ?있지 않|없|안 나|보이지 않)",
        rf"{_KO_SOURCES}(?:에는|에|에서는|에서)[^,]{{0,30}} ?없",
        r"모르겠|모릅니다|모른다|몰라|모름|알 ?수 ?(?:가|는|도)? ?없|알지 못|알려지지 않|알려져 있지 않|알려진 (?:바|것)\S* 없|알려진 바 없|알 길이 없|잘 모르|불분명|불명확|불확실|명확하지 않|명확치 않|분명하지 않|확실하지 않|확실치 않|미상|미지수|알기 어렵|불명",
        r"(?:찾을|찾아볼|확인할|답할|답변할|답변드릴|답해|대답할|판단할|특정할|파악할|결정할|말할|말씀드릴|제공할|알려드릴|알려 ?줄|답을 할|단정할|도출할|추론할|설명할|확정할|찾아낼|응답할|밝힐|얻을|답변을 (?:드릴|제공할|할)|알아낼|구할|유추할|추정할|볼|드릴) ?수 ?(?:가|는|도)? ?없|(?:찾지|확인하지|답하지|답변하지|발견하지|알아내지|제공하지|답을 하지|찾아내지) ?(?:는|를)? ?못|(?:답변|답|판단|확인|특정|파악|대답|응답|추론|알기|알아내기|말하기)(?:이|을|가|는|란|하기|하기가|하기는)? ?(?:불가|어렵|어려|힘들|곤란)",
        r"(?:정보|언급|내용|답|답변|해답|정답|대답|설명|자료|근거|단서|기록|데이터|사항|서술|기술|부분|기재|문서|구절|수치|맥락)(?:이|가|은|는|도|을|를|에|의)?(?:나 \S+)? ?(?:\S+ ){0,4}?(?:없|부족|불충분|충분하지|충분치|미흡|못|나와 ?있지|않)",
        r"(?:언급|명시|기재|기록|제시|서술|설명|기술|나와|나오|나타나|적혀|담겨|다루|다뤄지|수록|밝혀|드러나|알려|쓰여|확인|밝히|말하|실려|전하|거론)(?:되|하|져|고|지|어|해)?(?:어|져)?(?: ?있)?(?:지|지는|지도|지를)? ?(?:않|못)",
        r"(?:추가|더 많은|자세한|충분한) ?(?:정보|자료|문서|맥락)[^,]{0,10}(?:필요|있어야)",
        r"(?:범위|문맥|자료)(?:를|을|의)? ?(?:벗어|밖)",
        r"^(?:하지만 |그러나 )?(?:언제|누가|어떻게|어디|왜|얼마)\S*(?:는|은|인지는|지는)? ?(?:아니|없)",
    ),
    short=(
        r"(?:답변?: ?|정답: ?|질문과 |이 질문은 )?(?:관련 ?(?:이|성이?|내용이?|정보가?|자료가?|없는)? ?(?:없음|없습니다|없다|없어요|없는 \S+)|관련되지 않(?:음|습니다|았습니다)|관계 ?없(?:음|습니다)|무관(?:함|합니다|한 내용)?|(?:답변?|대답|응답|해답) ?(?:이|을|은)? ?(?:불가(?:능)?(?:함|합니다|한 질문)?|없음|없습니다|할 수 없(?:음|습니다|는 질문(?:입니다)?)|어려움|찾을 수 없(?:음|습니다))|답할 수 없(?:음|습니다|는 질문(?:입니다)?)|대답할 수 없(?:음|습니다)|알 ?수 ?없(?:음|습니다)|모름|모르겠(?:습니다|음|어요)|모릅니다|정보 ?(?:가|는)? ?(?:없음|없습니다|부족(?:합니다|함)?|불충분(?:합니다|함)?)|(?:해당|해당 ?사항|해당 ?없음|해당되는 내용) ?(?:이|은)? ?(?:없음|없습니다|무|않음)?|내용 ?(?:이)? ?(?:없음|없습니다)|언급 ?(?:이|은)? ?(?:없음|없습니다|되지 않음|되지 않았습니다)|자료 ?(?:가)? ?(?:없음|없습니다|부족)|미상|불명|찾을 수 없(?:음|습니다)|확인 ?(?:불가|할 수 없음|할 수 없습니다|되지 않음|되지 않습니다)|n/?a|없음|해당없음|부적합|근거 ?없음|판단 ?불가|데이터 ?(?:가)? ?없음|결과 ?(?:가)? ?없(?:음|습니다)|미응답|무응답|명시되지 않음|알려지지 않음|제공되지 않음|문서에 없(?:음|습니다))"
    ),
    turns=r"(?<=고), (?=\S+ \S+)|(?:(?<=지 않아)|(?<=지 못해)) (?=\S+ \S+)|(?:^|[,;.–—-] ?| )(?:하지만|그러나|그렇지만|다만|반면(?:에)?|그런데|그럼에도(?: 불구하고)?|단|한편|대신)(?= |,),?|(?<=[가-힣])(?:지만|으나|하나|이나|는데|은데|던데)(?=,| ),?|;| – | — ",
    concedes=r"(?:비록|설령)(?= )",
    topic=_words(
        _all(
            rf"^.{{0,50}}?(?:{_KO_SOURCES}|정보|모두|각각|이들)",
            r"(?:대해|대한|관해|관한|관련|다루|다룹|다뤄|설명|언급|소개|서술|기술|나열|묘사|논의|이야기|초점|집중|국한|한정|만 (?:있|포함|담|제공)|담고|담겨|열거|전하|전할|돌아보|되돌아|늘어놓|적고 있|목록|생애|약력|보고|적혀|포함|알려|제공|내용)",
        ),
        r"^(?:대신)(?= )",
    ),
    about=r"(?:설명(?:하|합|되|돼|만|이)|다루|다룹|다뤄|대해|관한|서술|나열|언급(?:하고|합|만)|묘사|소개|열거|관련된|이야기|약력|생애|늘어놓|전할 뿐|에서 (?:끝나|멈추|그치)|로 (?:넘어|이어)|시작해|전하|돌아보|되돌아|적고 있|그려|목록)",
    only=r"(?:뿐|만(?=[ 을이은]|$)|오직|단지|대신|주로|다른 주제|다른 내용|국한|한정|데 그치|그칩|뿐)",
    implies=rf"^(?!.*{_KO_TEXTS}).*(?:못한다|모른다|않는다|않았다|없다)고 (?:말|밝|답|주장|했)|^(?!.*{_KO_TEXTS}).*(?:끝내|결코|다시는)(?!.*(?:언급|나오|밝혀))|^.{{0,6}}{_KO_TEXTS}.{{0,3}}(?:에 따르면|에 의하면)(?!.*(?:알려|알 수|밝혀|언급|나오|나와|정보|답|확인|명시|불명|미상))|^(?!.*{_KO_TEXTS}).*증거|증거(?:가|는)? ?(?:부족|불충분|모자[라란람])|^(?!.*{_KO_TEXTS}).*(?:오늘날까지|지금까지도|아직까지|지금도|오늘날에도|아무도 (?:모르|모른|알지))|(?:것으로 보(?:이|입|인)|듯하|듯합|시사|암시|짐작하게|추정(?:하게|케|된)|인상을 준)",
    known=r"(?:일반적으로|널리 알려|상식|알려진 바로는|일반 ?지식|대개|보통은|제가 알(?:기로|고 있|기론)|제가 아는 (?:한|바)|알기로는?(?= )|제 지식)",
    reports=r"(?:에 따르면|에 의하면|일반적으로|널리 알려|상식|알려진 바로는|일반 ?지식)(?!\W*$)|(?:다고|라고|한다고|았다고|었다고|이라고|으로) ?(?:한다|합니다|나와|적혀|되어|말|전|설명|언급|밝히|기록|서술|명시|알려|쓰여)",
    hedges=r"(?:아마|것 같|듯|추정|보인다|보입니다|가능성|모양|수도 있|것으로 (?:보|여겨|생각)|여겨|짐작|추측|전해)",
    sorry=r"(?:죄송|미안|유감|안타깝|아쉽|송구|양해)",
    aside=_words(
        r"(?:도움이 될|도움을 줄|알고 있을)",
        r"(?:주세요|주십시오|주시면|주시겠|드리겠|드릴게|도와드|도움(?:을|이)|원하시면|원하신다면|필요하시면|필요하시다면|있으시면|알려 ?주|문의|확인해 ?보|참고하|찾아보|권장|추천|권합|좋겠|좋습니다|바랍니다|하시기|하시면|하실 수|보시기|보시면|해 ?보세요|궁금하|확인하시|알아보시|보시는|여쭤|추가 (?:자료|문서|정보)를|기꺼이|말씀해|찾아볼까|살펴보겠|살펴볼게|살펴 ?드|훑어보|봐 ?드|올려 ?주|보내 ?주|첨부|업로드|함께 보|검토해 ?드)",
        rf"{_KO_SOURCES}.{{0,16}}?(?:읽었|읽어 ?보|살펴봤|살펴보았|검토했|검토한|확인했|확인해 ?보|찾아봤|찾아보았|훑어|뒤져|검색했)\S*",
        r"^(?:질문|문의)\S*(?: \S+){0,6} ?(?:관한 것|대한 것|묻|넓|모호|광범위|포괄|막연|입니다|인데)\S*\W*$",
        r"(?:^| )(?:저는|제가|저의|제게|저희)(?= )(?!.{0,10}(?:생각|추측))",
        r"(?:다른|공식|추가|외부|신뢰할) (?:자료|출처|문서|정보|기관|웹사이트|홈페이지|사이트)",
        rf"^(?:\S+ ){{0,3}}?{_KO_SOURCES}\S*(?: \S+){{0,2}} ?(?:따르면|의하면|바탕으로|기반으로|기준으로|토대로|기초하여|근거하여|근거로|한해)$",
        r"^(?:따라서|그러므로|그래서|요약|요약하면|결론|결론적으로|참고|답변?|출처|안녕하세요|물론(?:입니다)?|감사합니다|또한|또|질문에 대해|좋은 질문(?:입니다)?|(?:\S+ )?(?:요약|결과|분석|정리|결론))$",
    ),
    offers=r"(?:더 (?:알|자세|많|궁금|필요)|추가로|다른 (?:것|곳|질문|도움|자료)|찾아 ?(?:볼|드릴)|도와드릴|도움이)",
    asks=_words(
        r"(?:어느|어떤) \S{1,8}인지 (?:말씀|알려)",
        r"(?:어느|어떤|누구)[^,.]{0,12}(?:말씀하시는지|뜻하시는지|찾으시는지|가리키시는지)[^,.]{0,6}(?:알려|말씀)",
        r"(?:말씀하시|말하시|의미하시|가리키시|뜻하시|찾으시|물으시|묻고 계|궁금하신|궁금하세|궁금하십|알고 싶으신|알고 싶으세|질문하시|질문하신|원하시는|말씀이신|말씀인|여쭤보시|이야기하시|염두에|얘기하시|문의하시)\S*(?: \S+){0,4}?(?: ?(?:가요|까|나요|인지|지요|는지|세요|\?|건가요|것인가요|요))",
        r"(?:지정|명시|특정|확인)해 ?주(?:십|세|시|실)\S*",
        r"(?:구체적으로|명확히|명확하게|어느|어떤|어디|누구|무엇|좀 더|정확히|자세히|분명히|것인지|인지|대상을).{0,40}(?:알려 ?주|말씀해 ?주|설명해 ?주|밝혀 ?주|지정해 ?주|명시해 ?주|해 ?주시|주시겠|주실|해 ?주십|해 ?주세)",
        r"(?:이름|연도|년도|도시|지역|나라|국가|시대|종류|범위|대상)\S*.{0,14}(?:주시겠|주실|알 수 있을까|알려 ?주|여쭤|무엇인|있으신|아시나|아세요)|(?:가요|까요?|세요|까)[?,] ?아니면|아니면 .{1,40}\?|(?:어느|어떤) \S{1,12}(?:인지|건지) (?:잘 )?모르|(?:어느|어떤|누구|무슨|언제)\S* .{0,20}에 따라 |(?:어느|어떤|누구|어디|몇|언제)\S* .{0,50}(?:가요|나요|세요|까요?|까|래요)\?",
        r"^(?:어느|어떤|누구|무엇|어디|몇).{0,80}(?:인가요|입니까|일까요|말씀|가요|나요)$",
        r"(?:인가요|입니까)[^가-힣]{0,3}(?:아니면|혹은)|아니면 .{0,40}(?:인가요|입니까|건가요|까요)|(?:을|를) (?:말|뜻|의미)\S*(?:가요|까)",
    ),
    declines=r"(?:도움|도와|지원|조언|안내|방법)\S*[^,]{0,25}(?:수 없|어렵|드리지 못|않습니다|불가)|(?:정책|지침|가이드라인)\S* (?:위반|위배|어긋)|요청(?:은|을|에는|에) [^,]{0,15}(?:응할|도와|처리할|수행할|따를) ?수 없",
    weak=r"^(?:하나에는|그중 하나|일부)|^(?:둘 다|이들은|모두) |^(?:첫 ?(?:번째|째)|둘째|두 번째|셋째|세 번째|넷째|네 번째|나머지|마지막|다른 (?:하나|글|문서)|또 (?:하나|다른))",
    because=r"(?:때문|이유로|까닭에|탓에|므로|바람에)",
    given=r"(?:(?:올려|보내|첨부해|붙여|공유해|전달해) ?주신|주신 [^ ]+(?:에는|에|은|는|만)|첨부된|사진에|제가 (?:받은|가진))|(?:스크린샷|캡처)|볼 수 있는 건|제가 (?:찾은|가진|받은)|검색(?:에 걸린|된)",
    wants=r"(?:올려|보내|첨부해|붙여|공유해|전달해|추가해|찍어)[^,.]{0,6}주시면|첨부하시면|올리시면|보내시면|추가해 주",
    negates=r"(?:없(?:네|습|어|음|는|다|고)|않|못|아니)",
    hence=r"^(?:그래서|따라서|그러므로|그러니|결국|이 때문에)",
    there=r"거기|그 안|여기|어디에도|그 속|그중",
    lacks=r"빠져 ?있|빠졌|등장하지 않|나오지 않|보이지 않|찾지 못|찾을 수 없|누락|언급(?:되지|하지) 않|답(?:을|하지).{0,6}못|없(?:네요|습니다|어요)\.?$|들어 있지 않|비어 있|생략|적은 글이 없|건너뛰었|지어낸|안 보이|적혀 있지 않|가운데 없|다른 (?:곳|데|글|자료)에서 (?:찾|구)|(?:밝힌|적은|다룬|언급한|말한|알려 주는) (?:것|글|곳|자료)[은는이]? ?(?:하나도 )?없",
    figure=r"몇|얼마|언제|며칠|어느 해|몇",
)

_JA_SOURCES = r"(?:文書|資料|文脈|コンテキスト|コンテクスト|テキスト|文章|ソース|情報源|検索結果|結果|記事|抜粋|ドキュメント|出典|段落|パッセージ|本文|参考|提供された|与えられた|原文|文献|ファイル|ページ|データ|情報|箇所|文中|記録|材料|手元の|お預かりした|いただいた|頂いた|引用|報道|断片|論文|スニペット|コンテンツ|内容)"
_JA_TEXTS = r"(?:文書|資料|文脈|コンテキスト|コンテクスト|テキスト|ソース|情報源|検索結果|記事|抜粋|ドキュメント|出典|段落|パッセージ|本文|原文|ファイル|ページ|文中|材料|断片|スニペット|情報|お預かりした(?:もの|中)|手元の\S{1,4})"
_JA_NEG = r"(?:ません(?:でした)?|(?:[^少かく要危])ない(?:です)?|なかった(?:です)?|(?:お|ら|れ)ず|ぬ|困難です?|難しい(?:です)?|不明です?|沈黙(?:して(?:い(?:る|ます)|おります))?)"
_JA_INFO = (
    r"(?:情報|回答|答え|記載|記述|言及|説明|内容|詳細|データ|根拠|手がかり|答|記録|明記|該当|数値|資料|触れ|点|材料)"
)
_JA = Wording(
    sources=_JA_SOURCES,
    nouns=_words(
        r"台帳|新聞|プレスリリース|サイト|一覧|メール|手紙|要約|碑文|名簿|広告|報告|記事|ページ|目録|年譜",
        rf"(?:{_JA_SOURCES}|{_JA_INFO}|質問|いずれ|どれも|どこにも|そこ)",
        r"(?:冊子|説明書|パンフレット|報告書|インタビュー|手紙|伝記|回想|ラベル|一覧|記念誌|文集|年譜|日記|議事録|お知らせ)",
        r"(?:しおり|書簡|号証)",
    ),
    statutes=r"(?:法律|\w法(?=[はがに])|条約|憲法|条例|規則|協定|聖書|勅令|布告|法令|規約|契約)",
    denies=_words(
        r"(?:含ま|含ん|書か|書い|記載|記述|言及|述べ|触れ|示さ|示し|載っ|説明|明記|提供|見つ|見当た|記さ|挙げ|存在し|得られ|ふれ|扱わ|扱っ|答え|関連し|関係し|足り|読み取|該当|あり|確認|特定|判断|明らか|明示|教え|出て|残っ|伝え|わか|分か|語|踏み込|見受け|目に|見え|書き手|著者|追っ|及[んば]|うかが|窺|取り上げ|登場|たどり着|至|論じ|掲載|ヒット|網羅|言い)[^,.]{0,12}?(?:ません|ない|なかった|ておらず|おらず|れず|ず(?=[,.]|$)|なく)|(?:ありません|ない|なし|ございません|存在しません|不足|不十分|ないため|なく)",
        r"黙し|沈黙|口を閉ざ",
    ),
    gap=_words(
        rf"^(?!.*(?:によると|によれば|と(?:あ|書|記|述|いう|され|して|言))).{{0,40}}?{_JA_TEXTS}(?:[^,.]{{0,8}}?(?:に|で|から|だけでは|は|も|の中)(?:は|も)?)[^.]{{0,120}}?{_JA_NEG}(?:ね|が|よ|けど)?(?=[,.]?$)",
        rf"(?:誰|何|いつ|どこ|なぜ|どう|どの|どれ|いく|幾)[^,.]{{0,40}}?か(?:は|も|を|が|に(?:ついて)?は|どうか)?[^.]{{0,40}}?{_JA_NEG}(?=[,.]?$)",
        r"(?:見受けられ|見いだせ|見出せ|たどり着け|辿り着け|至り|至れ|読み取れ|うかがえ|窺え|言い切れ|言及でき|答えを持ち合わせてい|(?:お伝え|断言|お答え)するわけにはいき)[^,.]{0,8}?(?:ません(?:でした)?|ない|なかった)|(?:推測|憶測|断定)(?:は|を|する(?:の|こと)(?:は|を))?(?:差し)?(?:控え|避け|いたしません|しません)|答え(?:は|が|を)?(?:出せ|出ませ|得られ|導け)",
        r"(?:分|わ|判|解)か(?:り(?:ません|かね)|ら(?:ない|ず)|りません)|(?:わか|分か|判明して|知られて|明らかになって|明らかでは|はっきり(?:し|とは)?|特定され|定かでは|明確では|判然とし)[^,.]{0,8}(?:ません|ない|いない|おらず|ありません)|不明|不詳|未詳|知りません|知らない|存じ(?:上げ)?(?:ません|ておりません)|把握して|定かで|はっきりし(?:ません|ない)|わからない|謎の?まま",
        r"(?:答え|回答|お答え|特定|判断|確認|断定|導き出|読み取|見つけ|確定|推測|ご回答|お伝え|申し上げ|判別|結論|把握|知る|見いだ|見出|答える|お示し|示す|挙げる|出す|述べる|言う|決定|推定|検索|調べ)[^,.]{0,12}?(?:でき|られ|れ|こと(?:は|が)|は|が)?[^,.]{0,6}?(?:ません|ない|なかった|かね|不可能|困難|難し|できず|られず)|見(?:つかり|当たり)(?:ません|ませんでした)|見(?:つから|当たら)(?:ない|ず|なかった)|(?:不可能|困難)(?:です|だ|で)|かねます",
        r"(?:情報|記載|記述|言及|説明|内容|詳細|データ|根拠|手がかり|答え|回答|明記|記録|資料|箇所|文書|部分|もの|該当|数値|答)(?:は|が|も|に関する\S{0,10}|について\S{0,6}|や\S{1,8}(?:は|が|も)|等|など)?[^,.]{0,30}?(?:ありません|ありませんでした|ない(?:です|ため|ので|$|と|。)|なかった|なく|なし|存在しません|存在しない|見(?:つかり|当たり)ません|見当たらない|含まれて(?:い|お)(?:ません|ない|りません|らず)|含まれません|ございません|得られません|得られない|欠け|不足|不十分|足りません|足りない|されていません|されていない|されておらず|されておりません|示されていません|十分では|十分で(?:は)?ありません|限られ)",
        r"(?:記載|記述|言及|説明|明記|明示|紹介|記録|掲載|特定|示唆)(?:は|が|も)?(?:され|し|さ)て(?:は|も)?(?:い|お)(?:ません|ない|りません|らず|ませんでした|なかった)|(?:触れ|述べ|書か|記さ|示さ|載っ|含ま|書い|伝え|語ら|挙げ|残さ|扱わ|扱っ|答え|取り上げ|ふれ|明かさ|明らかにさ|知らさ|定めら)(?:られ|れ)?て(?:は|も)?(?:い|お)(?:ません|ない|りません|らず|ませんでした|なかった)",
        r"(?:追加|さらなる|より詳しい|十分な|別)の?(?:情報|資料|文書|文脈)[^,.]{0,10}(?:必要)",
        r"(?:範囲外|対象外|対象では)",
        r"(?<!証拠)(?<!証拠が)(?:不足|不十分|足りません|足りない|足りず)",
        r"(?:言及|記載|記述|説明|手がかり|情報|触れ)[^,.]{0,4}(?:ゼロ|皆無|見られず)|載って(?:は)?い(?:ない|ません)|心苦し",
    ),
    short=(
        r"(?:回答: ?|答え: ?|質問に対する|この質問は?)?(?:入手不可|確認不可|記載不明|回答(?:は)?(?:不可|不能|なし|できません|できない|不可能|できず|困難|拒否|を控えます)|該当(?:なし|情報なし|しません|する(?:情報|記載|記述|もの)(?:は|が)?(?:なし|ありません|ない|見つかりません))|不明(?:です)?|わかりません|分かりません|わからない|分からない|無関係(?:です)?|関連(?:性)?(?:は|が)?(?:なし|ありません|ない|がない)|関係(?:は|が)?(?:なし|ありません|ない)|関連していません|関連しません|答え(?:は)?(?:なし|られません|られない|がありません|が見つかりません|はありません|不明|が出せません)|情報(?:は|が)?(?:なし|不足(?:です)?|ありません|不十分|がありません|見つかりません)|(?:記載|記述|言及|データ|解答|解|結果)(?:は|が)?(?:なし|ありません|されていません|ない)|未回答|無回答|見つかりません(?:でした)?|解答不(?:可|能)|判断(?:不可|不能|できません|できない)|特定(?:不可|できません|できない)|存じません|知りません|対象外|質問と(?:は)?(?:無)?関(?:係|連)(?:が|は)?(?:ありません|ない|です|なし)?|関連情報(?:は|が)?(?:なし|ありません)|関連する(?:情報|記載|内容)(?:は|が)?(?:なし|ありません)|文書に(?:は)?(?:記載)?(?:なし|ありません|されていません)|n/?a|なし|資料(?:に)?なし|不詳|回答できる情報(?:は|が)?ありません|お答えできません|確認できません(?:でした)?)"
    ),
    turns=r"(?:^|[,;.–—-] ?)(?:しかし(?:ながら)?|ただし|一方(?:で)?|でも|とはいえ|もっとも|ですが|なお|だが|それでも|ただ(?=[,、])|けれども|それに対し)[,、]?|(?<=[すたるんいだ])が[,]|(?:(?<=ず)|(?<=であり)|(?<=があり)|(?<=られ)|(?<=され)|(?<=おり)),|(?<=[ぁ-ん])(?:けれども|けれど|けど|ものの|にもかかわらず|のに対し(?:て)?)[,、]|;| – | — ",
    concedes="",
    topic=_words(
        _all(
            rf"^.{{0,50}}?(?:{_JA_SOURCES}|これら|いずれ|すべて)",
            r"(?:について|に関する|に関して|だけ|のみ|しか|紹介|扱|説明し|説明され|述べ|触れ|中心|言及し|記述し|描い|描写|列挙|まとめ|取り上げ|概要|リスト|一覧|論じ|書かれ|記され|記載され|示し|示され|載っ|載せ|話題|伝え|並べ|振り返|回顧|の話|の解説|伝記|略歴|もの(?:です|で)|内容)",
        ),
        r"^(?:代わりに|その代わり)",
    ),
    about=r"(?:について(?:は|も|のみ|だけ|しか)?(?:述べ|説明|書か|触れ|記)|触れて|説明し|説明され|述べられ|扱っ|扱わ|描写|描い|描か|列挙|記述し|紹介し|取り上げ|関するもの|まとめ|挙げられ|書かれて|記されて|記載されて|に関する(?:もの|内容)|の(?:話|解説|伝記|略歴|一覧|歴史|紹介)|論じ|伝え|回顧|振り返|並べ|載せ|(?:で|に)(?:終わ|とどま|止ま)|から始ま|話が移|へと?移)",
    only=r"(?:だけ|のみ|しか|ばかり|代わりに|主に|中心|別の(?:話題|内容|テーマ)|限ら|とどまり)",
    implies=rf"^(?!.*{_JA_TEXTS}).*(?:ない|ません)と(?:述べ|語|答え|言っ|話し|主張)|^(?!.*{_JA_TEXTS}).*(?:決して|二度と|ついに|一度も)(?!.*(?:言及|記|述べ|触れ))|^.{{0,6}}{_JA_TEXTS}.{{0,4}}(?:によると|によれば|では[,])(?!.*(?:不明|分か|わか|明らか|記載|言及|触れ|情報|回答|答え|できま|特定|述べられて|見当|載って|ませんでし))|^(?!.*{_JA_TEXTS}).*(?:証拠|根拠となる)|^(?!.*{_JA_TEXTS}).*(?:今日まで|今日に至るまで|いまだに|今も|現在も|未だに|誰も知ら|誰にも分か|誰も分か)|証拠(?:が|は)?(?:不十分|不足|足り)|(?:示唆|うかがえ|窺え|思わせ|ように(?:読め|見え|思わ|取れ)|読み取れます|読み取れる|推測され|推察|暗示|ほのめか)",
    known=r"(?:一般(?:的)?に(?:は)?|周知|常識|一般(?:的な)?知識|一般論|通常(?:は)?|(?:私|当方)の(?:知る限り|知識|理解|記憶)|知る限り)",
    reports=r"(?:によると|によれば|一般(?:的)?に(?:は)?|周知|常識|一般知識|一般論)(?![,、]?$)|と(?:書かれて|記されて|述べ(?:て|られて)|記載されて|され(?:て|る|ます)|説明され(?:て)?|言わ)(?:い(?:ます|る)|ます|る|ており)?",
    hedges=r"(?:(?<!ない)よう(?:です|だ|で|に)|らしい|おそらく|恐らく|たぶん|かもしれ|と考えられ|とみられ|と思われ|可能性|推測(?!は|を控)|でしょう|と言われ|とされ|はず|見られ)",
    sorry=r"(?:申し訳|すみません|恐れ入り|残念|ごめん|あいにく|お詫び|恐縮)|心苦し",
    aside=_words(
        r"(?:ありがとうございます|役立つ|役に立つ|参考になる|手がかりになる|分かるかもしれ|わかるかもしれ)",
        r"(?:ください|下さい|お手伝い|お役に立|お探し|お問い合わせ|お勧め|おすすめ|お薦め|推奨|必要です|必要があ|必要とな|いただけれ|いただければ|いただけます(?:か|と)|てみて|いかがでしょう|でしょうか|幸い|お知らせ|ご(?:確認|参照|覧|提供|質問|相談|連絡|提示|希望|用意)|確認すると(?:よい|良い)|(?:よい|良い|いい|確実)でしょう|お調べ|調べると|お気軽|喜んで|ましょう|(?:ほう|方)が(?:よい|良い|いい|確実)|とよい|と良い|をお待ち|助かります|拝見(?:し|いた)|探してみま|お調べ|一緒に|添付(?:し|いただ|くだ|頂|すれ|を)|アップロード|お送り|いただけると|もらえると|あれば|回答いたします|お答えいたします|いたします$)",
        rf"{_JA_SOURCES}.{{0,16}}?(?:読みまし|読んだ|目を通し|確認しました|確認した|調べ(?:ました|た)|拝見しました|探し(?:ました|た)|検索しました|精査|見ました|読みまし|読み(?=[,]))",
        r"^(?:ご)?質問(?:は|が)[^,.]{0,24}?(?:について|広|曖昧|漠然|抽象|に関する|を尋ね|を問う|です)",
        r"^(?:私|当方|AI)(?:は|に|の|が|と)",
        r"(?:他の|別の|公式の?|追加の|外部の|信頼できる|専門の)(?:情報源|資料|文書|サイト|ウェブサイト|機関|情報|文献)",
        rf"^(?:\S{{0,16}}?){_JA_SOURCES}\S{{0,6}}?(?:に基づ(?:く|いて|けば|き)(?:と)?|によると|によれば|から(?:は)?|をもとに(?:すると)?|を(?:確認|参照|調べ|検索|拝見)(?:しました|した|すると)?|の(?:範囲|中)(?:では|で))$",
        r"^(?:したがって|そのため|よって|ですので|要約|まとめ|結論|注|注意|補足|回答|答え|出典|参考|こんにちは|もちろん(?:です)?|ありがとうございます|また|さらに|\S{0,6}(?:まとめ|要約|結果|分析)|ご質問について|以下(?:の通り)?(?:です)?|良い質問ですね)$",
    ),
    offers=r"(?:もっと(?:知|詳)|さらに(?:詳|知)|他に(?:も)?(?:何|ご|知|お)|詳しく(?:知り|お知り|説明し)|お手伝い|詳細をお)",
    asks=_words(
        r"(?:どちら|どれ|どの\S{1,8})か(?:を)?(?:おっしゃ|お選び|教え|お知らせ)",
        r"どの\S{1,12}(?:のこと|について)?か(?:を)?(?:教えて|お知らせ|ご指定)",
        r"(?:どの|どちら|どなた|どれ|どんな|何|どこ|誰|いつ|どう|いずれ).{0,40}?(?:のこと|を指|ご質問|お尋ね|お聞き|おっしゃ|お知りになり|知りたい|について(?:です|でしょう|の|お)|をお探し|を意味|のお話|でしょうか|ですか|を想定).{0,20}?(?:か(?=[?.,]|$)|ください|ますか|ませんか|ですか|でしょうか)",
        r"(?:のこと(?:です|でしょう)か|についてですか|についてでしょうか|を指して(?:い(?:ます|る|らっしゃい)|おられ)|という意味です?か|のことを(?:おっしゃ|お尋ね|聞|指|お聞き)|についての(?:ご質問|お尋ね)(?:です|でしょう)か|それとも.{0,40}か(?=[?.]|$))",
        r"(?:ですか|でしょうか|のことか|なのか)[,.]?.{1,40}(?:ですか|でしょうか|か)[?.]?$|(?:名|年|都市|時代|国|種類|地域|範囲)(?:を|が|は)?.{0,6}(?:お願いでき|お願いし|教え|お聞かせ|お分かり|ご存じ)|(?:どの|どちら|どこ|誰|何年|いつ|どれ|どんな)[^.]{1,40}か(?:\?|[,.]?$)|(?:どの|どちらの).{1,16}(?:さん|方|もの|こと|の)か(?:が|は)?(?:分か|わか)り|によって(?:異なり|変わり|違い)ます|次第です",
        r"(?:教えて|お聞かせ|お知らせ|明確に(?:して)?|特定して|具体的に|指定して|明示して|はっきりさせて|詳しく|ご指定|絞って|ご教示|お示し).{0,14}?(?:いただけ(?:ます|ない|ません)|くださ(?:い|る)|もらえ|頂け|いただきたい|いただく必要|願え|願い)",
    ),
    declines=r"(?:お手伝い|支援|協力|対応|提供|ご案内|お力|助言|応じる?|ご要望|手助け|サポート|アドバイス)[^,.]{0,14}(?:できません|できかね|いたしかね|られません|できない|なれません|差し控え|ことはでき)|(?:ガイドライン|ポリシー|規約)に(?:反|違反)",
    weak=r"^(?:一つには|一つは|中には)|^(?:一部は|ほかは|いずれも)|^(?:どちら|両方|双方|これら|それら)|^(?:[一二三四五六]つ目|第[一二三四五1-9]|最初の|次の|残り|他は|最後の|もう一つ|中心は|主題は|話題は|主な内容は)",
    because=r"(?:のため(?:に)?[,]|から[,]|ので)",
    given=r"(?:お送りいただ|送って(?:いただ|くださ|くれ)|添付(?:の|され|いただ)|貼っていただ|見せて(?:いただ|くださ)|お手元の|写真(?:に|で)は|画像(?:に|で)は|いただいた)|(?:スクリーンショット|スクショ)|見えるのは|手元の|得られた|ヒットした|検索された",
    wants=r"(?:貼|送|お送り|添付|アップロード|共有|見せ|載せ)[^,.]{0,14}(?:れば|ければ|ると|たら)|足していただ",
    negates=r"(?:ません|ない(?:よう)?(?:です|で|$|[,.])|なかった|ず[,に]|ゼロ)|(?:謎|出てき(?:ません|ない))",
    hence=r"^(?:したがって|そのため|よって|ですので|このため|だから|ゆえに|以上から)",
    there=r"そこに|その中|ここに|どこにも|どれにも|いずれにも",
    lacks=r"抜け(?:て|落ち)|登場し(?:ない|ません)|出て(?:き(?:ません|ない)|い(?:ません|ない))|見(?:つけられ|つかり|当たり|つから|当たら)(?:ません|ない|なかった)|漏れて|省かれ|欠けて|答えを出せ|現れ(?:ません|ない)|載って(?:いません|いない|おらず)|含まれ(?:ていません|ていない|ません)|飛ばされ|作り話|どこにも(?:あり|見)|書かれてい(?:ない|ません)|記されてい(?:ない|ません)|中にな|(?:別のところ|他のところ|よそ|ほか)(?:で|に)(?:探|求め|当た)",
    figure=r"何(?:人|年|度|時|メートル|キロ|月|日|本|歳|回|個)|いくら|いつ|どれくらい|どのくらい|樹齢",
)

_ZH_SOURCES = r"(?:文[档檔件]|[资資]料|上下文|文本|段落|[来來]源|[检檢]索[结結]果|搜[索尋][结結]果|[结結]果|文章|材料|[内內]容|信息|[资資][讯訊]|[参參]考|片段|原文|文中|[数數][据據]|文[献獻]|[语語]境|[记記][录錄载載]|[摘节節][录錄要选選]|网[页頁]|[网網][页頁]|章[节節]|[这這]些|其中|[这這][里裡]|(?:(?<=[篇这這些])|^)[报報][道导導]|[这這][几幾][页頁段篇份]|[页頁]面|附件|文里|文內|通篇|全文|[这這四三五两兩几幾]份|[这這几幾四三五两兩]段)"
_ZH_TEXTS = r"(?:文[档檔件](?:里|裡|中|内|內)?|[资資]料|上下文|文本|段落|检索[结結]果|搜[索尋][结結]果|文章|材料|片段|原文|文[中里內内裡]|文[献獻]|摘[录錄要]|(?:(?<=[篇这這些])|^)[报報][道导導]|附件|[这這][几幾]?[页頁段篇份]|通篇|全文|[哪任][一何]?[个個]?[篇份段][^,.]{0,4}?|其中|信息|[参參]考[内內]容|提供的[内內]容|[给給]我的[^,.]{2,4})"
_ZH_INFO = r"(?:信息|[资資][讯訊]|[资資]料|答案|[内內]容|[说說]明|[记記][载載录錄]|描述|[数數][据據]|[细細][节節]|[线線]索|[关關]联|介[绍紹]|解[释釋]|[详詳]情|[陈陳]述|文字|定[论論]|[说說]法|踪影|蛛[丝絲]|交代|[结結][论論])"
_ZH_NOT = r"(?:[没沒]有?|[没沒]|未(?:能|曾|被)?|[无無](?:法|从|從)?|不(?:能|曾|足|包|含|是|提|涉|[够夠])?|并未|並未|缺乏|缺少|尚未|均未|[难難]以|欠缺|[没沒]办法|[没沒]辦法)"
_ZH_HOLD = r"(?:包含|包括|含有|提及|提到|提供|[说說]明|指出|[给給]出|涉及|回答|介[绍紹]|描述|[记記][载載录錄]|找到|[发發][现現]|[确確]定|[确確][认認]|得知|判[断斷]|知道|了解|[显顯]示|解[释釋]|列出|交代|[谈談][到及论論]|[讨討][论論]|透露|[写寫]明|明[确確]|相[关關]|[说說]|依[据據]|推[断斷测測]|[标標]明|注明|[阐闡]述|出[现現]|看到|看出|查到|[详詳][细細述]|答案|信息|[资資]料|[资資][讯訊]|[内內]容|足[够夠]|充分|[讲講]|[论論]及|披露|公布|直接|具[体體]|[线線]索|存在|[关關]于|[关關]於|有[关關]|[记記]|[证證]|写|寫|言明|表明|反映|作答|[谈談]|看|[数數][据據]|[细細][节節]|支持|[帮幫]助)"
_ZH = Wording(
    sources=_ZH_SOURCES,
    nouns=_words(
        r"登记簿|登記簿|[报報][纸紙]|新[闻聞]稿|[网網]站|表格|[邮郵]件|信件|摘要|碑文|名[单單]|[广廣]告|[报報]告|目[录錄]|年[谱譜]|清[单單]",
        rf"(?:{_ZH_SOURCES}|{_ZH_INFO}|[问問][题題]|[哪那]一?[份篇][都也])",
        r"(?:手册|说明书|宣传册|小册子|[报報]告|采[访訪]|[访訪][谈談]|信件|[传傳][记記]|回[忆憶][录錄]|[标標][签籤]|目[录錄]|年[谱譜]|通知|[简簡][报報]|[讲講]解[词詞]|公告)",
        r"(?:封信|[卷档檔]案)",
    ),
    statutes=r"(?:[条條]例|法律|法案|法令|[宪憲]法|[条條][约約]|公[约約]|[规規]定|章程|[圣聖][经經]|[协協][议議定]|[渔漁]业?法|[^方无無办辦没沒看想说說做司书書]法(?=[并未没沒]))",
    denies=_words(
        rf"{_ZH_NOT}[^,.;]{{0,16}}?{_ZH_HOLD}|(?:不足|不[够夠]|有限|欠缺|空白|[无無][关關]|不相[关關])|[沉缄緘]默|[闭閉]口不[谈談]|付之阙如|付之闕如|[只隻]字[未不]提|略而不|[没沒]影|一[个個]?字[也都]?[没沒]",
        r"沉默|缄默|緘默|闭口|閉口",
    ),
    gap=_words(
        rf"^(?!.*(?:根[据據]|[据據]|[说說指写寫称稱][,:]|显示|[记記][载載][,:])).{{0,12}}?{_ZH_TEXTS}(?:\d{{0,2}})(?:[里裡中内內上]|[对對][^,.]{{1,10}}|都|均|也|并|並|[则則]|[仅僅]|本身)*[^,.]{{0,12}}?(?:[没沒]|未|[无無]|不[谈談提涉含足够夠见見详詳包讲講]|看不|查不|[找寻尋]不|[闭閉]口|[沉缄緘]默|[只隻]字|略[过過]|回避|空白)",
        r"(?:[谁誰]|何[时時人地处處]|[什甚][么麼]|多少|多[长長高大深久远遠重]|怎[样樣么麼]|如何|[为為]何|[为為]什[么麼]|哪[里裡儿兒年个個位]|[几幾](?=[年月日个個位]))[^,.]{0,12}?,?[^,.]{0,12}?(?:[没沒](?!有人)|未(?!能?成)|[无無](?:法|从|從)|不(?:[知明详詳清得确確]|可知)|看不出|查不|[难難]以|[只隻]字|都[没沒]|也[没沒])|不(?:在|[属屬]于|[见見][于於])[^,.]{0,10}(?:文[档檔件本中]|[资資]料|材料|上下文|信息)",
        rf"(?:看|查|找|[寻尋]|得|答|[说說]|[认認]|[分辨]|推|判|[弄搞])不(?:到|出|上|了|清|着|著|[见見])[^,.]{{0,8}}?(?:{_ZH_INFO}|[来來]|[谁誰]|[结結][论論]|$|[,.])|[没沒](?:有)?(?:看|找|查|[发發][现現]|[见見])到?[^,.]{{0,24}}?{_ZH_INFO}|不(?:做|作|妄|便|敢)(?:猜|推|揣|[断斷])[测測想断斷]?|就?不(?:乱|亂)?猜了?|(?:[无無]法|不予|不)作答|[没沒][有法]?[办辦]?法?(?:作)?答",
        rf"^[^,.]{{0,10}}{_ZH_TEXTS}.{{0,40}}?,而(?:不是|非)",
        rf"^[^,.]{{0,6}}?{_ZH_SOURCES}(?:并|並|也|都|均)?(?:[没沒]有|[无無])",
        rf"{_ZH_SOURCES}(?:[里裡中内內上])[^,.]{{0,8}}?(?:[没沒]有|[没沒]|[无無])|[只隻]字未提|[没沒][有]?(?:[说說][谁誰何哪是明到]|写|寫|[讲講])|[没沒]有[^,.]{{0,3}}[说說]",
        r"派不上用|[没沒]什?[么麼]?用[处處]?|不[够夠]用|不在其[内內中列]|(?:[没沒]|未)[见見]到?[^,.]{0,10}(?:名|信息|[资資]料|[记記])|[没沒]有[一哪]?[份段篇个個位][^,.]{0,8}(?:[说說][到明]|[谈談提讲講]|[讨討][论論]|涉|出[现現]|[写寫]|透露)|[缺][了少乏][^,.]{0,6}(?:信息|[资資]料|[内內]容|[说說]明|[细細][节節])|不(?:太)?(?:知道|知情|掌握|清楚|[确確]定|[详詳]|明(?![显顯确確白智])|了解|得而知|[晓曉]得)|未知|未[详詳]|不明$|不明(?=[,.])|[尚仍]不|有待",
        r"(?:[无無]法|不能|[没沒]法|[没沒]办法|[没沒]辦法|[难難]以|很?[难難](?=[^,.]{0,8}(?:回答|[确確]定|判[断斷]|[说說]))|未能|不可能|[没沒]能|[无無]从|[无無]從)[^,.;]{0,40}?(?:回答|作答|解答|[确確]定|[确確][认認]|得知|判[断斷]|知道|找到|提供|[给給]出|推[断斷测測知]|得出|[获獲]得|[获獲]知|答[复復覆]|告[诉訴]|查到|核[实實]|[说說]明|看出|了解|[断斷]定|答案|[识識][别別]|定位|[证證][实實]|答|下[结結][论論]|指出|得到)",
        r"(?:[没沒]有?(?:任何|明[确確]|直接|具[体體]|相[关關]|[给給]出)?地?|未(?:曾|能|被|[对對])?(?:明[确確]|直接|具[体體])?|并未|並未|均未|都[没沒]有?|也[没沒]有?|尚未|[没沒])(?:[对對][^,.]{0,12})?[^,.]{0,6}?(?:提及|提到|提供|[说說]明|指出|[给給]出|涉及|回答|介[绍紹]|描述|[记記][载載录錄]|找到|[发發][现現]|[显顯]示|解[释釋]|列出|交代|[谈談][到及]|[讨討][论論]|透露|[写寫]明|明[确確]|[标標]明|注明|[阐闡]述|查到|[详詳]述|披露|言及|[讲講]到|[论論]及|[说說][是到明谁誰何])(?:.|[此这這][一]?[点點事]|[该該]\S{1,4})?(?=[,.;]|$)",
        rf"(?:[没沒]有?|[无無]|缺乏|缺少|不存在|找不到|查不到|看不到|[寻尋]不到|不含|未含|不包[含括]|未包[含括]|不具[备備])(?:任何|足[够夠]的?|相[关關]的?|有[关關]|直接|明[确確]|具[体體]|可用|[关關]于|[关關]於|[与與])?[^,.;]{{0,40}}?{_ZH_INFO}",
        r"找不到|查不到|[寻尋]不到|查[无無]|[无無]可奉告|[无無]从|[无無]從|[无無]法",
        rf"(?:{_ZH_INFO}|{_ZH_SOURCES})[^,.]{{0,16}}?(?:不足|不[够夠]|有限|欠缺|不充分|不完整|缺失|[无無][关關]|不相[关關]|不存在|[没沒]有(?=[,.]|$)|都[没沒]有)",
        r"[尚仍][无無][^,.]{0,6}(?:定[论論]|答案|[结結][论論])|不得而知|[没沒]有[^,.]{0,4}答案",
        r"(?:需要|[须須]要|[还還]需|有待)[^,.]{0,6}(?:更多|其他|[额額]外|[补補]充|[进進]一步)[^,.]{0,4}(?:信息|[资資]料|文[档檔件]|[资資][讯訊]|上下文)",
        r"超出[^,.]{0,12}[范範][围圍]",
        r"[没沒](?:有)?[说說提讲講写寫][^,.]{0,14}(?:是|[还還]是|[谁誰]|何|哪|什|多少|[几幾])",
    ),
    short=(
        r"(?:答案?: ?|回答: ?|答[复復]: ?|[该該此这這]?[问問][题題])?(?:不相[关關]|[无無][关關](?:[内內]容|信息)?|[与與](?:[该該]?[问問][题題]|主[题題])(?:[无無][关關]|不相[关關])|[无無]法(?:回答|作答|解答|[确確]定|判[断斷]|[给給]出答案|得知|找到答案|[获獲]知|提供答案)(?:[该該此这這](?:[问問][题題]|[题題]))?|[无無]相[关關](?:信息|[内內]容|[资資]料|答案|[结結]果|[资資][讯訊])|[没沒]有(?:答案|相[关關]信息|相[关關][内內]容|找到(?:答案|相[关關]\S{1,4})?|提到|提及|相[关關][资資][料讯訊]|信息|[关關][联聯])|不可回答|不可[答知]|[无無]答案|不知道|不[详詳]|未知|不[确確]定|不清楚|未(?:提及|提到|找到|提供|[说說]明)(?:相[关關]\S{1,4}|答案)?|信息不足|[资資]料不足|[资資][讯訊]不足|不[适適]用|找不到(?:答案)?|[没沒]提(?:到|及)?|暂[无無](?:信息|答案|[资資]料|相[关關]信息)|[暂暫][无無]\S{0,4}|不能回答|答不(?:上[来來]|了|出)|n/?a|[无無]|[无無]解|查[无無](?:此\S|[资資]料|[结結]果)?|上下文(?:中)?[没沒]有|[难難]以回答|[无無][从從]得知|不得而知|[没沒]有[结結]果|[缺数數][据據]不足|缺乏信息|[没沒]有相[关關]性|不相干|拒[绝絕]回答)(?:的?(?:[问問][题題])?)?"
    ),
    turns=r"(?:^|[,;.–—-] ?)(?:但是?|然而|不[过過]|可是|只是|尽管如此|儘管如此|[虽雖]然如此|而(?=[^且])(?!不是|非)|至于|至於|[虽雖]然|[尽儘]管)[,:]?|;| – | — ",
    concedes=r"(?:[虽雖]然|[虽雖][说說]|[尽儘]管|除了|即使)",
    topic=_words(
        _all(
            rf"^.{{0,24}}?(?:{_ZH_SOURCES}|它[们們]|[这這]些|全部|均)",
            r"(?:介[绍紹]|描述|[讨討][论論]|提到|提及|[讲講]|[关關]于|[关關]於|[谈談]|涉及|列出|[说說]明|[说說]的|[记記][录錄载載]|包含|提供|集中|[阐闡]述|叙述|敘述|[论論]述|[讲講]述|[围圍][绕繞]|[仅僅]|只|概述|是[关關]|[关關]注|[内內]容|全是|都是|[罗羅]列|回[顾顧]|描[写寫]|[报報][道导導][的了])",
        ),
        r"^(?:相反|而是)",
    ),
    about=r"(?:介[绍紹]|描述|[讨討][论論]|[讲講](?:的是|述|到|了)|提到|提及|列出|列[举舉]|[关關]于|[谈談]|[记記](?:述|[录錄载載])|[说說]的是|涉及|[叙敘]述|[阐闡]述|[讲講](?![座课課])|回[顾顧]|描[写寫]|[罗羅]列|生平|[写寫讲講]到[^,.]{1,12}(?:[结結]束|[为為]止|止)|[简簡][历歷介]|[仅僅]|[说說]到)",
    only=r"(?:只|[仅僅]|主要|而是|其他(?:[话話]|主|方|[内內])|[单單])",
    implies=rf"^(?!.*{_ZH_TEXTS}).*(?:[称稱]|[说說]|表示)(?:自己|他|她|其)(?:[们們])?(?:[不没沒])|^(?!.*{_ZH_TEXTS}).*(?:从未|從未|从来[没不]|再也[没不]|一直[没未])(?!.*(?:提|[说說]明))|^(?:根?[据據]|按照?|依[据據照]?){_ZH_TEXTS}(?:所[述说說载載])?[^,]{{0,3}},(?!.*(?:[知明详詳清]|提[到及]|回答|信息|答案|[确確]定|[无無]法|[说說]|看出))|^(?!.*{_ZH_TEXTS}).*[证證][据據]|^(?!.*{_ZH_TEXTS}).*(?:至今|迄今|时至今日|[没沒][有]?人知|[无無]人知|[谁誰]也不知)|[证證][据據](?:不足|不[够夠]充?分?)|(?:暗示|可以推[测測]|[让讓]人[觉覺认認]|表明.{0, 10}可能|[给給]人)|[说說]法不一|[众眾][说說][纷紛][纭紜]",
    known=r"(?:众所周知|[众眾]所周知|一般(?:[来來]|而|[说說])|普遍|常[识識]|通常|公[认認]|[据據就][我]所知|我所知(?:道)?的?|我(?:自己)?的(?:知[识識]|了解|[记記][忆憶]))",
    reports=r"(?:据(?![此])|[据據](?:悉|[报報])|众所周知|[众眾]所周知|一般(?:[来來]|而)|普遍|常[识識]|通常|公[认認])|(?:指出|[说說](?![到的明])|[称稱]|表明|[显顯]示|提到(?=[,:了])|[记記][载載]|[写寫]道|[认認][为為])[,:]?[^,.]{2,}",
    hedges=r"(?:可能|似乎|也[许許]|大概|[据據][说說]|好像|或[许許]|看[来來]|恐怕|大[约約]|推[测測]|估[计計]|相[传傳]|[应應][该該]是|一般[认認][为為])",
    sorry=r"(?:抱歉|[对對]不起|[遗遺]憾|不好意思|歉意|[见見][谅諒])",
    aside=_words(
        r"(?:可能|或[许許]|也[许許]|[应應][该該])[^,.]{0,6}(?:有[帮幫]助|知道|能[帮幫提]|[帮幫]得上|有[答记記])",
        r"(?:^|[,.])[^,.]{0,8}?(?:[请請](?!问[您你]?指)|建[议議]|您?如果?(?:您|你|有|能|需要|可以|想|愿意|願意)|如果|若(?:您|你|有|能|需|想)|如需|您(?:可以|可|能|想|[还還]|需要|是否|若)|你(?:可以|可|能|想|需要|是否|若)|欢迎|歡迎|[乐樂]意|很高[兴興]|希望|[让讓]我|[为為]您|[帮幫]您|[帮幫]你|[协協]助|推[荐薦]|最好|不妨|[咨諮][询詢]|查[阅閱]官|[联聯][系繫]|要不要(?:我)?|愿意的[话話]|[願]意的[話]|我去[^,.]{1,12}(?:找|查|看)|[给給發发]我|有用|有[帮幫]助|更合[适適]|需不需要|我可以|我(?:来|來)?(?:帮|幫)|能附上|附上|上[传傳]|[发發][来來给給]|去[别別][处處]找|再找)",
        rf"(?:[读讀]|看|查|翻|[检檢]|[浏瀏]|[审審]|核)[^,.]{{0,10}}?(?:[过過了完遍]|[阅閱])[^,.]{{0,8}}?{_ZH_SOURCES}|{_ZH_SOURCES}[^,.]{{0,8}}?(?:[读讀看查翻][^,.]{{0,3}}?[过過了完遍]|[检檢][查索][过過了])",
        r"^(?:[您你][的]?)?(?:[问問][题題]|提[问問])(?:[问問]的?是|是[关關]|[关關][于於]|有[点點些]|比[较較]|[过過太]|[涉]|略)[^.]{0,24}",
        r"^(?:因此|所以|故此?)?,?我(?!(?:[认認][为為]|[觉覺]得|想是|猜|推[测測]))",
        r"(?:其他|官方|更多|[额額]外|外部|可靠|另外)的?(?:[来來]源|[资資]料|文[档檔件]|渠道|信息|[资資][讯訊])",
        rf"^(?:根[据據]|基于|基於|依[据據]|按照|[从從]|在|[对對]于|[针針][对對]|通[过過]|就)[^,.]{{0,16}}?(?:{_ZH_SOURCES}|[问問][题題])(?:中|里|[来來]看|而言)?$",
        r"^(?:因此|所以|[总總]之|[综綜]上(?:所述)?|[总總][结結]|[结結][论論]|注意?|[备備]注|答案?|回答|[来來]源|您好|你好|[当當]然|[谢謝]{1,2}[您你]?[^,.]{0,10}|另外|此外|以下(?:是[^,.]{0,8})?|好[问問][题題]|[^,.]{0,4}(?:小[结結]|摘要|分析)|[关關]于您的[问問][题題])$",
    ),
    offers=r"(?:了解更多|知道更多|更多(?:信息|[内內]容|[细細][节節])|[进進]一步了解|其他[^,.]{0,4}(?:[问問][题題]|[帮幫]助)|[还還](?:需要|想)|[帮幫]忙|[帮幫]得上|(?<!为了)(?<!為了)(?<!能)(?<!能够)[帮幫](?:您|你)|要不要我|需要我|要我(?:再|去|帮|幫)|我去[别別])",
    asks=_words(
        r"[请請](?:说|說|写|寫|选|選)[^,.]{0,6}哪",
        r"[请請](?:告[诉訴]我|[说說]明|指明)[^,.]{0,10}(?:哪|[谁誰])",
        r"(?:您|你)(?:具[体體])?(?:是)?(?:指|[说說]的|[问問]的|想[问問知了]|想要|要[问問]|的意思|[询詢][问問]|[关關]心|[谈談]的|所[说說问問指]|在[问問说說找]|是[问問说說])|(?:[请請][问問])[^?]{0,40}(?:指|哪|[谁誰]|[还還]是|什[么麼])|指的是(?:哪|[谁誰]|什)|哪(?:一)?[个個位座家部本年条條种種]?[^?]{0,20}(?:您|你)",
        r"(?:[请請](?:您|你)?|能否|可否|可以|能不能|麻[烦煩](?:您|你)?)(?:[进進]一步|再|具[体體]|明[确確]|更|[详詳][细細])*(?:[说說]明|澄清|明[确確]|具[体體]|[补補]充|告[诉訴知]|指明|[说說]清|指定|[确確][认認]|[详詳][细細])[^,.]{0,30}(?:哪|[谁誰]|什[么麼]|一下|是指|[还還]是|范[围圍]|[问問][题題]|[吗嗎]|$)",
        r"(?:[没沒]|不)太?(?:明白|[听聽]?懂|清楚|[确確]定)[您你]|[还還]是[^?]{1,30}\?|(?:您|你)(?:的|要|想|在|是|有|用)[^?]{1,20}(?:什[么麼]|哪|多少|[几幾]|[谁誰])[^?]{0,8}\?|(?:能|可以|可否|[请請]|麻[烦煩])[^?,]{0,8}(?:[说說]|[告讲講给給])[^?,]{0,8}(?:名|年|[城国國]|[时時]|地|哪|什|具)|(?:哪|[谁誰]|什[么麼]|[几幾]|何)[^?]{0,20}\?$|[需要须須][^,.]{0,6}(?:知道|[确確][认認]|一[点點些]信息)[^.]{0,30}(?:哪|[谁誰]|什|[几幾]|何)|(?:取[决決][于於]|要看)[^,.]{0,8}(?:哪|[谁誰]|什|[指说說])",
        r"^(?:是指|指的是|是)?(?:哪|[谁誰])[^?]{0,24}\?",
    ),
    declines=r"不(?:想|愿|願)意?(?:[给給]出?|提供|胡|乱|亂|随意)|(?:[无無]法|不能|不[会會便])[^,.]{0,6}[帮幫](?:您|你)|(?:[无無]法|不能|不[会會便])[^,.]{0,6}(?:[协協]助|[帮幫]助|[帮幫]忙|[为為]您提供(?:此[类類]|[这這][类類方]|[医醫法投建])|[满滿]足|[执執]行|支持|提供(?:此[类類]|[这這][类類方]|[医醫]|法律|投[资資]|[这這]种|[这這]些)|配合)|[违違]反[^,.]{0,8}(?:[规規]|[准準][则則]|政策)",
    weak=r"^(?:里面|裡面|其中|有[一几幾]?[篇份段])|^(?:有的|有些|部分|一些)|^(?:[两兩三]份都?|[两兩]者|都)|^(?:第[一二三四五六][个個份段篇、]|其[余餘他它]|另[一外几幾]|最后|最後|[余餘]下|剩下|它[们們]|[两兩]者)",
    because=r"(?:因[为為]|由[于於]|因(?!此))",
    given=r"(?:(?:您|你)(?:上传|上傳|发|發|给|給|贴|貼|附|提供)[^,.]{0,6}的|[给給]我的|手[头頭](?:的|只|上)|[现現]有的|目前的?|[图圖]片[里裡上中]|照片[里裡上中]|截[图圖])|(?:截[图圖])|我只?能?看到的?(?:只|仅)|我(?:找到|拿到)的|[检檢]索(?:到|出[来來])的",
    wants=r"(?:贴|貼|发|發|上传|上傳|附|拍|补|補)[^,.]{0,10}(?:[过過][来來]|上[来來]|[给給]我|[来來](?=,|我))|补上",
    negates=r"(?:[没沒]|未|[无無](?!关)|不[在见見])|(?:是[个個]?[谜謎])",
    hence=r"^(?:所以|因此|因而|故|于是|可见|综上|总之|结论)",
    there=r"其中|里面|裡面|上面|那里|那裡|在内|在內|里头|裡頭",
    lacks=r"漏(?:掉|了)|缺(?:了|失)|未(?:出现|出現|见|見|列)|[没沒]有?(?:出现|出現|找到|交代|提|列出|写|寫|露面)|[见見找寻尋]不(?:着|著|到)|推算不|搁置|擱置|不在(?:上面|其中|内|內)|略去|略过|略過|省略|[谁誰]也[没沒](?:给|給|[说說])|跳了?[过過]|[编編]造|看不到|不在其列|[没沒]有?(?:写|寫|收)|(?:别处|別處|其他地方|他处)[^,.]{0,6}(?:找|寻|尋|查)|(?:找|寻|尋|查)[^,.]{0,6}(?:别处|別處|其他地方)|[没沒]有一[篇份段个個][^,.]{0,6}(?:点明|點明|[说說写寫]|交代|[给給])",
    figure=r"多少|几|幾|何时|何時|什么时候|哪一?年|多[长高大深久远重]|何年",
)

WORDINGS: dict[str, Wording] = {
    "ar": _AR,
    "bn": _BN,
    "de": _DE,
    "en": _EN,
    "es": _ES,
    "fa": _FA,
    "fi": _FI,
    "fr": _FR,
    "hi": _HI,
    "id": _ID,
    "ja": _JA,
    "ko": _KO,
    "ru": _RU,
    "sw": _SW,
    "te": _TE,
    "th": _TH,
    "yo": _YO,
    "zh": _ZH,
}
"""By language code."""
