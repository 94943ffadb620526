"""Files of one's own: what is taken, and what is refused, whole and line by line."""

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import mirage, refuses, rows
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import snapshot

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io.formats import run as formats
from mirage.io.options import Options
from mirage.store.arena import open_arena
from mirage.text.failures import failure

GOOD = {"language": "sw", "query_id": "12", "judge": "j", "system_a": "one", "system_b": "two", "verdict": "A"}

QUERY = {"language": "sw", "query_id": "12", "text": "Ziwa ni kubwa kiasi gani?"}
SHOWN = {"passage_id": "7#0", "title": "Ziwa", "text": "Ziwa ni kubwa.", "relevant": True}


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


def csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Queries and answers: `one` and `two` in Swahili, `three` in English."""
    asked = [("sw", "12"), ("sw", "13"), ("en", "7")]
    queries = [QUERY | {"language": code, "query_id": name, "text": f"What is {name}?"} for code, name in asked]
    mirage("import", jsonl(tmp_path / "q.jsonl", *queries), "--into", tmp_path / "arena")
    told = [("sw", "12", "one"), ("sw", "12", "two"), ("sw", "13", "one"), ("en", "7", "three")]
    answers = [ANSWER | {"language": code, "query_id": name, "system": system} for code, name, system in told]
    mirage("import", jsonl(tmp_path / "told.jsonl", *answers), "--into", tmp_path / "arena")
    return tmp_path / "arena"


@pytest.mark.parametrize(*read_table("wrong_values"))
def test_a_wrong_value_is_refused_with_file_and_line(
    tmp_path: Path, kind: str, change: dict[str, Any], problem: str
) -> None:
    good = {"judgments": GOOD, "queries": QUERY}[kind]
    path = jsonl(tmp_path / "x.jsonl", good, good | {"query_id": "13"} | change)
    with pytest.raises(BadInput, match=problem) as caught:
        formats.read(path, name=kind)
    assert caught.value.where.startswith(f"{path}:2")


HEAD = ",".join(GOOD)


@pytest.mark.parametrize(*read_table("wrong_lines"))
def test_a_line_that_is_no_record_is_refused(
    tmp_path: Path, name: str, lines: list[str], problem: str, line: int
) -> None:
    with refuses(BadInput, problem, where=f"{tmp_path / name}:{line}"):
        formats.read(csv(tmp_path / name, *lines), name="judgments")


def test_a_wrong_line_before_a_broken_one_is_told_too(tmp_path: Path) -> None:
    path = csv(tmp_path / "j.csv", HEAD, "xx,1,j,one,two,A", "sw,1,j")
    with pytest.raises(BadInput, match="2 of 2 records") as caught:
        formats.read(path, name="judgments")
    assert "no language 'xx'" in caught.value.where
    assert "3 fields" in caught.value.where


@pytest.mark.parametrize(
    ("given", "verdict"), [(1, "A"), (0.51, "A"), (0.5, "tie"), (0.499, "B"), (0, "B"), (1e-300, "B")]
)
def test_points_alone_give_the_nearest_verdict(tmp_path: Path, given: float, verdict: str) -> None:
    path = jsonl(tmp_path / "j.jsonl", GOOD | {"verdict": None, "points": given})
    (row,) = formats.read(path, name="judgments")[0]["judgments"].to_pylist()
    assert (row["verdict"], row["points"]) == (verdict, given)


# --- files that nobody wrote to be read -------------------------------------------------------------------------------

BRACES = "{" * 200_000
DIGITS = '{"question": "q", "answer": "a", "model": "m", "id": ' + "1" * 5_000 + "}"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("wide.csv", ",".join(f"c{k}" for k in range(100_000)) + "\n"),
        ("twice.csv", ",".join(["c"] * 100_000) + "\n"),
        ("wide.jsonl", json.dumps(dict.fromkeys(map(str, range(20_000)), 1)) + "\n"),
        *((f"digits.{kind}", DIGITS) for kind in ("json", "jsonl")),
        *((f"braces.{kind}", BRACES) for kind in ("json", "jsonl", "trec", "txt")),
        ("brackets.json", "[" * 200_000),
    ],
)
def test_a_record_that_no_program_can_hold_is_refused(tmp_path: Path, name: str, content: str) -> None:
    path = csv(tmp_path / name, content)
    with pytest.raises(BadInput):
        formats.read(path)
    with pytest.raises(BadInput):
        formats.read(path, name="trec")


@pytest.mark.parametrize("name", ["bomb.jsonl.gz", "bomb.json.gz", "bomb.csv.gz", "topics.tsv.gz"])
@pytest.mark.parametrize("start", ["a", '[{"a": "', '{"a": "', ""])
def test_a_line_has_a_bound_in_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, start: str) -> None:
    """A gzip of a megabyte may hold a line of a gigabyte."""
    for module in ("mirage.store.files", "mirage.store.json_members"):
        monkeypatch.setattr(sys.modules[module], "LONGEST_OF_OWN", 1_000_000)
    path = tmp_path / name
    path.write_bytes(gzip.compress((start + " x" * 4_000_000).encode()))
    with pytest.raises(BadInput):
        formats.read(path)


# --- answers ----------------------------------------------------------------------------------------------------------

ANSWER = {"language": "sw", "query_id": "12", "system": "mine", "text": "##Reason: kwa sababu [7#0]\n\n##Answer: ndiyo"}


def read_answers(path: Path, options: Options | None = None) -> pa.Table:
    return formats.read(path, name="answers", options=options)[0]["answers"]


def parquet(path: Path, *records: dict[str, Any]) -> Path:
    pq.write_table(pa.Table.from_pylist(list(records)), path)
    return path


def packed(path: Path) -> Path:
    other = path.with_name(path.name + ".gz")
    other.write_bytes(gzip.compress(path.read_bytes()))
    return other


def written_as(kind: str, folder: Path, *records: dict[str, Any]) -> Path:
    """Records in a file of a kind, all with the same fields."""
    import csv as writer

    if kind == "csv":
        path = folder / "f.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            out = writer.DictWriter(stream, list(records[0]), quoting=writer.QUOTE_ALL, lineterminator="\n")
            out.writeheader()
            out.writerows(records)
        return path
    return {"jsonl": jsonl, "parquet": parquet}[kind](folder / f"f.{kind}", *records)


KINDS = ("jsonl", "csv", "parquet")


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_the_same_from_every_format_compressed_or_not(tmp_path: Path, kind: str) -> None:
    records = [ANSWER, ANSWER | {"query_id": "13", "text": 'a, "b"\n\n[7#0]'}]
    path = written_as(kind, tmp_path, *records)
    table = read_answers(path)
    schema.validate("answers", table)
    assert table["text"].to_pylist() == [record["text"] for record in records]
    assert table["status"].to_pylist() == ["ok", "ok"]
    assert read_answers(packed(path)).equals(table)
    with pytest.raises(BadInput) as caught:
        read_answers(written_as(kind, tmp_path, ANSWER, ANSWER | {"language": "xx"}))
    line = 5 if kind == "csv" else 2  # the first answer stretches over three lines
    assert caught.value.where == f"{path}:{line}"


def test_what_an_answer_ended_as_is_read_off_its_text_unless_said(tmp_path: Path) -> None:
    cases = [
        ({}, "ok"),
        ({"text": " \n"}, "empty"),
        ({"text": ""}, "empty"),
        ({"text": None}, "missing"),
        ({"status": "truncated"}, "truncated"),
        ({"text": None, "status": "api_error", "reason": "timed out"}, "api_error"),
        ({"text": "I cannot help with that.", "status": "refused"}, "refused"),
        ({"text": "", "status": "missing"}, "missing"),
        ({"text": " ", "status": "truncated"}, "truncated"),
    ]
    path = jsonl(tmp_path / "a.jsonl", *(ANSWER | {"query_id": str(i)} | change for i, (change, _) in enumerate(cases)))
    table = read_answers(path)
    schema.validate("answers", table)
    assert table["status"].to_pylist() == [status for _, status in cases]
    assert table["text"].to_pylist()[7] is None, "CSV has no other way to say that there is none"
    assert table["reason"].to_pylist()[5] == "timed out"


@pytest.mark.parametrize(*read_table("wrong_answer_rows"))
def test_pitfall_31_a_wrong_answer_is_refused_with_file_and_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps(record) for record in (ANSWER, ANSWER | {"query_id": "13"} | change)]
    path.write_text("\n".join(lines), "utf-8")
    with refuses(BadInput, message, where=f"{path}:2"):
        read_answers(path)


def test_pitfall_42_a_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(ANSWER).encode() + b"\n" + '{"text": "caf\u00e9"}'.encode("latin-1"))
    with refuses(BadInput, "not UTF-8", where=f"{path}:2"):
        read_answers(path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(40) + b"PAR1", b"nonsense"])
def test_a_damaged_parquet_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    for damaged in (path, packed(path)):
        with pytest.raises(BadInput, match="not a complete Parquet file"):
            read_answers(damaged)
    packed(path).write_bytes(b"no gzip")
    with pytest.raises(BadInput, match="not a complete Parquet file"):
        read_answers(tmp_path / "a.parquet.gz")
    with pytest.raises(BadInput, match="there is no file"):
        read_answers(tmp_path / "none.parquet")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
        lambda text: "\r" not in text and "\x00" not in text and failure(text) is None
    )
)
@settings(max_examples=40)
def test_any_answer_comes_through_every_format_character_for_character(tmp_path_factory: Any, text: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    for kind in KINDS:
        table = read_answers(written_as(kind, folder, ANSWER | {"text": text}))
        assert table["text"].to_pylist() == [text]
        assert table["status"].to_pylist() == ["ok" if text.strip() else "empty"]


# --- columns of other names, and what all records share ---------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_other_names_and_shared_values_are_taken(tmp_path: Path, kind: str) -> None:
    record = {"id": "12", "answer": ANSWER["text"], "text": "the query, not the answer"}
    path = written_as(kind, tmp_path, record, record | {"id": "13"})
    options = Options.parse(["id=query_id,answer=text"], ["language=sw", "system=mine"])
    assert Options.parse(["a,b=text"]).names == {"a,b": "text"}, "a comma of a name"
    table = read_answers(path, options)
    assert table.select(list(ANSWER)).to_pylist() == [ANSWER, ANSWER | {"query_id": "13"}]


def test_a_shared_value_fills_only_what_is_not_there(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", "language,query_id,system,text", "sw,1,,ndiyo", "sw,2,other,hapana")
    table = read_answers(path, Options(values={"system": "mine"}))
    assert table["system"].to_pylist() == ["mine", "other"]


def test_pitfall_44_a_name_that_is_no_field_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", ANSWER | {"answer": "x", "note": "y"})
    with pytest.raises(UnknownName, match=r"no field 'notes'(.|\n)*did you mean: note"):
        read_answers(path, Options.parse(["notes=reason"]))
    with pytest.raises(BadInput, match=r"--map 'answer' does not say what is what(.|\n)*answer=text"):
        Options.parse(["answer"])
    with pytest.raises(BadInput, match="--set names 'system' twice"):
        Options.parse((), ["system=a", "system=b"])


# --- into an arena, and by the commands -------------------------------------------------------------------------------


def test_pitfall_43_files_and_arenas_of_the_working_folder_need_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl(Path("a.jsonl"), ANSWER)
    mirage("import", "--as", "answers", "a.jsonl", "--into", "here")
    assert open_arena(Path("here")).rows("answers") == 1


@pytest.mark.parametrize(*read_table("absent_names"))
def test_pitfall_44_a_name_that_the_arena_lacks_refuses_the_file(
    arena: Path, tmp_path: Path, kind: str, wrong: list[dict[str, Any]], problem: str
) -> None:
    good = {"answers": ANSWER, "judgments": GOOD}[kind]
    path = jsonl(tmp_path / "new.jsonl", good, *(good | change for change in wrong))
    before = snapshot(arena)
    listed = mirage("check", path, "--arena", arena, "--format", "csv", code=2)
    assert {row["where"] for row in rows(listed)} == {f"{path}:{n}" for n in range(2, len(wrong) + 2)}
    for words in ((path,), (path, "--as", kind)):
        refused = mirage("import", *words, "--into", arena, code=2)
        assert problem in refused.stderr
        assert snapshot(arena) == before
    mirage("import", jsonl(path, good, good | {"language": ""}), "--into", arena)


def test_a_changed_answer_loses_its_verdicts_and_its_query_does_not_change(arena: Path, tmp_path: Path) -> None:
    def take(kind: str, record: dict[str, Any], code: int = 0) -> int:
        mirage("import", "--as", kind, jsonl(tmp_path / "x.jsonl", record), "--into", arena, code=code)
        return open_arena(arena).rows("judgments")

    assert take("judgments", GOOD) == take("answers", ANSWER | {"system": "two"}) == 1
    assert take("queries", QUERY | {"text": "Another?"}, code=2) == 1
    assert take("answers", ANSWER | {"system": "two", "text": "another"}) == 0


def test_check_lists_every_wrong_line_and_writes_nothing(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", ANSWER, *(ANSWER | {"query_id": str(n), "status": "odd"} for n in range(15)))
    result = mirage("check", path, "--as", "answers", "--format", "csv", code=2)
    assert [row["where"] for row in rows(result)] == [f"{path}:{n}" for n in range(2, 17)]
    assert {row["wrong"] for row in rows(result)} == {"there is no status 'odd'"}
    assert "15 records" in result.stderr
    assert "and 14 more" in mirage("import", "--as", "answers", path, "--into", tmp_path / "new", code=2).stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jsonl"]


def test_check_takes_an_arena_or_a_file_by_what_the_path_is(arena: Path, tmp_path: Path) -> None:
    assert "answers: 4 rows" in mirage("check", arena).stderr
    path = jsonl(tmp_path / "x.jsonl", ANSWER | {"note": 1, "stats": "ok", "reason": None})
    told = mirage("check", path).stderr
    assert "1 answer" in told
    assert re.findall("left out: ([^;\n]*)", told) == [
        "note (once): not a column of this format",
        "stats (once): not a column",
    ]
    assert mirage("check", arena, "--as", "answers", code=2).stderr
    assert "there is no arena" in mirage("check", tmp_path / "none", code=2).stderr
