"""Which system to take: the cheapest that cannot be told apart from the best, per language and for all of them.

    report = choose_systems(arena, referee="gpt-4o", requirements=Requirements(budget=2.0))
    report.overall.choice, report.overall.p_right

`worth.py` reads what each system is worth with draws of it, `facts.py` what it costs and how fast it is, `contest.py`
has the statistics, `choosing.py` puts them together.
"""

from mirage.deciding.choosing import choose_systems
from mirage.deciding.records import (
    ChoiceReport,
    LanguageChoice,
    Requirements,
    SystemFacts,
    SystemOption,
    WeightedChoice,
)

__all__ = [
    "ChoiceReport",
    "LanguageChoice",
    "Requirements",
    "SystemFacts",
    "SystemOption",
    "WeightedChoice",
    "choose_systems",
]
