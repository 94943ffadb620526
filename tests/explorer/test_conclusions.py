"""What the Leaderboard comes to, in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_arena
from conftest import ROOT

from mirage import store
from mirage.battles.referee import Referee
from mirage.explorer.leaderboard import data as views
from mirage.explorer.leaderboard import text as conclusions


@pytest.mark.parametrize("languages", [("sw",), ("ar", "bn")])
def test_the_sentence_names_the_best_where_it_is_best_and_on_what_that_rests(languages: tuple[str, ...]) -> None:
    arena = store.open_arena(ROOT / "data" / "nomiracl")
    board = views.board(arena, Referee.relevance(), languages)
    sentence = conclusions.conclusion(board, Referee.relevance())
    best = min(board.rows.to_pylist(), key=lambda row: row["rank"])
    assert best["system"] in sentence
    assert f"of {board.rows.num_rows} systems" in sentence
    assert f"n = {best['battles']:,}" in sentence
    assert ("Swahili" in sentence) is (languages == ("sw",))
    # What no test separates from the best is named, and nothing else is.
    alike = set(board.ranking.tiers[best["language"]].alike(best["system"]))
    tail = sentence.rpartition(")")[2]
    others = set(board.rows["system"].to_pylist()) - {best["system"]}
    assert alike == others or {name for name in others if name in tail} == alike


def test_a_judge_is_named_as_the_judge(tmp_path: Path) -> None:
    small_arena.write(tmp_path, "judged", tables=("judgments",))
    arena = store.open_arena(tmp_path / "judged")
    board = views.board(arena, Referee.judge("judge-x"), arena.languages("judgments"))
    assert "judge-x" in conclusions.conclusion(board, Referee.judge("judge-x"))
