"""Languages of passages on the pages: a matrix where passages are in several languages, and nothing elsewhere."""

from __future__ import annotations

import json

import pytest
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage import store
from mirage.explorer.answers import data as answers
from mirage.explorer.answers.answer_card import passages_html
from mirage.explorer.kit.language_pairs import pair_matrix
from mirage.stages.across.summary import is_cross_lingual
from pages import page_text


def open_page(name: str, arena: str, **params: str) -> AppTest:
    """Open a page on a bundled arena."""
    app = AppTest.from_file(ROOT / "pages" / f"{name}.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": arena, **params})
    return app.run()


@pytest.mark.parametrize(("name", "params"), [("hallucination", {"section": "Languages"}), ("features", {})])
def test_a_matrix_shows_pairs_of_languages(name: str, params: dict[str, str]) -> None:
    app = open_page(name, "sample-across", **params)
    assert not app.exception
    figures = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    labels = [figure["layout"]["xaxis"].get("ticktext") or [] for figure in figures]
    assert any({"Arabic", "French"} <= set(names) for names in labels)


def test_an_arena_in_one_language_shows_no_matrix() -> None:
    app = open_page("hallucination", "sample")
    assert not app.exception
    assert not is_cross_lingual(store.open_arena(store.bundled_arenas()["sample"]))
    assert "Languages of passages" not in page_text(app)


def test_a_passage_has_its_own_language_and_direction() -> None:
    arena = store.open_arena(store.bundled_arenas()["sample-across"])
    shown = answers.query_view(arena, ("de", "across-10"), "strict")
    html = passages_html(shown)
    assert 'lang="ar"' in html
    assert 'lang="fr"' in html
    assert "Arabic" in html
    (passage,) = (p for p in shown.passages if p.passage_id == "ar-01#3")
    assert passage.passage_language == "ar"


def test_answers_are_filtered_by_pair_of_languages() -> None:
    arena = store.open_arena(store.bundled_arenas()["sample-across"])
    everything = answers.find_queries(arena, answers.AnswerFilter(languages=("ar",)))
    shown = answers.find_queries(arena, answers.AnswerFilter(languages=("ar",), passage_language="fr"))
    words = answers.AnswerFilter(languages=("ar",), passage_language="fr", systems=("native+words",))
    assert 0 < len(shown.keys) < len(everything.keys)
    assert not answers.find_queries(arena, words).keys


@pytest.mark.parametrize("signed", [True, False])
def test_the_matrix_has_a_cell_for_each_pair(signed: bool) -> None:
    rows = [
        {"query_language": query, "passage_language": passage, "value": 0.5, "low": None, "high": None, "n": 3}
        for query, passage in (("ar", "ar"), ("ar", "en"), ("all", "own"))
    ]
    figure = pair_matrix(rows, signed=signed, mode="light")
    assert len(figure["data"][0]["x"]) == 3
    assert figure["layout"]["yaxis"]["ticktext"][-1] == "All languages"
