"""Which features a regressor rests on: what its held-out error loses when a feature tells nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mirage.surrogate.data import Array, Language, Training
from mirage.surrogate.evaluate import LEVEL
from mirage.surrogate.regressors import SEED, predict


@dataclass(frozen=True, slots=True)
class Importance:
    """What one feature is worth to one regressor."""

    feature: str
    """The feature."""
    regressor: str
    """The regressor."""
    rise: float
    """Rise of the mean squared error of left-out systems, in squared logits, when the feature's values are those of
    another system; 0 or less: the regressor does without it."""
    low: float
    """Lower end of the 95% interval of the rise (Student's t, the left-out system as the unit)."""
    high: float
    """Upper end."""
    systems: int
    """n: systems left out."""


def importances(training: Training, name: str, *, shuffles: int = 5, seed: int = SEED) -> tuple[Importance, ...]:
    """Permutation importances on left-out systems (Breiman, Machine Learning 45, 2001), from the largest down.

    For each left-out system the fit is made once; then the system takes each feature's replies from another system
    drawn at random, in all languages alike, and is predicted again. The published program reads a forest's in-sample
    impurities instead (MIRAGE-Bench, Figure 5).

    Args:
        training: the material.
        name: the regressor.
        shuffles: other systems drawn for each left-out system and feature.
        seed: seed of the draws, and of a regressor that draws.
    """
    systems = training.systems
    rng = np.random.default_rng(seed)
    rises = np.zeros((len(systems), len(training.features)))
    for k, system in enumerate(systems):
        donors = rng.permutation([s for s in systems if s != system])[:shuffles].tolist()
        # Copies of the system under other names are predicted by one and the same fit.
        copies = [(f, donor) for f in range(len(training.features)) for donor in donors]
        widened = Training(
            training.features, {code: _with_copies(one, system, copies) for code, one in training.languages.items()}
        )
        names = [_copy_name(n) for n in range(len(copies))]
        made = predict(widened, name, out=[system, *(n for n in names if n in set(widened.new))], seed=seed)
        base, moved, counted = 0.0, np.zeros(len(copies)), 0
        for code, values in made.items():
            one = training.languages[code]
            if system not in one.systems:
                continue
            at = one.systems.index(system)
            theta = one.ratings(frozenset())
            if not (np.isfinite(theta[at]) and np.isfinite(values[at])):
                continue
            true = theta[at] - float(np.nanmean(np.delete(theta, at)))
            counted += 1
            base += float((true - values[at]) ** 2)
            moved += (true - values[len(one.systems) :]) ** 2
        if counted:
            rises[k] = (moved - base).reshape(len(training.features), len(donors)).mean(axis=1) / counted
    mean = rises.mean(axis=0)
    half = _half(rises)
    found = [
        Importance(feature, name, float(m), float(m - h), float(m + h), len(systems))
        for feature, m, h in zip(training.features, mean, half, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (-one.rise, one.feature)))


def _copy_name(number: int) -> str:
    return f"\uffff{number:06}"  # sorts after any name, so that the copies stand last


def _with_copies(one: Language, system: str, copies: list[tuple[int, str]]) -> Language:
    """The language with copies of a system, each with one feature from another system."""
    if system not in one.systems:
        return one
    mine = one.values[:, one.systems.index(system)]
    added = np.repeat(mine[:, None], len(copies), axis=1)
    for n, (f, donor) in enumerate(copies):
        if donor in one.systems:
            added[:, n, f] = one.values[:, one.systems.index(donor), f]
    extra, s = len(copies), len(one.systems)
    points = np.zeros((len(one.points), s + extra, s + extra), dtype=one.points.dtype)
    points[:, :s, :s] = one.points
    names = frozenset(one.systems)

    def ratings(out: frozenset[str]) -> Array:
        return np.concatenate([one.ratings(out & names), np.full(extra, np.nan)])

    return replace(
        one,
        systems=(*one.systems, *(_copy_name(n) for n in range(extra))),
        values=np.concatenate([one.values, added], axis=1),
        points=points,
        ratings=ratings,
    )


def _half(rises: Array) -> Array:
    from scipy.special import stdtrit

    n = len(rises)
    return np.asarray(stdtrit(n - 1, (1 + LEVEL) / 2) * rises.std(axis=0, ddof=1) / np.sqrt(n))
