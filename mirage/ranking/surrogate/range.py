"""Distance of a system from the training systems: whether the surrogate extrapolates, and the factor on its interval.

The distance of a system is the largest standardised deviation of its feature means from those of the others, over
features and languages. Its ordinary size is estimated from the others, each against the rest: of n + 1 exchangeable
systems the new one is the farthest with probability only 1 / (n + 1). So no distribution of the features is assumed,
and eleven features or 18 languages give no more false alarms than one.
"""

from dataclasses import dataclass

import numpy as np

from mirage.ranking.surrogate.data import Training, fit_parts
from mirage.stats.arrays import Array

BEYOND = 1.2
"""A system is outside if it is this many times as far as the farthest of the others, or `FAR` times as far as their
upper quartile. Ordinary new systems are in 1 to 8 of 100 cases, with 8 to 19 others and features that are normal,
skewed, shares near 1, heavy-tailed or of two families.
"""
FAR = 4.0

ALL = "all"
"""Language of the mean over languages."""

_MOST = 1e6
"""Deviation of a value from others that are all equal."""


@dataclass(frozen=True, slots=True)
class Distance:
    """Distance of a system from the others in one language, or on the mean over languages."""

    outside: tuple[str, ...]
    """Features in which it is outside their range: the error of a prediction there is unknown."""
    stretch: float
    """Factor, at least 1, on the width of its prediction interval: its distance in upper quartiles of the others'
    distances.
    """


def distances(training: Training, system: str) -> dict[str, Distance]:
    """Return the distance of a system by language in which it can be predicted, `all` last if there are several."""
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
    # The distance of each other system is its largest in any language, as for the system itself.
    known = sorted({s for by_system in others.values() for s in by_system})
    ordinary = np.array([max(by_system[s].max() for by_system in others.values() if s in by_system) for s in known])
    limit = float(min(BEYOND * ordinary.max(), FAR * np.quantile(ordinary, 0.75)))
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


def _deviations(others: Array, row: Array) -> Array:
    """Return the deviations of one row (F) from n others, in standard deviations of a new row."""
    n = len(others)
    mean, spread = others.mean(axis=0), others.std(axis=0, ddof=1) * np.sqrt(1 + 1 / n)
    same = spread <= 1e-9 * np.maximum(np.abs(mean), 1e-9)
    gap = np.abs(row - mean)
    constant = np.where(gap <= 1e-9 * np.maximum(np.abs(mean), 1.0), 0.0, _MOST)
    return np.where(same, constant, np.minimum(gap / np.where(same, 1.0, spread), _MOST))


def _distance(deviations: Array, ordinary: Array, limit: float, names: Array) -> Distance:
    wide = max(float(np.quantile(ordinary, 0.75)), 1e-9)
    return Distance(tuple(names[deviations > limit].tolist()), max(1.0, float(deviations.max()) / wide))
