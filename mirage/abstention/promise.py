"""The threshold that holds a promised error: arrays in, a threshold with its guarantee out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mirage.abstention.curve import checked, lacking
from mirage.abstention.records import Method, Promise
from mirage.errors import BadInput
from mirage.intervals import CONFIDENCE, wilson_of_variance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

GRID = 20
"""Thresholds that `tested` tries, from the strictest down."""


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
    """Choose a threshold on some queries, and try it on the others.

    Args:
        signal: of one answer a query; higher speaks for the answer.
        loss: of the same answers, 0 (right) to 1 (wrong).
        calibration: which queries choose; the others try. The choice must not depend on signal or loss.
        error: the promised mean loss, between 0 and 1.
        method: `conformal` or `tested`, see `Promise`.
        confidence: of `tested`: the least probability that the promise holds.
        seed: with which `calibration` was drawn; for the record.
        units: which answers are to one query that several languages share: the number of its unit, all of one side of
            `calibration`; None where each answer is to a query of its own.

    Raises:
        BadInput: if the arrays do not fit, or `error`, `confidence` or `method` cannot be.
    """
    import numpy as np

    checked(signal, loss)
    if calibration.shape != signal.shape:
        raise BadInput(f"{calibration.shape} marks of a calibration and {signal.shape} signals")
    if not 0 < error < 1 or not 0 < confidence < 1:
        raise BadInput(f"an error of {error} at a confidence of {confidence}", do="give both between 0 and 1")
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
            threshold = tested(*part, signal[rest], error, 1 - confidence, unit[calibration])
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
    """The lowest threshold whose loss over all queries is at most `error` on the mean; null if there is none.

    The loss of a query is that of its answer where it is given, and 0 where it is withheld, so it falls as the
    threshold rises, as the theorem asks. The threshold is the least signal with n/(n+1) R + 1/(n+1) <= `error`, R the
    mean loss at it. Where up to B answers are to one query, it is the sum of their losses that the theorem is about.

    Source: Angelopoulos, Bates, Fisch, Lei and Schuster, Conformal Risk Control, ICLR 2024 (arXiv:2208.02814), with
    B = 1.
    """
    import numpy as np

    most = 1 if units is None else int(np.unique(units, return_counts=True)[1].max(initial=1))
    values, place = np.unique(signal, return_inverse=True)
    # Loss at each threshold: of the answers whose signal is that value or more.
    total = np.cumsum(np.bincount(place, weights=loss, minlength=len(values))[::-1])[::-1]
    holds = total + most <= error * (len(signal) + most) + 1e-9
    return float(values[int(np.argmax(holds))]) if holds.any() else None


def tested(
    signal: Floats,
    loss: Floats,
    others: Floats,
    error: float,
    risk: float,
    units: Places | None = None,  # noqa: PT028  # no test
) -> float | None:
    """The lowest threshold at which every stricter one is shown to hold `error` among the answers given.

    Thresholds of a grid are tested from the strictest down, each at the level `risk`, until the first that cannot be
    shown (fixed sequence testing). The grid is made of signals of other queries, so that these losses do not choose it.

    Args:
        signal: of the calibration queries.
        loss: theirs, in [0, 1].
        others: signals of queries that are not among them.
        error: the promised mean loss among the answers given.
        risk: the greatest probability that the promise fails.
        units: as in `promise`, of the calibration queries.

    Source: Angelopoulos, Bates, Candès, Jordan and Lei, Learn then Test (arXiv:2110.01052).
    """
    import numpy as np

    if not len(others):
        return None
    # At the strictest threshold, flawless answers are enough even where two standard deviations fewer are given.
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
    """How probable losses this small are where their mean is more than `error`; 1 without any.

    Exact by the binomial distribution where each loss is 0 or 1; else the bound of Hoeffding and Bentkus (Bates et al.,
    JACM 68(6), 2021). Where several answers are to one query, it is what they lose together beyond the error that is
    bounded: the queries are independent, the answers are not.
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
