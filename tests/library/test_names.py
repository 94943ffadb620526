"""Names that are not what they seem: refused wherever they come from, each with its place."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from arena_writer import make_answer, make_judgment, make_query, write_arena
from commands import refuses
from commands import write_jsonl as write
from golden.cases import read_table
from store_cases import forge

import mirage
from mirage import open_arena, schema
from mirage.errors import BadInput
from mirage.io.imports.formats import import_file, read_file
from mirage.io.options import Options
from mirage.store import arena as arenas
from mirage.store.arena import is_arena
from mirage.text.names import fold_name, hidden_character

ROW = {"language": "en", "id": "1", "question": "Who built it?", "system": "a", "answer": "Ann.", "contexts": ["Ann."]}
VERDICT = {"language": "en", "query_id": "1", "judge": "j", "system_a": "a", "system_b": "b", "verdict": "A"}


HIDDEN = (
    *("a\u202eb", "a\u200bb", "a\u2066b\u2069", "a\tb", "a\nb", "a\x1bb", "a\xadb", "a\u200db", "a\U000e0041"),
    *("a\u3164b", "a\u2028b", "a\ufe0f", "\u200fa", "a\x85b"),
)


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("field", ["system", "id"])
def test_pitfall_188_a_name_with_a_hidden_character_refuses_the_file(tmp_path: Path, name: str, field: str) -> None:
    assert hidden_character(name)
    file = write(tmp_path / "x.jsonl", ROW, ROW | {"id": "2", field: name})
    with pytest.raises(BadInput, match=r"hidden character U\+") as caught:
        import_file(file, tmp_path / "arena", name="rag")
    assert f"{file}:2" in caught.value.where
    assert not is_arena(tmp_path / "arena")


@pytest.mark.parametrize(
    "name",
    ["gpt-4o", "Аня", "می\u200cخواهم", "क्\u200dष", "模型\u3000一", "\U0001f468\u200d\U0001f467", "☺\ufe0f", "é\u0301"],
)
def test_scripts_and_emoji_that_need_joiners_keep_them(name: str) -> None:
    assert hidden_character(name) is None


@pytest.mark.parametrize("other", ["A", "\uff41", "\u24d0", "ⅰ", "a  b", "a\xa0b"])
def test_names_that_look_alike_refuse_the_file(tmp_path: Path, other: str) -> None:
    name = {"ⅰ": "i"}.get(other, "a b" if "b" in other else "a")
    assert fold_name(name) == fold_name(other)
    for field in ("system", "id"):
        second = ROW | {"id": "2", "question": "And who?", field: other}
        file = write(tmp_path / f"{field}.jsonl", ROW | {field: name}, second)
        with pytest.raises(BadInput, match="in case, width or spaces only") as caught:
            import_file(file, tmp_path / "arena", name="rag")
        assert f"{file}:2" in caught.value.where
    assert not is_arena(tmp_path / "arena")


WRONG = {
    "points": (2, -1),
    "judge": ("j\u202e", "J"),
    "system_b": ("A", "\uff41", ""),
    "voter": ("v\u200b1",),
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_pitfall_188_verdicts_with_wrong_points_or_names_refuse_the_file(
    tmp_path: Path, field: str, value: object
) -> None:
    rows = [VERDICT, VERDICT | {"query_id": "2", field: value}]
    file = write(tmp_path / "x.jsonl", *rows)
    with pytest.raises(BadInput) as caught:
        read_file(file, name="judgments")
    assert f"{file}:2" in str(caught.value.where)


NO_DAYS = ("2026-02-30", "tomorrow", "2026-13-01", " ", "20261", "2026-11-20T25:00", True, [1], "٢٠٢٦-١١-٢٠")


@pytest.mark.parametrize("day", NO_DAYS)
def test_a_date_that_is_none_refuses_the_file(tmp_path: Path, day: object) -> None:
    file = write(tmp_path / "x.jsonl", ROW, ROW | {"id": "2", "question": "And who?", "run_date": day})
    with pytest.raises(BadInput, match="not a date") as caught:
        read_file(file, name="rag")
    assert f"{file}:2" in caught.value.where


@pytest.mark.parametrize("status", ["ok", "truncated"])
def test_an_answer_that_is_said_to_be_there_has_a_text(tmp_path: Path, status: str) -> None:
    file = write(tmp_path / "x.jsonl", ROW, ROW | {"id": "2", "question": "And?", "answer": None, "status": status})
    with pytest.raises(BadInput) as caught:
        read_file(file, name="rag")
    assert f"{file}:2" in caught.value.where


@pytest.mark.parametrize("voters", [("ami\u200bna",), ("ami\u202ena",), ("amina", "Amina"), ("amina", "amina\x1b")])
def test_pitfall_235_voters_are_checked_as_systems_are(tmp_path: Path, voters: tuple[str, ...]) -> None:
    rows = [VERDICT | {"query_id": str(k), "voter": voter, "person": True} for k, voter in enumerate(voters)]
    file, frame = write(tmp_path / "x.jsonl", *rows), pd.DataFrame(rows).drop(columns="person")
    doors = [
        lambda: import_file(file, tmp_path / "arena"),
        lambda: mirage.rank(file),
        lambda: mirage.rank(frame),
        lambda: mirage.agreement(frame, frame.drop(columns="voter")),
    ]
    for door in doors:
        with pytest.raises(BadInput, match="voter"):
            door()


@pytest.mark.parametrize(*read_table("forged_arenas"))
def test_pitfall_188_an_arena_that_was_forged_is_refused_by_check(
    tmp_path: Path, table: str, change: dict[str, Any], problem: str
) -> None:
    """The files and the manifest are written by hand, so that every hash is right."""
    tables = {
        "queries": [make_query("en", "1", "relevant", "Who?")],
        "answers": [make_answer("en", "1", name, "Ann.") for name in "ab"],
        "judgments": [make_judgment("en", "1", "j", "a", "b", "A")],
    }
    arena = write_arena(tmp_path / "arena", tables)
    rows = arena.read(table).to_pylist()
    rows[0] |= change
    forge(arena.path, table, pa.Table.from_pylist(rows, schema.arrow_schema(table)))
    with pytest.raises(BadInput, match=problem):
        list(arenas.check(open_arena(arena.path)))


@pytest.mark.parametrize("name", ["inclusion", "Inclusion probability"])
def test_pitfall_233_no_verdict_brings_a_weight_of_its_own(tmp_path: Path, name: str) -> None:
    """Three wins with a tiny inclusion probability would make the last system the first."""
    plain = [VERDICT | {"query_id": str(k), "verdict": "B" if k < 3 else "A"} for k in range(9)]
    weighted = [row | {name: 1e-6 if k < 3 else 1.0} for k, row in enumerate(plain)]
    pair = [{"prompt": "Who?", "response_a": "Ann.", "response_b": "Bob.", "winner": "model_a", name: 0.1}]
    files = [write(tmp_path / "x.jsonl", *weighted), write(tmp_path / "pair.jsonl", *pair)]
    frame = pd.DataFrame(weighted)
    doors = [
        *(lambda file=file: import_file(file, tmp_path / "arena") for file in files),
        lambda: mirage.rank(files[0]),
        lambda: mirage.rank(frame),
        lambda: mirage.agreement(frame, frame),
        lambda: mirage.correct(pd.DataFrame(plain), frame),
        lambda: mirage.judge_exam(open_arena("people"), frame),
    ]
    for door in doors:
        with refuses(BadInput, f"{name} is .*probability a battle was drawn", do=name):
            door()
    assert not (tmp_path / "arena").exists()

    arena = import_file(files[0], tmp_path / "arena", options=Options({name: "ignored"})).arena
    assert mirage.rank(arena).table().equals(mirage.rank(pd.DataFrame(plain)).table())
    forge(arena.path, "judgments", arena.read("judgments").append_column("inclusion", pa.array([0.5] * 9)))
    for rank in (mirage.rank, mirage.judge_exam):
        with pytest.raises(BadInput, match="inclusion"):
            rank(open_arena(arena.path))
