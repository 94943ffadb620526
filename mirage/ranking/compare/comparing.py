"""Comparison of two systems by ratings, or by any measure with a value per query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mirage.battles.judge import choose_judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.board import rank_arena
from mirage.ranking.bootstrap import rank_battles
from mirage.ranking.compare.measures import RATE, RATING, QueryMeasure, QueryValues, query_measure, query_values
from mirage.ranking.compare.paired import (
    ALPHA,
    LanguageDifferences,
    MoreQueries,
    PairedEstimate,
    joint_estimate,
    more_queries,
    paired_estimate,
)
from mirage.ranking.compare.paired import quantile as t_quantile
from mirage.ranking.compare.records import (
    Comparison,
    ComparisonReport,
    ComparisonVerdict,
    MovedQuery,
)
from mirage.ranking.graph import NO_BOUND
from mirage.ranking.judges import Judge
from mirage.ranking.records import JOINT
from mirage.ranking.settings import MOVED, CompareSettings, RankSettings
from mirage.stats.holm import holm
from mirage.stats.intervals import agree_with_test
from mirage.stats.label_errors import NOT_AUDITED, QueryLabels
from mirage.stats.units import Units
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.ranking.bootstrap import RankingReport
    from mirage.store.arena import Arena


@dataclass(frozen=True, slots=True)
class _Part:
    """The two systems in one language, or in all."""

    estimate: PairedEstimate | None
    """The estimate; None with a reason."""
    unpaired: int = 0
    """Queries with a value of only one system."""
    reason: str | None = None
    """Reason why there is no estimate."""
    p_board: float | None = None
    """p-value of two ratings after Holm's correction over all pairs of the ranking; None for other measures."""

    @property
    def p(self) -> float:
        """The p-value that the verdict starts from; 1 without an estimate."""
        return self.p_board if self.p_board is not None else 1.0 if self.estimate is None else self.estimate.p


def compare_systems(
    arena: Arena,
    first: str,
    second: str | None = None,
    settings: CompareSettings = CompareSettings(),
    *,
    against: Arena | None = None,
    labels: QueryLabels | None = None,
) -> ComparisonReport:
    """Compare two systems over the queries that both have.

    Args:
        arena: holds the first system, and the second unless `against` is given.
        first: the system to compare.
        second: the reference system; None for the system of the same name in `against`.
        settings: the settings.
        against: holds the second system; queries are matched by language and query_id. For ratings, the second system's
            battles there are added to those of the first arena, and systems of the same name are identical.
        labels: what is known about the labels of the queries: an audit corrects the difference in the measure `rate`
            for the label errors that it found, the same for both systems.

    Raises:
        BadInput: if a system is compared with itself.
        UnknownName: if a system, language, measure or judge does not exist.
        TableMissing: if the arena lacks a table that the measure needs.
        NotEnoughData: if there is no query of both systems.
    """
    other = first if second is None else second
    if against is None:
        need_two_systems(first, other)
    if settings.measure == RATING:
        if against is not None:
            ranking, other = rank_runs(arena, first, against, other, settings.judge, settings.ranking)
        else:
            name = choose_judge(arena, settings.judge)
            judge = Judge.from_name(name, parser=settings.parser, failures=settings.failures)
            ranking = rank_arena(arena, judge, settings.ranking).ranking
        return compare_ratings(ranking, first, other, margin=settings.margin, moved=settings.moved)
    if settings.judge is not None:
        raise BadInput("a judge applies to ratings only, not to this measure", do="omit the judge")
    value = query_measure(settings.measure)
    read = partial(
        query_values,
        measure=value,
        languages=settings.languages,
        parser=settings.parser,
        assigner=settings.assigner,
    )
    if against is None:
        of_first, of_second = read(arena, (first, other))
    else:
        (of_first,), (of_second,) = read(arena, (first,)), read(against, (other,))
    return _by_values(of_first, of_second, value, (first, other), settings, labels if value.name == RATE else None)


def compare_ratings(
    ranking: RankingReport, first: str, second: str, *, margin: float = 0.0, moved: int = MOVED
) -> ComparisonReport:
    """Compare two systems by their ratings, with the ranking's differences and intervals and the p-values of its tests.

    Raises:
        UnknownName: if a system is not ranked.
        BadInput: if a system is compared with itself.
    """
    need_two_systems(first, second)
    rows_of = (*(row.systems for row in ranking.languages.values()), *ranking.unranked.values())
    systems = {system for of_language in rows_of for system in of_language}
    for system in (first, second):
        if system not in systems:
            raise UnknownName("system", system, systems, where=f"the ranking by {ranking.judge}")
    codes = in_order({*ranking.languages, *ranking.unranked} - {JOINT})
    parts = {code: _compare_row(ranking, first, second, code) for code in codes}
    if len(ranking.languages) > 1:
        parts[JOINT] = _compare_row(ranking, first, second, JOINT)
    title = f"rating by {ranking.judge} in logits; higher is better"
    rows = _rows(parts, margin)
    return ComparisonReport(
        first,
        second,
        RATING,
        title,
        "logits",
        margin,
        rows,
        _moved_ratings(ranking, first, second, moved),
        ranking.unit,
    )


def need_two_systems(first: str, second: str) -> None:
    """Refuse to compare a system with itself.

    Raises:
        BadInput: if both names are one.
    """
    if first == second:
        raise BadInput(f"{first} is compared with itself", do="name another system, or another arena to compare with")


def _compare_row(ranking: RankingReport, first: str, second: str, code: str) -> _Part:
    """Compare two systems in one row of a ranking. The standard error is derived from the interval, if it has both
    ends.
    """
    row = ranking.languages.get(code)
    absent = [system for system in (first, second) if row is None or system not in row.systems]
    if row is None or absent:
        why = ranking.unranked.get(code, {})
        none = "not ranked in every language" if code == JOINT else "no battles here"
        return _Part(None, reason="; ".join(f"{system}: {why.get(system, none)}" for system in absent))
    gap, tests = ranking.difference(first, second, language=code), ranking.tests[code]
    index = tests.index_of(first, second)
    n = int(min(row.queries_by_system[row.systems.index(system)] for system in (first, second)))
    differing = min(int(tests.differing[index]), n)
    error = reason = None
    if n < 2:
        reason = "one query gives no estimate of the spread"
    elif gap.low is None or gap.high is None:
        sides = [f"{s} has {NO_BOUND[row.unbounded[s]]}" for s in (first, second) if s in row.unbounded]
        reason = "the data puts no bound on the difference: " + ", ".join(sides)
    else:
        error = (gap.high - gap.low) / 2 / t_quantile(n - 1, 1 - ALPHA / 2)
    low, high = (None, None) if n < 2 else (gap.low, gap.high)
    freedom = None if error is None else n - 1.0
    p, p_board = float(tests.p[index]), float(tests.holm[index])
    estimate = PairedEstimate(gap.value, error, freedom, low, high, p, n, differing, reason)
    return _Part(estimate, p_board=p_board)


def _moved_ratings(ranking: RankingReport, first: str, second: str, most: int) -> tuple[MovedQuery, ...]:
    """Return the queries on which one of two systems won more points against the other."""
    rows = []
    for code, battles in ranking.battles.items():
        if most and first in battles.systems and second in battles.systems:
            pair = battles.subset((first, second))
            k = pair.systems.index(first)
            points = pair.shared(ranking.ties).astype(float)
            won, lost = points[:, k, 1 - k].tolist(), points[:, 1 - k, k].tolist()
            rows += [MovedQuery(code, q, a, b, a - b) for q, a, b in zip(pair.queries, won, lost, strict=True)]
    return _most(rows, most)


def _by_values(
    of_first: QueryValues,
    of_second: QueryValues,
    measure: QueryMeasure,
    systems: tuple[str, str],
    settings: CompareSettings,
    labels: QueryLabels | None,
) -> ComparisonReport:
    margin, shared = settings.margin, sorted(of_first.keys() & of_second.keys())
    if not shared:
        raise NotEnoughData(
            f"there is no query on which both {systems[0]} and {systems[1]} have a value of {measure.name}",
            do="compare systems that answered the same queries",
        )
    rows = [
        MovedQuery(*key, (a := of_first[key].value), (b := of_second[key].value), measure.sign * (a - b))
        for key in shared
    ]
    parts = {}
    estimated: dict[str, LanguageDifferences] = {}
    for code in in_order({language for language, _ in of_first.keys() | of_second.keys()}):
        of_code = [row for row in rows if row.language == code]
        unpaired = sum(language == code for language, _ in of_first.keys() ^ of_second.keys())
        if not of_code:
            parts[code] = _Part(None, unpaired, "no query has a value of both")
            continue
        strata = np.unique([of_first[code, row.query_id].stratum for row in of_code], return_inverse=True)[1]
        differences = np.array([row.difference for row in of_code])
        estimate = paired_estimate(differences, strata, reach=measure.reach)
        parts[code] = _Part(estimate, unpaired)
        estimated[code] = LanguageDifferences(tuple(row.query_id for row in of_code), differences, strata, estimate)
    if len(parts) > 1:
        joint = joint_estimate(estimated, reach=measure.reach)
        unpaired = sum(part.unpaired for part in parts.values())
        parts[JOINT] = _Part(joint, unpaired, None if joint else "no language has an interval")
    title = measure.title
    if labels is not None and (labels.unaudited or labels.audit):
        title = f"{title}; {NOT_AUDITED if labels.unaudited else 'not corrected for label errors'}"
    table = _rows(parts, margin)
    if not measure.directed:
        table = tuple(replace(row, verdict=_UNDIRECTED.get(row.verdict, row.verdict)) for row in table)
    unit, moved = Units({code: part.queries for code, part in estimated.items()}).unit, _most(rows, settings.moved)
    return ComparisonReport(
        *systems, measure.name, title, measure.unit, margin, table, moved, unit, directed=measure.directed
    )


_UNDIRECTED: Mapping[ComparisonVerdict, ComparisonVerdict] = {"better": "higher", "worse": "lower"}
"""Verdicts by a measure of which neither direction is better."""


def _rows(parts: Mapping[str, _Part], margin: float) -> tuple[Comparison, ...]:
    """Return the rows, after Holm's correction over the languages that have a test."""
    codes = [code for code, part in parts.items() if part.estimate is not None and code != JOINT]
    adjusted = dict(zip(codes, holm([parts[code].p for code in codes]), strict=True))
    rows = []
    for code in (*(code for code in parts if code != JOINT), *(code for code in parts if code == JOINT)):
        estimate, unpaired = parts[code].estimate, parts[code].unpaired
        if estimate is None:
            rows.append(_empty(code, unpaired, parts[code].reason))
        else:
            rows.append(_row(code, _agree(estimate), adjusted.get(code, parts[code].p), unpaired, margin))
    return tuple(rows)


def _row(code: str, estimate: PairedEstimate, p_holm: float, unpaired: int, margin: float) -> Comparison:
    verdict = _verdict(estimate, p_holm, margin)
    more = more_queries(estimate, margin) if verdict == "inconclusive" else MoreQueries(0, 0, 0, None)
    if more.high is None and more.low is not None:
        # As in `mirage.ranking.sample_size`: no estimate where some difference in the interval is never decided.
        why = "some differences in the interval cannot be decided by any number of queries"
        more = replace(more, more=None, reason=more.reason or why)
    reason = estimate.reason or more.reason
    if verdict == "inconclusive" and reason is None and estimate.p <= ALPHA:
        reason = "significant for this single comparison, not after Holm's correction"
    if verdict == "inconclusive" and estimate.differing == 0 and estimate.otherwise is not None:
        most = f"{estimate.otherwise:.1%}"
        reason = f"the two are equal on these {estimate.n_queries} queries, but up to {most} of all queries may differ"
    return Comparison(
        code,
        verdict,
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.p,
        p_holm,
        estimate.n_queries,
        unpaired,
        estimate.differing,
        estimate.detectable,
        more.more,
        more.low,
        more.high,
        reason,
    )


def _agree(estimate: PairedEstimate) -> PairedEstimate:
    """Return an estimate whose interval makes the same statement about 0 as its test."""
    from scipy.special import ndtri

    low = np.array(-np.inf if estimate.low is None else estimate.low)
    high = np.array(np.inf if estimate.high is None else estimate.high)
    ends = agree_with_test(np.array(estimate.value), low, high, ndtri(estimate.p / 2))
    known_low, known_high = (float(end) if np.isfinite(end) else None for end in ends)
    return replace(estimate, low=known_low, high=known_high)


def _empty(code: str, unpaired: int, reason: str | None) -> Comparison:
    nothing = (None,) * 5
    return Comparison(code, "inconclusive", *nothing, 0, unpaired, 0, None, None, None, None, reason)


def _verdict(estimate: PairedEstimate, p: float, margin: float) -> ComparisonVerdict:
    low = -math.inf if estimate.low is None else estimate.low
    high = math.inf if estimate.high is None else estimate.high
    if p <= ALPHA and low > 0:
        return "better"
    if p <= ALPHA and high < 0:
        return "worse"
    return "equivalent" if -margin <= low and high <= margin else "inconclusive"


def _most(rows: Sequence[MovedQuery], most: int) -> tuple[MovedQuery, ...]:
    """Return the queries with the largest differences, losses before gains of the same size."""
    moved = [row for row in rows if row.difference != 0]
    moved.sort(key=lambda row: (-abs(row.difference), row.difference, row.language, row.query_id))
    return tuple(moved[:most])


# --- two runs ---------------------------------------------------------------------------------------------------------


def rank_runs(
    arena: Arena,
    first: str,
    against: Arena,
    second: str,
    judge: str | None,
    settings: RankSettings,
) -> tuple[RankingReport, str]:
    """Rank the systems of an arena together with one system of another arena.

    With relevance labels the two meet on every query of both. With a judge or nuggets they are linked by the systems of
    the first arena that the second met in its own: systems of the same name are identical. A query_id in both arenas is
    one query.

    Args:
        arena: holds the first system; all its battles count.
        first: its name, for the error message.
        against: holds the second; its battles with systems of the first arena count.
        second: its name there.
        judge: judge of both, `relevance` or `nuggets`; None for the only one of the first arena.
        settings: settings of the ranking.

    Returns:
        The ranking, and the name of the second system in it: the arena's name is appended if the first arena has a
        system of that name.

    Raises:
        UnknownName: if a judge, language or system has no battles.
        NotEnoughData: if no battle of the second system is with one of the first arena.
    """
    import pyarrow as pa

    name = choose_judge(arena, judge)
    by = Judge.from_name(name, skill=settings.skill, parser=settings.parser, failures=settings.failures)
    by.refuse_options(settings.changed)
    (table, other), sides = (by.read(side, settings) for side in (arena, against)), by.sides
    known, theirs = _names(table, sides), _names(other, sides)
    if second not in theirs:
        raise UnknownName("system", second, sorted(theirs), where=against.address)
    label = second
    while label in known:
        label = f"{label} ({against.name})"
    rows = _rename_system(_of(other, sides, second, known), sides, second, label)
    if not len(rows):
        raise NotEnoughData(
            f"{second} met no system of {arena.address} in {against.address}, so nothing links it to {first}",
            do="compare by rate, nuggets or feature:NAME, or let both runs meet the same systems",
        )
    both = pa.concat_tables([table, rows.select(table.column_names)])
    return rank_battles(by.battles(both, languages=settings.languages), settings), label


def _names(table: pa.Table, sides: Sequence[str]) -> set[str]:
    import pyarrow.compute as pc

    return {name for side in sides for name in pc.unique(table[side]).to_pylist()}


def _of(table: pa.Table, sides: Sequence[str], system: str, opponents: set[str]) -> pa.Table:
    """Return the rows of a system, with battles only against the opponents."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(sides) == 1:
        return table.filter(pc.equal(table[sides[0]], system))
    others = pa.array(sorted(opponents - {system}), pa.string())
    first, second = (table[side] for side in sides)
    as_first = pc.and_(pc.equal(first, system), pc.is_in(second, value_set=others))
    as_second = pc.and_(pc.equal(second, system), pc.is_in(first, value_set=others))
    return table.filter(pc.or_(as_first, as_second))


def _rename_system(table: pa.Table, sides: Sequence[str], system: str, label: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for side in sides:
        names = pc.if_else(pc.equal(table[side], system), label, table[side])
        table = table.set_column(table.column_names.index(side), table.schema.field(side), names.cast(pa.string()))
    return table
