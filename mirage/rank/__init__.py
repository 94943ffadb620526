"""From battles to ratings: Bradley-Terry strengths, their uncertainty, and what the data cannot say.

    battles = from_outcomes(outcomes, skill="both")       # or from_judgments(judgments, judge="gpt-4o")
    ranking = rate(battles, draws=200, seed=0)
    ranking.table()                                       # schema.Rating

`verdicts.py` and `battles.py` turn rows into win counts per query, `fit.py` finds the strengths, `bootstrap.py` draws
queries and reads intervals off the draws. NumPy only; nothing here knows an LLM or a disk.
"""

from mirage.rank.battles import SUBSETS, Battles, from_outcomes, lacking, pooled
from mirage.rank.bootstrap import DRAWS, SEED, LanguageRanking, Ranking, rate
from mirage.rank.fit import RIDGE, Fit, fit
from mirage.rank.verdicts import Verdicts, from_judgments, verdicts
from mirage.schema import Ties

__all__ = [
    "DRAWS",
    "RIDGE",
    "SEED",
    "SUBSETS",
    "Battles",
    "Fit",
    "LanguageRanking",
    "Ranking",
    "Ties",
    "Verdicts",
    "fit",
    "from_judgments",
    "from_outcomes",
    "lacking",
    "pooled",
    "rate",
    "verdicts",
]
