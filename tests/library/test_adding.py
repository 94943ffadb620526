"""A system of the user's joins an arena: checked whole, measured at once, the original untouched."""

import json
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pytest
from arena_writer import write_arena
from commands import write_jsonl
from conftest import ROOT
from golden.cases import read_table
from own_system import read_system

from mirage import open_arena
from mirage.errors import ArenaError, BadInput
from mirage.io.formats.run import read
from mirage.pipeline import adding
from mirage.schema import REFERENCE
from mirage.stages.features.families import FEATURES
from mirage.stages.nuggets.terms import TERMS
from mirage.store import arena as arenas
from mirage.store import owned
from mirage.store.arena import Arena

SAMPLE = ROOT / "data" / "sample"


@pytest.fixture(scope="module")
def arena() -> Arena:
    return open_arena(SAMPLE)


@pytest.fixture
def by_words(tmp_path: Path) -> Arena:
    """The sample with its nuggets assigned by shared words alone, which assign those of an added system, too."""
    path = shutil.copytree(SAMPLE, tmp_path / "by-words")
    rows = open_arena(path).read("nugget_assignments")
    kept = rows.filter(pc.equal(rows["assigner"], TERMS))
    return write_arena(path, {"nugget_assignments": kept})


def given(folder: Path, arena: Arena, *, like: str = "baseline/bm25-3", languages: tuple[str, ...] = ("sw",)) -> Path:
    """A file with the texts of a system's answers, and no name."""
    rows = [r for r in arena.read("answers", languages=languages).to_pylist() if r["system"] == like]
    file = folder / "answers.jsonl"
    keys = ("language", "query_id", "text")
    write_jsonl(file, *({k: r[k] for k in keys} for r in rows))
    return file


def of(arena: Arena, table: str, system: str) -> list[dict[str, object]]:
    rows = arena.read(table)
    return rows.filter(pc.equal(rows["system"], system)).to_pylist()


def test_it_is_measured_as_any_other_system_and_the_original_stays(tmp_path: Path, by_words: Arena) -> None:
    arena = by_words
    before = {path: path.read_bytes() for path in sorted(arena.path.rglob("*.parquet"))}
    answers = read_system(arena, given(tmp_path, arena), system="mine")
    seen: list[tuple[int, int]] = []
    result = adding.add_systems(arena, answers, tmp_path / "own", progress=lambda *counts: seen.append(counts))
    assert {path: path.read_bytes() for path in sorted(arena.path.rglob("*.parquet"))} == before
    assert (result.label, owned.added_systems(result)) == (adding.OWN, ("mine",))
    assert seen[-1][0] == seen[-1][1] > 0
    arenas.check(result)
    for table in ("features", "outcomes", "nugget_assignments"):
        twins = [row for row in of(arena, table, "baseline/bm25-3") if row["language"] == "sw"]
        rows = [row | {"system": "baseline/bm25-3"} for row in of(result, table, "mine")]
        # Values to the last digit but one: Python adds floats another way since 3.12.
        values, twin_values = ([row.pop("value", None) for row in part] for part in (rows, twins))
        assert values == [None if value is None else pytest.approx(value, rel=1e-12) for value in twin_values], table
        assert rows == twins, table
    assert {str(row["feature"]) for row in of(result, "features", "mine")} <= set(FEATURES)
    assert "judgments" in result.tables
    assert "ratings" not in result.tables
    assert result.rows("answers") == arena.rows("answers") + len(answers)


def test_without_the_assigner_of_the_arena_it_has_no_nugget_score(tmp_path: Path, arena: Arena) -> None:
    answers = read_system(arena, given(tmp_path, arena), system="mine")
    result = adding.add_systems(arena, answers, tmp_path / "own")
    assert not of(result, "nugget_assignments", "mine")
    assert not [row for row in of(result, "features", "mine") if str(row["feature"]).startswith("nugget")]


def test_the_same_name_again_replaces_what_was_the_users_own(tmp_path: Path, arena: Arena) -> None:
    first = adding.add_systems(arena, read_system(arena, given(tmp_path, arena), system="mine"), tmp_path / "own")
    file = given(tmp_path, arena, like=REFERENCE, languages=("sw", "en"))
    again = adding.add_systems(first, read_system(first, file, system="mine"), first.path)
    rows = of(again, "answers", "mine")
    assert len(rows) == 20
    assert again.rows("features") > first.rows("features")
    assert owned.added_systems(again) == ("mine",)
    other = read_system(again, given(tmp_path, arena), system="second")
    both = adding.add_systems(again, other, again.path)
    assert owned.added_systems(both) == ("mine", "second")
    assert of(both, "answers", "mine") == rows


def test_an_arena_of_numbers_takes_answers_and_says_what_they_amount_to(tmp_path: Path) -> None:
    numbers = open_arena("nomiracl")
    rows = numbers.read("queries", languages=["sw"]).to_pylist()[:20]
    file = tmp_path / "mine.csv"
    file.write_text("language,query_id,text\n" + "".join(f"sw,{r['query_id']},I don't know\n" for r in rows), "utf-8")
    result = adding.add_systems(numbers, read_system(numbers, file, system="mine"), tmp_path / "own")
    assert {row["outcome"] for row in of(result, "outcomes", "mine")} == {"abstained"}
    assert result.rows("outcomes") == numbers.rows("outcomes") + 40
    assert result.rows("features") > numbers.rows("features")


@pytest.mark.parametrize(*read_table("wrong_answers"))
def test_one_wrong_line_refuses_the_whole_file_and_leaves_nothing(
    tmp_path: Path, arena: Arena, line: dict[str, str], reason: str
) -> None:
    file = tmp_path / "answers.jsonl"
    good = {"language": "sw", "query_id": "sw-01", "text": "x"}
    file.write_text(json.dumps(good) + "\n" + json.dumps(line) + "\n", "utf-8")
    with pytest.raises((ArenaError, BadInput)) as caught:
        read_system(arena, file, system="mine")
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == [file]


def test_pitfall_195_the_page_reads_a_file_as_import_does(tmp_path: Path, arena: Arena) -> None:
    file = tmp_path / "answers.csv"
    ends = ("hm,ok", ",truncated", ",missing", ",api_error", ",")
    lines = [f"sw,sw-0{n},mine,{end}\n" for n, end in enumerate(ends, 1)]
    file.write_text("language,query_id,system,text,status\n" + "".join(lines), "utf-8")
    answers = read_system(arena, file, system="mine")
    assert answers.equals(read(file, arena=arena)[0]["answers"])
    assert answers["status"].to_pylist() == ["ok", "truncated", "missing", "api_error", "empty"]


def test_a_name_that_is_taken_or_empty_and_too_many_answers_are_refused(
    tmp_path: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = given(tmp_path, arena)
    with pytest.raises(ArenaError, match="baseline/bm25-3"):
        read_system(arena, file, system="baseline/bm25-3")
    with pytest.raises(BadInput, match="system is missing"):
        read_system(arena, file, system=" ")
    monkeypatch.setattr(adding, "MOST_ANSWERS", 5)
    with pytest.raises(BadInput, match="more than 5 records"):
        read_system(arena, file, system="mine")


def test_the_queries_to_ask_hold_every_prompt(arena: Arena) -> None:
    rows = adding.queries(arena).to_pylist()
    assert len(rows) == arena.rows("queries")
    texts = {(r["language"], r["query_id"]): r["text"] for r in arena.read("queries").to_pylist()}
    assert all(texts[row["language"], row["query_id"]] in row["prompt"] for row in rows)
