"""Settings of selective answering."""

from __future__ import annotations

from dataclasses import dataclass

from mirage.errors import BadInput
from mirage.schema import Parser
from mirage.stages.abstain.curve import DRAWS
from mirage.stages.abstain.records import Method
from mirage.stats.intervals import CONFIDENCE


@dataclass(frozen=True, slots=True)
class AbstainSettings:
    """Settings of a risk-coverage trade-off and of the threshold that guarantees an error."""

    error: float = 0.1
    """Error to guarantee, between 0 and 1."""
    loss: str = "hallucination"
    """`hallucination`, `wrong`, or a measure of `scores` whose scale is known."""
    higher: bool | None = None
    """Whether higher values of the signal favour answering; None: as the feature declares, else true."""
    method: Method = "conformal"
    """`conformal` or `tested` (`Promise`)."""
    confidence: float = CONFIDENCE
    """For `tested`: lowest probability that the guarantee holds."""
    languages: tuple[str, ...] | None = None
    """Codes; None for all."""
    systems: tuple[str, ...] | None = None
    """Names; None for all."""
    parser: Parser = "strict"
    """Parser whose outcomes count."""
    draws: int = DRAWS
    """Bootstrap draws over queries, at least 2."""
    seed: int = 0
    """Seed of the draws and of the split of the queries into calibration and test."""

    def __post_init__(self) -> None:
        if self.draws < 2:
            raise BadInput(f"{self.draws} draws are too few", do="use at least 2")
