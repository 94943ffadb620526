"""From battles to ratings: Bradley-Terry strengths, their uncertainty, and what the data cannot say.

    battles = from_outcomes(outcomes, skill="both")       # or from_judgments(judgments, judge="gpt-4o")
    ranking = rate(battles, seed=0)
    ranking.table()                                       # schema.Rating

`fit.py` finds the strengths of battles (`mirage.battles`), `bootstrap.py` draws queries and reads intervals off the
draws, `sandwich.py` gives analytic intervals beside them, `tiers.py` tests every two systems, `sample_size.py` says how
many more queries would separate them, `graph.py` what the data bounds, `design.py` what the design leaves badly known,
`scale.py` the scales that ratings are shown on, `whatif.py` ranks by some of the verdicts, `control.py` at equal style,
`languages.py` compares languages, `paper.py` plays the published tournaments. `stage.py` declares the stages. NumPy and
SciPy only; nothing here knows an LLM.
"""

import sys
from types import ModuleType
from typing import Any

from mirage.battles.counts import RELEVANCE, SUBSETS, Battles, from_outcomes, lacking, pooled
from mirage.battles.verdict_rows import COLUMNS, Verdicts, from_judgments, verdicts
from mirage.rank.bootstrap import DRAWS, SEED, Difference, LanguageRanking, Ranking, join_rankings, rate
from mirage.rank.design import Finding, design, designs
from mirage.rank.fit import RIDGE, Fit, Penalty, fit
from mirage.rank.graph import Side
from mirage.rank.records import FEW
from mirage.rank.sample_size import SampleSize, sample_sizes
from mirage.rank.sandwich import Sandwich, analytic, disagreements
from mirage.rank.scale import Scale, on_scale
from mirage.rank.threads import one_thread
from mirage.rank.tiers import Tiers, separate
from mirage.schema import Ties

__all__ = [
    "COLUMNS",
    "DRAWS",
    "FEW",
    "RELEVANCE",
    "RIDGE",
    "SEED",
    "SUBSETS",
    "Battles",
    "Difference",
    "Finding",
    "Fit",
    "LanguageRanking",
    "Penalty",
    "Ranking",
    "SampleSize",
    "Sandwich",
    "Scale",
    "Side",
    "Tiers",
    "Ties",
    "Verdicts",
    "analytic",
    "design",
    "designs",
    "disagreements",
    "fit",
    "from_judgments",
    "from_outcomes",
    "join_rankings",
    "lacking",
    "on_scale",
    "one_thread",
    "pooled",
    "rate",
    "sample_sizes",
    "separate",
    "verdicts",
]


class _Package(ModuleType):
    """This package, which is the function `mirage.rank` as well: a package takes its name in the one around it."""

    def __call__(self, battles: Any, **options: Any) -> Any:
        """Rank systems by their battles (`mirage.api.rank`)."""
        from importlib import import_module

        return import_module("mirage.api").rank(battles, **options)


sys.modules[__name__].__class__ = _Package
