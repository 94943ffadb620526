"""Whether a system lies where the surrogate has seen systems, or beyond; and how much wider its interval must be.

The distance of a system is the largest standardised deviation of its feature means from those of the others, over
features and languages. How large is ordinary is read off the others themselves, each against the rest: of n + 1 systems
drawn alike the new one is the farthest with probability 1 / (n + 1) only. So no form of the features' distribution is
assumed, and eleven features or 18 languages give no more false alarms than one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mirage.surrogate.data import Array, Training, fit_parts

BEYOND = 1.2
"""A system lies outside if it is this many times as far as the farthest of the others, or `FAR` times as far as the
upper quartile of them. Ordinary new systems do in 1 to 8 of 100 cases, with 8 to 19 others and features that are
normal, skewed, shares near 1, heavy-tailed or of two families."""
FAR = 4.0

ALL = "all"
"""Language of the mean over languages."""

_MOST = 1e6
"""Deviation of a value from others that are all equal."""


@dataclass(frozen=True, slots=True)
class Distance:
    """How far a system lies from the others in one language, or on the mean over languages."""

    outside: tuple[str, ...]
    """Features in which it lies outside their range: nothing tells how wrong a prediction is there."""
    stretch: float
    """Times, at least 1, by which its prediction interval is wider than that of an ordinary system: its distance in
    upper quartiles of the others' distances."""


def distances(training: Training, system: str) -> dict[str, Distance]:
    """By language in which the system can be predicted, `all` last where there are several: how far it lies."""
    names = np.array(training.features)
    deviations: dict[str, Array] = {}
    others: dict[str, dict[str, Array]] = {}
    for part in fit_parts(training, [system]):
        language = part.language
        if system not in language.systems:
            continue
        means = np.where(part.use, language.means, 0.0)
        train = np.flatnonzero(part.train)
        deviations[language.code] = _deviations(means[train], means[language.systems.index(system)])
        others[language.code] = {language.systems[k]: _deviations(means[train[train != k]], means[k]) for k in train}
    if not deviations:
        return {}
    # The distance of each of the others is its largest in any language, as the system's is.
    known = sorted({s for by_system in others.values() for s in by_system})
    limit = _limit(
        np.array([max(by_system[s].max() for by_system in others.values() if s in by_system) for s in known])
    )
    result = {
        code: _distance(deviations[code], np.array([d.max() for d in by_system.values()]), limit, names)
        for code, by_system in others.items()
    }
    if len(deviations) > 1:
        means_of = [
            np.mean([by_system[s] for by_system in others.values() if s in by_system], axis=0).max() for s in known
        ]
        result[ALL] = _distance(np.mean(list(deviations.values()), axis=0), np.array(means_of), limit, names)
    return result


def outside(training: Training, system: str) -> dict[str, tuple[str, ...]]:
    """By language: the features in which the system lies outside the range of the others; a prediction extrapolates."""
    return {code: distance.outside for code, distance in distances(training, system).items() if code != ALL}


def _deviations(others: Array, row: Array) -> Array:
    """Deviations of one row (F) from n others, in standard deviations of a new row of theirs."""
    n = len(others)
    mean, spread = others.mean(axis=0), others.std(axis=0, ddof=1) * np.sqrt(1 + 1 / n)
    same = spread <= 1e-9 * np.maximum(np.abs(mean), 1e-9)
    gap = np.abs(row - mean)
    constant = np.where(gap <= 1e-9 * np.maximum(np.abs(mean), 1.0), 0.0, _MOST)
    return np.asarray(np.where(same, constant, np.minimum(gap / np.where(same, 1.0, spread), _MOST)))


def _limit(ordinary: Array) -> float:
    return float(min(BEYOND * ordinary.max(), FAR * np.quantile(ordinary, 0.75)))


def _distance(deviations: Array, ordinary: Array, limit: float, names: Array) -> Distance:
    wide = max(float(np.quantile(ordinary, 0.75)), 1e-9)
    return Distance(tuple(names[deviations > limit].tolist()), max(1.0, float(deviations.max()) / wide))
