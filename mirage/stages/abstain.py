"""Selective answering: the error of the answers given if those with the weakest signal are withheld.

A signal is a feature or a score of the answers. Its risk-coverage curve is the mean loss of the answers given, by the
share given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput, UnknownName
from mirage.schema import Count, Parser, Share
from mirage.stages.features import FEATURES
from mirage.stages.outcomes import RIGHT
from mirage.stats.intervals import wilson_of_variance
from mirage.stats.units import shared_ids
from mirage.store import Arena

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

LOSSES = {
    "hallucination": "of the answers that say or give an answer, those to queries that no passage answers",
    "wrong": "of the answers that answer or abstain, the wrong decisions",
}
"""What counts as wrong, from the table `outcomes`."""
ALL = "all"
"""Language of the rows over all languages."""
DRAWS = 1_000
"""Bootstrap draws."""
FEWEST = 20
"""Minimum queries for a curve, and minimum answers given for an interval of a point."""
STEPS = 20
"""Number of points of a curve."""
_BLOCK = 2_000_000
"""Maximum weights in memory at once."""
_KEY = ["language", "system", "query_id"]
_SIGNALS = {"features": "feature", "scores": "measure"}
"""Tables of signals, each with the column of their names."""


@dataclass(frozen=True, slots=True)
class Point:
    """The risk at one coverage."""

    coverage: Share
    """Share of the answers given: those with the strongest signal."""
    risk: Share
    """Mean loss of these. Within ties of the signal, the mean over all orders."""
    low: Share | None
    """Lower end of the pointwise 95% interval of `risk`; null with fewer than 20 queries."""
    high: Share | None
    """Upper end."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Risk-coverage curve of one signal.

    The area is that of Geifman, Uziel and El-Yaniv (ICLR 2019): the mean of the risks at the coverages 1/n, 2/n ... 1;
    0 is best. Intervals are 95%, from a bootstrap over queries.
    """

    n: Count
    """Queries: answers with a signal and a loss."""
    points: tuple[Point, ...] = ()
    """The curve at the coverages 0.05, 0.10 ... 1; empty if `reason` is set."""
    risk: Share | None = None
    """Mean loss at full coverage: the level of an uninformative signal."""
    area: Share | None = None
    """Area under the curve (AURC); null if `reason` is set."""
    area_low: Share | None = None
    """Lower end of its interval."""
    area_high: Share | None = None
    """Upper end."""
    reason: str | None = None
    """Why there is no curve: `no answers`, `too few queries`, `constant signal`; null if there is one."""


SHOWN = ("language", "system", "n", "risk", "area", "area_low", "area_high", "reason")
"""Columns of `curve_rows` to print for people."""


def curve(signal: Floats, loss: Floats, *, draws: int = DRAWS, units: Places | None = None) -> Curve:
    """Compute the risk-coverage curve of a signal, with pointwise intervals.

    Args:
        signal: of one answer per query; higher favours answering.
        loss: of the same answers, 0 (correct) to 1 (wrong).
        draws: bootstrap draws over queries, at least 2.
        units: unit of each answer, for queries shared by several languages; None if each answer is to its own query.

    Returns:
        The curve, or the reason why there is none. Intervals are Wilson's at the effective sample size of the bootstrap
        variance (`wilson_of_variance`).

    Raises:
        BadInput: if a signal is not finite or a loss is not in [0, 1].

    Source: El-Yaniv and Wiener, JMLR 11 (2010); Geifman, Uziel and El-Yaniv, ICLR 2019 (AURC).
    """
    import numpy as np

    if not np.isfinite(signal).all():
        raise BadInput("a signal is not finite", do="remove the answers without a signal")
    if not ((loss >= 0) & (loss <= 1)).all():
        raise BadInput("a loss is not between 0 and 1", do="scale the losses")
    n = len(signal)
    if not n:
        return Curve(0, reason="no answers")
    mean = float(loss.mean())
    if n < FEWEST or signal.min() == signal.max():
        return Curve(n, risk=mean, reason="too few queries" if n < FEWEST else "constant signal")
    order = np.argsort(-signal, kind="stable")
    # The number of answers up to the end of each run of equal signals.
    ends, steps = np.append(np.flatnonzero(np.diff(signal[order])) + 1, n), np.arange(1, STEPS + 1) / STEPS

    def measure(weights: Floats) -> Floats:
        """Return the risks at the steps, then the area, of each row of weights."""
        count, total = _sums(weights[:, order], loss[order], ends)
        risks = np.array([np.interp(steps * n, *row) for row in zip(count, total, strict=True)]) / (steps * n)
        return np.column_stack([np.clip(risks, 0, 1), _area(count, total)])

    (values,) = measure(np.ones((1, n)))
    place = np.arange(n) if units is None else np.unique(units, return_inverse=True)[1]
    sizes, rng, block = np.bincount(place), np.random.default_rng([0, n]), max(1, _BLOCK // n)
    m = len(sizes)
    drawn = [
        measure(_resample_counts(rng, sizes, min(block, draws - start))[:, place]) for start in range(0, draws, block)
    ]
    # The bootstrap variance of m queries is too small by the factor (m - 1) / m.
    spread = np.concatenate(drawn).var(axis=0, ddof=1) * m / max(m - 1, 1)
    ranges = [
        wilson_of_variance(float(value), float(variance), trials)
        for value, variance, trials in zip(values, spread, [*(steps * n), n], strict=True)
    ]
    points = [
        Point(step, risk, *(ends_of if step * n >= FEWEST else (None, None)))
        for step, risk, ends_of in zip(steps.tolist(), values.tolist(), ranges, strict=False)
    ]
    return Curve(n, tuple(points), mean, float(values[-1]), *ranges[-1])


def _resample_counts(rng: np.random.Generator, sizes: NDArray[np.int64], n: int) -> Floats:
    """Return N x M counts of each of M units in n resamples.

    Units are drawn among those with equally many answers, so that every resample has as many answers.
    """
    import numpy as np

    drawn = np.empty((n, len(sizes)))
    for size in np.unique(sizes):
        (alike,) = np.nonzero(sizes == size)
        drawn[:, alike] = rng.multinomial(len(alike), np.full(len(alike), 1 / len(alike)), size=n)
    return drawn


def _sums(weights: Floats, loss: Floats, ends: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return answers given and their loss at the end of each run, from 0, per row of weights."""
    import numpy as np

    count, total = (np.pad(np.cumsum(weights * each, axis=1)[:, ends - 1], ((0, 0), (1, 0))) for each in (1.0, loss))
    return count, total


def _area(count: Floats, total: Floats) -> Floats:
    """Return the mean of the risks at 1, 2 ... n answers given.

    Within a run of equal signals the expected loss over its orders is linear: at c answers it is t + m (c - s), so a
    run adds m to each risk, and (t - m s) / c.
    """
    import numpy as np

    places = count.astype(np.int64)
    n = int(places[0, -1])
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, n + 1))])
    size = np.diff(count, axis=1)
    slope = np.diff(total, axis=1) / np.maximum(size, 1)
    rest = (total[:, :-1] - slope * count[:, :-1]) * np.diff(harmonic[places], axis=1)
    area: Floats = np.clip((slope * size + rest).sum(axis=1) / n, 0.0, 1.0)
    return area


def signals(arena: Arena) -> tuple[str, ...]:
    """Return the names of an arena's signals: its features, then the measures of its scores."""
    out: dict[str, None] = {}
    for table, column in _SIGNALS.items():
        if table in arena.tables:
            out |= dict.fromkeys(sorted(arena.read(table, columns=[column])[column].unique().to_pylist()))
    return tuple(out)


def risk_coverage(
    arena: Arena,
    signal: str,
    *,
    loss: str = "hallucination",
    languages: Sequence[str] | None = None,
    parser: Parser = "strict",
    draws: int = DRAWS,
) -> dict[tuple[str, str], Curve]:
    """Return the risk-coverage curves by language and system; the queries of all languages are pooled in `all`.

    Args:
        arena: with outcomes, and the signal.
        signal: a feature, in its own direction, or a measure of `scores`, whose mean over the raters counts; higher
            favours answering.
        loss: one of `LOSSES`.
        languages: codes; None for all.
        parser: parser whose outcomes count.
        draws: bootstrap draws over queries, at least 2. A query shared by several languages is drawn as one.

    Raises:
        TableMissing: if the arena lacks outcomes, or the table of the signal.
        UnknownName: if there is no such signal, loss or language.
    """
    import numpy as np

    measured = _signal(arena, signal, languages)
    rows = _losses(arena, loss, languages, parser).join(measured, _KEY).sort_by([(name, "ascending") for name in _KEY])
    code, name, query = (np.array(rows[column].to_pylist(), dtype=object) for column in _KEY)
    lost, strength = (rows[column].to_numpy().astype(float) for column in ("loss", "signal"))
    if signal in FEATURES and FEATURES[signal].direction == "lower":
        strength = -strength
    systems, codes = sorted(set(name)), sorted(set(code))
    shared = shared_ids({language: sorted(set(query[code == language])) for language in codes})
    curves = {}
    for language, system in [(language, system) for language in (*codes, ALL) for system in systems]:
        of_cell = (name == system) & ((code == language) | (language == ALL))
        if not of_cell.any() or (language == ALL and len(set(code[of_cell])) == 1):
            continue
        known = of_cell & ~np.isnan(strength)
        number: dict[tuple[str, str], int] = {}
        keys = (("" if each in shared else own, each) for own, each in zip(code[known], query[known], strict=True))
        units = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)
        curves[language, system] = curve(strength[known], lost[known], draws=draws, units=units)
    return curves


def curve_rows(curves: Mapping[tuple[str, str], Curve]) -> list[dict[str, Any]]:
    """Return one row per language and system, with the fields of its curve."""
    return [{"language": code, "system": system, **asdict(of_cell)} for (code, system), of_cell in curves.items()]


def _signal(arena: Arena, name: str, languages: Sequence[str] | None) -> pa.Table:
    """Return the column `signal` of each answer."""
    import pyarrow.compute as pc

    known = signals(arena)
    if not known:
        arena.need("features")
    if name not in known:
        raise UnknownName("signal", name, known, where=arena.address)
    for table, column in _SIGNALS.items():
        if table in arena.tables:
            rows = arena.read(table, columns=[*_KEY, column, "value"], languages=languages)
            rows = rows.filter(pc.equal(rows[column], name))
            if len(rows):
                break
    rows = rows.filter(pc.is_valid(rows["value"])).group_by(_KEY).aggregate([("value", "mean")])
    return rows.select([*_KEY, "value_mean"]).rename_columns([*_KEY, "signal"])


def _losses(arena: Arena, name: str, languages: Sequence[str] | None, parser: Parser) -> pa.Table:
    """Return the column `loss` of each answer, 0 or 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name not in LOSSES:
        raise UnknownName("loss", name, LOSSES, where=arena.address)
    rows = arena.read("outcomes", columns=[*_KEY, "parser", "subset", "outcome", "correct"], languages=languages)
    rows = rows.filter(pc.equal(rows["parser"], parser))
    if name == "hallucination":
        rows = rows.filter(pc.equal(rows["outcome"], "answered"))
        wrong = pc.not_equal(rows["subset"], next(s for s, right in RIGHT.items() if right == "answered"))
    else:
        wrong = pc.invert(rows["correct"])
    return rows.select(_KEY).append_column("loss", pc.cast(wrong, pa.float64())).drop_null()
