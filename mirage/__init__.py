"""mirage: which model to trust with retrieval-augmented generation in your language, and how far.

The pipeline in a few lines (each stage is a function from tables to tables; `pipeline.py` knows the order):

    sources  -> queries, passages, answers       where the data comes from
    outcomes -> outcomes                         did it answer, did it abstain, was that right?
    features -> features                         cheap measures of an answer that need no judge
    rank     -> ratings                          battles to Bradley-Terry ratings with intervals

Reading order for a newcomer: `schema.py` (every table and column), `pipeline.py` (the order), `outcomes.py` and
`rank.py` (what the numbers are), `store/` (how tables are kept), then `views.py`, `charts.py`, `ui/` and
`pages/` (how they are shown). Importing this package loads nothing heavy.
"""

__version__ = "0.1.0"
