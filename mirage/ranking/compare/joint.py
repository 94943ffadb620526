"""Mean difference of two systems over languages that may share queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.compare.paired import ALPHA, PairedEstimate, mean_estimate, paired_estimate, quantile
from mirage.ranking.fit import Array
from mirage.stats.units import Units, joint_spread, spread


@dataclass(frozen=True, eq=False, slots=True)
class LanguageDifferences:
    """Differences of two systems in one language."""

    queries: tuple[str, ...]
    """The Q queries with values of both."""
    values: Array
    """Q: the first system's value minus the second's."""
    strata: NDArray[np.intp]
    """Q: the stratum of each; strata have equal weights."""
    estimate: PairedEstimate
    """Their mean."""


def joint_estimate(languages: Mapping[str, LanguageDifferences], *, reach: float | None) -> PairedEstimate | None:
    """Average over the languages that have a standard error; None if there are none. The reason lists the excluded
    languages.

    Args:
        languages: the differences by code.
        reach: the largest possible difference; None if unbounded.
    """
    known = {code: part for code, part in languages.items() if part.estimate.error is not None}
    units = Units({code: part.queries for code, part in known.items()})
    joint = mean_estimate([part.estimate for part in known.values()], reach=reach)
    if joint is None:
        return None
    if units.shared:
        joint = _parallel(known, units, reach) or _widen_for_shared(known, units, joint, reach)
    without = [f"{code} ({languages[code].estimate.reason})" for code in languages.keys() - known.keys()]
    return replace(joint, reason="the mean is without " + ", ".join(sorted(without))) if without else joint


def _parallel(known: Mapping[str, LanguageDifferences], units: Units, reach: float | None) -> PairedEstimate | None:
    """Return the estimate if all languages have the same queries in the same strata, one value each; otherwise None."""
    total, strata = np.zeros(units.n), []
    for code, part in known.items():
        if len(part.queries) < units.n:
            return None
        of_language = np.empty(units.n, dtype=np.intp)
        of_language[units.numbers[code]] = part.strata
        total[units.numbers[code]] += part.values
        strata.append(of_language)
    cells = np.unique(np.stack(strata), axis=1, return_inverse=True)
    if any(len(np.unique(part.strata)) != cells[0].shape[1] for part in known.values()):
        return None
    return paired_estimate(total / len(known), cells[1].ravel(), reach=reach)


def _widen_for_shared(
    known: Mapping[str, LanguageDifferences], units: Units, joint: PairedEstimate, reach: float | None
) -> PairedEstimate:
    """Widen an estimate that assumes independent languages for the queries they share."""
    moves, strata = {}, {}
    for code, part in known.items():
        groups = tuple(np.flatnonzero(part.strata == k) for k in np.unique(part.strata))
        moves[code], strata[code] = np.empty((len(part.values), 1)), groups
        for rows in groups:
            moves[code][rows, 0] = part.values[rows] / (len(rows) * len(groups) * len(known))
    apart = sum(float(spread(moves[code], strata[code])[0][0]) for code in known)
    variance, below = (float(column[0]) for column in joint_spread(moves, strata, units))
    differing = np.zeros(units.n, dtype=bool)
    for code, part in known.items():
        differing[units.numbers[code]] |= part.values != 0
    if joint.error is None or joint.df is None or joint.low is None or joint.high is None:
        return joint
    # Without any spread, shared queries count once.
    factor = (variance / apart) ** 0.5 if apart > 0 else len(known) ** 0.5
    df = variance**2 / below if below > 0 else joint.df
    wider = factor * quantile(df, 1 - ALPHA / 2) / quantile(joint.df, 1 - ALPHA / 2)
    bound = np.inf if reach is None else reach
    return replace(
        joint,
        error=joint.error * factor,
        df=df,
        low=max(joint.value - wider * (joint.value - joint.low), -bound),
        high=min(joint.value + wider * (joint.high - joint.value), bound),
        p=max(_wider_p(joint.p, wider), min(1.0, 2.0 ** (1 - int(differing.sum())))),
        n_queries=units.n,
        differing=int(differing.sum()),
    )


def _wider_p(p: float, wider: float) -> float:
    """Return the p-value for an interval widened by a factor."""
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(ndtri(p / 2) / wider)) if wider > 0 else p
