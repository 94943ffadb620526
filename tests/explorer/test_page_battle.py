"""The Battle page: its pickers and filters, its link, one battle, and hostile texts in a real browser."""

import re
from functools import partial
from pathlib import Path

import pytest
import small_arena
from page_answers_cases import address
from streamlit.testing.v1 import AppTest
from view_battle_cases import A, B, judged
from view_query_cases import build

import pages
from mirage.store.arena import open_arena
from mirage.views import battle as views
from mirage.views.query import MEASURED
from pages import conclusion, headings, html, page_text, text

PAIR = {"a": A, "b": B}


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    """Arenas with texts and judges, with texts alone, and with numbers and verdicts alone."""
    judged(module_path)
    build(module_path, "texts")
    small_arena.write(module_path, "numbers", tables=("outcomes", "judgments"))
    return module_path


open_page = partial(pages.open_page, "battle", arena="judged", judge="zeta")


def flat(page: AppTest) -> str:
    return " ".join(text(page).split())


def _view(arenas: Path) -> views.BattleView:
    return views.battle_view(open_arena(arenas / "judged"), ("en", "e00"), A, B)


def heads(page: AppTest) -> list[str]:
    """The systems in the order of their answers."""
    return re.findall(r'<article class="mg-answer">.*?<span class="mg-name">([^<]*)', html(page))


def test_a_battle_shows_query_answers_verdicts_features_and_passages(arenas: Path) -> None:
    page = open_page(**PAIR)
    assert "5 of 5 battles between gpt-4 and aya-101, decided by zeta." in page_text(page)
    assert headings(page) == ["Judges' verdicts", "Features", "3 passages"]
    assert heads(page) == [A, B]
    assert "gpt-4 to aya-101" in conclusion(page)
    assert "zeta prefers gpt-4 to aya-101 in both orders" in conclusion(page)
    better = [view.measure.title for view in _view(arenas).compared if view.better == "first"]
    assert any(title in conclusion(page) for title in better), "a reason is a feature that speaks for the better"
    whole_text = flat(page)
    for part in (
        "1 of 5 · English · answerable · id e00",
        "Which river is number 0?",
        "Yes, answer is present in",
        "Ganges 100%",
        "A, shown first: gpt-4 B, shown second: aya-101 A: gpt-4 wins The first cites its passages.",
        "A, shown first: aya-101 B, shown second: gpt-4 B: gpt-4 wins The second is grounded.",
        "eta: aya-101 wins.",
        "Citation MAP@10 ↑ higher is better",
        "Text of passage 3.",
    ):
        assert part in whole_text


def test_the_score_has_its_n_and_its_interval(arenas: Path) -> None:
    whole_text = flat(open_page(**PAIR))
    assert (
        "gpt-4 wins 1, 50.0% of 2 decided (95% interval 9.5% to 90.5%) ties 2 aya-101 wins 1 no verdict 1" in whole_text
    )


def test_filters_narrow_the_battles_and_say_so(arenas: Path) -> None:
    page = open_page(**PAIR, only="flipped")
    assert "2 of 5 battles" in page_text(page)
    assert address(page) == "en:e03", "the first with both texts, as no system won"
    page.selectbox(key="verdict").set_value("tie").run()
    assert "2 of 5 battles" in page_text(page)
    assert conclusion(page) == "Tie: zeta disagrees between the two orders."
    page.multiselect(key="only").set_value(["flipped", "disagree"]).run()
    assert "No battle matches these filters." in page_text(page)
    page.button[0].click().run()
    assert not page.exception
    assert "5 of 5 battles" in page_text(page)
    page.text_input(key="q").set_value("ITS PLACE").run()
    assert "1 of 5 battles" in page_text(page)
    assert address(page) == "en:e01"


def test_the_answers_stand_by_system_or_as_the_judge_saw_them(arenas: Path) -> None:
    page = open_page(**PAIR, order="other")
    assert heads(page) == [B, A]
    assert "As zeta saw them: A is aya-101, B is gpt-4." in page_text(page)
    assert re.findall(r'mg-letter" title="[^"]*">([AB])</span>', html(page)) == ["A", "B"]
    page.selectbox(key="order").set_value("judged").run()
    assert heads(page) == [A, B]
    page.selectbox(key="order").set_value("fixed").run()
    assert heads(page) == [A, B]
    assert not re.findall(r'mg-letter" title', html(page))
    other_page = open_page(**PAIR, order="judged", query="en:e04")
    assert heads(other_page) == [B, A]
    assert "the only order judged" in page_text(other_page)


def test_what_two_answers_share_is_muted_and_what_differs_is_underlined(arenas: Path) -> None:
    page = open_page(a="gpt-4", b="llama-2-7b", marks="differences")
    assert '<mark class="mg-shared">Yes, answer is present</mark>' in html(page)
    assert '<mark class="mg-own">in <a class="mg-to"' in html(page)
    assert "4 shared words" in page_text(page)
    assert "text-decoration: underline" in html(page), "not by colour alone"


def test_who_picks_the_other_system_changes_their_places(arenas: Path) -> None:
    page = open_page(**PAIR)
    page.selectbox(key="a").set_value(B).run()
    assert not page.exception
    assert (page.selectbox(key="a").value, page.selectbox(key="b").value) == (B, A)
    assert "battles between aya-101 and gpt-4" in page_text(page)


def test_labels_decide_where_no_judge_does(arenas: Path) -> None:
    page = open_page(arena="texts", judge="relevance", a="gpt-4", b="llama-2-7b", languages="en")
    assert "decided by relevance labels" in page_text(page)
    assert MEASURED in html(page), "what a decision is correct by is said"
    assert headings(page) == ["Features", "3 passages"]
    assert conclusion(page).startswith("gpt-4 wins: it ")
    tie = open_page(arena="texts", judge="relevance", a="gpt-4", b="llama-2-7b", query="en:e00")
    assert "Tie" in conclusion(tie)


def test_numbers_and_verdicts_alone_make_a_page_that_begins_with_the_reason(arenas: Path) -> None:
    page = open_page(arena="numbers", judge="judge-x", a="gpt-4", b="aya-101")
    assert "judge-x prefers" in conclusion(page)
    assert "marks" not in {widget.key for widget in page.selectbox}


def test_verdicts_alone_are_told_once_and_nothing_is_said_of_what_is_absent() -> None:
    page = open_page(arena="people", judge="people")
    assert conclusion(page).startswith("People prefer")
    assert not heads(page), "no card holds a name alone"
    assert "rationale" not in page_text(page)
    assert "shown first" not in flat(page), "no order without a reason"


def test_a_verdict_that_gives_none_is_not_shown() -> None:
    page = open_page(arena="sample", judge="relevance", a="reference", b="thorough", query="en:en-09")
    assert "wins" in conclusion(page)
    assert "heuristic" not in flat(page)
    assert "higher is better" not in flat(page), "no feature speaks for either"


def test_two_that_never_met_are_told_so(arenas: Path) -> None:
    page = open_page(a="aya-101", b="llama-2-7b")
    assert "No battles between these two." in page_text(page)
