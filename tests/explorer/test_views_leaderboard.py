"""The Leaderboard's numbers: against the ranking core, by hand counts, and on published ranks."""

from pathlib import Path

import pytest
import small_arena
from arena_writer import write_arena
from board_cases import board_of

from benchmarks.simulated import simulate_arena
from mirage.battles import verdict_rows
from mirage.battles.counts import from_outcomes
from mirage.errors import NotEnoughData, TableMissing, UnknownName
from mirage.ranking.board import rank_verdicts
from mirage.ranking.bootstrap import rate
from mirage.ranking.judges import Judge, LabelJudge, PanelJudge, VerdictJudge, size
from mirage.ranking.settings import RankSettings
from mirage.store.arena import Arena
from mirage.views.printed import published_ranks


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return small_arena.write(tmp_path_factory.mktemp("views"), tables=("outcomes", "judgments"))


def test_board_shows_what_the_ranking_core_says(arena: Arena) -> None:
    board = board_of(arena, LabelJudge(skill="abstain"), ("en", "fi", "sw"))
    core = rate(from_outcomes(arena.read("outcomes"), skill="abstain")).table().to_pylist()
    expected = {row["system"]: row for row in core if row["language"] == "all"}
    rows = board.rows.to_pylist()
    assert [row["system"] for row in rows] == sorted(expected, key=lambda s: expected[s]["rank"])
    for row in rows:
        assert {k: row[k] for k in expected[row["system"]]} == expected[row["system"]]
    assert len(board.ranks) == 3 * len(expected)
    assert len(board.everything) == 4 * len(expected)


def test_a_language_without_the_subset_is_left_out_by_name(arena: Arena) -> None:
    board = board_of(arena, LabelJudge(), ("en", "fi", "sw"))
    assert board.languages == ("en", "fi")
    assert dict(board.lacking) == {"sw": "no answerable queries"}
    with pytest.raises(NotEnoughData, match="no battles to rate") as refused:
        board_of(arena, LabelJudge(skill="answer"), ("sw",))
    assert "(Swahili: no answerable queries)" in str(refused.value)


@pytest.mark.parametrize("name", ["one", "pooled"])
def test_a_board_of_languages_that_a_judge_has_not_is_refused(arena: Arena, name: str) -> None:
    judge = Judge.from_name(name if name == "pooled" else arena.read("judgments")["judge"][0].as_py())
    with pytest.raises(NotEnoughData):
        board_of(arena, judge, ("ko",))


def test_answers_and_their_undecided_share_count_what_the_row_rests_on(arena: Arena) -> None:
    # Of the 12 answers a subset, aya-101 has one missing in en and one API error in fi, in either subset.
    both = {row["system"]: row for row in board_of(arena, LabelJudge(), ("en", "fi")).rows.to_pylist()}
    assert both["gpt-4"]["answers"] == 48
    assert both["gpt-4"]["unclassified"] == 0
    assert both["aya-101"]["answers"] == 46
    assert both["aya-101"]["unclassified"] == pytest.approx(2 / 46)
    finnish = {row["system"]: row for row in board_of(arena, LabelJudge(skill="abstain"), ("fi",)).rows.to_pylist()}
    assert (finnish["aya-101"]["answers"], finnish["aya-101"]["unclassified"]) == (12, pytest.approx(1 / 12))


def test_pitfall_5_unparsed_verdicts_are_counted_and_shown(arena: Arena) -> None:
    board = board_of(arena, VerdictJudge("judge-x"), ("en", "fi"))
    rows = {row["system"]: row for row in board.rows.to_pylist()}
    # Three verdicts on each of 8 queries in 2 languages; the pair gpt-4, Mistral-7B has one unparsed a language.
    assert rows["gpt-4"]["answers"] == 48
    assert rows["gpt-4"]["unclassified"] == pytest.approx(2 / 48)
    assert rows["gpt-4"]["battles"] == 46
    assert rows["aya-101"]["unclassified"] == 0
    assert size(arena, VerdictJudge("judge-x")).answers == 6 * 8 * 2


def test_published_ranks_are_shown_as_printed(tmp_path: Path) -> None:
    arena = small_arena.write(tmp_path, tables=("published",))
    ranks = published_ranks(arena, ())
    assert ranks.languages == ("en", "fi")
    best, other = ranks.rows.to_pylist()
    assert best == {
        "system": "GPT-4o",
        "judge": 1.0,
        "surrogate": 1.5,
        "difference": 0.5,
        "best": 1,
        "worst": 1,
        "languages": 2,
    }
    assert (other["system"], other["judge"], other["surrogate"]) == ("Aya-23", 2.0, 1.5)
    assert ranks.conclusion == "As printed, GPT-4o ranks best by the GPT-4o judge (mean rank 1.0 in 2 languages)."
    assert ranks.everything.num_rows == 2 + 4
    assert published_ranks(arena, ("fi",)).rows.to_pylist()[0]["surrogate"] == 1.0


def test_pitfall_44_a_language_or_table_that_is_not_there_is_an_error(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(TableMissing, match="published"):
        published_ranks(arena, ())
    with pytest.raises(UnknownName, match="language"):
        published_ranks(small_arena.write(tmp_path, tables=("published",)), ("sw",))


# What if


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    path = tmp_path_factory.mktemp("judged") / "two"
    simulation = simulate_arena(
        systems=5, queries=15, languages=["en", "sw"], seed=5, judges=("gpt-4o", "llama-3"), orders=2
    )
    return write_arena(path, dict(simulation.tables))


def test_a_board_of_pooled_judges_is_the_librarys_with_the_verdicts_of_each(judged: Arena) -> None:
    board = board_of(judged, PanelJudge(), ("en", "sw"))
    verdicts = {judge: verdict_rows.verdicts(judged.read("judgments"), judge=judge) for judge in ("gpt-4o", "llama-3")}
    core = rank_verdicts(verdicts, RankSettings()).ranking.languages["all"]
    expected = dict(zip(core.systems, core.theta.tolist(), strict=True))
    assert {row["system"]: row["rating"] for row in board.rows.to_pylist()} == expected
    assert "gpt-4o 600, llama-3 600" in board.counted[0]
    assert board.moved == {}
    assert size(judged, PanelJudge()).answers == 1200
