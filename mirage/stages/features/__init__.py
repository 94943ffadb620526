"""Cheap features of answers, one file per family: each declares its features and measures them.

    from mirage.stages.features.means import means
    from mirage.stages.features.table import compute

    table = compute(queries, passages, answers)     # schema.Feature: a value or a reason for each answer and feature
    means(table)                                    # a system's value in a language, with interval and coverage

This needs only the tables. A reference system, local models and a grader are passed as tools:

    from mirage.stages.features.pairs import PairModel
    from mirage.stages.features.spec import Tools
    from mirage.stages.features.table import compute

    nli = PairModel(support.MODEL, max_tokens=support.MAX_TOKENS)
    compute(queries, passages, answers, tools=Tools(reference="reference", support=nli))

`spec.py` defines features, answers and tools. `table.py` chooses the features and measures them, `reader.py` reads the
answers from the tables; `pairs.py` runs local models. `length.py` is the shortest example of a family:
to add one, write its file and list it in `families.py`.
"""
