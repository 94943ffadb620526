"""Thresholds with a guaranteed error, from arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mirage.errors import BadInput
from mirage.stages.abstain.curve import check_signals, lacking
from mirage.stages.abstain.records import Method, Promise
from mirage.stats.intervals import CONFIDENCE, wilson_of_variance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

GRID = 20
"""Number of thresholds that `tested` tries, from the strictest down."""


def promise(
    signal: Floats,
    loss: Floats,
    calibration: NDArray[np.bool_],
    *,
    error: float,
    method: Method = "conformal",
    confidence: float = CONFIDENCE,
    seed: int = 0,
    units: Places | None = None,
) -> Promise:
    """Choose a threshold on some queries, and evaluate it on the others.

    Args:
        signal: of one answer per query; higher favours answering.
        loss: of the same answers, 0 (correct) to 1 (wrong).
        calibration: mask of the calibration queries; the others are the test set. Must not depend on signal or loss.
        error: mean loss to guarantee, between 0 and 1.
        method: `conformal` or `tested`, see `Promise`.
        confidence: for `tested`: minimum probability that the guarantee holds.
        seed: seed with which `calibration` was drawn; only recorded.
        units: unit of each answer, for queries shared by several languages, each on one side of the split; None if each
            answer is to its own query.

    Raises:
        BadInput: if the arrays are not aligned, or `error`, `confidence` or `method` is invalid.
    """
    import numpy as np

    check_signals(signal, loss)
    if calibration.shape != signal.shape:
        raise BadInput(f"{calibration.shape} marks of a calibration and {signal.shape} signals")
    if not 0 < error < 1 or not 0 < confidence < 1:
        raise BadInput(f"an error of {error} at a confidence of {confidence}", do="use values between 0 and 1")
    if method not in ("conformal", "tested"):
        raise BadInput(f"there is no method {method!r}", do="use conformal or tested")
    rest = ~calibration
    unit = np.arange(len(signal)) if units is None else units
    if np.intersect1d(unit[calibration], unit[rest]).size:
        raise BadInput("one query is on both sides of the split", do="split by query")
    threshold, reason = None, lacking(signal[calibration])
    if reason is None:
        if method == "conformal":
            threshold = conformal(signal[calibration], loss[calibration], error, unit[calibration])
        else:
            part = signal[calibration], loss[calibration]
            threshold = lowest_threshold(*part, signal[rest], error, 1 - confidence, unit[calibration])
        reason = "none holds" if threshold is None else None
    elif reason == "no answers":
        reason = "too few queries"
    given_rows = signal[rest] >= threshold if threshold is not None else np.zeros(int(rest.sum()), dtype=bool)
    kept = loss[rest][given_rows]
    n, given = int(rest.sum()), len(kept)
    tried = reason is None and n > 0
    return Promise(
        method=method,
        error=error,
        confidence=confidence if method == "tested" else None,
        threshold=threshold,
        n_calibration=int(calibration.sum()),
        n_test=n,
        given=given,
        coverage=given / n if tried else None,
        **_risk(kept, unit[rest][given_rows]),
        overall=float(kept.sum()) / n if tried else None,
        seed=seed,
        reason=reason,
    )


def conformal(signal: Floats, loss: Floats, error: float, units: Places | None = None) -> float | None:
    """Return the lowest threshold whose expected loss over all queries is at most `error`; None if there is none.

    The loss of a query is that of its answer if given, and 0 if withheld, so it decreases in the threshold, as the
    theorem requires. The threshold is the lowest signal with n/(n+1) R + 1/(n+1) <= `error`, with R the mean loss at
    it. With up to B answers per query, the theorem applies to the sum of their losses.

    Source: Angelopoulos, Bates, Fisch, Lei and Schuster, Conformal Risk Control, ICLR 2024 (arXiv:2208.02814), with
    B = 1.
    """
    import numpy as np

    most = 1 if units is None else int(np.unique(units, return_counts=True)[1].max(initial=1))
    values, place = np.unique(signal, return_inverse=True)
    # Total loss at each threshold, of the answers whose signal is at least that.
    total = np.cumsum(np.bincount(place, weights=loss, minlength=len(values))[::-1])[::-1]
    holds = total + most <= error * (len(signal) + most) + 1e-9
    return float(values[int(np.argmax(holds))]) if holds.any() else None


def lowest_threshold(
    signal: Floats,
    loss: Floats,
    others: Floats,
    error: float,
    risk: float,
    units: Places | None = None,  # no test
) -> float | None:
    """Return the lowest threshold for which every stricter one is shown to hold `error` among the answers given.

    Thresholds of a grid are tested from the strictest down at level `risk`, until the first failure (fixed-sequence
    testing). The grid consists of signals of other queries, so that these losses do not choose it.

    Args:
        signal: of the calibration queries.
        loss: of the calibration queries, in [0, 1].
        others: signals of other queries.
        error: mean loss to guarantee among the answers given.
        risk: maximum probability that the guarantee fails.
        units: as in `promise`, of the calibration queries.

    Source: Angelopoulos, Bates, Candès, Jordan and Lei, Learn then Test (arXiv:2110.01052).
    """
    import numpy as np

    if not len(others):
        return None
    # The strictest threshold passes with flawless answers, even if two standard deviations fewer are given.
    flawless = math.log(risk) / math.log1p(-error)
    unit = np.arange(len(signal)) if units is None else units
    least = (flawless + 2 * math.sqrt(flawless)) / len(np.unique(unit))
    if least >= 1:
        return None
    grid = np.unique(np.quantile(others, 1 - np.linspace(least, 1, GRID), method="inverted_cdf"))[::-1]
    threshold = None
    for value in grid.tolist():
        given = signal >= value
        if p_value(loss[given], error, unit[given]) > risk:
            break
        threshold = float(value)
    return threshold


def p_value(loss: Floats, error: float, units: Places | None = None) -> float:
    """Return the p-value of losses this small if their mean exceeds `error`; 1 without any.

    Exact binomial if all losses are 0 or 1; otherwise the bound of Hoeffding and Bentkus (Bates et al., JACM 68(6),
    2021). With several answers per query, the bound applies to their summed excess loss, since only queries are
    independent.
    """
    import numpy as np
    from scipy.special import bdtr, rel_entr

    if units is not None and len(np.unique(units)) < len(units):
        place = np.unique(units, return_inverse=True)[1]
        loss = error + np.bincount(place, weights=loss - error) / np.bincount(place).max()
    n = len(loss)
    if not n:
        return 1.0
    total = float(loss.sum())
    if np.isin(loss, (0.0, 1.0)).all():
        return float(bdtr(round(total), n, error))
    mean = min(total / n, error)
    hoeffding = math.exp(-n * float(rel_entr(mean, error) + rel_entr(1 - mean, 1 - error)))
    return min(1.0, hoeffding, math.e * float(bdtr(math.ceil(total - 1e-9), n, error)))


def _risk(kept: Floats, units: Places) -> dict[str, float | None]:
    import numpy as np

    if not len(kept):
        return {"risk": None, "risk_low": None, "risk_high": None}
    mean = float(kept.mean())
    around = np.bincount(np.unique(units, return_inverse=True)[1], weights=kept - mean)
    variance = float((around**2).sum()) / len(kept) ** 2
    low, high = wilson_of_variance(mean, variance, len(kept))
    return {"risk": mean, "risk_low": low, "risk_high": high}
