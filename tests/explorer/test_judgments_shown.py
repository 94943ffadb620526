"""Judgments on the Answers page: each battle of the query with judge, order, verdict and rationale."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_answers_cases import open_page
from views_answers_cases import build

from mirage import schema, store
from mirage.errors import TableMissing
from mirage.explorer.answers.data import judgments_on
from mirage.explorer.answers.sections import preferred_system
from pages import headings, html, page_text, text

HOSTILE = "<script>alert(1)</script> $5 and $6 **bold** [a](http://example.invalid/x.png) \u202eevil & <b>B</b>"


def judgment(
    judge: str,
    a: str,
    b: str,
    verdict: schema.Verdict,
    rationale: str | None,
    *,
    query: str = "e00",
    reason: str | None = None,
) -> schema.Judgment:
    return schema.Judgment("en", query, judge, a, b, verdict, rationale, reason, None)


ROWS = [
    judgment("zeta", "gpt-4", "aya-101", "A", "The first cites its passages."),
    judgment("<i>judge</i>", "llama-2-7b", "gpt-4", "tie", HOSTILE),
    judgment("zeta", "aya-101", "gpt-4", "B", None),
    judgment("zeta", "aya-101", "llama-2-7b", "unparsed", "Hm.", reason="no verdict mark"),
    judgment("zeta", "gpt-4", "aya-101", "B", "Of another query.", query="e01"),
]


@pytest.fixture
def arenas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    arena = build(tmp_path)
    store.write(arena.path, {"judgments": schema.from_rows("judgments", ROWS)}, made_by="a test")
    build(tmp_path, "none")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store, "bundled_arenas", dict)
    return tmp_path


def test_the_battles_of_a_query_stand_by_judge_with_both_orders_together(arenas: Path) -> None:
    rows = judgments_on(store.open_arena(arenas / "texts"), ("en", "e00"))
    assert [(j.judge, j.system_a, j.system_b) for j in rows] == [
        ("<i>judge</i>", "llama-2-7b", "gpt-4"),
        ("zeta", "aya-101", "gpt-4"),
        ("zeta", "gpt-4", "aya-101"),
        ("zeta", "aya-101", "llama-2-7b"),
    ]
    assert [preferred_system(j) for j in rows] == [None, "gpt-4", "gpt-4", None]


def test_an_arena_without_judgments_names_the_command(arenas: Path) -> None:
    with pytest.raises(TableMissing, match="this arena has no judgments"):
        judgments_on(store.open_arena(arenas / "none"), ("en", "e00"))


def test_the_page_shows_each_battle_with_judge_order_verdict_and_rationale(arenas: Path) -> None:
    page = open_page(query="en:e00")
    assert not page.exception
    assert "Judgments" in headings(page)
    shown = " ".join(text(page).split())
    for part in (
        "A: gpt-4 B: aya-101 A is better The first cites its passages.",
        "A: aya-101 B: gpt-4 B is better No rationale",
        "A: aya-101 B: llama-2-7b unparsed (no verdict mark) Hm.",
        "A: llama-2-7b B: gpt-4 tie <script>alert(1)</script>",
    ):
        assert part in shown
    assert "Of another query." not in shown


def test_nothing_that_a_judge_wrote_is_markup(arenas: Path) -> None:
    shown = html(open_page(query="en:e00"))
    assert "<script" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt; $5 and $6 **bold**" in shown
    assert "&lt;i&gt;judge&lt;/i&gt;" in shown


def test_a_query_that_nobody_judged_says_so(arenas: Path) -> None:
    assert "No judge has compared the answers to this query." in page_text(open_page(query="en:e02"))


def test_an_arena_without_judgments_shows_what_brings_them(arenas: Path) -> None:
    page = open_page(arena="none", query="en:e00")
    assert not page.exception
    assert "This arena has no judgments table." in page_text(page)
    assert any(code.value.startswith("mirage judge ") and str(arenas / "none") in code.value for code in page.code)
