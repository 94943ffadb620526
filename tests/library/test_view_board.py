"""Every door tells one story about who is best: page, command, evaluation, HTML report, exports and Python."""

import json
import re
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import small_arena
from arena_writer import write_arena
from commands import mirage as run

import mirage
from mirage import open_arena, schema
from mirage.battles.judge import judges
from mirage.errors import NotEnoughData
from mirage.publish.html_report import write_report
from mirage.ranking.board import best_systems, leaderboard
from mirage.ranking.settings import RankSettings
from mirage.schema import columns
from mirage.store.arena import Arena
from mirage.views import board as view_module
from mirage.views.board import BoardChoice, BoardRow, board_view, judge_of
from pages import open_page, page_text

SHOWN = ("language", "system", "rating", "low", "high", "rank", "rank_low", "rank_high", "n", "battles")
"""Columns of every door."""


@pytest.fixture(scope="module", params=["nomiracl", "people", "sample", "sample-across", "own"])
def arena(request: pytest.FixtureRequest, module_path: Path) -> Arena:
    if request.param != "own":
        return open_arena(request.param)
    return small_arena.write(module_path / "own", tables=("outcomes", "judgments"))


def told(rows: Any) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in SHOWN) for row in rows]


def test_a_tie_for_best_is_said_once(arena: Arena) -> None:
    view = board_view(arena, BoardChoice((judges(arena)[0],)))
    best = best_systems(view.ranking.tests[view.scope], view.rows.to_pylist())
    named = [name for name in best if len(best) > 1 and name in view.conclusion]
    later = " ".join(view.findings[1:])
    assert not any(f"{a} and {b} are tied" in later for a, b in combinations(named, 2))
    assert not (named and "tied for best:" in later)


def test_every_door_has_the_rows_and_the_sentence_of_the_view(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judges(arena)[0]
    view = board_view(arena, BoardChoice((judge,)))
    expected = told(view.everything.to_pylist())

    command = run("rank", arena.path, "--judge", judge, "--format", "json")
    assert told(json.loads(command.stdout)) == expected
    ranking = mirage.rank(arena, judge=judge)
    assert told(leaderboard(ranking).to_pylist()) == expected
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path))
    page = page_text(open_page("leaderboard", arena=arena.path.name, judge=judge))
    write_report(arena, tmp_path / "report.html", texts=False)
    report = unescape((tmp_path / "report.html").read_text("utf-8"))
    markdown = unescape(ranking.to_markdown()).replace("\\", "")
    tables = json.loads(re.findall(r'id="figures">(.*?)</script>', report, re.DOTALL)[0])["tables"]
    assert told(row for row in tables["ratings"] if row["judge"] == judge) == expected
    for said in (command.stderr, page, report, markdown, "\n".join(ranking.remarks)):
        assert view.conclusion in said
    best = view.rows.to_pylist()[0]
    assert best["system"] in view.conclusion
    assert f"n = {best['n']:,} quer" in view.conclusion


def test_some_languages_are_those_of_the_board_of_all_whichever_was_asked_first(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = judges(arena, panel=True)
    for judge in {names[0], *names[-2:-1]}:
        whole = board_view(arena, BoardChoice((judge,)))
        chosen = whole.languages[:3]
        part = board_view(arena, BoardChoice((judge,), chosen))
        assert part.ranks.equals(whole.ranks.filter(np.isin(whole.ranks["language"].to_pylist(), chosen)))
        with monkeypatch.context() as nothing_stored:
            nothing_stored.setattr(view_module, "stored_view", lambda *_: None)
            anew = view_module.compute_board.__wrapped__(arena, BoardChoice((judge,), chosen))  # type: ignore[attr-defined]  # not cached
        assert anew.everything.equals(part.everything)
        for said in ("conclusion", "remarks", "method", "unranked", "lacking", "apart"):
            assert getattr(anew, said) == getattr(part, said), judge
        assert anew.ranking.unranked == part.ranking.unranked
        assert anew.ranking.left_out == part.ranking.left_out


def test_a_row_counts_queries_and_answers(arena: Arena) -> None:
    view = board_view(arena, BoardChoice((judges(arena)[0],)))
    documented = {column.name for column in columns(BoardRow)}
    assert set(view.everything.column_names) == documented
    for row in view.everything.to_pylist():
        assert 0 < row["n"] <= view.ranking.languages[row["language"]].n_queries


def test_a_selection_of_verdicts_names_what_it_moves() -> None:
    arena = open_arena("sample")
    plain = board_view(arena, BoardChoice(("heuristic",)))
    strict = board_view(arena, BoardChoice(("heuristic",), (), RankSettings(consistent=True)))
    assert plain.moved == {}
    assert set(strict.moved) == {*strict.languages, "all"}
    with pytest.raises(NotEnoughData):
        board_view(arena, BoardChoice(("heuristic",), ("xx",)))
    assert judge_of(open_arena("nomiracl")).name == "relevance"


@pytest.mark.parametrize("options", ["", "--ties drop", "--no-own-family", "--languages fi --ties drop", "--seed 1"])
def test_a_file_and_an_arena_of_the_same_battles_say_the_same(tmp_path: Path, options: str) -> None:
    arena = small_arena.write(tmp_path / "own", tables=("judgments",))
    pq.write_table(arena.read("judgments"), tmp_path / "battles.parquet")
    for judge in judges(arena):
        of_file, of_arena = (
            run("rank", path, "--judge", judge, "--format", "json", *options.split())
            for path in (tmp_path / "battles.parquet", arena.path)
        )
        assert of_file.stdout == of_arena.stdout
        assert set(of_file.stderr.splitlines()) == set(of_arena.stderr.splitlines())


def test_battles_that_all_tie_are_said_to_say_nothing(tmp_path: Path) -> None:
    rows = [schema.Judgment(**row | {"verdict": "tie"}) for row in small_arena.judgments(n=4).to_pylist()]
    arena = write_arena(tmp_path / "ties", {"judgments": rows}, title="T", label="own")
    assert board_view(arena).conclusion.startswith("Every battle of the")
