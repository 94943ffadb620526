"""The surrogate judge on an arena: features and battles joined, predictions made, a new system placed.

seen = training(features, verdicts, "gpt-4o")           # surrogate.Training
found = report(seen, referee="gpt-4o")                  # Report: regressors side by side, the default, predictions
found.table()                                           # schema.Prediction
expected(seen, "my-model", regressor="pooled")          # {language: Expected}: rating, interval, rank
by_tournament(features, verdicts, "gpt-4o")             # {language: surrogate.Draws}, for `surrogate.by_draw`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage import rank, schema, surrogate
from mirage.errors import BadInput, NotEnoughData
from mirage.pipeline.ranking import battles_of
from mirage.rank.bootstrap import query_weights
from mirage.rank.by_query import by_query
from mirage.rank.fit import RIDGE, Pairs, fit
from mirage.rank.graph import groups, main_group
from mirage.surrogate.data import Array

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], None]

_FAR = 3.0
"""Logits from the median beyond which it is looked up whether the data bounds a rating: no bounded one of fewer than
about 3,000 battles lies there."""


def training(
    features: pa.Table,
    verdicts: pa.Table,
    referee: str,
    *,
    skill: schema.Skill = "both",
    parser: schema.Parser = "strict",
    languages: Sequence[str] | None = None,
    ties: schema.Ties = "half",
) -> surrogate.Training:
    """Join features with the battles of a referee.

    Args:
        features: table `features`. Systems without a battle are new: they are only predicted.
        verdicts: `outcomes` if the referee is `relevance`, else `judgments`.
        referee: `relevance`, or a judge's name.
        skill: which questions count; a judge has only `both`.
        parser: whose outcomes decide, by relevance.
        languages: codes; None for all that have both.
        ties: half a win for each, or dropped.

    Raises:
        NotEnoughData: if no language has both features and battles.
        BadInput: if ties are to be modelled.
    """
    battles = _battles(verdicts, referee, skill, parser, languages, ties)
    names, values = _values(features, battles)
    if not values:
        raise NotEnoughData(
            f"no system that {referee} judged has a feature on the questions judged",
            do="measure them: mirage features DIR",
        )
    found = {code: _language(battles[code], code, *values[code], ties) for code in sorted(values)}
    return surrogate.Training(names, found)


def by_tournament(
    features: pa.Table,
    verdicts: pa.Table,
    referee: str,
    *,
    skill: schema.Skill = "both",
    languages: Sequence[str] | None = None,
    draws: int = rank.DRAWS,
    seed: int = rank.SEED,
) -> dict[str, surrogate.Draws]:
    """Feature means and ratings of every bootstrap draw, both over the same resample of the questions.

    Args:
        features: table `features`.
        verdicts: `outcomes` or `judgments`.
        referee: who judged.
        skill: which questions count.
        languages: codes; None for all that have both.
        draws: how many.
        seed: seed of the draws, as in `rank.rate`.

    Raises:
        NotEnoughData: if no language has both features and battles.
    """
    battles = _battles(verdicts, referee, skill, "strict", languages, "half")
    names, values = _values(features, battles)
    if not values:
        raise NotEnoughData(f"no system that {referee} judged has a feature", do="measure them: mirage features DIR")
    ranked = rank.rate({code: battles[code] for code in values}, draws=draws, seed=seed)
    found = {}
    for code, (systems, cells) in sorted(values.items()):
        rated = ranked.languages[code]
        kept = [k for k, s in enumerate(systems) if s in rated.systems]
        weights = query_weights(code, battles[code], draws=draws, seed=seed).astype(np.float64)
        theta = rated.draws[:, [rated.systems.index(systems[k]) for k in kept]]
        found[code] = surrogate.Draws(
            tuple(systems[k] for k in kept),
            names,
            surrogate.averages(cells[:, kept], weights),
            theta - theta.mean(axis=1, keepdims=True),
        )
    return found


def _battles(
    verdicts: pa.Table,
    referee: str,
    skill: schema.Skill,
    parser: schema.Parser,
    languages: Sequence[str] | None,
    ties: schema.Ties,
) -> Mapping[str, rank.Battles]:
    if ties == "davidson":
        raise BadInput("a surrogate learns from ties as half a win, or not at all", do="use --ties half or drop")
    return battles_of(verdicts, referee, skill=skill, parser=parser, languages=languages)


def _values(
    features: pa.Table, battles: Mapping[str, rank.Battles]
) -> tuple[tuple[str, ...], dict[str, tuple[tuple[str, ...], Array]]]:
    """Names of the features that have a value somewhere, and by language the systems and Q x S x F values."""
    import pyarrow.compute as pc

    rows = features.filter(pc.is_valid(features["value"]))
    names = tuple(sorted(pc.unique(rows["feature"]).to_pylist()))
    at_feature = _place(rows["feature"], names)
    found = {}
    for code, fought in battles.items():
        mine = pc.equal(rows["language"], code)
        here = rows.filter(mine)
        query = _place(here["query_id"], fought.queries)
        systems = tuple(sorted(pc.unique(here["system"]).to_pylist()))
        if not len(here) or not set(systems) & set(fought.systems):
            continue
        cells = np.full((len(fought.queries), len(systems), len(names)), np.nan)
        kept = query >= 0
        feature = at_feature[mine.to_numpy(zero_copy_only=False)]
        cells[query[kept], _place(here["system"], systems)[kept], feature[kept]] = here["value"].to_numpy()[kept]
        found[code] = (systems, cells)
    return names, found


def _place(column: Any, values: Sequence[str]) -> NDArray[np.intp]:
    """Each row's place among some values; -1 where it is none of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.fill_null(pc.index_in(column, value_set=pa.array(values, column.type)), -1)
    return np.asarray(found.to_numpy(), dtype=np.intp)


def _language(
    fought: rank.Battles, code: str, systems: tuple[str, ...], values: Array, ties: schema.Ties
) -> surrogate.Language:
    refits = _Refits(fought, ties, systems)
    points = np.zeros((len(fought.queries), len(systems), len(systems)), dtype=np.float32)
    both = [s for s in systems if s in fought.systems]
    to, at = (np.array([names.index(s) for s in both]) for names in (systems, fought.systems))
    points[:, to[:, None], to] = fought.shared(ties)[:, at[:, None], at]
    return surrogate.Language(code, systems, values, refits.weights, fought.strata, points, refits, refits.offset)


class _Refits:
    """Ratings without the battles of some systems, each set fitted once; sets of one, or of two, all in one batch."""

    def __init__(self, fought: rank.Battles, ties: schema.Ties, systems: tuple[str, ...]) -> None:
        each = by_query(fought, ties=ties, penalty="jeffreys", ridge=RIDGE)
        self.weights = each.weights
        self._all = fought.systems
        self._systems = systems
        self._first, self._second = each.counted.first, each.counted.second
        self._prior = each.prior.added if each.prior else np.zeros_like(self._first[0])
        self._known: dict[frozenset[str], Array] = {}
        own = dict(zip(fought.systems, each.point[0][: len(fought.systems)], strict=True))
        rated = [s for s, r in zip(systems, self(frozenset()), strict=True) if np.isfinite(r)]
        self.offset = float(np.mean([own[s] for s in rated])) if rated else 0.0

    def __call__(self, out: frozenset[str]) -> Array:
        out &= frozenset(self._all)
        if out not in self._known:
            self._fit([frozenset(c) for c in combinations(self._all, len(out))] if len(out) <= 2 else [out])
        return self._known[out]

    def _fit(self, sets: list[frozenset[str]], at_once: int = 500) -> None:
        i, j = np.triu_indices(len(self._all), 1)
        for start in range(0, len(sets), at_once):
            some = sets[start : start + at_once]
            there = np.array([[s not in out for s in self._all] for out in some])
            kept = there[:, i] & there[:, j]
            pairs = Pairs(self._first * kept, self._second * kept, None, len(self._all))
            added = kept * self._prior
            reduced = Pairs(pairs.first + added, pairs.second + added, None, pairs.systems)
            theta = np.where(there, fit(reduced).theta, np.nan)
            fights = np.zeros(there.shape)
            np.add.at(fights.T, i, (pairs.first + pairs.second).T)
            np.add.at(fights.T, j, (pairs.first + pairs.second).T)
            theta[fights == 0] = np.nan
            for row, out in enumerate(some):
                self._known[out] = self._wanted(theta[row], pairs, row)

    def _wanted(self, theta: Array, pairs: Pairs, row: int) -> Array:
        """The ratings that the data bounds, of the systems with features, centred on 0."""
        found = np.isfinite(theta)
        if found.any() and np.abs(theta - np.median(theta[found])).max(where=found, initial=0.0) > _FAR:
            one = Pairs(pairs.first[row][None], pairs.second[row][None], None, pairs.systems)
            fighting = tuple(group for group in groups(self._all, one) if found[self._all.index(group[0])])
            bounded = set(main_group(fighting)) if fighting else set()
            theta = np.array([t if s in bounded else np.nan for s, t in zip(self._all, theta, strict=True)])
        by_name = dict(zip(self._all, theta, strict=True))
        wanted = np.array([by_name.get(s, np.nan) for s in self._systems])
        return wanted - np.nanmean(wanted) if np.isfinite(wanted).any() else wanted
