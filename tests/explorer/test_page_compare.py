"""The Compare page: the verdict in words, languages with the margin, the queries that moved and the way to them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pytest
import small_arena
from conftest import ROOT

import pages
from mirage import store
from mirage.explorer.compare import data as views
from mirage.publish.charts.palette import FORMATS
from mirage.ranking.compare.comparing import compare_systems
from mirage.ranking.judges import LabelJudge, VerdictJudge
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import CompareSettings
from pages import conclusion, page_text, read_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arenas")
    small_arena.write(folder, "judged", tables=("outcomes", "judgments"))
    return folder


open_page = partial(pages.open_page, "compare", arena="judged")


def test_the_page_says_what_the_command_says(arenas: Path) -> None:
    page = open_page(by="rate", a="gpt-4", b="llama-2-7b", margin="0.1", languages=["en", "fi"])
    arena = store.open_arena(arenas / "judged")
    report = compare_systems(
        arena,
        "gpt-4",
        "llama-2-7b",
        CompareSettings(
            measure="rate",
            margin=0.1,
            languages=("en", "fi"),
            moved=views.MOVED,
        ),
    )
    assert conclusion(page) == f"gpt-4 {views.verdict_words(report)} llama-2-7b."
    assert views.evidence(report) in page_text(page)
    written = [FORMATS["difference"].write(row.difference) for row in (report.rows[-1], *report.rows[:-1])]
    assert [row["Difference"] for row in read_tables(page)[0]] == written
    assert "Holm" in page_text(page)
    assert page.dataframe[0].value["query_id"].tolist() == [row.query_id for row in report.moved]


@pytest.mark.parametrize(("measure", "judge"), [("rating", "heuristic"), ("rate", None)])
def test_what_would_be_detected_is_said_in_the_unit_of_the_measure(measure: str, judge: str | None) -> None:
    choice = views.Choice("thorough", "reference", measure, VerdictJudge(judge) if judge else None, 0.0)
    report = views.report(store.open_arena(ROOT / "data" / "sample"), choice, ())
    least = report.overall.detectable
    assert least is not None
    words = f"win rate: {FORMATS['rate'].write(win_rate(least))}" if judge else f"difference: {least:.3f}"
    said = views.evidence(report)
    assert f"Minimum detectable {words}" in said
    assert "logit" not in said


def test_it_opens_on_the_two_best(arenas: Path) -> None:
    page = open_page(arena="judged", by="rating", judge="relevance")
    ranked = views.in_rank_order(store.open_arena(arenas / "judged"), LabelJudge(), ())
    assert (page.selectbox(key="a").value, page.selectbox(key="b").value) == ranked[:2]


def test_ratings_are_those_of_the_leaderboard(arenas: Path) -> None:
    page = open_page(by="rating", judge="judge-x", a="gpt-4", b="aya-101")
    arena = store.open_arena(arenas / "judged")
    report = compare_systems(arena, "gpt-4", "aya-101", CompareSettings(judge="judge-x", moved=views.MOVED))
    assert views.evidence(report) in page_text(page)
    rates = [FORMATS["rate"].write(win_rate(row.difference)) for row in (report.rows[-1], *report.rows[:-1])]
    assert [row["Win rate"] for row in read_tables(page)[0]] == rates


def test_every_measure_that_is_offered_can_be_compared(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for measure in views.measures(store.open_arena(ROOT / "data" / "sample")):
        monkeypatch.setenv("MIRAGE_ARENAS", str(ROOT / "data"))
        page = open_page(arena="sample", by=measure, a="thorough", b="concise")
        assert not page.exception, measure
        assert conclusion(page), (measure, page_text(page))


def test_the_second_system_may_be_in_another_arena(
    arenas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Yesterday and today: the same system of two arenas, by key, as the command compares them."""
    folder = tmp_path / "both"
    small_arena.write(folder, "judged", tables=("outcomes", "judgments"))
    today = store.open_arena(folder / "judged")
    outcomes = today.read("outcomes")
    turned = pc.invert(outcomes["correct"])
    place = outcomes.column_names.index("correct")
    tables = {"outcomes": outcomes.set_column(place, outcomes.schema.field("correct"), turned)}
    yesterday = store.write(folder / "yesterday", tables, made_by="a test", title="Yesterday", label="own data")
    monkeypatch.setenv("MIRAGE_ARENAS", str(folder))
    system = views.systems(today, "rate", None)[0]
    expected = compare_systems(today, system, settings=CompareSettings(measure="rate"), against=yesterday)
    app = open_page(by="rate", a=system, compare_against="yesterday", b=system)
    assert conclusion(app) == f"{system} {views.verdict_words(expected)} {system} (yesterday)."
    assert read_tables(app)[0][0]["Difference"] == FORMATS["difference"].write(expected.overall.difference)
    alone = open_page(by="rate", a=system)
    assert "yesterday" not in conclusion(alone)
