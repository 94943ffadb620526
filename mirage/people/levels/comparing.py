"""Two systems compared, and a choice among systems, by levels corrected by people's labels."""

from __future__ import annotations

import numpy as np

from mirage.errors import NotEnoughData, UnknownName
from mirage.people.levels.labels import Array, Labels, Places
from mirage.people.levels.levels import ALL, LEAST, estimate_mean, mean_over, n_labels, number_strata
from mirage.ranking.compare.comparing import report_estimates
from mirage.ranking.compare.measures import RATE
from mirage.ranking.compare.paired import PairedEstimate
from mirage.ranking.compare.records import ComparisonReport, LabelledDifference
from mirage.stats.powered_mean import PoweredMean, powered_difference


def compare_corrected(labels: Labels, first: str, second: str, *, margin: float = 0.0) -> ComparisonReport:
    """Compare two systems by their corrected levels, paired by query.

    Args:
        labels: the answers of both, and their labels.
        first: the system to compare.
        second: the reference system.
        margin: equivalence margin, in the unit of the measure.

    Raises:
        UnknownName: if there is no such system.
        NotEnoughData: if no language has enough labels of both systems.
    """
    for system in (first, second):
        if system not in labels.systems:
            raise UnknownName("system", system, labels.systems, where=f"the answers with {labels.measure.name}")
    parts = {code: _places(labels, code, (first, second)) for code in labels.languages}
    reasons = {code: reason for code, of in parts.items() if (reason := _lacking(labels, of)) is not None}
    usable = [code for code in parts if code not in reasons]
    if not usable:
        raise NotEnoughData(
            f"no language has enough labels to compare {first} and {second} by corrected {labels.measure.name}",
            where="; ".join(
                [*(f"{code}: {why}" for code, why in list(reasons.items())[:2]), *["..."][: len(reasons) > 2]]
            ),
            do="label more answers of both systems",
        )
    estimates: dict[str, PairedEstimate] = {}
    beside: dict[str, LabelledDifference] = {}
    for code in usable:
        estimates[code], beside[code] = _difference(labels, parts[code])
    if len(parts) > 1:
        joint = (
            np.concatenate([parts[code][0] for code in usable]),
            np.concatenate([parts[code][1] for code in usable]),
        )
        estimates[ALL], beside[ALL] = _difference(labels, joint)
        if reasons:
            reasons[ALL] = f"without {', '.join(reasons)}"
    return report_estimates((first, second), labels.measure, estimates, beside, reasons, margin, labels.units.unit)


def _sign(labels: Labels) -> int:
    """Return 1 if higher is better. Labels of `rate` count wrong decisions, its level correct ones."""
    return -1 if labels.measure.name == RATE else labels.measure.sign


def _places(labels: Labels, code: str, systems: tuple[str, str]) -> tuple[Places, Places]:
    return labels.of(language=code, system=systems[0]), labels.of(language=code, system=systems[1])


def _enough(labels: Labels, places: Places) -> bool:
    strata = number_strata(labels, places)
    return all(n_labels(labels, places[strata == k]) >= LEAST for k in np.unique(strata))


def _lacking(labels: Labels, parts: tuple[Places, Places]) -> str | None:
    """Return why two systems cannot be compared in a language; None if they can."""
    if not all(len(places) for places in parts):
        return "one of the two has no value"
    strata = [set(number_strata(labels, places).tolist()) for places in parts]
    subsets = [{labels.subset[k] for k in places.tolist()} for places in parts]
    if all(_enough(labels, places) for places in parts) and subsets[0] == subsets[1] and strata:
        return None
    counts = " and ".join(str(n_labels(labels, places)) for places in parts)
    return f"not checked: {counts} labels; {LEAST} of each system are needed in each subset"


def _estimate(labels: Labels, places: Places) -> PoweredMean:
    return estimate_mean(labels, places, number_strata(labels, places))


def _difference(labels: Labels, parts: tuple[Places, Places]) -> tuple[PairedEstimate, LabelledDifference]:
    """Return the corrected difference, with its labels and the uncorrected one."""
    means = [_estimate(labels, places) for places in parts]
    size = max(len(mean.moves) for mean in means)
    first, second = (_pad_moves(mean, size) for mean in means)
    gap = powered_difference(first, second)
    factor = _sign(labels) * (labels.high - labels.low)
    low, high = sorted((factor * gap.low, factor * gap.high))
    values = [_best_values(labels, places) for places in parts]
    shared = values[0].keys() & values[1].keys()
    differing = sum(abs(values[0][key] - values[1][key]) > 1e-9 for key in shared)
    n = n_labels(labels, parts[0]) + n_labels(labels, parts[1])
    least = min(1.0, 2.0 ** (1 - differing))
    estimate = PairedEstimate(
        factor * gap.value, abs(factor) * gap.error, gap.df, low, high, max(gap.p, least), len(shared), differing, None
    )
    plain = [mean_over(labels.measured[places], number_strata(labels, places)) for places in parts]
    uncorrected = None if None in plain else _sign(labels) * ((plain[0] or 0.0) - (plain[1] or 0.0))
    return estimate, LabelledDifference(n, uncorrected, max(mean.lam for mean in means))


def _pad_moves(mean: PoweredMean, size: int) -> PoweredMean:
    from dataclasses import replace

    moves: Array = np.zeros(size)
    moves[: len(mean.moves)] = mean.moves
    return replace(mean, moves=moves)


def _best_values(labels: Labels, places: Places) -> dict[tuple[str, str], float]:
    """Return each query's label, or else its measured value, or else its prediction."""
    predicted = labels.low + (labels.high - labels.low) * labels.predictions
    values = np.where(np.isnan(labels.labels), labels.measured, labels.labels)
    values = np.where(np.isnan(values), predicted, values)
    return {labels.keys[k][:2]: float(values[k]) for k in places.tolist()}
