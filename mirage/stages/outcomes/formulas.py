"""Formulas of the NoMIRACL instruction in an answer: statements, and mere mentions."""

import re
from collections.abc import Iterator

from mirage.stages.outcomes.fold import fold_pattern

# A place in a list of contexts ("1.", "[3]", "Context 2:"), and any item of a list.
NUMBER = r"\(?\d{1,2}[.):]|\[\d{1,2}\]:?|(?:in )?(?:contexto?|kontext|konteks|text|passage)e?s? ?\[?\d{1,2}\]?[.:]?"
_ITEM = rf"(?:[-*•]|\(?[a-e][.)]|{NUMBER})"
OPEN = rf"[ \t]*(?:{_ITEM}[ \t]*)?[\"'*_]*"
_CLOSE = r"[\"'*_]*[.,]?[\"'*_]*[ \t]*"
_YES = r"yes,? (?:(?:the )?answer is present|i know the answer)"
_NO = r"no,? (?:the )?answer is (?:not )?present"
_IDK = r"(?:(?:yes|no),? )?i don't know(?: the answer)?"

# The items under a line that ends in a colon.
_LIST = rf"(?:(?<=:)(?<!context:)(?<!contexts:)[ \t]*(?:\n\s*(?:{_ITEM}[^\n]*|\"?(?:yes|no|i don)\b[^\n]*))*)?"
_MENTIONS = "|".join(
    (
        # The choices of the instruction, none taken.
        (
            rf"(?P<choices_listed>^{OPEN}{_YES}{_CLOSE}\n\s*(?:{OPEN}{_IDK}{_CLOSE}(?:\n\s*{OPEN}{_NO}{_CLOSE})?"
            rf"|{OPEN}{_NO}{_CLOSE}(?:\n\s*{OPEN}{_IDK}{_CLOSE})?)$"
            rf"(?!\s*{OPEN}(?:yes|no|i)\b|\s*\d{{1,2}}[.)])"
            r"|\b(?:options?|choices|(?:possible|posibles) (?:answers?|outputs?|responses?|respuestas))\b[^\n]{0,60}"
            rf":{_LIST})"
        ),
        # The instruction repeated, or the reader told what to do.
        (
            r"(?P<instruction_repeated>\b(?:(?:please|kindly|bitte|por favor|veuillez|silakan|mohon|tafadhali"
            r"|пожалуйста|responda|respondez|i will|i'll|let me know|i hope|you can (?:answer|respond|choose|select))\b"
            r"|(?:respond|reply|answer)(?: (?:as|with|either))+ )"
            rf"[^\n]*{_LIST}"
            r"|(?:कृपया|দয়া করে|অনুগ্রহ করে|దయచేసి|من فضلك|لطفا|请回答|請回答|答えてください|선택하세요)[^\n]*"
            r"|\bif\b[^\n]{0,200}?\b(?:respond|reply|say|answer|means?)\b[^\n]*"
            r"|\b(?:unless|in which case|would (?:be|have been))\b[^\n]*?\banswer is(?: not)? present\b"
            r"|\b(?:whether|if)\b[^.?!\n]{0,80}\banswers? (?:is|are|was)(?: not)? present\b[^.?!\n]*"
            r"|\"?\b(?:yes|i don't know)\b[^\n.]{0,60}?[\"',. ]*(?:\b(?:or|and/or|o|ou|oder|atau|или)\b|/|と) ?[\"']?"
            r"(?:no\b|yes\b|i do(?:n't\b|n$)|don't)[^\n]*)"
        ),
        # A question the answer puts itself.
        (
            rf"(?P<question_repeated>^{OPEN}(?:question: )?(?:do|does|did|is|are|was|were|can|what|who|which|when|where"
            r"|how|why)\b(?:\"[^\"\n]*\"|[^?\n\"])*(?:\?|\Z))"
        ),
    )
)
_NOT_KNOWN = (
    r"(?P<i_dont_know>\bi\s+(?:really |do |honestly )?(?:don\W{0,2}[st]?|don\s*'\s*t|do not)\s+know\b"
    r"|\bi don'?(?=\W*\Z))"
)
_PRESENCE = "|".join(
    (
        (
            r"(?P<negated>\b(?:no|nope|not|non|nein)\b[,:]? ?(?:have |contain )?(?:the |an? "
            r"|any )?(?:\w+ )?answers? (?:is |are |was )?present\b)"
        ),
        (
            r"(?P<answer_is_not_present>\b(?:(?:no|nope)\b[,.]? ?)?(?:the )?answers? (?:(?:is|are|was|were)(?: not|n't)"
            r"|not) present\b)"
        ),
        r"(?P<answer_is_present>\b(?:yes[,.]? )?(?:the )?answer (?:is |was )?present\b)",
    )
)
_STATEMENTS = f"{_NOT_KNOWN}|{_PRESENCE}"

MENTIONS = ("choices_listed", "instruction_repeated", "question_repeated")
"""Groups of `MENTIONED_OR_SAID` that are not statements: quoted, asked or supposed."""
# Every statement begins with a word with one of these letters, which skips most positions.
_BEGINS = r"\b(?=[inaty])"
_SAID = re.compile(f"{_BEGINS}(?:{_STATEMENTS})")
_SAID_NOT_KNOWN = re.compile(f"{_BEGINS}(?:{_NOT_KNOWN})")
_SAID_PRESENCE = re.compile(f"{_BEGINS}(?:{_PRESENCE})")
MENTIONED_OR_SAID = re.compile(fold_pattern(f"{_MENTIONS}|{_STATEMENTS}"), re.MULTILINE)
"""Mentions and statements, whichever begins first."""
TRIGGERS = tuple(
    fold_pattern(
        "please|kindly|bitte|por favor|veuillez|silakan|mohon|tafadhali|пожалуйста|respond|reply|answer as|answer with"
        "|answer either|i will|i'll|let me|i hope|you can|if |unless|/|と|which case|would|whether| or | o | ou |oder "
        "|atau |или |option|choice|possible|posible|?"
        "|कृपया|দয়া|অনুগ্রহ|దయచేసి|من فضلك|لطفا|请回答|請回答|答えてください|선택하세요"
    ).split("|")
)
"""Substrings of every mention: a fast test that avoids the slow pattern for most answers."""


def formulas(text: str) -> Iterator[re.Match[str]]:
    """Yield the statements of a folded text, in order; the name of the group is the rule."""
    known, present = "know" in text or "i don" in text, "present" in text
    if known and present:
        return _SAID.finditer(text)
    if present:
        return _SAID_PRESENCE.finditer(text)
    # Skip expressions that cannot match.
    return _SAID_NOT_KNOWN.finditer(text) if known else iter(())
