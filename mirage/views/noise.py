"""View of noise: would more queries, samples, judges, orders or repeats narrow an interval?"""

from dataclasses import dataclass

import pyarrow as pa

from mirage import schema
from mirage.ranking.variance import NoiseSource, judge_variance, rate_variance
from mirage.store.arena import Arena
from mirage.views.cache import cached_view


@dataclass(frozen=True, slots=True)
class NoiseChoice:
    """Choices of the view of noise."""

    judges: tuple[str, ...] = ()
    """Judges whose noise on the difference of two systems is split; empty for that of the rates."""
    languages: tuple[str, ...] = ()
    """Codes; empty for all."""
    parser: schema.Parser = "strict"
    """Parser whose outcomes count."""


@dataclass(frozen=True, eq=False)
class NoiseView:
    """The sources of the noise of every estimate."""

    rows: pa.Table
    """Rows of `NoiseSource`, by estimate, from queries to repeats."""
    remarks: tuple[str, ...]
    """Sentences with the present interval of each estimate."""


@cached_view
def noise_view(arena: Arena, choice: NoiseChoice = NoiseChoice()) -> NoiseView:
    """Split the noise of the rates, or of the difference of two systems by some judges, into its sources.

    Raises:
        TableMissing: if the arena lacks the table.
        UnknownName: if there is no such judge or language.
        NotEnoughData: if there are too few queries.
    """
    codes = choice.languages or None
    if choice.judges:
        reports = [judge_variance(arena, judges=choice.judges, languages=codes)]
    else:
        reports = rate_variance(arena, languages=codes, parser=choice.parser)
    sources = [source for report in reports for source in report.sources]
    return NoiseView(schema.from_rows(NoiseSource, sources), tuple(report.sentence for report in reports))
