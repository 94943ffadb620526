"""The surrogate judge on an arena: features and battles joined, predictions made, a new system placed.

seen = training(features, verdicts, "gpt-4o")           # surrogate.Training
found = report(seen, referee="gpt-4o")                  # Report: regressors side by side, the default, predictions
found.table()                                           # schema.Prediction
expected(seen, "my-model", regressor="pooled")          # {language: Expected}: rating, interval, rank
by_tournament(features, verdicts, "gpt-4o")             # {language: surrogate.Draws}, for `surrogate.by_draw`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import mirage.rank as rank
from mirage import schema, surrogate
from mirage.errors import BadInput, NotEnoughData
from mirage.pipeline.ranking import battles_of
from mirage.rank.bootstrap import query_weights
from mirage.rank.by_query import by_query
from mirage.rank.fit import RIDGE
from mirage.rank.graph import groups, main_group
from mirage.surrogate.data import Array

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], None]


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
    """Ratings without the battles of some systems, each set fitted once."""

    def __init__(self, fought: rank.Battles, ties: schema.Ties, systems: tuple[str, ...]) -> None:
        self._fought, self._ties = fought, ties
        self._systems = systems
        self._known: dict[frozenset[str], Array] = {}
        each = by_query(fought, ties=ties, penalty="jeffreys", ridge=RIDGE)
        self.weights = each.weights
        own = dict(zip(fought.systems, each.point[0][: len(fought.systems)], strict=True))
        rated = [s for s, r in zip(systems, self(frozenset()), strict=True) if np.isfinite(r)]
        self.offset = float(np.mean([own[s] for s in rated])) if rated else 0.0

    def __call__(self, out: frozenset[str]) -> Array:
        out &= frozenset(self._fought.systems)
        if out not in self._known:
            with rank.one_thread():
                self._known[out] = self._wanted(out)
        return self._known[out]

    def _wanted(self, out: frozenset[str]) -> Array:
        """The ratings that the data bounds, of the systems with features, centred on 0: those of a ranking that never
        saw the systems left out, their share in the prior and the dispersion too.
        """
        left = [s for s in self._fought.systems if s not in out]
        by_name: dict[str, float] = {}
        if len(left) > 1:
            battles = self._fought.subset(left)
            laid = by_query(battles, ties=self._ties, penalty="jeffreys", ridge=RIDGE)
            fighting = {s for s, n in zip(battles.systems, battles.questions().tolist(), strict=True) if n}
            met = tuple(group for group in groups(battles.systems, laid.counted) if set(group) <= fighting)
            bounded = set(main_group(met)) if met else set()
            by_name = {s: float(t) for s, t in zip(battles.systems, laid.point[0], strict=False) if s in bounded}
        wanted = np.array([by_name.get(s, np.nan) for s in self._systems])
        return wanted - np.nanmean(wanted) if np.isfinite(wanted).any() else wanted
