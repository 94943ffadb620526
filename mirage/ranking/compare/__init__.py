"""Paired comparison of two systems: better, worse, equivalent or inconclusive.

    report = compare_systems(arena, "new", "old", CompareSettings(measure="rate", margin=0.02))
    report.overall.verdict, report.exit_code(require=True)

`measures.py` reads each system's value on each query, `paired.py` has the statistics, `comparing.py` assembles the
report for every language and for all, `reports.py` formats it for CI.
"""

from mirage.ranking.compare.comparing import compare_ratings, compare_systems
from mirage.ranking.compare.records import Comparison, ComparisonReport, ComparisonVerdict, MovedQuery
from mirage.ranking.settings import CompareSettings

__all__ = [
    "CompareSettings",
    "Comparison",
    "ComparisonReport",
    "ComparisonVerdict",
    "MovedQuery",
    "compare_ratings",
    "compare_systems",
]
