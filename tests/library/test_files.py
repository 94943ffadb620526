"""Files of one's own: what is taken, and what is refused, whole and line by line."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from commands import mirage, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import snapshot

from mirage import schema, store
from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.io.formats import run as formats
from mirage.io.imports.own import ImportResult, UserFile, import_own
from mirage.io.sources import files
from mirage.io.sources.files import Options
from mirage.ranking.stage import JUDGED_RATINGS
from mirage.stages.features.stage import FEATURES
from mirage.stages.stage import run
from mirage.text.names import normalise_name

GOOD = {"language": "sw", "query_id": "12", "judge": "j", "system_a": "one", "system_b": "two", "verdict": "A"}


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def known() -> Any:
    rows = [("sw", "12", "one"), ("sw", "12", "two"), ("sw", "13", "one"), ("en", "7", "three"), ("en", "7", "one")]
    return schema.from_columns(
        "answers",
        {
            "language": [row[0] for row in rows],
            "query_id": [row[1] for row in rows],
            "system": [row[2] for row in rows],
            "status": ["ok"] * len(rows),
        },
    )


def test_json_lines_and_csv_compressed_or_not_give_the_same_table(tmp_path: Path) -> None:
    second = GOOD | {"system_a": "two", "system_b": "one", "verdict": "tie", "rationale": "alike, both", "extra": 1}
    lines = jsonl(tmp_path / "j.jsonl", GOOD, second)
    commas = csv(
        tmp_path / "j.csv",
        "\ufeffjudge,language,query_id,system_a,system_b,verdict,rationale,more",
        "j,sw,12,one,two,A,,x",
        'j,sw,12,two,one,tie,"alike, both",y',
    )
    expected = files.read_judgments(lines)
    schema.validate("judgments", expected)
    assert expected["verdict"].to_pylist() == ["A", "tie"]
    assert expected["rationale"].to_pylist() == [None, "alike, both"]
    assert files.read_judgments(commas).equals(expected)
    for path in (lines, commas):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert files.read_judgments(packed).equals(expected)


def test_an_id_that_a_program_wrote_as_a_number_is_its_digits(tmp_path: Path) -> None:
    table = files.read_judgments(jsonl(tmp_path / "j.jsonl", GOOD | {"query_id": 12}))
    assert table["query_id"].to_pylist() == ["12"]


def test_both_orders_of_a_pair_are_two_judgments(tmp_path: Path) -> None:
    other = GOOD | {"system_a": "two", "system_b": "one", "verdict": "B"}
    assert len(files.read_judgments(jsonl(tmp_path / "j.jsonl", GOOD, other))) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"language": "xx"}, "there is no language 'xx'"),
        ({"language": "Swahily"}, "there is no language 'Swahily'"),
        ({"verdict": "Tie"}, r"there is no verdict 'Tie'(.|\n)*did you mean: tie"),
        ({"verdict": "[[A]]"}, "there is no verdict"),
        ({"verdict": None}, "neither a verdict nor points"),
        ({"query_id": 1.5}, "query_id is 1.5, not a text"),
        ({"query_id": True}, "query_id is True, not a text"),
        ({"judge": ""}, "judge is '', not a text"),
        ({"system_b": "one"}, "one is compared with itself"),
        ({"rationale": 3}, "rationale is 3, not a text"),
    ],
)
def test_a_wrong_value_is_refused_with_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = jsonl(tmp_path / "j.jsonl", GOOD, GOOD | {"query_id": "13"} | change)
    with pytest.raises(BadInput, match=message) as caught:
        files.read_judgments(path)
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize("field", files.required_columns("judgments"))
def test_a_missing_field_is_named_with_file_and_line(tmp_path: Path, field: str) -> None:
    less = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(BadInput, match=f"{field} is missing") as caught:
        files.read_judgments(jsonl(tmp_path / "j.jsonl", less))
    assert caught.value.where.endswith("j.jsonl:1")
    with pytest.raises(BadInput, match=f"{field} is missing") as caught:
        files.read_judgments(csv(tmp_path / "j.csv", ",".join(less), ",".join(less.values())))
    assert caught.value.where.endswith("j.csv:2")


def test_a_key_that_occurs_twice_names_both_lines(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "j.jsonl", GOOD, GOOD | {"query_id": "13"}, GOOD | {"verdict": "B"})
    with pytest.raises(BadInput, match=rf"this repeats {path}:1: sw, 12, j, one, two") as caught:
        files.read_judgments(path)
    assert caught.value.where == f"{path}:3"


def test_all_wrong_lines_are_listed_up_to_ten_and_none_is_taken(tmp_path: Path) -> None:
    records = [GOOD | {"query_id": str(i), "verdict": f"C{i}"} for i in range(15)]
    path = jsonl(tmp_path / "j.jsonl", GOOD, *records)
    with pytest.raises(BadInput, match="15 of 16 records cannot be taken") as caught:
        files.read_judgments(path)
    lines = caught.value.where.splitlines()
    assert [f"{path}:{i}: there is no verdict" in line for i, line in enumerate(lines[:10], start=2)] == [True] * 10
    assert lines[10].strip() == "... and 5 more; mirage check lists them all"


def test_equal_errors_are_told_once_with_the_option_that_helps(tmp_path: Path, shared: Path) -> None:
    path = jsonl(tmp_path / "j.jsonl", *({k: v for k, v in GOOD.items() if k != "language"} for _ in range(3)))
    for file, read, option in (
        (path, files.read_judgments, "--set language="),
        (shared / "field" / "no-system.json", formats.read, "--set system="),
    ):
        with pytest.raises(BadInput, match="3 of 3 records") as caught:
            read(file)
        assert len(caught.value.where.splitlines()) == 1
        assert caught.value.do.count(option) == 1
    assert "--set system=" in mirage("check", shared / "field" / "no-system.json", code=2).stdout
    assert "no errors" in mirage("check", shared / "field" / "no-system.json", "--set", "system=s").stderr


def test_a_named_import_takes_what_a_recognised_one_takes(tmp_path: Path, shared: Path) -> None:
    """The language of a verdict is that of its query, where the arena has one query of that id."""
    folder = shared / "field" / "judgments-explicit"
    for words in (("import", "judgments"), ("import",)):
        into = tmp_path / words[-1]
        mirage("import", folder / "queries.jsonl", "--into", into)
        mirage(*words, folder / "verdicts.jsonl", "--into", into)
        assert store.open_arena(into).read("judgments")["language"].to_pylist() == ["sw"]
    into = tmp_path / "other"
    mirage("import", folder / "queries.jsonl", "--into", into)
    mirage("import", "judgments", jsonl(tmp_path / "o.jsonl", GOOD | {"query_id": "no"}), "--into", into, code=2)


@pytest.mark.parametrize(
    ("lines", "message", "line"),
    [
        (['{"language": "sw"', ""], "not JSON", 1),
        ([json.dumps(GOOD), "[]"], "a JSON list, not an object", 2),
        ([json.dumps(GOOD), "", "nonsense"], "not JSON", 3),
    ],
)
def test_a_line_that_is_no_record_is_refused(tmp_path: Path, lines: list[str], message: str, line: int) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        files.read_judgments(csv(tmp_path / "j.jsonl", *lines))
    assert caught.value.where == f"{tmp_path / 'j.jsonl'}:{line}"


HEAD = ",".join(GOOD)


@pytest.mark.parametrize(
    ("lines", "message", "line"),
    [
        ([HEAD, "sw,1,j,one,two"], "5 fields, but the header has 6", 2),
        ([HEAD, "", 'sw,"1\n2",j,one,two,A', "sw,1,j,one,two,A,A"], "7 fields, but the header has 6", 5),
        ([HEAD, 'sw,1,j,one,two,"A'], "not CSV", 2),
        ([HEAD + ",judge", ""], "the header names 'judge' twice", 1),
    ],
)
def test_a_row_that_is_no_csv_is_refused(tmp_path: Path, lines: list[str], message: str, line: int) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        files.read_judgments(csv(tmp_path / "j.csv", *lines))
    assert caught.value.where == f"{tmp_path / 'j.csv'}:{line}"


def test_a_wrong_line_before_a_broken_one_is_told_too(tmp_path: Path) -> None:
    path = csv(tmp_path / "j.csv", HEAD, "xx,1,j,one,two,A", "sw,1,j")
    with pytest.raises(BadInput, match="2 of 2 records") as caught:
        files.read_judgments(path)
    assert "no language 'xx'" in caught.value.where
    assert "3 fields" in caught.value.where


def test_a_file_of_another_kind_an_empty_one_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is neither JSON"):
        files.read_judgments(csv(tmp_path / "j.txt", HEAD))
    with pytest.raises(BadInput, match="holds no judgment"):
        files.read_judgments(csv(tmp_path / "j.csv", HEAD))
    with pytest.raises(BadInput, match="has no header"):
        files.read_judgments(csv(tmp_path / "e.csv", ""))
    with pytest.raises(BadInput, match="there is no file"):
        files.read_judgments(tmp_path / "none.jsonl")


def test_pitfall_44_a_name_the_arena_does_not_know_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    assert len(files.read_judgments(jsonl(path, GOOD), known=known())) == 1
    with pytest.raises(BadInput, match=r"no system in sw 'twoo'(.|\n)*did you mean: two") as caught:
        files.read_judgments(jsonl(path, GOOD | {"system_b": "twoo"}), known=known())
    assert caught.value.where == f"{path}:1"
    with pytest.raises(BadInput, match="no system in sw 'three'"):
        files.read_judgments(jsonl(path, GOOD | {"system_b": "three"}), known=known())
    with pytest.raises(BadInput, match="the arena has no query '99' in sw"):
        files.read_judgments(jsonl(path, GOOD | {"query_id": "99"}), known=known())
    with pytest.raises(BadInput, match="no system in fi 'one'"):
        files.read_judgments(jsonl(path, GOOD | {"language": "fi"}), known=known())


@given(
    st.text(min_size=1).filter(lambda text: text.strip() and "\x00" not in text),
    st.sampled_from(("A", "B", "tie", "unparsed")),
)
@settings(deadline=None, max_examples=60)
def test_any_text_is_an_id_and_a_reason_in_either_format(tmp_path_factory: Any, text: str, verdict: str) -> None:
    import csv as writer

    folder = tmp_path_factory.mktemp("any")
    record = GOOD | {"query_id": text, "rationale": text, "verdict": verdict}
    lines = files.read_judgments(jsonl(folder / "j.jsonl", record))
    with (folder / "j.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = writer.DictWriter(stream, record, quoting=writer.QUOTE_ALL, lineterminator="\n")
        rows.writeheader()
        rows.writerow(record)
    assert lines["query_id"].to_pylist() == [normalise_name(text)]
    if "\r" not in text:  # a CSV reader may take a bare carriage return for the end of a line
        assert files.read_judgments(folder / "j.csv").equals(lines)


# --- files that nobody wrote to be read -------------------------------------------------------------------------------

BRACES = "{" * 200_000
DIGITS = '{"question": "q", "answer": "a", "model": "m", "id": ' + "1" * 5_000 + "}"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("wide.csv", ",".join(f"c{k}" for k in range(100_000)) + "\n"),
        ("twice.csv", ",".join(["c"] * 100_000) + "\n"),
        ("wide.jsonl", json.dumps(dict.fromkeys(map(str, range(20_000)), 1)) + "\n"),
        ("digits.json", f"[{DIGITS}]"),
        ("digits.jsonl", DIGITS + "\n"),
        ("braces.json", BRACES),
        ("braces.jsonl", BRACES + "\n"),
        ("topics.txt", BRACES + "\n"),
        ("run.trec", BRACES + "\n"),
        ("brackets.json", "[" * 200_000),
    ],
)
def test_a_record_that_no_program_can_hold_is_refused(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    for read in (formats.read, files.read_answers, files.read_queries):
        with pytest.raises(BadInput):
            read(path)
    with pytest.raises(BadInput):
        formats.read(path, name="trec")


@pytest.mark.parametrize("name", ["bomb.jsonl.gz", "bomb.json.gz", "bomb.csv.gz", "topics.tsv.gz"])
@pytest.mark.parametrize("start", ["a", '[{"a": "', '{"a": "', ""])
def test_a_line_has_a_bound_in_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, start: str) -> None:
    """A gzip of a megabyte may hold a line of a gigabyte."""
    for module in ("mirage.store.files", "mirage.store.records"):
        monkeypatch.setattr(sys.modules[module], "LONGEST_OF_OWN", 1_000_000)
    path = tmp_path / name
    path.write_bytes(gzip.compress((start + " x" * 4_000_000).encode()))
    with pytest.raises(BadInput):
        formats.read(path)
    with pytest.raises(BadInput):
        files.read_answers(path)


# --- answers ----------------------------------------------------------------------------------------------------------

ANSWER = {"language": "sw", "query_id": "12", "system": "mine", "text": "##Reason: kwa sababu [7#0]\n\n##Answer: ndiyo"}


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
    table = files.read_answers(path)
    schema.validate("answers", table)
    assert table["text"].to_pylist() == [record["text"] for record in records]
    assert table["status"].to_pylist() == ["ok", "ok"]
    assert files.read_answers(packed(path)).equals(table)
    with pytest.raises(BadInput) as caught:
        files.read_answers(written_as(kind, tmp_path, ANSWER, ANSWER | {"language": "xx"}))
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
    ]
    path = jsonl(tmp_path / "a.jsonl", *(ANSWER | {"query_id": str(i)} | change for i, (change, _) in enumerate(cases)))
    table = files.read_answers(path)
    schema.validate("answers", table)
    assert table["status"].to_pylist() == [status for _, status in cases]
    assert table["text"].to_pylist()[7] is None, "CSV has no other way to say that there is none"
    assert table["reason"].to_pylist()[5] == "timed out"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "empty"}, "status is empty, but there is a text"),
        ({"text": None, "status": "ok"}, "status is ok, but there is no text"),
        ({"text": " ", "status": "ok"}, "status is ok, but there is an empty text"),
        ({"status": "fine"}, "there is no status 'fine'"),
        ({"text": 42}, "text is 42, not a text"),
        ({"text": "\ud800"}, "text has a lone surrogate"),
        ({"system": ""}, "system is '', not a text"),
        ({"system": None}, "system is None, not a text"),
    ],
)
def test_pitfall_31_a_wrong_answer_is_refused_with_file_and_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps(record) for record in (ANSWER, ANSWER | {"query_id": "13"} | change)]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BadInput, match=message) as caught:
        files.read_answers(path)
    assert caught.value.where == f"{path}:2"


def test_a_call_of_another_ledger_leads_nowhere_and_is_not_taken(tmp_path: Path) -> None:
    assert files.read_answers(jsonl(tmp_path / "a.jsonl", ANSWER | {"call": "0" * 64}))["call"].to_pylist() == [None]


def test_pitfall_42_a_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(ANSWER).encode() + b"\n" + '{"text": "caf\u00e9"}'.encode("latin-1"))
    with pytest.raises(BadInput, match="not UTF-8") as caught:
        files.read_answers(path)
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(40) + b"PAR1", b"nonsense"])
def test_a_damaged_parquet_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    for damaged in (path, packed(path)):
        with pytest.raises(BadInput, match="not a complete Parquet file"):
            files.read_answers(damaged)
    packed(path).write_bytes(b"no gzip")
    with pytest.raises(BadInput, match="not a complete Parquet file"):
        files.read_answers(tmp_path / "a.parquet.gz")
    with pytest.raises(BadInput, match="there is no file"):
        files.read_answers(tmp_path / "none.parquet")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
        lambda text: "\r" not in text and "\x00" not in text
    )
)
@settings(deadline=None, max_examples=40)
def test_any_answer_comes_through_every_format_character_for_character(tmp_path_factory: Any, text: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    for kind in KINDS:
        table = files.read_answers(written_as(kind, folder, ANSWER | {"text": text}))
        assert table["text"].to_pylist() == [text]
        assert table["status"].to_pylist() == ["ok" if text.strip() else "empty"]


# --- columns of other names, and what all records share ---------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_other_names_and_shared_values_are_taken(tmp_path: Path, kind: str) -> None:
    record = {"id": "12", "answer": ANSWER["text"], "text": "the query, not the answer"}
    path = written_as(kind, tmp_path, record, record | {"id": "13"})
    options = Options.parse(["id=query_id", "answer=text"], ["language=sw", "system=mine"])
    table = files.read_answers(path, options=options)
    assert table.select(list(ANSWER)).to_pylist() == [ANSWER, ANSWER | {"query_id": "13"}]


def test_a_shared_value_fills_only_what_is_not_there(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", "language,query_id,system,text", "sw,1,,ndiyo", "sw,2,other,hapana")
    table = files.read_answers(path, options=Options(values={"system": "mine"}))
    assert table["system"].to_pylist() == ["mine", "other"]


def test_pitfall_44_a_name_that_is_no_column_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", ANSWER | {"answer": "x", "note": "y"})

    def take(names: list[str], values: list[str] | None = None) -> None:
        files.read_answers(path, options=Options.parse(names, values or []))

    with pytest.raises(UnknownName, match=r"no answers column 'txt'(.|\n)*did you mean: text"):
        take(["answer=txt"])
    with pytest.raises(UnknownName, match=r"no answers column 'sytem'(.|\n)*did you mean: system"):
        take([], ["sytem=mine"])
    with pytest.raises(UnknownName, match=r"no column 'notes'(.|\n)*did you mean: note") as caught:
        take(["notes=reason"])
    assert caught.value.where == str(path)
    with pytest.raises(UnknownName, match="no passages column 'text'"):
        take(["passages.body=text"])
    with pytest.raises(BadInput, match="both answer and note are to be text"):
        take(["answer=text", "note=text"])
    with pytest.raises(BadInput, match=r"--map 'answer' does not say what is what(.|\n)*answer=text"):
        take(["answer"])
    with pytest.raises(BadInput, match="--set names 'system' twice"):
        take([], ["system=a", "system=b"])


# --- queries with their passages ------------------------------------------------------------------------------------

SHOWN = [
    {"passage_id": "7#0", "title": "Ziwa", "text": "Ziwa ni kubwa. [9#1] Question: Contexts:", "relevant": True},
    {"passage_id": "9#1", "title": None, "text": "Mto ni mrefu.", "relevant": False},
]
QUERY = {"language": "sw", "query_id": "12", "text": "Ziwa ni kubwa kiasi gani?"}


def passages(tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
    return tables["passages"].select(["query_id", "passage_id", "position", "title", "text", "relevant"]).to_pylist()


def test_passages_in_the_record_and_in_a_file_of_their_own_are_the_same(tmp_path: Path) -> None:
    second = QUERY | {"query_id": "13"}
    tables = files.read_queries(
        jsonl(tmp_path / "q.jsonl", QUERY | {"passages": SHOWN}, second | {"passages": SHOWN[:1]})
    )
    for name, table in tables.items():
        schema.validate(name, table)
    assert [passage["position"] for passage in passages(tables)] == [1, 2, 1]
    assert passages(tables)[0] == SHOWN[0] | {"query_id": "12", "position": 1}
    flat = [
        {"language": "sw", "query_id": query_id, **passage}
        for query_id, group in (("12", SHOWN), ("13", SHOWN[:1]))
        for passage in group
    ]
    flat = [flat[0], flat[2], flat[1]]  # the passages of a query need not stand together
    for kind in KINDS:
        path = written_as(kind, tmp_path, *flat)
        other_tables = files.read_queries(jsonl(tmp_path / "bare.jsonl", QUERY, second), passages=path)
        assert schema.sort("passages", other_tables["passages"]).equals(schema.sort("passages", tables["passages"])), (
            kind
        )
        assert other_tables["queries"].equals(tables["queries"])
    nested = parquet(tmp_path / "q.parquet", QUERY | {"passages": SHOWN}, second | {"passages": SHOWN[:1]})
    assert files.read_queries(nested)["passages"].equals(tables["passages"])


def test_a_query_may_have_twelve_passages_or_none(tmp_path: Path) -> None:
    twelve = [SHOWN[0] | {"passage_id": f"7#{i}"} for i in range(12)]
    tables = files.read_queries(
        jsonl(
            tmp_path / "q.jsonl",
            QUERY | {"passages": twelve},
            QUERY | {"query_id": "13", "passages": []},
            QUERY | {"query_id": "14"},
        )
    )
    assert [(passage["query_id"], passage["position"]) for passage in passages(tables)] == [
        ("12", i) for i in range(1, 13)
    ]
    assert list(files.read_queries(jsonl(tmp_path / "n.jsonl", QUERY))) == ["queries"]


def test_pitfall_30_passages_stay_with_their_query_and_one_without_a_query_is_named(tmp_path: Path) -> None:
    query_file = jsonl(tmp_path / "q.jsonl", QUERY | {"passages": SHOWN}, QUERY | {"query_id": "13", "passages": []})
    assert {passage["query_id"] for passage in passages(files.read_queries(query_file))} == {"12"}
    passage_file = jsonl(
        tmp_path / "p.jsonl", *({"language": "sw", "query_id": query_id} | SHOWN[0] for query_id in ("12", "14"))
    )
    with pytest.raises(BadInput, match="no query '14' in sw for this passage") as caught:
        files.read_queries(jsonl(tmp_path / "bare.jsonl", QUERY), passages=passage_file)
    assert caught.value.where == f"{passage_file}:2"


def test_columns_of_passages_may_have_other_names(tmp_path: Path) -> None:
    documents = [
        {"docid": passage["passage_id"], "body": passage["text"], "label": int(passage["relevant"])}
        for passage in SHOWN
    ]
    path = jsonl(tmp_path / "q.jsonl", {"qid": 12, "question": QUERY["text"], "docs": documents})
    names = ["qid=query_id", "question=text", "docs=passages", "passages.docid=passage_id"]
    names += ["passages.body=passages.text", "passages.label=relevant"]
    tables = files.read_queries(path, options=Options.parse(names, ["language=sw"]))
    assert tables["queries"].select(list(QUERY)).to_pylist() == [QUERY]
    assert [(passage["passage_id"], passage["text"], passage["relevant"]) for passage in passages(tables)] == [
        (passage["passage_id"], passage["text"], passage["relevant"]) for passage in SHOWN
    ]
    passage_file = jsonl(tmp_path / "p.jsonl", *({"query_id": "12"} | document for document in documents))
    bare = jsonl(tmp_path / "b.jsonl", {"qid": 12, "question": QUERY["text"]})
    options = Options.parse([n for n in names if n != "docs=passages"], ["language=sw"])
    assert passages(files.read_queries(bare, passages=passage_file, options=options)) == passages(tables)
    with pytest.raises(UnknownName, match=r"no passages column 'boddy'(.|\n)*did you mean: body"):
        files.read_queries(path, options=Options.parse([*names, "passages.boddy=title"], ["language=sw"]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, "text is missing: give the query"),
        ({"text": ""}, "text is missing: give the query"),
        ({"reason": "lost"}, "there is a text, and a reason why there is none"),
        ({"subset": "both"}, "there is no subset 'both'"),
        ({"passages": "[]"}, "passages is no list(.|\n)*--passages FILE"),
        ({"passages": ["7#0"]}, "passage 1: it is '7#0', not an object"),
        ({"passages": [*SHOWN, {"text": "x"}]}, "passage 3: passage_id is missing"),
        ({"passages": [SHOWN[0], SHOWN[0]]}, "two passages have the passage_id 7#0"),
        ({"passages": [SHOWN[0] | {"position": 2}, SHOWN[1]]}, "two passages have the position 2"),
        ({"passages": [SHOWN[0] | {"position": 0}]}, "passage 1: position is 0, not a whole number from 1"),
        (
            {"passages": [SHOWN[0] | {"relevant": "perhaps"}]},
            "passage 1: relevant is 'perhaps', neither true",
        ),
        ({"subset": "non_relevant", "passages": SHOWN}, "is non_relevant, but a passage is labelled relevant"),
        ({"subset": "relevant", "passages": SHOWN[1:]}, "is relevant, but every passage is labelled as not"),
    ],
)
def test_a_wrong_query_is_refused_with_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = jsonl(tmp_path / "q.jsonl", QUERY, QUERY | {"query_id": "13"} | change)
    with pytest.raises(BadInput, match=message) as caught:
        files.read_queries(path)
    assert caught.value.where == f"{path}:2"


def test_passages_apart_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    bare = jsonl(tmp_path / "b.jsonl", QUERY | {"subset": "non_relevant"})
    flat = [{"language": "sw", "query_id": "12"} | passage for passage in SHOWN]
    for records, message in (
        (flat, "query 12 in sw: the subset is non_relevant, but a passage is labelled relevant"),
        ([flat[1], flat[1]], "this repeats"),
        (
            [flat[1] | {"position": 3}, flat[1] | {"passage_id": "x", "position": 3}],
            "query 12 in sw: two passages have",
        ),
    ):
        with pytest.raises(BadInput, match=message) as caught:
            files.read_queries(bare, passages=jsonl(tmp_path / "p.jsonl", *records))
        assert caught.value.where == f"{tmp_path / 'p.jsonl'}:2"
    path = jsonl(tmp_path / "q.jsonl", QUERY | {"passages": SHOWN})
    with pytest.raises(BadInput, match=r"there are passages here and in p\.jsonl"):
        files.read_queries(path, passages=tmp_path / "p.jsonl")


def test_a_query_without_a_text_says_why(tmp_path: Path) -> None:
    table = files.read_queries(jsonl(tmp_path / "q.jsonl", QUERY | {"text": None, "reason": "not public"}))["queries"]
    schema.validate("queries", table)
    assert table["reason"].to_pylist() == ["not public"]


# --- into an arena, and by the commands -------------------------------------------------------------------------------


def bring(folder: Path, kind: Any, *records: dict[str, Any], into: Path) -> ImportResult:
    return import_own(UserFile(kind, jsonl(folder / f"{kind}.jsonl", *records)), into)


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Two queries, answers of two systems, one verdict in both orders."""
    folder = tmp_path / "arena"
    two = [QUERY | {"passages": SHOWN}, QUERY | {"query_id": "13", "passages": SHOWN}]
    bring(tmp_path, "queries", *two, into=folder)
    answers = [
        ANSWER | {"query_id": query_id, "system": system} for query_id in ("12", "13") for system in ("one", "two")
    ]
    bring(tmp_path, "answers", *answers, into=folder)
    verdicts = [
        GOOD | {"query_id": query_id, "system_a": first, "system_b": second}
        for query_id in ("12", "13")
        for first, second in (("one", "two"), ("two", "one"))
    ]
    bring(tmp_path, "judgments", *verdicts, into=folder)
    return folder


def test_all_three_make_an_arena_that_holds_and_can_be_measured(arena: Path) -> None:
    assert store.check(store.open_arena(arena))
    run(FEATURES, arena, made_by="a test")
    features = store.open_arena(arena).read("features")
    score = features.filter(pc.equal(features["feature"], "citation_MAP@10"))["value"].to_pylist()
    assert score == [1.0] * 4


def test_what_is_there_is_replaced_and_the_rest_stays(arena: Path, tmp_path: Path) -> None:
    added = bring(tmp_path, "answers", ANSWER | {"system": "two"}, ANSWER | {"system": "new"}, into=arena)
    assert (added.rows, added.replaced, added.dropped) == (2, 1, 0)
    assert added.arena.rows("answers") == 5
    assert added.arena.rows("judgments") == 4, "the answers that were judged have not changed"


def test_a_verdict_goes_with_the_text_that_it_was_on(arena: Path, tmp_path: Path) -> None:
    added = bring(tmp_path, "answers", ANSWER | {"system": "two", "text": "another"}, into=arena)
    assert (added.replaced, added.dropped) == (1, 2)
    assert added.arena.read("judgments")["query_id"].to_pylist() == ["13", "13"]
    added = bring(tmp_path, "answers", ANSWER | {"query_id": "13", "system": "one", "text": None}, into=arena)
    assert added.dropped == 2
    assert added.arena.rows("judgments") == 0


def test_what_was_measured_on_other_answers_stays_and_keeps_its_origin(arena: Path, tmp_path: Path) -> None:
    run(FEATURES, arena, made_by="a test", notes=["a note"])
    run(JUDGED_RATINGS, arena, made_by="a test", part="referee", judge="j")
    before = store.open_arena(arena)
    added = bring(tmp_path, "answers", ANSWER | {"system": "new"}, into=arena)
    assert added.arena.tables == before.tables
    assert added.arena.rows("features") == before.rows("features")
    added = bring(tmp_path, "answers", ANSWER | {"system": "two", "text": "another"}, into=arena)
    left = added.arena.read("features")
    assert {(row["query_id"], row["system"]) for row in left.to_pylist()} == {
        ("12", "one"),
        ("13", "one"),
        ("13", "two"),
    }
    assert added.arena.manifest["made"]["features"] == before.manifest["made"]["features"]
    assert "ratings" not in added.arena.tables, "made from verdicts that went"


def test_queries_with_answers_are_not_changed_and_others_are(arena: Path, tmp_path: Path) -> None:
    before = snapshot(arena)
    for changed in (QUERY | {"text": "Mto?"}, QUERY | {"passages": SHOWN[:1]}):
        with pytest.raises(ArenaError, match=r"queries would change(.|\n)*query_id='12'"):
            bring(tmp_path, "queries", changed, into=arena)
    assert snapshot(arena) == before
    assert bring(tmp_path, "queries", QUERY | {"passages": SHOWN}, into=arena).replaced == 1, (
        "the same again is no change"
    )
    new = QUERY | {"query_id": "14", "passages": SHOWN}
    assert bring(tmp_path, "queries", new, into=arena).arena.rows("queries") == 3
    added = bring(tmp_path, "queries", new | {"passages": SHOWN[:1]}, into=arena)
    assert (added.replaced, added.arena.rows("passages")) == (1, 5), "its passages are replaced with it"


def test_pitfall_44_an_answer_to_a_query_that_the_arena_lacks_is_refused(arena: Path, tmp_path: Path) -> None:
    before = snapshot(arena)
    with pytest.raises(BadInput, match="the arena has no query '99' in sw"):
        bring(tmp_path, "answers", ANSWER | {"query_id": "99"}, into=arena)
    assert snapshot(arena) == before


def test_pitfall_43_files_and_arenas_of_the_working_folder_need_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl(Path("a.jsonl"), ANSWER)
    mirage("import", "answers", "a.jsonl", "--into", "here")
    assert store.open_arena(Path("here")).rows("answers") == 1


def test_check_lists_every_wrong_line_and_writes_nothing(tmp_path: Path) -> None:
    records = [ANSWER | {"query_id": str(i), "status": "odd"} for i in range(15)]
    path = jsonl(tmp_path / "a.jsonl", ANSWER, *records)
    before = sorted(tmp_path.rglob("*"))
    result = mirage("check", path, "--as", "answers", "--format", "csv", code=2)
    assert [row["where"] for row in rows(result)] == [f"{path}:{i}" for i in range(2, 17)]
    assert {row["wrong"] for row in rows(result)} == {"there is no status 'odd'"}
    assert "15 invalid lines" in result.stderr
    assert sorted(tmp_path.rglob("*")) == before
    message = mirage("import", "answers", path, "--into", tmp_path / "new", code=2).stderr
    assert "and 14 more" in message
    assert not (tmp_path / "new").exists()


def test_check_says_what_a_sound_file_holds_and_what_is_ignored(arena: Path, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "x.jsonl", ANSWER | {"txt": 1})
    message = mirage("check", path, "--as", "answers").stderr
    assert "1 answers, 1 systems, 1 languages; no errors" in message
    assert "ignored columns, not part of answers: txt" in message
    assert "no query '12' in sw" not in mirage("check", path, "--as", "answers", "--into", arena).stderr
    other = jsonl(tmp_path / "y.jsonl", ANSWER | {"query_id": "99"})
    assert "no query '99' in sw" in mirage("check", other, "--as", "answers", "--into", arena, code=2).stdout


def test_a_files_hash_is_that_of_its_bytes_and_holds_none_of_them(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(range(256)) * 100_000)
    tracemalloc.start()
    try:
        digest = store.fingerprint(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert peak < path.stat().st_size / 10
    with pytest.raises(BadInput):
        store.fingerprint(tmp_path / "absent")


def test_check_takes_an_arena_or_a_file_by_what_the_path_is(arena: Path, tmp_path: Path) -> None:
    assert "answers: 4 rows" in mirage("check", arena).stderr
    path = jsonl(tmp_path / "x.jsonl", ANSWER)
    assert "1 answers" in mirage("check", path).stderr
    assert "is a folder" in mirage("check", arena, "--as", "answers", code=2).stderr
    assert "there is no arena" in mirage("check", tmp_path / "none", code=2).stderr


def test_the_commands_take_names_values_and_passages(tmp_path: Path) -> None:
    queries = jsonl(tmp_path / "q.jsonl", {"id": 12, "text": "Ziwa?"})
    passage_file = csv(tmp_path / "p.csv", "query_id,passage_id,body", "12,7#0,Ziwa ni kubwa.")
    folder = tmp_path / "a"
    options = ("--map", "id=query_id", "--set", "language=sw")
    command = (queries, "--passages", passage_file, *options, "--map", "passages.body=text")
    assert "1 queries, 1 passages, 1 languages" in mirage("check", *command, "--as", "queries").stderr
    mirage("import", "queries", *command, "--into", folder)
    answers = jsonl(tmp_path / "a.jsonl", {"id": 12, "answer": "ndiyo [7#0]"})
    command = (answers, *options, "--map", "answer=text", "--set", "system=mine")
    assert "1 answers read, 0 replacing" in mirage("import", "answers", *command, "--into", folder).stderr
    opened = store.open_arena(folder)
    assert opened.read("passages")["text"].to_pylist() == ["Ziwa ni kubwa."]
    assert opened.read("answers")["system"].to_pylist() == ["mine"]
    path = jsonl(tmp_path / "w.jsonl", GOOD | {"system_a": "other"})
    assert "there is no system in sw 'other'" in mirage("import", "judgments", path, "--into", folder, code=2).stderr
