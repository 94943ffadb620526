"""Levels corrected by people's labels, by system and language.

`mirage.stats.powered_mean` has the method. Each language is corrected by its own labels; with fewer than `LEAST` of a
system it is "not checked". The row `all` is the mean over the corrected languages.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mirage.people.levels.labels import Labels
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Evidence
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.arrays import Array, Places
from mirage.stats.powered_mean import powered_mean
from mirage.text.languages import in_order
from mirage.text.segmentation import count_text

LEAST = 10
"""Minimum number of labelled answers of a system in a language, and in each subset."""
ALL = "all"
"""Language code of the row over all languages."""

Status = Literal["corrected", "not checked"]
"""`corrected`: by labels in the language; `not checked`: too few of them."""


@dataclass(frozen=True, slots=True)
class CorrectedLevel:
    """The level of one system by one measure, corrected by people's labels, beside the uncorrected one."""

    key = ("measure", "language", "subset", "system")

    measure: str
    """The measure: `rate`, `nuggets`, `feature:NAME` or `score:NAME`."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the corrected languages, with equal weights; `reason` names the
    others.
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
    """Upper end of its 95% interval."""
    labels: Count
    """Labelled answers in this row."""
    lam: Share | None
    """Weight of the programs' predictions, lambda; 0 uses labels alone. For `all` the mean over the languages."""
    width: float | None
    """Width of the interval relative to that of the labels alone, by the same method; null if that interval does not
    exist."""
    status: Status
    """Whether the level is corrected or not checked."""
    reason: str | None
    """Why the level is not checked, or which languages `all` leaves out; else null."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of a measure."""

    rows: tuple[CorrectedLevel, ...]
    """By language, subset and system; `all` last."""
    labels: Labels
    """The answers and their labels."""

    def notes(self) -> list[str]:
        """Return notes on the rows."""
        labels = count_text(self.labels.n_labels(), "label")
        lines = [f"no level is corrected: {labels} from people are too few"]
        if any(row.status == "corrected" for row in self.rows):
            drawn = "assumed to be drawn at random within each language and system"
            predictors = ", ".join(self.labels.names) or "none"
            lines = [f"corrected by {labels} from people, {drawn}; predictors: {predictors}"]
        if self.labels.changed:
            lines.append(f"left out: {count_text(self.labels.changed, 'label')} on answers that have changed since")
        unchecked = sorted({row.language for row in self.rows if row.status == "not checked"} - {ALL})
        if unchecked:
            lines.append(f"not checked: {', '.join(unchecked)}; the column reason says why")
        return lines


def correct_levels(labels: Labels) -> Levels:
    """Correct the level of every system in every language and subset, and over the languages."""
    rows: list[CorrectedLevel] = []
    places: dict[tuple[str, str], dict[str, list[int]]] = {}
    for k, ((code, _, system), subset) in enumerate(zip(labels.keys, labels.subset, strict=True)):
        places.setdefault((subset, system), {}).setdefault(code, []).append(k)
    for about, parts in places.items():
        own = [code for code, of in parts.items() if labels.n_labels(of) >= LEAST]
        for code, of in parts.items():
            few = f"{count_text(labels.n_labels(of), 'label')} of this system here, {LEAST} needed"
            rows.append(_row(labels, (code, *about), of, None if code in own else few))
        if len(parts) > 1:
            without = ", ".join(code for code in in_order(parts) if code not in own)
            joined = [k for code in in_order(own or parts) for k in parts[code]]
            reason = f"the corrected level leaves out {without}" if own else f"{LEAST} labels in a language needed"
            rows.append(_row(labels, (ALL, *about), joined, reason if without else None, corrected=bool(own)))
    place_of = {code: k for k, code in enumerate((*labels.languages, ALL))}
    rows.sort(key=lambda row: (place_of[row.language], row.subset, row.system))
    return Levels(tuple(rows), labels)


def _row(
    labels: Labels, key: tuple[str, str, str], places: list[int], reason: str | None, *, corrected: bool = False
) -> CorrectedLevel:
    """Return the row of some answers, corrected if there is no reason against it, or `corrected` overrides it."""
    language, subset, system = key
    value = low = high = lam = width = None
    status: Status = "not checked"
    stratum = np.unique([labels.keys[k][0] for k in places], return_inverse=True)[1]
    if corrected or reason is None:
        given = labels.scaled[places], labels.predictions[places], labels.unit[places], stratum
        powered, alone = powered_mean(*given), powered_mean(*given, lam=0.0)
        status, span = "corrected", labels.high - labels.low
        value, low, high = (labels.low + span * end for end in (powered.value, powered.low, powered.high))
        lam, width = powered.lam, (powered.high - powered.low) / (alone.high - alone.low)
    return CorrectedLevel(
        measure=labels.measure.name,
        language=language,
        subset=subset,
        system=system,
        uncorrected=mean_over(labels.measured[places], stratum),
        n=int((~np.isnan(labels.measured[places])).sum()),
        corrected=value,
        low=low,
        high=high,
        labels=labels.n_labels(places),
        lam=lam,
        width=width,
        status=status,
        reason=reason,
    )


def mean_over(values: Array, stratum: Places) -> float | None:
    """Return the mean over strata of the known values; None if a stratum has none."""
    means = [values[(stratum == k) & ~np.isnan(values)] for k in np.unique(stratum)]
    return float(np.mean([of.mean() for of in means])) if means and all(map(len, means)) else None


def read_log(url: str | None = None) -> tuple[Evidence, ...]:
    """Read the votes on citations.

    Args:
        url: the database; None for the user's own, or that of MIRAGE_VOTES_URL.

    Raises:
        Unreachable: if the database does not respond.
    """
    with Votes(url) as database:
        return tuple(database.rows(Evidence))
