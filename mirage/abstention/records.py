"""What an analysis of abstention gives."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from mirage.schema import Count, Share
from mirage.units import Unit

Method = Literal["conformal", "tested"]
"""How a threshold is chosen (`Promise.method`)."""


@dataclass(frozen=True, slots=True)
class Point:
    """The risk at one coverage."""

    coverage: Share
    """Share of the answers that are given: those with the strongest signal."""
    risk: Share
    """Mean loss of these. Where answers with the same signal are cut, its mean over the ways to cut them."""
    low: Share | None
    """Lower end of the interval of `risk` at this coverage alone; null with fewer than 20 queries."""
    high: Share | None
    """Upper end."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Risk against coverage of one signal.

    The area is that of Geifman, Uziel and El-Yaniv (ICLR 2019): the mean of the risks at the coverages 1/n, 2/n ... 1;
    0 is best. Intervals are from a bootstrap of the queries, at the level `confidence`.
    """

    n: Count
    """Queries: answers with a signal and a loss."""
    points: tuple[Point, ...]
    """The curve at the coverages 0.05, 0.10 ... 1; empty where `reason` says why."""
    risk: Share | None
    """Mean loss with every answer given: the level of the curve of a signal that knows nothing."""
    area: Share | None
    """Area under the curve (AURC). Null where `reason` says why."""
    area_low: Share | None
    """Lower end of its interval."""
    area_high: Share | None
    """Upper end."""
    oracle: Share | None
    """The least area that any signal could have on these losses."""
    excess: Share | None
    """`area` less `oracle` (E-AURC): what the signal loses to the best possible."""
    excess_low: Share | None
    """Lower end of its interval."""
    excess_high: Share | None
    """Upper end."""
    draws: Count
    """Draws of the bootstrap."""
    seed: Count
    """Seed of the draws."""
    confidence: Share
    """Level of the intervals."""
    reason: str | None
    """Why there is no curve: `no answers`, `too few queries`, `constant signal`; null where there is one."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The lowest threshold of a signal that holds a promised error, and what it did on queries that did not choose it.

    Two methods promise two things. `conformal` (Angelopoulos et al., Conformal Risk Control, ICLR 2024): of all
    answers, given or withheld, the share that is given and wrong is at most `error`, on the mean over calibrations.
    `tested` (Angelopoulos et al., Learn then Test, 2021): of the answers given, the share that is wrong is at most
    `error`, with the probability `confidence` over calibrations. Both suppose that the queries to come are drawn as
    these were.
    """

    method: Method
    """How the threshold was chosen, and so what is promised."""
    error: Share
    """The promised mean loss."""
    confidence: Share | None
    """Least probability that the promise holds; null for `conformal`, whose promise is on the mean."""
    threshold: float | None
    """Give an answer whose signal is this or stronger: at least this where higher is better, else at most. Null where
    no threshold holds the promise: give none."""
    n_calibration: Count
    """Queries that chose the threshold."""
    n_test: Count
    """The other queries, on which it was tried."""
    given: Count
    """Test queries whose answer is given."""
    coverage: Share | None
    """`given` / `n_test`."""
    risk: Share | None
    """Mean loss of the answers given to the test queries; null where none is."""
    risk_low: Share | None
    """Lower end of its 95% Wilson interval."""
    risk_high: Share | None
    """Upper end."""
    overall: Share | None
    """Loss of the answers given, over all the test queries: one withheld costs nothing. `conformal` bounds its mean."""
    seed: Count
    """Seed of the split into calibration and test."""
    reason: str | None
    """Why there is no threshold: `too few queries`, `constant signal`, `none holds`; null where there is one."""


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """What a signal does for one system in one language."""

    language: str
    """Language of the queries; `all`: those of all languages together, each query weighing the same."""
    system: str
    """The system."""
    signal: str
    """Name of the feature or of the measure of a score."""
    loss: str
    """What counts as wrong: `hallucination`, `wrong`, or a measure of scores."""
    higher: bool
    """Whether more of the signal speaks for the answer."""
    unmeasured: int
    """Answers with a loss but without a value of the signal; they are in nothing else here."""
    curve: Curve
    """Risk against coverage."""
    promise: Promise
    """The threshold for the promised error."""
    unit: Unit
    """What is drawn and split together: `query shared by languages` in the row `all` of languages that share ids."""

    def flat(self) -> dict[str, Any]:
        """All as one row: fields of the promise that the curve has too begin with `test_`."""
        row: dict[str, Any] = asdict(self)
        drawn, held = row.pop("curve"), row.pop("promise")
        row.update(drawn)
        row.update({f"test_{name}" if name in drawn else name: value for name, value in held.items()})
        return row


SHOWN = (
    *("language", "system", "n", "risk", "area", "area_low", "area_high", "excess", "threshold"),
    *("coverage", "test_risk", "overall", "test_reason"),
)
"""Fields of a flat row that are printed for people."""
