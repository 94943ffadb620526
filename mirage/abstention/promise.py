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

    Raises:
        BadInput: if the arrays do not fit, or `error`, `confidence` or `method` cannot be.
    """
    checked(signal, loss)
    if calibration.shape != signal.shape:
        raise BadInput(f"{calibration.shape} marks of a calibration and {signal.shape} signals")
    if not 0 < error < 1 or not 0 < confidence < 1:
        raise BadInput(f"an error of {error} at a confidence of {confidence}", do="give both between 0 and 1")
    if method not in ("conformal", "tested"):
        raise BadInput(f"there is no method {method!r}", do="use conformal or tested")
    rest = ~calibration
    threshold, reason = None, lacking(signal[calibration])
    if reason is None:
        if method == "conformal":
            threshold = conformal(signal[calibration], loss[calibration], error)
        else:
            threshold = tested(signal[calibration], loss[calibration], signal[rest], error, 1 - confidence)
        reason = "none holds" if threshold is None else None
    elif reason == "no answers":
        reason = "too few queries"
    kept = loss[rest][signal[rest] >= threshold] if threshold is not None else loss[:0]
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
        **_risk(kept),
        overall=float(kept.sum()) / n if tried else None,
        seed=seed,
        reason=reason,
    )


def conformal(signal: Floats, loss: Floats, error: float) -> float | None:
    """The lowest threshold whose loss over all queries is at most `error` on the mean; null if there is none.

    The loss of a query is that of its answer where it is given, and 0 where it is withheld, so it falls as the
    threshold rises, as the theorem asks. The threshold is the least signal with n/(n+1) R + 1/(n+1) <= `error`, R the
    mean loss at it.

    Source: Angelopoulos, Bates, Fisch, Lei and Schuster, Conformal Risk Control, ICLR 2024 (arXiv:2208.02814), with
    B = 1.
    """
    import numpy as np

    values, place = np.unique(signal, return_inverse=True)
    # Loss at each threshold: of the answers whose signal is that value or more.
    total = np.cumsum(np.bincount(place, weights=loss, minlength=len(values))[::-1])[::-1]
    holds = total + 1 <= error * (len(signal) + 1) + 1e-9
    return float(values[int(np.argmax(holds))]) if holds.any() else None


def tested(signal: Floats, loss: Floats, others: Floats, error: float, risk: float) -> float | None:
    """The lowest threshold at which every stricter one is shown to hold `error` among the answers given.

    Thresholds of a grid are tested from the strictest down, each at the level `risk`, until the first that cannot be
    shown (fixed sequence testing). The grid is made of signals of other queries, so that these losses do not choose it.

    Args:
        signal: of the calibration queries.
        loss: theirs, in [0, 1].
        others: signals of queries that are not among them.
        error: the promised mean loss among the answers given.
        risk: the greatest probability that the promise fails.

    Source: Angelopoulos, Bates, Candès, Jordan and Lei, Learn then Test (arXiv:2110.01052).
    """
    import numpy as np

    if not len(others):
        return None
    # At the strictest threshold, flawless answers are enough even where two standard deviations fewer are given.
    flawless = math.log(risk) / math.log1p(-error)
    least = (flawless + 2 * math.sqrt(flawless)) / len(signal)
    if least >= 1:
        return None
    grid = np.unique(np.quantile(others, 1 - np.linspace(least, 1, GRID), method="inverted_cdf"))[::-1]
    threshold = None
    for value in grid.tolist():
        kept = loss[signal >= value]
        if p_value(kept, error) > risk:
            break
        threshold = float(value)
    return threshold


def p_value(loss: Floats, error: float) -> float:
    """How probable losses this small are where their mean is more than `error`; 1 without any.

    Exact by the binomial distribution where each loss is 0 or 1; else the bound of Hoeffding and Bentkus (Bates et al.,
    JACM 68(6), 2021).
    """
    import numpy as np
    from scipy.special import bdtr, rel_entr

    n = len(loss)
    if not n:
        return 1.0
    total = float(loss.sum())
    if np.isin(loss, (0.0, 1.0)).all():
        return float(bdtr(round(total), n, error))
    mean = min(total / n, error)
    hoeffding = math.exp(-n * float(rel_entr(mean, error) + rel_entr(1 - mean, 1 - error)))
    return min(1.0, hoeffding, math.e * float(bdtr(math.ceil(total - 1e-9), n, error)))


def _risk(kept: Floats) -> dict[str, float | None]:
    if not len(kept):
        return {"risk": None, "risk_low": None, "risk_high": None}
    mean = float(kept.mean())
    variance = float(kept.var()) / len(kept)
    low, high = wilson_of_variance(mean, variance, len(kept))
    return {"risk": mean, "risk_low": low, "risk_high": high}
