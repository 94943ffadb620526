"""Paired comparison of two systems: better, worse, equivalent or inconclusive.

    from mirage.ranking.compare.comparing import compare_systems
    from mirage.ranking.settings import CompareSettings

    report = compare_systems(arena, "new", "old", CompareSettings(measure="rate", margin=0.02))
    report.overall.verdict, report.exit_code(require=True)

`measures.py` reads each system's value on each query, `paired.py` has the statistics, `comparing.py` assembles the
report for every language and for all, `reports.py` formats it for CI.
"""
