"""Rankings that count otherwise: several judges, verdicts left out, people's votes; what that moves."""

import csv
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arena_writer import write_arena
from commands import mirage, rows
from golden.cases import read_table
from rank_cases import battles, judged, simulate

from benchmarks.simulated import simulate_arena as arena_of
from mirage.battles import verdict_rows
from mirage.battles.counts import pool_battles
from mirage.battles.verdict_rows import Verdicts, from_judgments
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people.votes.database import Votes
from mirage.people.votes.queue import VoteItem
from mirage.people.votes.rows import cast, token
from mirage.ranking.board import change_lines, rank_arena, rank_table, rank_verdicts, remarks
from mirage.ranking.bootstrap import rate
from mirage.ranking.judges import LabelJudge, NuggetJudge, PanelJudge, VerdictJudge
from mirage.ranking.scale import on_scale
from mirage.ranking.settings import RankSettings
from mirage.store.arena import open_arena
from mirage.text.makers import Makers


def verdicts_by_judge(table: pa.Table) -> dict[str, dict[str, Verdicts]]:
    return {judge: verdict_rows.verdicts(table, judge=judge) for judge in sorted(set(table["judge"].to_pylist()))}


def two_judges(seed: int = 3) -> pa.Table:
    simulation = arena_of(
        systems=6, queries=30, languages=["en", "sw"], seed=seed, judges=("gpt-4o", "llama-3"), orders=2
    )
    return simulation.tables["judgments"]


# The solver, where it has a hard time


# Several judges


def test_pooling_aligns_systems_and_queries_by_name() -> None:
    a = battles([[[0, 1], [0, 0]]], systems=["x", "z"])
    b = replace(battles([[[0, 0], [3, 0]]], systems=["w", "x"]), queries=("q9",))
    both = pool_battles([a, b], judge="pooled")
    assert (both.systems, both.queries) == (("w", "x", "z"), ("q00000", "q9"))
    assert both.wins[0].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert both.wins[1].tolist() == [[0, 0, 0], [3, 0, 0], [0, 0, 0]]


def test_pools_that_make_no_sense_are_refused() -> None:
    single = battles([[[0, 200], [1, 0]]])
    with pytest.raises(BadInput, match="255"):
        pool_battles([single, single], judge="pooled")
    with pytest.raises(BadInput, match="different skills"):
        pool_battles([single, replace(single, skill="answer")], judge="pooled")


def test_a_choice_of_nothing_is_the_plain_ranking() -> None:
    table = two_judges()
    selection = {judge: verdicts for judge, verdicts in verdicts_by_judge(table).items() if judge == "llama-3"}
    plain = rate(from_judgments(table, judge="llama-3"))
    result = rank_verdicts(selection, RankSettings())
    assert result.ranking.table().equals(plain.table())
    assert result.n_verdicts == {"llama-3": 2 * 30 * 30}
    assert change_lines(plain, result.ranking, language="all") == ["no rank moved"]


def test_a_family_of_judges_can_be_left_out() -> None:
    table = two_judges()
    result = rank_verdicts(verdicts_by_judge(table), RankSettings(without="OpenAI"))
    alone = rate(from_judgments(table, judge="llama-3"))
    for code, rating in alone.languages.items():
        np.testing.assert_allclose(result.ranking.languages[code].theta, rating.theta, atol=1e-12)
    with pytest.raises(UnknownName, match="Meta, OpenAI"):
        rank_verdicts(verdicts_by_judge(table), RankSettings(without="Cohere"))
    with pytest.raises(NotEnoughData, match="every judge is by OpenAI"):
        rank_verdicts({"gpt-4o": verdict_rows.verdicts(table, judge="gpt-4o")}, RankSettings(without="OpenAI"))


def test_a_judge_says_nothing_of_its_own_makers_systems_when_told_so() -> None:
    table = judged(
        ("en", "q1", "gpt-4o", "gpt-4", "llama", "A"),
        ("en", "q1", "gpt-4o", "llama", "aya", "A"),
        ("en", "q1", "llama-3", "gpt-4", "llama", "B"),
        ("en", "q1", "llama-3", "gpt-4", "aya", "B"),
        ("en", "q1", "someone", "gpt-4", "aya", "tie"),
    )
    result = rank_verdicts(verdicts_by_judge(table), RankSettings(exclude_own=True, draws=2))
    english = result.ranking.battles["en"]
    assert [(english.systems[i], english.systems[j]) for _, i, j in np.argwhere(english.wins)] == [
        ("aya", "gpt-4"),
        ("llama", "aya"),
    ]
    assert result.n_verdicts == {"gpt-4o": 1, "llama-3": 1, "someone": 1}
    assert sum(result.left_out.values()) == 2
    assert any("by OpenAI" in reason for reason in result.left_out)


# Consistent battles


def test_pitfall_7_battles_whose_two_orders_agree_are_kept_and_others_counted() -> None:
    table = judged(
        ("en", "agree", "j", "x", "y", "A"),
        ("en", "agree", "j", "y", "x", "B"),
        ("en", "ties", "j", "x", "y", "tie"),
        ("en", "ties", "j", "y", "x", "tie"),
        ("en", "flips", "j", "x", "y", "A"),
        ("en", "flips", "j", "y", "x", "A"),
        ("en", "tie and win", "j", "x", "y", "tie"),
        ("en", "tie and win", "j", "y", "x", "A"),
        ("en", "one order", "j", "x", "y", "B"),
        ("en", "unread", "j", "x", "y", "B"),
        ("en", "unread", "j", "y", "x", "unparsed"),
    )
    verdicts = verdict_rows.verdicts(table, judge="j")["en"].keep_consistent()
    assert dict(verdicts.left_out) == {"the two orders disagree": 4, "judged or read in one order only": 2}
    consistent = verdicts.battles()
    positions = {name: k for k, name in enumerate(consistent.queries)}
    assert len(positions) == 6
    assert (consistent.wins.sum(), consistent.ties.sum() // 2, consistent.unparsed) == (2, 2, 1)
    assert consistent.wins[positions["agree"]].tolist() == [[0, 2], [0, 0]]
    assert consistent.ties[positions["ties"]].tolist() == [[0, 2], [2, 0]]


def test_a_judge_of_single_orders_has_no_consistent_battle_and_the_error_says_why() -> None:
    table = judged(("en", "q", "j", "x", "y", "A"), ("en", "r", "j", "y", "x", "A"))
    with pytest.raises(NotEnoughData, match="2 left out, judged or read in one order only") as refused:
        rank_verdicts(verdicts_by_judge(table), RankSettings(consistent=True))
    assert "both orders" in str(refused.value)


def test_consistent_battles_undo_a_leaning_to_the_first_answer() -> None:
    """Verdicts that favour the first (2 logits, seed 11) blur the systems; those that agree tell them apart more."""
    simulation = arena_of(systems=6, queries=200, languages=["en"], seed=11, orders=2, first=2.0)
    all_ = rank_verdicts(verdicts_by_judge(simulation.tables["judgments"]), RankSettings()).ranking.languages["en"]
    agree = rank_verdicts(
        verdicts_by_judge(simulation.tables["judgments"]), RankSettings(consistent=True)
    ).ranking.languages["en"]
    assert np.ptp(agree.theta) > 1.5 * np.ptp(all_.theta)


# People's votes


def votes(*lines: tuple[str, str, str, str]) -> pa.Table:
    names = ("query_id", "system_a", "system_b", "verdict")
    columns = {name: [line[k] for line in lines] for k, name in enumerate(names)}
    return pa.table({"language": ["en"] * len(lines), **columns})


def test_votes_replace_the_judges_verdicts_in_both_orders_and_nothing_else() -> None:
    table = judged(
        ("en", "q1", "j", "x", "y", "A"),
        ("en", "q1", "j", "y", "x", "unparsed"),
        ("en", "q2", "j", "x", "y", "A"),
        ("sw", "q1", "j", "x", "y", "A"),
    )
    result = rank_verdicts(
        verdicts_by_judge(table), RankSettings(draws=2), votes=votes(("q1", "y", "x", "A"), ("q9", "x", "y", "B"))
    )
    assert result.voted == 2
    assert result.ranking.battles["en"].wins[0].tolist() == [[0, 0], [2, 0]]
    assert result.ranking.battles["en"].wins[1].tolist() == [[0, 1], [0, 0]]
    assert result.ranking.battles["sw"].wins[0].tolist() == [[0, 1], [0, 0]]
    assert result.ranking.battles["en"].unparsed == 0


@pytest.mark.parametrize(*read_table("majorities"))
def test_several_people_count_by_majority_and_a_split_is_a_tie(labels: list[str], expected: str | None) -> None:
    verdicts = verdict_rows.verdicts(judged(("en", "q", "j", "y", "x", "A")), judge="j")["en"]
    # Of y and x, shown in the other order every second time.
    swap = {"A": "B", "B": "A"}
    lines = [("q", "y", "x", v) if k % 2 else ("q", "x", "y", swap.get(v, v)) for k, v in enumerate(labels)]
    counted = verdicts.override(votes(*lines))
    assert ["A", "B", "tie", "unparsed"][counted.verdict[0]] == (expected or "A")
    assert counted.voted.tolist() == [expected is not None]


def test_what_people_decided_stays_whatever_else_is_left_out() -> None:
    table = judged(("en", "q", "gpt-4o", "gpt-4", "x", "A"), ("en", "r", "gpt-4o", "gpt-4", "x", "A"))
    result = rank_verdicts(
        verdicts_by_judge(table),
        RankSettings(exclude_own=True, consistent=True, draws=2),
        votes=votes(("q", "gpt-4", "x", "B")),
    )
    assert result.ranking.battles["en"].wins.sum() == 1
    assert result.voted == 1


def test_a_vote_with_an_unknown_verdict_is_refused_pitfall_44() -> None:
    verdicts = verdict_rows.verdicts(judged(("en", "q", "j", "x", "y", "A")), judge="j")["en"]
    with pytest.raises(UnknownName, match="C"):
        verdicts.override(votes(("q", "x", "y", "C")))


# What moves


def test_moves_say_from_where_to_where_and_whether_the_interval_held_it() -> None:
    simulated = simulate(12, queries=100)
    turned = replace(simulated, wins=simulated.wins.transpose(0, 2, 1))
    base, other = rate({"en": simulated}), rate({"en": turned})
    ranks, new = base.languages["en"].ranks(), other.languages["en"].ranks()
    moved = [f"{s} {a} to {b}" for s, a, b in zip(simulated.systems, ranks, new, strict=True) if a != b]
    (line,) = change_lines(base, other, language="en")
    assert line.startswith(f"{len(moved)} ranks moved: s00 1 to 8 (outside its interval)")
    assert all(move in line for move in moved)
    assert change_lines(base, base, language="en") == ["no rank moved"]


def test_a_comparison_graph_that_falls_apart_is_named_with_its_groups() -> None:
    simulated = simulate(14, systems=5)
    wins, ties = simulated.wins.copy(), simulated.ties.copy()
    for cells in (wins, ties):
        cells[:, :3, 3:] = cells[:, 3:, :3] = 0
    apart = rate({"en": replace(simulated, wins=wins, ties=ties)})
    groups = "s00, s01, s02 | s03, s04"
    assert f"fell apart into 2 groups: {groups}" in change_lines(rate({"en": simulated}), apart, language="en")[-1]
    lines = [line for line in remarks(apart) if "no battle joins" in line]
    assert lines == [f"no battle joins {groups}: the differences between these parts are unknown"]


def test_the_arena_scale_is_a_tenfold_of_the_odds_every_400_points() -> None:
    assert on_scale(0.0, "arena") == 1000
    assert on_scale(math.log(10), "arena") == pytest.approx(1400)
    assert on_scale(-math.log(10), "arena", difference=True) == pytest.approx(-400)
    assert on_scale(1.25, "logit") == 1.25
    assert on_scale(None, "arena") is None
    with pytest.raises(BadInput):
        on_scale(1.0, "elo")  # type: ignore[arg-type]


# The command


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Path:
    path = module_path / "a"
    simulation = arena_of(systems=5, queries=15, languages=["en", "sw"], seed=5, judges=("gpt-4o", "llama-3"), orders=2)
    return write_arena(path, dict(simulation.tables)).path


def test_rank_pools_judges_and_says_how_much_each_gave(arena: Path) -> None:
    pool = mirage("rank", arena, "--judge", "pooled", "--format", "csv")
    named = mirage("rank", arena, "--judge", "llama-3", "--judge", "gpt-4o", "--format", "csv")
    assert rows(pool) == rows(named)
    assert "gpt-4o 600, llama-3 600" in pool.stderr
    assert "against the plain" not in pool.stderr


def test_rank_tells_what_was_left_out_and_what_that_moves(arena: Path) -> None:
    result = mirage("rank", arena, "--judge", "gpt-4o", "--consistent")
    assert "the two orders disagree" in result.stderr
    assert "against the plain ranking, all: " in result.stderr
    styled = mirage("rank", arena, "--judge", "gpt-4o", "--control", "language", "--format", "csv")
    assert "for the language asked for instead of another" in styled.stderr


@pytest.mark.parametrize(*read_table("rank_conflicts"))
def test_rank_refuses_options_that_do_not_go_together(arena: Path, options: tuple[str, ...], expected: str) -> None:
    assert expected in mirage("rank", arena, *options, code=2).stderr


@pytest.mark.usefixtures("home")
def test_people_s_votes_stand_in_for_the_judge_in_the_command(tmp_path: Path) -> None:
    simulation = arena_of(systems=3, queries=12, languages=["en"], seed=4)
    arena = tmp_path / "arena"
    write_arena(arena, dict(simulation.tables))
    plain = mirage("rank", arena, "--judge", "judge", "--format", "csv")
    none = mirage("rank", arena, "--judge", "judge", "--votes", "--format", "csv")
    assert none.stdout == plain.stdout, "without votes nothing changes"
    log = Votes()
    for row in simulation.tables["judgments"].to_pylist():
        pair = row["system_a"], row["system_b"]
        # The voter always prefers sim-01 where it takes part, and sees ties elsewhere.
        vote = "A" if pair[0] == "sim-01" else "B" if pair[1] == "sim-01" else "tie"
        item = VoteItem("en", row["query_id"], *pair, control=False, why="random")
        log.submit(cast(item, vote=vote, vote_id=token(), arena="arena", voter="ada"))
    log.close()
    voted = mirage("rank", arena, "--judge", "judge", "--votes", "--format", "csv")
    assert next(csv.DictReader(voted.stdout.splitlines()))["system"] == "sim-01"
    assert "36 verdicts replaced by people's votes" in voted.stderr
    assert "sim-01" in voted.stdout
    assert voted.stdout != plain.stdout


def test_a_leaderboard_whose_upper_ends_are_all_unbounded_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("query_id,system_a,system_b,verdict\nq1,x,y,A\nq1,x,z,A\n", "utf-8")
    for options in ((), ("--reference", "y"), ("--scale", "arena")):
        rows = list(csv.DictReader(mirage("rank", path, *options, "--format", "csv").stdout.splitlines()))
        assert {(row["system"], row["high"]) for row in rows} == {("x", ""), ("y", ""), ("z", "")}


VALUES: dict[str, Any] = {
    "skill": "abstain",
    "parser": "published",
    "failures": "drop",
    "without": "openai",
    "exclude_own": True,
    "consistent": True,
    "control": ("length",),
    "assigner": "terms",
    "nugget_margin": 0.1,
    "ties": "drop",
    "penalty": "none",
    "draws": 5,
    "seed": 1,
    "languages": ("en",),
    "makers": Makers((("a", "b"),)),
}
"""A value of every setting that is not its default."""


def test_every_setting_that_cannot_apply_is_refused(arena: Path) -> None:
    assert VALUES.keys() == {field.name for field in fields(RankSettings)}
    opened = open_arena(arena)
    table = opened.read("judgments")
    for judge in (LabelJudge(), VerdictJudge("gpt-4o"), PanelJudge(), NuggetJudge()):
        refused = set()
        for name, value in VALUES.items():
            try:
                judge.refuse_options((name,))
            except BadInput:
                refused.add(name)
                with pytest.raises(BadInput, match=judge.name):
                    rank_arena(opened, judge, RankSettings(**{name: value}))
        assert refused | judge.options >= {"skill", "parser", "assigner", "nugget_margin", "consistent", "control"}
        assert not refused & judge.options
    for name in ("skill", "parser", "assigner", "nugget_margin", "control"):
        with pytest.raises(BadInput):
            rank_table(table, RankSettings(**{name: VALUES[name]}), judges=("gpt-4o",))


@pytest.mark.parametrize(
    "option",
    [
        "--store",
        "--votes",
        "--tag x=y",
        "--max-price 1",
        "--max-latency 1",
        "--skill abstain",
        "--parser published",
        "--control length",
    ],
)
def test_an_option_that_cannot_apply_to_a_file_of_battles_is_refused(tmp_path: Path, option: str) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("query_id,system_a,system_b,verdict\nq1,a,b,A\nq2,b,a,tie\n", "utf-8")
    assert "to do: " in mirage("rank", path, *option.split(), code=2).stderr


def test_limits_that_leave_no_system_say_why(arena: Path) -> None:
    told = mirage("rank", arena, "--judge", "gpt-4o", "--max-price", "1").stderr
    assert "no system is left" in told
    assert "no system is known" in told
