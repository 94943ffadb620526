"""Drift of a judge: its verdicts on the anchor set on a later day against those on the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from mirage.battles.anchors import PATTERN, split_anchor
from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS
from mirage.errors import NotEnoughData, UnknownName
from mirage.schema import CodeOrAll, Count, Range, Share
from mirage.stats.bounded import StratifiedMean
from mirage.stats.units import shared_ids
from mirage.text.languages import in_order

if TYPE_CHECKING:
    from mirage.store import Arena

Battle = tuple[str, str, str, str]
"""Language, query_id, and the systems shown first and second."""
Shift = Annotated[float, Range(-1, 1)]
_POINTS = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}


@dataclass(frozen=True, slots=True)
class JudgeDrift:
    """Change of one judge's verdicts on the anchor set from its first day to a later one.

    Every mean is over queries, each with the mean of its battles. Intervals are 95% intervals of means of bounded
    values with the query as the unit (`mirage.stats.bounded`).
    """

    key = ("judge", "date", "language")

    judge: str
    """The judge."""
    date: str
    """The later day, in UTC."""
    since: str
    """The first day."""
    language: CodeOrAll
    """Language of the queries; `all`: all queries, with equal weights."""
    equal: Share | None
    """Share of the battles with the same verdict on both days; both kinds of tie are one verdict."""
    equal_low: Share | None
    """Lower end of the interval of `equal`."""
    equal_high: Share | None
    """Upper end."""
    first: Shift | None
    """Mean shift of the points of the answer shown first, later minus earlier; above 0 the judge has come to favour the
    first position. Battles without a verdict on one day do not count.
    """
    first_low: Shift | None
    """Lower end of the interval of `first`."""
    first_high: Shift | None
    """Upper end."""
    longer: Shift | None
    """Mean shift of the points of the longer answer, in characters, later minus earlier; null if no two answers differ
    in length.
    """
    longer_low: Shift | None
    """Lower end of the interval of `longer`."""
    longer_high: Shift | None
    """Upper end."""
    n: Count
    """Battles decided on both days, each order counted separately."""
    queries: Count
    """Queries of these battles; ids that languages share are one query."""
    reason: str | None
    """Why a value or an interval is null; else null."""

    def exit_code(self, most: float, *, require: bool = False) -> int:
        """Return the exit code of a CI gate.

        Args:
            most: largest acceptable share of changed verdicts.
            require: whether a decision is required.

        Returns:
            1 if the interval of the share of changed verdicts lies above `most`; 3 if a decision is required and the
            interval contains it; else 0.
        """
        if self.equal_low is None or self.equal_high is None:
            return 3 if require else 0
        if 1 - self.equal_high > most:
            return 1
        return 3 if require and 1 - self.equal_low > most else 0


@dataclass(frozen=True, slots=True)
class AnchorVerdict:
    """One verdict on a battle of the anchor set."""

    label: int
    """`FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: float | None
    """Points of the answer shown first; None if there is no verdict."""


def judge_drift(arena: Arena, judge: str, *, languages: Iterable[str] | None = None) -> tuple[JudgeDrift, ...]:
    """Return the drift of a judge on each day after its first: a row per language, `all` last if there are several.

    Args:
        arena: has verdicts of the judge on the anchor set (`mirage judge --anchors`).
        judge: the judge.
        languages: codes; None for all.

    Raises:
        TableMissing: if the arena has no judgments.
        NotEnoughData: if the judge has no verdicts on the anchor set, or those of one day only.
        UnknownName: if a language has none.
    """
    arena.need("judgments")
    columns = "language, query_id, judge, system_a, system_b, verdict, points"
    rows = arena.sql(f"SELECT {columns} FROM judgments WHERE regexp_matches(judge, ?)", [PATTERN]).to_pylist()  # noqa: S608  # our own names
    days: dict[str, dict[Battle, AnchorVerdict]] = defaultdict(dict)
    for row in rows:
        name, day = split_anchor(row["judge"]) or ("", "")
        if name == judge:
            battle = row["language"], row["query_id"], row["system_a"], row["system_b"]
            days[day].setdefault(battle, _verdict(row))
    command = f"mirage judge {arena.address} --judge {judge} --anchors 50"
    if not days:
        raise NotEnoughData(f"{judge} has no verdicts on an anchor set", where=arena.address, do=f"run: {command}")
    known = {code for verdicts in days.values() for code, *_ in verdicts}
    only = None if languages is None else set(languages)
    for code in sorted((only or set()) - known):
        raise UnknownName("language", code, known, where=f"the anchor set of {arena.address}")
    first, *later = sorted(days)
    if not later:
        raise NotEnoughData(
            f"{judge} has verdicts on the anchor set of one day only, {first}",
            where=arena.address,
            do=f"judge the set again on another day: {command}",
        )
    lengths = _lengths(arena)
    earlier = {battle: verdict for battle, verdict in days[first].items() if only is None or battle[0] in only}
    return tuple(row for day in later for row in drift_rows(judge, (first, earlier), (day, days[day]), lengths))


def drift_rows(
    judge: str,
    first: tuple[str, Mapping[Battle, AnchorVerdict]],
    later: tuple[str, Mapping[Battle, AnchorVerdict]],
    lengths: Mapping[tuple[str, str, str], int],
) -> list[JudgeDrift]:
    """Return the drift between two days: a row per language, `all` last if there are several.

    Args:
        judge: the judge.
        first: the first day, and the verdicts on it.
        later: the later day, and the verdicts on it.
        lengths: characters of each answer, by language, query_id and system.
    """
    (since, before), (date, after) = first, later
    battles = sorted(before.keys() & after.keys())
    queries: dict[str, set[str]] = defaultdict(set)
    for language, query_id, *_ in battles:
        queries[language].add(query_id)
    shared = shared_ids({code: sorted(ids) for code, ids in queries.items()})
    codes = in_order(queries)
    rows = []
    for code in (*codes, *(["all"] if len(codes) != 1 else [])):
        of_code = [battle for battle in battles if code in ("all", battle[0])]
        equal, position, longer = _changes(of_code, before, after, lengths, shared)
        share, to_first, to_longer = _mean(equal, 0.0), _mean(position, -1.0), _mean(longer, -1.0)
        reason = _reason(len(of_code), len(equal), len(longer))
        row = JudgeDrift(judge, date, since, code, *share, *to_first, *to_longer, len(of_code), len(equal), reason)
        rows.append(row)
    return rows


_ByQuery = dict[tuple[str, str], list[float]]
"""Values of battles by query; the language is empty for an id that languages share."""


def _changes(
    battles: Iterable[Battle],
    before: Mapping[Battle, AnchorVerdict],
    after: Mapping[Battle, AnchorVerdict],
    lengths: Mapping[tuple[str, str, str], int],
    shared: Collection[str],
) -> tuple[_ByQuery, _ByQuery, _ByQuery]:
    """Return by query whether verdicts are equal, and the shifts of points towards the first and the longer answer."""
    equal: _ByQuery = defaultdict(list)
    position: _ByQuery = defaultdict(list)
    longer: _ByQuery = defaultdict(list)
    for battle in battles:
        language, query_id, a, b = battle
        unit = ("" if query_id in shared else language, query_id)
        one, two = before[battle], after[battle]
        equal[unit].append(float(one.label == two.label))
        if one.points is None or two.points is None:
            continue
        shift = two.points - one.points
        position[unit].append(shift)
        of_a, of_b = lengths.get((language, query_id, a)), lengths.get((language, query_id, b))
        if of_a is not None and of_b is not None and of_a != of_b:
            longer[unit].append(shift if of_a > of_b else -shift)
    return equal, position, longer


def _reason(n: int, queries: int, with_lengths: int) -> str | None:
    """Return why a value or an interval is null."""
    if not n:
        return "no battle was decided on both days"
    if queries < 2:
        return "one query gives no estimate of the spread"
    return None if with_lengths > 1 else "too few answers of known and different lengths"


def _mean(
    by_unit: Mapping[tuple[str, str], list[float]], low: float
) -> tuple[float | None, float | None, float | None]:
    """Return the mean over queries with its interval; null without values, the ends null with one query."""
    values = np.array([np.mean(values) for values in by_unit.values()], dtype=float)
    if not len(values):
        return None, None, None
    if len(values) == 1:
        return float(values[0]), None, None
    mean = StratifiedMean(values, np.zeros(len(values), dtype=np.intp), low, 1.0)
    ends = mean.interval()
    return mean.value, max(ends[0], low), min(ends[1], 1.0)


def _verdict(row: Mapping[str, Any]) -> AnchorVerdict:
    label = VERDICTS[row["verdict"]]
    points = None if label == UNPARSED else row["points"] if row["points"] is not None else _POINTS[label]
    return AnchorVerdict(label, points)


def _lengths(arena: Arena) -> dict[tuple[str, str, str], int]:
    """Return the characters of each answer."""
    if "answers" not in arena.tables:
        return {}
    rows = arena.sql("SELECT language, query_id, system, length(text) AS n FROM answers WHERE text IS NOT NULL")
    return {(row["language"], row["query_id"], row["system"]): row["n"] for row in rows.to_pylist()}
