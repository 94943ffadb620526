"""The bundled arena `people`: what its source gives, the values that its source is known for, and who reads it."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from commands import mirage as command
from commands import rows
from conftest import DATA

import mirage
from mirage import store
from mirage.battles.referee import choose_referee, judges
from mirage.errors import BadInput
from mirage.io.sources.judged import FILE, read_judged
from mirage.people.exam import exam
from mirage.people.votes.stage import correct_ranking, vote_agreement
from mirage.pipeline.bundle import bundle_people
from mirage.schema import PEOPLE
from mirage.stages.judge.stage import judge_statistics

SOURCE = DATA / "judged"
GPT4, CLAUDE, GPT35 = "gpt-4-0125-preview", "claude-3-opus-20240229", "gpt-3.5-turbo"
HEAD = "num,question_id,model_a,model_b,human,j"


@pytest.fixture(scope="module")
def arena() -> store.Arena:
    return store.open_arena(store.bundled_arenas()["people"])


@pytest.mark.skipif(not (SOURCE / FILE).exists(), reason="the judged battles are not beside the checkout")
def test_the_arena_is_what_its_source_gives_byte_for_byte(arena: store.Arena, tmp_path: Path) -> None:
    built = bundle_people(SOURCE, tmp_path)
    assert built.version == arena.version
    assert built.manifest == arena.manifest


def test_it_is_small_and_holds_verdicts_without_texts(arena: store.Arena) -> None:
    assert arena.tables == ("judgments",)
    assert arena.size < 300_000
    assert arena.manifest["licence"] == "MIT"
    table = arena.read("judgments")
    assert table["rationale"].null_count == len(table) == 4 * 26_910
    assert judges(arena) == (PEOPLE, CLAUDE, GPT35, GPT4), "people first: pages open on them"
    people = {row["judge"] for row in table.select(["judge", "person"]).to_pylist() if row["person"]}
    assert people == {PEOPLE}


def test_judges_agree_with_people_as_is_known(arena: store.Arena) -> None:
    """Exact agreement 55%, 48% and 40%; kappa 0.33, 0.21 and 0.08; the first answer wins 55%, 40%, 86% and 50.3%."""
    agreed = {row.referee: row for row in vote_agreement(arena, [])}
    assert [round(agreed[name].raw or 0, 2) for name in (GPT4, CLAUDE, GPT35)] == [0.55, 0.48, 0.40]
    assert [round(agreed[name].kappa or 0, 2) for name in (GPT4, CLAUDE, GPT35)] == [0.33, 0.21, 0.08]
    first = {row.judge: row.first_rate or 0 for row in judge_statistics(arena.path)}
    assert [round(first[name], 2) for name in (GPT4, CLAUDE, GPT35)] == [0.55, 0.40, 0.86]
    assert round(first[PEOPLE], 3) == 0.503


def test_the_exam_counts_each_battle_once(arena: store.Arena) -> None:
    verdicts: dict[str, dict[str, str]] = {}
    for row in arena.read("judgments", columns=["query_id", "judge", "verdict"]).to_pylist():
        verdicts.setdefault(row["query_id"], {})[row["judge"]] = row["verdict"].replace("both_bad", "tie")
    equal = Counter(name for by_judge in verdicts.values() for name in by_judge if by_judge[name] == by_judge[PEOPLE])
    result = exam(arena, draws=100)
    by_judge = {row.judge: row.measures["agree"] for row in result.exams}
    for name in (GPT4, CLAUDE, GPT35):
        assert (by_judge[name].value, by_judge[name].n) == (pytest.approx(equal[name] / 26_910), 26_910)
    assert by_judge[PEOPLE].value is None, "no battle has two people"
    assert GPT4 in result.choices[0].sentence


def test_a_ranking_by_a_judge_is_corrected_to_that_of_people(arena: store.Arena) -> None:
    """People decided every battle, so the judge adds nothing: the correction is the ranking by people."""
    corrected = correct_ranking(arena, [], judge=GPT35, draws=20).languages["en"]
    ranking = mirage.rank(arena, judge=PEOPLE, draws=20).languages["en"]
    assert corrected.n_votes == 26_910
    assert corrected.systems == ranking.systems
    assert corrected.theta == pytest.approx(ranking.theta, abs=0.01)


def test_commands_take_it_by_name(arena: store.Arena) -> None:
    ranked = rows(command("rank", "people", "--judge", PEOPLE, "--draws", 20, "--format", "csv"))
    assert len(ranked) == 20
    assert ranked[0]["system"] == "gpt-4"
    with pytest.raises(BadInput, match="referee"):
        choose_referee(arena)


@pytest.mark.parametrize("word", ["model_c", "", "A"])
def test_an_unknown_verdict_is_refused_by_line(tmp_path: Path, word: str) -> None:
    path = tmp_path / "battles.csv"
    path.write_text(f"{HEAD}\n0,q,x,y,tie,model_a\n1,r,x,y,tie,{word}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no verdict") as told:
        read_judged(path)
    assert "3" in str(told.value.where)


def test_a_repeated_battle_counts_once_and_ids_follow_the_systems(tmp_path: Path) -> None:
    lines = ["0,q,x,y,tie,model_a", "1,r,b,a,tie (bothbad),model_b", "2,q,x,y,model_b,tie"]
    path = tmp_path / "battles.csv.gz"
    path.write_bytes(gzip.compress("\n".join([HEAD, *lines, ""]).encode()))
    table, repeated = read_judged(path)
    assert repeated == 1
    columns = ("query_id", "judge", "system_a", "system_b", "verdict", "person")
    assert [tuple(row[name] for name in columns) for row in table.to_pylist()] == [
        ("00001", "j", "b", "a", "B", None),
        ("00001", PEOPLE, "b", "a", "both_bad", True),
        ("00002", "j", "x", "y", "A", None),
        ("00002", PEOPLE, "x", "y", "tie", True),
    ]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("num,question_id,model_a,model_b,j\n0,q,x,y,tie\n", encoding="utf-8")
    with pytest.raises(BadInput, match="human"):
        read_judged(path)
