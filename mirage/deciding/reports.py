"""A choice among systems as the command and `mirage.decide` print it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from mirage.comparison.measures import RATING
from mirage.deciding.records import ChoiceReport, LanguageChoice, SystemOption
from mirage.languages import name_of
from mirage.rank.records import JOINT
from mirage.text import counted

_SURE = 0.9995
"""From this chance on all draws say the same, as far as is printed."""


def language_records(report: ChoiceReport) -> list[dict[str, Any]]:
    """A record a language."""
    return [asdict(row) | {"contenders": list(row.contenders)} for row in report.rows]


def option_records(report: ChoiceReport) -> list[dict[str, Any]]:
    """A record a system: its facts, then what it is worth."""
    rows = []
    for option in report.options:
        record = asdict(option)
        rows.append(record.pop("facts") | record)
    return rows


def weight_records(report: ChoiceReport) -> list[dict[str, Any]]:
    """A record a measure and weight."""
    return [asdict(row) for row in report.by_weight]


def sentence(report: ChoiceReport) -> str:
    """The choice for all languages in words."""
    row = report.overall
    if row.choice is None:
        return f"no choice: {row.reason}"
    where = "for all languages" if row.language == JOINT else f"in {name_of(row.language)}"
    return "; ".join([f"take {row.choice} {where}", *basis(report)])


def basis(report: ChoiceReport) -> list[str]:
    """What the choice for all languages rests on, a clause each."""
    row = report.overall
    if row.choice is None or row.p_right is None:
        return []
    price = next(option.facts.price for option in report.options if option.facts.system == row.choice)
    paid = "" if price is None else f", at ${price:,.2f} for 1,000 answers"
    among = "it is the only one" if len(row.contenders) == 1 else f"one of {len(row.contenders)} systems"
    if len(row.contenders) > 1 and price is not None:
        among = f"it is the cheapest of {len(row.contenders)} systems"
    close = f"within {report.margin:g} of the best" if report.margin else "itself the best"
    chance = "over 99.9%" if row.p_right > _SURE else f"{row.p_right:.0%}"
    parts = [f"{among} that cannot be told apart from the best{paid}", f"it is {close} with a chance of {chance}"]
    return parts + ([row.reason] if row.reason else [])


def regret_words(report: ChoiceReport) -> str | None:
    """What one system for all languages costs; None where there is one language."""
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
    """The interval of what one system for all loses in a language."""
    return f"{row.one_low or 0:.3f} to {row.one_high or 0:.3f}"


def unit_of(report: ChoiceReport) -> str:
    """The unit of the worth, after a space; empty where it has none."""
    return " logits" if set(report.weights) == {RATING} else ""


def notes(report: ChoiceReport) -> Iterator[str]:
    """What a reader must know beside the table, a line each."""
    yield sentence(report)
    if words := regret_words(report):
        yield words
    shares = ", ".join(f"{name} {share:.0%}" for name, share in report.weights.items())
    yield f"worth: {shares}" + (f"; ratings by {report.referee}" if report.referee else "")
    if report.unit != "query":
        yield f"unit of the draws: {report.unit}"
    if refused := [option for option in report.options if option.refused]:
        yield f"{counted(len(refused), 'system')} cannot be taken: {'; '.join(map(_refused, refused))}"


def _refused(option: SystemOption) -> str:
    return f"{option.facts.system} ({option.refused})"
