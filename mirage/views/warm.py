"""Precompute the views that pages open with: the child process of `mirage app`.

    python -m mirage.views.warm

It processes the arenas that the explorer lists, at low priority. Its standard input is a pipe from its parent; it exits
when the pipe closes, however the parent ended. Readers never wait for it: it computes without a lock.
"""

import os
import sys
import threading
from contextlib import suppress

from mirage.battles.judge import judges
from mirage.errors import MirageError
from mirage.ranking.compare.measures import RATE
from mirage.ranking.judges import Judge
from mirage.stats.label_errors import QueryLabels
from mirage.store import home
from mirage.store.arena import Arena, open_arena
from mirage.store.cache_files import one_at_a_time
from mirage.store.labels import has_automatic_labels
from mirage.store.owned import added_systems
from mirage.views.board import BoardChoice, board_view
from mirage.views.cache import without_waiting
from mirage.views.comparison import (
    PairChoice,
    compared_measures,
    compared_systems,
    comparison_view,
    systems_in_rank_order,
)
from mirage.views.exam import exam_view, pairs_view
from mirage.views.features import features_view
from mirage.views.overview import overview_view
from mirage.views.printed import OPENING, printed_beside_ours, table_languages
from mirage.views.rates import RateChoice, published_arena, rates_view
from mirage.views.standing import standing_view
from mirage.views.surrogate import SurrogateChoice, predicted_judges, surrogate_view
from mirage.views.win_matrix import matrix


def warm(arena: Arena) -> None:
    """Compute and store the views that the pages of an arena open with."""
    with without_waiting():
        for view in (_board, _rates, _printed_table, _comparison, _matrix, features_view, _exam, _surrogate, _standing):
            with suppress(Exception):  # its page tells what is wrong, or that there is too little data
                view(arena)


def _board(arena: Arena) -> None:
    board_view(arena, BoardChoice((judges(arena, panel=True)[0],)))


def _rates(arena: Arena) -> None:
    rates_view(arena, RateChoice(), QueryLabels(has_automatic_labels(arena)), published_arena(arena))


def _printed_table(arena: Arena) -> None:
    """Read the table of NoMIRACL that the page opens with, from an arena of printed figures alone."""
    if "outcomes" not in arena.tables:
        printed_beside_ours(arena, None, OPENING, table_languages(arena, OPENING)[0])


def _comparison(arena: Arena) -> None:
    """Compare the best two systems by the first measure."""
    measure = next(iter(compared_measures(arena)), RATE)
    judge = None if measure == RATE else Judge.from_name(judges(arena, panel=True)[0])
    names = compared_systems(arena, measure, judge)
    order = [name for name in systems_in_rank_order(arena, judge) if name in names]
    first, second = [*order, *(name for name in names if name not in order)][:2]
    settings = PairChoice(first, second, measure, judge, 0.0).settings(arena, ())
    labels = QueryLabels(has_automatic_labels(arena)) if measure == RATE else None
    comparison_view(arena, first, second, settings, None, labels)


def _matrix(arena: Arena) -> None:
    for name in judges(arena)[:1]:
        matrix(arena, Judge.from_name(name), ())


def _exam(arena: Arena) -> None:
    exam_view(arena)
    pairs_view(arena)


def _standing(arena: Arena) -> None:
    """Rank the system that the page Your system opens with."""
    board = overview_view(arena).board
    added = added_systems(arena)
    if board is not None and (added or arena.bundled is None):
        system = added[-1] if added else board.rows["system"][0].as_py()
        standing_view(arena, system, BoardChoice((judges(arena)[0],)))


def _surrogate(arena: Arena) -> None:
    for name, skill in predicted_judges(arena)[:1]:
        surrogate_view(arena, SurrogateChoice(name, skill))


def main() -> None:
    """Warm all arenas, one process of several servers at a time."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(19)
    with one_at_a_time("warm", patience=-1):
        for path in home.all_arenas()[0].values():
            with suppress(MirageError):
                warm(open_arena(path))


def _end_with_parent() -> None:
    while sys.stdin.buffer.read(1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
