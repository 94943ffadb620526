"""Languages of passages on the pages: a matrix where passages are in several languages, and nothing elsewhere."""

from mirage import open_arena
from mirage.explorer.kit.answer_card import passages_html
from mirage.stages.across import is_cross_lingual
from mirage.views import query_search as answers
from mirage.views.query import query_view
from pages import figures, open_page, page_text


def test_a_matrix_shows_pairs_of_languages() -> None:
    app = open_page("hallucination", arena="sample-across", section="Errors", view="passage languages")
    (matrix,) = (figure for figure in figures(app).values() if figure["layout"]["xaxis"].get("ticktext"))
    asked, given = (matrix["layout"][axis]["ticktext"] for axis in ("yaxis", "xaxis"))
    assert {"Arabic", "French"} <= set(given)
    # Squares and, where n is under 10, hollow ones.
    assert sum(len(trace["x"]) for trace in matrix["data"]) == len(asked) * len(given)


def test_an_arena_in_one_language_shows_no_matrix() -> None:
    app = open_page("hallucination", arena="sample")
    assert not is_cross_lingual(open_arena("sample"))
    assert "Languages of passages" not in page_text(app)


def test_a_passage_has_its_own_language_and_direction() -> None:
    arena = open_arena("sample-across")
    shown = query_view(arena, ("de", "across-10"), "strict")
    html = passages_html(shown)
    assert 'lang="ar"' in html
    assert 'lang="fr"' in html
    assert "Arabic" in html
    (passage,) = (p for p in shown.passages if p.passage_id == "ar-01#3")
    assert passage.passage_language == "ar"


def test_answers_are_filtered_by_pair_of_languages() -> None:
    arena = open_arena("sample-across")
    everything = answers.find_queries(arena, answers.AnswerFilter(languages=("ar",)))
    shown = answers.find_queries(arena, answers.AnswerFilter(languages=("ar",), passage_language="fr"))
    words = answers.AnswerFilter(languages=("ar",), passage_language="fr", systems=("native+words",))
    assert 0 < len(shown.keys) < len(everything.keys)
    assert not answers.find_queries(arena, words).keys
