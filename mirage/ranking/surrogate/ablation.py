"""Importance of features for a surrogate, as table `importances`: permutations of single features, and fits with
subsets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from mirage import schema
from mirage.battles.referee import Referee
from mirage.errors import NotEnoughData
from mirage.ranking import surrogate
from mirage.ranking.surrogate.data import fit_parts
from mirage.stages.features import FAMILIES, FEATURES
from mirage.stats.kendall import kendall

GRADES = tuple(name for name, spec in FEATURES.items() if "grade" in spec.needs)
"""Features graded by an LLM."""
KEPT = 7
"""Number of features the paper retains when it drops those of low correlation."""
ABLATIONS = ("All features", "Without LLM-as-judge", "Without low-correlation", "Only LLM-as-judge")
"""The feature sets of MIRAGE-Bench, Table 4."""


def ablation_losses(
    seen: surrogate.Training, regressor: str, referee: Referee, *, seed: int = surrogate.SEED
) -> list[schema.Importance]:
    """Measure a regressor's loss on left-out systems if a feature is permuted or removed.

    Args:
        seen: training data.
        regressor: name of the regressor.
        referee: referee whose ratings are predicted.
        seed: seed of the permutations and of a randomised regressor.

    Returns:
        `permutation`: one row per feature over all languages. `ablation`: one row per language and feature set: the
        paper's four (`ABLATIONS`), and all features without each family that is measured together; a set that equals
        all features of the arena has no value, with the reason.
    """

    def row(code: str, kind: Literal["permutation", "ablation"], of: str, *values: Any) -> schema.Importance:
        return schema.Importance(code, referee.name, referee.skill, regressor, kind, of, *values)

    rows = [
        row(
            surrogate.ALL,
            "permutation",
            importance.feature,
            importance.rise,
            importance.low,
            importance.high,
            importance.systems,
            None,
        )
        for importance in surrogate.importances(seen, regressor, seed=seed)
    ]
    for name, names in sets(seen.features).items():
        try:
            if isinstance(names, str):
                raise NotEnoughData(names)
            taus = tau_by_language(seen, regressor, names, seed)
        except NotEnoughData as error:
            rows.append(row(surrogate.ALL, "ablation", name, None, None, None, 0, error.what))
            continue
        for code, (tau, n) in taus.items():
            reason = None if tau is not None else "two systems left out leave too few, or all ratings are equal"
            rows.append(row(code, "ablation", name, tau, None, None, n, reason))
    return rows


def sets(features: Sequence[str]) -> dict[str, tuple[str, ...] | str | None]:
    """Return the features of each ablation by name; None if they are selected per left-out system; or the reason why
    there are none.
    """
    graded = tuple(f for f in features if f in GRADES)
    free = tuple(f for f in features if f not in GRADES)
    few = f"none is dropped: there are only {len(features)} features"
    ablations: dict[str, tuple[str, ...] | str | None] = {
        "All features": tuple(features),
        "Without LLM-as-judge": (free or "every feature is graded by an LLM") if graded else "no LLM graded a feature",
        "Without low-correlation": None if len(features) > KEPT else few,
        "Only LLM-as-judge": graded or "no LLM graded a feature",
    }
    for family in FAMILIES:
        names = {spec.name for spec in family.specs}
        present = [f for f in features if f in names]
        rest = tuple(f for f in features if f not in names)
        if present and rest and set(present) != set(graded):
            ablations["Without " + ", ".join(present)] = rest
    return ablations


def tau_by_language(
    seen: surrogate.Training, regressor: str, names: tuple[str, ...] | None, seed: int
) -> dict[str, tuple[float | None, int]]:
    """Return Kendall's tau-b over pairs of systems left out together, and the number of systems, by language (`all`
    last).
    """
    if names is not None:
        held_out = surrogate.leave_one_out(seen.only(features=names), regressor, seed=seed)
        return {quality.language: (quality.tau, quality.systems) for quality in held_out.quality()}

    def fit(out: tuple[str, str]) -> surrogate.Predicted:
        try:
            return surrogate.predict(seen.only(features=strongest(seen, out)), regressor, out=out, seed=seed)
        except NotEnoughData:
            return {}

    pair_predictions = surrogate.apart_by(seen, fit)
    ratings = {
        code: {
            s: float(r) for s, r in zip(language.systems, language.ratings(frozenset()), strict=True) if np.isfinite(r)
        }
        for code, language in seen.languages.items()
    }
    taus: dict[str, tuple[float | None, int]] = {}
    for code in [*sorted(seen.languages), *[surrogate.ALL] * (len(seen.languages) > 1)]:
        codes = sorted(seen.languages) if code == surrogate.ALL else [code]
        systems = sorted(set.intersection(*(set(ratings[language]) for language in codes)))
        true = np.array([np.mean([ratings[language][s] for language in codes]) for s in systems])
        contributions = (
            surrogate.tau_parts(surrogate.square(pair_predictions, systems, codes), true)
            if len(systems) > 1
            else np.array([np.nan])
        )
        taus[code] = (float(contributions.mean()) if np.isfinite(contributions).all() else None), len(systems)
    return taus


def strongest(seen: surrogate.Training, without: Collection[str]) -> tuple[str, ...]:
    """Return the `KEPT` features whose means order the other systems most like their ratings do (absolute tau, mean
    over languages), without using the systems left out.
    """
    strength: Mapping[str, list[float]] = {name: [] for name in seen.features}
    for part in fit_parts(seen, without):
        for f, name in enumerate(seen.features):
            if part.use[f]:
                tau = abs(float(kendall(part.language.means[part.train, f], part.y[part.train])))
                strength[name].append(tau if np.isfinite(tau) else 0.0)
    mean = {name: float(np.mean(values)) if values else 0.0 for name, values in strength.items()}
    return tuple(sorted(sorted(seen.features, key=lambda name: -mean[name])[:KEPT], key=seen.features.index))
