"""Decisions and judges: what a judge's verdicts on one battle come to, by one rule wherever it is asked."""

import itertools
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow.compute as pc
import pytest
from arena_writer import make_answer, make_query
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st
from small_arena import write

import mirage
from mirage import schema
from mirage.battles import decision as rule
from mirage.battles import verdict_rows
from mirage.battles.decision import Battle, decide, decisions, orient_verdict
from mirage.battles.judge import RELEVANCE, judges, verdict_judges
from mirage.battles.verdict_rows import only_judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people.votes import rows as voted
from mirage.people.votes.kinds import Vote
from mirage.ranking.judges import Judge, LabelJudge, PanelJudge, VerdictJudge
from mirage.stages.judge.stats import judge_stats
from mirage.stages.sft import preferences
from mirage.store import writing
from mirage.store.writing import Provenance
from mirage.views import battle as battle_views
from mirage.views import win_matrix as matrix_views

VERDICTS = get_args(schema.Verdict)
# (whether the second system is shown first, the verdict in that order)
ORDERS = st.lists(st.tuples(st.booleans(), st.sampled_from(VERDICTS)), max_size=3)


def judgments(*rows: tuple[Any, ...]) -> Any:
    """Rows `query_id, system_a, system_b, verdict` and maybe `points` by one judge, in English."""
    return schema.from_rows(
        "judgments",
        [
            schema.Judgment("en", query, "j", a, b, verdict, "", None, None, *points)
            for query, a, b, verdict, *points in rows
        ],
    )


@pytest.mark.parametrize(*read_table("decided_battles"))
def test_a_system_wins_where_every_readable_verdict_names_it(
    verdicts: list[tuple[bool, str]], winner: str, consistent: bool
) -> None:
    """MT-Bench (Zheng et al. 2023, section 3.4): a win needs both orders; what does not agree is a tie."""
    decision = decide([orient_verdict(verdict, swapped=swapped) for swapped, verdict in verdicts])
    assert (decision.winner, decision.consistent) == (winner, consistent)
    assert decision.n_verdicts == len(verdicts)
    assert decision.n_read == sum(verdict != "unparsed" for _, verdict in verdicts)
    assert math.isnan(decision.points) == (winner == "unparsed")


def test_the_table_of_verdicts_is_whole() -> None:
    assert tuple(rule.VERDICTS) == VERDICTS


@given(ORDERS)
def test_a_decision_is_the_same_from_the_other_side(verdicts: list[tuple[bool, str]]) -> None:
    decision = decide([orient_verdict(verdict, swapped=swapped) for swapped, verdict in verdicts])
    other = decide([orient_verdict(verdict, swapped=not swapped) for swapped, verdict in verdicts])
    mirrored = {"first": "second", "second": "first"}
    assert mirrored.get(decision.winner, decision.winner) == other.winner
    assert decision.consistent == other.consistent
    if decision.n_read:
        assert decision.points == pytest.approx(1 - other.points)


PAIRS = list(itertools.product(VERDICTS, VERDICTS))


@given(
    st.lists(
        st.tuples(
            st.sampled_from("pqr"),
            st.sampled_from([*itertools.permutations("xyz", 2)]),
            st.sampled_from(VERDICTS),
            st.sampled_from([None, 0.0, 0.3, 1.0]),
        ),
        min_size=1,
        max_size=20,
        unique_by=lambda row: row[:2],
    )
)
def test_the_decisions_of_pairs_are_counted_as_battle_by_battle(
    rows: list[tuple[str, tuple[str, str], str, float | None]],
) -> None:
    ends = {"A": (0.5, 1.0), "B": (0.0, 0.5)}
    said = [ends.get(verdict, (0.0, 1.0)) for _, _, verdict, _ in rows]
    given = [
        None if row[3] is None else min(max(row[3], low), high) for row, (low, high) in zip(rows, said, strict=True)
    ]
    table = judgments(
        *((query, *pair, verdict, grade) for (query, pair, verdict, _), grade in zip(rows, given, strict=True))
    )
    own = verdict_rows.verdicts(table, judge="j", unread=True)["en"]
    expected = np.zeros((len(own.systems), len(own.systems), 4), dtype=int)
    for battle, decision in decisions(table, unparsed=True)["j"].items():
        expected[own.systems.index(battle.first), own.systems.index(battle.second), decision.label] += 1
    assert np.array_equal(own.decision_counts(), expected)


def test_every_place_that_asks_gives_the_same_answer(tmp_path: Path) -> None:
    """All pairs of verdicts in two orders, one pair a query: decisions, the Battle page, its matrix, the judge's flip
    rate, preferences and the choice of consistent verdicts tell the same."""
    rows = [
        row
        for k, (straight, swapped) in enumerate(PAIRS)
        for row in ((f"q{k:02}", "x", "y", straight), (f"q{k:02}", "y", "x", swapped))
    ]
    table = judgments(*rows)
    arena = writing.write(tmp_path / "arena", {"judgments": table}, made_by="a test")
    decided = decisions(table, unparsed=True)["j"]
    assert len(decided) == len(PAIRS)
    by_page = battle_views.decisions_of(arena, "x", "y")
    assert {key[1]: by_judge["j"].winner for key, by_judge in by_page.items()} == {
        battle.query_id: decision.winner for battle, decision in decided.items()
    }
    counts = {name: sum(d.winner == name for d in decided.values()) for name in ("first", "second", "tie", "unparsed")}
    cell = matrix_views.matrix(arena, VerdictJudge("j")).cells["x", "y"]
    assert (cell.wins, cell.losses, cell.ties, cell.unparsed) == tuple(counts.values())
    both = [decision for decision in decided.values() if decision.n_read == 2]
    (stats,) = judge_stats(table)
    assert stats.flip_rate == pytest.approx(sum(not decision.consistent for decision in both) / len(both))
    kept = verdict_rows.verdicts(table, judge="j")["en"].keep_consistent()
    sure = {battle.query_id: d.winner for battle, d in decided.items() if d.n_read == 2 and d.consistent}
    assert {kept.queries[k] for k in kept.query} >= sure.keys()
    systems = {"first": "x", "second": "y"}
    chosen = {(query, systems[winner]) for query, winner in sure.items() if winner in systems}
    assert kept.battles().wins.sum() == 2 * len(chosen)
    answers = schema.from_rows(
        "answers",
        [
            make_answer("en", f"q{k:02}", system, f"text of {system}")
            for k in range(len(PAIRS))
            for system in ("x", "y")
        ],
    )
    pairs, _ = preferences(table, answers, {("en", f"q{k:02}"): "p" for k in range(len(PAIRS))}, judge="j")
    assert {(pair["query_id"], pair["chosen_system"]) for pair in pairs} == chosen


@given(st.sampled_from([0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0]))
def test_points_amount_to_one_verdict_everywhere(grade: float) -> None:
    """One half alone is a tie, for files, rows and pages; an unparsed verdict is no battle, also with points."""
    winner = "first" if grade > 0.5 else "second" if grade < 0.5 else "tie"
    table = judgments(("q", "x", "y", rule.verdict_of_points(grade), grade), ("r", "x", "y", "unparsed", grade))
    ((of_battle, decision),) = decisions(table)["j"].items()
    assert (of_battle.query_id, decision.winner, decision.points) == ("q", winner, pytest.approx(grade))
    battles = VerdictJudge("j").battles(table)["en"]
    assert (battles.n, battles.unparsed) == (1, 1)
    assert battles.shared("half")[0, 0, 1] == pytest.approx(grade)


def test_only_battles_that_are_readable_are_decided() -> None:
    table = judgments(("q2", "x", "y", "A"), ("q3", "x", "y", "unparsed"))
    assert list(decisions(table)["j"]) == [Battle("en", "q2", "x", "y")]
    assert len(decisions(table, unparsed=True)["j"]) == 2
    assert decisions(judgments(("q", "x", "y", "unparsed"))) == {}


# Judges


def test_a_judge_gives_its_battles_and_says_what_it_needs(tmp_path: Path) -> None:
    arena = write(tmp_path, tables=("outcomes", "judgments"))
    assert judges(arena) == (RELEVANCE, *verdict_judges(arena))
    for name in judges(arena):
        judge = Judge.from_name(name)
        assert judge.rests_on_labels == (name == RELEVANCE)
        battles = judge.battles(arena.read(judge.table))
        assert {each.judge for each in battles.values()} == {name}
    assert LabelJudge(skill="answer") == Judge.from_name("relevance", skill="answer")
    with pytest.raises(BadInput, match="skill"):
        Judge.from_name("gpt-4o", skill="answer")


def test_a_panel_counts_its_judges_together() -> None:
    rows = [
        schema.Judgment("en", f"q{k}", judge, "x", "y", "A", "", None, None)
        for judge, n in (("one-judge", 3), ("two-judge", 2))
        for k in range(n)
    ]
    table = schema.from_rows("judgments", rows)
    assert PanelJudge().battles(table)["en"].wins.sum() == 5
    assert PanelJudge(judges=["two-judge"]).battles(table)["en"].wins.sum() == 2
    assert Judge.from_name("pooled") == PanelJudge()


def test_a_language_without_battles_is_refused_by_name(tmp_path: Path) -> None:
    arena = write(tmp_path, tables=("outcomes", "judgments"))
    judge = Judge.from_name(verdict_judges(arena)[0])
    with pytest.raises(UnknownName):
        judge.battles(arena.read(judge.table), languages=["yo"])
    relevant = arena.read("outcomes").filter(pc.field("subset") == "relevant")
    with pytest.raises(NotEnoughData):
        LabelJudge(skill="abstain").battles(relevant)


@pytest.mark.parametrize(("names", "wanted", "result"), [(["j"], None, "j"), (["j", "k"], "k", "k")])
def test_the_only_judge_need_not_be_named(names: list[str], wanted: str | None, result: str) -> None:
    assert only_judge(names, wanted) == result


def test_several_judges_must_be_chosen_from() -> None:
    with pytest.raises(BadInput):
        only_judge(["j", "k"])
    with pytest.raises(UnknownName):
        only_judge(["j"], "k")


def test_a_vote_is_of_the_battle_that_a_decision_is_of() -> None:
    table = judgments(("q", "y", "x", "A"))
    (battle,) = decisions(table)["j"]
    about = {"language": "en", "query_id": "q", "system_a": "y", "system_b": "x", "vote": "A"}
    vote = Vote(**dict.fromkeys(Vote.__dataclass_fields__) | about)  # type: ignore[arg-type]
    assert voted.battle(vote) == battle
    assert voted.label(vote) == decisions(table)["j"][battle].label


@pytest.mark.parametrize("maker", get_args(schema.Maker))
def test_labels_are_human_only_where_people_made_them(tmp_path: Path, maker: schema.Maker) -> None:
    made = write(tmp_path, tables=("outcomes", "judgments"))
    tables = {name: made.read(name) for name in made.tables}
    arena = writing.write(tmp_path / "labelled", tables, made_by=Provenance("a test", labels=maker))
    assert LabelJudge().maker(arena) == maker
    for judge in map(Judge.from_name, judges(arena, panel=True)):
        said = f"{judge.phrase(arena)} {judge.basis(arena)}"
        assert ("human" in said) == (judge.rests_on_labels and maker == "people")
        assert judge.maker(arena) in get_args(schema.Maker)


def test_a_file_with_labels_of_its_own_makes_their_maker_unknown(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    queries = schema.from_rows("queries", [make_query("en", "q1", "relevant", "What is it?")])
    writing.write(arena, {"queries": queries}, made_by=Provenance("a test", labels="people"))
    rows = [{"language": "en", "query_id": "q1", "query": "What is it?", "system": "a", "answer": "A river [1]."}]
    kept = mirage.import_file(rows, arena)
    assert LabelJudge().maker(kept) == "people"
    passages = [{"text": "It is a lake.", "relevant": True}]
    rows = [
        {
            "language": "en",
            "query_id": "q2",
            "query": "And this?",
            "system": "a",
            "answer": "A lake [1].",
            "passages": passages,
        }
    ]
    assert LabelJudge().maker(mirage.import_file(rows, arena)) == "unknown"
