"""Selective answering: the error of the answers given if those with the weakest signal are withheld.

A signal is a feature or a score of the answers. Its risk-coverage curve is the mean loss of the answers given, by the
share given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput, UnknownName
from mirage.schema import Count, Parser, Share
from mirage.stages.features import FEATURES
from mirage.stages.outcomes import RIGHT
from mirage.stats.intervals import wilson_of_variance
from mirage.stats.units import Unit, shared_ids
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
"""What counts as wrong, from the table `outcomes`. A measure of the table `scores` is a loss too: how far an answer is
from the best of the scale."""
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
    excess: Share | None = None
    """`area` minus the smallest area of any signal on these losses (E-AURC): the distance to the optimum."""
    reason: str | None = None
    """Why there is no curve: `no answers`, `too few queries`, `constant signal`; null if there is one."""


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """The risk-coverage curve of one system in one language."""

    language: str
    """Language of the queries; `all`: all languages pooled, with equal weight per query."""
    system: str
    """The system."""
    signal: str
    """Name of the feature, or of the measure in `scores`."""
    loss: str
    """The loss: `hallucination`, `wrong`, or a measure in `scores`."""
    higher: bool
    """Whether higher values of the signal favour answering."""
    unmeasured: int
    """Answers with a loss but without a signal; excluded from the curve."""
    unit: Unit
    """Unit of resampling: `query shared by languages` in the row `all` of languages that share ids."""
    curve: Curve
    """The curve."""

    def flat(self) -> dict[str, Any]:
        """Return the fields, and those of the curve, as one row."""
        row: dict[str, Any] = asdict(self)
        row.update(row.pop("curve"))
        return row


@dataclass(frozen=True, slots=True)
class RiskSettings:
    """Options of risk-coverage curves."""

    loss: str = "hallucination"
    """`hallucination`, `wrong`, or a measure of `scores` whose scale is known."""
    higher: bool | None = None
    """Whether higher values of the signal favour answering; None: as the feature declares, else true."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    systems: Sequence[str] | None = None
    """Names; None for all."""
    parser: Parser = "strict"
    """Parser whose outcomes count."""
    draws: int = DRAWS
    """Bootstrap draws over queries, at least 2."""
    seed: int = 0
    """Seed of the draws."""


SHOWN = ("language", "system", "n", "risk", "area", "area_low", "area_high", "excess", "reason")
"""Fields of a flat row to print for people."""


def curve(signal: Floats, loss: Floats, *, draws: int = DRAWS, seed: int = 0, units: Places | None = None) -> Curve:
    """Compute the risk-coverage curve of a signal, with pointwise intervals.

    Args:
        signal: of one answer per query; higher favours answering.
        loss: of the same answers, 0 (correct) to 1 (wrong).
        draws: bootstrap draws over queries, at least 2.
        seed: seed of the draws.
        units: unit of each answer, for queries shared by several languages; None if each answer is to its own query.

    Returns:
        The curve, or the reason why there is none. Intervals are Wilson's at the effective sample size of the bootstrap
        variance (`wilson_of_variance`).

    Raises:
        BadInput: if a signal is not finite, a loss is not in [0, 1], or the draws are too few.

    Source: El-Yaniv and Wiener, JMLR 11 (2010); Geifman, Uziel and El-Yaniv, ICLR 2019 (AURC, E-AURC).
    """
    import numpy as np

    if draws < 2:
        raise BadInput(f"{draws} draws are too few", do="use at least 2")
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
    ends, steps = _ends(signal[order]), np.arange(1, STEPS + 1) / STEPS

    def measure(weights: Floats) -> Floats:
        """Return the risks at the steps, then the area, of each row of weights."""
        count, total = _sums(weights[:, order], loss[order], ends)
        risks = np.array([np.interp(steps * n, *row) for row in zip(count, total, strict=True)]) / (steps * n)
        return np.column_stack([np.clip(risks, 0, 1), _area(count, total)])

    even = np.ones((1, n))
    (values,) = measure(even)
    place = np.arange(n) if units is None else np.unique(units, return_inverse=True)[1]
    sizes, rng, block = np.bincount(place), np.random.default_rng([seed, n]), max(1, _BLOCK // n)
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
    best = np.sort(loss)
    excess = max(0.0, float(values[-1] - _area(*_sums(even, best, _ends(best)))[0]))
    return Curve(n, tuple(points), mean, float(values[-1]), *ranges[-1], excess)


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


def _ends(ordered: Floats) -> NDArray[np.int64]:
    """Return the number of answers up to the end of each run of equal signals."""
    import numpy as np

    return np.append(np.flatnonzero(np.diff(ordered)) + 1, len(ordered))


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
    for table, column in (("features", "feature"), ("scores", "measure")):
        if table in arena.tables:
            out |= dict.fromkeys(sorted(arena.read(table, columns=[column])[column].unique().to_pylist()))
    return tuple(out)


def risk_coverage(arena: Arena, signal: str, settings: RiskSettings = RiskSettings()) -> list[RiskCoverage]:
    """Return the risk-coverage curve of every system, in every language and, pooling the queries, over all (`all`).

    Args:
        arena: with the signal, and outcomes or scores for the loss.
        signal: a feature, or a measure of `scores`, whose mean over the raters counts.
        settings: the options.

    Raises:
        TableMissing: if the arena lacks the table of the signal or of the loss.
        UnknownName: if there is no such signal, loss, language or system.
        BadInput: if the draws are too few, or a scale is unknown.
    """
    import numpy as np

    measured = _signal(arena, signal, settings.languages).rename_columns([*_KEY, "signal"])
    rows = _losses(arena, settings).join(measured, _KEY).sort_by([(name, "ascending") for name in _KEY])
    code, name, query = (np.array(rows[column].to_pylist(), dtype=object) for column in _KEY)
    values = np.array([rows[column].to_numpy() for column in ("signal", "value")], dtype=float)
    present = sorted(set(name))
    for system in settings.systems or ():
        if system not in present:
            raise UnknownName("system", system, present)
    up = (
        (signal not in FEATURES or FEATURES[signal].direction != "lower")
        if settings.higher is None
        else settings.higher
    )
    shared = shared_ids({language: sorted(set(query[code == language])) for language in sorted(set(code))})
    chosen = present if settings.systems is None else sorted(set(settings.systems))
    cells = [(language, system) for language in sorted(set(code)) for system in chosen]
    out = []
    for language, system in [*cells, *((ALL, system) for system in chosen)]:
        of_cell = (name == system) & ((code == language) | (language == ALL))
        if not of_cell.any() or (language == ALL and len(set(code[of_cell])) == 1):
            continue
        known = of_cell & ~np.isnan(values[0])
        number: dict[tuple[str, str], int] = {}
        keys = (("" if each in shared else own, each) for own, each in zip(code[known], query[known], strict=True))
        units = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)
        strength, lost = values[:, known]
        drawn = curve(strength if up else -strength, lost, draws=settings.draws, seed=settings.seed, units=units)
        unit: Unit = "query shared by languages" if len(number) < len(units) else "query"
        out.append(RiskCoverage(language, system, signal, settings.loss, up, int(of_cell.sum()) - drawn.n, unit, drawn))
    return out


def _signal(arena: Arena, name: str, languages: Sequence[str] | None) -> pa.Table:
    """Return the value of a signal for each answer."""
    import pyarrow.compute as pc

    known = signals(arena)
    if not known:
        arena.need("features")
    if name not in known:
        raise UnknownName("signal", name, known, where=arena.address)
    for table, column in (("features", "feature"), ("scores", "measure")):
        if table in arena.tables:
            rows = arena.read(table, columns=[*_KEY, column, "value"], languages=languages)
            rows = rows.filter(pc.equal(rows[column], name))
            if len(rows):
                break
    return _means(rows)


def _losses(arena: Arena, settings: RiskSettings) -> pa.Table:
    """Return the loss of each answer, in [0, 1]."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name, languages = settings.loss, settings.languages
    if name in LOSSES:
        rows = arena.read("outcomes", columns=[*_KEY, "parser", "subset", "outcome", "correct"], languages=languages)
        rows = rows.filter(pc.equal(rows["parser"], settings.parser))
        if name == "hallucination":
            rows = rows.filter(pc.equal(rows["outcome"], "answered"))
            value = pc.not_equal(rows["subset"], next(s for s, right in RIGHT.items() if right == "answered"))
        else:
            value = pc.invert(rows["correct"])
        return _means(rows.select(_KEY).append_column("value", pc.cast(value, pa.float64())))
    measures = arena.read("scores", columns=["measure"])["measure"] if "scores" in arena.tables else pa.array([])
    if name not in measures.to_pylist():
        raise UnknownName("loss", name, [*LOSSES, *measures.unique().to_pylist()], where=arena.address)
    rows = arena.read("scores", languages=languages)
    rows = rows.filter(pc.equal(rows["measure"], name))
    if rows["low"].null_count or rows["high"].null_count:
        raise BadInput(
            f"the scale of {name} is unknown", where=arena.address, do="import it with its minimum and maximum"
        )
    lost = pc.divide(pc.subtract(rows["high"], rows["value"]), pc.subtract(rows["high"], rows["low"]))
    return _means(rows.select(_KEY).append_column("value", lost))


def _means(rows: pa.Table) -> pa.Table:
    """Return the mean value of each answer, over raters if there are several."""
    import pyarrow.compute as pc

    rows = rows.filter(pc.is_valid(rows["value"])).group_by(_KEY).aggregate([("value", "mean")])
    return rows.select([*_KEY, "value_mean"]).rename_columns([*_KEY, "value"])
