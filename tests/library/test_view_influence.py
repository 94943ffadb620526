"""The battles that decide: the change of the lead without one is that of a real fit, and a page tells it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import small_arena
from board_cases import make_arena

from mirage.battles.counts import Battles
from mirage.ranking.by_query import ByQuery, by_query
from mirage.ranking.fit import RIDGE
from mirage.ranking.judges import VerdictJudge, battles_of
from mirage.views.battle import battle_view
from mirage.views.board import BoardChoice, board_view
from mirage.views.influence import MOST, influence_view


def arrange(battles: Battles) -> ByQuery:
    return by_query(battles, ties="half", penalty="jeffreys", ridge=RIDGE)


def without(battles: Battles, query: int, first: int, second: int) -> Battles:
    """Return the battles less that of two systems on a query."""
    parts = {}
    for name in ("wins", "ties", "points"):
        if (cells := getattr(battles, name)) is not None:
            parts[name] = cells.copy()
            parts[name][query, [first, second], [second, first]] = 0
    return replace(battles, **parts)


@pytest.mark.parametrize(
    ("systems", "queries", "kind"),
    [(5, 40, "wins"), (2, 30, "wins"), (4, 40, "strata"), (4, 40, "points"), (8, 25, "sparse")],
)
def test_the_lead_without_a_battle_is_that_of_a_real_fit(systems: int, queries: int, kind: str) -> None:
    rng = np.random.default_rng(systems)
    skill, names = np.linspace(0.8, -0.8, systems), tuple("abcdefgh"[:systems])
    chance = 1 / (1 + np.exp(skill - skill[:, None]))
    drawn = rng.random((queries, systems, systems))
    upper = np.triu(np.ones((systems, systems), bool), 1)
    met = upper & (rng.random((queries, systems, systems)) < (0.4 if kind == "sparse" else 1))
    wins, ties = met & (drawn < 0.9 * chance), met & (drawn > 0.9)
    lost = met & ~wins & ~ties
    wins, ties = wins | lost.transpose(0, 2, 1), ties | ties.transpose(0, 2, 1)
    strata = np.arange(queries) % 3 // 2 if kind == "strata" else np.zeros(queries, int)
    points = None
    if kind == "points":
        share = np.where(met, rng.beta(4 * chance, 4 * (1 - chance), drawn.shape), 0).astype(np.float32)
        points = share + np.where(met, 1 - share, 0).transpose(0, 2, 1).astype(np.float32)
    counts = wins.astype(np.uint8), ties.astype(np.uint8)
    battles = Battles(names, tuple(f"q{n:02}" for n in range(queries)), *counts, strata, "j", "both", points=points)
    layout = arrange(battles)
    moves = layout.removal_moves("a", "b")
    lead, cells = layout.theta[0] - layout.theta[1], np.argwhere(met)
    refitted = []
    for query, i, j in cells.tolist():
        fitted = arrange(without(battles, query, i, j))
        refitted.append(fitted.theta[0] - fitted.theta[1] - lead)
    real = np.array(refitted)
    place = {pair: n for n, pair in enumerate(zip(*np.triu_indices(systems, 1), strict=True))}
    ours = np.array([moves[query, place[i, j]] for query, i, j in cells.tolist()])
    assert np.abs(ours - real).max() < 0.05 * np.abs(real).max()
    assert np.corrcoef(ours, real)[0, 1] > 0.99
    assert not moves[~met[:, *np.triu_indices(systems, 1)]].any()


def test_the_listed_battles_are_those_that_move_the_lead_most(tmp_path: Path) -> None:
    arena = make_arena(tmp_path)
    choice = BoardChoice(("judge-x",))
    board, view = board_view(arena, choice), influence_view(arena, choice)
    leader, other = board.rows["system"].to_pylist()[:2]
    rows = view.battles.to_pylist()
    changes = [abs(row["change"]) for row in rows]
    assert len(rows) == MOST
    assert changes == sorted(changes, reverse=True)
    assert {row["language"] for row in rows} == set(board.languages), "a row over all languages rests on each"
    top = rows[0]
    assert {top["first"], top["second"]} == {leader, other}
    assert (top["first"] == leader) == (top["change"] < 0), "without a won battle the lead is smaller"
    for row in rows:
        told = battle_view(
            arena, (row["language"], row["query_id"]), row["first"], row["second"], VerdictJudge("judge-x")
        )
        assert row["first"] in told.conclusion
    assert f"of {leader} against {other} changes by at most {changes[0]:.2g} percentage points" in view.conclusion
    n = sum(battles.n for battles in battles_of(arena, VerdictJudge("judge-x")).values())
    assert f"{MOST} of {n} battles" in view.conclusion


def test_labels_rank_by_battles_that_weigh_alike(tmp_path: Path) -> None:
    arena = small_arena.write(tmp_path)
    view = influence_view(arena, BoardChoice(("relevance",)))
    keys = [(-round(abs(row["change"]), 9), row["language"], row["query_id"]) for row in view.battles.to_pylist()]
    assert keys == sorted(keys), "equal changes are in the order of their keys"
