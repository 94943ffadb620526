"""View of noise: what would narrow an interval, more queries or more samples, judges, orders and repeats?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage import schema
from mirage.ranking.variance import NoiseSource, judge_variance, rate_variance
from mirage.views.cache import cached_view

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena


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
    """Rows of `NoiseSource`, by estimate from the query inwards."""
    remarks: tuple[str, ...]
    """The interval of each estimate now, in sentences."""


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
