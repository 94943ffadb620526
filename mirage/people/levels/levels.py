"""Levels corrected by people's labels: by system and language, including languages that borrow from others.

`mirage.stats.powered_mean` has the method. A language with fewer than `LEAST` labelled queries of a system has no
corrected level of its own. It borrows the other languages' mean error only if a test finds no difference of the error
between languages, and would have found one of the margin with 80% power; else it is "not checked".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mirage.people.levels.labels import Array, Labels, Places
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.homogeneity import LEVEL, Homogeneity, homogeneity
from mirage.stats.powered_mean import PoweredMean, borrowed_mean, powered_mean
from mirage.text.segmentation import count_text

LEAST = 10
"""Minimum number of labelled answers of a system in a language, and in each subset."""
LEAST_PART = 5
"""Minimum number of labelled answers of a system for a language to count in the row `all`."""
LEAST_ALL = 20
"""Minimum number of labelled answers of a system in the row `all`."""
POWER = 0.8
"""Minimum power of the test for borrowing."""
MARGIN = 0.1
"""Default equivalence margin of the error, as a share of the measure's range."""
ALL = "all"
"""Language code of the row over all languages."""

Status = Literal["corrected", "borrowed", "not checked"]
"""`corrected`: by labels in the language; `borrowed`: by the error in other languages; `not checked`: by neither."""


@dataclass(frozen=True, slots=True)
class CorrectedLevel:
    """The level of one system by one measure, corrected by people's labels, beside the uncorrected one."""

    key = ("measure", "language", "subset", "system")

    measure: str
    """The measure: `rate`, `nuggets`, `feature:NAME` or `score:NAME`."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages with at least 5 labels of the system, with equal
    weights; `reason` names the others.
    """
    subset: str
    """Subset of the queries, for `rate`; else empty."""
    system: str
    """The system."""
    uncorrected: float | None
    """Mean of the measured values; null if there are none."""
    n: Count
    """Measured answers behind `uncorrected`."""
    corrected: float | None
    """Estimated mean of people's labels on all answers, in the unit of the measure; null with a reason."""
    low: float | None
    """Lower end of its 95% interval, clustered by query; within the range of the measure."""
    high: float | None
    """Upper end."""
    labels: Count
    """Labelled answers in this row."""
    lam: Share | None
    """Weight of the programs' predictions, lambda; 0 uses labels alone."""
    width: float | None
    """Width of the interval relative to that of the labels alone, by the same method; null if that interval does not
    exist."""
    status: Status
    """Whether the level is corrected, borrowed or not checked."""
    reason: str | None
    """Why the level is not checked, what a borrowed level assumes, or which languages `all` leaves out; else null."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of a measure, with the test behind borrowed levels."""

    rows: tuple[CorrectedLevel, ...]
    """By language, subset and system; `all` last."""
    labels: Labels
    """The answers and their labels."""
    transport: Homogeneity | None
    """The test of equal errors over the labelled languages; None with fewer than two."""

    def notes(self) -> list[str]:
        """Return notes on the rows."""
        by = (
            f"corrected by {count_text(self.labels.n_labels, 'label')} from people, assumed to be drawn at random "
            f"within each language and system; predictors: {', '.join(self.labels.names) or 'none'}"
        )
        lines = [by]
        if self.labels.changed:
            lines.append(f"left out: {count_text(self.labels.changed, 'label')} on answers that have changed since")
        if self.transport is not None:
            lines.append(describe_transport(self.transport))
        unchecked = sorted({row.language for row in self.rows if row.status == "not checked"} - {ALL})
        if unchecked:
            lines.append(f"not checked: {', '.join(unchecked)}; the column reason says why")
        return lines


def correct_levels(labels: Labels, *, margin: float = MARGIN, seed: int = 0) -> Levels:
    """Correct the level of every system in every language and subset, and over the languages.

    Args:
        labels: the answers.
        margin: largest difference between languages' mean errors that counts as none, as a share of the range.
        seed: seed of the permutations of the test.
    """
    test = transport_test(labels, margin=margin, seed=seed)
    rows: list[CorrectedLevel] = []
    for subset in sorted(set(labels.subset)):
        for system in labels.systems:
            parts = {code: labels.of(language=code, system=system, subset=subset) for code in labels.languages}
            parts = {code: places for code, places in parts.items() if len(places)}
            own = [code for code, places in parts.items() if n_labels(labels, places) >= LEAST]
            for code, places in parts.items():
                estimate, reason = _own(labels, places) if code in own else _borrow(labels, places, test)
                rows.append(_row(labels, (code, subset, system), places, estimate, reason, borrowed=code not in own))
            if len(parts) > 1:
                rows.append(_row_of_all(labels, subset, system, parts))
    places_of = {code: k for k, code in enumerate((*labels.languages, ALL))}
    rows.sort(key=lambda row: (places_of[row.language], row.subset, row.system))
    return Levels(tuple(rows), labels, test)


def _row_of_all(labels: Labels, subset: str, system: str, parts: Mapping[str, Places]) -> CorrectedLevel:
    """Return the mean over the languages with enough labels."""
    kept = [code for code, places in parts.items() if n_labels(labels, places) >= LEAST_PART]
    key = ALL, subset, system
    if sum(n_labels(labels, parts[code]) for code in kept) < LEAST_ALL:
        everywhere = np.concatenate(list(parts.values()))
        few = f"{count_text(n_labels(labels, everywhere), 'label')}; {LEAST_ALL} needed, {LEAST_PART} a language"
        return _row(labels, key, everywhere, None, few)
    joined = np.concatenate([parts[code] for code in kept])
    without = [code for code in parts if code not in kept]
    reason = f"the corrected level leaves out {', '.join(without)}" if without else None
    return _row(labels, key, joined, _estimate(labels, joined), reason)


def transport_test(labels: Labels, *, margin: float = MARGIN, seed: int = 0) -> Homogeneity | None:
    """Test whether people's labels differ from the predictions by the same mean in every language; None if fewer than
    two languages have `LEAST` labelled queries.

    Args:
        labels: the answers.
        margin: the difference for which to compute the power, as a share of the range.
        seed: seed of the permutations.
    """
    known = np.flatnonzero(~np.isnan(labels.labels))
    codes = {code: k for k, code in enumerate(labels.languages)}
    group = np.array([codes[labels.keys[k][0]] for k in known], dtype=np.intp)
    unit = labels.unit[known]
    queries = {g: len(np.unique(unit[group == g])) for g in np.unique(group).tolist()}
    use = np.array([queries[g] >= LEAST for g in group.tolist()], dtype=bool)
    if len(set(group[use].tolist())) < 2:
        return None
    errors, predictions = (labels.scaled - labels.predictions)[known], labels.predictions[known]
    return homogeneity(errors[use], predictions[use], unit[use], group[use], margin=margin, seed=seed)


def describe_transport(test: Homogeneity) -> str:
    """Return a sentence on the test of equal errors."""
    return (
        f"the error of the predictions {'differs' if test.p <= LEVEL else 'does not differ significantly'} between "
        f"{test.groups} labelled languages (p = {test.p:.3f}); power {test.power:.0%} for a difference of "
        f"{test.margin:g} of the range in one of them"
    )


def estimate_mean(labels: Labels, places: Places, stratum: Places) -> PoweredMean:
    """Estimate the mean over strata of some answers, in [0, 1].

    Raises:
        NotEnoughData: if a stratum has fewer than two labels.
    """
    return powered_mean(labels.scaled[places], labels.predictions[places], labels.unit[places], stratum)


def number_strata(labels: Labels, places: Places) -> Places:
    """Return an integer code for the language and subset of each answer."""
    names = [f"{labels.keys[k][0]}\0{labels.subset[k]}" for k in places.tolist()]
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.intp)


def n_labels(labels: Labels, places: Places) -> int:
    """Return the number of labelled answers in a selection."""
    return int((~np.isnan(labels.labels[places])).sum())


def _estimate(labels: Labels, places: Places) -> tuple[PoweredMean, PoweredMean]:
    """Return the estimate, and the estimate from the labels alone."""
    stratum = number_strata(labels, places)
    args = labels.scaled[places], labels.predictions[places], labels.unit[places], stratum
    return powered_mean(*args), powered_mean(*args, lam=0.0)


def _own(labels: Labels, places: Places) -> tuple[tuple[PoweredMean, PoweredMean], str | None]:
    return _estimate(labels, places), None


def _borrow(labels: Labels, places: Places, test: Homogeneity | None) -> tuple[tuple[PoweredMean, None] | None, str]:
    """Return a level borrowed from the labelled languages, or the reason why it cannot be."""
    n = n_labels(labels, places)
    few = f"{count_text(n, 'label')} of this system here, {LEAST} needed"
    if test is None:
        return None, f"{few}; cannot borrow from other languages: fewer than two have labels"
    if test.p <= LEVEL:
        return None, f"{few}; the error differs between the labelled languages (p = {test.p:.3f})"
    if test.power < POWER:
        return None, (
            f"{few}; the labelled languages cannot show that the error is the same everywhere: power {test.power:.0%} "
            f"for a difference of {test.margin:g} of the range, {POWER:.0%} needed"
        )
    known = np.flatnonzero(~np.isnan(labels.labels))
    subset, system = labels.subset[places[0]], labels.keys[places[0]][2]
    same = [k for k in known.tolist() if labels.subset[k] == subset and labels.keys[k][2] == system]
    if len(same) < LEAST:
        return None, f"{few}; {count_text(len(same), 'label')} of this system in all languages"
    errors = (labels.scaled - labels.predictions)[same]
    estimate = borrowed_mean(errors, labels.predictions[places], labels.unit[same], labels.unit[places])
    reason = (
        f"assumes the mean error of the labelled languages, equal to within {test.margin:g} of the range "
        f"(p = {test.p:.3f}, power {test.power:.0%})"
    )
    return (estimate, None), reason


def _row(
    labels: Labels,
    key: tuple[str, str, str],
    places: Places,
    estimate: tuple[PoweredMean, PoweredMean | None] | None,
    reason: str | None,
    *,
    borrowed: bool = False,
) -> CorrectedLevel:
    language, subset, system = key
    value = low = high = lam = width = None
    status: Status = "not checked"
    if estimate is not None:
        powered, alone = estimate
        status = "borrowed" if borrowed else "corrected"
        span = labels.high - labels.low
        value, low, high = (labels.low + span * end for end in (powered.value, powered.low, powered.high))
        lam = powered.lam
        width = None if alone is None else (powered.high - powered.low) / (alone.high - alone.low)
    return CorrectedLevel(
        measure=labels.measure.name,
        language=language,
        subset=subset,
        system=system,
        uncorrected=mean_over(labels.measured[places], number_strata(labels, places)),
        n=int((~np.isnan(labels.measured[places])).sum()),
        corrected=value,
        low=low,
        high=high,
        labels=n_labels(labels, places),
        lam=lam,
        width=width,
        status=status,
        reason=reason,
    )


def mean_over(values: Array, stratum: Places) -> float | None:
    """Return the mean over strata of the known values; None if a stratum has none."""
    means = [values[(stratum == k) & ~np.isnan(values)] for k in np.unique(stratum)]
    return float(np.mean([of.mean() for of in means])) if means and all(map(len, means)) else None
