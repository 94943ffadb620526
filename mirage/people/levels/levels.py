"""Levels corrected by people's labels, by system and language; two systems compared by them.

`mirage.stats.powered_mean` has the method. Each language is corrected by its own labels; with fewer than `LEAST` of a
system it is "not checked". The row `all` is the mean over the corrected languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mirage import store
from mirage.errors import NotEnoughData, UnknownName
from mirage.people.levels.labels import Array, Labels, Places, how_to_label, label_measures, read_labels
from mirage.people.votes import Evidence, Votes
from mirage.ranking.compare.comparing import report_estimates
from mirage.ranking.compare.measures import OF_FEATURE, RATE, RATING
from mirage.ranking.compare.paired import PairedEstimate
from mirage.ranking.compare.records import ComparisonReport, LabelledDifference
from mirage.ranking.settings import CompareSettings
from mirage.schema import CodeOrAll, Count, Parser, Share
from mirage.stages import outcomes
from mirage.stats.powered_mean import PoweredMean, powered_difference, powered_mean
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa

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
    """Upper end."""
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
        by = (
            f"corrected by {count_text(self.labels.n_labels, 'label')} from people, assumed to be drawn at random "
            f"within each language and system; predictors: {', '.join(self.labels.names) or 'none'}"
        )
        lines = [by]
        if self.labels.changed:
            lines.append(f"left out: {count_text(self.labels.changed, 'label')} on answers that have changed since")
        unchecked = sorted({row.language for row in self.rows if row.status == "not checked"} - {ALL})
        if unchecked:
            lines.append(f"not checked: {', '.join(unchecked)}; the column reason says why")
        return lines


def correct_levels(labels: Labels) -> Levels:
    """Correct the level of every system in every language and subset, and over the languages."""
    rows: list[CorrectedLevel] = []
    for subset in sorted(set(labels.subset)):
        for system in labels.systems:
            parts = {code: labels.of(language=code, system=system, subset=subset) for code in labels.languages}
            parts = {code: places for code, places in parts.items() if len(places)}
            own = [code for code, places in parts.items() if n_labels(labels, places) >= LEAST]
            for code, places in parts.items():
                few = f"{count_text(n_labels(labels, places), 'label')} of this system here, {LEAST} needed"
                rows.append(_row(labels, (code, subset, system), places, None if code in own else few))
            if len(parts) > 1:
                without = ", ".join(code for code in parts if code not in own)
                joined = np.concatenate([parts[code] for code in own or parts])
                reason = f"the corrected level leaves out {without}" if own else f"{LEAST} labels in a language needed"
                every = _row(labels, (ALL, subset, system), joined, reason if without else None, corrected=bool(own))
                rows.append(every)
    places_of = {code: k for k, code in enumerate((*labels.languages, ALL))}
    rows.sort(key=lambda row: (places_of[row.language], row.subset, row.system))
    return Levels(tuple(rows), labels)


def estimate_mean(labels: Labels, places: Places, stratum: Places, *, lam: float | None = None) -> PoweredMean:
    """Estimate the mean over strata of some answers, in [0, 1]; `lam` as for `powered_mean`.

    Raises:
        NotEnoughData: if a stratum has fewer than two labels.
    """
    return powered_mean(labels.scaled[places], labels.predictions[places], labels.unit[places], stratum, lam=lam)


def number_strata(labels: Labels, places: Places) -> Places:
    """Return an integer code for the language and subset of each answer."""
    names = [f"{labels.keys[k][0]}\0{labels.subset[k]}" for k in places.tolist()]
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.intp)


def n_labels(labels: Labels, places: Places) -> int:
    """Return the number of labelled answers in a selection."""
    return int((~np.isnan(labels.labels[places])).sum())


def _row(
    labels: Labels, key: tuple[str, str, str], places: Places, reason: str | None, *, corrected: bool = False
) -> CorrectedLevel:
    """Return the row of some answers, corrected if there is no reason against it, or `corrected` overrides it."""
    language, subset, system = key
    value = low = high = lam = width = None
    status: Status = "not checked"
    if corrected or reason is None:
        stratum = number_strata(labels, places)
        powered = estimate_mean(labels, places, stratum)
        alone = estimate_mean(labels, places, stratum, lam=0.0)
        status, span = "corrected", labels.high - labels.low
        value, low, high = (labels.low + span * end for end in (powered.value, powered.low, powered.high))
        lam, width = powered.lam, (powered.high - powered.low) / (alone.high - alone.low)
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
    parts = {
        code: (labels.of(language=code, system=first), labels.of(language=code, system=second))
        for code in labels.languages
    }
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
        one, other = (np.concatenate([parts[code][k] for code in usable]) for k in (0, 1))
        estimates[ALL], beside[ALL] = _difference(labels, (one, other))
        if reasons:
            reasons[ALL] = f"without {', '.join(reasons)}"
    return report_estimates((first, second), labels.measure, estimates, beside, reasons, margin, labels.units.unit)


def _sign(labels: Labels) -> int:
    """Return 1 if higher is better. Labels of `rate` count wrong decisions, its level correct ones."""
    return -1 if labels.measure.name == RATE else labels.measure.sign


def _enough(labels: Labels, places: Places) -> bool:
    strata = number_strata(labels, places)
    return all(n_labels(labels, places[strata == k]) >= LEAST for k in np.unique(strata))


def _lacking(labels: Labels, parts: tuple[Places, Places]) -> str | None:
    """Return why two systems cannot be compared in a language; None if they can."""
    if not all(len(places) for places in parts):
        return "one of the two has no value"
    subsets = [{labels.subset[k] for k in places.tolist()} for places in parts]
    if all(_enough(labels, places) for places in parts) and subsets[0] == subsets[1]:
        return None
    counts = " and ".join(str(n_labels(labels, places)) for places in parts)
    return f"not checked: {counts} labels; {LEAST} of each system are needed in each subset"


def _difference(labels: Labels, parts: tuple[Places, Places]) -> tuple[PairedEstimate, LabelledDifference]:
    """Return the corrected difference, with its labels and the uncorrected one."""
    means = [estimate_mean(labels, places, number_strata(labels, places)) for places in parts]
    gap = powered_difference(*means)
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


def _best_values(labels: Labels, places: Places) -> dict[tuple[str, str], float]:
    """Return each query's label, or else its measured value, or else its prediction."""
    predicted = labels.low + (labels.high - labels.low) * labels.predictions
    values = np.where(np.isnan(labels.labels), labels.measured, labels.labels)
    values = np.where(np.isnan(values), predicted, values)
    return {labels.keys[k][:2]: float(values[k]) for k in places.tolist()}


COLUMNS = ("labels", "corrected", "corrected_low", "corrected_high", "lam", "width", "status", "reason")
"""Columns that `corrected_rates` adds to those of `outcomes.Rate`, with the meanings of `CorrectedLevel`."""


def corrected_rates(
    arena: store.Arena,
    *,
    parser: Parser = "strict",
    languages: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> tuple[pa.Table, list[str]]:
    """Return the rates of an arena with corrected rates, and notes. The corrected rate covers every answer that is
    present, since people can decide answers that a parser cannot. Labels of queries (whether a passage answers them)
    are assumed correct.

    Args:
        arena: with the tables `outcomes` and `scores`.
        parser: parser whose rates are corrected; the other is a predictor.
        languages: codes; None for all.
        systems: names; None for all.

    Raises:
        TableMissing: if the arena has no outcomes.
        NotEnoughData: if people labelled no answer.
        UnknownName: if there is no such language, system or parser.
    """
    import pyarrow as pa

    table = outcomes.rates(
        arena.read("outcomes"),
        samples=outcomes.sample_outcomes(arena),
        parser=parser,
        languages=languages,
        systems=systems,
    )
    labels = read_labels(arena, RATE, languages=languages, parser=parser)
    levels = correct_levels(labels)
    by_key = {(row.language, row.subset, row.system): row for row in levels.rows}
    keys = zip(*(table[name].to_pylist() for name in ("language", "subset", "system")), strict=True)
    one = len(labels.languages) == 1
    rows = [by_key.get((labels.languages[0] if one and key[0] == "all" else key[0], *key[1:])) for key in keys]
    # Drop the columns of the label audit, which is a separate correction.
    table = table.drop_columns([name for name in outcomes.AUDIT_COLUMNS if name in table.column_names])
    named = {"corrected_low": "low", "corrected_high": "high"}
    missing = {"labels": 0, "status": "not checked", "reason": "no answer is present"}
    kinds = {"labels": pa.int64(), "status": pa.string(), "reason": pa.string()}
    for name in COLUMNS:
        values = [missing.get(name) if row is None else getattr(row, named.get(name, name)) for row in rows]
        table = table.append_column(name, pa.array(values, kinds.get(name, pa.float64())))
    return table, [*levels.notes(), "labels of queries (relevant or not) are assumed correct and not corrected here"]


def read_log(url: str | None = None) -> tuple[Evidence, ...]:
    """Read the votes on citations.

    Args:
        url: the database; None for the user's own, or that of MIRAGE_VOTES_URL.

    Raises:
        Unreachable: if the database does not respond.
    """
    with Votes(url) as database:
        return tuple(database.rows(Evidence))


def labels_of(
    arena: store.Arena,
    measures: Iterable[str] | None = None,
    log: Sequence[Evidence] = (),
    *,
    languages: Sequence[str] | None = None,
    predictors: Sequence[str] = (),
) -> list[Labels]:
    """Read the labels of some measures; None for all with people's labels.

    Raises:
        NotEnoughData: if there are no labels.
        UnknownName: if there is no such measure, language or feature.
        TableMissing: if the arena lacks the table of a measure.
    """
    names = label_measures(arena, log) if measures is None else tuple(measures)
    if not names:
        raise NotEnoughData(f"no answer of {arena.name} has people's labels", do=how_to_label(arena, RATE))
    return [read_labels(arena, name, log, languages=languages, predictors=predictors) for name in names]


def compare_labelled(
    arena: store.Arena, first: str, second: str, settings: CompareSettings, log: Sequence[Evidence] = ()
) -> ComparisonReport:
    """Compare two systems of an arena by levels corrected by people's labels.

    Raises:
        NotEnoughData: for ratings, or if there are too few labels.
        UnknownName: if there is no such system, measure or language.
    """
    if settings.measure == RATING:
        raise NotEnoughData(
            "a rating is not a property of single answers, so labels on answers cannot correct it",
            do=f"correct ratings by votes on battles (mirage votes correct), or choose {RATE}, "
            f"{OF_FEATURE}NAME or score:NAME",
        )
    labels = read_labels(arena, settings.measure, log, languages=settings.languages, parser=settings.parser)
    return compare_corrected(labels, first, second, margin=settings.margin)
