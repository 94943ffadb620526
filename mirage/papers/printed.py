"""The papers' printed figures, each with the arena's value."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import pyarrow as pa

from mirage.errors import MirageError, UnknownName
from mirage.io.sources.nomiracl.origin import BASELINES, ORIGIN, SYSTEM_NAMES
from mirage.llm.tokens import TokenEstimate
from mirage.schema import Count
from mirage.stages.outcomes import patterns
from mirage.stages.outcomes.rates import rates
from mirage.stages.outcomes.templates import template_rates
from mirage.stats.intervals import mean_interval
from mirage.store.arena import Arena

MIRAGE_BENCH = "MIRAGE-Bench"
"""Name of the paper in the table `published`."""
TEMPLATES = {"Original": "vanilla", "+Role": "role", "+Repeat": "repeat", "+Explanation": "explanation"}
"""The prompts of NoMIRACL's Table 3 -> the names of the templates."""
_SUBSETS = {"hallucination rate": "non_relevant", "error rate": "relevant"}
_MADE_ELSEWHERE = "mirage rank paper makes it from an arena with features and verdicts"
_BY_HAND = "the authors found this pattern by reading; no rule here tells it"


ROUNDING = 0.055 + 1e-9
"""NoMIRACL's rates were rounded twice, accuracy to two decimals of a percent and 100 minus that to one: a figure can
differ by this many points from the rate it was printed for.
"""


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """One printed figure, with the same measured in an arena."""

    source: str
    """The paper: `NoMIRACL` or `MIRAGE-Bench`."""
    item: str
    """The table or figure."""
    metric: str
    """The measured quantity."""
    setting: str
    """Condition of the measurement; empty if there is only one."""
    system: str
    """The system as printed; empty if the figure has none."""
    language: str
    """Language code; `all` for a printed average or total; empty if the figure has none."""
    unit: str
    """Unit of both values."""
    printed: float | None
    """The figure; null if the print has a dash or text."""
    text: str | None
    """The printed text if it is not a number."""
    ours: float | None
    """The arena's value; null with a remark if there is none."""
    difference: float | None
    """`ours` minus `printed`, 0 where two roundings can explain it; of a printed average the mean difference over the
    languages that the arena has. Null if one is null.
    """
    ours_low: float | None
    """Lower end of its 95% interval; null if the value is a count or a mean over a whole data set."""
    ours_high: float | None
    """Upper end."""
    n: int | None
    """Number of answers, queries or systems."""
    remark: str
    """Reason why `ours` is null, or a qualification; otherwise empty."""
    reference: str
    """Citation of the page with the figure."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The arena's value of a figure."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    remark: str = ""


Measure = Callable[[Mapping[str, Any]], Measured]
"""Function from a row of `published` to the arena's value."""


def printed_figures(
    published: pa.Table,
    arena: Arena | None = None,
    *,
    source: str | None = None,
    item: str | None = None,
    names: Mapping[str, str] | None = None,
) -> list[PrintedFigure]:
    """Return printed figures, each with the arena's value.

    Args:
        published: a `published` table.
        arena: the arena to measure; None for the printed figures only.
        source: the paper; None for both.
        item: the table or figure, as `Table 3`; None for all.
        names: system as printed -> system of the arena, where the names do not match.

    Returns:
        One row per printed figure, in the order of the table. Rates are as the papers print them, 1 - accuracy by
        the published parser.

    Raises:
        UnknownName: if there is no such paper, item, language, or system of the arena.
    """
    rows = published.to_pylist()
    for column, value in (("source", source), ("item", item)):
        if value is not None:
            values = sorted({row[column] for row in rows})
            if value not in values:
                raise UnknownName(f"{'paper' if column == 'source' else 'table or figure'}", value, values)
            rows = [row for row in rows if row[column] == value]
    measures: dict[tuple[str, str], Measure] = {}

    def measure(row: Mapping[str, Any]) -> Measured:
        if arena is None:
            return Measured()
        key = row["source"], row["item"]
        if key not in measures:
            measures[key] = _measure(arena, *key, names or {})
        return measures[key](row)

    return set_beside(rows, measure)


def set_beside(rows: Iterable[Mapping[str, Any]], measure: Measure) -> list[PrintedFigure]:
    """Set an arena's values beside rows of a `published` table; a row without value and text has no print."""
    results = []
    for row in rows:
        measured = measure(row)
        results.append(
            PrintedFigure(
                **{name: row[name] for name in ("source", "item", "metric", "setting", "system", "language", "unit")},
                printed=row["value"],
                text=row["text"],
                ours=measured.value,
                difference=_difference(row["unit"], row["value"], measured.value),
                ours_low=measured.low,
                ours_high=measured.high,
                n=measured.n,
                remark=measured.remark,
                reference=row["reference"],
            )
        )
    return _average_differences(results)


@dataclass(frozen=True, slots=True)
class PrintedItem:
    """The printed figures of one table or figure, with those that an arena reproduces."""

    source: str
    """The paper: `NoMIRACL` or `MIRAGE-Bench`."""
    item: str
    """The table or figure."""
    figures: Count
    """Figures."""
    compared: Count
    """Printed figures for which the arena has a value."""
    equal: Count
    """Figures without a difference, up to rounding."""
    averages: str
    """Printed averages and totals without a difference, of those compared: `22 of 22`; empty if none is compared."""
    largest: float | None
    """Largest absolute difference, in the unit of the figures; null if none is compared."""
    remark: str
    """The most frequent reason why a figure is not compared; empty if all are."""


def summarise_items(figures: Iterable[PrintedFigure]) -> list[PrintedItem]:
    """Return one row per table or figure of the papers, in the order of the figures."""
    by_item: dict[tuple[str, str], list[PrintedFigure]] = {}
    for figure in figures:
        by_item.setdefault((figure.source, figure.item), []).append(figure)
    rows = []
    for (source, item), own in by_item.items():
        compared = [figure for figure in own if figure.difference is not None]
        averages = [figure.difference == 0 for figure in compared if figure.language == "all"]
        gaps = [abs(figure.difference or 0.0) for figure in compared]
        reasons = Counter(figure.remark for figure in own if figure.ours is None and figure.remark)
        rows.append(
            PrintedItem(
                source,
                item,
                len(own),
                len(compared),
                gaps.count(0.0),
                f"{sum(averages)} of {len(averages)}" if averages else "",
                max(gaps, default=None),
                next((reason for reason, _ in reasons.most_common(1)), ""),
            )
        )
    return rows


def beyond_rounding(points: float) -> float:
    """Return a difference of two rates in percentage points, 0 where two roundings can explain it."""
    return 0.0 if abs(points) <= ROUNDING else points


def _difference(unit: str, printed: float | None, ours: float | None) -> float | None:
    if printed is None or ours is None:
        return None
    return beyond_rounding(ours - printed) if unit == "%" else ours - printed


def _average_differences(figures: Sequence[PrintedFigure]) -> list[PrintedFigure]:
    """Set the difference of every printed average of rates to the mean over the languages that the arena has."""

    def subject(figure: PrintedFigure) -> tuple[str, ...]:
        return figure.source, figure.item, figure.metric, figure.setting, figure.system, figure.unit

    known: dict[tuple[str, ...], list[float]] = {}
    for figure in figures:
        if figure.language not in ("", "all") and figure.unit == "%" and figure.difference is not None:
            known.setdefault(subject(figure), []).append(figure.difference)
    return [
        replace(figure, difference=fmean(known[subject(figure)]))
        if figure.language == "all" and figure.difference is not None and subject(figure) in known
        else figure
        for figure in figures
    ]


def _measure(arena: Arena, source: str, item: str, names: Mapping[str, str]) -> Measure:
    """Return the function that measures one item's figures; if the arena cannot, one that gives the reason."""
    try:
        if source == "NoMIRACL":
            if item == "Table 1":
                return _queries(arena)
            if item == "Table 2":
                return _patterns(arena, names)
            if item == "Table 3":
                return _prompts(arena, names)
            if item in ("Table 7", BASELINES):
                return _rates(rates(arena.read("outcomes"), parser="published"), names)
        if (source, item) == (MIRAGE_BENCH, "Table 1"):
            return _statistics(arena)
    except UnknownName:
        raise
    except MirageError as error:
        return _no_measure(f"{error.what}{f'; {error.do}' if error.do else ''}")
    return _no_measure(_MADE_ELSEWHERE if re.search(r"Table [2-5]|Figure", item) else "not measured here")


def _no_measure(reason: str) -> Measure:
    """Return a function that measures nothing and gives the reason."""
    return lambda _: Measured(remark=reason)


def _queries(arena: Arena) -> Measure:
    """NoMIRACL, Table 1: queries of each subset and language of one split."""
    arena.need("queries")
    rows = arena.sql("SELECT language, subset, count(*) AS n FROM queries WHERE subset IS NOT NULL GROUP BY ALL")
    counts = {(row["subset"], row["language"]): row["n"] for row in rows.to_pylist()}
    for subset in {subset for subset, _ in counts}:
        counts[subset, "all"] = sum(n for (other, _), n in counts.items() if other == subset)
    languages = {language for _, language in counts} - {"all"}
    split, outputs = _split(arena)

    def ours(row: Mapping[str, Any]) -> Measured:
        subset, of = row["setting"].split(", ")
        if split is None:
            return Measured(remark="the arena does not say which split its queries are of")
        if of != split:
            return Measured(remark=f"the arena holds queries of the split {split}")
        count = counts.get((subset, row["language"]))
        if count is None:
            return Measured(remark="the arena has no such queries")
        remarks = [f"{len(languages)} languages"] if row["language"] == "all" else []
        if outputs:
            remarks.append("answers were published for up to 250 queries of each subset")
        return Measured(count, remark="; ".join(remarks))

    return ours


def _split(arena: Arena) -> tuple[str | None, bool]:
    """Return the NoMIRACL split of an arena's queries from its manifest, and whether they are those with published
    answers.
    """
    record = arena.manifest["made"]["queries"]
    if any(origin.get("name") == ORIGIN["outputs"].name for origin in record["from"]):
        return "test", True
    return _recorded_split(record), False


def _recorded_split(record: Mapping[str, Any]) -> str | None:
    """Return the split that the queries are from; None if their provenance has none."""
    return next((origin["split"] for origin in record["from"] if "split" in origin), None)


def _patterns(arena: Arena, names: Mapping[str, str]) -> Measure:
    """NoMIRACL, Table 2: shares of the English answers by pattern."""
    answers = arena.read("answers", languages=["en"]) if "answers" in arena.tables else None
    counts = patterns.pattern_counts(arena.read("outcomes", languages=["en"]), answers)
    known = _Names({system for _, system in counts}, names)
    by_text = {name for pair in patterns.EXACT.values() for name in pair}

    def ours(row: Mapping[str, Any]) -> Measured:
        pattern = row["metric"].partition(": ")[2]
        if pattern in patterns.BY_HAND:
            return Measured(remark=_BY_HAND)
        if pattern in by_text and answers is None:
            return Measured(remark="the arena holds no texts of the answers")
        system = known.find(row["system"])
        cell = counts.get((row["setting"], system)) if system else None
        if cell is None:
            return Measured(remark=known.explain_missing(row["system"]))
        share, low, high = mean_interval([(cell[pattern], cell[""])])
        return Measured(100 * share, 100 * low, 100 * high, cell[""], "sorted by rules, not by hand")

    return ours


def _prompts(arena: Arena, names: Mapping[str, str]) -> Measure:
    """NoMIRACL, Table 3: one system by prompt template."""
    answers = arena.read("answers", columns=["language", "query_id", "system", "template"])
    table = template_rates(arena.read("outcomes"), answers, parser="published")
    measures = {
        template: _rates(table.filter([value == template for value in table["template"].to_pylist()]), names)
        for template in set(table["template"].to_pylist())
    }

    def ours(row: Mapping[str, Any]) -> Measured:
        template = TEMPLATES[row["setting"].removeprefix("prompt ")]
        if template not in measures:
            return Measured(remark=f"no answer in the arena is to the template {template}")
        return measures[template](row)

    return ours


def _rates(table: pa.Table, names: Mapping[str, str]) -> Measure:
    """Rates as the papers print them: 1 - accuracy over the answers present."""
    cells = {(row["subset"], row["system"], row["language"]): row for row in table.to_pylist() if row["answers"]}
    known = _Names({system for _, system, _ in cells}, names)

    def ours(row: Mapping[str, Any]) -> Measured:
        system = known.find(row["system"])
        if system is None:
            return Measured(remark=known.explain_missing(row["system"]))
        subset = _SUBSETS[row["metric"]]
        cell = cells.get((subset, system, row["language"]))
        if cell is None:
            return Measured(remark="no answers in the arena")
        if cell["rate_as_published"] is None:
            return Measured(remark="the published parser reads answers to NoMIRACL's prompts alone")
        value, low, high = (100 * cell[name] for name in ("rate_as_published", "as_published_low", "as_published_high"))
        languages = sum(key[:2] == (subset, system) for key in cells) - 1
        remark = f"mean over {languages} languages" if row["language"] == "all" else ""
        return Measured(value, low, high, cell["as_published_n"], remark)

    return ours


def _statistics(arena: Arena) -> Measure:
    """MIRAGE-Bench, Table 1: number of queries, their mean tokens, and passages of either label per query."""
    counter = TokenEstimate()
    arena.need("queries")
    texts: dict[str, list[str | None]] = {}
    for row in arena.read("queries", columns=["language", "text"]).to_pylist():
        texts.setdefault(row["language"], []).append(row["text"])
    labels: dict[str, dict[bool | None, int]] = {}
    if "passages" in arena.tables:
        counted = arena.sql("SELECT language, relevant, count(*) AS n FROM passages GROUP BY ALL")
        for row in counted.to_pylist():
            labels.setdefault(row["language"], {})[row["relevant"]] = row["n"]
    split = "train" if _recorded_split(arena.manifest["made"]["queries"]) == "train" else "eval"

    def ours(row: Mapping[str, Any]) -> Measured:
        if row["setting"] != split:
            return Measured(remark=f"the arena holds the {split} set")
        metric, known, own = row["metric"], texts.get(row["language"]), labels.get(row["language"], {})
        if metric.startswith("avg_gpt4o"):
            return Measured(remark="tokens of a teacher's answers are not measured")
        if known is None:
            return Measured(remark="the arena has no queries in this language")
        n = len(known)
        if metric == "n_queries":
            return Measured(n, n=n)
        if metric == "avg_query_tokens":
            if None in known:
                return Measured(n=n, remark="a query has no text in the arena")
            total = sum(counter.count(text or "") for text in known)
            remark = f"tokens counted by {counter.name}; the paper counts by GPT-4o's tokenizer"
            return Measured(total / n, n=n, remark=remark)
        if not own or None in own:
            return Measured(n=n, remark="a passage has no label in the arena")
        return Measured(own.get(metric == "avg_rel_passages_per_q", 0) / n, n=n)

    return ours


class _Names:
    """Mapping from printed names to an arena's systems."""

    def __init__(self, systems: Iterable[str], names: Mapping[str, str]) -> None:
        self._systems = sorted(systems)
        self._names = names
        for system in names.values():
            if system not in self._systems:
                raise UnknownName("system", system, self._systems, where="the arena")

    def find(self, printed: str) -> str | None:
        """Return the system printed under a name; None if there is none, or the name is ambiguous."""
        if printed in self._names:
            return self._names[printed]
        by_case = {name.casefold(): system for name, system in SYSTEM_NAMES.items()}
        # Tables of one paper spell Mixtral-8x7B differently.
        listed = by_case.get(printed.replace("Mixtral-8x7B", "Mixtral-7x8B").casefold())
        if listed in self._systems:
            return listed
        alike = [system for system in self._systems if _normalise_system(system) == _normalise_system(printed)]
        return alike[0] if len(alike) == 1 else None

    def explain_missing(self, printed: str) -> str:
        """Return why there is no value for a printed name."""
        return f"no answers of {printed} in the arena"


def _normalise_system(system: str) -> str:
    """Return a system's name without maker, training suffix and punctuation, to match different spellings."""
    last = system.rpartition("/")[2].casefold()
    return re.sub(r"[^a-z0-9+]|instruct|chat|meta", "", last)
