"""Bradley-Terry ratings from battles, with intervals, tiers and diagnostics of the design.

    battles = from_outcomes(outcomes, skill="both")       # or from_judgments(judgments, judge="gpt-4o")
    ranking = rate(battles, seed=0)
    ranking.table()                                       # schema.Rating

`fit.py` maximises the likelihood of battles (`mirage.battles`), `bootstrap.py` rates each language and computes
intervals from resampled queries (`resample.py`), `arena.py` ranks an arena, `sandwich.py` computes analytic intervals
as a check, `tiers.py` tests every two systems, `sample_size.py` estimates the queries needed to separate them,
`graph.py` finds the ratings the data does not bound, `design.py` reports weak spots of the design, `scale.py` defines
display scales, `settings.py` the settings, `whatif.py` ranks with a subset of the verdicts, `control.py` ranks at equal
style, `languages.py` compares languages, `paper.py` replicates the published tournaments. `stage.py` declares the
stages. NumPy and SciPy only; no module here calls a model.
"""

from mirage.battles.counts import RELEVANCE, SUBSETS, Battles, from_outcomes, lacking, pool_battles
from mirage.battles.verdict_rows import COLUMNS, Verdicts, from_judgments, verdicts
from mirage.ranking.bootstrap import Difference, LanguageRanking, Ranking, join_rankings, rate
from mirage.ranking.design import Finding, design, designs
from mirage.ranking.fit import RIDGE, Fit, Penalty, fit
from mirage.ranking.graph import Side
from mirage.ranking.records import FEW
from mirage.ranking.sample_size import SampleSize, sample_sizes
from mirage.ranking.sandwich import Sandwich, analytic, disagreements
from mirage.ranking.scale import Scale, on_scale
from mirage.ranking.settings import DRAWS, SEED, CompareSettings, DecideSettings, RankSettings, Requirements
from mirage.ranking.threads import one_thread
from mirage.ranking.tiers import Tiers, separate
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
    "CompareSettings",
    "DecideSettings",
    "Difference",
    "Finding",
    "Fit",
    "LanguageRanking",
    "Penalty",
    "RankSettings",
    "Ranking",
    "Requirements",
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
    "pool_battles",
    "rate",
    "sample_sizes",
    "separate",
    "verdicts",
]
