"""View of one system: its rank, the systems it ties with, and its clearest losses."""

from dataclasses import dataclass, replace

import pyarrow as pa

from mirage.errors import NotEnoughData
from mirage.store.arena import Arena
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import count_text
from mirage.views.board import DEFAULT, BoardChoice, board_view, judge_of, phrase_of, ranking_of
from mirage.views.cache import cached_view

NAMED = 3
"""Number of tied systems that the conclusion names; more are counted."""
WORST = 3
"""Number of lost queries to show."""


@dataclass(frozen=True, slots=True)
class LostQuery:
    """A query on which a system lost more of its battles than it won."""

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    better: str
    """The best system of the board whose answer beat it."""
    won: float
    """Share of the points of its battles on the query."""
    battles: int
    """Number of these battles."""


@dataclass(frozen=True, eq=False)
class StandingView:
    """Rank of a system by a judge, with its ties and losses."""

    rows: pa.Table
    """Rows of `BoardRow` with ratings as win rates: the best system, this one, and those that it is tied with."""
    tied: tuple[str, ...]
    """Systems not significantly different from it, the best first."""
    lost: tuple[LostQuery, ...]
    """The queries on which it won the smallest share of its battles."""
    conclusion: str
    """Sentence with its rank, ties, win rate and n."""


@cached_view
def standing_view(arena: Arena, system: str, choice: BoardChoice = DEFAULT) -> StandingView:
    """Return the rank of a system on a board, over the languages in which it is ranked.

    Args:
        arena: the arena.
        system: the system.
        choice: the choices of the board.

    Raises:
        NotEnoughData: if the judge ranks the system in none of the languages.
        MirageError: as `board_view` does.
    """
    board = board_view(arena, choice)
    ranked = tuple(code for code in board.languages if system in board.ranking.languages[code].systems)
    if ranked and ranked != board.languages:
        choice = replace(choice, languages=ranked)
        board = board_view(arena, choice)
    order = board.rows["system"].to_pylist()
    if system not in order:
        reasons = dict.fromkeys(of[system] for of in board.ranking.unranked.values() if system in of)
        why = "; ".join(reasons) or "it is in no battle"
        judge = judge_of(arena, choice)
        raise NotEnoughData(f"{system} is not ranked{phrase_of(arena, judge)}", where=why)
    tied = board.ranking.tests[board.scope].tied_with(system)
    shown = [
        row for row in board.shown_rows(scale="win-rate").to_pylist() if row["system"] in {*tied, system, order[0]}
    ]
    own = next(row for row in shown if row["system"] == system)
    by = phrase_of(arena, judge_of(arena, choice))
    ends = (own["rating"], own["low"], own["high"])
    value, low, high = (FORMATS["rate"].write(end) if end is not None else "unbounded" for end in ends)
    others = ", ".join(tied) if len(tied) <= NAMED else count_text(len(tied), "other system")
    others = "all others" if len(tied) == len(order) - 1 else others
    alone = "significantly ahead of all others" if own["rank"] == 1 else "significantly different from all others"
    ahead = f"tied with {others}" if tied else alone
    conclusion = board.conclusion
    if len(order) > 2:
        conclusion = (
            f"{system} ranks {own['rank']} of {len(order)} systems{by}, {ahead} (win rate against the average system "
            f"{value}, 95% CI {low} to {high}, n = {count_text(own['n'], 'query')})."
        )
    return StandingView(
        rows=pa.Table.from_pylist(shown, schema=board.rows.schema),
        tied=tied,
        lost=_lost_queries(arena, system, choice, order),
        conclusion=conclusion,
    )


def _lost_queries(arena: Arena, system: str, choice: BoardChoice, order: list[str]) -> tuple[LostQuery, ...]:
    """Return the queries on which a system won the smallest share of its battles, each with the best that beat it."""
    import numpy as np

    lost = []
    for language, battles in ranking_of(arena, choice).battles.items():
        if system not in battles.systems:
            continue
        own = battles.systems.index(system)
        n = battles.wins[:, own].sum(1) + battles.wins[:, :, own].sum(1) + battles.ties[:, own].sum(1)
        points = battles.shared("half")[:, own].sum(1)
        for q in np.flatnonzero(battles.wins[:, :, own].any(axis=1)).tolist():
            beaten_by = {battles.systems[k] for k in np.flatnonzero(battles.wins[q, :, own]).tolist()}
            better = next(name for name in order if name in beaten_by)
            lost.append(LostQuery(language, battles.queries[q], better, float(points[q] / n[q]), int(n[q])))
    return tuple(sorted(lost, key=lambda row: (row.won, row.language, row.query_id))[:WORST])
