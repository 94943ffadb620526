"""Sources of the noise of a rate or of a difference between systems.

    report = rate_variance(arena)                          # queries and samples
    report = judge_variance(arena, judges=["gpt-4o"])      # queries, judges, orders, repeats

Observations are nested: a group (a system, or a pair of systems) has queries, a query has samples or judges, these have
orders, and so on; every level adds its own noise. Bias is not noise: a judge that prefers the first place in all
battles, or one system on all queries, is not made better by repeating it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mirage.battles.decision import read_verdicts
from mirage.battles.judge import verdict_judges as judges_of
from mirage.errors import NotEnoughData, UnknownName
from mirage.schema import Share
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pandas as pd

    from mirage.schema import Parser
    from mirage.store.arena import Arena

Target = Literal["hallucination rate", "error rate", "difference of two systems"]
_RATES: dict[str, tuple[Target, str]] = {
    "non_relevant": ("hallucination rate", "answered"),
    "relevant": ("error rate", "abstained"),
}
LEAST = 10
"""Minimum number of queries."""
_ENOUGH = 2
"""Minimum number of queries of a system, or of a pair of systems, for it to count."""
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class NoiseSource:
    """One source of the noise of an estimate."""

    key = ("target", "source")

    target: str
    """The estimate: `hallucination rate`, `error rate`, or `difference of two systems` in points."""
    source: str
    """`query`, `sample`, `judge`, `order` or `repeat`: noise that more of these would average out."""
    variance: float | None
    """Its variance component; null with only one per parent: its noise is then part of the source above."""
    share: Share | None
    """Its share of the variance of the estimate, at the present numbers."""
    n: float
    """Mean number: queries per system or pair, samples per query, and so on."""
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

    @property
    def sentence(self) -> str:
        """The interval of the estimate now."""
        n = count_text(max(1, round(self.sources[0].n)), "query")
        many = "pairs of systems" if self.target.startswith("difference") else "systems"
        return f"{self.target}, mean of all {many}: ± {self.half_width:.1%} in one language with {n}."


def rate_variance(
    arena: Arena, *, languages: Iterable[str] | None = None, parser: Parser = "strict"
) -> list[NoiseReport]:
    """Split the noise of hallucination and error rates into queries and samples, averaged over systems.

    Args:
        arena: with outcomes; with table `samples`, samples are a source.
        languages: codes; None for all.
        parser: parser whose outcomes count.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if there is no such language.
        NotEnoughData: if no rate has enough queries.
    """
    import pandas as pd

    from mirage.stages.outcomes.tables import sample_outcomes

    codes = None if languages is None else list(languages)
    names = ["language", "system", "query_id", "parser", "subset", "outcome", "correct"]
    tables = [arena.read("outcomes", languages=codes), sample_outcomes(arena)]
    rows = pd.concat([table.select(names).to_pandas() for table in tables if table is not None])
    rows = rows[(rows["parser"] == parser) & rows["correct"].notna()]
    if codes is not None:
        rows = rows[rows["language"].isin(codes)]
    reports = []
    for subset, (target, wrong) in _RATES.items():
        part = rows[rows["subset"] == subset]
        data = pd.DataFrame({"group": part["language"] + "\n" + part["system"], "query": part["query_id"]})
        data["value"] = (part["outcome"] == wrong).astype(float)
        if len(data := _groups_of_several(data)):
            reports.append(_report(target, ("query", "sample"), data))
    if not reports:
        raise NotEnoughData("no system has two queries with a decided answer", do="measure more")
    return reports


def judge_variance(arena: Arena, *, judges: Sequence[str], languages: Iterable[str] | None = None) -> NoiseReport:
    """Split the noise of the difference between two systems, in points, into queries, judges, orders and repeats.

    Args:
        arena: with judgments.
        judges: names; several are averaged and are a source.
        languages: codes; None for all.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if there is no such judge or language.
        NotEnoughData: if fewer than ten queries have verdicts.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    arena.need("judgments")
    present = judges_of(arena)
    for name in judges:
        if name not in present:
            raise UnknownName("judge", name, present)
    names = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "points")
    rows = arena.read("judgments", columns=names, languages=None if languages is None else list(languages))
    verdicts = read_verdicts(rows.filter(pc.is_in(rows["judge"], pa.array(judges, pa.string())))).select_parsed()
    s = len(verdicts.systems)
    points, order = np.asarray(verdicts.points, dtype=np.float64), verdicts.swapped.astype(np.intp)
    # A preference for a place moves the two orders apart in every battle; that is bias, and cancels out.
    for k in range(len(verdicts.judges)):
        own = verdicts.judge == k
        both = [own & (order == side) for side in (0, 1)]
        if all(side.any() for side in both):
            first = np.mean([points[both[0]].mean(), 1 - points[both[1]].mean()]) - 0.5
            points = points - np.where(own, first * np.where(order == 0, 1, -1), 0.0)
    data = pd.DataFrame(
        {
            "group": verdicts.language.astype(np.int64) * s * s + verdicts.first * s + verdicts.second,
            "query": verdicts.query,
            "judge": verdicts.judge,
            "order": order,
            # Points of a difference: a win counts 1, a loss -1.
            "value": 2 * points - 1,
        }
    )
    data = _groups_of_several(_without_opinions(data))
    if not len(data):
        raise NotEnoughData("no pair of systems has battles on two queries", do="judge more")
    return _report("difference of two systems", ("query", "judge", "order", "repeat"), data)


def components(data: pd.DataFrame, levels: Sequence[str]) -> list[tuple[float | None, float]]:
    """Estimate the variance that each level adds, by equating mean squares with their expectations.

    At each level the variance among the means of the children of one parent is that level's component plus the noise
    of these means, which the levels below determine (unweighted means, so unequal numbers of repeats are allowed).
    Components have no intervals: those of a rare rate on few queries would not hold.

    Args:
        data: a `value` per observation; its `group`, which are not compared with each other; and its label at each
            level, which need not be unique beyond its parent. Observations alike in all are repeats.
        levels: columns of the labels, outermost first, the query first.

    Returns:
        For each level, and last for the repeats, the variance, and the mean number of them within their parent; None if
        no parent has two, so that the noise is part of the level above. A negative estimate is 0.

    Raises:
        NotEnoughData: if fewer than `LEAST` queries have values.

    Source: Searle, Casella and McCulloch, Variance Components (1992), ch. 5; Brennan, Generalizability Theory (2001).
    """
    import pandas as pd

    n = data[levels[0]].nunique()
    if n < LEAST:
        raise NotEnoughData(f"{n} queries are too few for variance components", do=f"measure at least {LEAST}")
    keys, found = ["group", *levels], list[tuple[float | None, float]]()
    nodes = data[[*keys, "value"]].assign(noise=0.0)
    # From the innermost level outwards: nodes are observations at first, then cells, ..., then queries.
    for depth in range(len(keys), 0, -1):
        parents = nodes.groupby(keys[:depth], sort=False)
        n_children, noise, mean = parents.size(), parents["noise"].mean(), parents["value"].mean()
        freedom, own = n_children - 1, None
        if total := int(freedom.sum()):
            square = float(((nodes["value"] - parents["value"].transform("mean")) ** 2).sum()) / total
            own = max(square - float((freedom * noise).sum()) / total, 0.0)
        found.append((own, float(n_children.mean())))
        nodes = pd.DataFrame({"value": mean, "noise": ((own or 0.0) + noise) / n_children}).reset_index()
    return found[::-1]


def _without_opinions(data: pd.DataFrame) -> pd.DataFrame:
    """Remove how far each judge's mean on a pair of systems differs from that of all judges: it is bias, not noise.

    The remaining deviations are scaled for the degree of freedom that this mean takes.
    """
    if data["judge"].nunique() < 2:
        return data
    # Each judge counts once on a query, however many orders and repeats it has.
    cell = ["group", "query", "judge"]
    own = data.groupby(cell)["value"].mean()
    deviation = own - own.groupby(cell[:2]).transform("mean")
    of_judge = deviation.groupby(["group", "judge"])
    queries = of_judge.transform("size")
    left = (deviation - of_judge.transform("mean")) * np.sqrt(queries / np.maximum(queries - 1, 1))
    change = data.join((left - deviation).rename("change"), on=cell)["change"]
    return data.assign(value=data["value"] + change)


def _groups_of_several(data: pd.DataFrame) -> pd.DataFrame:
    """Return the observations of groups with enough queries."""
    return data[data.groupby("group")["query"].transform("nunique") >= _ENOUGH]


def _report(target: Target, names: Sequence[str], data: pd.DataFrame) -> NoiseReport:
    """Estimate the components of some observations."""
    parts = components(data, names[:-1])
    sizes = list(itertools.accumulate((max(1, round(n)) for _, n in parts), operator.mul))
    noise = [(variance or 0.0) / size for (variance, _), size in zip(parts, sizes, strict=True)]
    sources = []
    for name, (variance, n), part in zip(names, parts, noise, strict=True):
        share = part / sum(noise) if sum(noise) and variance is not None else None
        reason = f"only one {name}: its noise is part of the source above" if variance is None else None
        sources.append(NoiseSource(target, name, variance, share, n, reason))
    return NoiseReport(target, tuple(sources), float(_Z * sum(noise) ** 0.5))
