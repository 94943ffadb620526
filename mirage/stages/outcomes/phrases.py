"""English expressions of answers, abstentions, yes, no and questions (`translated.py` has other languages).

Every string is a regular expression in lower case, matched on the folded text of `fold.py` (so one spelling of an
apostrophe, of Arabic yeh and kaf and of a full stop suffices, and zero-width joiners are gone). English is tried for
every language, because the prompt is English and most answers are.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """Expressions of one language."""

    yes: str
    """Affirmative openings of an answer."""
    no: str
    """Negative openings of an answer."""
    affirm: str
    """Statements that an answer is present."""
    deny: str
    """Statements that the answer is unknown or absent."""
    asks: str
    """Lines that are questions without a question mark."""


def any_of(*expressions: str) -> str:
    """Join expressions. `<gap>` matches text between "the answer" and "is present" in a sentence: a place, a quoted
    question.
    """
    return "|".join(expressions).replace("<gap>", r"(?:\"[^\"\n]*\"|[^.?!:\n\"]){0,160}?")


ENGLISH = Phrases(
    yes=r"yes|yep|yeah",
    no=r"no|nope|none|unknown",
    affirm=any_of(
        (
            r"\banswers?\b<gap>\b(?:is|are|can be|could be) (?:\w+ly )?(?:present|found|available|provided|given"
            r"|mentioned|contained|stated|in (?:the |one |some )?context)"
        ),
        r"\banswers? present\b",
        r"\bthere (?:is|are) (?:an|the|some|several|multiple|clear) (?:\w+ )?answers?\b",
        r"\bthere is (?:enough )?information\b",
        r"\bquestion\b<gap>\b(?:is|can be|could be) (?:\w+ly )?(?:answered|answerable)\b",
        (
            r"\bcontexts?(?: number)?(?:(?: in)? \[?\d+\]?,?(?: and)?)*(?: do)? (?:\w+ly )?(?:answers|gives an answer"
            r"|(?:provide|contain)s? the answer)\b"
        ),
        r"\ball (?:of the )?contexts answer\b",
        r"\bcontext that (?:answers|provides|contains)\b",
        r"\bno\. ?\d+ answers\b",
        r"\bi (?:do )?know(?: the answer)?(?=[.,!\n\"]| to |$)",
        r"\bi can answer\b",
        r"\bi found the answer\b",
    ),
    deny=any_of(
        (
            r"\bdo(?:n't| not) (?:really |actually )?(?:know|have (?:an?|the|any|enough"
            r"|sufficient) (?:\w+ )?(?:answer|information))\b"
        ),
        r"\bi(?:'m| am) (?:not sure|unsure|unable|not able)\b",
        (
            r"\b(?:can ?not|can't|could not|couldn't|unable to) (?:be )?(?:\w+ly )?(?:answer|determin|find|found|say"
            r"|tell|provide|identif|verif|confirm|conclude)\w*"
        ),
        r"\b(?:none of|no) (?:the |these |those |any )?(?:\w+ )?(?:contexts?|passages?|texts?)\b",
        r"\bnone of (?:the(?! above)|them|these)\b",
        r"\b(?:is|are|remains?) (?:unknown|unclear)\b",
        (
            r"\b(?:contexts?|passages?|information)\b(?: (?:you )?(?:provided|given"
            r"|above))?(?: in the contexts)?,? (?:do|does|did)(?:n't| not) (?:\w+ly )?(?:answer|contain|provide"
            r"|mention|give|specif|include|have|state|offer)\w*"
        ),
        (
            r"\b(?:there )?(?:is|are|was|were)(?:n't| not|) (?:no|not|any) (?:\w+ ){0,2}(?:information|answers?"
            r"|mention|data|evidence|details?|context|indication|text)\b"
        ),
        r"\bthere (?:isn't|is not|aren't) (?:an? |any )?(?:\w+ )?(?:answers?|information|mention)\b",
        r"\bnot (?:enough|sufficient) (?:information|context|data|details?)\b",
        r"\b(?:insufficient|no) (?:\w+ )?(?:information|answers?|output|data)\b",
        (
            r"\b(?:answers?|question|information)\b<gap>\b(?:is|are|was|were|does|do|did|can|could|has|have)(?:n't"
            r"|not| not) (?:be )?(?:\w+ly )?(?:present|available|provided|given|found|mentioned|contained|known|clear"
            r"|specified|stated|answered|appear|exist|answerable|in|have an?|been|provide|contain|directly|any)"
        ),
        r"\bit(?: is|'s| was)(?: not|n't) (?:\w+ly )?(?:clear|possible|specified|mentioned|known|stated)\b",
        r"\bit(?: is|'s) (?:unclear|impossible|unknown)\b",
        (
            r"\b(?:is|are) not (?:\w+ly )?(?:mentioned|specified|provided|stated|known|given"
            r"|present)(?: or \w+)? (?:in|by|from|within|based on)\b"
        ),
        r"\bcontains? no (?:\w+ )?(?:information|answer|mention)\b",
    ),
    asks=r"^(?:who|whom|whose|what|which|when|where|why|how|do|does|did|is there|are there)\b",
)
