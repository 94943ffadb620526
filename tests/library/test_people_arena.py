"""The bundled arena `people`: the values that its source is known for, and who reads it."""

from collections import Counter

import pytest

from mirage import open_arena
from mirage.battles.judge import verdict_judges
from mirage.errors import NotEnoughData
from mirage.people.exam import ExamResult, exam
from mirage.people.votes.stage import correct_ranking, vote_agreement
from mirage.schema import PEOPLE
from mirage.stages.judge.stage import judge_statistics
from mirage.store.arena import Arena

GPT4, CLAUDE, GPT35 = "gpt-4-0125-preview", "claude-3-opus-20240229", "gpt-3.5-turbo"


@pytest.fixture(scope="module")
def arena() -> Arena:
    return open_arena("people")


@pytest.fixture(scope="module")
def examined(arena: Arena) -> ExamResult:
    return exam(arena)


def test_it_is_small_and_holds_verdicts_without_texts(arena: Arena) -> None:
    assert arena.tables == ("judgments",)
    assert arena.size < 300_000
    assert arena.manifest["licence"] == "MIT"
    table = arena.read("judgments")
    assert table["rationale"].null_count == len(table) == 4 * 26_910
    assert verdict_judges(arena) == (PEOPLE, CLAUDE, GPT35, GPT4), "people first: pages open on them"
    people = {row["judge"] for row in table.select(["judge", "person"]).to_pylist() if row["person"]}
    assert people == {PEOPLE}


def test_judges_agree_with_people_as_is_known(arena: Arena, examined: ExamResult) -> None:
    """Exact agreement 55%, 48% and 40%; kappa 0.33, 0.21 and 0.08; the first answer wins 55%, 40%, 86% and 50.3%."""
    agreed = {row.judge: row.measures for row in examined.exams}
    assert [round(agreed[name]["agree"].value or 0, 2) for name in (GPT4, CLAUDE, GPT35)] == [0.55, 0.48, 0.40]
    assert [round(agreed[name]["kappa"].value or 0, 2) for name in (GPT4, CLAUDE, GPT35)] == [0.33, 0.21, 0.08]
    first = {row.judge: row.first_rate or 0 for row in judge_statistics(arena.path)}
    assert [round(first[name], 2) for name in (GPT4, CLAUDE, GPT35)] == [0.55, 0.40, 0.86]
    assert round(first[PEOPLE], 3) == 0.503


def test_the_exam_counts_each_battle_once(arena: Arena, examined: ExamResult) -> None:
    verdicts: dict[str, dict[str, str]] = {}
    for row in arena.read("judgments", columns=["query_id", "judge", "verdict"]).to_pylist():
        verdicts.setdefault(row["query_id"], {})[row["judge"]] = row["verdict"].replace("both_bad", "tie")
    equal = Counter(name for by_judge in verdicts.values() for name in by_judge if by_judge[name] == by_judge[PEOPLE])
    by_judge = {row.judge: row.measures["agree"] for row in examined.exams}
    for name in (GPT4, CLAUDE, GPT35):
        assert (by_judge[name].value, by_judge[name].n) == (pytest.approx(equal[name] / 26_910), 26_910)
    assert by_judge[PEOPLE].value is None, "no battle has two people"


def test_pitfall_233_verdicts_that_came_with_the_data_are_no_random_sample(arena: Arena) -> None:
    """They examine judges; of agreement and corrections they would be a draw that nothing proves."""
    for count in (lambda: vote_agreement(arena, []), lambda: correct_ranking(arena, [], judge=GPT35)):
        with pytest.raises(NotEnoughData, match="--against-people"):
            count()
