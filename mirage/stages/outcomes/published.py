"""Rules of the NoMIRACL program, which reproduce the published figures.

Source: repository project-miracl/nomiracl, `VanillaTemplate.postprocess`. Its branch for answers with both phrases
looks for a phrase among single words, so it never finds one, and every such answer is invalid; the same holds here.
"""

import re

from mirage.schema import Outcome
from mirage.stages.outcomes.parsed import Parsed

_CITATION = re.compile(r"\[\d+\]")
_PHRASES: tuple[tuple[str, Outcome, str], ...] = (
    ("i don't know", "abstained", "i_dont_know"),
    ("yes, answer is present", "answered", "yes_answer_is_present"),
    ("answer is present", "answered", "answer_is_present"),
    ("answer is not present", "abstained", "answer_is_not_present"),
)


def parse_published(answer: str) -> Parsed:
    """Apply the published rules in order; undecided answers are `unparsed`."""
    text = answer.lower().replace("\n", " ").replace("\t", " ")
    if "i don't know" in text and "yes, answer is present" in text:
        return Parsed("unparsed", "both_phrases")
    for phrase, outcome, rule in _PHRASES:
        if (start := text.find(phrase)) >= 0:
            return Parsed(outcome, rule, *_raw_span(answer, text, start, start + len(phrase)))
    if len(text) < 10 and (cited := _CITATION.search(text)):
        return Parsed("answered", "short_citation", *_raw_span(answer, text, *cited.span()))
    return Parsed("unparsed", "no_rule")


def _raw_span(answer: str, lowered: str, start: int, end: int) -> tuple[int, int]:
    if len(lowered) == len(answer):
        return start, end
    # Lower-casing lengthens some characters (İ becomes two), so map back to raw positions.
    places = [i for i, character in enumerate(answer) for _ in character.lower()]
    return places[start], places[end - 1] + 1
