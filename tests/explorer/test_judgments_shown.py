"""Judgments on the Answers page: each battle of the query with judge, order, verdict and rationale."""

from dataclasses import replace
from pathlib import Path

import pytest
from arena_writer import write_arena
from golden.cases import read_golden
from page_answers_cases import open_page
from view_query_cases import build

from mirage import open_arena, schema
from mirage.battles.decision import verdict_of_points
from mirage.explorer.kit.query_sections import judgment_html, preferred_system
from mirage.stages.features.reader import IS_REFERENCE
from mirage.views.battle import battle_view
from mirage.views.query import FeatureValue, query_view
from pages import html, text


def judgment(
    judge: str,
    a: str,
    b: str,
    verdict: schema.Verdict,
    rationale: str | None,
    query: str = "e00",
    reason: str | None = None,
) -> schema.Judgment:
    return schema.Judgment("en", query, judge, a, b, verdict, rationale, reason, None)


ROWS = [judgment(*case.values()) for case in read_golden("shown_judgments")]


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    write_arena(build(module_path).path, {"judgments": ROWS})
    build(module_path, "none")
    return module_path


def test_the_battles_of_a_query_stand_by_judge_with_both_orders_together(arenas: Path) -> None:
    rows = query_view(open_arena(arenas / "texts"), ("en", "e00")).judgments
    assert [(j.judge, j.system_a, j.system_b) for j in rows] == [
        ("<i>judge</i>", "llama-2-7b", "gpt-4"),
        ("zeta", "aya-101", "gpt-4"),
        ("zeta", "gpt-4", "aya-101"),
        ("zeta", "aya-101", "llama-2-7b"),
    ]
    assert [preferred_system(j) for j in rows] == [None, "gpt-4", "gpt-4", None]


def test_each_battle_is_shown_on_request_and_no_rationale_is_markup(arenas: Path) -> None:
    page = open_page(query="en:e00")
    (fold,) = (place.label for place in page.expander if "judgment" in place.label)
    assert fold == "4 judgments by 2 judges"
    page.session_state["judgments_fold"] = True
    page.run()
    shown = " ".join(text(page).split())
    for part in (
        "A, shown first: gpt-4 B, shown second: aya-101 A: gpt-4 wins The first cites its passages.",
        "A, shown first: aya-101 B, shown second: gpt-4 B: gpt-4 wins A, shown first: gpt-4",
        "A, shown first: aya-101 B, shown second: llama-2-7b unparsed (no verdict mark) Hm.",
        "A, shown first: llama-2-7b B, shown second: gpt-4 tie <script>alert(1)</script>",
    ):
        assert part in shown
    assert "Of another query." not in shown
    assert "<script" not in html(page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; $5 and $6 **bold**" in html(page)
    assert "&lt;i&gt;judge&lt;/i&gt;" in html(page)


def test_answers_stand_best_first_by_decision_then_by_the_first_judge(arenas: Path) -> None:
    arena = open_arena(arenas / "texts")
    view = query_view(arena, ("en", "e00"))
    assert [answer.correct for answer in view.answers] == [True, True, True]
    assert view.order == ("gpt-4", "llama-2-7b", "aya-101")
    wrong = replace(view, answers=tuple(replace(a, correct=a.system == "aya-101") for a in view.answers))
    assert wrong.order[0] == "aya-101"
    unjudged = query_view(open_arena(arenas / "none"), ("en", "e00"))
    assert unjudged.order == ("aya-101", "gpt-4", "llama-2-7b")
    page = open_page(query="en:e02")
    assert not any("judgment" in place.label for place in page.expander), "a query without judgments has no such fold"


@pytest.mark.parametrize(
    ("subset", "order"),
    [("relevant", ("gpt-4", "llama-2-7b", "aya-101")), ("non_relevant", ("aya-101", "gpt-4", "llama-2-7b"))],
)
def test_answers_stand_by_nuggets_then_the_reference_where_there_is_an_answer(
    arenas: Path, subset: str, order: tuple[str, ...]
) -> None:
    view = query_view(open_arena(arenas / "none"), ("en", "e00"))
    values = {"aya-101": (0.5, 0.9), "gpt-4": (0.5, None), "llama-2-7b": (1.0, 0.1)}
    answers = []
    for answer in view.answers:
        reason = IS_REFERENCE if answer.system == "gpt-4" else None
        named = zip(("nugget_vital_strict", "answer_rougeL"), values[answer.system], strict=True)
        measures = tuple(FeatureValue(name, "", "", "", value, reason) for name, value in named)
        answers.append(replace(answer, measures=measures, correct=answer.system == "aya-101"))
    ordered = replace(view, answers=tuple(answers), subset=subset)
    assert ordered.order == order
    assert ordered.remarks[0].startswith("Order: vital nuggets" if subset == "relevant" else "Order: correct")


def test_pitfall_205_answers_stand_by_the_points_of_their_battles(tmp_path: Path) -> None:
    battles = [("gpt-4", "aya-101", 0.6), ("gpt-4", "llama-2-7b", 0.5), ("llama-2-7b", "aya-101", 0.9)]
    rows = [replace(judgment("zeta", a, b, verdict_of_points(points), None), points=points) for a, b, points in battles]
    path = build(tmp_path).path
    arena = write_arena(path, {"judgments": rows})
    assert query_view(arena, ("en", "e00")).order == ("llama-2-7b", "gpt-4", "aya-101")


def test_the_sample_tells_features_by_their_titles_and_english_once() -> None:
    arena = open_arena("sample")
    shown = battle_view(arena, ("en", "en-01"), "concise", "thorough")
    titles = [comparison.measure.name for comparison in shown.compared]
    assert "target_language" in titles
    assert "english_language" not in titles
    markup = "".join(map(judgment_html, shown.judged("heuristic")))
    assert "Citation recall@10" in markup
    assert "citation_Recall@10" not in markup
