"""View of MIRAGE-Bench's method on an arena: its tournaments, and its tables and figure beside the printed ones."""

from dataclasses import dataclass

import pyarrow as pa

from mirage.papers.printed import PrintedFigure
from mirage.papers.reproduction import PaperSettings, default_judge, reproduce
from mirage.ranking.judges import Judge
from mirage.ranking.settings import RankSettings
from mirage.ranking.stage import tournament_rows, tournaments
from mirage.stages.stage import Progress
from mirage.store import cores
from mirage.store.arena import Arena
from mirage.views.cache import cached_view


@dataclass(frozen=True, slots=True)
class PaperChoice:
    """Choices of the published method."""

    judge: str | None = None
    """The judge; None for the only one, or relevance labels."""
    languages: tuple[str, ...] = ()
    """Codes; empty for all that can be ranked."""
    draws: int = 200
    """Tournaments per language."""

    def decider(self, arena: Arena) -> Judge:
        """Return the judge; errors as for `default_judge`."""
        return default_judge(arena) if self.judge is None else Judge.from_name(self.judge)


@dataclass(frozen=True, eq=False)
class TournamentsView:
    """The ranking by tournaments of drawn queries."""

    rows: pa.Table
    """Rows of `tournament_rows`, by language, the best first."""
    remarks: tuple[str, ...]
    """The method, and the tournaments without ratings."""
    seed: int
    """Seed of the draws."""


@cached_view
def tournaments_view(arena: Arena, choice: PaperChoice, progress: Progress | None = None) -> TournamentsView:
    """Rank by the published method; errors as for `tournaments` and `default_judge`."""
    settings = RankSettings(draws=choice.draws, languages=choice.languages or None)
    played = tournaments(arena, choice.decider(arena), settings, progress=progress)
    rows = pa.Table.from_pylist(tournament_rows(played))
    return TournamentsView(rows, (played.method, *played.remarks()), settings.seed)


@dataclass(frozen=True, eq=False)
class ReproductionView:
    """The paper's tables and figure on an arena."""

    figures: tuple[PrintedFigure, ...]
    """Every figure of the arena, beside the printed one if the paper has it."""
    remarks: tuple[str, ...]
    """Missing figures, held-out systems, the judge and the seed."""


def reproduction_view(arena: Arena, choice: PaperChoice, progress: Progress | None = None) -> ReproductionView:
    """Reproduce Tables 2 to 5 and Figure 4; errors as for `reproduce` and `default_judge`.

    It is not cached: it also reads the bundled figures.
    """
    arena.need("features")
    judge, settings = choice.decider(arena), PaperSettings(choice.languages or None, choice.draws)
    result = reproduce(arena, judge, settings, progress=progress, processes=cores.available())
    material = result.material
    missing = (f"missing: {name}: {reason}" for name, reason in material.missing.items())
    held_out = f"held out: {' and '.join(material.holdout)} ({material.chosen})"
    return ReproductionView(result.figures, (*missing, held_out, f"by {judge.name}, seed {settings.seed}"))
