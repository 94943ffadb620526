"""Repeated answers, criteria and repeats, where readers look for them: on the pages."""

from pathlib import Path

import pytest
from arena_writer import make_answer, make_judgment, make_query, write_arena

from mirage import schema
from mirage.battles.judge import judge_facts
from mirage.stages.outcomes.tables import outcomes
from mirage.store.arena import open_arena
from mirage.views import query as answers
from pages import open_page, page_text
from pages import text as text_of

SAYS = ("Yes, answer is present.", "I don't know.")
QUERIES = 12


def judgments() -> list[schema.Judgment]:
    """Verdicts of a judge by two criteria, twice by one of them."""
    names = [("j", None, 0), ("j: tone", "tone", 0), ("j: tone", "tone", 1)]
    rows = []
    for q in range(QUERIES):
        for name, criterion, repeat in names:
            for a, b in (("red", "blue"), ("blue", "red")):
                verdict = "A" if a == "red" or (q + repeat) % 3 == 0 else "B"
                about = {"criterion": criterion, "repeat": repeat or None}
                rows.append(make_judgment("en", f"q{q}", name, a, b, verdict, **about))
    return rows


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    """An arena with three answers of red and one of blue to every query."""
    queries = schema.from_rows(
        "queries", [make_query("en", f"q{q}", "non_relevant", f"Question {q}?") for q in range(QUERIES)]
    )
    answered = [
        make_answer("en", f"q{q}", system, SAYS[q % 2], template="vanilla")
        for q in range(QUERIES)
        for system in ("blue", "red")
    ]
    first = schema.from_rows("answers", answered)
    samples = [
        schema.SampledAnswer("en", f"q{q}", "red", k, SAYS[(q + k) % 2] + f" Take {k}.", "ok", "vanilla", None)
        for q in range(QUERIES)
        for k in (1, 2)
    ]
    tables = {
        "queries": queries,
        "answers": first,
        "samples": samples,
        "judgments": judgments(),
        "outcomes": outcomes(queries, first),
    }
    write_arena(module_path / "repeated", tables, title="Repeated", label="simulated")
    return module_path


def test_readers_switch_between_the_samples_of_an_answer(arenas: Path) -> None:
    first = text_of(open_page("answers", query="en:q0"))
    assert "Take" not in first
    second = text_of(open_page("answers", query="en:q0", sample="2"))
    assert "Take 2." in second
    assert "No answer by this system to this query (no sample 2)" in second
    arena = open_arena(arenas / "repeated")
    shown = answers.query_view(arena, ("en", "q1"), "strict")
    of = {
        number: {answer.system: answer for answer in answers.sample_view(arena, shown, number, "strict").answers}
        for number in (0, 1, 2)
    }
    assert [of[number]["red"].outcome for number in (0, 1, 2)] == ["abstained", "answered", "abstained"]
    assert [of[number]["red"].correct for number in (0, 1)] == [True, False]
    assert of[1]["blue"].outcome is None


def test_leaderboard_battle_and_judges_name_criterion_and_repeats(arenas: Path) -> None:
    facts = judge_facts(open_arena(arenas / "repeated"))
    assert (facts["j"].criterion, facts["j"].repeats) == ("overall", 1)
    assert (facts["j: tone"].criterion, facts["j: tone"].repeats) == ("tone", 2)
    assert "j: tone (criterion tone, up to 2 verdicts" in page_text(open_page("leaderboard", judge="j: tone"))
    assert "criterion" not in page_text(open_page("leaderboard", judge="j"))
    assert "up to 3 samples" in page_text(open_page("leaderboard", judge="relevance", skill="abstain"))
    battle = text_of(open_page("battle", a="red", b="blue", judge="j: tone"))
    assert "criterion: tone" in " ".join(battle.split())
    assert "repeat 1" in battle
    table = open_page("judges").dataframe[0].value.set_index("judge")
    assert list(table.loc[["j", "j: tone"], "criterion"]) == ["overall", "tone"]
    assert list(table.loc[["j", "j: tone"], "repeats"]) == [1, 2]
