"""Sources of the noise of a rate or of a difference between systems.

    report = rate_variance(arena)                          # queries and samples
    report = judge_variance(arena, judges=["gpt-4o"])      # queries, judges, orders, repeats

Means over systems (or pairs of systems) of the components of `mirage.stats.components`. Bias is not noise: a judge that
prefers the first place in all battles, or one system on all queries, is not made better by repeating it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mirage.battles.decision import read_verdicts
from mirage.battles.judge import verdict_judges as judges_of
from mirage.errors import NotEnoughData, UnknownName
from mirage.schema import Count
from mirage.stats.components import Design, Floats, Nested, Places, components
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.schema import Parser
    from mirage.store import Arena

Target = Literal["hallucination rate", "error rate", "difference of two systems"]
_RATES: dict[str, tuple[Target, str]] = {
    "non_relevant": ("hallucination rate", "answered"),
    "relevant": ("error rate", "abstained"),
}
_ENOUGH = 2
"""Minimum number of queries of a system, or of a pair of systems, for it to count."""


@dataclass(frozen=True, slots=True)
class NoiseSource:
    """One source of the noise of an estimate."""

    key = ("target", "source")

    target: str
    """The estimate: `hallucination rate`, `error rate`, or `difference of two systems` in points."""
    source: str
    """`query`, `sample`, `judge`, `order` or `repeat`: the noise that another one of it would average out."""
    variance: float | None
    """Its variance component; null if the arena has only one of it, so that its noise is part of the source above."""
    share: float | None
    """Its share of the variance of the estimate, with the numbers that there are."""
    n: float
    """How many there are: queries of a system or pair, samples of a query, and so on; a mean."""
    reason: str | None
    """Why `variance` is null."""


@dataclass(frozen=True, slots=True)
class NoiseReport:
    """The sources of noise of one estimate."""

    target: Target
    """The estimate."""
    sources: tuple[NoiseSource, ...]
    """From the query inwards."""
    half_width: float
    """Half the width of the 95% interval of the estimate for one system, or pair of systems, in one language."""
    groups: Count
    """Systems, or pairs of systems, by language, that the components average over."""
    queries: Count
    """Distinct queries."""

    @property
    def sentence(self) -> str:
        """The interval of the estimate now."""
        return f"{self.target}: ± {self.half_width:.3f} with {count_text(max(1, round(self.sources[0].n)), 'query')}."


def rate_variance(
    arena: Arena,
    *,
    languages: Iterable[str] | None = None,
    parser: Parser = "strict",
) -> list[NoiseReport]:
    """Split the noise of hallucination and error rates into queries and samples.

    Args:
        arena: with outcomes; with table `samples`, samples are a source.
        languages: codes; None for all.
        parser: parser whose outcomes count.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if there is no such language.
        NotEnoughData: if no rate has enough queries.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from mirage.stages.outcomes import sample_outcomes

    rows = arena.read("outcomes")
    further = sample_outcomes(arena)
    rows = rows if further is None else pa.concat_tables([rows, further])
    rows = _in_languages(rows.filter(pc.equal(rows["parser"], parser)), languages)
    reports = []
    for subset, (target, wrong) in _RATES.items():
        part = rows.filter(pc.and_(pc.equal(rows["subset"], subset), pc.is_valid(rows["correct"])))
        group = _codes(part, ("language", "system"))
        value = pc.equal(part["outcome"], wrong).to_numpy(zero_copy_only=False).astype(np.float64)
        kept = _several(group, _codes(part, ("language", "system", "query_id")))
        if kept.any():
            data = Nested(group[kept], (_codes(part, ("query_id",))[kept],), value[kept])
            reports.append(_report(target, ("query", "sample"), data))
    if not reports:
        raise NotEnoughData("no system has two queries with a decided answer", do="measure more")
    return reports


def judge_variance(
    arena: Arena,
    *,
    judges: Sequence[str] | None = None,
    languages: Iterable[str] | None = None,
) -> NoiseReport:
    """Split the noise of the difference between two systems, in points, into queries, judges, orders and repeats.

    Args:
        arena: with judgments.
        judges: names; several are averaged and are a source. None for the only one.
        languages: codes; None for all.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if there is no such judge or language.
        NotEnoughData: if fewer than ten queries have verdicts.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    arena.need("judgments")
    present = judges_of(arena)
    chosen = tuple(judges) if judges else present if len(present) == 1 else ()
    for name in chosen:
        if name not in present:
            raise UnknownName("judge", name, present)
    if not chosen:
        raise NotEnoughData(
            f"there are {len(present)} judges: {', '.join(present)}", do="name one, or several that are averaged"
        )
    rows = arena.read(
        "judgments", columns=("language", "query_id", "judge", "system_a", "system_b", "verdict", "points")
    )
    rows = rows.filter(pc.is_in(rows["judge"], pa.array(chosen, pa.string())))
    verdicts = read_verdicts(_in_languages(rows, languages)).select_parsed()
    s = len(verdicts.systems)
    group = _index(verdicts.language.astype(np.int64) * s * s + verdicts.first * s + verdicts.second)
    query = _index(verdicts.query)
    points, order = np.asarray(verdicts.points, dtype=np.float64), verdicts.swapped.astype(np.intp)
    # A preference for a place moves the two orders apart in every battle; that is bias, and cancels out.
    for k in range(len(verdicts.judges)):
        own = verdicts.judge == k
        both = [own & (order == side) for side in (0, 1)]
        if all(side.any() for side in both):
            first = np.mean([points[both[0]].mean(), 1 - points[both[1]].mean()]) - 0.5
            points = points - np.where(own, first * np.where(order == 0, 1, -1), 0.0)
    # Points of a difference: a win counts 1, a loss -1.
    value = _without_opinions(2 * points - 1, group, query, verdicts.judge)
    kept = _several(group, _pairs(group, query))
    if not kept.any():
        raise NotEnoughData("no pair of systems has battles on two queries", do="judge more")
    data = Nested(group[kept], (query[kept], verdicts.judge[kept], order[kept]), value[kept])
    return _report("difference of two systems", ("query", "judge", "order", "repeat"), data)


def _without_opinions(value: Floats, group: Places, query: Places, judge: Places) -> Floats:
    """Remove how far each judge's mean on a pair of systems differs from that of all judges: it is bias, not noise.

    The remaining deviations are scaled for the degree of freedom that this mean takes.
    """
    if len(np.unique(judge)) < 2:
        return value
    cell, by_judge = _pairs(group, query), _pairs(group, judge)
    own = _pairs(cell, judge)
    # Each judge counts once on a query, however many orders and repeats it has.
    weight = 1 / np.bincount(own)[own]
    deviation = _mean(own, value, weight) - _mean(cell, value, weight)
    lasting = _mean(by_judge, deviation, weight)
    queries = np.bincount(by_judge, weights=weight)[by_judge]
    return np.asarray(value - deviation + (deviation - lasting) * np.sqrt(queries / np.maximum(queries - 1, 1)))


def _mean(key: Places, value: Floats, weight: Floats) -> Floats:
    """Return for each observation the weighted mean of those with its key."""
    return np.asarray((np.bincount(key, weights=weight * value) / np.bincount(key, weights=weight))[key])


def _pairs(first: Places, second: Places) -> Places:
    """Return an index for each distinct pair of two labels."""
    return _index(first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second)


def _index(labels: Any) -> Places:
    """Return labels as consecutive indices."""
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _codes(rows: pa.Table, names: Sequence[str]) -> Places:
    """Return an index for each distinct combination of some text columns."""
    columns = [_index(rows[name].to_numpy(zero_copy_only=False).astype(str)) for name in names]
    code = columns[0]
    for column in columns[1:]:
        code = _pairs(code, column)
    return code


def _several(group: Places, cell: Places) -> Any:
    """Return whether each observation is of a group with enough queries."""
    first = np.unique(cell, return_index=True)[1]
    return (np.bincount(group[first], minlength=int(group.max(initial=0)) + 1) >= _ENOUGH)[group]


def _in_languages(rows: pa.Table, languages: Iterable[str] | None) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    if languages is None:
        return rows
    codes, present = list(languages), rows["language"].unique().to_pylist()
    for code in codes:
        if code not in present:
            raise UnknownName("language", code, present)
    return rows.filter(pc.is_in(rows["language"], pa.array(codes, pa.string())))


def _report(target: Target, names: Sequence[str], data: Nested) -> NoiseReport:
    """Estimate the components of some observations."""
    parts = components(data)
    design = Design(tuple(max(1, round(part.n)) for part in parts))
    variances = tuple(part.variance for part in parts)
    total = design.variance(variances)
    sources, size = [], 1.0
    for name, part, number in zip(names, parts, design.numbers, strict=True):
        size *= number
        share = part.variance / size / total if total and part.known else None
        reason = None if part.known else f"only one {name}: its noise is part of the source above"
        variance = part.variance if part.known else None
        sources.append(NoiseSource(target, name, variance, share, part.n, reason))
    return NoiseReport(
        target,
        tuple(sources),
        design.half_width(variances),
        len(np.unique(data.group)),
        len(np.unique(data.levels[0])),
    )
