"""The Hallucination page, run by Streamlit's own test driver: alone and through the router, by every link."""

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import small_arena
from arena_writer import make_answer, make_query, write_arena
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

import pages
from mirage import schema
from mirage.explorer.kit.chart import chart as show_chart
from mirage.publish.charts.palette import family, ink
from mirage.stages.outcomes import tables as outcome_tables
from mirage.store import arena as store_arena
from mirage.store.arena import open_arena
from mirage.views.rates import rates_view
from pages import conclusion, figures, page_text, titles

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
    write_arena(
        tmp_path / "print",
        {"published": rows},
        title="print",
        label="published figures",
    )
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store_arena, "bundled_arenas", lambda: {"published": tmp_path / "print"})
    return tmp_path


open_page = partial(pages.open_page, "hallucination", arena="small")


def test_the_page_answers_what_it_asks(arenas: Path) -> None:
    app = open_page()
    assert titles(app) == ["Hallucination"]
    text = page_text(app)
    assert "Who makes things up, and who gives up?" in text
    assert "238 answers of 4 systems to 36 unanswerable queries in 3 languages and 24 answerable queries" in text
    lowest = r"Lowest hallucination rate: gpt-4 \(.*%\)\. Lowest error rate: gpt-4 \(.*%\)\. Best balance: gpt-4\."
    assert re.fullmatch(lowest, conclusion(app))


@pytest.mark.parametrize(
    ("link", "section"),
    [
        ({"rate": "error"}, "By language"),
        ({"view": "confusion matrix"}, "Errors"),
        ({"confusion": "fi", "section": "By language"}, "By language"),
        ({"parser": "published"}, "By language"),
    ],
)
def test_a_link_that_names_a_picker_opens_its_section(arenas: Path, link: dict[str, str], section: str) -> None:
    app = open_page(**link)
    assert app.segmented_control(key="section").value == section


def test_a_section_of_another_page_is_not_looked_for_here(arenas: Path) -> None:
    app = AppTest.from_file(PAGE, default_timeout=PATIENCE)
    app.query_params["arena"] = "small"
    app.session_state["section"] = "Columns"
    app.run()
    assert not app.exception
    assert app.segmented_control(key="section").value == "By language"
    assert "Unknown value in the link" not in page_text(app)


def test_pitfall_32_either_definition_comes_with_the_unclassified_share(arenas: Path) -> None:
    """The table has at most seven columns beside the mark, each with its meaning."""
    exclude, count = (open_page(parser="published", definition=name) for name in ("exclude", "count"))
    tables = [app.dataframe[0].value.set_index("system") for app in (exclude, count)]
    for metric in ("hallucination", "error"):
        assert tables[0].loc["aya-101", f"{metric}_value"] < tables[1].loc["aya-101", f"{metric}_value"]
        assert tables[0].loc["aya-101", f"{metric}_value_interval"].startswith("data:image/svg+xml")
    assert tables[0].loc["aya-101", "unclassified"] > 0
    assert tables[0].loc["aya-101", "answers"] > 0
    heads = json.loads(exclude.dataframe[0].proto.columns)
    shown = {name: head for name, head in heads.items() if name not in ("_index", "_mark")}
    assert len(shown) == 7
    assert [name for name, head in shown.items() if not head.get("help")] == []


def test_systems_in_focus_stand_out(arenas: Path) -> None:
    app = open_page(systems=["aya-101"])
    *quiet, focused = (trace for trace in figures(app)["trade_off"]["data"] if trace["mode"] == "markers")
    assert [(trace["opacity"], trace["marker"]["color"]) for trace in quiet] == [(0.4, ink().muted)] * 3
    assert (focused["opacity"], focused["marker"]["color"]) == (1, family("aya-101").color)
    assert focused["customdata"][0][0] == "aya-101"
    assert len(app.dataframe[0].value) == 4, "the table keeps all"


def test_what_is_missing_is_named_with_the_reason_and_the_commands(arenas: Path) -> None:
    text = page_text(open_page(section="By language"))
    assert "Missing: Swahili (answerable), Thai (unanswerable and answerable)." in text
    assert "were not in the imported files" in text
    assert "mirage pull nomiracl --into ANSWERS\nmirage import nomiracl ANSWERS --into ARENA" in text


def test_the_printed_rates_alone_wear_their_label(arenas: Path) -> None:
    app = open_page(arena="print")
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

    for module in ("mirage.explorer.kit.chart", "mirage.explorer.hallucination.sections"):
        monkeypatch.setattr(f"{module}.chart", chart)


def answers(arenas: Path, **key: str) -> dict[str, int]:
    """How many answers of each outcome the arena holds under a key."""
    arena = open_arena(arenas / "small")
    rows = [r for r in arena.read("outcomes").to_pylist() if all(r[k] == v for k, v in key.items())]
    return {outcome: sum(r["outcome"] == outcome for r in rows) for outcome in ("answered", "abstained", "api_error")}


def test_a_clicked_cell_leads_to_the_answers_behind_it(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    click(monkeypatch, "by_language", ["aya-101", "fi", "hallucination", ""])
    app = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": "small", "section": "By language"})
    app.switch_page("pages/hallucination.py").run()
    counts = answers(arenas, language="fi", subset="non_relevant", system="aya-101", parser="strict")
    labels = [button.label for button in app.button if "→" in button.label]
    assert labels[:3] == [
        f"{counts['answered']} answered →",
        f"{counts['abstained']} abstained →",
        f"{counts['api_error']} unclassified →",
    ]
    next(button for button in app.button if "unclassified" in button.label).click().run()
    assert not app.exception
    assert titles(app) == ["Answers"]
    assert app.session_state["languages"] == ["fi"]
    assert app.session_state["systems"] == ["aya-101"]
    assert app.session_state["subset"] == "non_relevant"
    assert app.session_state["outcome"] == ["api_error"]


@pytest.mark.parametrize(
    ("key", "section", "data", "part"),
    [
        ("trade_off", "Errors", ["aya-101", "", "", ""], "aya-101, 35 answers to unanswerable queries:"),
        (
            "by_language",
            "By language",
            ["gpt-4", "sw", "error", ""],
            "No answers by gpt-4 to answerable queries in Swahili.",
        ),
    ],
)
def test_every_mark_leads_on(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, key: str, section: str, data: list[str], part: str
) -> None:
    click(monkeypatch, key, data)
    app = open_page(section=section, rate=data[2] or "hallucination")
    assert part in page_text(app)


# --- confusion matrices, prompts, and the paper's tables --------------------------------------------------------------


@pytest.fixture
def study(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An arena with one model under two prompts, beside the bundled figures."""
    yes, no = "Yes, answer is present in [1].", "I don't know."
    queries, answers = [], []
    for subset in ("relevant", "non_relevant"):
        for number in range(10):
            key = "en", f"{subset[0]}{number}"
            queries.append(make_query(*key, subset, "Why?"))
            for template, positives in (("vanilla", 3), ("role", 8)):
                text = yes if number < positives else no
                name = f"Mistral-7B-Instruct-v0.3@{template}"
                answers.append(make_answer(*key, name, text, template=template))
    tables = {"queries": schema.from_rows("queries", queries), "answers": schema.from_rows("answers", answers)}
    write_arena(arenas / "study", tables | {"outcomes": outcome_tables.outcomes(**tables)})
    monkeypatch.setattr(store_arena, "bundled_arenas", lambda: {"published": ROOT / "data" / "published"})
    return arenas


def frame(app: AppTest, column: str) -> Any:
    """The one table that has a column."""
    (table,) = (element.value for element in app.dataframe if column in element.value)
    return table


def test_the_confusion_matrix_is_that_of_the_view(arenas: Path) -> None:
    counts = rates_view(open_arena(arenas / "small")).confusion.to_pylist()
    for link, code in ({}, "all"), ({"confusion": "fi"}, "fi"):
        app = open_page(view="confusion matrix", **link)
        matrix = frame(app, "true_positives").set_index("system")
        for row in counts:
            names = ("true_positives", "false_negatives", "false_positives", "true_negatives")
            if row["language"] == code:
                assert [matrix.loc[row["system"], name] for name in names] == [row[name] for name in names]
        assert "prompts" not in app.selectbox(key="view").options


def test_prompts_of_one_model_stand_together_and_beside_table_3(study: Path) -> None:
    app = open_page(arena="study", view="prompts")
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
    assert "ours" not in frame(open_page(arena="study", printed="Table 7"), "remark"), "a column without a value"


def test_the_printed_tables_stand_alone_where_there_are_no_answers(study: Path) -> None:
    shutil.copytree(ROOT / "data" / "published", study / "figures")
    app = open_page(arena="figures", printed="Table 7")
    table = next(element.value for element in app.dataframe if "printed" in element.value and "metric" in element.value)
    assert len(table) == 8
    assert "ours" not in table
