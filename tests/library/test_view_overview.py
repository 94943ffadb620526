"""What an arena holds and finds: command, page, HTML report, evaluation and Python read one view."""

import json
import re
from pathlib import Path

import pytest
import small_arena
from commands import mirage as run

import mirage
from mirage import open_arena
from mirage.publish.html_report import check_report, write_report
from mirage.store.arena import Arena
from mirage.views import board
from mirage.views.board import board_view
from mirage.views.cache import stored_view
from mirage.views.overview import OverviewChoice, contents_view, overview_view
from pages import conclusion, html, open_page

VERDICTS = [
    {"query_id": f"q{k}", "judge": "j", "system_a": "a", "system_b": "b", "verdict": "A" if k % 5 else "B"}
    for k in range(15)
]


@pytest.fixture(scope="module", params=["nomiracl", "people", "published", "sample", "sample-across", "own"])
def arena(request: pytest.FixtureRequest, module_path: Path) -> Arena:
    if request.param != "own":
        return open_arena(request.param)
    return small_arena.write(module_path / "own", tables=("queries", "outcomes", "judgments"))


def test_every_door_says_what_the_view_says(arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = overview_view(arena)
    tables = view.contents.tables.to_pylist()
    command = run("show", arena.path, "--format", "json")
    assert json.loads(command.stdout) == tables
    for said in (view.contents.summary, *view.findings, *view.remarks, *(each.command for each in view.next)):
        assert said in command.stderr
    described = " ".join(repr(arena).split())
    for row in tables:
        assert f"{row['table']} {row['rows']:,}" in described
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path))
    page = open_page("leaderboard", arena=arena.path.name)
    assert conclusion(page) == view.conclusion
    page.session_state["frame_contents"] = True
    shown = dict(re.findall(r"<dt>(\w+)</dt><dd>([\d,]+) rows", html(page.run())))
    assert shown == {row["table"]: f"{row['rows']:,}" for row in tables}
    if {"outcomes", "judgments"} & set(arena.tables):
        write_report(arena, tmp_path / "report.html", texts=False)
        report = (tmp_path / "report.html").read_text("utf-8")
        figures = json.loads(re.findall(r'id="figures">(.*?)</script>', report, re.DOTALL)[0])
        assert figures["opening"] == {"findings": list(view.findings), "contents": view.contents.summary}
        assert not any(part.mismatches for part in check_report(tmp_path / "report.html", arena))
        assert report.count(f">{view.conclusion}<") == 1
        assert figures["ranking"].get("judge", "") == view.judge
        assert view.findings[0].startswith(view.conclusion)


def test_contents_are_counted_from_the_tables(arena: Arena) -> None:
    contents = contents_view(arena)
    assert {row["table"]: row["rows"] for row in contents.tables.to_pylist()} == {
        name: len(arena.read(name)) for name in arena.tables
    }
    if "queries" in arena.tables:
        assert contents.n_queries == len(arena.read("queries"))
    if "answers" in arena.tables:
        assert sum(contents.answers.values()) == len(arena.read("answers"))
        assert set(contents.answers) <= set(contents.systems)


@pytest.mark.parametrize("given", ["sample-across", "verdicts.json"])
def test_an_evaluation_ends_with_the_view_and_later_doors_read_its_board(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "verdicts.json").write_text(json.dumps(VERDICTS), "utf-8")
    command = run("evaluate", given, "--into", "arena")

    def refuse(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(board, "make_board", refuse)
    arena = mirage.open_arena("arena")
    view = overview_view(arena)
    assert view.board is not None
    assert stored_view(board.compute_board, arena, view.choice) is not None, "in a file, for other processes"
    told = [line.strip() for line in command.stderr.splitlines()]
    for said in (*view.findings, *(f"{each.command}  # {each.purpose}" for each in view.next)):
        assert said in told
    assert view.conclusion in run("rank", "arena").stderr
    again = mirage.evaluate("arena")
    assert again.findings == list(view.findings)
    assert again.next == [each.command for each in view.next]
    assert again.ranking.remarks == view.board.remarks
    assert "\n".join(view.findings) in repr(again)


def test_draws_of_an_evaluation_are_those_of_its_finding(tmp_path: Path) -> None:
    done = mirage.evaluate("sample-across", tmp_path / "arena", draws=50)
    view = overview_view(done.arena, OverviewChoice(draws=50))
    assert done.findings == list(view.findings)
    assert view.board.ranking.n_draws == 50
    assert view.conclusion == board_view(done.arena, view.choice).conclusion


def test_answers_without_measurements_are_not_said_to_be_undecided(tmp_path: Path) -> None:
    rows = [
        {"question": "Who built the bridge over the river?", "contexts": ["Ada North."], "answer": "Ada.", "system": s}
        for s in "ab"
    ]
    view = overview_view(mirage.import_file(rows, tmp_path / "arena"))
    assert "not evaluated" in view.findings[-1]
    assert [each.command.split()[1] for each in view.next] == ["evaluate"]
