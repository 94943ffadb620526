"""The mean over languages of the difference of two systems by values, where languages may share queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mirage.comparison.paired import ALPHA, PairedEstimate, mean_estimate, paired_estimate, quantile
from mirage.rank.fit import Array
from mirage.units import Units, joint_spread, spread


@dataclass(frozen=True, eq=False, slots=True)
class LanguageDifferences:
    """The differences of two systems in one language."""

    queries: tuple[str, ...]
    """The Q queries of both."""
    values: Array
    """Q: the first system's value less the second's."""
    strata: NDArray[np.intp]
    """Q: the stratum of each, strata weighing the same."""
    estimate: PairedEstimate
    """Their mean."""


def joint_estimate(languages: Mapping[str, LanguageDifferences], *, reach: float | None) -> PairedEstimate | None:
    """The plain mean over the languages that have a standard error; None where none has. Its reason names the others.

    Args:
        languages: the differences by code.
        reach: the largest difference that is possible; None where there is none.
    """
    known = {code: part for code, part in languages.items() if part.estimate.error is not None}
    units = Units({code: part.queries for code, part in known.items()})
    joint = mean_estimate([part.estimate for part in known.values()], reach=reach)
    if joint is None:
        return None
    if units.shared:
        joint = _parallel(known, units, reach) or _correlated(known, units, joint, reach)
    without = [f"{code} ({languages[code].estimate.reason})" for code in languages.keys() - known.keys()]
    return replace(joint, reason="the mean is without " + ", ".join(sorted(without))) if without else joint


def _parallel(known: Mapping[str, LanguageDifferences], units: Units, reach: float | None) -> PairedEstimate | None:
    """The estimate over queries that stand in all languages, in the same strata: one value each; None for others."""
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


def _correlated(
    known: Mapping[str, LanguageDifferences], units: Units, joint: PairedEstimate, reach: float | None
) -> PairedEstimate:
    """An estimate of independent languages, as wide as languages with some queries in common ask for."""
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
    # Without any spread, what languages share counts once.
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
    """The p-value where the interval is so many times as wide."""
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(ndtri(p / 2) / wider)) if wider > 0 else p
