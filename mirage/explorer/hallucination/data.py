"""Data of the Hallucination page: both rates of every system, jointly and by language, by either definition, with the
figures printed in the NoMIRACL paper.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from mirage import store
from mirage.errors import NotEnoughData
from mirage.io.sources.published import BASELINES, SYSTEM_NAMES
from mirage.papers.printed import beyond_rounding
from mirage.schema import UNDECIDED, Parser, Subset
from mirage.stages import outcomes
from mirage.stats.label_errors import QueryLabels
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

Definition = Literal["decided", "as-published"]
"""`decided`: wrong decisions / decided answers; `as-published`: 1 - accuracy, undecided answers count as wrong."""
Metric = Literal["hallucination", "error"]

SUBSETS: dict[Metric, Subset] = {"hallucination": "non_relevant", "error": "relevant"}
"""The subset each rate is about."""

TRADE_OFF = (
    *("value", "low", "high", "other", "rate", "rate_as_published", "undecided"),
    *("n", "decided", "printed", "difference", "reason", "corrected", "corrected_low", "corrected_high", "audited"),
)
"""Cell columns repeated in a row of the trade-off for each metric, as in `hallucination_value`."""


@dataclass(frozen=True, eq=False)
class Rates:
    """Both rates of all systems over the chosen languages."""

    systems: pa.Table
    """One row per system: `system`, and for each metric the columns of `TRADE_OFF`, over all languages (or the only
    one). Lowest hallucination rate first."""
    cells: pa.Table
    """One row per metric, language (`all`: their mean, as in `outcomes.Rate`) and system: `metric, language, subset,
    system, n` (answers present), the six outcomes as counts, `rate, rate_as_published, undecided` (`outcomes.Rate`),
    `decided` (answers), `decided_low, decided_high` (the interval of `rate`), `value, low, high` (the rate by the
    chosen definition with its 95% interval; null with `reason` where there is none), `other` (the rate by the other
    definition), `printed` (the paper's figure, a share), `difference` (percentage points, ours as published minus
    printed; 0 within the rounding of the print), and the columns of `outcomes.Rate` on an audit of labels: `labels,
    corrected, corrected_low, corrected_high, audited, label_error, label_reason`."""
    languages: Mapping[Metric, tuple[str, ...]]
    """Number of languages of each rate."""
    queries: Mapping[Metric, int]
    """Number of queries of each rate."""
    lacking: tuple[tuple[str, Subset], ...]
    """Languages with the subset that the arena has no outcomes for, though it has the other subset or the paper prints
    figures of its systems for them. Their cells have `n` 0."""
    reference: str
    """Source of the printed figures; empty if there are none."""


@lru_cache(maxsize=64)
def parsers(arena: Arena) -> tuple[Parser, ...]:
    """Parsers whose outcomes the arena holds, the default first."""
    names = set(_outcomes(arena)["parser"].unique().to_pylist())
    return tuple(parser for parser in get_args(Parser) if parser in names)


@lru_cache(maxsize=64)
def systems(arena: Arena) -> tuple[str, ...]:
    """Systems with outcomes, by name."""
    return tuple(sorted(_outcomes(arena)["system"].unique().to_pylist()))


def published_arena(arena: Arena) -> Arena | None:
    """Return the arena with the printed figures: this one, else the bundled one; None if neither has them."""
    if "published" in arena.tables:
        return arena
    path = store.bundled_arenas().get("published")
    return store.reopen(path) if path else None


@lru_cache(maxsize=64)
def both_rates(
    arena: Arena,
    figures: Arena | None,
    parser: Parser = "strict",
    definition: Definition = "decided",
    picked: tuple[str, ...] = (),
    labels: QueryLabels | None = None,
) -> Rates:
    """Both rates over the selected languages.

    Args:
        arena: an arena with outcomes.
        figures: an arena with printed figures (table `published`).
        parser: parser whose outcomes count.
        definition: which rate is `value`; the other one is `other`. As published, the parser is the paper's too, and
            so it is for the rate as published of the paper's systems.
        picked: codes; empty for all that the arena has.
        labels: what is known about the labels: with an audit the cells have `corrected` rates. None if unknown.

    Raises:
        NotEnoughData: if the outcomes have none of the languages.
    """
    import pyarrow as pa

    languages = tuple(code for code in arena.languages("outcomes") if not picked or code in picked)
    if not languages:
        raise NotEnoughData("none of the chosen languages has outcomes", do="choose other languages")
    printed, reference = _printed_rates(figures) if figures else ({}, "")
    metric_of: dict[str, Metric] = {subset: metric for metric, subset in SUBSETS.items()}
    by_paper = "published" in parsers(arena)
    shown: Parser = "published" if definition == "as-published" and by_paper else parser
    table = outcomes.correct_rates(rate_table(arena, shown, languages), labels or QueryLabels())
    rows = table.to_pylist()
    if by_paper and shown != "published":
        # The paper's figures are by its parser, which reads answers to its prompt alone.
        in_print = {system for _, system, _ in printed}
        published = rate_table(arena, "published", languages).select([*_KEY, "rate_as_published"]).to_pylist()
        known = {tuple(row[name] for name in _KEY): row for row in published if row["system"] in in_print}
        rows = [row | known.get(tuple(row[name] for name in _KEY), {}) for row in rows]
    cells = [_cell(row, metric_of[row["subset"]], printed) for row in rows]
    single = [cell for cell in cells if cell["language"] != "all"]
    joint = [cell for cell in cells if cell["language"] == "all"]
    with_answers: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in single:
        if cell["n"]:
            with_answers.setdefault((cell["metric"], cell["system"]), []).append(cell)
    for cell in joint:
        language_cells = with_answers.get((cell["metric"], cell["system"]), [])
        cell["printed"], cell["difference"] = _mean(language_cells, "printed"), _mean(language_cells, "difference")
        cell["_ends"] = [end for language_cell in language_cells for end in language_cell["_ends"]]
    lacking = _lacking(arena, printed, picked)
    absent = [
        _cell({**_NONE, "language": code, "subset": subset, "system": system}, metric_of[subset], printed)
        for code, subset in lacking
        for system in systems(arena)
    ]
    for cell in (*cells, *absent):
        _define(cell, definition)
    codes = {
        metric: tuple(in_order(cell["language"] for cell in single if cell["metric"] == metric)) for metric in SUBSETS
    }
    return Rates(
        systems=_systems(joint),
        cells=pa.Table.from_pylist([*single, *absent, *joint]),
        languages=codes,
        queries={metric: _queries(arena, SUBSETS[metric], codes[metric]) for metric in SUBSETS},
        lacking=lacking,
        reference=reference if any(cell["printed"] is not None for cell in single) else "",
    )


@lru_cache(maxsize=64)
def printed_rates(figures: Arena, picked: tuple[str, ...] = ()) -> Rates | None:
    """Return the printed rates, for an arena without others: `value` is as published, without interval or n.

    Args:
        figures: an arena with printed figures.
        picked: codes; empty for all.

    Returns:
        None if there are no printed rates for these languages.
    """
    import pyarrow as pa

    printed, reference = _printed_rates(figures)
    single = [
        _cell({**_NONE, "language": code, "subset": SUBSETS[metric], "system": system}, metric, printed)
        for metric, system, code in sorted(printed)
        if not picked or code in picked
    ]
    if not single:
        return None
    groups: dict[tuple[Metric, str], list[dict[str, Any]]] = {}
    for cell in single:
        groups.setdefault((cell["metric"], cell["system"]), []).append(cell)
    joint = [
        {**language_cells[0], "language": "all", "printed": _mean(language_cells, "printed")}
        for language_cells in groups.values()
    ]
    for cell in (*single, *joint):
        _define(cell, "as-published")
        cell |= {"value": cell["printed"], "reason": None}
    languages = tuple(in_order(cell["language"] for cell in single))
    return Rates(
        systems=_systems(joint),
        cells=pa.Table.from_pylist([*single, *joint]),
        languages=dict.fromkeys(SUBSETS, languages),
        queries=dict.fromkeys(SUBSETS, 0),
        lacking=(),
        reference=reference,
    )


@lru_cache(maxsize=64)
def moves(rates: Rates, metric: Metric) -> pa.Table:
    """Return the ranks of the systems by one rate under both definitions.

    Returns:
        One row a system, lowest rate over decided answers first: `system, decided, as_published` (the rates),
        `undecided, n`, `place_decided, place_as_published` (1 is the lowest rate, equal rates share a place, null
        without a rate) and `fall` (places lost when every undecided answer counts as wrong; negative if won).
    """
    rows = [row for row in rates.cells.to_pylist() if row["language"] == "all" and row["metric"] == metric]
    decided, published = (_places([row[name] for row in rows]) for name in ("rate", "rate_as_published"))
    moved = [
        {
            "system": row["system"],
            "decided": row["rate"],
            "as_published": row["rate_as_published"],
            "undecided": row["undecided"],
            "n": row["n"],
            "place_decided": a,
            "place_as_published": b,
            "fall": 0 if a is None or b is None else b - a,
        }
        for row, a, b in zip(rows, decided, published, strict=True)
    ]
    return _table(sorted(moved, key=lambda row: (_or_last(row["decided"]), row["system"])))


@lru_cache(maxsize=64)
def rate_table(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table:
    """Return rows of `outcomes.Rate` over these languages."""
    samples = outcomes.sample_outcomes(arena)
    return outcomes.rates(_outcomes(arena), samples=samples, parser=parser, languages=languages)


def corrected_rows(cells: Sequence[Mapping[str, Any]], order: Sequence[str], metric: Metric) -> pa.Table:
    """Return a rate of every system over all languages, corrected for label errors, beside the printed one.

    Args:
        cells: rows of `Rates.cells`.
        order: systems in the order of the rows.
        metric: the rate.
    """
    chosen = {row["system"]: row for row in cells if (row["language"], row["metric"]) == ("all", metric)}
    rows = []
    for system in order:
        if (cell := chosen.get(system)) is None:
            continue
        rows.append(
            {
                **{name: cell[name] for name in ("system", "rate", "decided", "corrected", "audited", "label_error")},
                "interval": _span(cell["decided_low"], cell["decided_high"]),
                "corrected_interval": _span(cell["corrected_low"], cell["corrected_high"]),
            }
        )
    return _table(rows)


def unparsed_note(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> str | None:
    """Return a note on many unparsed answers in the chosen languages, if there are any."""
    return outcomes.unparsed_note(rate_table(arena, parser, languages))


@lru_cache(maxsize=4)
def _outcomes(arena: Arena) -> pa.Table:
    columns = ("language", "query_id", "system", "parser", "subset", "outcome")
    return arena.read("outcomes", columns=columns, encoded=columns)


@lru_cache(maxsize=256)
def _queries(arena: Arena, subset: Subset, languages: tuple[str, ...]) -> int:
    rows = arena.sql(
        "SELECT count(DISTINCT (language, query_id)) AS n FROM outcomes "
        "WHERE subset = ? AND list_contains(?, language)",
        [subset, list(languages)],
    )
    return int(rows["n"][0].as_py())


@lru_cache(maxsize=8)
def _printed_rates(figures: Arena) -> tuple[dict[tuple[Metric, str, str], float], str]:
    """Return the printed failure rates (shares) by metric, system and language, and their source."""
    columns = ("source", "item", "metric", "system", "language", "value", "reference")
    rows = [
        row
        for row in figures.read("published", columns=columns).to_pylist()
        if (row["source"], row["item"]) == ("NoMIRACL", BASELINES)
        and row["language"] != "all"
        and row["value"] is not None
    ]
    figures_by_key: dict[tuple[Metric, str, str], float] = {}
    for row in rows:
        for metric in SUBSETS:
            if row["metric"] == f"{metric} rate":
                figures_by_key[metric, SYSTEM_NAMES.get(row["system"], row["system"]), row["language"]] = (
                    row["value"] / 100
                )
    return figures_by_key, rows[0]["reference"] if rows else ""


_KEY = ("language", "subset", "system")
_NONE = {
    **dict.fromkeys(("n", "answered", "abstained", *UNDECIDED, "missing"), 0),
    **dict.fromkeys(("rate", "rate_low", "rate_high", "rate_as_published", "undecided")),
    **dict.fromkeys(("labels", "corrected", "corrected_low", "corrected_high", "audited", "label_error")),
    "label_reason": None,
}
"""The row of `outcomes.Rate` of what is not there."""


def _lacking(
    arena: Arena, printed: Mapping[tuple[Metric, str, str], float], picked: tuple[str, ...]
) -> tuple[tuple[str, Subset], ...]:
    rows = _outcomes(arena).group_by(["language", "subset"]).aggregate([]).to_pylist()
    pairs = {(row["language"], row["subset"]) for row in rows}
    known_systems = set(systems(arena))
    codes = {code for code, _ in pairs} | {code for _, system, code in printed if system in known_systems}
    return tuple(
        (code, subset)
        for code in in_order(codes)
        if not picked or code in picked
        for subset in SUBSETS.values()
        if (code, subset) not in pairs
    )


def _cell(row: Mapping[str, Any], metric: Metric, printed: Mapping[tuple[Metric, str, str], float]) -> dict[str, Any]:
    """A row of rates with the printed figure; `_ends` is what its rate as published rests on: (wrong, answers)."""
    answers = outcomes.count_answers(row)
    rate, figure = row["rate_as_published"], printed.get((metric, row["system"], row["language"]))
    return {
        "metric": metric,
        **row,
        "n": answers,
        "decided": row["n"],
        "printed": figure,
        "difference": None if figure is None or rate is None else beyond_rounding(100 * (rate - figure)),
        "_ends": [(answers - row[outcomes.RIGHT[row["subset"]]], answers)] if answers else [],
    }


def _define(cell: dict[str, Any], definition: Definition) -> None:
    """Name the rate by the chosen definition `value`, with its interval, and the other one `other`."""
    ends = cell.pop("_ends")
    value, other = cell["rate"], cell["rate_as_published"]
    low, high = cell.pop("rate_low"), cell.pop("rate_high")
    cell |= {"decided_low": low, "decided_high": high}
    if definition == "as-published":
        value, other = other, value
        low, high = outcomes.mean_interval(ends)[1:] if ends else (None, None)
    if value is not None:
        reason = None
    elif cell["n"]:
        reason = f"only {cell['decided']:,} of {cell['n']:,} answers classified"
    else:
        reason = "no answers in this arena"
    cell |= {"value": value, "low": low, "high": high, "other": other, "reason": reason}


def _mean(cells: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the equally weighted mean over languages, as in the joint row; None unless all have a value."""
    if not cells or any(cell[name] is None for cell in cells):
        return None
    return float(sum(cell[name] for cell in cells) / len(cells))


def _systems(joint: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return one row per system from its joint cells, lowest hallucination rate first."""
    rows = []
    for system in sorted({cell["system"] for cell in joint}):
        row: dict[str, Any] = {"system": system}
        for metric in SUBSETS:
            values: Mapping[str, Any] = next(
                (cell for cell in joint if (cell["system"], cell["metric"]) == (system, metric)), {}
            )
            row |= {f"{metric}_{name}": values.get(name) for name in TRADE_OFF}
        rows.append(row)
    rows.sort(key=lambda row: (_or_last(row["hallucination_value"]), _or_last(row["error_value"]), row["system"]))
    return _table(rows)


def _span(low: float | None, high: float | None) -> str:
    """Return an interval in percent as text; empty if there is none."""
    return "" if low is None or high is None else f"{low:.1%} to {high:.1%}"


def _places(values: Sequence[float | None]) -> list[int | None]:
    return [None if v is None else 1 + sum(w < v for w in values if w is not None) for v in values]


def _or_last(value: float | None) -> float:
    return math.inf if value is None else value


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(list(rows))
