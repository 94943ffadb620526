"""Levels (rates, means of features and scores) corrected by people's labels on answers.

    from mirage.people.levels.labels import read_labels
    from mirage.people.levels.levels import correct_levels, read_log

    labels = read_labels(arena, "rate", read_log())
    levels = correct_levels(labels)                    # by language and system, `all` last
    levels.rows, levels.notes()

`labels.py` reads and imports labels, `levels.py` corrects.
`mirage.stats.powered_mean` has the estimator.
"""
