"""The page Choose: the choice with its evidence, worth against price, languages, weights, what must hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import few_tables
import priced_arena
import pytest
from browser import show
from conftest import PATIENCE, ROOT
from payloads import HOSTILE
from streamlit.testing.v1 import AppTest

from mirage import schema, store
from mirage.explorer.decide import data as views
from mirage.explorer.decide.chart import trade_off
from mirage.explorer.kit.chart import chart as show_chart
from mirage.ranking.decide import Requirements, choose_systems
from mirage.ranking.settings import DecideSettings
from pages import headings, html, page_text, read_tables

APP = ROOT / "app.py"
PAGE = ROOT / "pages" / "decide.py"
TOKENS = {"tokens_in": "1000", "tokens_out": "100"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arenas")
    priced_arena.write(folder / "priced", {"en": priced_arena.RIGHT, "sw": priced_arena.RIGHT}, 60)
    few_tables.write(folder)
    return folder


@pytest.fixture
def arenas(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_ARENAS", str(folder))
    return folder


def open_page(script: Path = PAGE, **params: str | list[str]) -> AppTest:
    page = AppTest.from_file(script, default_timeout=PATIENCE)
    page.query_params.update({"arena": "priced", **params})
    if script == APP:
        page.switch_page("pages/decide.py")
    return page.run()


@pytest.mark.parametrize("script", [APP, PAGE], ids=["router", "alone"])
def test_the_page_says_what_the_command_says(arenas: Path, monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    figures: dict[str, Any] = {}
    real = show_chart

    def chart(figure: Any, **options: Any) -> Any:
        figures[options["key"]] = figure
        return real(figure, **options)

    monkeypatch.setattr("mirage.explorer.kit.chart.chart", chart)
    page = open_page(script, counts=["rating", "rate"], budget="5", **TOKENS)
    assert not page.exception
    report = choose_systems(
        store.open_arena(arenas / "priced"),
        DecideSettings(
            weights={"rating": 1, "rate": 1}, requirements=Requirements(budget=5), tokens_in=1000, tokens_out=100
        ),
    )
    assert headings(page)[0] == views.verdict(report) == "cheap for all languages"
    assert views.evidence(report) in page_text(page)
    assert "dear: $12.00 for 1,000 answers" in page_text(page)
    assert set(figures) == {"trade_off_price", "by_weight"}
    assert page.dataframe[0].value["system"].tolist() == [option.facts.system for option in report.options]
    assert [row["Choice"] for row in read_tables(page)[0]] == ["cheap"] * 3


def test_without_prices_the_page_says_what_brings_them(arenas: Path) -> None:
    page = open_page()
    assert not page.exception
    assert "known price" in page_text(page)
    assert any("import systems" in code.value for code in page.code)


def test_requirements_that_nobody_meets_leave_no_system(arenas: Path) -> None:
    page = open_page(seconds="1")
    assert not page.exception
    assert headings(page)[0] == "No system meets the requirements"
    assert "no latency is known" in page_text(page)


@pytest.mark.parametrize("kind", few_tables.KINDS)
def test_arenas_with_few_tables_choose_by_what_they_have(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arenas / "few"))
    page = open_page(arena=kind)
    assert not page.exception
    assert not page.error
    measures = views.measures(store.open_arena(arenas / "few" / kind))
    assert bool(headings(page)) == bool(measures), page_text(page)


def test_names_are_never_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = HOSTILE[:2]
    rows = [
        schema.Feature("en", f"q{k}", name, "length", float(k * i), None)
        for i, name in enumerate(names)
        for k in range(8)
    ]
    cards = [schema.SystemCard(name, HOSTILE[2], True, None, None, 1.0, 1.0, 1, None, None, None) for name in names]
    tables = {
        "features": schema.from_rows(schema.Feature, rows),
        "systems": schema.from_rows(schema.SystemCard, cards),
    }
    store.write(tmp_path / "few", tables, made_by="a test")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    page = open_page(arena="few", **TOKENS)
    assert not page.exception
    assert any(name in headings(page)[0] for name in names)
    assert "<script>" not in html(page)


def test_a_system_without_the_cost_has_no_mark() -> None:
    row = {"system": "x", "worth": 1.0, "low": 0.5, "high": 1.5, "price": 2.0, "seconds": None}
    row |= {"on_front": True, "contender": True, "choice": True}
    beaten = row | {"system": "y", "price": 3.0, "worth": 0.9, "choice": False, "contender": False}
    figure = trade_off([row, beaten, row | {"price": None}], cost="price", title="", unit="", mode="dark")
    line, *marks = figure["data"]
    assert [mark["x"] for mark in marks] == [[2.0], [3.0]]
    assert (line["x"], line["y"]) == ([2.0], [1.0])
    assert marks[0]["error_y"]["array"] == [0.5]


# In a real browser


@pytest.fixture(scope="module")
def explorer(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.server(arenas=folder, MIRAGE_HOME=str(tmp_path_factory.mktemp("home"))) as url:
        yield url


@pytest.mark.browser
def test_the_link_keeps_what_was_asked_for_and_the_page_fits_a_narrow_screen(explorer: str) -> None:
    with browser.chromium() as start:
        opened = start()
        link = "decide?arena=priced&counts=rating&counts=rate&budget=5&tokens_in=1000&tokens_out=100"
        page = show(opened, f"{explorer}/{link}")
        page.get_by_role("heading", name="cheap for all languages").wait_for()
        assert page.locator(".js-plotly-plot").count() == 2
        page.get_by_role("button", name="Limits: 3 set").click()
        assert page.get_by_role("spinbutton", name="Budget").input_value() == "5.00"
        page.set_viewport_size({"width": 390, "height": 844})
        opened.settle()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert not opened.errors


def test_the_licences_to_choose_from_are_those_of_systems_with_a_number(tmp_path: Path) -> None:
    def card(system: str, licence: str | None) -> schema.SystemCard:
        return schema.SystemCard(system, licence, None, None, None, None, None, None, None, None, "made up")

    cards = [card("a", "MIT"), card("b", "Apache-2.0"), card("c", "GPL-3.0"), card("d", None)]
    features = [schema.Feature("en", "q0", system, "length", 3.0, None) for system in ("a", "d")]
    features.append(schema.Feature("en", "q0", "c", "length", None, "no answer"))
    outcome = schema.OutcomeRow("en", "q0", "b", "strict", "relevant", "answered", "made up", None, None, True)
    tables = {
        "systems": schema.from_rows(schema.SystemCard, cards),
        "features": schema.from_rows("features", features),
        "outcomes": schema.from_rows(schema.OutcomeRow, [outcome]),
    }
    assert views.licences(store.write(tmp_path / "all", tables, made_by="a test")) == ("Apache-2.0", "MIT")
    unnamed = tables | {"systems": schema.from_rows(schema.SystemCard, cards[3:])}
    assert views.licences(store.write(tmp_path / "none", unnamed, made_by="a test")) == ()
