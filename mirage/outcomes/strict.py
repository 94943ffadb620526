"""The corrected rules: what a reply says about the answer, in any of the 18 languages.

A reply is read in steps; the first step that finds something decides.

1. White space only is `empty`; an error text of the service is `api_error`.
2. Formulas: "answer is present", "I don't know" and their negations (`formulas.py`). A sentence with a negation denies,
   whatever else it begins with ("No, answer is present", "Yes, I don't know"). What is quoted from the instruction,
   listed as its choices, asked or supposed ("respond with ...", "if the answer is present") is a mention and says
   nothing.
3. Other words for the same, in English and in the question's language (`phrases.py`, `translated.py`).
4. A yes or a no that opens the reply, or the lines of a list.
5. A direct answer or a bare citation (`direct.py`).

Within a step, statements that contradict each other are resolved so: if one says that a certain context answers, or all
denials are about certain contexts, or there are more than two (the reply goes through the contexts), the reply answers;
else the last statement counts if it is marked as the conclusion; else the reply is `unparsed`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mirage.outcomes.direct import ANSWER, ASKED, TASK, blank, direct_answer
from mirage.outcomes.fold import Folded, compile_folded, fold
from mirage.outcomes.formulas import MENTIONED_OR_SAID, MENTIONS, NUMBER, OPEN, SAID, TRIGGERS
from mirage.outcomes.parsed import Parsed
from mirage.outcomes.phrases import ENGLISH
from mirage.outcomes.translated import TRANSLATED
from mirage.schema import Outcome


@dataclass(frozen=True, slots=True)
class _Said:
    """One statement about the answer, in places of the folded text."""

    yes: bool
    rule: str
    start: int
    end: int


_API_ERROR = re.compile(
    r"\W*(?:unable to generate (?:a |the )?(?:response|completion|output)"
    r"|(?:error|http)(?: code)?:? ?[45]\d\d\b.*"
    r"|(?:\w+\.)*(?:ratelimit|api(?:connection|status|timeout)?|badrequest|invalidrequest|internalserver"
    r"|serviceunavailable|timeout|authentication)error\b.*"
    r"|the response was filtered due to .*"
    r"|(?:internal server error|bad gateway|service unavailable|gateway time-?out|too many requests)\b.*)\W*",
    re.IGNORECASE | re.DOTALL,
)
_SCOPE_AFTER = re.compile(
    r"[\"'.\])]*\s*[,:-]?\s*(?:\(|(?:in|for|from|within|by|of)\b(?::|[^\n.]{0,60}?(?:context|passage|text|\[?\d)))"
)
_SCOPE_BEFORE = re.compile(rf"[ \t]*(?:{NUMBER})")
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|conclusion|correct|actual|final|based on)\b[^.\n]{0,80}$"
    r"|\b(?:answer|output|response|respuesta)\b[^.\n]{0,20}(?::|\bis|\bes)\s*[\"']?$"
)
# Vowel signs and tone marks are no word characters to `re`, but they go on with the word before them.
_WORD_ENDS = r"(?![\w\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0c00-\u0c4d\u0e31-\u0e4e])"
_NOT_OF_ANSWER = re.compile(r"\W*yes,? (?:i understand|the question is (?:clear|related|about))")
_ENGLISH = re.compile(f"(?P<says_absent>{ENGLISH.deny})|(?P<says_present>{ENGLISH.affirm})", re.MULTILINE)


def parse_strict(reply: str, language: str) -> Parsed:
    """Apply the corrected rules; see the module's text."""
    if not reply.strip():
        return Parsed("empty", "empty")
    if len(reply) < 400 and (whole := _API_ERROR.fullmatch(reply)):
        return Parsed("api_error", "api_error", *whole.span())
    folded = fold(reply, language)
    text = folded.text

    said = _formulas(text)
    if len({s.yes for s in said}) == 1 and not re.search(r"\w", text[: said[0].start]):
        # The reply opens with a formula, and no other disagrees: what it mentions later changes nothing.
        return _decide(said, folded)
    mentions: list[tuple[str, int, int]] = []
    if len({s.yes for s in said}) > 1 or any(trigger in text for trigger in TRIGGERS):
        said, mentions = _said_and_mentioned(text, said)
    if said:
        return _decide(said, folded)
    for _, start, end in mentions:
        # Blanked, not cut: places stay.
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]

    opening = [
        _Said(bool(m["yes"]), "opens_yes" if m["yes"] else "opens_no", *m.span("yes" if m["yes"] else "no"))
        for m in _openings(language).finditer(text)
    ]
    if len({s.yes for s in opening}) > 1:
        return _decide(opening, folded)
    unasked = ASKED.sub(blank, text)
    matches = [m for pattern in _paraphrases(language) for m in pattern.finditer(unasked)]
    said = [_Said(str(m.lastgroup).startswith("says_present"), str(m.lastgroup), *m.span()) for m in matches]
    if said:
        return _decide(sorted(said, key=lambda s: s.start), folded)
    told = [(rule, start) for rule, start, _ in mentions if rule != "question_repeated"]
    # What follows an instruction is what it is about.
    until = told[0][1] if told else len(text)
    found = _opened(opening, text, folded) or direct_answer(reply, text, until, folded, language)
    if found.outcome == "unparsed" and told:
        return Parsed("unparsed", told[0][0])
    if found.rule == "fragment" and mentions:
        return Parsed("unparsed", "question_repeated")
    return found


def _formulas(text: str) -> list[_Said]:
    if "know" in text or "present" in text or "i don" in text:
        return [_Said(m.lastgroup == "answer_is_present", str(m.lastgroup), *m.span()) for m in SAID.finditer(text)]
    return []


def _said_and_mentioned(text: str, formulas: list[_Said]) -> tuple[list[_Said], list[tuple[str, int, int]]]:
    """Tell the formulas that are said from what is only mentioned (rule, start, end)."""
    said: list[_Said] = []
    mentions: list[tuple[str, int, int]] = []
    for match in MENTIONED_OR_SAID.finditer(text):
        rule, start, end = str(match.lastgroup), *match.span()
        if rule not in MENTIONS:
            said.append(_Said(rule == "answer_is_present", rule, start, end))
        elif said and rule == "choices_listed" and not re.search(r"[^\W\d]", text[said[-1].end : start]):
            # Two lines in the middle of a longer run are not the choices.
            said += [s for s in formulas if start <= s.start < end]
        else:
            mentions.append((rule, start, end))
    return said, mentions


def _decide(said: list[_Said], folded: Folded) -> Parsed:
    """One outcome from the statements of one step."""
    yes = [s for s in said if s.yes]
    no = [s for s in said if not s.yes]
    if not yes or not no:
        return _outcome(said[0], folded)
    scoped = next((s for s in yes if _scoped(s, folded.text)), None)
    if scoped or len(said) > 2 or all(_scoped(s, folded.text) for s in no):
        return _outcome(scoped or yes[0], folded, rule="enumeration")
    if _CONCLUDES.search(folded.text[said[-2].end : said[-1].start]):
        return _outcome(said[-1], folded, rule="conclusion")
    return Parsed("unparsed", "contradiction")


def _scoped(said: _Said, text: str) -> bool:
    """Whether a statement is about certain contexts only."""
    line = text[text.rfind("\n", 0, said.start) + 1 : said.start]
    return bool(_SCOPE_BEFORE.match(line) or _SCOPE_AFTER.match(text, said.end))


def _outcome(said: _Said, folded: Folded, *, rule: str = "") -> Parsed:
    outcome: Outcome = "answered" if said.yes else "abstained"
    return Parsed(outcome, rule or said.rule, *folded.raw(said.start, said.end))


def _opened(opening: list[_Said], text: str, folded: Folded) -> Parsed | None:
    """A yes, or a no that is not the beginning of a direct answer ("No, there are none in Europe")."""
    if not opening:
        return None
    first = opening[0]
    if first.yes:
        about_task = _NOT_OF_ANSWER.match(text, first.start)
        return Parsed("unparsed", "about_the_task") if about_task else _outcome(first, folded)
    sentence = re.split(r"[.\n]", text[first.end :].lstrip(" \t.,;:!\"'"), maxsplit=1)[0]
    if len(opening) > 1 or not re.search(r"\w", text[first.end :]) or TASK.search(sentence):
        return _outcome(first, folded)
    return None


@cache
def _paraphrases(language: str) -> tuple[re.Pattern[str], ...]:
    """What says that an answer is there or not, in English and in the language."""
    own = TRANSLATED.get(language)
    if not own:
        return (_ENGLISH,)
    groups = f"(?P<says_absent_translated>{own.deny})|(?P<says_present_translated>{own.affirm})"
    return _ENGLISH, compile_folded(groups, language)


@cache
def _openings(language: str) -> re.Pattern[str]:
    """A yes or a no at the beginning of a line."""
    own = TRANSLATED.get(language, ENGLISH)
    alone = r"(?=\s*(?:[,.;:!\n\"']|$))"
    return compile_folded(
        rf"^{OPEN}(?:(?:{ANSWER})\s*:\s*[\"']*)?"
        rf"(?:(?P<yes>(?:{ENGLISH.yes}){_WORD_ENDS}|(?:{own.yes}){_WORD_ENDS}{alone})"
        rf"|(?P<no>(?:{ENGLISH.no}|{own.no}){_WORD_ENDS}{alone}))",
        language,
    )
