"""`mirage check --recompute`: forged numbers are stored though their hashes were written anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from commands import mirage
from golden.cases import read_table
from store_cases import edit_manifest, forge

from mirage import open_arena, schema
from mirage.pipeline.recompute import recompute
from mirage.ranking.stage import JUDGED_RATINGS, RELEVANCE_RATINGS, RELEVANCE_TOURNAMENTS, rated_with
from mirage.ranking.surrogate.stage import RELEVANCE_PREDICTIONS, predicted_with
from mirage.schema import REFERENCE
from mirage.stages.features.spec import Tools
from mirage.stages.features.stage import FEATURES
from mirage.stages.judge.stage import HEURISTIC_JUDGMENTS
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.store import arena as arenas
from mirage.store import writing
from mirage.store.arena import Arena
from mirage.store.writing import Provenance

SOURCES = ("queries", "passages", "answers", "retrieved", "nuggets")
SYSTEMS = (REFERENCE, "thorough", "cautious", "half", "fluent", "concise")


def few(sample: Arena) -> dict[str, pa.Table]:
    """The sample's sources in two languages: seven queries, and the answers of `SYSTEMS`."""
    tables = {name: sample.read(name, languages=["de", "sw"]) for name in SOURCES}
    queries = pa.array([key for key in tables["queries"]["query_id"].to_pylist() if int(key[-2:]) > 3])
    tables = {name: table.filter(pc.is_in(table["query_id"], queries)) for name, table in tables.items()}
    answers = tables["answers"]
    return tables | {"answers": answers.filter(pc.is_in(answers["system"], pa.array(SYSTEMS)))}


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    """Some of the sample's sources in two languages, and everything that is derived of them, made here."""
    derived = few(open_arena("sample"))
    derived |= OUTCOMES.run(derived) | TERM_ASSIGNMENTS.run(derived)
    tools = Tools(reference=REFERENCE)
    derived |= FEATURES.run(
        derived, only=["target_language", "length", "answer_rougeL", "citation_Recall@10"], tools=tools
    )
    derived |= HEURISTIC_JUDGMENTS.run(derived)
    relevance = RELEVANCE_RATINGS.run(derived, draws=50, seed=7)["ratings"]
    judged = JUDGED_RATINGS.run(derived, judge="heuristic", draws=50, seed=7)["ratings"]
    derived["ratings"] = pa.concat_tables([relevance, judged])
    derived |= RELEVANCE_TOURNAMENTS.run(derived, tournaments=3)
    return derived


@pytest.fixture(scope="module")
def predicted(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """What a surrogate reads, and what it predicts."""
    read = {name: tables[name] for name in ("queries", "outcomes", "features")}
    return read | RELEVANCE_PREDICTIONS.run(read, regressors=["linear"])


def write(folder: Path, tables: dict[str, pa.Table]) -> Arena:
    rated = dict.fromkeys(("relevance", "heuristic"), rated_with(draws=50, seed=7))
    made = {"ratings": rated, "tournaments": {"relevance": {"tournaments": 3, "seed": 0}}}
    made["predictions"] = {"relevance": predicted_with(["linear"])}
    return writing.write(
        folder,
        tables,
        title="t",
        label="sample",
        about="a",
        licence="CC0-1.0",
        made_by={name: Provenance("a test", settings=made.get(name, {})) for name in tables},
    )


def test_an_honest_arena_agrees_with_its_sources(
    tables: dict[str, pa.Table], predicted: dict[str, pa.Table], tmp_path: Path
) -> None:
    parts = [*recompute(write(tmp_path / "arena", tables)), *recompute(write(tmp_path / "predicted", predicted))]
    assert [part.mismatches for part in parts] == [()] * len(parts)
    compared = {part.subject.split(" ")[0]: part.rows for part in parts if part.reason is None}
    assert compared.keys() >= {"outcomes", "nugget_assignments", "features", "judgments", "ratings", "tournaments"}
    assert compared["predictions"] == len(predicted["predictions"]) + len(predicted["importances"])
    assert all(compared.values())


@pytest.mark.parametrize(*read_table("forged_values"))
def test_a_forged_value_is_named_though_every_hash_holds(
    values: dict[str, dict[str, object]],
    tables: dict[str, pa.Table],
    predicted: dict[str, pa.Table],
    tmp_path: Path,
) -> None:
    tables = dict(tables if values.keys() <= tables.keys() else predicted)
    forged = set()
    for table, columns in values.items():
        rows, taken = tables[table].to_pylist(), set[int]()
        for column, value in columns.items():
            place = next(k for k, row in enumerate(rows) if k not in taken and row[column] not in (value, None))
            taken.add(place)
            rows[place][column] = value
            row = ", ".join(f"{name}={rows[place][name]}" for name in schema.key(table))
            forged.add((table, column, row, str(value)))
        tables[table] = pa.Table.from_pylist(rows, tables[table].schema)
    arena = write(tmp_path / "arena", tables)
    arenas.check(arena)
    found = [
        (mismatch.table, mismatch.column, mismatch.row, mismatch.stored)
        for part in recompute(arena)
        for mismatch in part.mismatches
        if mismatch.column in values.get(mismatch.table, {})
    ]
    assert sorted(found) == sorted(forged)


def test_rows_that_were_added_or_left_out_are_named(tables: dict[str, pa.Table], tmp_path: Path) -> None:
    ratings = tables["ratings"].to_pylist()
    ratings[0]["system"] = "a system nobody knows"
    arena = write(tmp_path / "arena", {**tables, "ratings": pa.Table.from_pylist(ratings, tables["ratings"].schema)})
    stored = {
        mismatch.stored for part in recompute(arena) for mismatch in part.mismatches if mismatch.column == "(row)"
    }
    assert stored == {"present", "absent"}


@pytest.mark.parametrize(
    ("change", "column"),
    [
        (lambda rows: [rows[0] | {"rating": 9.0}, *rows], "(row)"),
        (lambda rows: [*rows, rows[-1] | {"rating": 9.0}], "(row)"),
        (lambda rows: [rows[1], rows[0], *rows[2:]], "(order)"),
        (lambda rows: rows[::-1], "(order)"),
        (lambda rows: rows[1:], "(row)"),
    ],
)
def test_rows_repeated_or_in_another_order_are_named_pitfall_231(
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
    column: str,
    tables: dict[str, pa.Table],
    tmp_path: Path,
) -> None:
    path, ratings = write(tmp_path / "arena", tables).path, tables["ratings"]
    of_code = ratings.filter(pc.equal(ratings["language"], "de"))
    sorted_rows = schema.sort("ratings", of_code).to_pylist()
    forge(path, "ratings", pa.Table.from_pylist(change(sorted_rows), ratings.schema))
    found = [mismatch.column for part in recompute(open_arena(path)) for mismatch in part.mismatches]
    assert set(found) - {"rating"} == {column}


@pytest.mark.parametrize("draws", [10**9, "50", -1, None, 51])
def test_settings_that_cannot_be_those_of_the_ratings_are_a_fault(
    draws: object, tables: dict[str, pa.Table], tmp_path: Path
) -> None:
    path = write(tmp_path / "arena", tables).path
    edit_manifest(path, lambda manifest: manifest["made"]["ratings"]["settings"]["relevance"].update(draws=draws))
    (part,) = (part for part in recompute(open_arena(path)) if part.subject == "ratings by relevance")
    assert part.mismatches


def test_what_cannot_be_recomputed_is_named_with_the_reason(tables: dict[str, pa.Table], tmp_path: Path) -> None:
    """Numbers that models made are not recomputed; ratings that nothing bears out are a fault."""
    kept = {name: table for name, table in tables.items() if name not in ("judgments", "answers")}
    parts = {part.subject: part for part in recompute(write(tmp_path / "arena", kept))}
    assert "answers" in str(parts["outcomes"].reason)
    assert not parts["outcomes"].mismatches
    assert parts["ratings by heuristic"].reason
    assert parts["ratings by heuristic"].mismatches
    assert parts["ratings by relevance"].reason is None


def test_the_command_ends_with_2_where_a_number_was_forged(tables: dict[str, pa.Table], tmp_path: Path) -> None:
    few = {name: tables[name] for name in ("queries", "outcomes", "ratings")}
    few["ratings"] = few["ratings"].filter(pc.equal(few["ratings"]["judge"], "relevance"))
    honest = write(tmp_path / "honest", few)
    mirage("check", honest.path, "--recompute")
    ratings = few["ratings"].to_pylist()
    ratings[3]["rating"] += 0.5
    forged = write(tmp_path / "forged", {**few, "ratings": pa.Table.from_pylist(ratings, few["ratings"].schema)})
    mirage("check", forged.path)
    done = mirage("check", forged.path, "--recompute", "--format", "json", code=2)
    assert [row["column"] for row in json.loads(done.stdout)] == ["rating"]
