"""The Hallucination page, run by Streamlit's own test driver: alone and through the router, by every link."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import small_arena
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage import schema, store
from mirage.explorer.kit.chart import chart as show_chart
from mirage.publish.charts.palette import family, ink
from mirage.stages import outcomes
from mirage.store import Arena
from pages import conclusion, headings, page_text, titles

APP = ROOT / "app.py"
PAGE = ROOT / "pages" / "hallucination.py"
PRINTED = {
    ("hallucination", "aya-101", "en"): 50.0,
    ("error", "aya-101", "en"): 40.0,
    ("hallucination", "aya-101", "fi"): 30.0,
    ("error", "aya-101", "th"): 20.0,
    ("hallucination", "GPT-4", "en"): 10.0,
    ("error", "GPT-4", "en"): 15.0,
}


@pytest.fixture
def arenas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Arenas in place of the bundled ones: one with outcomes, one with printed rates, one with judgments."""
    small_arena.write(tmp_path, "small", tables=("outcomes",))
    small_arena.write(tmp_path, "judged", tables=("judgments",))
    rows = [
        schema.Published("NoMIRACL", "Baselines", f"{metric} rate", "", system, code, value, None, "%", "a page")
        for (metric, system, code), value in PRINTED.items()
    ]
    store.write(
        tmp_path / "print",
        {"published": schema.from_rows("published", rows)},
        title="print",
        label="published figures",
        made_by="a test",
    )
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store, "bundled_arenas", lambda: {"published": tmp_path / "print"})
    return tmp_path


def open_page(script: Path = PAGE, **params: str | list[str]) -> AppTest:
    app = AppTest.from_file(script, default_timeout=PATIENCE)
    app.query_params.update({"arena": "small", **params})
    if script == APP:
        app.switch_page("pages/hallucination.py")
    return app.run()


def charts(app: AppTest) -> list[dict[str, Any]]:
    """The figures of the page."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


@pytest.mark.parametrize("script", [APP, PAGE], ids=["router", "alone"])
def test_the_page_answers_what_it_asks(arenas: Path, script: Path) -> None:
    app = open_page(script)
    assert not app.exception
    assert titles(app) == ["Hallucination"]
    text = page_text(app)
    assert "Who makes things up, and who gives up?" in text
    assert "238 answers of 4 systems to 36 non-relevant queries in 3 languages and 24 relevant queries" in text
    assert conclusion(app).startswith("gpt-4 has the lowest rates")
    assert "n = " in conclusion(app), "each rate has its interval and n"
    assert "No system changes rank" in text
    assert len(charts(app)) == 1, "an order that does not change is the table's"


def test_places_that_the_definition_changes_are_drawn() -> None:
    app = open_page(arena="nomiracl", languages=["fi"])
    assert not app.exception
    orders = [figure for figure in charts(app) if not figure["layout"]["xaxis"].get("visible", True)]
    moved = [figure for figure in orders if any("place" in text for text in figure["data"][-1]["text"])]
    assert orders == moved != []


def test_every_section_that_the_arena_has_is_offered_and_one_is_drawn(arenas: Path) -> None:
    offered = open_page().segmented_control(key="section").options
    assert offered == ["By definition", "By language", "Outcomes", "Errors", "Confusion"]
    headers = []
    for section, drawn in zip(offered, (1, 3, 3, None, 1), strict=True):
        app = open_page(section=section)
        assert not app.exception
        assert app.segmented_control(key="section").value == section
        if drawn is not None:
            assert len(charts(app)) == drawn
        headers += [*(header.value for header in app.header), *headings(app)]
    assert len(set(headers)) == len(headers) == len(offered)


@pytest.mark.parametrize(
    ("link", "section"),
    [
        ({"rate": "error"}, "By language"),
        ({"cells": "difference"}, "By language"),
        ({"confusion": "fi"}, "Confusion"),
        ({"confusion": "fi", "section": "Outcomes"}, "Outcomes"),
        ({"parser": "published"}, "By definition"),
    ],
)
def test_a_link_that_names_a_picker_opens_its_section(arenas: Path, link: dict[str, str], section: str) -> None:
    app = open_page(**link)
    assert not app.exception
    assert app.segmented_control(key="section").value == section


def test_a_section_of_another_page_is_not_looked_for_here(arenas: Path) -> None:
    app = AppTest.from_file(PAGE, default_timeout=PATIENCE)
    app.query_params["arena"] = "small"
    app.session_state["section"] = "Columns"
    app.run()
    assert not app.exception
    assert app.segmented_control(key="section").value == "By definition"
    assert "Unknown value in the link" not in page_text(app)


def test_pitfall_32_the_table_shows_both_definitions_with_the_undecided_share(arenas: Path) -> None:
    decided, published = open_page(parser="published"), open_page(definition="as-published")
    for app in (decided, published):
        assert not app.exception
    decided_table, published_table = (app.dataframe[0].value.set_index("system") for app in (decided, published))
    for metric in ("hallucination", "error"):
        assert decided_table.loc["aya-101", f"{metric}_value"] == published_table.loc["aya-101", f"{metric}_other"]
        assert decided_table.loc["aya-101", f"{metric}_other"] == published_table.loc["aya-101", f"{metric}_value"]
        assert decided_table.loc["aya-101", f"{metric}_value"] < decided_table.loc["aya-101", f"{metric}_other"]
        assert decided_table.loc["aya-101", f"{metric}_undecided"] > 0
        assert decided_table.loc["aya-101", f"{metric}_decided"] > 0
        assert decided_table.loc["aya-101", f"{metric}_value_interval"].startswith("data:image/svg+xml")


def test_every_column_head_has_its_meaning(arenas: Path) -> None:
    heads = json.loads(open_page().dataframe[0].proto.columns)
    shown = {name: head for name, head in heads.items() if name != "_index"}
    assert len(shown) == 12
    assert [name for name, head in shown.items() if not head.get("help")] == []


def test_a_link_restores_the_whole_state(arenas: Path) -> None:
    app = open_page(
        languages="en",
        systems=["aya-101", "gpt-4"],
        definition="as-published",
        parser="published",
        rate="error",
        cells="difference",
    )
    assert not app.exception
    state = {key: app.session_state[key] for key in ("definition", "rate", "cells")}
    assert state == {"definition": "as-published", "rate": "error", "cells": "difference"}
    assert sorted(app.multiselect(key="systems").value) == ["aya-101", "gpt-4"]
    assert "12 non-relevant queries in 1 language and 12 relevant queries in 1 language" in page_text(app)
    assert "Error rate as published minus the printed one" in page_text(app)


def test_pitfall_44_unknown_names_in_a_link_get_a_plain_answer(arenas: Path) -> None:
    text = page_text(open_page(systems="aya", definition="decide", parser="strct", rate="err"))
    for name, nearest in (("aya", "aya-101"), ("decide", "decided"), ("strct", "strict"), ("err", "error")):
        assert f"'{name}'" in text
        assert f"did you mean: {nearest}" in text


def test_systems_in_focus_stand_out_and_their_bars_are_drawn(arenas: Path) -> None:
    app = open_page(systems=["aya-101"], section="By language")
    scatter, *rest = charts(app)
    quiet, focused = (trace for trace in scatter["data"] if trace["mode"] == "markers")
    assert (quiet["opacity"], quiet["marker"]["color"], len(quiet["x"])) == (0.4, ink("light").muted, 3)
    assert (focused["opacity"], focused["marker"]["color"]) == (1, family("aya-101").color("light"))
    assert focused["customdata"][0][0] == "aya-101"
    (bars,) = (figure for figure in rest if figure["data"][0]["type"] == "bar")
    assert {t["name"] for t in bars["data"]} == {"aya-101"}
    assert len(app.dataframe[0].value) == 4, "the table keeps all"


def test_what_is_missing_is_named_with_the_reason_and_the_commands(arenas: Path) -> None:
    text = page_text(open_page(section="By language"))
    assert "Missing: Swahili (relevant), Thai (non-relevant and relevant)." in text
    assert "were not in the imported files" in text
    assert "mirage pull nomiracl --into ANSWERS\nmirage import nomiracl ANSWERS --into ARENA" in text


def test_languages_of_one_subset_alone_have_a_page_too(arenas: Path) -> None:
    app = open_page(languages="sw", section="Outcomes")
    assert not app.exception
    assert "No answers to relevant queries." in page_text(app)
    assert app.dataframe[0].value["error_value"].isna().all()


def test_an_arena_without_outcomes_says_what_brings_them(arenas: Path) -> None:
    app = open_page(arena="judged")
    assert not app.exception
    # Outcomes are made from answers, which are not there either: these are named.
    assert "This arena has no answers table" in page_text(app)
    assert "mirage import FILE --as answers" in page_text(app)


def test_the_printed_rates_alone_wear_their_label(arenas: Path) -> None:
    app = open_page(arena="print")
    assert not app.exception
    text = page_text(app)
    assert "published figures" in text
    assert "NoMIRACL: rates of 2 systems in 3 languages as printed" in text
    assert "prints no n or intervals" in text
    table = app.dataframe[0].value.set_index("system")
    assert table.loc["aya-101", "hallucination_value"] == pytest.approx(40.0)
    assert not [name for name in table if "interval" in name]


def click(monkeypatch: pytest.MonkeyPatch, key: str, data: list[str]) -> None:
    """Make one chart report a click."""
    original = show_chart

    def chart(figure: Any, **options: Any) -> Any:
        original(figure, **options)
        return data if options["key"] == key else None

    monkeypatch.setattr("mirage.explorer.kit.chart.chart", chart)


def answers(arenas: Path, **key: str) -> dict[str, int]:
    """How many answers of each outcome the arena holds under a key."""
    arena: Arena = store.open_arena(arenas / "small")
    rows = [r for r in arena.read("outcomes").to_pylist() if all(r[k] == v for k, v in key.items())]
    return {outcome: sum(r["outcome"] == outcome for r in rows) for outcome in ("answered", "abstained", "api_error")}


def test_a_clicked_cell_leads_to_the_answers_behind_it(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    click(monkeypatch, "by_language", ["aya-101", "fi", "hallucination", ""])
    app = open_page(APP, section="By language")
    assert not app.exception
    counts = answers(arenas, language="fi", subset="non_relevant", system="aya-101", parser="strict")
    labels = [button.label for button in app.button if "→" in button.label]
    assert labels[:3] == [
        f"{counts['answered']} answered →",
        f"{counts['abstained']} abstained →",
        f"{counts['api_error']} undecided →",
    ]
    next(button for button in app.button if "undecided" in button.label).click().run()
    assert not app.exception
    assert titles(app) == ["Answers"]
    assert app.session_state["languages"] == ["fi"]
    assert app.session_state["systems"] == ["aya-101"]
    assert app.session_state["subset"] == "non_relevant"
    assert app.session_state["outcome"] == ["api_error"]


@pytest.mark.parametrize(
    ("key", "section", "data", "part"),
    [
        ("trade_off", "Outcomes", ["aya-101", "", "", ""], "aya-101, 35 answers to non-relevant queries:"),
        ("bars", "By language", ["aya-101", "en", "error", ""], "aya-101, 11 answers to relevant queries in English:"),
        ("outcomes_error", "Outcomes", ["gpt-4", "", "error", "abstained"], "gpt-4, 24 answers to relevant queries:"),
        (
            "by_language",
            "By language",
            ["gpt-4", "sw", "error", ""],
            "No answers by gpt-4 to relevant queries in Swahili.",
        ),
    ],
)
def test_every_mark_leads_on(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, key: str, section: str, data: list[str], part: str
) -> None:
    click(monkeypatch, key, data)
    app = open_page(section=section, rate=data[2] or "hallucination")
    assert not app.exception
    assert part in page_text(app)


def test_a_name_is_never_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "*x* :red[y] $5 <b>z</b>"
    monkeypatch.setitem(small_arena.SYSTEMS, name, 0.95)
    small_arena.write(tmp_path, "small", tables=("outcomes",))
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store, "bundled_arenas", dict)
    for section in open_page().segmented_control(key="section").options:
        app = open_page(section=section)
        assert not app.exception
        raw = "\n".join(e.value for kind in (app.markdown, app.caption) for e in kind)
        assert name not in raw
        assert name in page_text(app)


def test_columns_stand_below_each_other_before_they_are_too_narrow_for_their_charts(arenas: Path) -> None:
    rules = "".join(element.proto.body for element in open_page().get("html"))
    calls = [
        call
        for path in (*ROOT.glob("pages/*.py"), *ROOT.glob("mirage/explorer/**/*.py"))
        for call in re.findall(r"\bside_by_side\((.*?)key=", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    ]
    parts = {(least, share) for call in calls for least, share in re.findall(r"\((\d+), (\d+)\)", call)}
    assert len(parts) > 5
    for least, share in parts:
        assert f'_least{least}_"]) {{ flex: 1 1 {least}px; min-width: min({least}px, 100%); }}' in rules
        assert f'_share{share}_"]) {{ flex-grow: {share}; }}' in rules


# --- confusion matrices, prompts, and the paper's tables --------------------------------------------------------------


@pytest.fixture
def study(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An arena with one model under two prompts, beside the bundled figures."""
    yes, no = "Yes, answer is present in [1].", "I don't know."
    queries, answers = [], []
    for subset in ("relevant", "non_relevant"):
        for number in range(10):
            key = "en", f"{subset[0]}{number}"
            queries.append(schema.Query(*key, subset, "Why?", None))
            for template, positives in (("vanilla", 3), ("role", 8)):
                text = yes if number < positives else no
                name = f"Mistral-7B-Instruct-v0.3@{template}"
                answers.append(schema.Answer(*key, name, text, "ok", template, None, None))
    tables = {"queries": schema.from_rows("queries", queries), "answers": schema.from_rows("answers", answers)}
    store.write(arenas / "study", tables | {"outcomes": outcomes.outcomes(**tables)}, made_by="a test")
    monkeypatch.setattr(store, "bundled_arenas", lambda: {"published": ROOT / "data" / "published"})
    return arenas


def frame(app: AppTest, column: str) -> Any:
    """The one table that has a column."""
    (table,) = (element.value for element in app.dataframe if column in element.value)
    return table


def test_the_confusion_matrix_has_the_counts_of_the_arena(arenas: Path) -> None:
    app = open_page(section="Confusion")
    assert not app.exception
    matrix = frame(app, "true_positives").set_index("system")
    relevant = answers(arenas, subset="relevant", system="gpt-4", parser="strict")
    other = answers(arenas, subset="non_relevant", system="gpt-4", parser="strict")
    row = matrix.loc["gpt-4"]
    assert (row["true_positives"], row["false_negatives"]) == (relevant["answered"], relevant["abstained"])
    assert (row["false_positives"], row["true_negatives"]) == (other["answered"], other["abstained"])
    finnish = frame(open_page(confusion="fi"), "true_positives").set_index("system").loc["gpt-4"]
    assert (
        finnish["true_positives"]
        == answers(arenas, subset="relevant", system="gpt-4", parser="strict", language="fi")["answered"]
    )
    assert "By prompt" not in app.segmented_control(key="section").options


def test_prompts_of_one_model_stand_together_and_beside_table_3(study: Path) -> None:
    app = open_page(arena="study", section="By prompt")
    assert not app.exception
    prompts = frame(app, "template").set_index("template")
    assert set(prompts["system"]) == {"Mistral-7B-Instruct-v0.3"}
    assert prompts.loc["role", "hallucination_rate"] == pytest.approx(80)
    assert prompts.loc["role", "hallucination_change"] == pytest.approx(50)
    assert prompts.loc["role", "error_change"] == pytest.approx(-50)
    app = open_page(arena="study", printed="Table 3", figures="en")
    paper = frame(app, "remark").set_index(["metric", "setting"])
    assert paper.loc[("hallucination rate", "prompt +Role"), "printed"] == 62.4
    assert paper.loc[("hallucination rate", "prompt +Role"), "ours"] == pytest.approx(80)
    assert paper.loc[("error rate", "prompt +Repeat"), "remark"] == "no answer in the arena is to the template repeat"
    assert "published figures" in page_text(app)
    assert "NoMIRACL, EMNLP 2024 Findings (arXiv 2312.11361v3), Table 3" in page_text(app)


@pytest.mark.parametrize(
    ("item", "language", "rows"),
    [("Table 1", "all", 4), ("Table 2", "en", 150), ("Table 3", "all", 8), ("Table 7", "sw", 8)],
)
def test_every_table_of_the_paper_is_on_the_page(study: Path, item: str, language: str, rows: int) -> None:
    app = open_page(arena="study", printed=item, figures=language)
    assert not app.exception
    assert len(frame(app, "remark")) == rows


def test_the_printed_tables_stand_alone_where_there_are_no_answers(study: Path) -> None:
    shutil.copytree(ROOT / "data" / "published", study / "figures")
    app = open_page(arena="figures", printed="Table 7")
    assert not app.exception
    table = next(element.value for element in app.dataframe if "printed" in element.value and "metric" in element.value)
    assert len(table) == 8
    assert "ours" not in table


def test_withholding_draws_the_curves_and_names_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link opens the section; in one language of the sample there are too few answers for a curve, which it says."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    app.switch_page("pages/hallucination.py")
    app.query_params.update({"arena": "sample", "section": "Risk-coverage", "loss": "wrong"})
    app.run()
    assert not app.exception
    table = app.dataframe[-1].value
    assert list(table["area"].dropna()) == sorted(table["area"].dropna())
    (sentence,) = [line for line in page_text(app).splitlines() if "as signal" in line]
    assert str(table["system"].iloc[0]) in sentence
    app.query_params["withheld_in"] = "sw"
    app.query_params["section"] = "Risk-coverage"
    app.selectbox(key="withheld_in").set_value("sw").run()
    assert not app.exception
    assert any("No curve in Swahili" in element.value for element in app.caption)
