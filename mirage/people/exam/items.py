"""Decisions of people and judges on the same battles, and the sums by query behind every measure.

All data are columns: an arena can have tens of thousands of battles, and a page waits for its exam.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import codes
from mirage.battles.decided import DecidedBattles, Places
from mirage.battles.decision import FIRST, SECOND, points, swap
from mirage.people.exam.measures import FIRST_SHOWN, WIDTH
from mirage.people.votes import Vote, battle, label
from mirage.people.votes.coefficients import contingency
from mirage.stats.jackknife import Array

if TYPE_CHECKING:
    import pyarrow as pa

_LABELS = range(3)
_POINTS = np.array([points(kind) for kind in _LABELS])


@dataclass(frozen=True, eq=False)
class Opinions:
    """The B battles of one language with people's opinions, sorted by query, then systems."""

    language: str
    """Code of the language."""
    queries: tuple[str, ...]
    """Query ids, sorted."""
    systems: tuple[str, ...]
    """Systems, sorted by name."""
    query: Places
    """B: index in `queries`; ascending."""
    first: Places
    """B: index of the system whose name sorts first."""
    second: Places
    """B: index of the other system."""
    counts: Array
    """B x 3: number of people for `FIRST`, `SECOND` and `TIE`."""
    leaning: Array
    """B: sum over people of the points for the answer shown first minus one half."""

    @property
    def n(self) -> Array:
        """Return the number of people (B)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def points(self) -> Array:
        """Return people's mean points for the first system (B)."""
        return np.asarray(self.counts @ _POINTS / self.n)


@dataclass(frozen=True, eq=False)
class Items:
    """The M battles decided by people and one judge."""

    opinions: Opinions
    """People's opinions."""
    battle: Places
    """M: index of the battle in `opinions`; ascending."""
    label: Places
    """M: the judge's decision: `FIRST`, `SECOND` or `TIE`."""
    points: Array
    """M: the judge's mean points for the first system."""
    of: Places
    """V: index of the battle of each parsed verdict, among the M."""
    verdict_points: Array
    """V: the verdict's points for the first system."""
    swapped: NDArray[np.bool_]
    """V: whether the second system's answer was shown first."""

    def __len__(self) -> int:
        return len(self.battle)

    @property
    def query(self) -> Places:
        """M: the query of each battle."""
        return self.opinions.query[self.battle]

    @property
    def people(self) -> Array:
        """M: people's mean points for the first system."""
        return np.asarray(self.opinions.points[self.battle])


def opinions_of(votes: Iterable[Vote]) -> dict[str, Opinions]:
    """Return the opinions from valid votes on randomly sampled battles, by language."""
    heard: dict[str, list[tuple[str, str, str, int, bool]]] = {}
    for vote in votes:
        opinion = label(vote) if vote.control else None
        if opinion is not None:
            row = (*battle(vote)[1:], opinion, vote.system_a > vote.system_b)
            heard.setdefault(vote.language, []).append(row)
    return {code: _opinions(code, rows) for code, rows in sorted(heard.items())}


def _opinions(language: str, rows: list[tuple[str, str, str, int, bool]]) -> Opinions:
    ids, firsts, seconds, labels, swapped = (np.array(column) for column in zip(*rows, strict=True))
    queries, query_of = np.unique(ids, return_inverse=True)
    systems, sides = np.unique(np.concatenate([firsts, seconds]), return_inverse=True)
    keys = np.column_stack([query_of, *np.split(sides, 2)])
    battles, battle_of = np.unique(keys, axis=0, return_inverse=True)
    query, first, second = battles.T
    battle_of, label_of = battle_of.ravel(), labels.astype(np.intp)
    sign = np.where(swapped, -1.0, 1.0)
    counts = np.bincount(battle_of * 3 + label_of, minlength=3 * len(battles)).reshape(-1, 3).astype(np.float64)
    leaning = np.zeros(len(battles))
    np.add.at(leaning, battle_of, (_POINTS[label_of] - 0.5) * sign)
    names = tuple(queries.tolist()), tuple(systems.tolist())
    return Opinions(language, *names, query, first, second, counts, leaning)


def items_of(battles: DecidedBattles, opinions: Mapping[str, Opinions]) -> dict[str, dict[str, Items]]:
    """Return the battles decided by each judge among those with opinions, by judge and language."""
    items: dict[str, dict[str, Items]] = {name: {} for name in battles.judges}
    for k, code in enumerate(battles.languages):
        if code not in opinions:
            continue
        rows, places = _in_common(battles, np.flatnonzero(battles.language == k), opinions[code])
        judge = battles.judge[rows]
        for j, name in enumerate(battles.judges):
            own = rows[judge == j]
            if not len(own):
                continue
            place = np.full(len(battles.judge), -1, dtype=np.intp)
            place[own] = np.arange(len(own))
            of = place[battles.of]
            verdicts = np.flatnonzero(of >= 0)
            items[name][code] = Items(
                opinions[code],
                places[judge == j],
                battles.label[own],
                battles.points[own],
                of[verdicts],
                battles.verdict_points[verdicts],
                battles.swapped[verdicts],
            )
    return {name: by_language for name, by_language in items.items() if by_language}


def _in_common(battles: DecidedBattles, rows: Places, opinions: Opinions) -> tuple[Places, Places]:
    """Return which of these rows are on a battle with opinions, and the battle's index there."""
    query = _places(battles.queries, opinions.queries)[battles.query[rows]]
    systems = _places(battles.systems, opinions.systems)
    shape = (len(opinions.queries), len(opinions.systems), len(opinions.systems))
    wanted = (query, systems[battles.first[rows]], systems[battles.second[rows]])
    place = _find(wanted, (opinions.query, opinions.first, opinions.second), shape)
    return rows[place >= 0], place[place >= 0]


def _find(wanted: Sequence[Places], known: Sequence[Places], shape: tuple[int, ...]) -> Places:
    """Return the row of each wanted combination of indices among the known ones; -1 if absent, or an index is -1."""
    keys = np.ravel_multi_index(tuple(known), shape)
    sought = np.ravel_multi_index(tuple(np.maximum(part, 0) for part in wanted), shape)
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys, sought, sorter=order), len(keys) - 1)]
    return np.where((np.min(wanted, axis=0) >= 0) & (keys[place] == sought), place, -1)


def _places(names: tuple[str, ...], among: tuple[str, ...]) -> Places:
    """Return the index of each name among others; -1 if absent."""
    place = {name: k for k, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], dtype=np.intp)


def by_query(query: Places, values: Array) -> Array:
    """Sum rows by query (Q x K).

    Args:
        query: the query of each row; ascending.
        values: rows x K.
    """
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    return np.add.reduceat(values, starts, axis=0) if len(starts) else values[:0]


def judge_sums(items: Items) -> Array:
    """Return each query's contribution for one judge in one language (Q x `WIDTH`)."""
    sums = np.zeros((len(items), WIDTH))
    sums[:, :9] = _both_sides(contingency(items.opinions.counts[items.battle], items.label)) / 2
    above = (items.verdict_points - items.people[items.of]) * np.where(items.swapped, -1, 1)
    sums[:, FIRST_SHOWN] = np.bincount(items.of, weights=above, minlength=len(items))
    sums[:, FIRST_SHOWN + 1] = np.bincount(items.of, minlength=len(items))
    return by_query(items.query, sums)


_SWAP = np.array([swap(kind) for kind in _LABELS])


def _both_sides(table: Array) -> Array:
    """Return contingency tables plus the same seen from the second system (B x 9)."""
    return np.asarray((table + table[:, _SWAP][:, :, _SWAP]).reshape(-1, 9))


def people_sums(opinions: Opinions) -> Array:
    """Return each query's contribution of people among themselves (Q x `WIDTH`); every two people on a battle are a
    pair.
    """
    counts = opinions.counts
    sums = np.zeros((len(counts), WIDTH))
    # Neither of two people is the reference: each is once the person and once the judge.
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(3)
    sums[:, :9] = _both_sides(pairs) / 4
    sums[:, FIRST_SHOWN] = opinions.leaning
    sums[:, FIRST_SHOWN + 1] = opinions.n
    return by_query(opinions.query, sums)


def known_sums(battles: DecidedBattles, outcomes: pa.Table) -> dict[str, dict[str, Array]]:
    """Count known-answer pairs by judge and language (Q x 2): those the judge decides correctly, and all.

    A pair is known if relevance labels make one answer correct and the other wrong. Both orders count as one decision,
    so that position bias cannot win.

    Args:
        battles: the judges' decisions.
        outcomes: columns language, query_id, system and correct, one row per answer; null if unknown.
    """
    import pyarrow.compute as pc

    rows = outcomes.filter(pc.is_valid(outcomes["correct"]))
    if not len(rows) or not len(battles.judge):
        return {}
    axes = (battles.languages, battles.queries, battles.systems)
    places = []
    for name, among in zip(("language", "query_id", "system"), axes, strict=True):
        names, code = codes(rows[name])
        places.append(_places(names, among)[code])
    there = np.flatnonzero(np.min(places, axis=0) >= 0)
    if not len(there):
        return {}
    known = [place[there] for place in places]
    right = rows["correct"].to_numpy(zero_copy_only=False).astype(np.float64)[there]

    def correct(side: Places) -> Array:
        place = _find((battles.language, battles.query, side), known, tuple(map(len, axes)))
        return np.where(place >= 0, right[place], np.nan)

    first, second = correct(battles.first), correct(battles.second)
    known = np.isfinite(first) & np.isfinite(second) & (first != second)
    hit = battles.label == np.where(first > second, FIRST, SECOND)
    values = np.column_stack([hit, np.ones(len(hit))])
    sums: dict[str, dict[str, Array]] = {}
    for k, language in enumerate(battles.languages):
        for j, name in enumerate(battles.judges):
            own = known & (battles.language == k) & (battles.judge == j)
            if own.any():
                sums.setdefault(name, {})[language] = by_query(battles.query[own], values[own])
    return sums
