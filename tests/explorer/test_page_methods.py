"""The Methods page: every definition can be found, every difference is measured, every table says where it is from."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pytest
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage import schema, store
from mirage.explorer.kit.definitions import DEFINITIONS
from mirage.explorer.kit.text import plain
from mirage.explorer.methods import data as methods
from mirage.llm.prompts.origins import ORIGINS
from mirage.publish.charts.palette import ink
from mirage.stages.features import FEATURES
from mirage.stages.outcomes import RULES
from pages import html, page_text
from pages import text as text_of

SECTIONS = ("Definitions", "Differences", "Prompts", "Data", "Columns")


def page(**params: str) -> Any:
    app = AppTest.from_file(str(ROOT / "pages" / "methods.py"), default_timeout=PATIENCE)
    for name, value in params.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def texts(app: Any) -> str:
    shown = [element.value for kind in ("markdown", "caption", "header") for element in app.get(kind)]
    return "\n".join([*shown, text_of(app)])


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_opens_from_a_link(section: str) -> None:
    assert texts(page(section=section))


def test_all_definitions_are_shown_each_with_its_source() -> None:
    shown = texts(page())
    for entry in DEFINITIONS:
        assert entry.term in shown
    assert shown.count("Source") == len(DEFINITIONS)


def test_every_formula_is_set_and_in_the_ink_of_the_mode() -> None:
    formulas = [entry.formula for entry in DEFINITIONS if entry.formula]
    images = re.findall(r'<img class="mg-formula" alt="([^"]*)" src="data:image/svg\+xml,([^"]*)">', html(page()))
    assert [unescape(alt) for alt, _ in images] == formulas
    for _, source in images:
        root = ET.fromstring(unquote(source))
        assert {element.get("fill") for element in root.iter() if element.get("fill")} == {ink("light").text}
        assert sum(element.tag.endswith("use") for element in root.iter()) > 2


@pytest.mark.filterwarnings("ignore:path is deprecated:DeprecationWarning")  # ziafont finds its fonts the old way
def test_the_formulas_are_those_that_make_docs_sets() -> None:
    path = ROOT / "docs" / "site" / "formulas.py"
    spec = spec_from_file_location("formulas", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    kept, anew = (json.loads(content) for content in (module.HERE.read_text(encoding="utf-8"), module.written()))
    assert list(kept) == list(anew), "run: make docs"
    signs = re.compile(r'href="#(\w+)"')
    for formula in kept:
        assert signs.findall(kept[formula]) == signs.findall(anew[formula]), f"run: make docs, for {formula}"


def test_a_search_in_the_link_keeps_the_definitions_that_hold_all_its_words() -> None:
    app = page(search="bradley LOGITS")
    assert f"1 of {len(DEFINITIONS)} definitions" in page_text(app)
    assert "<strong>Rating</strong>" in html(app)


def test_every_prompt_is_shown_with_its_source_and_each_departure_with_its_reason() -> None:
    app = page(section="Prompts")
    assert prompts_of(app) == [origin.name for origin in ORIGINS]
    shown = texts(app)
    for origin in ORIGINS:
        assert plain(origin.source) in shown
        assert all(plain(part) in shown for departure in origin.departures for part in (departure.what, departure.why))
    assert prompts_of(page(section="Prompts", search="fluency sentence")) == ["fluency"]
    assert prompts_of(page(section="Prompts", search="nosuchword")) == []


def prompts_of(app: Any) -> list[str]:
    """The prompts that are shown whole, by name."""
    names = {origin.text.strip(): origin.name for origin in ORIGINS}
    return [names[code.value.strip()] for code in app.get("code") if code.value.strip() in names]


def test_what_is_said_of_another_program_names_the_file_or_class_it_is_about() -> None:
    sources = [f"{d.source} {d.departure}" for d in DEFINITIONS] + [f.source for f in FEATURES.values()]
    about = [text for text in sources if "program" in text]
    assert len(about) > 8
    for text in about:
        assert re.search(r"\w\.py\b|\bclass \w+", text), text


def test_a_search_without_a_match_says_so() -> None:
    app = page(search="nosuchword")
    assert [info.value for info in app.info] == ["No definition matches all of these words. Try fewer."]


def test_every_column_of_every_table_is_described() -> None:
    shown = texts(page(section="Columns"))
    for table in schema.TABLES:
        assert all(f"`{column.name}`" in shown for column in schema.columns(table))


def test_every_table_of_the_arena_says_how_it_was_made() -> None:
    arena = store.open_arena(store.bundled_arenas()["nomiracl"])
    rows = methods.provenance(arena)
    assert [row["table"] for row in rows] == list(arena.tables)
    for row in rows:
        assert row["rows"] == arena.rows(row["table"])
        assert row["by"]
        assert row["source"]


def test_what_the_arena_lacks_comes_with_its_command() -> None:
    commands = [code.value for code in page(section="Data").code]
    assert any(command.startswith("mirage import queries") for command in commands)


def test_pitfall_26_cells_without_a_right_answer_are_counted_on_real_outcomes() -> None:
    effects = {e.departure: e for e in methods.effects(store.open_arena(store.bundled_arenas()["nomiracl"]))}
    assert effects["A cell without a correct answer"].moved.startswith("24 of 363 cells")
    assert effects["API errors"].moved.startswith("191 answers")


def test_pitfall_36_resampling_battles_would_make_the_intervals_too_narrow() -> None:
    (effect,) = [
        e
        for e in methods.effects(store.open_arena(store.bundled_arenas()["nomiracl"]))
        if e.departure == "Unit of the bootstrap"
    ]
    ratio = float(effect.moved.split(" are ")[1].split(" times")[0])
    assert 0.3 < ratio < 0.9


def test_answers_read_differently_add_up_and_every_rule_is_explained() -> None:
    arena = store.open_arena(store.bundled_arenas()["nomiracl"])
    rules = methods.rule_counts(arena)
    outcomes = arena.read("outcomes", columns=["language", "query_id", "system", "parser", "outcome"])
    strict, published = (
        outcomes.filter(pa.compute.equal(outcomes["parser"], p)).sort_by(
            [("language", "ascending"), ("query_id", "ascending"), ("system", "ascending")]
        )["outcome"]
        for p in ("strict", "published")
    )
    assert sum(rules["n"].to_pylist()) == pa.compute.sum(pa.compute.not_equal(strict, published)).as_py()
    assert set(rules["meaning"].to_pylist()) <= set(RULES.values())


def test_definitions_name_a_source_and_end_their_sentences() -> None:
    for entry in DEFINITIONS:
        assert entry.source
        assert entry.meaning.endswith((".", ")."))
        assert "!" not in entry.meaning
