"""Placing a new system in an arena: the loop of place, judge, place, by the command line; and lists of battles."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from commands import mirage, rows
from conftest import ROOT

from benchmarks.simulated import simulate_arena
from mirage import schema, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.io.sources.files import read_battle_list
from mirage.ranking.place import place, sequential, write_battles
from mirage.stages import judge

NEW = "baseline/bm25-3"


def without(judgments: pa.Table, system: str) -> pa.Table:
    either = pc.or_(pc.equal(judgments["system_a"], system), pc.equal(judgments["system_b"], system))
    return judgments.filter(pc.invert(either))


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample arena in two languages' judgments, one of its systems not yet judged."""
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "arena")
    judgments = without(store.open_arena(tmp_path / "arena").read("judgments", languages=["sw", "en"]), NEW)
    store.write(tmp_path / "arena", {"judgments": judgments}, made_by="a test", stale=["ratings", "predictions"])
    return tmp_path / "arena"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Table]:
    """A simulated arena without the battles of one system, and these battles."""
    simulation = simulate_arena(systems=10, queries=40, languages=["en"], seed=11)
    all_ = simulation.tables["judgments"]
    folder = tmp_path_factory.mktemp("simulated") / "arena"
    store.write(
        folder,
        {**simulation.tables, "judgments": without(all_, "sim-04")},
        title="Simulated",
        label="simulated",
        made_by="a test",
    )
    selection = pc.or_(pc.equal(all_["system_a"], "sim-04"), pc.equal(all_["system_b"], "sim-04"))
    return folder, all_.filter(selection)


# --- the loop --------------------------------------------------------------------------------------------------------


def test_place_then_judge_then_place_settles_a_system_with_the_heuristic_judge(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "next.csv"
    command = (
        "place",
        sample,
        "--system",
        NEW,
        "--judge",
        "heuristic",
        "--languages",
        "sw",
        "--format",
        "csv",
        "--next",
        file,
    )
    before = mirage(*command)
    assert "Not settled: one tier has a probability of at least 95%, after at least 10 battles" in before.stderr
    listed = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    assert len(listed) >= 10
    assert {row["system_a"] for row in listed} == {NEW}
    assert f"{2 * len(listed)} verdicts, are in {file}" in before.stderr
    rounds = 0
    while named := list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))):
        mirage("judge", sample, "--judge", "heuristic", "--battles", file)
        judged = store.open_arena(sample).read("judgments", languages=["sw"]).to_pylist()
        verdicts = {
            (r["query_id"], r["system_a"], r["system_b"]) for r in judged if NEW in (r["system_a"], r["system_b"])
        }
        for row in named:
            assert {
                (row["query_id"], NEW, row["system_b"]),
                (row["query_id"], row["system_b"], NEW),
            } <= verdicts
        after = mirage(*command)
        rounds += 1
    assert rounds < 8
    assert "\nSettled: " in after.stderr
    assert f"Nothing is left to judge: {file}" in after.stderr
    assert file.read_text(encoding="utf-8").splitlines() == [",".join(listed[0])]
    undecided = sum(r["verdict"] == "unparsed" and NEW in (r["system_a"], r["system_b"]) for r in judged)
    assert f"After {(len(verdicts) - undecided) // 2} battles by heuristic" in after.stderr
    table = rows(after)
    (new_row,) = [row for row in table if row["system"] == NEW]
    assert new_row["above"] == ""
    assert float(new_row["tier_probability"]) >= 0.95
    assert [int(row["rank"]) for row in table] == list(range(1, len(table) + 1))
    assert sum(float(row["rank_probability"]) for row in table) == pytest.approx(1)


def test_a_list_of_battles_leaves_the_verdicts_on_all_others(sample: Path, tmp_path: Path) -> None:
    before = store.open_arena(sample).rows("judgments")
    write_battles(place(store.open_arena(sample), NEW, referee="heuristic", battles=7), tmp_path / "next.jsonl")
    mirage("judge", sample, "--judge", "heuristic", "--battles", tmp_path / "next.jsonl")
    assert store.open_arena(sample).rows("judgments") == before + 14


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_file_of_a_round_with_nothing_left_takes_the_place_of_the_last(
    simulated: tuple[Path, pa.Table], tmp_path: Path, kind: str
) -> None:
    placement = place(store.open_arena(simulated[0]), "sim-04", battles=5)
    file = tmp_path / f"next.{kind}"
    write_battles(placement, file)
    assert len(read_battle_list(file)) == 5
    write_battles(dataclasses.replace(placement, next=()), file)
    with pytest.raises(BadInput, match="holds no battles"):
        read_battle_list(file)


def test_verdicts_of_a_file_count_as_those_of_the_arena_do(simulated: tuple[Path, pa.Table], tmp_path: Path) -> None:
    folder, verdicts = simulated
    arena = store.open_arena(folder)
    lines = [{k: v for k, v in row.items() if v is not None} for row in verdicts.slice(0, 60).to_pylist()]
    file = tmp_path / "verdicts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
    by_file = place(arena, "sim-04", verdicts=file)
    assert by_file.now.n == 60
    shutil.copytree(folder, tmp_path / "arena")
    both = pa.concat_tables([arena.read("judgments"), verdicts.slice(0, 60)])
    by_arena = place(store.write(tmp_path / "arena", {"judgments": both}, made_by="a test"), "sim-04")
    assert by_file.stands == by_arena.stands
    assert by_file.next == by_arena.next
    assert by_file.now.high - by_file.now.low < by_file.before.high - by_file.before.low
    judged = {(row["query_id"], *sorted((row["system_a"], row["system_b"]))) for row in lines}
    assert not judged & {(battle.query_id, *sorted((battle.system_a, battle.system_b))) for battle in by_file.next}


def test_a_placement_says_how_it_was_made(simulated: tuple[Path, pa.Table]) -> None:
    placement = place(store.open_arena(simulated[0]), "sim-04", battles=20, seed=3)
    assert placement.regressor in placement.method
    assert "seed 3" in placement.method
    assert placement.calls == 40
    assert placement.horizon.most == 360
    assert [name for tier in placement.tiers for name in tier].count("sim-04") == 0
    again = place(store.open_arena(simulated[0]), "sim-04", battles=20, seed=3)
    assert (placement.next, placement.stands) == (again.next, again.stands)


def test_a_prior_of_ones_own_takes_the_place_of_the_surrogate(simulated: tuple[Path, pa.Table]) -> None:
    placement = place(store.open_arena(simulated[0]), "sim-04", prior=sequential.Prior([2.0], [0.1]))
    assert placement.before.rating == pytest.approx(2.0)
    assert placement.regressor is None


def test_the_commands_of_the_guide_are_the_loop(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "evaluate-your-model.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```bash place\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    replacements = {"my-arena": str(sample), "my-model": NEW, "gpt-4o": "heuristic"}
    ran = []
    for line in block.splitlines():
        words = shlex.split(line)
        # The heuristic judge takes the place of a served one: what belongs to a service goes.
        words = words[: words.index("--model")] if "--model" in words else words
        mirage(*(replacements.get(word, word) for word in words[1:]), *(["--languages", "sw"] * (words[1] == "place")))
        ran.append(words[1])
    assert ran == ["place", "judge", "place"]


# --- what is refused --------------------------------------------------------------------------------------------------


def test_names_that_are_not_there_are_refused_with_the_nearest(simulated: tuple[Path, pa.Table]) -> None:
    """pitfall 44: an error naming it and the nearest valid names."""
    arena = store.open_arena(simulated[0])
    with pytest.raises(UnknownName, match="no system with answers 'sim-4'"):
        place(arena, "sim-4")
    with pytest.raises(UnknownName, match="no judge 'jugde'"):
        place(arena, "sim-04", referee="jugde")
    with pytest.raises(UnknownName, match="no language 'sw'"):
        place(arena, "sim-04", languages=["sw"])
    with pytest.raises(BadInput, match="relevance needs no battles"):
        place(arena, "sim-04", referee="relevance")


def test_a_list_of_battles_that_cannot_be_fought_is_refused(sample: Path, tmp_path: Path) -> None:
    before = store.open_arena(sample).version
    file = tmp_path / "next.csv"
    for text, message in (
        ("language,query_id,system_a,system_b\n", "holds no"),
        ("language,query_id,system_a\nsw,1,x\n", "system_b is missing"),
        ("language,query_id,system_a,system_b\nsw,no-such,reference,fluent\n", "cannot battle"),
    ):
        file.write_text(text, encoding="utf-8")
        assert message in mirage("judge", sample, "--judge", "heuristic", "--battles", file, code=2).stderr
    assert "--battles already selects" in (
        mirage("judge", sample, "--judge", "heuristic", "--battles", file, "--pairs", 3, code=2).stderr
    )
    assert store.open_arena(sample).version == before


def test_a_list_in_both_orders_is_judged_once() -> None:
    answers = schema.from_rows(
        "answers", [schema.Answer("en", "q", name, "text", "ok", None, None, None) for name in ("x", "y", "z")]
    )
    both = [judge.OrderedPair("en", "q", "y", "x"), judge.OrderedPair("en", "q", "x", "y")]
    assert judge.listed_pairs(answers, both) == both
    with pytest.raises(NotEnoughData, match="list of battles is empty"):
        judge.listed_pairs(answers, [])
    with pytest.raises(BadInput, match="x cannot battle x"):
        judge.listed_pairs(answers, [judge.OrderedPair("en", "q", "x", "x")])
