"""Is one system better than another, worse, as good, or can these queries not tell?

    report = compare_systems(arena, "new", "old", measure="rate", margin=0.02)
    report.overall.verdict, report.exit_code(require=True)

`measures.py` reads what each system is worth on each query, `paired.py` has the statistics, `comparing.py` puts them
together for every language and for all, `reports.py` prints them for CI.
"""

from mirage.comparison.comparing import compare_ratings, compare_systems
from mirage.comparison.records import Comparison, ComparisonReport, ComparisonVerdict, MovedQuery

__all__ = [
    "Comparison",
    "ComparisonReport",
    "ComparisonVerdict",
    "MovedQuery",
    "compare_ratings",
    "compare_systems",
]
