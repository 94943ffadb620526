"""Running the stages in order, from answers to a ranking.

`steps.py` has the steps, each skipped while it is up to date, `evaluating.py` takes a file to a ranking, and
`findings.py` puts that into sentences. `adding.py` adds a user's system. Each domain package declares its own stages
(`mirage.stages.stage`).
"""
