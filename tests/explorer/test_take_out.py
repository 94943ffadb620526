"""Pictures and tables of a page for elsewhere: figures for a paper, captions, and what a browser saves."""

from __future__ import annotations

import csv
import struct
from collections.abc import Callable
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import browser
import plotly.graph_objects as go
import pyarrow as pa
import pytest
from conftest import PATIENCE, ROOT
from exporting_tables_cases import printed
from markdown_it import MarkdownIt
from printing_cases import latex_cells
from streamlit.testing.v1 import AppTest

from mirage import schema, store
from mirage.explorer.kit import frame
from mirage.explorer.kit.captions import caption, figure_latex
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.export_dialog import printed_columns, raw_columns
from mirage.publish.charts import leaderboard as charts
from mirage.publish.charts.card import CardText, share_card
from mirage.publish.charts.palette import Mode
from mirage.publish.charts.paper import FACES, INCHES, WIDTHS, for_paper, in_light
from mirage.store.export import to_csv

SAMPLE = ROOT / "data" / "sample"
NAMES = ("plain-model", "نموذج عربي", "日本語モデル", "తెలుగు నమూనా", '<img src=x onerror="window.evil1=1">')
"""Systems in the scripts of English, Arabic, Japanese and Telugu, and one that would be markup."""
ROW = {"language": "all", "rating": 0.5, "low": 0.1, "high": None, "rank": 1, "rank_low": 1, "rank_high": 2}
ROW |= {"tier": 1, "wins": 3, "ties": 1, "losses": 2, "battles": 6, "bounded": True}
ROWS = [ROW | {"system": name} for name in NAMES]
RANKS = [row | {"language": code, "rank": k % 3 + 1} for k, row in enumerate(ROWS) for code in ("ar", "ja", "te")]
FIGURES: dict[str, Callable[[Mode], dict[str, Any]]] = {
    "whiskers": lambda mode: charts.whiskers(ROWS, mode=mode),
    "map": lambda mode: charts.rank_map(RANKS, systems=list(NAMES), mode=mode),
    "lines": lambda mode: charts.bumps(RANKS, systems=list(NAMES), mode=mode),
}


@pytest.mark.parametrize("kind", FIGURES)
def test_a_chart_drawn_for_dark_is_in_print_what_it_is_drawn_for_light(kind: str) -> None:
    assert in_light(FIGURES[kind]("dark")) == in_light(FIGURES[kind]("light"))


@pytest.mark.parametrize("title", [*NAMES, "x" * 500, ""])
def test_a_card_holds_its_words_as_text_and_within_its_edges(title: str) -> None:
    card = CardText("arena · sample", title, "Rating +0.43", ("n = 6 battles",), "http://127.0.0.1/?arena=a&b=<i>")
    figure = share_card(card, color="#25a868", mode="dark")
    go.Figure(figure)
    notes = figure["layout"]["annotations"]
    texts = [unescape(note["text"].removeprefix("<b>").removesuffix("</b>")) for note in notes]
    assert {"arena · sample", "Rating +0.43", "n = 6 battles", card.link} <= set(texts)
    shown = "".join(texts[1:-3]).replace(" ", "")
    assert shown.removesuffix("…") == title.replace(" ", "")[: len(shown.removesuffix("…"))]
    assert bool(shown) == bool(title)
    assert not any("<img" in note["text"] or "<i>" in note["text"] for note in notes)
    assert all(0 < note["y"] < 1 for note in notes)
    tops = [note["y"] for note in notes]
    assert tops == sorted(tops, reverse=True)


@pytest.mark.parametrize(
    ("page", "title"), [("leaderboard", "thorough"), ("compare", "thorough is better than fluent")]
)
def test_a_page_has_a_card_of_what_it_shows(monkeypatch: pytest.MonkeyPatch, page: str, title: str) -> None:
    cards: list[CardText] = []
    monkeypatch.setattr(frame, "share_card", lambda card, **look: (cards.append(card), share_card(card, **look))[1])
    app = AppTest.from_file(ROOT / "pages" / f"{page}.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": "sample", "referee": "heuristic", "a": "thorough", "b": "fluent"})
    app.run()
    assert not app.exception
    card = cards[-1]
    assert card.title == title
    assert "sample" in card.above
    assert "95% CI" in card.value
    assert any(line.startswith("n = ") for line in card.lines)
    assert "arena=sample" in card.link
    assert "referee=heuristic" in card.link


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", FIGURES)
def test_a_figure_for_a_paper_is_as_wide_as_its_columns_and_valid(kind: str, width: Any, face: Any) -> None:
    figure = FIGURES[kind]("light")
    paper = for_paper(figure, width=width, face=face)
    go.Figure(paper)  # Plotly's own check of every field
    assert paper["layout"]["width"] == round(INCHES[width] * 96)
    assert paper["layout"]["font"]["size"] == pytest.approx(8 / 72 * 96)
    assert paper["layout"]["paper_bgcolor"] == paper["layout"]["plot_bgcolor"] == "#ffffff"
    assert "title" not in paper["layout"]
    assert figure == FIGURES[kind]("light"), "the chart on the screen is unchanged"
    for ours, theirs in zip(paper["data"], figure["data"], strict=True):
        assert (list(ours["x"]), list(ours["y"])) == (list(theirs["x"]), list(theirs["y"]))


def test_a_caption_says_what_how_much_and_how_and_stays_text_in_latex() -> None:
    facts = {"arena": "a", "title": "100% & more", "numbers": "simulated", "version": "v1", "page": "x"}
    facts |= {"referee": "relevance", "seed": 0, "languages": ["sw", "yo"], "moved": [{"query": "q"}], "none": None}
    words = caption("Ratings with 95% intervals", "1,200 answers of 3 systems", facts)
    for part in ("95% intervals.", "1,200 answers", "eferee: relevance", "seed: 0", "sw, yo", "100% & more", "v1"):
        assert part in words
    assert "moved" not in words
    assert "none" not in words
    latex = figure_latex("A b/c", words, wide=True)
    assert printed(latex[latex.index("{", latex.index(r"\caption")) + 1 : latex.index("}\n  \\label")]) == words
    assert latex.count("figure*") == 2


def test_a_printed_table_has_the_numbers_of_the_screen_and_its_csv_every_digit() -> None:
    rows = pa.table(
        {
            "system": ["=cmd|x", "b_1"],
            "rating": [0.123456, None],
            "low": [-0.5, None],
            "high": [None, None],
            "share": [0.25, 1.0],
            "first": [1.0, None],
            "last": [3.0, None],
        }
    )
    columns = (
        Col("system", "System", "system"),
        Col("rating", "Rating", "rating"),
        Col("rating", "95%", "interval", low="low", high="high", endless=True),
        Col("share", "Share", "rate"),
        Col("first", "Ranks", "span", low="first", high="last"),
    )
    cells = [column.cells for column in printed_columns(rows, columns)]
    assert cells == [
        ("=cmd|x", "b_1"),
        ("+0.12", ""),
        ("[−0.50, +∞]", ""),
        ("25.0%", "100.0%"),
        ("1 to 3", ""),
    ]
    read = list(csv.DictReader(StringIO(to_csv(raw_columns(rows, columns)))))
    assert list(read[0])[:7] == ["system", "rating", "low", "high", "share", "first", "last"]
    assert read[0]["rating"] == "0.123456"
    assert read[0]["system"].startswith("'="), "a spreadsheet would compute it"


def test_the_dialog_offers_what_the_page_shows_and_nothing_is_drawn_before() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["arena"] = "sample"
    app.run()
    assert not app.exception
    assert not [box for box in app.selectbox if box.key == "take_out_what"]


def named(folder: Path) -> store.Arena:
    """An arena of five systems with names in four scripts, in four languages."""
    rows = []
    for code in ("en", "ar", "ja", "te"):
        for k in range(12):
            subset = ("relevant", "non_relevant")[k % 2]
            for place, system in enumerate(NAMES):
                right = bool((k + place) % (place + 2))
                outcome = "answered" if right == (subset == "relevant") else "abstained"
                for parser in ("strict", "published"):
                    key = (code, f"q{k}", system, parser, subset)
                    rows.append(schema.OutcomeRow(*key, outcome, "made up", None, None, right))
    tables = {"outcomes": schema.from_rows("outcomes", rows)}
    return store.write(folder, tables, title="Names", label="simulated", made_by="a test")


@pytest.mark.browser
def test_a_browser_saves_pictures_figures_and_tables_with_names_in_every_script(tmp_path: Path) -> None:
    named(tmp_path / "arenas" / "names")
    with (
        browser.server(tmp_path / "arenas", MIRAGE_HOME=str(tmp_path / "home")) as url,
        browser.chromium() as start,
    ):
        opened = start()
        page = browser.show(opened, f"{url}/leaderboard?arena=names")
        page.get_by_role("button", name="Download").first.click()
        opened.settle()
        page.get_by_role("button", name="Figures and tables").click()
        opened.settle()
        dialog = page.get_by_test_id("stDialog")
        dialog.wait_for()

        def save(label: str) -> bytes:
            opened.settle()
            dialog.locator(".main-svg").first.wait_for()
            with page.expect_download() as coming:
                dialog.get_by_role("button", name=label, exact=True).click()
            return Path(coming.value.path()).read_bytes()

        def choose(label: str) -> None:
            dialog.get_by_text(label, exact=True).first.click()
            opened.settle()

        def table(kind: str) -> str:
            dialog.get_by_text(kind, exact=True).first.click()
            opened.settle()
            with page.expect_download() as coming:
                dialog.get_by_role("button", name=f"Save {kind}").click()
            return Path(coming.value.path()).read_text(encoding="utf-8")

        holds_every_name(save("Save SVG"))
        choose("PNG")
        png = save("Save PNG")
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", png[16:20])[0] == 3 * 900
        choose("one column")
        assert struct.unpack(">I", save("Save PNG")[16:20])[0] == pytest.approx(3.33 * 300, abs=4)
        choose("SVG")
        choose("serif")
        root = holds_every_name(save("Save SVG"))
        assert root.get("width") == str(round(3.33 * 96))
        with page.expect_download() as coming:
            dialog.get_by_role("button", name="LaTeX figure").click()
        assert r"\includegraphics" in Path(coming.value.path()).read_text(encoding="utf-8")

        dialog.get_by_role("combobox").first.click()
        page.get_by_role("option", name="Table: Board").click()
        opened.settle()
        column = [row[0] for row in latex_cells(table("LaTeX"))[1:]]
        assert sorted(column) == sorted(NAMES)
        assert MarkdownIt("commonmark").enable("table").render(table("Markdown")).count("<tr>") == len(NAMES) + 1
        assert {row["system"] for row in csv.DictReader(StringIO(table("CSV")))} == set(NAMES)
        assert (opened.errors, opened.outside, opened.dialogs) == ([], [], [])


def holds_every_name(svg: bytes) -> ElementTree.Element:
    root = ElementTree.fromstring(svg)
    texts = "".join(root.itertext())
    for name in NAMES:
        assert name in texts, name
    return root
