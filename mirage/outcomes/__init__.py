"""Answers to outcomes, and outcomes to rates.

An answer says that the passages hold the answer (or gives it), that they do not, or neither can be made out. The prompt
decides which rules hold. A reply to a prompt of NoMIRACL is read by `published.py` by the rules of the NoMIRACL program
and by `strict.py` by the corrected ones (with `formulas.py`, `phrases.py`, `translated.py` and `direct.py`, on text
folded by `fold.py`); any other answer by `free.py`, with the words of `wording.py`. `parsed.py` names every rule.
`tables.py` applies them to an arena and lists where they differ; `rates.py` counts, `templates.py` by prompt,
`confusion.py` as confusion matrices.
"""

from mirage.intervals import mean_interval, wilson
from mirage.outcomes.confusion import Confusion, confusion
from mirage.outcomes.free import TemplatePhrases
from mirage.outcomes.parsed import RULES, Parsed
from mirage.outcomes.rates import Rate, agrees_with_print, as_printed, rates, unparsed_note
from mirage.outcomes.tables import RIGHT, ParserDifference, RateShift, departures, outcomes, parse_outcome, shifts
from mirage.outcomes.templates import base_names, matched_difference, template_rates

__all__ = [
    "RIGHT",
    "RULES",
    "Confusion",
    "Parsed",
    "ParserDifference",
    "Rate",
    "RateShift",
    "TemplatePhrases",
    "agrees_with_print",
    "as_printed",
    "base_names",
    "confusion",
    "departures",
    "matched_difference",
    "mean_interval",
    "outcomes",
    "parse_outcome",
    "rates",
    "shifts",
    "template_rates",
    "unparsed_note",
    "wilson",
]
