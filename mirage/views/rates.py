"""View of the rates: who makes things up, and who gives up? Both rates of every system, by language and over all."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.counts import UNREAD
from mirage.errors import NotEnoughData
from mirage.io.sources.nomiracl.origin import BASELINES, SYSTEM_NAMES
from mirage.papers import printed as papers
from mirage.schema import UNDECIDED, CodeOrAll, Count, Parser, Share, Subset
from mirage.stages.outcomes.confusion import confusion
from mirage.stages.outcomes.corrected import correct_rates
from mirage.stages.outcomes.rates import Rate, rates, unclassified_note
from mirage.stages.outcomes.tables import sample_outcomes
from mirage.stages.outcomes.templates import template_rates
from mirage.stats.label_errors import QueryLabels
from mirage.store import arena as arenas
from mirage.store.arena import Arena, reopen
from mirage.store.labels import source_phrase
from mirage.text.languages import in_order, place, scope_name
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import as_sentence
from mirage.views.cache import cached_view, memoize

Definition = Literal["exclude", "count"]
"""Treatment of unclassified answers. `exclude`: wrong decisions / classified answers; `count`: as published, where
they count as wrong decisions and the published parser reads the answers."""
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


@dataclass(frozen=True, slots=True)
class RateChoice:
    """Choices of a view of rates."""

    languages: tuple[str, ...] = ()
    """Codes; those without outcomes are ignored. Empty for all."""
    parser: Parser = "strict"
    """Parser whose outcomes count; with `count` the published one."""
    definition: Definition = "exclude"
    """Definition of `value`."""


ALL = RateChoice()
"""All languages, the default parser, classified answers."""
PEOPLES = QueryLabels()
"""Labels by people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCell(Rate):
    """A row of `rates.Rate` with the rate by the chosen definition and the printed figure."""

    n: Count
    """Independent queries behind `value` and its interval."""
    metric: Metric
    """The rate's name."""
    value: Share | None
    """The rate by the chosen definition: `rate` or `rate_as_published`."""
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
    difference: float | None
    """`rate_as_published` minus `printed` in percentage points; 0 within the rounding of the print."""


@dataclass(frozen=True, slots=True)
class SystemRates:
    """Both rates of a system in one language, or over all, by the chosen definition."""

    key = ("language", "system")

    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages."""
    system: str
    """The system."""
    answers: Count
    """Answers present, to queries of both subsets."""
    unclassified: Share | None
    """Share of `answers` that are neither answered nor abstained; null if there are none."""
    hallucination_value: Share | None
    """Hallucination rate."""
    hallucination_low: Share | None
    """Lower end of its 95% interval."""
    hallucination_high: Share | None
    """Upper end."""
    hallucination_n: Count | None
    """Independent queries behind it."""
    hallucination_fewer: str | None
    """Such as "8 of 17", if it is not over all languages."""
    hallucination_printed: Share | None
    """The paper's figure."""
    hallucination_rate_as_published: Share | None
    """The arena's rate as published."""
    hallucination_difference: float | None
    """That minus the paper's in percentage points; 0 within the rounding of the print."""
    error_value: Share | None
    """Error rate."""
    error_low: Share | None
    """Lower end of its 95% interval."""
    error_high: Share | None
    """Upper end."""
    error_n: Count | None
    """Independent queries behind it."""
    error_fewer: str | None
    """Such as "14 of 16", if it is not over all languages."""
    error_printed: Share | None
    """The paper's figure."""
    error_rate_as_published: Share | None
    """The arena's rate as published."""
    error_difference: float | None
    """That minus the paper's in percentage points; 0 within the rounding of the print."""


@dataclass(frozen=True, eq=False)
class RatesView:
    """Both rates of all systems over the chosen languages, with the conclusion."""

    cells: pa.Table
    """Rows of `RateCell`: one per language, subset and system, then `all`."""
    absent: pa.Table
    """Rows of `RateCell` of languages in `lacking`, with printed figures only; `answers` 0."""
    by_system: pa.Table
    """Rows of `SystemRates`: one per language and system, then `all`; lowest hallucination rate first."""
    parser: Parser
    """Parser of the counts and of `rate`."""
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
    """Sentence on the number of systems that hallucinate more often than not, by the rates of `systems`."""
    unclassified: str
    """Sentence on many unclassified answers; empty if there are few."""
    fewer: str
    """Sentence on means over fewer languages; empty if there are none."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks to show with the rates."""
        return tuple(filter(None, (self.fewer, self.unclassified)))

    @property
    def answers(self) -> int:
        """Number of answers behind the rates."""
        return sum(self.systems["answers"].to_pylist())

    @cached_property
    def systems(self) -> pa.Table:
        """Rows of `SystemRates` over all languages, or the only one."""
        return self.by_system.filter(pc.equal(self.by_system["language"], "all"))

    @cached_property
    def confusion(self) -> pa.Table:
        """Rows of `outcomes.Confusion`: matrices by language and over all."""
        return confusion(self.cells)

    @property
    def everything(self) -> pa.Table:
        """`cells` and `absent`."""
        return pa.concat_tables([self.cells, self.absent])


@memoize
def parsers(arena: Arena) -> tuple[Parser, ...]:
    """Return the parsers with outcomes in the arena, the default first."""
    names = set(_outcomes(arena)["parser"].unique().to_pylist())
    return tuple(parser for parser in get_args(Parser) if parser in names)


@memoize
def systems(arena: Arena) -> tuple[str, ...]:
    """Return the systems with outcomes, by name."""
    return tuple(sorted(_outcomes(arena)["system"].unique().to_pylist()))


@cached_view
def rates_view(
    arena: Arena,
    choice: RateChoice = ALL,
    labels: QueryLabels = PEOPLES,
    figures: Arena | None = None,
) -> RatesView:
    """Compute both rates over the chosen languages.

    Args:
        arena: an arena with outcomes.
        choice: the choices.
        labels: origin and audit of the labels; with an audit the cells have `corrected` rates.
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
    parser: Parser = choice.parser
    if choice.definition == "count" and "published" in parsers(arena):
        parser = "published"
    table = rate_table(arena, parser, languages)
    cells = [_cell(row, printed) for row in correct_rates(table, labels).to_pylist()]
    codes = {
        metric: tuple(in_order(c["language"] for c in cells if c["metric"] == metric and c["language"] != "all"))
        for metric in SUBSETS
    }
    lacking = _lacking_subsets(arena, printed, picked)
    absent = [
        _empty_cell(code, METRICS[subset], system, printed) for code, subset in lacking for system in systems(arena)
    ]
    for cell in (*cells, *absent):
        _define(cell, choice.definition)
    _join(cells, codes)
    view = _view(
        cells,
        absent,
        parser=parser,
        languages=codes,
        queries={metric: _queries(arena, SUBSETS[metric], codes[metric]) for metric in SUBSETS},
        lacking=lacking,
        reference=reference if any(cell["printed"] is not None for cell in (*cells, *absent)) else "",
        unclassified=_unclassified_remark(table),
    )
    by = source_phrase(arena)
    about = [f"labels{by}"] if by else []
    about += ["labels not audited"] if labels.unaudited else []
    return replace(view, conclusion=_mark_labels(view.conclusion, about)) if about else view


def _mark_labels(conclusion: str, about: Sequence[str]) -> str:
    """Add to a conclusion the source of its labels, and whether they are unaudited."""
    said = "; ".join(about)
    return f"{conclusion.removesuffix('.')} ({said})." if conclusion else f"{said.capitalize()}."


@memoize
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
    cells = [_empty_cell(code, metric, system, printed) for metric, system, code in keys]
    joint = {key[:2]: _empty_cell("all", key[0], key[1], {}) for key in keys}
    for key, cell in joint.items():
        cell["printed"] = _mean([c for c in cells if (c["metric"], c["system"]) == key], "printed")
    cells += joint.values()
    for cell in cells:
        _define(cell, "count")
        cell |= {"value": cell["printed"], "reason": None}
    languages = dict.fromkeys(SUBSETS, tuple(in_order(code for *_, code in keys)))
    nothing = dict.fromkeys(SUBSETS, 0)
    return _view(cells, [], parser="published", languages=languages, queries=nothing, lacking=(), reference=reference)


@cached_view
def rate_table(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table:
    """Return rows of `rates.Rate` over these languages."""
    samples = sample_outcomes(arena)
    return rates(_outcomes(arena), samples=samples, parser=parser, languages=languages)


@dataclass(frozen=True, slots=True)
class PromptRates:
    """Both rates of a system under one prompt, and their changes from the prompt `vanilla`, over all languages."""

    key = ("system", "template")

    system: str
    """The system, by `outcomes.templates.base_names`."""
    template: str
    """Name of the prompt template."""
    hallucination_rate: Share | None = None
    """Hallucination rate of the classified answers."""
    hallucination_low: Share | None = None
    """Lower end of its 95% interval."""
    hallucination_high: Share | None = None
    """Upper end."""
    hallucination_change: float | None = None
    """The rate minus that of `vanilla` on the same queries, in percentage points."""
    hallucination_change_low: float | None = None
    """Lower end of its 95% interval."""
    hallucination_change_high: float | None = None
    """Upper end."""
    hallucination_n: Count | None = None
    """Independent queries behind the rate."""
    error_rate: Share | None = None
    """Error rate of the classified answers."""
    error_low: Share | None = None
    """Lower end of its 95% interval."""
    error_high: Share | None = None
    """Upper end."""
    error_change: float | None = None
    """The rate minus that of `vanilla` on the same queries, in percentage points."""
    error_change_low: float | None = None
    """Lower end of its 95% interval."""
    error_change_high: float | None = None
    """Upper end."""
    error_n: Count | None = None
    """Independent queries behind the rate."""


@dataclass(frozen=True, eq=False)
class PromptsView:
    """The rates of systems by prompt template."""

    cells: pa.Table
    """Rows of `outcomes.template_rates`."""
    systems: pa.Table
    """Rows of `PromptRates`, of the systems asked with several prompts."""
    unclassified: str
    """Sentence on many unclassified answers; empty if there are few."""
    conclusion = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks to show with the rates."""
        return tuple(filter(None, (self.unclassified,)))

    @property
    def confusion(self) -> pa.Table:
        """Rows of `outcomes.Confusion`."""
        return confusion(self.cells)


@memoize
def prompts_view(arena: Arena, choice: RateChoice = ALL) -> PromptsView:
    """Compute rates by prompt template; the definition is `exclude`.

    Raises:
        TableMissing: if the arena has no outcomes or no answers.
        NotEnoughData: if no answer in these languages has a known template.
    """
    answers = arena.read("answers", columns=["language", "query_id", "system", "template"])
    if choice.languages:
        codes = set(pc.unique(answers.filter(pc.is_valid(answers["template"]))["language"]).to_pylist())
        languages = [code for code in choice.languages if code in codes]
    else:
        languages = None
    table = template_rates(arena.read("outcomes"), answers, parser=choice.parser, languages=languages)
    by_prompt: dict[tuple[str, str], dict[str, Any]] = {}
    for row in table.to_pylist():
        if row["language"] == "all":
            metric, prompt = METRICS[row["subset"]], (row["system"], row["template"])
            own = by_prompt.setdefault(prompt, {"system": row["system"], "template": row["template"]})
            own |= {f"{metric}_{end}": row[f"rate_{end}"] for end in ("low", "high")}
            own |= {f"{metric}_rate": row["rate"], f"{metric}_n": row["n"]}
            changes = ("change", "change_low", "change_high")
            own |= {f"{metric}_{name}": None if row[name] is None else 100 * row[name] for name in changes}
    asked = [system for system, _ in by_prompt]
    rows = [PromptRates(**own) for (system, _), own in by_prompt.items() if asked.count(system) > 1]
    return PromptsView(table, schema.from_rows(PromptRates, rows), _unclassified_remark(table))


@memoize
def has_prompts(arena: Arena) -> bool:
    """Return whether answers to several prompt templates have outcomes."""
    if not {"answers", "outcomes"} <= set(arena.tables):
        return False
    return len(set(arena.read("answers", columns=["template"])["template"].to_pylist()) - {None}) > 1


def published_arena(arena: Arena) -> Arena | None:
    """Return the arena with the printed figures: this one, else the bundled one; None if neither has them."""
    if "published" in arena.tables:
        return arena
    path = arenas.bundled_arenas().get("published")
    return reopen(path) if path else None


@lru_cache(maxsize=4)
def _outcomes(arena: Arena) -> pa.Table:
    columns = ("language", "query_id", "system", "parser", "subset", "outcome", "rule")
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


_NONE = dict.fromkeys(("n", "answers", "as_published_n", "answered", "abstained", *UNDECIDED, "missing"), 0)
"""Counts of an absent cell."""


def _unclassified_remark(table: pa.Table) -> str:
    """Return `outcomes.unclassified_note` as a sentence; empty without one."""
    return as_sentence(note) if (note := unclassified_note(table)) else ""


def _empty_cell(code: str, metric: Metric, system: str, printed: _Printed) -> dict[str, Any]:
    """Return the cell of a system without answers in a language, with the printed figure."""
    empty = dict.fromkeys(column.name for column in schema.columns(Rate)) | _NONE
    return _cell(empty | {"language": code, "subset": SUBSETS[metric], "system": system}, printed)


def _lacking_subsets(arena: Arena, printed: _Printed, picked: tuple[str, ...]) -> tuple[tuple[str, Subset], ...]:
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


def _cell(row: Mapping[str, Any], printed: _Printed) -> dict[str, Any]:
    """Return a row of rates with the printed figure."""
    metric, ours = METRICS[row["subset"]], row["rate_as_published"]
    figure = printed.get((metric, row["system"], row["language"]))
    return {
        **row,
        "metric": metric,
        "fewer": None,
        "printed": figure,
        "difference": None if figure is None or ours is None else papers.beyond_rounding(100 * (ours - figure)),
    }


def _define(cell: dict[str, Any], definition: Definition) -> None:
    """Set `value`, its interval and n to the rate by the chosen definition."""
    value, low, high, n = (cell[name] for name in ("rate", "rate_low", "rate_high", "n"))
    reason = None
    if definition == "count":
        names = ("rate_as_published", "as_published_low", "as_published_high", "as_published_n")
        value, low, high, n = (cell[name] for name in names)
    if not cell["answers"]:
        reason = "no answers in this arena"
    elif value is None and definition == "count":
        reason = "the published parser reads answers to NoMIRACL's prompts alone"
    elif value is None:
        classified = cell["answered"] + cell["abstained"]
        reason = f"only {classified:,} of {cell['answers']:,} answers classified"
    cell |= {"value": value, "low": low, "high": high, "n": n, "reason": reason}


def _join(cells: Iterable[dict[str, Any]], codes: Mapping[Metric, tuple[str, ...]]) -> None:
    """Fill the fields of `all` cells that come from the languages' cells."""
    parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in cells:
        own = parts.setdefault((cell["metric"], cell["system"]), [])
        if cell["language"] != "all":
            own += [cell] if cell["answers"] else []
            continue
        behind, of = sum(part["value"] is not None for part in own), len(codes[cell["metric"]])
        cell["fewer"] = f"{behind} of {of}" if 0 < behind < of else None
        cell |= {name: _mean(own, name) for name in ("printed", "difference")}


def _mean(cells: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the equally weighted mean over languages, as in the joint row; None unless all have a value."""
    if not cells or any(cell[name] is None for cell in cells):
        return None
    return float(sum(cell[name] for cell in cells) / len(cells))


def _view(
    cells: Sequence[Mapping[str, Any]],
    absent: Sequence[Mapping[str, Any]],
    *,
    parser: Parser,
    languages: Mapping[Metric, tuple[str, ...]],
    queries: Mapping[Metric, int],
    lacking: tuple[tuple[str, Subset], ...],
    reference: str,
    unclassified: str = "",
) -> RatesView:
    """Build the record: its tables, and the sentences on them."""
    by_system = _systems(cells)
    rows = [row for row in by_system if row["language"] == "all"]
    answer = _answer(rows)
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
        by_system=schema.from_rows(SystemRates, [SystemRates(**row) for row in by_system]),
        parser=parser,
        languages=languages,
        queries=queries,
        lacking=lacking,
        reference=reference,
        conclusion=answer,
        opening=f"{rated}{where}." if values else "",
        unclassified=unclassified,
        fewer=f"Mean over fewer languages: {', '.join(few)}." if few else "",
    )


_BESIDE = tuple(field.name.removeprefix("error_") for field in fields(SystemRates) if field.name.startswith("error_"))
"""Fields of a cell that `SystemRates` repeats for each metric."""


def _systems(cells: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the fields of `SystemRates`, languages in code order, lowest hallucination rate first."""
    pairs: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for cell in cells:
        pairs.setdefault((cell["language"], cell["system"]), {})[cell["metric"]] = cell
    rows = []
    for (language, system), own in pairs.items():
        answers, unclassified = (
            sum(cell[name] for cell in own.values() for name in names) for names in (("answers",), UNDECIDED)
        )
        row = {"language": language, "system": system, "answers": answers}
        row["unclassified"] = unclassified / answers if answers else None
        for metric in SUBSETS:
            row |= {f"{metric}_{name}": own.get(metric, {}).get(name) for name in _BESIDE}
        rows.append(row)
    rows.sort(key=lambda row: (*(_or_last(row[f"{metric}_value"]) for metric in SUBSETS), row["system"]))
    return sorted(rows, key=lambda row: place(row["language"]))


def _or_last(value: float | None) -> float:
    return math.inf if value is None else value


def _answer(rows: Sequence[Mapping[str, Any]]) -> str:
    """Answer the question in words; systems with equal rates are named together. Means over fewer languages than others
    are excluded.
    """
    both = [row for row in rows if None not in (row["hallucination_value"], row["error_value"])]
    both = [row for row in both if not row["hallucination_fewer"] and not row["error_fewer"]]
    if len(both) < 2:
        unread = rows and all(row["unclassified"] == 1.0 for row in rows)
        return as_sentence(UNREAD) if unread else ""

    def least(name: str, value: Callable[[Mapping[str, Any]], float], write: Callable[[float], str]) -> str:
        best = min(map(value, both))
        found = [row["system"] for row in both if abs(value(row) - best) < 1e-9]
        many = f"all {len(both)}" if len(found) == len(both) else f"{len(found)} of {len(both)}"
        named = ", ".join(found) if len(found) <= NAMED else f"{many} systems"
        return f"{name}: {named}{write(best)}."

    def rate(metric: Metric) -> str:
        title, write = f"Lowest {TITLES[metric].lower()}", FORMATS["rate"].write
        return least(title, lambda row: float(row[f"{metric}_value"]), lambda best: f" ({write(best)})")

    balance = least(
        "Best balance", lambda row: float(row["hallucination_value"] ** 2 + row["error_value"] ** 2), lambda _: ""
    )
    return " ".join([*map(rate, SUBSETS), balance])
