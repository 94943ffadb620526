"""The Features page: panels, tables, what goes with the rating, links and clicks, what is missing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import numpy as np
import pytest
import small_arena
from conftest import PATIENCE, ROOT
from page_features_cases import feature_mean
from streamlit.testing.v1 import AppTest

from benchmarks.simulated import simulate_arena
from mirage import schema, store
from mirage.explorer.features import charts
from mirage.explorer.features import data as views
from mirage.explorer.kit.chart import chart as show_chart
from mirage.stages.features.relations import between_systems
from pages import notes, page_text, titles

APP = ROOT / "app.py"
PAGE = ROOT / "pages" / "features.py"
NAME = "*x* :red[y] $5 <b>z</b>"


def write(folder: Path, name: str, *tables: str) -> store.Arena:
    """A simulated arena of 6 systems with texts for the answers."""
    simulated = dict(simulate_arena(systems=6, queries=12, languages=["ar", "en", "te"], seed=5).tables)
    keys = simulated["features"].group_by(["language", "query_id", "system"]).aggregate([]).to_pylist()
    simulated["answers"] = schema.from_rows(
        "answers",
        [schema.Answer(**key, text="An answer.", status="ok", template=None, reason=None, call=None) for key in keys],
    )
    selection = {table: simulated[table] for table in tables or simulated}
    return store.write(folder / name, selection, title=f"The {name} arena", label="simulated", made_by="a test")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arenas")
    write(folder, "simulated")
    write(folder, "unrated", "queries", "features")
    small_arena.write(folder, "bare", tables=("outcomes",))
    return folder


def open_page(script: Path = PAGE, **params: str | list[str]) -> AppTest:
    page = AppTest.from_file(script, default_timeout=PATIENCE)
    page.query_params.update({"arena": "simulated", **params})
    if script == APP:
        page.switch_page("pages/features.py")
    return page.run()


def drawn(monkeypatch: pytest.MonkeyPatch, **clicks: Any) -> dict[str, Any]:
    """Note what every chart shows, and let some report a click."""
    figures: dict[str, Any] = {}
    real = show_chart

    def chart(figure: Any, **options: Any) -> Any:
        figures[options["key"]] = figure
        real(figure, **options)
        return clicks.get(options["key"])

    monkeypatch.setattr("mirage.explorer.kit.chart.chart", chart)
    return figures


def panel_names(figure: Any) -> list[str]:
    """The titles over the panels, and what stands beside them."""
    return [note["text"] for note in figure["layout"]["annotations"]]


@pytest.mark.parametrize("script", [APP, PAGE], ids=["router", "alone"])
def test_the_page_has_a_panel_for_every_feature(arenas: Path, monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    figures = drawn(monkeypatch)
    page = open_page(script, panel="all")
    assert not page.exception
    assert "216 answers of 6 systems in 3 languages, 11 features." in page_text(page)
    assert set(figures) == {"panels"}
    names = panel_names(figures["panels"])
    assert len(names) == 11
    assert any("0 to 1, probability, higher is better" in name for name in names)
    assert any("1 to 5, grade, higher is better" in name for name in names)


def test_at_first_the_features_are_drawn_in_which_systems_differ_most(
    arenas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)
    page = open_page()
    assert not page.exception
    shown = views.overview(store.open_arena(arenas / "simulated"), ("ar", "en", "te"))
    assert sorted(shown.differing) == sorted(shown.features)
    titles_ = [name.split("</b>")[0].removeprefix("<b>") for name in panel_names(figures["panels"])]
    assert titles_ == [charts.title(feature) for feature in shown.differing[:3]]
    page.segmented_control(key="panel").set_value("all").run()
    assert len(panel_names(figures["panels"])) == 11


def test_what_lies_between_systems_is_told_from_what_lies_between_languages() -> None:
    rng = np.random.default_rng(4)
    systems, languages = rng.normal(0, 1, 5), rng.normal(0, 9, 7)
    noise = rng.normal(0, 1, (5, 7))

    def share(scale: float) -> float:
        return between_systems(
            [
                feature_mean(f"s{i}", f"l{j}", systems[i] + languages[j] + scale * noise[i, j])
                for i in range(5)
                for j in range(7)
            ]
        )

    assert share(0) == pytest.approx(1)
    cells = systems[:, None] + 2 * noise
    cells = cells - cells.mean(axis=0)
    between = 7 * (cells.mean(axis=1) ** 2).sum()
    assert share(2) == pytest.approx(between / (cells**2).sum())
    assert share(0.1) > share(1) > share(10) > 0
    alike = [feature_mean(system, language, k) for k, language in enumerate("ab") for system in "xyz"]
    assert between_systems(alike) == 0
    assert between_systems([feature_mean("x", "a", None)]) == 0
    assert between_systems([]) == 0


@pytest.mark.parametrize(
    ("section", "shown", "tables"),
    [("Means", set(), 2), ("Correlation", {"relation_map", "relation_whiskers"}, 0)],
)
def test_a_section_draws_its_own_alone(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, section: str, shown: set[str], tables: int
) -> None:
    figures = drawn(monkeypatch)
    page = open_page(section=section)
    assert not page.exception
    assert set(figures) == shown
    assert len(page.dataframe) == tables


@pytest.mark.parametrize(
    ("params", "section"), [({"feature": "answer_bleu"}, "Means"), ({"judge": "judge"}, "Correlation")]
)
def test_a_link_that_names_a_picker_opens_its_section(arenas: Path, params: dict[str, str], section: str) -> None:
    page = open_page(**params)
    assert not page.exception
    assert page.session_state["section"] == section


def test_every_state_is_in_the_link(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = drawn(monkeypatch)
    page = open_page(
        languages=["en", "te"],
        features=["length", "fluency_score", "answer_bleu"],
        systems=["sim-02"],
    )
    assert not page.exception
    assert len(panel_names(figures["panels"])) == 2
    assert list(figures["panels"]["layout"]["xaxis"]["ticktext"]) == ["English", "Telugu"]
    clicks = [click for trace in figures["panels"]["data"] for click in trace.get("customdata", ())]
    assert {system for system, *_ in clicks} == {"sim-02"}
    assert "Unknown value in the link" in page_text(page)  # length is not measured in this arena
    assert "144 answers of 6 systems in 2 languages" in page_text(page)


def test_three_systems_spread_over_the_ranking_are_in_focus_unless_some_are_chosen(
    arenas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)

    def focus(page: AppTest) -> list[str]:
        assert not page.exception
        return list(dict.fromkeys(c[0] for t in figures["panels"]["data"] for c in t.get("customdata", ())))

    page = open_page()
    arena = store.open_arena(arenas / "simulated")
    ranked, judge = views.ranked_systems(arena, [f"sim-0{k}" for k in range(1, 7)])
    assert sorted(focus(page)) == sorted(views.spread(ranked))
    assert len(focus(page)) == 3
    assert any(f"3 of 6 systems, spread over the ranking by {judge}" in note for note in notes(page))
    assert focus(open_page(systems=["sim-05", "sim-01"])) == ["sim-05", "sim-01"]


def test_a_clicked_dot_leads_to_the_answers_behind_it(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn(monkeypatch, panels=["sim-03", "te", "citation_MAP@10"])
    page = open_page(APP)
    assert not page.exception
    row = next(
        m
        for m in views.of_language(store.open_arena(arenas / "simulated"), "te")
        if (m.system, m.feature) == ("sim-03", "citation_MAP@10")
    )
    assert f"**sim-03** in Telugu: Citation MAP@10 {row.mean:.3g}, n = 12 of 12" in page_text(page)
    (link,) = [button for button in page.button if "→" in button.label]
    link.click().run()
    assert not page.exception
    assert titles(page) == ["Answers"]
    assert page.session_state["languages"] == ["te"]
    assert page.session_state["systems"] == ["sim-03"]


def test_a_clicked_cell_of_the_map_shows_its_feature(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn(monkeypatch, relation_map=["reranker_score", "en"])
    page = open_page(section="Correlation")
    assert not page.exception
    assert page.selectbox(key="feature").value == "reranker_score"
    page.selectbox(key="feature").set_value("fluency_score").run()
    assert page.selectbox(key="feature").value == "fluency_score"


def test_an_arena_without_features_says_what_brings_them(arenas: Path) -> None:
    page = open_page(arena="bare")
    assert not page.exception
    assert "This arena has no answers table." in page_text(page)
    assert f"mirage import FILE --as answers --into {arenas / 'bare'}" in page_text(page)


def test_an_arena_without_ratings_shows_the_rest(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = drawn(monkeypatch)
    page = open_page(arena="unrated", panel="all")
    assert not page.exception
    assert len(panel_names(figures["panels"])) == 11
    figures.clear()
    page = open_page(arena="unrated", section="Correlation")
    assert not page.exception
    assert "No ratings in this arena yet" in page_text(page)
    assert not figures


def test_a_first_look_that_takes_a_while_says_how_far_it_is(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    monkeypatch.setattr(
        "streamlit.delta_generator.DeltaGenerator.progress", lambda _, __, text="": messages.append(text)
    )
    waits = iter([0.31])
    real = views.of_language
    monkeypatch.setattr(views, "of_language", lambda arena, code: (time.sleep(next(waits, 0)), real(arena, code))[1])
    assert not open_page().exception
    assert [text for text in messages if text.startswith("Averaging")] == [
        f"Averaging 2,376 measurements: {name}" for name in ("Arabic", "English", "Telugu")
    ]


# In a real browser


@pytest.fixture(scope="module")
def explorer(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.server(arenas=folder, MIRAGE_HOME=str(tmp_path_factory.mktemp("home"))) as url:
        yield url


@pytest.mark.browser
def test_a_dot_is_clicked_and_leads_on_in_a_browser(explorer: str) -> None:
    with browser.chromium() as start:
        opened = start()
        page = opened.page
        page.goto(f"{explorer}/features?arena=simulated&features=answer_bleu&languages=en")
        page.locator(f".st-key-panels {browser.MARKS}").last.wait_for()
        places = browser.mark_places(page, "panels")
        assert len(places) == 3 + 1, "three systems in focus, and the mean of all"
        opened.settle()
        legend = page.locator(".mg-mark")
        assert legend.count() == 3
        assert legend.first.evaluate("e => getComputedStyle(e).clipPath") != "none", (
            "what cleans HTML has left the mark"
        )
        page.mouse.move(*places[-1])
        hover = page.locator(".st-key-panels .hoverlayer .hovertext")
        hover.wait_for()
        says = hover.locator("tspan.line").all_text_contents()
        assert says[0].startswith("sim-0")
        assert says[1].startswith("English: ")
        assert says[2] == "n = 12 of 12 answers"
        marks = page.locator(f".st-key-panels {browser.MARKS}")
        before = marks.last.bounding_box()
        page.mouse.click(*places[-1])
        opened.settle()
        after = marks.last.bounding_box()
        assert after["width"] > before["width"], "the mark that is selected stands out"
        onward = page.get_by_role("button", name="Read these answers")
        onward.wait_for()
        opened.settle()
        onward.click()
        page.get_by_role("heading", name="Answers", exact=True).wait_for()
        opened.settle()
        assert "12 of 36 queries and 12 of 216 answers match." in page.inner_text("[data-testid=stMain]")
        assert opened.heard == ([], [], [])


@pytest.mark.browser
def test_the_page_fits_a_narrow_screen(explorer: str) -> None:
    with browser.chromium() as start:
        opened = start(width=420, scheme="dark")
        opened.page.goto(f"{explorer}/features?arena=simulated&systems=sim-01&systems=sim-02&panel=all")
        opened.page.locator(".st-key-panels svg").first.wait_for()
        opened.settle()
        box = opened.page.locator(".st-key-panels").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 420
        assert opened.page.locator(".st-key-panels g.annotation").count() == 11
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 420
        assert opened.heard == ([], [], [])
