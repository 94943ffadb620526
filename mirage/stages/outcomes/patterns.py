"""Patterns of answers in NoMIRACL's Table 2.

The authors classified the English answers by hand. Here the rules of the strict parser classify them; two patterns that
no rule detects are not counted.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from mirage.stages.outcomes.fold import fold
from mirage.stats.rows import read_rows

EXACT = {
    "abstained": ("I don't know exactly", "I don't know + explanation"),
    "answered": ("Yes exactly", "Yes + explanation"),
}
"""Patterns that differ only in the text: the phrase alone, and the phrase with more."""
SYNONYM = "synonym of I don't know"
REPEATS = "repeats question or instruction"
HALLUCINATES = "Yes with or without explanation (hallucination)"
ERRS = "No with or without explanation (error)"
MEMORY = {"non_relevant": "implicit memory (hallucination)", "relevant": "implicit memory"}
BY_HAND = ("refuses to answer", "conversation")
"""Patterns found by the authors that no rule detects."""
_REPEATS = ("instruction_repeated", "question_repeated", "choices_listed")
_PHRASES = {"abstained": ("i don't know",), "answered": ("yes, answer is present", "yes answer is present")}
_TRIM = re.compile(r"^[\s\"'.!*]+|[\s\"'.!*]+$")
_CITED = re.compile(r"\[[\d, ]+\]")


def pattern_counts(outcomes: pa.Table, answers: pa.Table | None) -> dict[tuple[str, str], Counter[str]]:
    """Count the English answers with each pattern.

    Args:
        outcomes: an `outcomes` table; the rows of the strict parser count.
        answers: an `answers` table with texts; None if there are none, and the patterns of `EXACT` are then not
            counted.

    Returns:
        By subset and system, the count of each pattern, and of all answers under the empty name.
    """
    rows = () if answers is None else read_rows(answers, "query_id", "system", "language", "text")
    texts = {of[:2]: of[3] for of in rows if of[2] == "en"}
    counts: dict[tuple[str, str], Counter[str]] = {}
    columns = ["language", "parser", "query_id", "system", "subset", "outcome", "rule"]
    for row in outcomes.select(columns).to_pylist():
        if row["language"] != "en" or row["parser"] != "strict" or row["outcome"] == "missing":
            continue
        cell = counts.setdefault((row["subset"], row["system"]), Counter())
        cell.update(["", *_patterns(row, texts.get((row["query_id"], row["system"])))])
    return counts


def _patterns(row: Mapping[str, Any], text: str | None) -> list[str]:
    """Return the patterns of one answer; those of Table 2 overlap (`Yes` includes both of its kinds)."""
    outcome, rule, subset = row["outcome"], row["rule"], row["subset"]
    names = []
    if outcome == "answered":
        names.append(MEMORY[subset] if rule == "answer_given" else HALLUCINATES)
    if outcome == "abstained":
        names.append(ERRS)
        if rule != "i_dont_know":
            names.append(SYNONYM)
    if rule in _REPEATS:
        names.append(REPEATS)
    if text is not None and outcome in EXACT and rule != "answer_given" and SYNONYM not in names:
        folded = fold(text, "en").text
        # A citation does not count as an explanation of an abstention, but of an answer it does.
        bare = _TRIM.sub("", _CITED.sub("", folded) if outcome == "abstained" else folded)
        names.append(EXACT[outcome][bare not in _PHRASES[outcome]])
    return names
