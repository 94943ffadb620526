"""Every stage after the sources, in order: the one place that says so."""

from mirage.features.stage import FEATURES
from mirage.outcomes.stage import OUTCOMES
from mirage.rank.stage import JUDGED_RATINGS, JUDGED_TOURNAMENTS, RELEVANCE_RATINGS, RELEVANCE_TOURNAMENTS
from mirage.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS

STAGES = (
    OUTCOMES,
    FEATURES,
    RELEVANCE_RATINGS,
    JUDGED_RATINGS,
    RELEVANCE_TOURNAMENTS,
    JUDGED_TOURNAMENTS,
    RELEVANCE_PREDICTIONS,
    JUDGED_PREDICTIONS,
)
"""Every stage after the sources, in order."""
