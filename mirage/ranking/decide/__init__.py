"""Choice of a system: the cheapest not significantly worse than the best, per language and overall.

    report = choose_systems(arena, DecideSettings(judge="gpt-4o", requirements=Requirements(budget=2.0)))
    report.overall.choice, report.overall.p_right

`worth.py` computes each system's value with draws, `facts.py` its price and latency, `contest.py` has the statistics,
`choosing.py` assembles the report.
"""

from mirage.ranking.decide.choosing import choose_systems
from mirage.ranking.decide.records import (
    ChoiceReport,
    LanguageChoice,
    SystemFacts,
    SystemOption,
    WeightedChoice,
)
from mirage.ranking.settings import DecideSettings, Requirements

__all__ = [
    "ChoiceReport",
    "DecideSettings",
    "LanguageChoice",
    "Requirements",
    "SystemFacts",
    "SystemOption",
    "WeightedChoice",
    "choose_systems",
]
