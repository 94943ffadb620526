"""View of the rates: who makes things up, and who gives up? Both rates of every system, by language and over all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from mirage import schema, store
from mirage.errors import NotEnoughData
from mirage.io.sources.published import BASELINES, SYSTEM_NAMES
from mirage.papers import printed as papers
from mirage.schema import UNDECIDED, Count, Parser, Share, Subset
from mirage.stages.outcomes import confusion, rates
from mirage.stages.outcomes.corrected import correct_rates
from mirage.stages.outcomes.rates import Rate, count_answers, unparsed_note
from mirage.stages.outcomes.tables import RIGHT, sample_outcomes
from mirage.stages.outcomes.templates import template_rates
from mirage.stats.intervals import mean_interval
from mirage.stats.label_errors import QueryLabels
from mirage.text.languages import in_order, scope_name
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import as_sentence, count_text
from mirage.views.cache import cached_view

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
TITLES: Mapping[str, str] = {"hallucination": "Hallucination rate", "error": "Error rate"}
QUERIES: Mapping[str, str] = {"hallucination": "unanswerable queries", "error": "answerable queries"}
"""The queries that each rate is about."""
SOURCE = "NoMIRACL"
"""The paper whose figures are shown."""
NAMED = 3
"""Maximum number of systems with the best rate to name; more are counted."""
BESIDE = (
    *("value", "low", "high", "rate", "rate_as_published", "undecided", "answers", "n", "reason"),
    *("printed", "reproduced", "difference", "corrected", "corrected_low", "corrected_high", "audited"),
    *("languages", "fewer"),
)
"""Columns of `RateCell` that a row of `RatesView.systems` repeats for each metric, as in `hallucination_value`."""


@dataclass(frozen=True, slots=True)
class RateChoice:
    """Choices of a view of rates."""

    languages: tuple[str, ...] = ()
    """Codes; those without outcomes are ignored. Empty for all."""
    parser: Parser = "strict"
    """Parser whose outcomes count. With `count` it is the papers' parser, if the arena has its outcomes."""
    definition: Definition = "exclude"
    """Which rate is `value`."""


ALL = RateChoice()
"""All languages, the default parser, classified answers."""
PEOPLES = QueryLabels()
"""Labels by people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCell(Rate):
    """A row of `rates.Rate` with the rate by the chosen definition and the printed figure."""

    metric: Metric
    """The rate's name."""
    answers: Count
    """Answers present, classified or not."""
    unclear: Share | None
    """Share of the system's answers in the language, to queries of both subsets, that are unclassified."""
    value: Share | None
    """The rate by the chosen definition."""
    low: Share | None
    """Lower end of its 95% interval."""
    high: Share | None
    """Upper end."""
    reason: str | None
    """Why there is no `value`."""
    fewer: str | None
    """Such as "8 of 17", if `value` of `all` is not over all languages of the metric."""
    printed: Share | None
    """The paper's figure; for `all` the mean over the system's languages, if all have one."""
    reproduced: Share | None
    """The rate as published by the papers' parser, of systems with a printed figure; else `rate_as_published`."""
    difference: float | None
    """`reproduced` minus `printed` in percentage points; 0 within the rounding of the print."""


@dataclass(frozen=True, eq=False)
class RatesView:
    """Both rates of all systems over the chosen languages, and what they say."""

    cells: pa.Table
    """Rows of `RateCell`: one per language, subset and system, then `all`."""
    absent: pa.Table
    """Rows of `RateCell` of languages in `lacking`, with printed figures only; `answers` 0."""
    systems: pa.Table
    """One row per system: `system`, `answers`, `unclear`, and for each metric the columns of `BESIDE`, over all
    languages (or the only one). Lowest hallucination rate first."""
    languages: Mapping[Metric, tuple[str, ...]]
    """Languages of each rate."""
    queries: Mapping[Metric, int]
    """Number of queries of each rate."""
    lacking: tuple[tuple[str, Subset], ...]
    """Languages with the subset that the arena has no outcomes for, though it has the other subset or the paper prints
    figures of its systems for them."""
    reference: str
    """Source of the printed figures; empty if there are none."""
    conclusion: str
    """The answer in words; empty with fewer than two systems to compare."""
    opening: str
    """How many systems make things up more often than not, by the hallucination rates of `systems`."""
    unparsed: str
    """On many unparsed answers; empty if there are few."""
    fewer: str
    """On means over fewer languages; empty if there are none."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else a reader must know."""
        return tuple(filter(None, (self.fewer, self.unparsed)))

    @property
    def everything(self) -> pa.Table:
        """`cells` and `absent`."""
        import pyarrow as pa

        return pa.concat_tables([self.cells, self.absent])


@lru_cache(maxsize=64)
def parsers(arena: Arena) -> tuple[Parser, ...]:
    """Parsers whose outcomes the arena holds, the default first."""
    names = set(_outcomes(arena)["parser"].unique().to_pylist())
    return tuple(parser for parser in get_args(Parser) if parser in names)


@lru_cache(maxsize=64)
def systems(arena: Arena) -> tuple[str, ...]:
    """Systems with outcomes, by name."""
    return tuple(sorted(_outcomes(arena)["system"].unique().to_pylist()))


@cached_view
def rates_view(
    arena: Arena,
    choice: RateChoice = ALL,
    labels: QueryLabels = PEOPLES,
    figures: Arena | None = None,
) -> RatesView:
    """Both rates over the chosen languages.

    Args:
        arena: an arena with outcomes.
        choice: the choices.
        labels: what is known about the labels: with an audit the cells have `corrected` rates.
        figures: an arena with printed figures (table `published`).

    Raises:
        TableMissing: if the arena has no outcomes.
        NotEnoughData: if the outcomes have none of the languages.
        UnknownName: if they have no such parser.
    """
    arena.need("outcomes")
    picked = choice.languages
    languages = tuple(code for code in arena.languages("outcomes") if not picked or code in picked)
    if not languages:
        raise NotEnoughData("none of the chosen languages has outcomes", do="choose other languages")
    printed, reference = _printed_rates(figures) if figures else ({}, "")
    by_paper = "published" in parsers(arena)
    table = rate_table(arena, "published" if choice.definition == "count" and by_paper else choice.parser, languages)
    ours: dict[tuple[str, ...], float | None] = {}
    if by_paper and printed:
        # The paper's figures are by its parser, which reads answers to its prompt alone.
        in_print = {system for _, system, _ in printed}
        rows = rate_table(arena, "published", languages).to_pylist()
        ours = {_key(row): row["rate_as_published"] for row in rows if row["system"] in in_print}
    cells = [
        _cell(row, printed, ours.get(_key(row), row["rate_as_published"]))
        for row in correct_rates(table, labels).to_pylist()
    ]
    codes = {
        metric: tuple(in_order(c["language"] for c in cells if c["metric"] == metric and c["language"] != "all"))
        for metric in SUBSETS
    }
    _join(cells, codes, choice.definition)
    lacking = _lacking(arena, printed, picked)
    absent = [_absent(code, METRICS[subset], system, printed) for code, subset in lacking for system in systems(arena)]
    for cell in (*cells, *absent):
        _define(cell, choice.definition)
    return _view(
        cells,
        absent,
        languages=codes,
        queries={metric: _queries(arena, SUBSETS[metric], codes[metric]) for metric in SUBSETS},
        lacking=lacking,
        reference=reference if any(cell["printed"] is not None for cell in (*cells, *absent)) else "",
        unparsed=as_sentence(note) if (note := unparsed_note(table)) else "",
        unaudited=labels.unaudited,
    )


@lru_cache(maxsize=64)
def printed_view(figures: Arena, picked: tuple[str, ...] = ()) -> RatesView | None:
    """Return the printed rates, for an arena without others: `value` is as published, without interval or n.

    Args:
        figures: an arena with printed figures.
        picked: codes; empty for all.

    Returns:
        None if there are no printed rates for these languages.
    """
    printed, reference = _printed_rates(figures)
    keys = [key for key in sorted(printed) if not picked or key[2] in picked]
    if not keys:
        return None
    cells = [_absent(code, metric, system, printed) for metric, system, code in keys]
    joint = {key[:2]: _absent("all", key[0], key[1], {}) for key in keys}
    for key, cell in joint.items():
        cell["printed"] = _mean([c for c in cells if (c["metric"], c["system"]) == key], "printed")
    cells += joint.values()
    for cell in cells:
        _define(cell, "count")
        cell |= {"value": cell["printed"], "reason": None}
    languages = dict.fromkeys(SUBSETS, tuple(in_order(code for *_, code in keys)))
    return _view(cells, [], languages=languages, queries=dict.fromkeys(SUBSETS, 0), lacking=(), reference=reference)


@cached_view
def rate_table(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table:
    """Return rows of `rates.Rate` over these languages."""
    samples = sample_outcomes(arena)
    return rates.rates(_outcomes(arena), samples=samples, parser=parser, languages=languages)


@lru_cache(maxsize=16)
def confusions(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table:
    """Return confusion matrices by language and over these languages: rows of `confusion.Confusion`."""
    return confusion.confusion(rate_table(arena, parser, languages))


@cached_view
def by_template(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table | None:
    """Return the rates of the systems asked with several prompts, over these languages.

    Returns:
        One row a system and template: `system, template`, and of either metric (`hallucination_`, `error_`) `rate, low,
        high, change, change_low, change_high, n` as in `templates.template_rates`; changes are in percentage points,
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
    table = template_rates(arena.read("outcomes"), answers, parser=parser, languages=shown)
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
    asked = [system for system, _ in cells]
    rows = [cell for (system, _), cell in cells.items() if asked.count(system) > 1]
    return pa.Table.from_pylist(rows) if rows else None


def published_arena(arena: Arena) -> Arena | None:
    """Return the arena with the printed figures: this one, else the bundled one; None if neither has them."""
    if "published" in arena.tables:
        return arena
    path = store.bundled_arenas().get("published")
    return store.reopen(path) if path else None


@lru_cache(maxsize=4)
def _outcomes(arena: Arena) -> pa.Table:
    columns = ("language", "query_id", "system", "parser", "subset", "outcome")
    return arena.read("outcomes", columns=columns, encoded=columns)


def _queries(arena: Arena, subset: Subset, languages: tuple[str, ...]) -> int:
    rows = arena.sql(
        "SELECT count(DISTINCT (language, query_id)) AS n FROM outcomes "
        "WHERE subset = ? AND list_contains(?, language)",
        [subset, list(languages)],
    )
    return int(rows["n"][0].as_py())


_Printed = Mapping[tuple[Metric, str, str], float]
"""Printed failure rates (shares) by metric, system and language."""


@lru_cache(maxsize=8)
def _printed_rates(figures: Arena) -> tuple[_Printed, str]:
    """Return the printed rates and their source."""
    columns = ("source", "item", "metric", "system", "language", "value", "reference")
    rows = [
        row
        for row in figures.read("published", columns=columns).to_pylist()
        if (row["source"], row["item"]) == (SOURCE, BASELINES) and row["language"] != "all" and row["value"] is not None
    ]
    by_name = {f"{metric} rate": metric for metric in SUBSETS}
    found = {
        (by_name[row["metric"]], SYSTEM_NAMES.get(row["system"], row["system"]), row["language"]): row["value"] / 100
        for row in rows
        if row["metric"] in by_name
    }
    return found, rows[0]["reference"] if rows else ""


_NONE = dict.fromkeys(("n", "answered", "abstained", *UNDECIDED, "missing"), 0)
"""The counts of what is not there."""


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["language"], row["subset"], row["system"]


def _absent(code: str, metric: Metric, system: str, printed: _Printed) -> dict[str, Any]:
    """Return the cell of a system without answers in a language, with the printed figure."""
    empty = dict.fromkeys(column.name for column in schema.columns(Rate)) | _NONE
    return _cell(empty | {"language": code, "subset": SUBSETS[metric], "system": system}, printed, None)


def _lacking(arena: Arena, printed: _Printed, picked: tuple[str, ...]) -> tuple[tuple[str, Subset], ...]:
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


def _cell(row: Mapping[str, Any], printed: _Printed, ours: float | None) -> dict[str, Any]:
    """Return a row of rates with the printed figure; `_ends`: wrong decisions and answers of `rate_as_published`."""
    metric, answers = METRICS[row["subset"]], count_answers(row)
    figure = printed.get((metric, row["system"], row["language"]))
    return {
        **row,
        "metric": metric,
        "answers": answers,
        "unclear": None,
        "fewer": None,
        "printed": figure,
        "reproduced": ours,
        "difference": None if figure is None or ours is None else papers.beyond_rounding(100 * (ours - figure)),
        "_ends": [(answers - row[RIGHT[row["subset"]]], answers)] if answers else [],
    }


def _join(cells: Sequence[dict[str, Any]], codes: Mapping[Metric, tuple[str, ...]], definition: Definition) -> None:
    """Fill what the cells of `all` take from those of the languages, and the share of unclassified answers."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in cells:
        groups.setdefault((cell["language"], cell["system"]), []).append(cell)
    for pair in groups.values():
        answers, classified = (sum(cell[n] for cell in pair for n in names) for names in (("answers",), CLASSIFIED))
        for cell in pair:
            cell["unclear"] = 1 - classified / answers if answers else None
    for cell in cells:
        if cell["language"] != "all":
            continue
        own = [c for code in codes[cell["metric"]] for c in groups.get((code, cell["system"]), ())]
        own = [c for c in own if c["answers"] and c["metric"] == cell["metric"]]
        behind, of = len(own) if definition == "count" else cell["languages"], len(codes[cell["metric"]])
        cell |= {name: _mean(own, name) for name in ("printed", "difference")}
        cell |= {"languages": behind, "fewer": f"{behind} of {of}" if 0 < behind < of else None}
        cell["_ends"] = [end for c in own for end in c["_ends"]]


CLASSIFIED = ("answered", "abstained")
"""Outcomes that a rate is over."""


def _define(cell: dict[str, Any], definition: Definition) -> None:
    """Name the rate by the chosen definition `value`, with its interval."""
    ends = cell.pop("_ends")
    value, low, high = (cell[name] for name in ("rate", "rate_low", "rate_high"))
    if definition == "count":
        value = cell["rate_as_published"]
        low, high = mean_interval(ends)[1:] if ends else (None, None)
    if value is not None:
        reason = None
    elif cell["answers"]:
        reason = f"only {cell['n']:,} of {cell['answers']:,} answers classified"
    else:
        reason = "no answers in this arena"
    cell |= {"value": value, "low": low, "high": high, "reason": reason}


def _mean(cells: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the equally weighted mean over languages, as in the joint row; None unless all have a value."""
    if not cells or any(cell[name] is None for cell in cells):
        return None
    return float(sum(cell[name] for cell in cells) / len(cells))


def _view(
    cells: Sequence[Mapping[str, Any]],
    absent: Sequence[Mapping[str, Any]],
    *,
    languages: Mapping[Metric, tuple[str, ...]],
    queries: Mapping[Metric, int],
    lacking: tuple[tuple[str, Subset], ...],
    reference: str,
    unparsed: str = "",
    unaudited: bool = False,
) -> RatesView:
    """Build the record: its tables, and what they say in words."""
    import pyarrow as pa

    rows = _systems([cell for cell in cells if cell["language"] == "all"])
    answer = _answer(rows)
    if unaudited:
        answer = f"{answer.removesuffix('.')} (labels not audited)." if answer else "The labels are not audited."
    few = [
        f"{row['system']} ({', '.join(parts)})"
        for row in rows
        if (parts := [f"{metric} {row[f'{metric}_fewer']}" for metric in SUBSETS if row[f"{metric}_fewer"]])
    ]
    values = [row["hallucination_value"] for row in rows if row["hallucination_value"] is not None]
    most = sum(value > 0.5 for value in values)
    rated = f"{most} of {len(values)} models answer more often than they abstain when no passage has the answer"
    few_codes = languages["hallucination"] if len(languages["hallucination"]) < NAMED else ()
    where = f" ({' and '.join(map(scope_name, few_codes))})" if few_codes else ""
    return RatesView(
        cells=schema.from_rows(RateCell, [RateCell(**cell) for cell in cells]),
        absent=schema.from_rows(RateCell, [RateCell(**cell) for cell in absent]),
        systems=pa.Table.from_pylist(rows),
        languages=languages,
        queries=queries,
        lacking=lacking,
        reference=reference,
        conclusion=answer,
        opening=f"{rated}{where}." if values else "",
        unparsed=unparsed,
        fewer=f"Mean over fewer languages: {', '.join(few)}." if few else "",
    )


def _systems(joint: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per system from its joint cells, lowest hallucination rate first."""
    by_key = {(cell["system"], cell["metric"]): cell for cell in joint}
    rows = []
    for system in sorted({cell["system"] for cell in joint}):
        own = {metric: by_key.get((system, metric), {}) for metric in SUBSETS}
        unclear = next((cell["unclear"] for cell in own.values() if cell), None)
        row: dict[str, Any] = {"system": system, "answers": sum(c.get("answers", 0) for c in own.values())}
        row["unclear"] = unclear
        for metric, cell in own.items():
            row |= {f"{metric}_{name}": cell.get(name) for name in BESIDE}
        rows.append(row)
    rows.sort(key=lambda row: (*(_or_last(row[f"{metric}_value"]) for metric in SUBSETS), row["system"]))
    return rows


def _or_last(value: float | None) -> float:
    return math.inf if value is None else value


def _answer(rows: Sequence[Mapping[str, Any]]) -> str:
    """Answer the question in words; systems with the same rates are named together. A mean over fewer languages than
    those of others does not compete.
    """
    both = [row for row in rows if None not in (row["hallucination_value"], row["error_value"])]
    both = [row for row in both if not row["hallucination_fewer"] and not row["error_fewer"]]
    if len(both) < 2:
        return ""

    def least(name: str, value: Callable[[Mapping[str, Any]], float], write: Callable[[float], str]) -> str:
        best = min(map(value, both))
        found = [row["system"] for row in both if abs(value(row) - best) < 1e-9]
        named = ", ".join(found) if len(found) <= NAMED else f"{len(found)} of {count_text(len(both), 'system')}"
        return f"{name}: {named}{write(best)}."

    def rate(metric: Metric) -> str:
        title, write = f"Lowest {TITLES[metric].lower()}", FORMATS["rate"].write
        return least(title, lambda row: float(row[f"{metric}_value"]), lambda best: f" ({write(best)})")

    balance = least(
        "Best balance", lambda row: float(row["hallucination_value"] ** 2 + row["error_value"] ** 2), lambda _: ""
    )
    return " ".join([*map(rate, SUBSETS), balance])
