"""The Compare page: the verdict in words, languages with the margin, the queries that moved and the way to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browser
import few_tables
import pyarrow.compute as pc
import pytest
import small_arena
from browser import show
from conftest import PATIENCE, ROOT
from payloads import HOSTILE
from streamlit.testing.v1 import AppTest

from mirage import schema, store
from mirage.battles.judge import Judge
from mirage.explorer.compare import data as views
from mirage.publish.charts.palette import FORMATS
from mirage.ranking.compare import compare_systems
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import CompareSettings
from pages import conclusion, html, page_text, read_tables

APP = ROOT / "app.py"
PAGE = ROOT / "pages" / "compare.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arenas")
    small_arena.write(folder, "judged", tables=("outcomes", "judgments"))
    few_tables.write(folder)
    return folder


@pytest.fixture
def arenas(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_ARENAS", str(folder))
    return folder


def open_page(script: Path = PAGE, **params: str | list[str]) -> AppTest:
    page = AppTest.from_file(script, default_timeout=PATIENCE)
    page.query_params.update({"arena": "judged", **params})
    if script == APP:
        page.switch_page("pages/compare.py")
    return page.run()


@pytest.mark.parametrize("script", [APP, PAGE], ids=["router", "alone"])
def test_the_page_says_what_the_command_says(arenas: Path, script: Path) -> None:
    page = open_page(script, by="rate", a="gpt-4", b="llama-2-7b", margin="0.1", languages=["en", "fi"])
    assert not page.exception
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


def test_it_opens_on_the_two_best(arenas: Path) -> None:
    page = open_page(arena="judged", by="rating", judge="relevance")
    ranked = views.in_rank_order(store.open_arena(arenas / "judged"), Judge.relevance(), ())
    assert (page.selectbox(key="a").value, page.selectbox(key="b").value) == ranked[:2]


def test_ratings_are_those_of_the_leaderboard(arenas: Path) -> None:
    page = open_page(by="rating", judge="judge-x", a="gpt-4", b="aya-101")
    assert not page.exception
    arena = store.open_arena(arenas / "judged")
    report = compare_systems(arena, "gpt-4", "aya-101", CompareSettings(judge="judge-x", moved=views.MOVED))
    assert views.evidence(report) in page_text(page)
    rates = [FORMATS["rate"].write(win_rate(row.difference)) for row in (report.rows[-1], *report.rows[:-1])]
    assert [row["Win rate"] for row in read_tables(page)[0]] == rates


def test_a_link_with_what_is_not_here_says_so(arenas: Path) -> None:
    page = open_page(by="rate", a="gpt-5", b="aya-101")
    assert not page.exception
    assert "Unknown value in the link" in page_text(page)


@pytest.mark.parametrize("kind", few_tables.KINDS)
def test_arenas_with_few_tables_compare_by_what_they_have(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arenas / "few"))
    arena = store.open_arena(arenas / "few" / kind)
    page = open_page(arena=kind)
    assert not page.exception
    assert not page.error
    options = views.measures(arena)
    assert [list(picker.options) for picker in page.selectbox if picker.key == "by"] == [list(options)] * (
        len(options) > 1
    )
    assert bool(options) == bool({"outcomes", "judgments", "features"} & set(arena.tables))


def test_every_measure_that_is_offered_can_be_compared(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for measure in views.measures(store.open_arena(ROOT / "data" / "sample")):
        monkeypatch.setenv("MIRAGE_ARENAS", str(ROOT / "data"))
        page = open_page(arena="sample", by=measure, a="thorough", b="concise")
        assert not page.exception, measure
        assert conclusion(page), (measure, page_text(page))


def test_names_are_never_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = HOSTILE[:2]
    rows = [
        schema.Feature("en", f"{HOSTILE[2]}{k}", name, "length", float(k * i), None)
        for i, name in enumerate(names)
        for k in range(8)
    ]
    store.write(tmp_path / "few", {"features": schema.from_rows(schema.Feature, rows)}, made_by="a test")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    page = open_page(arena="few", a=names[0], b=names[1])
    assert not page.exception
    assert all(name in conclusion(page) for name in names)
    assert "<script>" not in html(page)
    assert all(
        not element.proto.allow_html
        for element in (*page.markdown, *page.caption, *page.header)
        if hasattr(element.proto, "allow_html")
    )


# In a real browser


@pytest.fixture(scope="module")
def explorer(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.server(arenas=folder, MIRAGE_HOME=str(tmp_path_factory.mktemp("home"))) as url:
        yield url


@pytest.mark.browser
def test_the_two_are_kept_on_the_way_to_a_battle_and_back(explorer: str) -> None:
    with browser.chromium() as start:
        opened = start()
        page = show(opened, f"{explorer}/battle?arena=judged&judge=judge-x&a=aya-101&b=gpt-4")
        page.get_by_role("button", name="Compare the two systems").click()
        page.locator(".mg-conclusion").get_by_text("aya-101 is").wait_for()
        opened.settle()
        assert "compare" in page.url
        assert page.locator(".mg-table td img").count() == 3
        page.set_viewport_size({"width": 390, "height": 844})
        opened.settle()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert not opened.errors


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
    assert not app.exception
    assert conclusion(app) == f"{system} {views.verdict_words(expected)} {system} (yesterday)."
    assert read_tables(app)[0][0]["Difference"] == FORMATS["difference"].write(expected.overall.difference)
    alone = open_page(by="rate", a=system)
    assert "yesterday" not in conclusion(alone)
