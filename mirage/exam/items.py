"""What people and judges decided on the same battles, and the sums by query that every measure is made of.

Everything is columns: an arena can hold tens of thousands of battles, and a page waits for its exam.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import codes
from mirage.battles.decided import DecidedBattles, Places
from mirage.battles.decision import FIRST, SECOND, points, swap
from mirage.exam.estimates import Array
from mirage.exam.measures import COINCIDENCES, LEANINGS, WIDTH
from mirage.makers import BASELINE, OTHER, Makers
from mirage.votes import Vote, battle, label
from mirage.votes.agreement import coincidences

if TYPE_CHECKING:
    import pyarrow as pa

Lengths = Mapping[tuple[str, str, str], float]
"""Lengths of answers by language, query and system."""

_LABELS = range(3)
_POINTS = np.array([points(kind) for kind in _LABELS])


@dataclass(frozen=True, eq=False)
class Opinions:
    """The B battles of one language on which people said something: by query, then systems."""

    language: str
    """Code of the language."""
    queries: tuple[str, ...]
    """The queries, by id."""
    systems: tuple[str, ...]
    """The systems, by name."""
    query: Places
    """B: the query, as its place in `queries`; ascending."""
    first: Places
    """B: the system whose name comes first."""
    second: Places
    """B: the other system."""
    counts: Array
    """B x 3: how many people said `FIRST`, `SECOND` and `TIE`."""
    leaning: Array
    """B: points that people gave the answer shown first, less one half each, summed."""

    @property
    def n(self) -> Array:
        """B: how many people."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def points(self) -> Array:
        """B: mean points that people give the first system."""
        return np.asarray(self.counts @ _POINTS / self.n)


@dataclass(frozen=True, eq=False)
class Items:
    """The M battles that people and one judge decided."""

    opinions: Opinions
    """What people said."""
    battle: Places
    """M: the battle, as its place in `opinions`; ascending."""
    label: Places
    """M: what the judge decided: `FIRST`, `SECOND` or `TIE`."""
    points: Array
    """M: mean points that the judge gives the first system."""
    of: Places
    """V: the battle of each readable verdict, as its place among the M."""
    verdict_points: Array
    """V: points that the verdict gives the first system."""
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
        """M: mean points that people give the first system."""
        return np.asarray(self.opinions.points[self.battle])

    @property
    def errors(self) -> Array:
        """M: points that the judge gives the first system, less those that people give it."""
        return self.points - self.people

    @property
    def agreeing(self) -> Array:
        """M: votes that the judge agrees with."""
        return np.asarray(self.opinions.counts[self.battle, self.label])


def opinions_of(votes: Iterable[Vote]) -> dict[str, Opinions]:
    """The opinions of votes that stand and were drawn at random, by language."""
    heard: dict[str, list[tuple[str, str, str, int, bool]]] = {}
    for vote in votes:
        opinion = label(vote) if vote.control else None
        if opinion is not None:
            row = (*battle(vote)[1:], opinion, vote.system_a > vote.system_b)
            heard.setdefault(vote.language, []).append(row)
    return {code: _opinions(code, rows) for code, rows in sorted(heard.items())}


def _opinions(language: str, rows: list[tuple[str, str, str, int, bool]]) -> Opinions:
    ids, firsts, seconds, labels, swapped = zip(*rows, strict=True)
    queries, systems = sorted(set(ids)), sorted({*firsts, *seconds})
    place = {name: k for k, name in enumerate(queries)}
    at_system = {name: k for k, name in enumerate(systems)}
    key = np.array(
        [
            (place[query] * len(systems) + at_system[first]) * len(systems) + at_system[second]
            for query, first, second in zip(ids, firsts, seconds, strict=True)
        ],
        dtype=np.int64,
    )
    battles, battle_of = np.unique(key, return_inverse=True)
    label_of = np.array(labels, dtype=np.intp)
    sign = np.where(np.array(swapped, dtype=bool), -1.0, 1.0)
    pairs, second = np.divmod(battles, len(systems))
    query, first = np.divmod(pairs, len(systems))
    counts = np.bincount(battle_of * 3 + label_of, minlength=3 * len(battles)).reshape(-1, 3).astype(np.float64)
    leaning = np.zeros(len(battles))
    np.add.at(leaning, battle_of, (_POINTS[label_of] - 0.5) * sign)
    return Opinions(language, tuple(queries), tuple(systems), query, first, second, counts, leaning)


def items_of(battles: DecidedBattles, opinions: Mapping[str, Opinions]) -> dict[str, dict[str, Items]]:
    """The battles that each judge decided, of those with opinions, by judge and language."""
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
    """Which of these rows are on a battle with opinions, and the battle's place among those."""
    query = _places(battles.queries, opinions.queries)[battles.query[rows]]
    systems = _places(battles.systems, opinions.systems)
    first, second = systems[battles.first[rows]], systems[battles.second[rows]]
    s = len(opinions.systems)
    known = (opinions.query.astype(np.int64) * s + opinions.first) * s + opinions.second
    key = (query.astype(np.int64) * s + first) * s + second
    place = np.minimum(np.searchsorted(known, key), len(known) - 1)
    there = (query >= 0) & (first >= 0) & (second >= 0) & (known[place] == key)
    return rows[there], place[there]


def _places(names: tuple[str, ...], among: tuple[str, ...]) -> Places:
    """The place of each name among others; -1 where it is not there."""
    place = {name: k for k, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], dtype=np.intp)


def by_query(query: Places, values: Array) -> Array:
    """Q x K: sums over the rows of each query.

    Args:
        query: the query of each row; ascending.
        values: rows x K.
    """
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    return np.add.reduceat(values, starts, axis=0) if len(starts) else values[:0]


def judge_sums(judge: str, items: Items, *, lengths: Lengths, makers: Makers) -> Array:
    """Q x `WIDTH`: what each query adds, of one judge in one language."""
    heard, label_of, rows = items.opinions, items.label, np.arange(len(items))
    sums = np.zeros((len(items), WIDTH))
    for person in _LABELS:
        weight = heard.counts[items.battle, person] / 2
        sums[rows, 3 * person + label_of] += weight
        sums[rows, 3 * swap(person) + _SWAP[label_of]] += weight
    sums[:, COINCIDENCES] = coincidences(heard.counts[items.battle] + np.eye(3)[label_of])
    above = (items.verdict_points - items.people[items.of]) * np.where(items.swapped, -1, 1)
    sums[:, LEANINGS["first"]] = np.bincount(items.of, weights=above, minlength=len(items))
    sums[:, LEANINGS["first"] + 1] = np.bincount(items.of, minlength=len(items))
    first, second = heard.first[items.battle], heard.second[items.battle]
    if lengths:
        ids = [heard.queries[k] for k in items.query]
        sizes = [
            np.array(
                [
                    lengths.get((heard.language, query, heard.systems[k]), np.nan)
                    for query, k in zip(ids, side, strict=True)
                ]
            )
            for side in (first, second)
        ]
        _lean(sums, "length", items.errors, np.nan_to_num(np.sign(sizes[0] - sizes[1])))
    maker = makers.of(judge)
    if maker not in (BASELINE, OTHER):
        own = np.array([makers.of(system) == maker for system in heard.systems], dtype=np.float64)
        _lean(sums, "family", items.errors, own[first] - own[second])
    return by_query(items.query, sums)


_SWAP = np.array([swap(kind) for kind in _LABELS])


def _lean(sums: Array, name: str, errors: Array, side: Array) -> None:
    """Add what the judge gives one side above people; `side` is 1 for the first system, -1 the second, 0 neither."""
    sums[:, LEANINGS[name]] = errors * side
    sums[:, LEANINGS[name] + 1] = np.abs(side)


def people_sums(opinions: Opinions) -> Array:
    """Q x `WIDTH`: the same of people among themselves; every two people who decided a battle are a pair."""
    counts = opinions.counts
    sums = np.zeros((len(counts), WIDTH))
    # Neither of two people is the measure of the other: each is once the person and once the judge.
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(3)
    sums[:, :9] = (pairs + pairs[:, _SWAP][:, :, _SWAP]).reshape(-1, 9) / 4
    sums[:, COINCIDENCES] = coincidences(counts)
    sums[:, LEANINGS["first"]] = opinions.leaning
    sums[:, LEANINGS["first"] + 1] = opinions.n
    return by_query(opinions.query, sums)


def known_sums(
    battles: DecidedBattles, outcomes: pa.Table, *, languages: Iterable[str] | None = None
) -> dict[str, dict[str, Array]]:
    """Known-answer pairs by judge and language, Q x 2: those on which the judge names the right answer, and all.

    A pair is known where relevance labels make one answer right and the other wrong. Both orders count as one decision:
    who is shown first cannot win.

    Args:
        battles: what judges decided.
        outcomes: columns language, query_id, system and correct, one row an answer; null is not known.
        languages: codes; None for all.
    """
    import pyarrow.compute as pc

    rows = outcomes.filter(pc.is_valid(outcomes["correct"]))
    if not len(rows) or not len(battles.judge):
        return {}
    axes = (battles.languages, battles.queries, battles.systems)
    places = []
    for name, among in zip(("language", "query_id", "system"), axes, strict=True):
        names, code = codes(rows[name])
        places.append(_places(names, among)[code].astype(np.int64))
    shape = tuple(map(len, axes))
    there = np.flatnonzero(np.logical_and.reduce([place >= 0 for place in places]))
    if not len(there):
        return {}
    key = np.ravel_multi_index(tuple(place[there] for place in places), shape)
    order = np.argsort(key)
    key, right = key[order], rows["correct"].to_numpy(zero_copy_only=False).astype(np.float64)[there[order]]

    def correct(side: Places) -> Array:
        wanted = np.ravel_multi_index((battles.language, battles.query, side), shape)
        place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(key[place] == wanted, right[place], np.nan)

    first, second = correct(battles.first), correct(battles.second)
    known = np.isfinite(first) & np.isfinite(second) & (first != second)
    hit = battles.label == np.where(first > second, FIRST, SECOND)
    values = np.column_stack([hit, np.ones(len(hit))])
    sums: dict[str, dict[str, Array]] = {}
    for k, language in enumerate(battles.languages):
        if languages is not None and language not in languages:
            continue
        for j, name in enumerate(battles.judges):
            own = known & (battles.language == k) & (battles.judge == j)
            if own.any():
                sums.setdefault(name, {})[language] = by_query(battles.query[own], values[own])
    return sums
