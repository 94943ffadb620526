"""Running the stages in order, from answers to a ranking.

`steps.py` has the steps, each skipped while it is up to date, and `evaluating.py` takes a file to an arena that can be
ranked; `mirage.views.overview` says what came out. `adding.py` adds a user's system. Each domain package declares its
own stages (`mirage.stages.stage`).
"""
