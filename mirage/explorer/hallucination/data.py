"""Data of the Hallucination page: both rates of every system, jointly and by language, by either definition, with the
figures printed in the NoMIRACL paper; confusion matrices and prompts.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from mirage import store
from mirage.errors import NotEnoughData
from mirage.io.sources.published import BASELINES, SYSTEM_NAMES
from mirage.papers import printed as papers
from mirage.schema import UNDECIDED, Parser, Subset
from mirage.stages import outcomes
from mirage.stats.intervals import mean_interval
from mirage.stats.label_errors import QueryLabels
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

Definition = Literal["exclude", "count"]
"""What becomes of unclassified answers. `exclude`: wrong decisions / classified answers; `count`: they count as wrong
decisions (1 - accuracy), as published."""
Metric = Literal["hallucination", "error"]

SUBSETS: dict[Metric, Subset] = {"hallucination": "non_relevant", "error": "relevant"}
"""The subset each rate is about."""
METRICS: dict[str, Metric] = {subset: metric for metric, subset in SUBSETS.items()}
SOURCE = "NoMIRACL"
"""The paper whose figures are shown."""

TRADE_OFF = (
    *("value", "low", "high", "rate", "rate_as_published", "undecided"),
    *("n", "decided", "printed", "difference", "reason", "corrected", "corrected_low", "corrected_high", "audited"),
    *("languages", "fewer"),
)
"""Cell columns repeated in a row of the trade-off for each metric, as in `hallucination_value`."""


@dataclass(frozen=True, eq=False)
class Rates:
    """Both rates of all systems over the chosen languages."""

    systems: pa.Table
    """One row per system: `system`, `n` (answers), `unclear` (the share of them that is unclassified), and for each
    metric the columns of `TRADE_OFF`, over all languages (or the only one). Lowest hallucination rate first."""
    cells: pa.Table
    """One row per metric, language (`all`: their mean, as in `outcomes.Rate`) and system: `metric, language, subset,
    system, n` (answers present), the six outcomes as counts, `rate, rate_as_published, undecided` (`outcomes.Rate`),
    `decided` (answers), `decided_low, decided_high` (the interval of `rate`), `value, low, high` (the rate by the
    chosen definition with its 95% interval; null with `reason` where there is none), `languages` (those behind `value`,
    of `all`), `fewer` (such as "8 of 17", if they are not all languages of the metric), `printed` (the paper's
    figure, a share), `difference` (percentage points, ours as published minus printed; 0 within the rounding of the
    print), and the columns of `outcomes.Rate` on an audit of labels: `labels, corrected, corrected_low, corrected_high,
    audited, label_error, label_reason`."""
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
    definition: Definition = "exclude",
    picked: tuple[str, ...] = (),
    labels: QueryLabels | None = None,
) -> Rates:
    """Both rates over the selected languages.

    Args:
        arena: an arena with outcomes.
        figures: an arena with printed figures (table `published`).
        parser: parser whose outcomes count.
        definition: which rate is `value`. With `count` the parser is the paper's too, and so it is for the rate as
            published of the paper's systems.
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
    by_paper = "published" in parsers(arena)
    shown: Parser = "published" if definition == "count" and by_paper else parser
    rows = outcomes.correct_rates(rate_table(arena, shown, languages), labels or QueryLabels()).to_pylist()
    if by_paper and shown != "published":
        # The paper's figures are by its parser, which reads answers to its prompt alone.
        in_print = {system for _, system, _ in printed}
        published = rate_table(arena, "published", languages).select([*_KEY, "rate_as_published"]).to_pylist()
        known = {tuple(row[name] for name in _KEY): row for row in published if row["system"] in in_print}
        rows = [row | known.get(tuple(row[name] for name in _KEY), {}) for row in rows]
    cells = [_cell(row, METRICS[row["subset"]], printed) for row in rows]
    single = [cell for cell in cells if cell["language"] != "all"]
    joint = [cell for cell in cells if cell["language"] == "all"]
    codes = {
        metric: tuple(in_order(cell["language"] for cell in single if cell["metric"] == metric)) for metric in SUBSETS
    }
    for cell in joint:
        own = [c for c in single if c["n"] and (c["metric"], c["system"]) == (cell["metric"], cell["system"])]
        cell |= {name: _mean(own, name) for name in ("printed", "difference")}
        cell["_ends"] = [end for language_cell in own for end in language_cell["_ends"]]
        behind, of = len(own) if definition == "count" else cell["languages"], len(codes[cell["metric"]])
        cell |= {"languages": behind, "fewer": f"{behind} of {of}" if 0 < behind < of else None}
    lacking = _lacking(arena, printed, picked)
    absent = [_absent(code, METRICS[subset], system, printed) for code, subset in lacking for system in systems(arena)]
    for cell in (*cells, *absent):
        _define(cell, definition)
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
    keys = [key for key in sorted(printed) if not picked or key[2] in picked]
    if not keys:
        return None
    single = [_absent(code, metric, system, printed) for metric, system, code in keys]
    joint = [
        _absent("all", metric, system, {})
        | {"printed": _mean([c for c in single if (c["metric"], c["system"]) == (metric, system)], "printed")}
        for metric, system in dict.fromkeys(key[:2] for key in keys)
    ]
    for cell in (*single, *joint):
        _define(cell, "count")
        cell |= {"value": cell["printed"], "reason": None}
    languages = tuple(in_order(code for *_, code in keys))
    return Rates(
        systems=_systems(joint),
        cells=pa.Table.from_pylist([*single, *joint]),
        languages=dict.fromkeys(SUBSETS, languages),
        queries=dict.fromkeys(SUBSETS, 0),
        lacking=(),
        reference=reference,
    )


@lru_cache(maxsize=64)
def rate_table(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table:
    """Return rows of `outcomes.Rate` over these languages."""
    samples = outcomes.sample_outcomes(arena)
    return outcomes.rates(_outcomes(arena), samples=samples, parser=parser, languages=languages)


@lru_cache(maxsize=64)
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
        if (row["source"], row["item"]) == (SOURCE, BASELINES) and row["language"] != "all" and row["value"] is not None
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
    **dict.fromkeys(("rate", "rate_low", "rate_high", "rate_as_published", "undecided", "languages")),
    **dict.fromkeys(("labels", "corrected", "corrected_low", "corrected_high", "audited", "label_error")),
    "label_reason": None,
}
"""The row of `outcomes.Rate` of what is not there."""


def _absent(code: str, metric: Metric, system: str, printed: Mapping[tuple[Metric, str, str], float]) -> dict[str, Any]:
    """Return the cell of a system without answers in a language, with the printed figure."""
    return _cell({**_NONE, "language": code, "subset": SUBSETS[metric], "system": system}, metric, printed)


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
        "fewer": None,
        "difference": None if figure is None or rate is None else papers.beyond_rounding(100 * (rate - figure)),
        "_ends": [(answers - row[outcomes.RIGHT[row["subset"]]], answers)] if answers else [],
    }


def _define(cell: dict[str, Any], definition: Definition) -> None:
    """Name the rate by the chosen definition `value`, with its interval."""
    ends = cell.pop("_ends")
    value = cell["rate"]
    low, high = cell.pop("rate_low"), cell.pop("rate_high")
    cell |= {"decided_low": low, "decided_high": high}
    if definition == "count":
        value = cell["rate_as_published"]
        low, high = mean_interval(ends)[1:] if ends else (None, None)
    if value is not None:
        reason = None
    elif cell["n"]:
        reason = f"only {cell['decided']:,} of {cell['n']:,} answers classified"
    else:
        reason = "no answers in this arena"
    cell |= {"value": value, "low": low, "high": high, "reason": reason}


def _mean(cells: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the equally weighted mean over languages, as in the joint row; None unless all have a value."""
    if not cells or any(cell[name] is None for cell in cells):
        return None
    return float(sum(cell[name] for cell in cells) / len(cells))


def _systems(joint: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return one row per system from its joint cells, lowest hallucination rate first."""
    import pyarrow as pa

    by_key = {(cell["system"], cell["metric"]): cell for cell in joint}
    rows = []
    for system in sorted({cell["system"] for cell in joint}):
        own = {metric: by_key.get((system, metric), {}) for metric in SUBSETS}
        n, decided = (sum(cell.get(name) or 0 for cell in own.values()) for name in ("n", "decided"))
        row: dict[str, Any] = {"system": system, "n": n, "unclear": 1 - decided / n if n else None}
        for metric, cell in own.items():
            row |= {f"{metric}_{name}": cell.get(name) for name in TRADE_OFF}
        rows.append(row)
    rows.sort(key=lambda row: (_or_last(row["hallucination_value"]), _or_last(row["error_value"]), row["system"]))
    return pa.Table.from_pylist(rows)


def _or_last(value: float | None) -> float:
    return math.inf if value is None else value


@lru_cache(maxsize=16)
def confusions(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table:
    """Return confusion matrices by language and over these languages: rows of `outcomes.Confusion`."""
    return outcomes.confusion(rate_table(arena, parser, languages))


@lru_cache(maxsize=16)
def by_template(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table | None:
    """Return the rates of the systems asked with several prompts, over these languages.

    Returns:
        One row a system and template: `system, template`, and of either metric (`hallucination_`, `error_`) `rate, low,
        high, change, change_low, change_high, n` as in `outcomes.template_rates`; changes are in percentage points,
        `n` is decided answers. None where no system was asked with several.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if "answers" not in arena.tables:
        return None
    answers = arena.read("answers", columns=["language", "query_id", "system", "template"])
    answers = answers.filter(pc.is_valid(answers["template"]))
    shown = [code for code in languages if code in set(pc.unique(answers["language"]).to_pylist())]
    if len(pc.unique(answers["template"])) < 2 or not shown:
        return None
    table = outcomes.template_rates(arena.read("outcomes"), answers, parser=parser, languages=shown)
    names = ("rate", "low", "high", "change", "change_low", "change_high", "n")
    empty = dict.fromkeys(f"{metric}_{name}" for metric in SUBSETS for name in names)
    cells: dict[tuple[str, str], dict[str, object]] = {}
    for row in table.to_pylist():
        if row["language"] == "all":
            start = {"system": row["system"], "template": row["template"]} | empty
            changes = [row[name] for name in names[3:6]]
            values = (
                *(row[name] for name in ("rate", "rate_low", "rate_high")),
                *(None if share is None else 100 * share for share in changes),
                row["answered"] + row["abstained"],
            )
            metric = METRICS[row["subset"]]
            cells.setdefault((row["system"], row["template"]), start).update(
                {f"{metric}_{name}": value for name, value in zip(names, values, strict=True)}
            )
    systems = [system for system, _ in cells]
    rows = [cell for (system, _), cell in cells.items() if systems.count(system) > 1]
    return pa.Table.from_pylist(rows) if rows else None


@lru_cache(maxsize=8)
def paper_tables(figures: Arena) -> tuple[str, ...]:
    """Return NoMIRACL's tables among the printed figures, except the rates, which have their own page."""
    rows = figures.read("published", columns=("source", "item")).to_pylist()
    return tuple(sorted({row["item"] for row in rows if row["source"] == SOURCE} - {BASELINES}))


@lru_cache(maxsize=8)
def table_languages(figures: Arena, item: str) -> tuple[str, ...]:
    """Return the languages of a table; `all` is first if the paper prints a mean or total."""
    rows = figures.read("published", columns=("source", "item", "language")).to_pylist()
    codes = in_order({row["language"] for row in rows if (row["source"], row["item"]) == (SOURCE, item)})
    return tuple(sorted(codes, key=lambda code: code != "all"))


@lru_cache(maxsize=32)
def printed_beside_ours(figures: Arena, arena: Arena | None, item: str, language: str) -> pa.Table:
    """Return the figures of one table in one language with the arena's own: rows of `reproduce.printed.PrintedFigure`,
    those without a figure of the arena last.
    """
    import pyarrow as pa

    table_figures = _figures(figures, arena, item)
    rows = [asdict(figure) for figure in table_figures if figure.language == language]
    for row in rows:
        row["metric"] = row["metric"].removeprefix("share of replies: ")
    rows.sort(key=lambda row: row["ours"] is None)
    names = ("printed", "ours", "difference", "ours_low", "ours_high")
    kinds = dict.fromkeys(names, pa.float64()) | {"n": pa.int64()}
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in rows[0]]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


@lru_cache(maxsize=8)
def _figures(figures: Arena, arena: Arena | None, item: str) -> list[papers.PrintedFigure]:
    return papers.printed_figures(figures.read("published"), arena, source=SOURCE, item=item)
