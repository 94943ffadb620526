"""Adaptive judging: which battles to judge next, what those judged say about all, and when to stop.

`population.py` orders all battles at random within each language and pair of systems, `estimate.py` weights the judged
battles by their inclusion probability, `spending.py` makes tests valid after every round, and `design.py` chooses the
battles of the next round. `settings.py` has the goals, `reading.py` turns verdicts into points.
"""

from mirage.ranking.adaptive.design import AdaptiveState, begin
from mirage.ranking.adaptive.estimate import WeightedRatings, estimate
from mirage.ranking.adaptive.population import Population, arrange, populate
from mirage.ranking.adaptive.reading import points_of
from mirage.ranking.adaptive.settings import AdaptiveSettings, Goal
from mirage.ranking.adaptive.spending import sequential_p

__all__ = [
    "AdaptiveSettings",
    "AdaptiveState",
    "Goal",
    "Population",
    "WeightedRatings",
    "arrange",
    "begin",
    "estimate",
    "points_of",
    "populate",
    "sequential_p",
]
