"""The frame and what pages are made of, run by Streamlit's own test driver: every page alone and through the router."""

import ast
import re
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import small_arena
from conftest import PATIENCE, ROOT
from payloads import HOSTILE
from streamlit.testing.v1 import AppTest

from mirage import open_arena, schema
from mirage.errors import UnknownName
from mirage.explorer.kit import page_list, states
from mirage.explorer.kit.table import (
    Col,
    column,
    dot,
    estimate,
    interval_images,
    prepare_table,
    table_html,
)
from mirage.explorer.kit.text import plain, text_html
from mirage.stages.outcomes.confusion import Confusion
from mirage.store import arena as store_arena
from pages import page_text, titles

APP = ROOT / "app.py"
LEADERBOARD, METHODS = (ROOT / "pages" / f"{name}.py" for name in ("leaderboard", "methods"))
PAGES = sorted((ROOT / "pages").glob("*.py"))


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    small_arena.write(module_path, "small", tables=("outcomes", "judgments"))
    small_arena.write(module_path, "printed", tables=("published",))
    return module_path


def open_page(script: Path, **params: str | list[str]) -> AppTest:
    page = AppTest.from_file(script, default_timeout=PATIENCE)
    page.query_params.update({"arena": "small", **params})
    return page.run()


def board(page: AppTest) -> Any:
    return page.dataframe[0].value


@pytest.mark.parametrize("script", [APP, LEADERBOARD], ids=["router", "alone"])
def test_the_leaderboard_answers_what_it_asks(arenas: Path, script: Path) -> None:
    page = open_page(script)
    assert not page.exception
    assert titles(page) == ["Leaderboard"]
    assert "Which system is best in my languages?" in page_text(page)
    assert "238 answers of 4 systems" in page_text(page)
    assert "to 60 queries in 3 languages. Shown: 48 of 60 queries in English, Finnish" in page_text(page)
    assert "Swahili: no answerable queries" in page_text(page)
    assert board(page)["system"].tolist()[0] == "gpt-4"
    assert [rank.strip().partition(" ")[0] for rank in board(page)["rank"]] == ["1", "2", "3", "4"]


def test_published_ranks_wear_their_label_and_admit_the_missing_interval(arenas: Path) -> None:
    page = open_page(LEADERBOARD, arena="printed")
    assert not page.exception
    assert "published figures" in page_text(page)
    assert "GPT-4o ranks best" in page_text(page)
    assert "No intervals" in page_text(page)
    assert board(page)["judge"].tolist() == [1.0, 2.0]


def test_pitfall_44_unknown_names_in_a_link_get_a_plain_answer(arenas: Path) -> None:
    page = open_page(APP, arena="smalll", languages=["en", "fu"])
    assert not page.exception
    text = page_text(page)
    assert "there is no arena 'smalll'; did you mean: small?" in text
    assert "there is no language 'fu'; did you mean: fi?" in text
    assert "there is no skill 'abstai'; did you mean: abstain?" in page_text(open_page(APP, skill="abstai"))
    page.run()
    assert "there is no arena 'smalll'" in page_text(page), "the answer stays until another arena is chosen"
    page.selectbox(key="arena").set_value("small").run()
    assert "there is no arena 'smalll'" not in page_text(page)


def test_pitfall_45_text_of_a_link_is_never_markup(arenas: Path) -> None:
    page = open_page(LEADERBOARD, arena="![x](http://example.org/a.png) $1$ <b>")
    warning = "".join(w.value for w in page.warning)
    assert re.sub(r"\\(.)", "", warning).count("[") == 0
    assert "![x](http://example.org/a.png) $1$ <b>" in page_text(page)
    assert "http://\u2060example.org" in re.sub(r"\\(.)", r"\1", warning), "no address that would become a link"


def test_a_selection_that_cannot_be_rated_is_an_answer_not_a_traceback(arenas: Path) -> None:
    page = open_page(APP, languages="sw", skill="answer")
    assert not page.exception
    assert "There are no battles to rate" in page_text(page)
    assert "choose another skill" in page_text(page)


def test_without_any_arena_the_page_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIRAGE_ARENAS", raising=False)
    monkeypatch.setattr(store_arena, "bundled_arenas", dict)
    page = AppTest.from_file(LEADERBOARD, default_timeout=PATIENCE).run()
    assert not page.exception
    assert "No arenas found." in page_text(page)
    assert "make data" in [c.value for c in page.code]


def test_a_damaged_arena_is_left_out_and_a_rewritten_one_shows_its_new_numbers(
    arenas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    for name in ("small", "other", "broken"):
        small_arena.write(tmp_path, name)
    next((tmp_path / "broken" / "outcomes").iterdir()).unlink()
    page = open_page(LEADERBOARD, languages="en", columns="all")
    assert not page.exception
    assert "Arena broken skipped" in page_text(page)
    assert page.selectbox(key="arena").options == ["other", "small"]
    before = board(page)["wins"].tolist()
    small_arena.write(tmp_path, "small", seed=9)
    page.run()
    assert not page.exception
    assert board(page)["wins"].tolist() != before


@pytest.mark.parametrize("script", PAGES, ids=lambda p: p.stem)
def test_a_pages_only_act_is_to_show_itself_in_the_frame(script: Path) -> None:
    lines = ast.parse(script.read_text("utf-8")).body
    calls = [line.value for line in lines if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)]
    assert [ast.literal_eval(call.args[0]) for call in calls] == [script.stem]
    assert script.stem in [entry.name for entry in page_list.PAGES]


@pytest.mark.parametrize("script", PAGES, ids=lambda p: p.stem)
def test_every_page_opens_through_the_router(arenas: Path, script: Path) -> None:
    page = AppTest.from_file(APP, default_timeout=PATIENCE)
    page.query_params["arena"] = "small"
    page.switch_page(f"pages/{script.name}").run()
    assert not page.exception
    entry = next(e for e in page_list.PAGES if e.name == script.stem)
    assert titles(page) == [entry.title]
    assert entry.question in page_text(page)


SOURCES = [
    APP,
    *PAGES,
    *sorted(
        set((ROOT / "mirage" / "explorer").rglob("*.py")) - set((ROOT / "mirage" / "explorer" / "serve").glob("*.py"))
    ),
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.name)
def test_pitfall_45_no_page_lets_markdown_or_script_through(source: Path) -> None:
    text = source.read_text("utf-8")
    assert "unsafe_allow" not in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


def test_the_settings_keep_the_explorer_to_this_machine() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["server"]["address"] == "127.0.0.1"
    assert config["browser"]["gatherUsageStats"] is False
    assert config["runner"]["postScriptGC"] is False
    assert {"light", "dark"} <= set(config["theme"])


def test_text_has_its_own_language_and_direction() -> None:
    assert 'lang="ar" dir="rtl"' in text_html("لا أعرف", language="ar")
    assert 'lang="ja" dir="ltr"' in text_html("わかりません", language="ja")
    assert 'lang="und" dir="auto"' in text_html("42", language="xx")
    assert 'lang="fa" dir="rtl"' in text_html("1. ?", language="fa")


def test_text_runs_as_most_of_its_letters_do() -> None:
    assert 'dir="rtl"' in text_html("##Reason: لا توجد إجابة عن هذا السؤال.", language="ar")
    assert 'dir="ltr"' in text_html("I don't know (لا).", language="ar")
    assert 'dir="rtl"' in text_html("نعم، الإجابة موجودة.", language="en")


@pytest.mark.parametrize("payload", HOSTILE)
def test_plain_text_survives_markdown(payload: str) -> None:
    escaped = plain(payload)
    # A word joiner, which is not seen, keeps an address from becoming a link.
    assert re.sub(r"\\(.)", r"\1", escaped).replace("\u2060", "") == payload
    assert "http://example" not in escaped
    assert not re.search(r"(?<!\\)[*_`\[\]<>$#]", escaped)


def test_a_table_formats_by_kind_and_draws_intervals() -> None:
    rows = pa.table(
        {"system": ["gpt-4", "aya-101"], "r": [0.5, None], "lo": [0.2, None], "hi": [0.9, None], "s": [0.125, 1.0]}
    )
    data, config = prepare_table(
        rows,
        [
            column("ratings", "system"),
            Col("r", "Interval", "interval", low="lo", high="hi"),
            Col("r", "Span", "span", low="lo", high="hi"),
            Col("s", "Share", "rate"),
        ],
    )
    assert data["s"].to_pylist() == [12.5, 100.0]
    assert config["s"]["type_config"]["format"] == "%.1f%%"
    assert data["r_span"].to_pylist() == ["0.2–0.9", None]
    assert data["r_interval"].to_pylist()[0].startswith("data:image/svg+xml;utf8,<svg")
    assert data["r_interval"].to_pylist()[1] is None
    assert config["_mark"]["pinned"] is True
    assert config["system"]["pinned"] is False, "pinned names are pale"
    assert config["system"]["help"] == "The system rated."


def test_a_table_with_the_same_rows_is_drawn_anew_where_a_system_has_another_look() -> None:
    def script() -> None:
        import pyarrow as pa
        import streamlit as st

        from mirage.explorer.kit.table import column, table
        from mirage.publish.charts.palette import arena_looks

        with arena_looks(tuple(f"gpt-{k}" for k in range(10 - st.session_state.get("others", 0), 10))):
            table(pa.table({"system": ["gpt-9"]}), [column("answers", "system")], key="one")

    app = AppTest.from_function(script, default_timeout=PATIENCE)
    marks = []
    for others in (1, 1, 9):
        app.session_state["others"] = others
        app.run()
        assert not app.exception
        marks.append(app.dataframe[0].value["_mark"][0])
    assert marks[0] == marks[1] != marks[2]


def images(*rows: tuple[float | None, float | None, float | None], ends: Any = None) -> list[str | None]:
    """The drawn intervals of rows of value, low and high."""
    table = pa.table(
        {
            name: pa.array(cells, pa.float64())
            for name, cells in zip(("value", "low", "high"), zip(*rows, strict=True), strict=True)
        }
    )
    return interval_images(table, Col("value", "Value", "interval", low="low", high="high", ends=ends))


def test_intervals_share_one_scale_and_mark_zero() -> None:
    first, second = images((-1.0, -2.0, 0.0), (1.0, 0.0, 2.0))
    assert "stroke-dasharray" in str(first)
    assert str(first) != str(second)
    (only,) = images((3.0, 3.0, 3.0))
    assert "stroke-dasharray" not in str(only)
    assert images((None, None, None)) == [None]


def test_a_table_to_read_says_what_one_to_sort_says_and_takes_names_for_names() -> None:
    rows = pa.table(
        {
            "system": ["<b>a</b>", "b"],
            "value": [-0.25, None],
            "low": [-0.5, None],
            "high": [0.0, None],
            "n": [1200, 3],
            "words": ["x & y", None],
            "least": [1, None],
            "most": [3, None],
        }
    )
    columns = (
        Col("system", "System", "system"),
        Col("value", "Value", "difference", help='What it is, "so"'),
        Col("value", "Interval", "interval", low="low", high="high"),
        Col("n", "n", "count"),
        Col("words", "Words", "text"),
        Col("n", "Ranks", "span", low="least", high="most"),
    )
    markup = table_html(rows, columns)
    heads, first, second = (re.findall(r"<t[hd].*?</t[hd]>", line) for line in re.findall(r"<tr>.*?</tr>", markup))
    assert [re.sub("<[^>]*>", "", head) for head in heads] == ["System", "Value", "Interval", "n", "Words", "Ranks"]
    assert 'title="What it is, &quot;so&quot;"' in heads[1]
    seen = [[unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in line] for line in (first, second)]
    assert seen[0] == ["<b>a</b>", "\u22120.250", "", "1,200", "x & y", "1\u20133"]
    assert seen[1] == ["b", "\u2013", "\u2013", "3", "\u2013", "\u2013"]
    assert 'alt="\u22120.500 to 0.000"' in first[2]
    assert "<b>a</b>" not in markup
    assert 'scope="row"' in first[0]


@pytest.mark.parametrize("maker", ["gpt-4", "aya", "mistral", "llama", "orca", "gemma", "qwen", "baseline/x", "other"])
def test_a_systems_mark_is_an_image_that_loads_nothing(maker: str) -> None:
    image = unescape(dot(maker))
    assert image.startswith("data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg'")
    assert "href" not in image
    assert "%23" in image, "a bare # would end the address"


def test_the_sidebar_says_what_an_arena_has_and_what_brings_the_rest(arenas: Path) -> None:
    page = open_page(APP)
    assert not [h for h in page.get("html") if "<dl class" in h.proto.body], "what nobody has opened is not made"
    page.session_state["frame_contents"] = True
    page.run()
    arena = open_arena(arenas / "small")
    (listed,) = [h.proto.body for h in page.get("html") if "<dl class" in h.proto.body]
    assert re.findall(r"<dt>(\w+)</dt><dd>([\d,]+) rows", listed) == [
        (table, f"{arena.rows(table):,}") for table in schema.TABLES if table in arena.tables
    ]
    words = page_text(page)
    assert "Not in this arena: Features, Spot check, Your system, Surrogate." in words.replace("**", "")
    assert f"mirage import FILE --as answers --into {arena.path}" in [code.value for code in page.code]
    assert {"outcomes", "judgments"} == set(arena.tables)


def test_the_list_of_tables_says_what_a_bundled_arena_is_and_where_it_is_from() -> None:
    app = open_page(METHODS, arena="people")
    app.session_state["frame_contents"] = True
    app.run()
    (listed,) = [h.proto.body for h in app.get("html") if "<dl class" in h.proto.body]
    arena = open_arena("people")
    assert arena.manifest["about"] in listed
    assert "prediction-powered-ranking" in listed
    assert arena.manifest["licence"] in listed


def test_an_unknown_value_of_a_link_is_named_under_any_kind_of_picker() -> None:
    app = AppTest.from_function(_pickers, default_timeout=PATIENCE)
    for key in ("plain", "searched", "beside", "several"):
        app.query_params[key] = "xx"
    app.run()
    assert not app.exception
    assert sum("'xx'" in caption.value for caption in app.caption) == 4


def _pickers() -> None:
    from mirage.explorer.kit.pick import pick, pick_many, pick_segments

    pick("Plain", ["en", "de"], key="plain", kind="language")
    pick("Searched", ["en", "de"], key="searched", kind="language", named=str.upper)
    pick_segments("Beside", ["en", "de"], key="beside", kind="language")
    pick_many("Several", ["en", "de"], key="several", kind="language", named=str.upper)


def test_every_label_of_an_arena_has_a_meaning() -> None:
    for path in store_arena.bundled_arenas().values():
        label = open_arena(path).label
        assert states.STORED.get(label, label) in states.LABELS


def test_the_catalogue_names_formats_and_explains_a_column() -> None:
    battles, share = column("ratings", "battles"), column(Confusion, "error_rate", "Error")
    assert (battles.label, battles.kind, battles.help) == (
        "Battles",
        "count",
        "Number of battles: wins + ties + losses.",
    )
    assert (share.label, share.kind) == ("Error", "rate")
    assert (column("ratings", "system").kind, column("ratings", "language").kind) == ("system", "language")
    value, interval = estimate(share, stem="x")
    assert (value, interval.name, interval.low, interval.high) == (share, "error_rate", "x_low", "x_high")
    with pytest.raises(UnknownName, match="column"):
        column("ratings", "battle")
