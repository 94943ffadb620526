"""Training data of the surrogate judge, joined from an arena's features and battles.

judge = VerdictJudge("gpt-4o")
seen = training(features, verdicts, judge)            # Training
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage.battles.counts import Battles
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.by_query import by_query
from mirage.ranking.graph import groups, main_group
from mirage.ranking.judges import Judge
from mirage.ranking.surrogate.data import LanguageData, Training
from mirage.ranking.threads import one_thread
from mirage.stats.arrays import Array, Places

if TYPE_CHECKING:
    import pyarrow as pa


LARGEST = 1e30
"""Absolute feature values beyond this are rejected: regressions use single precision."""


def training(
    features: pa.Table,
    verdicts: pa.Table,
    judge: Judge,
    *,
    languages: Sequence[str] | None = None,
) -> Training:
    """Join features with the battles of a judge.

    Args:
        features: table `features`. Systems without a battle are new: they are only predicted.
        verdicts: the judge's table, `outcomes` or `judgments`.
        judge: judge whose ratings are predicted.
        languages: codes; None for all that have both.

    Raises:
        NotEnoughData: if no language has both features and battles.
        BadInput: if a feature value is too large.
    """
    battles = judge.battles(verdicts, languages=languages)
    names, values = _values(features, battles)
    if not values:
        raise NotEnoughData(
            f"no system that {judge.name} judged has a feature on the queries judged",
            do="measure them: mirage measure features DIR",
        )
    joined = {code: _language(battles[code], code, *values[code]) for code in sorted(values)}
    return Training(names, joined)


def _values(
    features: pa.Table, battles: Mapping[str, Battles]
) -> tuple[tuple[str, ...], dict[str, tuple[tuple[str, ...], Array]]]:
    """Return the names of the features with values, and by language the systems and Q x S x F values."""
    import pyarrow.compute as pc

    rows = features.filter(pc.is_valid(features["value"]))
    huge = rows.filter(pc.greater(pc.abs(rows["value"]), LARGEST)).slice(0, 1).to_pylist()
    if huge:
        raise BadInput(
            f"{huge[0]['feature']} = {huge[0]['value']:g} is too large for a regression (more than {LARGEST:g})",
            where=", ".join(f"{name}={huge[0][name]}" for name in ("language", "query_id", "system")),
            do="correct the value, or leave it empty",
        )
    names = tuple(sorted(pc.unique(rows["feature"]).to_pylist()))
    at_feature = _place(rows["feature"], names)
    by_language = {}
    for code, language_battles in battles.items():
        in_language = pc.equal(rows["language"], code)
        table = rows.filter(in_language)
        query = _place(table["query_id"], language_battles.queries)
        systems = tuple(sorted(pc.unique(table["system"]).to_pylist()))
        if not len(table) or not set(systems) & set(language_battles.systems):
            continue
        cells = np.full((len(language_battles.queries), len(systems), len(names)), np.nan)
        known = query >= 0
        feature = at_feature[in_language.to_numpy(zero_copy_only=False)]
        cells[query[known], _place(table["system"], systems)[known], feature[known]] = table["value"].to_numpy()[known]
        by_language[code] = (systems, cells)
    return names, by_language


def _place(column: Any, values: Sequence[str]) -> Places:
    """Return each row's index among the values; -1 if it is not one of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    positions = pc.fill_null(pc.index_in(column, value_set=pa.array(values, column.type)), -1)
    return np.asarray(positions.to_numpy(), dtype=np.intp)


def _language(battles: Battles, code: str, systems: tuple[str, ...], values: Array) -> LanguageData:
    refits = _Refits(battles, systems)
    points = np.zeros((len(battles.queries), len(systems), len(systems)), dtype=np.float32)
    both = [s for s in systems if s in battles.systems]
    target, source = (np.array([names.index(s) for s in both]) for names in (systems, battles.systems))
    points[:, target[:, None], target] = battles.shared("half")[:, source[:, None], source]
    return LanguageData(code, systems, values, refits.weights, battles.strata, points, refits, refits.offset)


class _Refits:
    """Ratings without the battles of some systems, cached by set."""

    def __init__(self, battles: Battles, systems: tuple[str, ...]) -> None:
        self._battles, self._systems = battles, systems
        self._known: dict[frozenset[str], Array] = {}
        fitted = by_query(battles)
        self.weights = fitted.weights
        ratings = dict(zip(battles.systems, fitted.point[0][: len(battles.systems)], strict=True))
        rated = [s for s, r in zip(systems, self(frozenset()), strict=True) if np.isfinite(r)]
        self.offset = float(np.mean([ratings[s] for s in rated])) if rated else 0.0

    def __call__(self, out: frozenset[str]) -> Array:
        out &= frozenset(self._battles.systems)
        if out not in self._known:
            with one_thread():
                self._known[out] = self._refit(out)
        return self._known[out]

    def _refit(self, out: frozenset[str]) -> Array:
        """Return the bounded ratings of systems with features, centred on 0: those of a ranking without the systems
        left out, including their share in the prior and the dispersion.
        """
        left = [s for s in self._battles.systems if s not in out]
        by_name: dict[str, float] = {}
        if len(left) > 1:
            battles = self._battles.subset(left)
            fitted = by_query(battles)
            present = {s for s, n in zip(battles.systems, battles.queries_by_system().tolist(), strict=True) if n}
            linked_groups = tuple(group for group in groups(battles.systems, fitted.counted) if set(group) <= present)
            bounded = set(main_group(linked_groups)) if linked_groups else set()
            by_name = {s: float(t) for s, t in zip(battles.systems, fitted.point[0], strict=False) if s in bounded}
        ratings = np.array([by_name.get(s, np.nan) for s in self._systems])
        return ratings - np.nanmean(ratings) if np.isfinite(ratings).any() else ratings
