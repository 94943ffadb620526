"""Results of selective answering."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from mirage.schema import Count, Share
from mirage.stats.units import Unit

Method = Literal["conformal", "tested"]
"""How a threshold is chosen (`Promise.method`)."""


@dataclass(frozen=True, slots=True)
class Point:
    """The risk at one coverage."""

    coverage: Share
    """Share of the answers given: those with the strongest signal."""
    risk: Share
    """Mean loss of these. Within ties of the signal, the mean over all orders."""
    low: Share | None
    """Lower end of the pointwise interval of `risk`; null with fewer than 20 queries."""
    high: Share | None
    """Upper end."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Risk-coverage curve of one signal.

    The area is that of Geifman, Uziel and El-Yaniv (ICLR 2019): the mean of the risks at the coverages 1/n, 2/n ... 1;
    0 is best. Intervals are from a bootstrap over queries, at the level `confidence`.
    """

    n: Count
    """Queries: answers with a signal and a loss."""
    points: tuple[Point, ...]
    """The curve at the coverages 0.05, 0.10 ... 1; empty if `reason` is set."""
    risk: Share | None
    """Mean loss at full coverage: the level of an uninformative signal."""
    area: Share | None
    """Area under the curve (AURC); null if `reason` is set."""
    area_low: Share | None
    """Lower end of its interval."""
    area_high: Share | None
    """Upper end."""
    oracle: Share | None
    """Smallest area of any signal on these losses."""
    excess: Share | None
    """`area` minus `oracle` (E-AURC): the distance to the optimum."""
    excess_low: Share | None
    """Lower end of its interval."""
    excess_high: Share | None
    """Upper end."""
    draws: Count
    """Bootstrap draws."""
    seed: Count
    """Seed of the draws."""
    confidence: Share
    """Level of the intervals."""
    reason: str | None
    """Why there is no curve: `no answers`, `too few queries`, `constant signal`; null if there is one."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The lowest threshold of a signal with a guaranteed error, and its results on the test queries.

    The methods give different guarantees. `conformal` (Angelopoulos et al., Conformal Risk Control, ICLR 2024): the
    share of all answers, given or withheld, that is given and wrong is at most `error`, in expectation over
    calibrations. `tested` (Angelopoulos et al., Learn then Test, 2021): the share of the answers given that is wrong is
    at most `error`, with probability `confidence` over calibrations. Both assume that future queries come from the same
    distribution.
    """

    method: Method
    """Method, which determines the guarantee."""
    error: Share
    """Guaranteed mean loss."""
    confidence: Share | None
    """Minimum probability that the guarantee holds; null for `conformal`, which guarantees an expectation."""
    threshold: float | None
    """Give an answer whose signal is this or stronger: at least this if higher is better, else at most. Null if no
    threshold holds the guarantee: give none.
    """
    n_calibration: Count
    """Calibration queries."""
    n_test: Count
    """Test queries."""
    given: Count
    """Test queries whose answer is given."""
    coverage: Share | None
    """`given` / `n_test`."""
    risk: Share | None
    """Mean loss of the answers given to test queries; null if there are none."""
    risk_low: Share | None
    """Lower end of its 95% Wilson interval."""
    risk_high: Share | None
    """Upper end."""
    overall: Share | None
    """Loss of the answers given, over all test queries; withheld answers cost nothing. `conformal` bounds its
    expectation.
    """
    seed: Count
    """Seed of the split into calibration and test."""
    reason: str | None
    """Why there is no threshold: `too few queries`, `constant signal`, `none holds`; null if there is one."""


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """Selective answering by one signal, for one system in one language."""

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
    """Answers with a loss but without a signal; excluded from everything else."""
    curve: Curve
    """Risk-coverage curve."""
    promise: Promise
    """Threshold for the guaranteed error."""
    unit: Unit
    """Unit of resampling and splitting: `query shared by languages` in the row `all` of languages that share ids."""

    def flat(self) -> dict[str, Any]:
        """Return all fields as one row; fields of the guarantee that the curve also has are prefixed with `test_`."""
        row: dict[str, Any] = asdict(self)
        drawn, held = row.pop("curve"), row.pop("promise")
        row.update(drawn)
        row.update({f"test_{name}" if name in drawn else name: value for name, value in held.items()})
        return row


SHOWN = (
    *("language", "system", "n", "risk", "area", "area_low", "area_high", "excess", "threshold"),
    *("coverage", "test_risk", "overall", "test_reason"),
)
"""Fields of a flat row to print for people."""
