"""Print the departures from the published programs and prompts as Markdown tables, for docs/methods.md.

The effects are measured on the outcomes of the bundled arena `nomiracl`: `python docs/site/departures.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from prompt_origins import ORIGINS
from scipy.stats import kendalltau

from mirage.battles.counts import Battles, from_outcomes
from mirage.ranking.bootstrap import LanguageRanking, RankingReport, rate
from mirage.ranking.settings import SEED
from mirage.stages.outcomes.rates import rates
from mirage.stages.outcomes.tables import RIGHT
from mirage.store import arena as arenas
from mirage.store.arena import open_arena

ARENA = "nomiracl"
DRAWS = 100
"""Draws for compared intervals: few suffice, since the ratio of widths is a mean over all systems and languages."""
Cells = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Rates by language, subset and system."""


class Departure(NamedTuple):
    """One departure from the published programs."""

    name: str
    published: str
    """Method of the published programs."""
    ours: str
    effect: str
    """Effect on the numbers of the arena."""
    measured_on: str
    """Data behind the effect."""


@cache
def departures() -> tuple[Departure, ...]:
    """Measure every departure."""
    arena = open_arena(arenas.bundled_arenas()[ARENA])
    outcomes = arena.read("outcomes")
    strict, published = (_cells(rates(outcomes, parser=parser)) for parser in ("strict", "published"))
    differ = arena.sql(
        "SELECT count(*) AS n FROM outcomes s JOIN outcomes p USING (language, query_id, system) "
        "WHERE s.parser = 'strict' AND p.parser = 'published' AND s.outcome <> p.outcome"
    )["n"][0].as_py()
    battles = from_outcomes(outcomes, skill="both")
    ranking = rate(battles, draws=DRAWS, seed=SEED)
    answers = f"{_answers(strict):,} answers"
    queries = f"{sum(len(of_language.queries) for of_language in battles.values()):,} queries"
    return (
        Departure(
            "Parsing an answer",
            "Four fixed English phrases, or a passage number in an answer under 10 characters; both or neither is "
            "invalid",
            "The strict parser: apostrophes, negation, quoted instructions, API errors, 18 languages",
            _parser_effect(strict, published, differ),
            answers,
        ),
        Departure(
            "API errors",
            "A service error text is an invalid answer and counts as wrong",
            "api_error: unclassified, excluded from battles",
            _error_effect(strict),
            answers,
        ),
        Departure(
            "Unclassified answers in a rate",
            "Counted as wrong: 1 − accuracy",
            "Excluded from the rate; their share is reported",
            _unclassified_effect(strict),
            f"{sum(row['rate'] is not None for row in strict.values()):,} cells",
        ),
        Departure(
            "A cell without a correct answer",
            "A rate needs a correct answer: otherwise 0.0% is printed",
            "100%",
            f"{sum(row['rate_as_published'] == 1 for row in published.values())} of {len(published)} cells have none",
            f"{len(published)} cells",
        ),
        Departure("Ties", "Dropped by MIRAGE-Bench", "Half a win each", _tie_effect(battles, ranking), queries),
        Departure(
            "Unit of the bootstrap",
            "The query in MIRAGE-Bench; the battle in Chatbot Arena",
            "The query, with all its battles",
            _unit_effect(battles, ranking),
            queries,
        ),
        Departure(
            "Bootstrap sample size",
            "User-defined (100 in the MIRAGE-Bench paper)",
            "All queries",
            _size_effect(battles),
            queries,
        ),
    )


def tables() -> str:
    """Return the tables: the programs' departures, the sources of the prompts, and the prompts' departures."""
    programs = _table(
        ("Difference", "Published programs", "Here", f"Effect on the arena `{ARENA}`", "Measured on"), departures()
    )
    return "\n".join([*programs, "", *prompt_tables()])


def prompt_tables() -> Iterator[str]:
    """Yield the lines of the sources of the prompts and of their departures, each with all prompts that have it."""
    yield from _table(("Prompt", "Source"), [(f"`{origin.name}`", origin.source) for origin in ORIGINS])
    names: dict[tuple[str, str], list[str]] = {}
    for origin in ORIGINS:
        for departure in origin.departures:
            names.setdefault((departure.what, departure.why), []).append(f"`{origin.name}`")
    yield ""
    yield from _table(("Difference", "Reason", "Prompts"), [(*told, ", ".join(of)) for told, of in names.items()])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _cells(table: Any) -> Cells:
    rows = table.to_pylist()
    return {(row["language"], row["subset"], row["system"]): row for row in rows if row["language"] != "all"}


def _answers(cells: Cells) -> int:
    return sum(row["answers"] for row in cells.values())


def _parser_effect(strict: Cells, published: Cells, differ: int) -> str:
    both = [(strict[key]["rate"], published[key]["rate"]) for key in strict if key in published]
    changes = [100 * abs(one - other) for one, other in both if None not in (one, other)]
    share = differ / _answers(strict)
    return (
        f"{differ:,} answers ({share:.1%}) have a different outcome; a cell's rate moves by {np.mean(changes):.1f} "
        f"points on average, {max(changes):.1f} at most ({len(changes)} cells)"
    )


def _error_effect(strict: Cells) -> str:
    worst = max(strict.values(), key=lambda row: row["api_error"] / max(1, row["answers"]))
    return (
        f"{sum(row['api_error'] for row in strict.values()):,} answers; at most "
        f"{worst['api_error'] / worst['answers']:.1%} of a cell ({worst['system']}, {worst['language']})"
    )


def _unclassified_effect(strict: Cells) -> str:
    wrong = {key: 1 - row[RIGHT[row["subset"]]] / row["answers"] for key, row in strict.items() if row["answers"]}
    gaps = {key: wrong[key] - row["rate"] for key, row in strict.items() if row["rate"] is not None}
    taus = []
    for scope in sorted({key[:2] for key in gaps}):
        keys = [key for key in gaps if key[:2] == scope]
        tau = kendalltau([strict[key]["rate"] for key in keys], [wrong[key] for key in keys]).statistic
        taus += [float(tau)] * bool(np.isfinite(tau))
    language, _, system = most = max(gaps, key=lambda key: abs(gaps[key]))
    return (
        f"the printed kind of rate is {100 * np.mean(list(gaps.values())):.1f} points higher on average, "
        f"{100 * gaps[most]:.1f} at most ({system}, {language}); mean tau-b between the two orders of the systems "
        f"{np.mean(taus):.2f}"
    )


def _tie_effect(battles: Mapping[str, Battles], ranking: RankingReport) -> str:
    """Compare the joint ranks with those of the ranking that drops ties."""
    joint = ranking.languages["all"]
    dropped = rate(battles, draws=1, seed=SEED, ties="drop").languages["all"]
    moved = np.abs(joint.ranks() - dropped.ranks())
    return (
        f"{int((moved > 0).sum())} of {len(moved)} systems change rank in the joint ranking, by {int(moved.max())} at "
        f"most; the ratings spread {np.ptp(dropped.theta) / np.ptp(joint.theta):.1f} times as far when ties are dropped"
    )


def _unit_effect(battles: Mapping[str, Battles], ranking: RankingReport) -> str:
    """Compare the widths of intervals that resample battles with those that resample queries."""
    ratios = [
        _width(rate({code: _battle_units(of_language)}, draws=DRAWS, seed=SEED).languages[code])
        / _width(ranking.languages[code])
        for code, of_language in battles.items()
        if code in ranking.languages
    ]
    return f"intervals that resample battles are {np.nanmean(ratios):.2f} times as wide as those that resample queries"


def _size_effect(battles: Mapping[str, Battles]) -> str:
    size = np.median([len(of_language.queries) for of_language in battles.values()])
    return (
        f"with {int(size)} queries per language, draws of 100 widen intervals about {np.sqrt(size / 100):.1f} times "
        "(square root of the ratio; calculated)"
    )


def _width(row: LanguageRanking) -> float:
    """Return the mean width of the intervals that the data bounds on both sides."""
    width = np.ptp(row.interval(), axis=0)
    return float(width[np.isfinite(width)].mean())


def _battle_units(battles: Battles) -> Battles:
    """Return the same battles, each a query of its own."""
    s = len(battles.systems)
    q, i, j = np.nonzero((battles.wins > 0) | (np.triu(np.ones((s, s), dtype=bool)) & (battles.ties > 0)))
    wins, rows = np.zeros((len(q), s, s), dtype=np.uint8), np.arange(len(q))
    ties = np.zeros_like(wins)
    wins[rows, i, j] = battles.wins[q, i, j]
    ties[rows, i, j] = ties[rows, j, i] = battles.ties[q, i, j]
    return replace(
        battles, queries=tuple(f"{k}" for k in range(len(q))), wins=wins, ties=ties, strata=battles.strata[q]
    )


if __name__ == "__main__":
    sys.stdout.write(tables() + "\n")
