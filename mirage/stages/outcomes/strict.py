"""The corrected rules: whether an answer says that the passages have the answer, in any language.

An answer is read in steps; the first step with a result decides.

1. Whitespace only is `empty`; an error text of the service is `api_error`.
2. Formulas: "answer is present", "I don't know" and their negations (`formulas.py`). A sentence with a negation denies,
   whatever it begins with ("No, answer is present", "Yes, I don't know"). Text quoted from the instruction, listed as
   its choices, asked or supposed ("respond with ...", "if the answer is present") is a mention, not a statement.
3. Paraphrases, in English and in the query's language (`vocabulary.py`).
4. A yes or a no at the start of the answer, or of the lines of a list.
5. A direct answer or a bare citation (`direct.py`). For a language without a vocabulary only English is supported:
   other text may be an abstention, so the answer is `unparsed`.

Contradictory statements within a step are resolved as follows: if one says that a certain context answers, or all
denials are about certain contexts, or there are more than two (the answer goes through the contexts), it is `answered`;
else the last statement counts if it is marked as the conclusion; else the answer is `unparsed`.
"""

import re
from dataclasses import dataclass
from functools import cache

from mirage.schema import Outcome
from mirage.stages.outcomes.direct import ANSWER, ASKED, TASK, blank, direct_answer
from mirage.stages.outcomes.fold import Folded, compile_folded, fold
from mirage.stages.outcomes.formulas import MENTIONED_OR_SAID, MENTIONS, NUMBER, OPEN, TRIGGERS, formulas
from mirage.stages.outcomes.parsed import Parsed
from mirage.stages.outcomes.vocabulary import phrases
from mirage.text.failures import is_error
from mirage.text.languages import base


@dataclass(frozen=True, slots=True)
class _Said:
    """One statement about the answer, with positions in the folded text."""

    yes: bool
    rule: str
    start: int
    end: int


_SCOPE_AFTER = re.compile(
    r"[\"'.\])]*\s*[,:-]?\s*(?:\(|(?:in|for|from|within|by|of)\b(?::|[^\n.]{0,60}?(?:context|passage|text|\[?\d)))"
)
_SCOPE_BEFORE = re.compile(rf"[ \t]*(?:{NUMBER})")
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|conclusion|correct|actual|final|based on)\b[^.\n]{0,80}$"
    r"|\b(?:answer|output|response|respuesta)\b[^.\n]{0,20}(?::|\bis|\bes)\s*[\"']?$"
)
# `re` does not count vowel signs and tone marks as word characters, but they continue a word.
_WORD_ENDS = r"(?![\w\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0c00-\u0c4d\u0e31-\u0e4e])"
_NOT_OF_ANSWER = re.compile(r"\W*yes,? (?:i understand|the question is (?:clear|related|about))")


def parse_without_text(answer: str) -> Parsed | None:
    """Read whitespace and error texts of a service; return None for any other answer."""
    if not answer.strip():
        return Parsed("empty", "empty")
    if is_error(answer):
        return Parsed("api_error", "api_error", 0, len(answer))
    return None


def parse_strict(answer: str, language: str) -> Parsed:
    """Apply the corrected rules, see the module docstring. A regional variant has the rules of its language."""
    language = base(language)
    if without_text := parse_without_text(answer):
        return without_text
    folded = fold(answer, language)
    text = folded.text

    statements = [
        _Said(match.lastgroup == "answer_is_present", str(match.lastgroup), *match.span()) for match in formulas(text)
    ]
    if len({statement.yes for statement in statements}) == 1 and not re.search(r"\w", text[: statements[0].start]):
        # The answer opens with a formula that no other contradicts, so later mentions do not matter.
        return _decide(statements, folded)
    mentions: list[tuple[str, int, int]] = []
    if len({statement.yes for statement in statements}) > 1 or any(trigger in text for trigger in TRIGGERS):
        statements, mentions = _said_and_mentioned(text, statements)
    if statements:
        return _decide(statements, folded)
    for _, start, end in mentions:
        # Blank instead of cutting, so that positions stay the same.
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]

    opening = [
        _Said(match.lastgroup == "yes", f"opens_{match.lastgroup}", *match.span(str(match.lastgroup)))
        for match in _openings(language).finditer(text)
    ]
    if len({statement.yes for statement in opening}) > 1:
        return _decide(opening, folded)
    without_questions = ASKED.sub(blank, text)
    matches = [match for pattern in _paraphrases(language) for match in pattern.finditer(without_questions)]
    statements = [
        _Said(str(match.lastgroup).startswith("says_present"), str(match.lastgroup), *match.span()) for match in matches
    ]
    if statements:
        return _decide(sorted(statements, key=lambda statement: statement.start), folded)
    instructions = [(rule, start) for rule, start, _ in mentions if rule != "question_repeated"]
    # Text after an instruction belongs to it.
    until = instructions[0][1] if instructions else len(text)
    parsed = _read_opening(opening, text, folded) or direct_answer(answer, text, until, folded, language)
    if parsed.outcome == "unparsed" and instructions:
        return Parsed("unparsed", instructions[0][0])
    if parsed.rule == "fragment" and mentions:
        return Parsed("unparsed", "question_repeated")
    return parsed


def _said_and_mentioned(text: str, stated: list[_Said]) -> tuple[list[_Said], list[tuple[str, int, int]]]:
    """Separate formulas that are statements from mentions (rule, start, end)."""
    statements: list[_Said] = []
    mentions: list[tuple[str, int, int]] = []
    for match in MENTIONED_OR_SAID.finditer(text):
        rule, start, end = str(match.lastgroup), *match.span()
        if rule not in MENTIONS:
            statements.append(_Said(rule == "answer_is_present", rule, start, end))
        elif statements and rule == "choices_listed" and not re.search(r"[^\W\d]", text[statements[-1].end : start]):
            # Two lines within a longer list are not the choices.
            statements += [statement for statement in stated if start <= statement.start < end]
        else:
            mentions.append((rule, start, end))
    return statements, mentions


def _decide(statements: list[_Said], folded: Folded) -> Parsed:
    """Decide the outcome from the statements of one step."""
    positive = [statement for statement in statements if statement.yes]
    negative = [statement for statement in statements if not statement.yes]
    if not positive or not negative:
        return _outcome(statements[0], folded)
    scoped = next((statement for statement in positive if _is_scoped(statement, folded.text)), None)
    if scoped or len(statements) > 2 or all(_is_scoped(statement, folded.text) for statement in negative):
        return _outcome(scoped or positive[0], folded, rule="enumeration")
    if _CONCLUDES.search(folded.text[statements[-2].end : statements[-1].start]):
        return _outcome(statements[-1], folded, rule="conclusion")
    return Parsed("unparsed", "contradiction")


def _is_scoped(statement: _Said, text: str) -> bool:
    """Return whether a statement is about certain contexts only."""
    line = text[text.rfind("\n", 0, statement.start) + 1 : statement.start]
    return bool(_SCOPE_BEFORE.match(line) or _SCOPE_AFTER.match(text, statement.end))


def _outcome(statement: _Said, folded: Folded, *, rule: str = "") -> Parsed:
    outcome: Outcome = "answered" if statement.yes else "abstained"
    return Parsed(outcome, rule or statement.rule, *folded.raw(statement.start, statement.end))


def _read_opening(opening: list[_Said], text: str, folded: Folded) -> Parsed | None:
    """Read a yes, or a no that does not start a direct answer ("No, there are none in Europe")."""
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
    """Return the patterns of paraphrases, in English and in the language."""
    patterns = []
    for each, own in zip(phrases(language), ("", "_translated"), strict=False):
        groups = f"(?P<says_absent{own}>{each.deny})|(?P<says_present{own}>{each.affirm})"
        patterns.append(compile_folded(groups, language if own else ""))
    return tuple(patterns)


@cache
def _openings(language: str) -> re.Pattern[str]:
    """Return the pattern of a yes or a no at the start of a line."""
    (english, *_), own = phrases(language), phrases(language)[-1]
    stands_alone = r"(?=\s*(?:[,.;:!\n\"']|$))"
    return compile_folded(
        rf"^{OPEN}(?:(?:{ANSWER})\s*:\s*[\"']*)?"
        rf"(?:(?P<yes>(?:{english.yes}){_WORD_ENDS}|(?:{own.yes}){_WORD_ENDS}{stands_alone})"
        rf"|(?P<no>(?:{english.no}|{own.no}){_WORD_ENDS}{stands_alone}))",
        language,
    )
