"""The view of a query: which queries match, one query with all that was said to it, and the page that shows it."""

import re
from pathlib import Path
from typing import Any

import pytest
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from view_query_cases import SYSTEMS, build, make_queries

from mirage.errors import UnknownName
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena
from mirage.views import query_search as views
from mirage.views.query import query_view
from mirage.views.query_keys import key_text
from mirage.views.query_search import AnswerFilter
from pages import headings, html, open_page, page_text, text


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    return build(module_path)


def ids(arena: Arena, **options: Any) -> list[str]:
    return [query_id for _, query_id in views.find_queries(arena, AnswerFilter(**options)).keys]


# What there is


def test_the_scope_counts_queries_and_answers_that_are_there(arena: Arena) -> None:
    scope = views.scope(arena)
    assert scope.languages == ("ar", "de", "en", "ja")
    assert scope.systems == SYSTEMS
    assert scope.subsets == ("relevant", "non_relevant")
    assert scope.parsers == ("strict", "published")
    assert scope.outcomes == ("answered", "abstained", "unparsed", "empty", "api_error", "missing")
    assert (scope.queries, scope.answers) == (33, 33 * 3 - 1)
    assert scope.texts


# Which queries match


def test_all_queries_match_without_a_filter_and_come_by_page(arena: Arena) -> None:
    result = views.find_queries(arena, AnswerFilter())
    assert list(result.keys) == sorted(result.keys)
    assert (len(result.keys), result.answers, result.pages) == (33, 98, 3)
    assert [len(result.page(number)) for number in (1, 2, 3, 4)] == [12, 12, 9, 0]
    assert [result.place(key) for key in result.page(2)] == list(range(12, 24))
    assert result.place(("en", "no such")) is None


@pytest.mark.parametrize(*read_table("searches"))
def test_a_search_takes_text_as_it_is_in_either_case_and_any_script(
    arena: Arena, text: str, expected: list[str]
) -> None:
    assert ids(arena, text=text) == expected


some = st.builds(
    AnswerFilter,
    languages=st.lists(st.sampled_from(["ar", "en", "de"]), max_size=2, unique=True).map(tuple),
    subset=st.sampled_from(["", "relevant", "non_relevant"]),
    systems=st.lists(st.sampled_from(SYSTEMS), max_size=2, unique=True).map(tuple),
    outcomes=st.lists(st.sampled_from(["answered", "abstained", "missing", "empty"]), max_size=2, unique=True).map(
        tuple
    ),
    parser=st.sampled_from(["strict", "published"]),
    text=st.sampled_from(["", "river", "GANGES", "längste", "yes", "川", "%"]),
)


@settings(max_examples=60)
@given(selection=some)
def test_the_queries_found_are_those_with_an_answer_that_matches(arena: Arena, selection: AnswerFilter) -> None:
    expected = {}
    for q in make_queries():
        if (selection.languages and q.language not in selection.languages) or selection.subset not in ("", q.subset):
            continue
        shown = query_view(arena, (q.language, q.query_id), selection.parser)
        hits = views.matches(shown, selection)
        if hits:
            expected[shown.key] = sum(r.outcome != "missing" for r in shown.answers if r.system in hits)
    result = views.find_queries(arena, selection)
    assert list(result.keys) == sorted(expected)
    assert result.answers == sum(expected.values())


# Links


def test_a_link_names_a_query_by_language_and_id_or_by_id_alone(arena: Arena) -> None:
    assert views.query_of_link(arena, "ja:j0#1") == ("ja", "j0#1")
    assert views.query_of_link(arena, "j0#1") == ("ja", "j0#1")
    assert views.query_of_link(arena, "e00") == ("de", "e00")
    assert views.query_of_link(arena, "e00", ("en",)) == ("en", "e00")
    for key in views.find_queries(arena, AnswerFilter()).keys:
        assert views.query_of_link(arena, key_text(key)) == key


@pytest.mark.parametrize("link", ["j0#2", "en:e0O", "xx:e00", "ar:e00"])
def test_pitfall_44_an_unknown_query_gets_an_error_that_names_the_nearest(arena: Arena, link: str) -> None:
    with pytest.raises(UnknownName, match="there is no query") as caught:
        views.query_of_link(arena, link)
    assert link in str(caught.value)
    assert re.search(r"did you mean: .*((en|de):e\d\d|ar:a0|ja:j0#1)", caught.value.do)


def test_the_first_query_is_one_on_which_systems_differ_in_the_readers_language(arena: Arena) -> None:
    disputed = views.disputed_queries(arena, "strict")
    japanese, english = (views.find_queries(arena, AnswerFilter(preferred=(code, "en"))) for code in ("ja", "xx"))
    assert [key[0] for key in japanese.keys[:2]] == ["ja", "en"]
    assert sorted(japanese.keys) == sorted(english.keys), "nothing is filtered"
    assert [selection.start(disputed) for selection in (japanese, english)] == [("ja", "j0#1"), ("en", "e01")]
    assert english.start(()) == ("en", "e00"), "all agree"


# One query


def test_the_download_is_one_row_an_answer_with_a_column_a_measure(arena: Arena) -> None:
    table = query_view(arena, ("en", "e00"), "strict").table()
    assert table["system"].to_pylist() == list(SYSTEMS)
    assert table["query"].to_pylist() == ["Which river is number 0?"] * 3
    assert table["text"].to_pylist()[0] == "Ganges 100%"
    assert table["length"].to_pylist()[0] == len("Ganges 100%")
    assert table["span_end"].to_pylist()[1] == 22


# Its door


@pytest.mark.parametrize("name", ["nomiracl", "sample", "sample-across", "texts"])
def test_the_page_shows_the_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    build(tmp_path, "texts")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    arena = open_arena(arenas.bundled_arenas().get(name, tmp_path / "texts"))
    found = views.find_queries(arena, AnswerFilter())
    view = query_view(arena, found.keys[-1])
    page = open_page("answers", arena=name, query=key_text(view.key))
    cards = re.findall(r'<article class="mg-answer">.*?<span class="mg-name">([^<]*).*?</article>', html(page), re.S)
    assert cards == list(view.order)
    assert set(view.order) == {answer.system for answer in view.answers}
    assert f"{len(found.keys):,} of {views.scope(arena).queries:,} queries" in page_text(page)
    assert all(remark in text(page) for remark in view.remarks)
    correct = sum(answer.correct is True for answer in view.answers)
    assert html(page).count(", as it should<") == correct
    assert ("nuggets" in " ".join(headings(page))) == (view.nuggets is not None)
    folds = [fold.label for fold in page.expander if "judgment" in fold.label]
    assert [fold.split()[0] for fold in folds] == ([str(len(view.judgments))] if view.judgments else [])
