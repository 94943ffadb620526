"""Effect of each departure from the published programs, computed on an arena's own outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage import schema
from mirage.battles.counts import Battles, from_outcomes
from mirage.errors import NotEnoughData
from mirage.llm.prompts.origins import ORIGINS, PromptOrigin
from mirage.ranking.bootstrap import LanguageRanking, RankingReport, rate
from mirage.ranking.settings import SEED
from mirage.stages.outcomes import RULES, departures, rates
from mirage.stages.outcomes.accuracy import OutcomeAccuracy, measured_accuracy

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


_DRAWS = 100
"""Number of draws for compared intervals: few suffice, since the ratio of widths is a mean over all systems and
languages."""


@dataclass(frozen=True, slots=True)
class DepartureEffect:
    """Effect of one departure."""

    departure: str
    """Name of the departure."""
    published: str
    """Method of the published programs."""
    ours: str
    """Method here."""
    moved: str
    """Effect, in words with numbers."""
    n: int
    """Data behind the numbers."""
    unit: str
    """Unit of n."""


@lru_cache(maxsize=8)
def effects(arena: Arena) -> tuple[DepartureEffect, ...]:
    """Measure every departure on the outcomes of an arena, by both parsers."""
    outcomes = arena.read("outcomes")
    parsers = set(outcomes["parser"].to_pylist())
    strict, published = (
        _cells(rates(outcomes, parser=parser)) if parser in parsers else {} for parser in ("strict", "published")
    )
    return (
        _parser(outcomes, strict, published),
        _api_errors(strict),
        _undecided_effect(strict),
        _zero_cells(published),
        *_ranking(outcomes),
    )


def prompts(words: str = "") -> tuple[PromptOrigin, ...]:
    """Return the prompts that contain all of these words in their text, purpose or description."""

    def holds(origin: PromptOrigin) -> bool:
        descriptions = [part for departure in origin.departures for part in (departure.what, departure.why)]
        text = " ".join((origin.name, origin.use, origin.source, origin.text, *descriptions)).casefold()
        return all(word in text for word in words.casefold().split())

    return tuple(origin for origin in ORIGINS if holds(origin))


def outcome_accuracy() -> tuple[str, pa.Table]:
    """Return the half of the labels used to measure the rules for free answers, and the errors by language."""
    half, rows = measured_accuracy()
    return half, schema.from_rows(OutcomeAccuracy, list(rows))


@lru_cache(maxsize=8)
def rule_counts(arena: Arena) -> pa.Table | None:
    """Return the answers on which the two parsers differ, by outcome and rule (`Departure`), with the rule in words;
    None if there is only one parser.
    """
    import pyarrow as pa

    outcomes = arena.read("outcomes")
    if len(set(outcomes["parser"].to_pylist())) < 2:
        return None
    counts = departures(outcomes)
    return counts.append_column("meaning", pa.array([RULES[rule] for rule in counts["rule"].to_pylist()], pa.string()))


def provenance(arena: Arena) -> list[dict[str, Any]]:
    """Return one row per table of the arena: rows, size, origin and sources."""
    records: Mapping[str, Any] = arena.manifest.get("made", {})
    rows = []
    for table, files in arena.manifest["tables"].items():
        record = records.get(table, {})
        sources = record.get("from", [])
        rows.append(
            {
                "table": table,
                "rows": arena.rows(table),
                "bytes": sum(file["bytes"] for file in files),
                "files": len(files),
                "by": record.get("by", ""),
                "source": _sources([str(source.get("name", "")) for source in sources]),
                "notes": " ".join(record.get("notes", [])),
            }
        )
    return rows


def _cells(table: pa.Table) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {
        (row["language"], row["subset"], row["system"]): row for row in table.to_pylist() if row["language"] != "all"
    }


def _parser(outcomes: pa.Table, strict: dict[Any, Any], published: dict[Any, Any]) -> DepartureEffect:
    moved = departures(outcomes) if strict and published else None
    answers = sum(row["n"] - row["missing"] for row in strict.values())
    changes = [
        abs(strict[k]["rate"] - published[k]["rate"])
        for k in strict
        if k in published and strict[k]["rate"] is not None and published[k]["rate"] is not None
    ]
    differ = 0 if moved is None else sum(moved["n"].to_pylist())
    if moved is None:
        effect = "not measured: outcomes of only one parser"
    else:
        effect = f"{differ:,} answers ({_share(differ, answers)}) have a different outcome; " + (
            f"a cell's rate moves by {100 * np.mean(changes):.1f} points on average, {100 * max(changes):.1f} at most "
            f"({len(changes)} cells)"
            if changes
            else "no cell has a rate by both parsers"
        )
    return DepartureEffect(
        "Parsing an answer",
        "Four fixed English phrases, or a passage number in an answer under 10 characters; both or neither is invalid",
        "The strict parser: apostrophes, negation, quoted instructions, API errors, 18 languages",
        effect,
        answers,
        "answers",
    )


def _api_errors(strict: dict[Any, Any]) -> DepartureEffect:
    errors = sum(row["api_error"] for row in strict.values())
    worst = max(strict.values(), key=lambda row: row["api_error"] / max(1, row["n"]), default=None)
    effect = f"{errors:,} answers"
    if worst is not None:
        effect += (
            f"; at most {_share(worst['api_error'], worst['n'])} of a cell ({worst['system']}, {worst['language']})"
        )
    return DepartureEffect(
        "API errors",
        "A service error text is an invalid answer and counts as wrong",
        "api_error: undecided, excluded from battles",
        effect,
        sum(row["n"] - row["missing"] for row in strict.values()),
        "answers",
    )


def _undecided_effect(strict: dict[Any, Any]) -> DepartureEffect:
    gaps = {k: row["rate_as_published"] - row["rate"] for k, row in strict.items() if row["rate"] is not None}
    taus = []
    for language, subset in sorted({k[:2] for k in gaps}):
        keys = [k for k in gaps if k[:2] == (language, subset)]
        taus.append(_tau([strict[k]["rate"] for k in keys], [strict[k]["rate_as_published"] for k in keys]))
    defined = [t for t in taus if t is not None]
    effect = "no cell has a decided answer"
    if gaps:
        key = max(gaps, key=lambda k: abs(gaps[k]))
        order = f"{np.mean(defined):.2f}" if defined else "undefined, since no cell's rates differ"
        effect = (
            f"the printed kind of rate is {100 * np.mean(list(gaps.values())):.1f} points higher on average, "
            f"{100 * gaps[key]:.1f} at most ({key[2]}, {key[0]}); mean tau-b between the two orders of the systems "
            f"{order}"
        )
    return DepartureEffect(
        "Undecided answers in a rate",
        "Counted as wrong: 1 − accuracy",
        "Excluded from the rate; their share is reported",
        effect,
        len(gaps),
        "cells",
    )


def _zero_cells(published: dict[Any, Any]) -> DepartureEffect:
    cells = [row for row in published.values() if row["rate_as_published"] == 1.0]
    return DepartureEffect(
        "A cell without a correct answer",
        "A rate needs a correct answer: otherwise 0.0% is printed",
        "100%",
        f"{len(cells)} of {len(published)} cells have none",
        len(published),
        "cells",
    )


def _share(part: int, whole: int) -> str:
    """Return a share as a percentage; 0.0% if the total is 0."""
    return f"{part / max(1, whole):.1%}"


def _width(row: LanguageRanking) -> float:
    """Mean width of the intervals that the data bounds on both sides."""
    width = np.ptp(row.interval(), axis=0)
    return float(width[np.isfinite(width)].mean()) if np.isfinite(width).any() else float("nan")


def _ranking(outcomes: pa.Table) -> list[DepartureEffect]:
    """Measure the departures of the ranking; a departure that cannot be measured gives the reason."""
    try:
        battles = from_outcomes(outcomes, skill="both")
        ranking = rate(battles, draws=_DRAWS, seed=SEED)
        unit, size = _unit_effect(battles, ranking), _size_effect(battles)
        ties = _tie_effect(battles, ranking)
        n = sum(len(language_battles.queries) for language_battles in battles.values())
    except NotEnoughData as error:
        ties = unit = size = f"not measured: {error.what}"
        n = 0
    return [
        DepartureEffect("Ties", "Dropped by MIRAGE-Bench", "Half a win each", ties, n, "queries"),
        DepartureEffect(
            "Unit of the bootstrap",
            "The query in MIRAGE-Bench; the battle in Chatbot Arena",
            "The query, with all its battles",
            unit,
            n,
            "queries",
        ),
        DepartureEffect(
            "Bootstrap sample size",
            "User-defined (100 in the MIRAGE-Bench paper)",
            "All queries",
            size,
            n,
            "queries",
        ),
    ]


def _tie_effect(battles: Mapping[str, Battles], ranking: RankingReport) -> str:
    """Compare the ranks with those of the ranking that drops ties."""
    scope = "all" if "all" in ranking.languages else next(iter(ranking.languages))
    base = ranking.languages[scope]
    try:
        dropped = rate(battles, draws=1, seed=SEED, ties="drop").languages.get(scope)
    except NotEnoughData:
        dropped = None
    if dropped is None or dropped.systems != base.systems:
        return f"not measured: {_scope(scope)} needs its ties"
    moved = np.abs(base.ranks() - dropped.ranks())
    spread, before = np.ptp(dropped.theta), np.ptp(base.theta)
    wider = (
        f"; the ratings spread {spread / before:.1f} times as far when ties are dropped"
        if np.isfinite(spread) and before > 0
        else ""
    )
    return (
        f"{int((moved > 0).sum())} of {len(moved)} systems change rank in {_scope(scope)}, by {int(moved.max())} "
        f"at most{wider}"
    )


def _unit_effect(battles: Mapping[str, Battles], ranking: RankingReport) -> str:
    """Compare the widths of intervals that resample battles with those that resample queries."""
    ratios = []
    for code, language_battles in battles.items():
        if code in ranking.languages:
            single = rate({code: _battle_units(language_battles)}, draws=_DRAWS, seed=SEED).languages[code]
            ratios.append(_width(single) / width if (width := _width(ranking.languages[code])) > 0 else np.nan)
    bounded = [ratio for ratio in ratios if np.isfinite(ratio)]
    if not bounded:
        return "not measured: all ratings are unbounded"
    return f"intervals that resample battles are {np.mean(bounded):.2f} times as wide as those that resample queries"


def _size_effect(battles: Mapping[str, Battles]) -> str:
    """Calculate how much wider intervals of draws of 100 queries are."""
    sizes = [len(language_battles.queries) for language_battles in battles.values()]
    return (
        f"with {int(np.median(sizes))} queries per language, draws of 100 widen intervals about "
        f"{np.sqrt(np.median(sizes) / 100):.1f} times (square root of the ratio; calculated)"
    )


def _battle_units(battles: Battles) -> Battles:
    """The same battles, each a query of its own."""
    s = len(battles.systems)
    q, i, j = np.nonzero((battles.wins > 0) | (np.triu(np.ones((s, s), dtype=bool)) & (battles.ties > 0)))
    wins = np.zeros((len(q), s, s), dtype=np.uint8)
    ties = np.zeros_like(wins)
    rows = np.arange(len(q))
    wins[rows, i, j] = battles.wins[q, i, j]
    tied = battles.ties[q, i, j]
    ties[rows, i, j] = tied
    ties[rows, j, i] = tied
    return replace(
        battles, queries=tuple(f"{k}" for k in range(len(q))), wins=wins, ties=ties, strata=battles.strata[q]
    )


def _sources(names: list[str]) -> str:
    """Return the first source, and the number of files."""
    if len(names) <= 2:
        return "; ".join(names)
    return f"{names[0]}; {len(names) - 1} files, each with its SHA-256 in the manifest"


def _scope(code: str) -> str:
    return "the joint ranking" if code == "all" else code


def _tau(a: list[float], b: list[float]) -> float | None:
    """Return Kendall's tau-b; None if one side does not vary."""
    from scipy.stats import kendalltau

    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return float(kendalltau(a, b).statistic)
