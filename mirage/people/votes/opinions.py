"""Decisions of people and judges on the same battles, and the coefficients of their agreement as functions of sums by
query, for the agreement on battles (`agreement.py`) and the exam of judges (`mirage.people.exam`).

The naming of the two systems is arbitrary, so every battle counts half from either side: no coefficient changes when
systems are renamed.

All data are columns: an arena can have tens of thousands of battles, and a page waits for its exam.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND, TIE, DecidedBattles, points, swap
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import battle, label
from mirage.stats.arrays import Array, Flags, Places
from mirage.stats.encoding import place_names
from mirage.stats.jackknife import Statistic

if TYPE_CHECKING:
    import pyarrow as pa

ENOUGH = 30
"""Number of queries from which the figures are reliable; with fewer a badge is grey."""
WIDTH = 15
"""Number of sums per query: the 3 x 3 table, 4 sums of alpha, and sum and count of the leaning to the first answer."""
FIRST_SHOWN = 13
"""Index of the leaning's sum; its count follows."""
_SWAP = np.array([swap(kind) for kind in (FIRST, SECOND, TIE)])
_POINTS = np.array([points(kind) for kind in range(3)])


@dataclass(frozen=True, eq=False)
class Opinions:
    """V opinions of people on the B battles of one language that have any, sorted by query, then systems."""

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
    of: Places
    """V: index of the battle; ascending, on a battle by the voter's name."""
    label: Places
    """V: `FIRST`, `SECOND` or `TIE`."""
    swapped: Flags
    """V: whether the second system's answer was shown first."""
    voter: NDArray[np.str_]
    """V: who voted."""
    both_bad: Flags
    """V: whether both answers are bad."""
    skipped: int = 0
    """Votes without an opinion."""

    @cached_property
    def _single(self) -> Array:
        """V x 3: the kind of each opinion."""
        return np.eye(3)[self.label]

    def _by_battle(self, values: Array) -> Array:
        """Sum values of opinions by battle."""
        sums = np.zeros((len(self.query), *values.shape[1:]))
        np.add.at(sums, self.of, values)
        return sums

    @cached_property
    def counts(self) -> Array:
        """B x 3: number of people for `FIRST`, `SECOND` and `TIE`."""
        return self._by_battle(self._single)

    @property
    def leaning(self) -> Array:
        """B: sum over people of the points for the answer shown first minus one half."""
        return self._by_battle((_POINTS[self.label] - 0.5) * np.where(self.swapped, -1.0, 1.0))

    @property
    def pairs(self) -> Array:
        """B x 3 x 3: every two people on a battle, in the order of their names."""
        earlier = np.cumsum(self._single, axis=0) - self._single
        start = np.searchsorted(self.of, self.of)
        return self._by_battle((earlier - earlier[start])[:, :, None] * self._single[:, None, :])

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
    swapped: Flags
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
        return self.opinions.points[self.battle]


def opinions_of(votes: Iterable[Vote]) -> dict[str, Opinions]:
    """Return the opinions of valid votes, by language."""
    by_language: dict[str, list[Vote]] = {}
    for vote in votes:
        by_language.setdefault(vote.language, []).append(vote)
    return {code: _opinions(code, rows) for code, rows in sorted(by_language.items())}


def _opinions(language: str, votes: Sequence[Vote]) -> Opinions:
    import pandas as pd

    columns = ["query", "first", "second", "voter", "label", "swapped", "bad"]
    rows = [
        (*battle(vote)[1:], vote.voter, opinion, vote.system_a > vote.system_b, vote.vote == "both_bad")
        for vote in votes
        if (opinion := label(vote)) is not None
    ]
    heard = pd.DataFrame(sorted(rows), columns=columns)
    battles = heard.drop_duplicates(columns[:3])
    queries = tuple(battles["query"].unique())
    systems = tuple(sorted({*battles["first"], *battles["second"]}))
    return Opinions(
        language,
        queries,
        systems,
        place_names(battles["query"], queries),
        place_names(battles["first"], systems),
        place_names(battles["second"], systems),
        np.asarray(heard.groupby(columns[:3], sort=False).ngroup(), dtype=np.intp),
        heard["label"].to_numpy(np.intp),
        heard["swapped"].to_numpy(bool),
        heard["voter"].to_numpy(str),
        heard["bad"].to_numpy(bool),
        len(votes) - len(rows),
    )


def judge_opinions(battles: DecidedBattles, judge: int) -> dict[str, Opinions]:
    """Return the decisions of a judge as opinions, by language."""
    found = {}
    for k, code in enumerate(battles.languages):
        own = np.flatnonzero((battles.judge == judge) & (battles.language == k))
        nothing = np.zeros(len(own), dtype=bool)
        about = code, battles.queries, battles.systems, battles.query[own], battles.first[own], battles.second[own]
        name = np.full(len(own), battles.judges[judge])
        found[code] = Opinions(*about, np.arange(len(own)), battles.label[own].astype(np.intp), nothing, name, nothing)
    return found


def items_of(battles: DecidedBattles, opinions: Mapping[str, Opinions]) -> dict[str, dict[str, Items]]:
    """Return the battles decided by each judge among those with opinions, by judge and language."""
    items: dict[str, dict[str, Items]] = {name: {} for name in battles.judges}
    for k, code in enumerate(battles.languages):
        if code not in opinions or not len(opinions[code].of):
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
                battles.verdict_swapped[verdicts],
            )
    return {name: by_language for name, by_language in items.items() if by_language}


def _in_common(battles: DecidedBattles, rows: Places, opinions: Opinions) -> tuple[Places, Places]:
    """Return the rows among these that are on a battle with opinions, and the battle's index there."""
    query = place_names(battles.queries, opinions.queries)[battles.query[rows]]
    systems = place_names(battles.systems, opinions.systems)
    wanted = (query, systems[battles.first[rows]], systems[battles.second[rows]])
    place = _find(wanted, (opinions.query, opinions.first, opinions.second))
    return rows[place >= 0], place[place >= 0]


def _find(wanted: Sequence[Places], known: Sequence[Places]) -> Places:
    """Return the row of each wanted combination of indices among the known ones; -1 if absent."""
    import pandas as pd

    place: Places = pd.MultiIndex.from_arrays(known).get_indexer(pd.MultiIndex.from_arrays(wanted))
    return place


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
    people, judge = items.opinions.counts[items.battle], np.eye(3)[items.label]
    sums = battle_sums(people[:, :, None] * judge[:, None, :], people + judge)
    above = (items.verdict_points - items.people[items.of]) * np.where(items.swapped, -1, 1)
    sums[:, FIRST_SHOWN] = np.bincount(items.of, weights=above, minlength=len(items))
    sums[:, FIRST_SHOWN + 1] = np.bincount(items.of, minlength=len(items))
    return by_query(items.query, sums)


def people_sums(opinions: Opinions) -> Array:
    """Return each query's contribution of people among themselves (Q x `WIDTH`); every two people on a battle are a
    pair, and neither of them is the reference: each is half the person and half the judge.
    """
    pairs = opinions.pairs
    sums = battle_sums((pairs + pairs.transpose(0, 2, 1)) / 2, opinions.counts)
    sums[:, FIRST_SHOWN], sums[:, FIRST_SHOWN + 1] = opinions.leaning, opinions.n
    return by_query(opinions.query, sums)


def known_sums(battles: DecidedBattles, outcomes: pa.Table) -> dict[str, dict[str, Array]]:
    """Count known-answer pairs by judge and language (Q x 2): those the judge decides correctly, and all.

    A pair is known if relevance labels make one answer correct and the other wrong. Both orders count as one decision,
    so that position bias cannot win.

    Args:
        battles: the judges' decisions.
        outcomes: columns language, query_id, system and correct, one row per answer; null if unknown.
    """
    import pandas as pd

    key = ["language", "query_id", "system"]
    right = outcomes.to_pandas().dropna(subset=["correct"]).drop_duplicates(key).set_index(key)["correct"]
    of, query, *sides = (np.array(names, dtype=object)[column] for names, column in battles.coded[1:])
    first, second = (
        right.astype(float).reindex(pd.MultiIndex.from_arrays([of, query, side])).to_numpy() for side in sides
    )
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


# --- coefficients, as functions of sums over queries ------------------------------------------------------------------


def ratio(a: Array, b: Array) -> Array:
    """Return the quotient, NaN for a denominator of 0."""
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=np.abs(b) > 1e-9))


def kappas(tables: Array) -> Array:
    """Return Cohen's kappa of B contingency tables of two observers (B x C x C).

    Source: Cohen, Educational and Psychological Measurement 20 (1960).
    """
    n, chance = tables.sum(axis=(1, 2)), (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    return ratio(n * np.trace(tables, axis1=1, axis2=2) - chance, n**2 - chance)


def coincidences(counts: Array) -> Array:
    """Return each unit's observed disagreement and its counts (U x (1 + C)); zeros if nothing can be compared."""
    m = counts.sum(axis=1)
    two = m > 1
    disagreement = np.where(two, (m**2 - (counts**2).sum(axis=1)) / np.where(two, m - 1, 1), 0)
    return np.column_stack([disagreement, counts * two[:, None]])


def alphas(sums: Array) -> Array:
    """Return Krippendorff's alpha for nominal values of B data sets; NaN if no two values differ or can be compared.

    Args:
        sums: B x (1 + C) sums of `coincidences`.

    Source: Krippendorff, Content Analysis, 4th ed. (2018), ch. 12: 1 - observed / expected disagreement.
    """
    n = sums[:, 1:].sum(axis=1)
    expected = n**2 - (sums[:, 1:] ** 2).sum(axis=1)
    return 1 - ratio((n - 1) * sums[:, 0], expected)


def battle_sums(tables: Array, counts: Array) -> Array:
    """Return each battle's sums, without any leaning (B x `WIDTH`).

    Args:
        tables: B x 3 x 3: pairs of opinions.
        counts: B x 3: number of opinions of each kind.
    """
    units = coincidences(counts)
    both = (tables + tables[:, _SWAP][:, :, _SWAP]) / 2, (units + units[:, [0, *_SWAP + 1]]) / 2
    return np.column_stack([both[0].reshape(-1, 9), both[1], np.zeros((len(tables), 2))])


def _table(sums: Array) -> Array:
    return sums[:, :9].reshape(-1, 3, 3)


def _pairs(sums: Array) -> Array:
    return np.asarray(sums[:, :9].sum(axis=1))


def _leanings(sums: Array) -> Array:
    return sums[:, FIRST_SHOWN + 1]


STATISTICS: Mapping[str, tuple[Statistic, Statistic]] = {
    "agree": (lambda sums: ratio(np.trace(_table(sums), axis1=1, axis2=2), _pairs(sums)), _pairs),
    "kappa": (lambda sums: kappas(_table(sums)), _pairs),
    "alpha": (lambda sums: alphas(sums[:, 9:FIRST_SHOWN]), _pairs),
    "first": (lambda sums: ratio(sums[:, FIRST_SHOWN], _leanings(sums)), _leanings),
}
"""Value and sample size of each coefficient, as functions of B x `WIDTH` sums."""
