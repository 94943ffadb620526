"""Settings for measuring features."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """Settings for measuring the features of an arena's answers."""

    only: Collection[str] = ()
    """Names of features; empty for all that the tools and tables allow. A named support feature or reranker score uses
    its default model if none is given.
    """
    reference: str | None = None
    """System with the reference answers of the overlap features."""
    nli: str | None = None
    """NLI model of the support features: a name on the Hub or a folder."""
    reranker: str | None = None
    """Reranker model: a name on the Hub or a folder."""
    device: str | None = None
    """torch device; None for the GPU if there is one."""
    assigner: str | None = None
    """Assigner of nuggets; None for the default (`assessed.decider`)."""
    grader: str | None = None
    """Grader of support; None for the default."""
