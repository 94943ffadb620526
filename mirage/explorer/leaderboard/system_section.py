"""Section of the Leaderboard on one system: its ratings by language, opponents, and error rates."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.battles.judge import judges
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.labels import labels_of, tell_audit
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.table import Col, plain_table
from mirage.explorer.kit.text import heading
from mirage.explorer.leaderboard.ratings import by_language
from mirage.ranking.judges import Judge
from mirage.views.board import BoardView
from mirage.views.rates import RateChoice, rates_view
from mirage.views.win_matrix import matrix

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena

SHOWN = 3
"""Number of best and worst opponents shown."""
ERRORS = {"hallucination": "Makes things up", "error": "Gives up"}
_OPPONENTS = (
    Col("system", "Against", "system", help="The other system."),
    Col("share", "Wins", "rate", help="Share of the battles with a winner."),
    Col("share", "95%", "interval", low="low", high="high", ends=(0, 1), zero=0.5, help="95% Wilson interval."),
    Col("ties", "Ties", "count", help="Battles without a winner."),
    Col("n", "n", "count", help="Queries that both answered."),
)
_RATES = (
    Col("what", "Error", "text", help="Hallucination and error rate of NoMIRACL."),
    Col(
        "value",
        "Rate",
        "rate",
        help="Wrong decisions / classified answers; languages weighted equally. In brackets: languages with a rate, if "
        "some have none.",
        remark="fewer",
    ),
    Col("value", "95%", "interval", low="low", high="high", ends=(0, 1), help="95% interval."),
    Col("n", "n", "count", help="Classified answers."),
)


def show_system(page: Page, board: BoardView, judge: Judge, system: str) -> None:
    """Show a system's ratings by language, its best and worst opponents, and its error rates."""
    if len(board.languages) > 1:
        heading("Win rate by language")
        plain_table(board.system_rows(system), by_language(len(board.rows)), key="system_ratings")
    left, right = side_by_side((420, 1), (420, 1), key="system_more", gap="medium")
    with left:
        decides = judge.name in judges(page.arena)
        rows = matrix(page.arena, judge, page.picked).opponents(system, SHOWN) if decides else None
        if rows is not None:
            heading("Best and worst battles", "Share of the battles with a winner that it wins, by opponent.")
            plain_table(rows, _OPPONENTS, key="system_opponents")
    with right:
        rates = error_rates(page.arena, system, page.picked)
        if rates is not None:
            heading("Errors")
            tell_audit(labels_of(page))
            plain_table(rates, _RATES, key="system_errors")


@lru_cache(maxsize=64)
def error_rates(arena: Arena, system: str, picked: tuple[str, ...]) -> pa.Table | None:
    """Return both rates of a system over the languages: `what, value, low, high, n, fewer`; None if unknown."""
    import pyarrow as pa

    if "outcomes" not in arena.tables:
        return None
    cells = rates_view(arena, RateChoice(picked)).cells.to_pylist()
    rows = [row for row in cells if (row["language"], row["system"]) == ("all", system)]
    names = ("value", "low", "high", "n", "fewer")
    return (
        pa.Table.from_pylist([{"what": ERRORS[row["metric"]]} | {name: row[name] for name in names} for row in rows])
        if rows
        else None
    )
