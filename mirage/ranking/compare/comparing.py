"""Comparison of two systems by their points against each other, or by any measure with a value per query."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce

import numpy as np

from mirage.battles.failures import DROPPED, Queries, queries_of
from mirage.battles.judge import choose_judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.board import rank_arena
from mirage.ranking.bootstrap import RankingReport, rank_battles
from mirage.ranking.compare.measures import (
    RATE,
    RATING,
    QueryKey,
    QueryMeasure,
    QueryValues,
    fill_failed,
    query_measure,
    query_values,
)
from mirage.ranking.compare.paired import (
    POWER,
    LanguageDifferences,
    PairedEstimate,
    estimate_difference,
    name_left_out,
    pair_differences,
    plan_queries,
)
from mirage.ranking.compare.records import (
    LOGITS,
    Comparison,
    ComparisonReport,
    ComparisonVerdict,
    MovedQuery,
)
from mirage.ranking.graph import NO_BOUND
from mirage.ranking.judges import Judge
from mirage.ranking.people import people_lines
from mirage.ranking.records import ALPHA, JOINT
from mirage.ranking.settings import MOVED, CompareSettings, RankSettings
from mirage.stats.intervals import REACH, agree_with_test
from mirage.stats.label_errors import NOT_AUDITED, QueryLabels
from mirage.stats.units import Units
from mirage.store.arena import Arena
from mirage.store.labels import source_phrase
from mirage.text.languages import in_order
from mirage.text.segmentation import count_text, join_first


@dataclass(frozen=True, slots=True)
class _Part:
    """The two systems in one language, or in all."""

    estimate: PairedEstimate | None
    """The estimate; None with a reason."""
    unpaired: int = 0
    """Queries without a value of both."""
    reason: str | None = None
    """Reason why there is no estimate."""
    board: float | None = None
    """Difference of their ratings in logits; None for other measures, or where one is not ranked."""


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
        NotEnoughData: if nothing was measured of both systems.
    """
    other = first if second is None else second
    if against is None:
        need_two_systems(first, other)
    asked = queries_of(arena, first), queries_of(against or arena, other)
    failed = asked[0].failed, asked[1].failed
    if settings.measure == RATING:
        name = choose_judge(arena, settings.judge)
        judge = Judge.from_name(name, parser=settings.parser, failures=settings.failures)
        if against is None:
            ranking, name = rank_pairs(arena, judge, settings.ranking), other
        else:
            ranking, name = rank_runs(arena, first, against, other, judge, settings.ranking)
        report = compare_ratings(ranking, first, name, margin=settings.margin, moved=settings.moved, asked=asked)
        report = replace(report, judge_name=judge.phrase(arena))
        by_labels = judge.rests_on_labels
    else:
        report = _compare_measure(arena, first, other, settings, against, labels, failed)
        by_labels = settings.measure == RATE
    notes = (*report.notes, *_failure_lines((first, other), failed, settings))
    report = replace(report, labels=source_phrase(arena) if by_labels else "", notes=notes)
    return report if against is None else replace(report, against=against.name, second_name=f"{other} ({against.name})")


@lru_cache(maxsize=8)
def rank_pairs(arena: Arena, judge: Judge, settings: RankSettings) -> RankingReport:
    """Return the ranking that pairs of systems are compared by."""
    return rank_arena(arena, judge, settings).ranking


def _compare_measure(
    arena: Arena,
    first: str,
    second: str,
    settings: CompareSettings,
    against: Arena | None,
    labels: QueryLabels | None,
    failed: tuple[Set[QueryKey], Set[QueryKey]],
) -> ComparisonReport:
    """Compare two systems by a measure with a value per query, given the queries that each failed; other arguments as
    for `compare_systems`.
    """
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
        of_first, of_second = read(arena, (first, second))
    else:
        (of_first,), (of_second,) = read(arena, (first,)), read(against, (second,))
    if value.worst is not None and settings.failures == "count":
        of_first, of_second = (
            fill_failed(of_first, of_second, failed[0], value.worst),
            fill_failed(of_second, of_first, failed[1], value.worst),
        )
    return _by_values(of_first, of_second, value, (first, second), settings, labels if value.name == RATE else None)


def _failure_lines(
    systems: tuple[str, str], failed: tuple[Set[QueryKey], Set[QueryKey]], settings: CompareSettings
) -> list[str]:
    """Return how many answers of two systems failed in the languages asked about, and how they count."""
    asked = [{key for key in keys if settings.languages is None or key[0] in settings.languages} for keys in failed]
    if not any(asked):
        return []
    counts = join_first([f"{len(keys):,} of {system}" for system, keys in zip(systems, asked, strict=True) if keys])
    if settings.failures == "drop":
        return [f"{DROPPED}: {counts}"]
    both = len(asked[0] & asked[1])
    shared = f"; not used: {count_text(both, 'query')} that both failed" if both else ""
    return [f"failed answers count as wrong: {counts}{shared}"]


def compare_ratings(
    ranking: RankingReport,
    first: str,
    second: str,
    *,
    margin: float = 0.0,
    moved: int = MOVED,
    asked: tuple[Queries, Queries] = (Queries(), Queries()),
) -> ComparisonReport:
    """Compare two systems by the points of their battles with each other, with the ranking's difference beside them;
    two that never meet by that difference alone. Of those that each was asked, queries that both failed are not used.

    Raises:
        UnknownName: if a system is not ranked.
        BadInput: if a system is compared with itself.
        NotEnoughData: if no language ranks both.
    """
    need_two_systems(first, second)
    rows_of = (*(row.systems for row in ranking.languages.values()), *ranking.unranked.values())
    systems = {system for of_language in rows_of for system in of_language}
    for system in (first, second):
        if system not in systems:
            raise UnknownName("system", system, systems, where=f"the ranking by {ranking.judge}")
    codes = in_order({*ranking.languages, *ranking.unranked} - {JOINT})
    absent = {code: _find_absent(ranking, first, second, code) for code in (*codes, JOINT)}
    if all(absent[code] for code in codes):
        raise NotEnoughData(
            f"no language ranks both {first} and {second}",
            where="; ".join(f"{code}: {absent[code]}" for code in codes),
            do="compare systems that the judge ranks in the same language",
        )
    ranked = {code: battles for code, battles in ranking.battles.items() if code in ranking.languages}
    met = pair_differences(ranked, first, second, asked[0].failed & asked[1].failed)
    report = partial(
        ComparisonReport, first, second, RATING, judge=ranking.judge, judge_name=ranking.judge, second_name=second
    )
    if not met:
        parts = _compare_board(ranking, first, second, {code: absent[code] for code in ranking.languages})
        parts |= {code: _Part(None, reason=absent[code]) for code in codes if code not in parts}
        title = f"rating by {ranking.judge} in logits; higher is better"
        return report(title, LOGITS, margin, _rows(parts, margin), (), ranking.unit)
    gaps = {
        code: None if absent[code] else float(ranking.languages[code].differences(second, system=first)[0][0])
        for code in (*codes, JOINT)
    }
    reasons = {code: absent[code] or "they do not meet on any query" for code in codes}
    lone = asked[0].asked ^ asked[1].asked
    unpaired = {
        code: len(_find_apart(ranking, first, second, code) | {q for of, q in lone if of == code}) for code in codes
    }
    parts = _estimate(met, codes, unpaired, reasons, reach=1.0)
    if len(ranking.languages) == 1:
        parts.pop(JOINT, None)
    parts = {code: replace(part, board=gaps[code]) for code, part in parts.items()}
    rows = [
        MovedQuery(code, query, (1 + gap) / 2, (1 - gap) / 2, gap)
        for code, part in met.items()
        for query, gap in zip(part.queries, part.values.tolist(), strict=True)
    ]
    title = f"share of the points of their battles by {ranking.judge}; higher is better"
    unit = Units({code: part.queries for code, part in met.items()}).unit
    notes = people_lines({code: ranking.battles[code].subset((first, second)) for code in met})
    return report(title, "", margin, _rows(parts, margin), _largest_differences(rows, moved), unit, notes=tuple(notes))


def _find_apart(ranking: RankingReport, first: str, second: str, code: str) -> set[str]:
    """Return the queries on which one of the two battles, but not with the other."""
    battles = ranking.battles.get(code)
    if battles is None:
        return set()
    there = [battles.systems.index(system) for system in (first, second) if system in battles.systems]
    apart = battles.participation()[:, there].any(axis=1)
    if len(there) == 2:
        a, b = there
        apart &= ~(battles.wins[:, a, b] | battles.wins[:, b, a] | battles.ties[:, a, b]).astype(bool)
    return {battles.queries[k] for k in np.flatnonzero(apart).tolist()}


def _find_absent(ranking: RankingReport, first: str, second: str, code: str) -> str:
    """Return why a row does not rank both systems; empty if it does."""
    row = ranking.languages.get(code)
    why = ranking.unranked.get(code, {})
    none = "not ranked in every language" if code == JOINT else "no battles here"
    absent = {system: why.get(system, none) for system in (first, second) if row is None or system not in row.systems}
    if len(absent) == 2 and len({*absent.values()}) == 1:
        return absent[first]
    return "; ".join(f"{system}: {reason}" for system, reason in absent.items())


def need_two_systems(first: str, second: str) -> None:
    """Refuse to compare a system with itself.

    Raises:
        BadInput: if both names are one.
    """
    if first == second:
        raise BadInput(f"{first} is compared with itself", do="name another system, or another arena to compare with")


def _compare_board(ranking: RankingReport, first: str, second: str, absent: Mapping[str, str]) -> dict[str, _Part]:
    """Compare two systems that never meet by the difference of their ratings, with its own test and interval.

    Args:
        ranking: the ranking.
        first: the system to compare.
        second: the reference system.
        absent: by row of the ranking, the reason why it does not rank both, or nothing.
    """
    from scipy.special import ndtri, stdtrit

    tests = sum(not reason for code, reason in absent.items() if code != JOINT)
    parts = {}
    for code, reason in absent.items():
        if reason:
            parts[code] = _Part(None, reason=reason)
            continue
        row = ranking.languages[code]
        # The pair was named beforehand: its interval and its p are its own, not those of the board.
        gap, *ends = row.differences(second, system=first)[:, 0].tolist()
        low, high = (end if math.isfinite(end) else None for end in ends)
        index, times = ranking.tests[code].index_of(first, second), 1 if code == JOINT else tests
        n = int(min(row.queries_by_system[row.systems.index(system)] for system in (first, second)))
        p = min(1.0, times * float(ranking.tests[code].p[index]))
        estimate = PairedEstimate(gap, low, high, p, n, min(int(ranking.tests[code].differing[index]), n))
        if low is None or high is None or n < 2:
            sides = [f"{s} has {NO_BOUND[row.unbounded[s]]}" for s in (first, second) if s in row.unbounded]
            why = "the data puts no bound on the difference: " + ", ".join(sides)
            estimate = replace(estimate, reason=why if sides else "one query gives no estimate of the spread")
        else:
            wider = float(ndtri(1 - ALPHA / times / 2)) / REACH
            below, above = (np.array(gap + wider * (end - gap)) for end in (low, high))
            ends = agree_with_test(np.array(gap), below, above, ndtri(p / 2))
            half = (high - low) / 2
            detectable = half * (wider + float(stdtrit(n - 1, POWER) / stdtrit(n - 1, 1 - ALPHA / 2)))
            unknown = "the number of queries is known for systems that meet"
            estimate = replace(
                estimate, low=float(ends[0]), high=float(ends[1]), detectable=detectable, unknown=unknown
            )
        parts[code] = _Part(estimate, board=gap)
    return parts


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
    codes = in_order({language for language, _ in of_first.keys() | of_second.keys()})
    unpaired = {code: sum(language == code for language, _ in of_first.keys() ^ of_second.keys()) for code in codes}
    met = {}
    for code in codes:
        if of_code := [row for row in rows if row.language == code]:
            strata = np.unique([of_first[code, row.query_id].stratum for row in of_code], return_inverse=True)[1]
            differences = np.array([row.difference for row in of_code])
            met[code] = LanguageDifferences(tuple(row.query_id for row in of_code), differences, strata)
    parts = _estimate(met, codes, unpaired, dict.fromkeys(codes, "no query has a value of both"), reach=measure.reach)
    title = measure.title
    if labels is not None and (labels.unaudited or labels.audit):
        title = f"{title}; {NOT_AUDITED if labels.unaudited else 'not corrected for label errors'}"
    table = _rows(parts, margin)
    unit = Units({code: part.queries for code, part in met.items()}).unit
    if not measure.directed:
        table = tuple(replace(row, verdict=_UNDIRECTED.get(row.verdict, row.verdict)) for row in table)
    moved = _largest_differences(rows, settings.moved)
    report = ComparisonReport(*systems, measure.name, title, measure.unit, margin, table, moved, unit)
    return replace(report, second_name=systems[1], directed=measure.directed)


_UNDIRECTED: Mapping[ComparisonVerdict, ComparisonVerdict] = {"better": "higher", "worse": "lower"}
"""Verdicts by a measure of which neither direction is better."""


def _estimate(
    met: Mapping[str, LanguageDifferences],
    codes: Sequence[str],
    unpaired: Mapping[str, int],
    reasons: Mapping[str, str],
    *,
    reach: float | None,
) -> dict[str, _Part]:
    """Estimate the difference in every language, and over all of them if there are several.

    Args:
        met: the differences by language.
        codes: the languages asked about.
        unpaired: by language, the number of queries without a value of both.
        reasons: by language, why there are no differences.
        reach: the largest possible difference; None if unbounded.
    """

    def estimate(some: Mapping[str, LanguageDifferences], tests: int) -> PairedEstimate:
        found = estimate_difference(some, reach=reach, tests=tests)
        return found if reach is None else plan_queries(found, some, reach, tests)

    parts = {
        code: _Part(estimate({code: met[code]}, len(met)), unpaired[code])
        if code in met
        else _Part(None, unpaired[code], reasons[code])
        for code in codes
    }
    if len(codes) > 1:
        without = name_left_out({code: reasons[code] for code in codes if code not in met})
        parts[JOINT] = _Part(estimate(met, 1), sum(unpaired.values()), without)
    return parts


def _rows(parts: Mapping[str, _Part], margin: float) -> tuple[Comparison, ...]:
    """Return the rows, `all` last."""
    return tuple(_row(code, parts[code], margin) for code in sorted(parts, key=lambda code: code == JOINT))


def _row(code: str, part: _Part, margin: float) -> Comparison:
    estimate = part.estimate
    if estimate is None:
        nothing = (None,) * 4
        return Comparison(code, "inconclusive", *nothing, 0, part.unpaired, 0, None, None, part.board, part.reason)
    verdict = _verdict(estimate, margin)
    open_ = verdict == "inconclusive"
    unknown = estimate.unknown if open_ and estimate.needed is None else None
    return Comparison(
        code,
        verdict,
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.p,
        estimate.n_queries,
        part.unpaired,
        estimate.differing,
        estimate.detectable,
        estimate.needed if open_ else None,
        part.board,
        "; ".join(filter(None, (part.reason, estimate.reason or unknown))) or None,
    )


def _verdict(estimate: PairedEstimate, margin: float) -> ComparisonVerdict:
    low = -math.inf if estimate.low is None else estimate.low
    high = math.inf if estimate.high is None else estimate.high
    if estimate.p <= ALPHA and low > 0:
        return "better"
    if estimate.p <= ALPHA and high < 0:
        return "worse"
    return "equivalent" if estimate.bounded and -margin <= low and high <= margin else "inconclusive"


def _largest_differences(rows: Sequence[MovedQuery], most: int) -> tuple[MovedQuery, ...]:
    """Return the queries with the largest differences, losses before gains of the same size; of equal ones the first of
    every language comes before the second of any.
    """
    moved = sorted((row for row in rows if row.difference != 0), key=lambda row: (row.language, row.query_id))
    met = Counter[tuple[str, float]]()
    places = []
    for row in moved:
        places.append((-abs(row.difference), row.difference, met[row.language, row.difference], row.language))
        met[row.language, row.difference] += 1
    return tuple(row for _, row in sorted(zip(places, moved, strict=True), key=lambda pair: pair[0])[:most])


# --- two runs ---------------------------------------------------------------------------------------------------------


def rank_runs(
    arena: Arena,
    first: str,
    against: Arena,
    second: str,
    by: Judge,
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
        by: judge of both.
        settings: settings of the ranking.

    Returns:
        The ranking, and the name of the second system in it: the arena's name is appended if the first arena has a
        system of that name.

    Raises:
        UnknownName: if a judge, language or system has no battles.
        NotEnoughData: if no battle of the second system is with one of the first arena.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    by.refuse_options(settings.changed)
    (table, other), sides = (by.read(side, settings) for side in (arena, against)), by.sides
    known, theirs = ({name for side in sides for name in pc.unique(part[side]).to_pylist()} for part in (table, other))
    if second not in theirs:
        raise UnknownName("system", second, sorted(theirs), where=against.address)
    label = second
    while label in known:
        label = f"{label} ({against.name})"
    rows, names = other.filter(reduce(pc.or_, (pc.equal(other[side], second) for side in sides))), known | {second}
    for side in sides:
        rows = rows.filter(pc.is_in(rows[side], value_set=pa.array(sorted(names), pa.string())))
        renamed = pc.if_else(pc.equal(rows[side], second), label, rows[side].cast(pa.string()))
        rows = rows.set_column(rows.column_names.index(side), side, renamed)
    if not len(rows):
        raise NotEnoughData(
            f"{second} met no system of {arena.address} in {against.address}, so nothing links it to {first}",
            do="compare by rate, nuggets or feature:NAME, or let both runs meet the same systems",
        )
    plain = pa.schema(
        [(name, pa.string()) if name in sides else table.schema.field(name) for name in table.column_names]
    )
    both = pa.concat_tables([part.select(plain.names).cast(plain) for part in (table, rows)])
    return rank_battles(by.battles(both, languages=settings.languages), settings), label
