"""A run on what people bring: no labels, no passages, no queries, no reference. It skips, says why, and goes on."""

from pathlib import Path

import pyarrow as pa
import pytest
from arena_writer import add_rows, make_judgment, read_rows, write_arena
from commands import mirage
from run_without_cases import KEYS, SYSTEMS, tables

from mirage import schema
from mirage.errors import TableMissing
from mirage.pipeline.steps import Steps
from mirage.stages.features import table as feature_table
from mirage.stages.features.measuring import measure
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.features.spec import Tools
from mirage.stages.judge.stage import BattleSample
from mirage.store import arena as arenas
from mirage.store.arena import open_arena


def without_texts(contents: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """Queries and passages known by their ids alone."""
    for name in ("queries", "passages"):
        table = contents[name]
        absent = pa.nulls(len(table), pa.string())
        contents[name] = table.set_column(table.column_names.index("text"), "text", absent)
    rows = contents["queries"]
    reason = pa.array(["not bundled"] * len(rows))
    contents["queries"] = rows.set_column(rows.column_names.index("reason"), "reason", reason)
    return contents


ARENAS = {
    "no labels": lambda: tables(labels="none"),
    "some labels": lambda: tables(labels="some"),
    "no passages": lambda: {name: t for name, t in tables(labels="none").items() if name != "passages"},
    "answers alone": lambda: {"answers": tables()["answers"]},
    "queries alone": lambda: {"queries": tables()["queries"]},
    "no texts": lambda: without_texts(tables()),
    "one system": lambda: tables() | {"answers": tables()["answers"].slice(0, 1)},
    "no rows": lambda: {name: table.slice(0, 0) for name, table in tables().items()},
}


@pytest.mark.parametrize("case", ARENAS)
def test_a_run_ends_well_and_says_what_it_left_out(tmp_path: Path, case: str) -> None:
    path = tmp_path / "arena"
    write_arena(path, ARENAS[case]())
    every = Steps(path, "a test")
    steps = list(every.measure(baselines=case in ("no labels", "no passages", "no texts")))
    steps += [every.judge("heuristic", BattleSample()), *every.rate("heuristic", draws=20, seed=0)]
    assert all(step.why for step in steps)
    assert all(step.state in ("ran", "skipped") for step in steps)
    arenas.check(open_arena(path))


def test_answers_without_labels_are_judged_and_ranked_though_they_have_no_outcome(tmp_path: Path) -> None:
    written = [schema.Reference(code, query, "It was built in 1902.") for code, query in KEYS]
    contents = tables(labels="none") | {"references": written}
    write_arena(tmp_path / "a", contents)
    mirage("evaluate", tmp_path / "a", "--judge", "heuristic")
    arena = open_arena(tmp_path / "a")
    assert {"features", "judgments", "ratings"} <= set(arena.tables)
    assert "outcomes" not in arena.tables
    assert "relevance label" in mirage("measure", arena.path).output


def test_labelled_queries_have_outcomes_beside_others_that_have_none(tmp_path: Path) -> None:
    write_arena(tmp_path / "a", tables(labels="some"))
    step = next(Steps(tmp_path / "a", "a test").measure())
    assert step.state == "ran"
    assert "12 answers have no outcome" in step.why
    arena = open_arena(tmp_path / "a")
    rows = read_rows(arena, "outcomes")
    assert {(row["language"], row["query_id"]) for row in rows} == set(KEYS[:4])
    assert len(rows) == 2 * 4 * len(SYSTEMS)
    assert any("12 answers" in note for note in arena.manifest["made"]["outcomes"]["notes"])


def test_features_that_lack_a_table_are_named_and_measured_once_it_is_there(tmp_path: Path) -> None:
    contents = tables()
    path = tmp_path / "a"
    write_arena(path, {name: table for name, table in contents.items() if name != "passages"})
    *_, first = Steps(path, "a test").measure()
    assert first.state == "ran"
    assert "citation_Recall@10" in first.why
    names = set(open_arena(path).read("features")["feature"].to_pylist())
    assert "length" in names
    assert not [name for name in names if name.startswith("citation_")]
    add_rows(path, passages=contents["passages"])
    *_, second = Steps(path, "a test").measure()
    assert second.state == "ran"
    assert "citation_Recall@10" in set(open_arena(path).read("features")["feature"].to_pylist())


FREE = [
    name
    for name in feature_table.measurable_features(Tools(reference="one"))
    # What others decided of answers has tests of its own: test_nuggets.py, test_support.py.
    if not schema.OPTIONAL & set(feature_table.tables([name]))
]


@pytest.mark.parametrize("name", FREE)
def test_a_feature_is_measured_with_the_tables_it_declares_and_no_others(tmp_path: Path, name: str) -> None:
    contents = tables()
    if "citation" not in name:
        # A citation is known by the ids of the passages; without any, both arenas hold the same for every reader.
        answers = contents["answers"].to_pylist()
        texts = [row["text"].replace(f"[{row['query_id']}#0]", "") for row in answers]
        column = contents["answers"].column_names.index("text")
        contents["answers"] = contents["answers"].set_column(column, "text", pa.array(texts))
    declared = set(feature_table.tables([name]))
    whole, bare = tmp_path / "whole", tmp_path / "bare"
    write_arena(whole, contents)
    write_arena(bare, {table: rows for table, rows in contents.items() if table in declared})
    measured = [
        read_rows(measure(path, MeasureSettings([name], "one"), made_by="a test"), "features") for path in (whole, bare)
    ]
    assert measured[0] == measured[1]
    assert any(row["value"] is not None for row in measured[0])
    for table in declared:
        less = tmp_path / f"without-{table}"
        write_arena(
            less,
            {t: rows for t, rows in contents.items() if t in declared - {table}} or {"judgments": JUDGED},
        )
        with pytest.raises(TableMissing, match=table):
            measure(less, MeasureSettings([name], "one"), made_by="a test")


JUDGED = schema.from_rows("judgments", [make_judgment("en", "q0", "j", "one", "two", "A")])
