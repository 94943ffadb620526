"""Conclusion sentences of the page Judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mirage.text.languages import name_of
from mirage.text.segmentation import count_text, join_or_count


def of_known(rows: Sequence[dict[str, Any]], scope: str) -> str:
    """Return the judge with the most correct verdicts on known pairs; empty if no judge was tested.

    Args:
        rows: rows of `exam.rows_of`.
        scope: a language's code, or `all`.
    """
    known = [row for row in rows if row["language"] == scope and row.get("known") is not None]
    if not known:
        return ""
    best = max(known, key=lambda row: row["known"])
    words = f"prefers the correct decision in {_rate(best['known'])} of known pairs ({_evidence(best, 'known')})"
    return _of_best(best, words, known, "known", scope, ("highest", "higher"))


def of_judges(rows: Sequence[dict[str, Any]], scope: str) -> str:
    """Return the judge with the lowest flip rate; empty if no pair was judged in both orders.

    Args:
        rows: rows of `judges.judge_rows`.
        scope: a language's code, or `all`.
    """
    known = [row for row in rows if row["language"] == scope and row["flip"] is not None]
    if not known:
        return ""
    best = min(known, key=lambda row: row["flip"])
    words = f"flips its verdict with the answer order in {_rate(best['flip'])} of pairs "
    return _of_best(best, f"{words}({_evidence(best, 'flip')})", known, "flip", scope, ("lowest", "lower"))


def _evidence(row: dict[str, Any], measure: str) -> str:
    """Return the interval and n of a judge's measure."""
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    ends = "no interval" if low is None or high is None else f"95% CI {_rate(low)} to {_rate(high)}"
    return f"{ends}, n = {row[f'{measure}_n']:,}"


def _of_best(
    best: dict[str, Any],
    words: str,
    rows: Sequence[dict[str, Any]],
    measure: str,
    scope: str,
    degrees: tuple[str, str],
) -> str:
    """Return the result of the best judge, and whether it differs significantly from the others.

    Args:
        best: its row.
        words: verb phrase of the sentence.
        rows: the rows of all judges, including its own.
        measure: the measure to compare.
        scope: a language's code, or `all`.
        degrees: the superlative and the comparative of the measure.
    """
    most, more = degrees
    text = f"{'Over all languages' if scope == 'all' else f'In {name_of(scope)}'} {best['judge']} {words}"
    others = [row for row in rows if row is not best]
    if not others:
        return f"{text}. Agreement with people is unknown without votes."
    among = count_text(len(rows), "judge")
    alike = sorted(row["judge"] for row in others if _overlap(best, row, measure))
    if alike:
        return f"{text}: {most} of {among}, but not significantly {more} than {join_or_count(alike, 'judge')}."
    return f"{text}: significantly {most} of {among}."


def _overlap(row: dict[str, Any], other: dict[str, Any], measure: str) -> bool:
    """Return whether the intervals of two judges overlap, or one of them is unknown."""
    ends = (row[f"{measure}_low"], row[f"{measure}_high"], other[f"{measure}_low"], other[f"{measure}_high"])
    return None in ends or (ends[0] <= ends[3] and ends[2] <= ends[1])


def _rate(value: float) -> str:
    return f"{value:.1%}"
