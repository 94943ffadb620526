"""What leaves an arena as a file: tables, preference pairs, a report that opens without the explorer."""

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import small_arena
from arena_writer import make_answer, make_judgment, write_arena
from commands import mirage
from conftest import ROOT
from golden.cases import read_table

from mirage import schema
from mirage.errors import BadInput, NotEnoughData, TableMissing, UnknownName
from mirage.stages.sft import Record, export_preferences, preferences
from mirage.store import export as exporting
from mirage.store.arena import open_arena

SAMPLE = ROOT / "data" / "sample"


def judged(*rows: tuple[str, str, str]) -> tuple[list[Record], Counter[str]]:
    """The preferences of a judge with these verdicts on one query."""
    judgments = [make_judgment("en", "q", "j", a, b, v) for a, b, v in rows]  # type: ignore[arg-type]
    answers = [make_answer("en", "q", s, f"{s} says") for s in ("x", "y")]
    answers.append(make_answer("en", "q", "same", "x says"))
    answers.append(schema.Answer("en", "q", "failed", None, "api_error", None, "timeout", None))
    tables = schema.from_rows("judgments", judgments), schema.from_rows("answers", answers)
    return preferences(*tables, {("en", "q"): "Who?"}, judge="j")


def test_a_verdict_becomes_a_pair_and_names_what_it_came_from() -> None:
    (pair,), left = judged(("y", "x", "B"))
    assert not left
    assert pair == {
        "prompt": [{"role": "user", "content": "Who?"}],
        "chosen": [{"role": "assistant", "content": "x says"}],
        "rejected": [{"role": "assistant", "content": "y says"}],
        "language": "en",
        "query_id": "q",
        "judge": "j",
        "chosen_system": "x",
        "rejected_system": "y",
    }


@pytest.mark.parametrize(*read_table("without_preference"))
def test_what_prefers_nothing_is_left_out_and_counted(rows: list[tuple[str, str, str]], reason: str) -> None:
    assert judged(*rows) == ([], Counter({reason: 1}))


def test_both_orders_that_agree_are_one_pair() -> None:
    pairs, left = judged(("x", "y", "A"), ("y", "x", "B"))
    assert [(p["chosen_system"], p["rejected_system"]) for p in pairs] == [("x", "y")]
    assert not left


def test_the_sample_gives_pairs_whose_every_side_is_a_stored_answer(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    n, left = export_preferences(SAMPLE, out, judge="heuristic")
    pairs = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    arena = open_arena(SAMPLE)
    rows = arena.read("judgments")["judge"].to_pylist().count("heuristic")
    assert len(pairs) == n > 0
    assert n + sum(left.values()) == rows / 2  # each pair was shown in both orders
    answers = {(r["language"], r["query_id"], r["system"]): r["text"] for r in arena.read("answers").to_pylist()}
    for pair in pairs:
        for side in ("chosen", "rejected"):
            key = pair["language"], pair["query_id"], pair[f"{side}_system"]
            assert pair[side] == [{"role": "assistant", "content": answers[key]}]
    again = tmp_path / "again.jsonl"
    export_preferences(SAMPLE, again, judge="heuristic")
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_table_leaves_whole_in_every_kind(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"ratings.{ending}"
    n = exporting.export_table(SAMPLE, "ratings", out, languages=["sw"])
    rows = open_arena(SAMPLE).read("ratings", languages=["sw"])
    assert n == len(rows) > 0
    if ending == "parquet":
        assert pq.read_table(out) == rows
    elif ending == "jsonl":
        assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == rows.to_pylist()
    else:
        read = list(csv.DictReader(out.read_text("utf-8").splitlines()))
        assert [row["system"] for row in read] == rows["system"].to_pylist()
        assert [float(row["rating"]) for row in read] == rows["rating"].to_pylist()


def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"ratings\.xlsx"):
        exporting.export_table(SAMPLE, "ratings", tmp_path / "ratings.xlsx")
    with pytest.raises(TableMissing):
        exporting.export_table(ROOT / "data" / "nomiracl", "answers", tmp_path / "answers.csv")
    with pytest.raises(UnknownName, match="heuristik"):
        export_preferences(SAMPLE, tmp_path / "pairs.jsonl", judge="heuristik")
    with pytest.raises(BadInput, match="cannot be written"):
        exporting.export_table(SAMPLE, "ratings", Path("/proc/no/ratings.csv"))
    assert list(tmp_path.iterdir()) == []


def test_a_judge_that_prefers_nothing_gives_no_file(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    shutil.copytree(SAMPLE, arena)
    rows = [row | {"verdict": "tie"} for row in open_arena(arena).read("judgments", languages=["sw"]).to_pylist()]
    ties = schema.from_rows("judgments", [schema.Judgment(**row) for row in rows])
    write_arena(arena, {"judgments": ties}, stale=["ratings"])
    with pytest.raises(NotEnoughData, match="prefers no answer") as caught:
        export_preferences(arena, tmp_path / "pairs.jsonl", judge="heuristic")
    shown = [row["judge"] for row in rows].count("heuristic")
    assert f"{shown // 2:,} times: a tie" in str(caught.value)
    assert not (tmp_path / "pairs.jsonl").exists()


def test_the_commands_write_what_they_say(tmp_path: Path) -> None:
    arena = small_arena.write(tmp_path / "arena").path
    for words in (
        ["table", arena, "outcomes", "--out", tmp_path / "outcomes.csv"],
        ["html", arena, "--into", tmp_path / "report.html"],
        ["preferences", SAMPLE, "--judge", "heuristic", "--out", tmp_path / "p.jsonl"],
        ["trec", arena, "-q", "--out", tmp_path / "x.tot"],
        ["hub", arena, "--into", tmp_path / "set"],
    ):
        assert str(words[-1]) in mirage("export", *words).output.replace("\n", "")
        assert Path(words[-1]).stat().st_size > 100
    refused = mirage("export", "table", arena, "nothing", "--out", tmp_path / "n.csv", code=2)
    assert "nothing" in refused.output
