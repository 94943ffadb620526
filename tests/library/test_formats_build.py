"""The builder: ids, shared queries and passages, positions, citations and languages of any format."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from commands import write_jsonl
from commands import write_jsonl as saved
from flat_cases import CASES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mirage import schema
from mirage.errors import ArenaError, BadInput
from mirage.io.formats import run
from mirage.io.formats.registry import Recognised, format_named
from mirage.io.imports.formats import import_file
from mirage.store.arena import Arena

RECORD = {
    "question": "When was the bridge over the river built, and by whom?",
    "contexts": ["The bridge was built in 1902.", "Its engineer was Ada North."],
    "answer": "In 1902 [1], by Ada North [2].",
    "system": "first",
}


def rows(arena: Arena, table: str) -> list[dict[str, Any]]:
    return arena.read(table).to_pylist()


def arena_of(tmp_path: Path, *records: dict[str, Any]) -> Arena:
    return import_file(saved(tmp_path / "in.jsonl", *records), tmp_path / "arena").arena


def test_a_second_file_adds_passages_and_leaves_those_that_are_there(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, RECORD)
    before = rows(arena, "passages")
    more = RECORD | {"system": "second", "contexts": ["New.", RECORD["contexts"][0]], "answer": "[1] [2]"}
    arena = import_file(saved(tmp_path / "b.jsonl", more), tmp_path / "arena").arena
    assert [row for row in rows(arena, "passages") if row["position"] < 3] == before
    assert rows(arena, "answers")[1]["text"] == "[3] [1]"
    assert rows(arena, "answers")[0]["text"] == RECORD["answer"]


def test_a_text_that_answers_stand_on_is_not_changed(tmp_path: Path) -> None:
    arena_of(tmp_path, RECORD | {"id": 7})
    other = RECORD | {"id": 7, "question": "Quite another question under the same id?", "system": "b"}
    with pytest.raises((ArenaError, BadInput)):
        import_file(saved(tmp_path / "b.jsonl", other | {"language": "en"}), tmp_path / "arena")


def test_an_id_that_no_two_systems_share_is_the_records(tmp_path: Path) -> None:
    asked = ("Meta twaqqfet il-librerija nazzjonali?", "Meta twaqqfet l-iskola tal-baħar?")
    records = [{"question": q, "answer": f"Fl-{k}.", "system": s} for k, q in enumerate(asked) for s in "ab"]
    numbered = [record | {"id": k} for k, record in enumerate(records)]
    arena = arena_of(tmp_path, *numbered)
    assert arena.rows("queries") == 2
    assert arena_of(tmp_path, *numbered).rows("queries") == 2
    other = import_file(saved(tmp_path / "x.jsonl", *records), tmp_path / "other").arena
    assert rows(other, "answers") == rows(arena, "answers"), "as without the ids"
    twice = [*numbered, numbered[0] | {"id": 9, "answer": "Ma nafx."}]
    again = import_file(saved(tmp_path / "y.jsonl", *twice), tmp_path / "twice").arena
    assert again.rows("queries") == 5, "a system answered one text twice, so ids tell queries apart"


@pytest.mark.parametrize("name", CASES["COUNTED"])
def test_pitfall_179_every_record_is_taken_repeated_or_refused(tmp_path: Path, name: str) -> None:
    good, bad = ({"language": "en"} | record for record in CASES["COUNTED"][name])
    summary = run.read(saved(tmp_path / "x.jsonl", good, good, good), name=name)[1]
    assert (summary.records, summary.guessed["repeated"].split()[0]) == (3, "2")
    assert "repeated" not in run.read(saved(tmp_path / "x.jsonl", good), name=name)[1].guessed
    with pytest.raises(BadInput, match="2 of 4 records"):
        run.read(saved(tmp_path / "x.jsonl", bad, good, bad, good), name=name)


def test_pitfall_179_a_file_of_a_folder_that_is_not_read_is_named(tmp_path: Path) -> None:
    saved(tmp_path / "x.jsonl", RECORD)
    (tmp_path / "notes.docx").write_text("?")
    assert [part.what for part in run.read(tmp_path)[1].left_out] == ["notes.docx"]


def test_pitfall_161_a_format_that_refuses_all_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [Recognised(format_named(name), name) for name in ("alpaca_eval", "judgments", "rag")]
    monkeypatch.setattr(run, "recognise", lambda _: taken)
    summary = run.read(saved(tmp_path / "x.jsonl", RECORD))[1]
    assert summary.format == "rag"
    assert "alpaca_eval" in summary.guessed["format"]
    with pytest.raises(BadInput, match="two places of a pair"):
        run.read(saved(tmp_path / "y.jsonl", RECORD | {"label": "odd"}))


CELLS = st.sampled_from(
    ["q1", "a", "b", "A", "tie", "model_a", "", " a", "=a", "NA", "null", "en", "1", "é", "x\u200b"]
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(["q1", "q2", "q3"]), CELLS, CELLS, CELLS), min_size=1, max_size=5),
    st.sampled_from([(), ("language",), ("judge",), ("note",)]),
    st.sampled_from(["csv", "jsonl", "parquet"]),
)
def test_a_plain_file_of_battles_is_read_by_column_as_record_by_record(
    tmp_path: Path, rows: list[tuple[str, ...]], more: tuple[str, ...], kind: str
) -> None:
    clean = [(query, a or "a", b or "b", word if word in ("A", "B", "tie") else "A") for query, a, b, word in rows]
    for cells in (rows, clean, clean[:1]):
        names = ("query_id", "system_a", "system_b", "verdict", *more)
        table = pa.table({name: [(*row, "en")[k] for row in cells] for k, name in enumerate(names)})
        path = tmp_path / f"battles.{kind}"
        if kind == "csv":
            pa_csv.write_csv(table, path)
        elif kind == "parquet":
            pq.write_table(table, path)
        else:
            write_jsonl(path, *table.to_pylist())
        found = []
        for reader in (run.read_plain, lambda _: None):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(run, "read_plain", reader)
                try:
                    tables, summary = run.read(path)
                    found.append(
                        ({name: schema.sort(name, part).to_pylist() for name, part in tables.items()}, summary)
                    )
                except BadInput as error:
                    found.append((str(error), None))
        assert found[0] == found[1]


def test_a_plain_file_is_read_by_column(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("query_id,system_a,system_b,verdict\nq1,a,b,A\nq1,b,a,tie\n", "utf-8")
    assert run.read_plain(path) is not None
