"""Nuggets as the judge on every page that picks one: chosen by link, offered, and said how it decides."""

from pathlib import Path

import nugget_arena
import pytest
from arena_writer import write_arena
from board_cases import board_of

from mirage.battles.judge import NUGGETS
from mirage.ranking.judges import NuggetJudge, size
from mirage.ranking.nugget_battles import nugget_battles
from mirage.store.arena import open_arena
from pages import open_page, page_text


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    arena = nugget_arena.write(module_path / "nuggets")
    by_terms = arena.read("nugget_assignments")
    rows = [row for row in by_terms.to_pylist() if row["assigner"] != nugget_arena.MODEL]
    bare = {name: arena.read(name) for name in ("queries", "answers", "nuggets")}
    write_arena(module_path / "bare", {**bare, "nugget_assignments": by_terms.from_pylist(rows, by_terms.schema)})
    return module_path


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("leaderboard", {}),
        ("battle", {}),
        ("leaderboard", {"section": "Wins", "system": "aya"}),
        ("compare", {"by": "rating"}),
    ],
)
@pytest.mark.parametrize("arena", ["nuggets", "bare"])
def test_pages_rank_by_nuggets(arenas: Path, arena: str, name: str, link: dict[str, str]) -> None:
    app = open_page(name, arena=arena, judge=NUGGETS, **link)
    assert not app.error
    assert NUGGETS in page_text(app) or NUGGETS in [picker.value for picker in app.selectbox]


def test_the_leaderboard_says_how_nuggets_decide_and_offers_no_options_of_judges(arenas: Path) -> None:
    app = open_page("leaderboard", arena="nuggets", judge=NUGGETS)
    text = page_text(app)
    for line in nugget_battles(open_arena(arenas / "nuggets")).lines:
        assert line[1:] in text
    offered = {str(widget.key) for widget in app.get("button_group")}
    assert "ties" in offered
    assert not {"battles", "own"} & offered


def test_the_board_counts_the_battles_of_each_system(arenas: Path) -> None:
    arena = open_arena(arenas / "bare")
    whole = size(arena, NuggetJudge())
    board = board_of(arena, NuggetJudge(), whole.languages)
    assert sum(board.rows["answers"].to_pylist()) == 2 * whole.answers
    assert board.rows["answers"].to_pylist() == board.rows["battles"].to_pylist()
    assert whole.systems == tuple(sorted(board.rows["system"].to_pylist()))
