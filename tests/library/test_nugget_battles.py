"""Nuggets as a judge: scores by hand, ties at the margin, answers without a score, and the ranking they give."""

import itertools
import json
from pathlib import Path

import pyarrow as pa
import pytest
from arena_writer import make_answer, make_judgment, write_arena
from commands import mirage as command
from golden.cases import read_pairs

import mirage
from mirage import schema
from mirage.battles.judge import NUGGETS, choose_judge, judges
from mirage.battles.score_verdicts import verdicts_of_scores
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.judges import NuggetJudge
from mirage.ranking.nugget_battles import NuggetBattles, nugget_battles
from mirage.ranking.settings import RankSettings
from mirage.store.arena import Arena

MODEL = "model"
STATED = read_pairs("stated_nuggets")
"""What each answer states of the three nuggets of its query: two vital ones, then one that is okay. In q3 no nugget is
vital, and of q4 none is assigned but for `red`."""


def arena_of(path: Path, *, judged: bool = False) -> Arena:
    """Write the arena; with verdicts of a judge on one battle if it is judged."""
    answers, nuggets, assigned = [], [], []
    for query_id, by_system in STATED.items():
        for k in range(3):
            importance = "vital" if k < 2 and query_id != "q3" else "okay"
            nuggets.append(schema.Nugget("en", query_id, f"n{k}", f"Fact {k} of {query_id}.", importance, None, "m"))
        for system, given in by_system.items():
            answers.append(make_answer("en", query_id, system, "An answer."))
            for k, assignment in enumerate(given):
                if query_id != "q4" or system == "red":
                    reason = None if assignment else "the call failed"
                    key = ("en", query_id, system, f"n{k}")
                    assigned.append(schema.NuggetAssignment(*key, MODEL, assignment, None, reason, None))
    tables = {"answers": answers, "nuggets": nuggets, "nugget_assignments": assigned}
    if judged:
        verdict = make_judgment("en", "q0", "j", "blue", "red", "A")
        tables["judgments"] = [verdict]
    return write_arena(path, tables)


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    return arena_of(module_path / "stated")


def by_hand(margin: float = 0.0) -> dict[tuple[str, str, str], str]:
    """The verdicts by the definition: the share of the two vital nuggets that each answer states in full."""
    verdicts = {}
    for query_id in ("q0", "q1", "q2"):
        scores = {
            system: sum(given == "support" for given in stated[:2]) / 2
            for system, stated in STATED[query_id].items()
            if None not in stated[:2]
        }
        for first, second in itertools.combinations(sorted(scores), 2):
            gap = scores[first] - scores[second]
            verdicts[query_id, first, second] = "tie" if abs(gap) <= margin else "A" if gap > 0 else "B"
    return verdicts


def verdicts_of(decided: NuggetBattles) -> dict[tuple[str, str, str], str]:
    rows = decided.verdicts.to_pylist()
    return {(row["query_id"], row["system_a"], row["system_b"]): row["verdict"] for row in rows}


@pytest.mark.parametrize("margin", [0.0, 0.49, 0.5, 1.0])
def test_the_higher_share_of_vital_nuggets_wins_and_the_margin_itself_ties(arena: Arena, margin: float) -> None:
    expected = by_hand(margin)
    assert verdicts_of(nugget_battles(arena, RankSettings(nugget_margin=margin))) == expected
    assert {0.0: "A", 0.49: "A", 0.5: "tie", 1.0: "tie"}[margin] == expected["q0", "blue", "green"]


def test_thirds_that_differ_by_the_margin_tie() -> None:
    rows = [{"language": "en", "query_id": "q", "system": s, "value": v} for s, v in (("a", 2 / 3), ("b", 1 / 3))]
    table = pa.Table.from_pylist(rows)
    (tied,) = verdicts_of_scores(table, judge=NUGGETS, margin=1 / 3).to_pylist()
    (won,) = verdicts_of_scores(table, judge=NUGGETS, margin=0.33).to_pylist()
    assert (tied["verdict"], won["verdict"]) == ("tie", "A")


def test_an_answer_without_a_score_has_no_battle_and_is_counted(arena: Arena) -> None:
    decided = nugget_battles(arena)
    assert not any("green" in key for key in verdicts_of(decided) if key[0] == "q2"), "missing is not zero"
    assert not any(key[0] in ("q3", "q4") for key in verdicts_of(decided))
    assert sum(decided.without.values()) == 2, "no vital nugget in q3, one scored answer to q4"
    assert "the query has no vital nugget" in decided.without
    assert decided.unscored == {"1 of 2 nuggets have no assignment": 1}
    assert decided.assigner == MODEL


def test_the_ranking_is_that_of_the_same_battles_as_rows(arena: Arena) -> None:
    rows = [
        {"language": "en", "query_id": query_id, "system_a": first, "system_b": second, "verdict": verdict}
        for (query_id, first, second), verdict in by_hand().items()
    ]
    expected, ranking = mirage.rank(rows, draws=50), mirage.rank(arena, judge=NUGGETS, draws=50)
    ours, theirs = (
        [{name: value for name, value in row.items() if name != "judge"} for row in result.table().to_pylist()]
        for result in (ranking, expected)
    )
    assert ours == theirs
    assert ranking.judge == NUGGETS
    told = " ".join(ranking.remarks)
    assert MODEL in told, "the ranking says whose assignments count"
    assert "nugget_vital_strict" in told


def test_compare_and_the_command_follow_the_nuggets(arena: Arena) -> None:
    report = mirage.compare(arena, "blue", "red", judge=NUGGETS, draws=50)
    ranking = mirage.rank(arena, judge=NUGGETS, draws=50)
    assert report.overall.board == pytest.approx(ranking.difference("blue", "red", language="en").value)
    result = command("rank", arena.path, "--judge", NUGGETS, "--format", "json")
    assert {row["system"]: row["rating"] for row in json.loads(result.stdout)} == pytest.approx(
        {row["system"]: row["rating"] for row in ranking.table().to_pylist()}
    )
    assert MODEL in result.stderr


def test_nuggets_are_the_judge_where_there_is_no_other(arena: Arena, tmp_path: Path) -> None:
    assert (judges(arena), choose_judge(arena)) == ((NUGGETS,), NUGGETS)
    judged = arena_of(tmp_path / "judged", judged=True)
    assert judges(judged) == ("j", NUGGETS)
    assert choose_judge(judged) == "j", "an arena that had one judge has it still"


def test_options_that_do_not_fit_are_refused(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        RankSettings(nugget_margin=-0.1)
    with pytest.raises(BadInput):
        mirage.rank([{"system_a": "a", "system_b": "b", "verdict": "A"}], nugget_margin=0.5)
    judged = str(arena_of(tmp_path / "judged", judged=True).path)
    for options in (
        ["--judge", "j", "--nugget-margin", "0.5"],
        ["--judge", NUGGETS, "--judge", "j"],
        ["--judge", NUGGETS, "--store"],
        ["--judge", NUGGETS, "--consistent"],
    ):
        command("rank", judged, *options, code=2)
    command("rank", "surrogate", judged, "--judge", NUGGETS, code=2)


def test_without_two_scores_on_a_query_the_error_says_why(tmp_path: Path) -> None:
    whole = arena_of(tmp_path / "whole")
    tables = {name: whole.read(name) for name in whole.tables}
    okay = [schema.Nugget(**row | {"importance": "okay"}) for row in tables["nuggets"].to_pylist()]
    with pytest.raises(NotEnoughData, match="nugget score") as told:
        NuggetJudge().read(write_arena(tmp_path / "okay", tables | {"nuggets": okay}))
    assert "no vital nugget" in str(told.value)
