"""Bradley-Terry ratings from battles, with intervals, tests and diagnostics of the design.

    from mirage.battles.counts import from_outcomes
    from mirage.ranking.bootstrap import rate

    battles = from_outcomes(outcomes, skill="both")       # or from_judgments(judgments, judge="gpt-4o")
    ranking = rate(battles, seed=0)
    ranking.table()                                       # schema.Rating

`fit.py` maximises the likelihood of battles (`mirage.battles`), `bootstrap.py` rates each language and computes
intervals from resampled queries (`resample.py`), `board.py` ranks an arena and has the table and the remarks that every
door shows, `pair_tests.py` tests every two systems, `graph.py` finds the ratings the data does not bound, `scale.py`
defines display scales, `settings.py` the settings, `control.py` ranks at equal style, `paper.py` replicates the
published tournaments. `stage.py` declares the stages.
NumPy and SciPy only; no module here calls a model. The package imports none of its modules: the command line reads
`settings.py` before it loads NumPy.
"""
