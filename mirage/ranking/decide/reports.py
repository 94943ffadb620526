"""Text and records of a choice among systems, for the command and `mirage.decide`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from mirage.ranking.compare.measures import RATING
from mirage.ranking.decide.records import ChoiceReport, LanguageChoice, SystemOption
from mirage.ranking.records import JOINT
from mirage.text.languages import name_of
from mirage.text.segmentation import count_text

_SURE = 0.9995
"""Probability above which "over 99.9%" is printed."""


def language_records(report: ChoiceReport) -> list[dict[str, Any]]:
    """Return one record per language."""
    return [asdict(row) | {"contenders": list(row.contenders)} for row in report.rows]


def option_records(report: ChoiceReport) -> list[dict[str, Any]]:
    """Return one record per system: its facts, then its worth."""
    rows = []
    for option in report.options:
        record = asdict(option)
        rows.append(record.pop("facts") | record)
    return rows


def weight_records(report: ChoiceReport) -> list[dict[str, Any]]:
    """Return one record per measure and weight."""
    return [asdict(row) for row in report.by_weight]


def sentence(report: ChoiceReport) -> str:
    """Describe the overall choice in one sentence."""
    row = report.overall
    if row.choice is None:
        return f"no choice: {row.reason}"
    where = "for all languages" if row.language == JOINT else f"in {name_of(row.language)}"
    return "; ".join([f"take {row.choice} {where}", *basis(report)])


def basis(report: ChoiceReport) -> list[str]:
    """Return the reasons for the overall choice, one clause each."""
    row = report.overall
    if row.choice is None or row.p_right is None:
        return []
    price = next(option.facts.price for option in report.options if option.facts.system == row.choice)
    paid = "" if price is None else f", at ${price:,.2f} for 1,000 answers"
    among = "the only system" if len(row.contenders) == 1 else f"one of {len(row.contenders)} systems"
    if len(row.contenders) > 1 and price is not None:
        among = f"the cheapest of {len(row.contenders)} systems"
    close = f"within {report.margin:g} of the best" if report.margin else "itself the best"
    chance = "over 99.9%" if row.p_right > _SURE else f"{row.p_right:.{1 if row.p_right > 0.99 else 0}%}"
    parts = [f"{among} not significantly worse than the best{paid}", f"{close} with a probability of {chance}"]
    return parts + ([row.reason] if row.reason else [])


def regret_words(report: ChoiceReport) -> str | None:
    """Describe the regret of one system for all languages; None with one language."""
    worst = report.one_worst
    if len(report.rows) < 2 or worst is None or report.one_regret is None:
        return None
    if not report.one_regret:
        return "by the estimates it is the best of every language"
    return (
        f"in all languages it is on average {report.one_regret:.3f}{unit_of(report)} below the best of each, most in "
        f"{name_of(worst.language)}: {worst.one_regret:.3f} ({interval(worst)})"
    )


def interval(row: LanguageChoice) -> str:
    """Return the interval of the regret of one system for all, in a language."""
    return f"{row.one_low or 0:.3f} to {row.one_high or 0:.3f}"


def unit_of(report: ChoiceReport) -> str:
    """Return the unit of the worth, after a space; empty if it has none."""
    return " logits" if set(report.weights) == {RATING} else ""


def notes(report: ChoiceReport) -> Iterator[str]:
    """Yield the remarks a reader needs besides the table, one per line."""
    yield sentence(report)
    if words := regret_words(report):
        yield words
    shares = ", ".join(f"{name} {share:.0%}" for name, share in report.weights.items())
    yield f"worth: {shares}" + (f"; ratings by {report.referee}" if report.referee else "")
    if report.unit != "query":
        yield f"unit of the draws: {report.unit}"
    if refused := [option for option in report.options if option.refused]:
        reasons = "; ".join(map(_describe_refusal, refused))
        yield f"{count_text(len(refused), 'system')} excluded by the requirements: {reasons}"


def _describe_refusal(option: SystemOption) -> str:
    return f"{option.facts.system} ({option.refused})"
