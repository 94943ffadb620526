"""Judgments of one's own: what is taken, and what is refused, whole and line by line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirage import schema
from mirage.errors import BadInput
from mirage.sources import files

GOOD = {"language": "sw", "query_id": "12", "judge": "j", "system_a": "one", "system_b": "two", "verdict": "A"}


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return path


def csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def known() -> Any:
    rows = [("sw", "12", "one"), ("sw", "12", "two"), ("sw", "13", "one"), ("en", "7", "three"), ("en", "7", "one")]
    return schema.from_columns(
        "answers",
        {
            "language": [r[0] for r in rows],
            "query_id": [r[1] for r in rows],
            "system": [r[2] for r in rows],
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
    expected = files.judgments(lines)
    schema.validate("judgments", expected)
    assert expected["verdict"].to_pylist() == ["A", "tie"]
    assert expected["rationale"].to_pylist() == [None, "alike, both"]
    assert files.judgments(commas).equals(expected)
    for path in (lines, commas):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert files.judgments(packed).equals(expected)


def test_an_id_that_a_program_wrote_as_a_number_is_its_digits(tmp_path: Path) -> None:
    table = files.judgments(jsonl(tmp_path / "j.jsonl", GOOD | {"query_id": 12}))
    assert table["query_id"].to_pylist() == ["12"]


def test_both_orders_of_a_pair_are_two_judgments(tmp_path: Path) -> None:
    other = GOOD | {"system_a": "two", "system_b": "one", "verdict": "B"}
    assert len(files.judgments(jsonl(tmp_path / "j.jsonl", GOOD, other))) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"language": "xx"}, "there is no language 'xx'"),
        ({"language": "Swahili"}, "there is no language 'Swahili'"),
        ({"verdict": "Tie"}, r"there is no verdict 'Tie'(.|\n)*did you mean: tie"),
        ({"verdict": "[[A]]"}, "there is no verdict"),
        ({"verdict": None}, "verdict is None, not a text"),
        ({"query_id": 1.5}, "query_id is 1.5, not a text"),
        ({"query_id": True}, "query_id is True, not a text"),
        ({"judge": ""}, "judge is '', not a text"),
        ({"system_b": "one"}, "one is compared with itself"),
        ({"rationale": 3}, "rationale is 3, not a text"),
    ],
)
def test_a_wrong_value_is_refused_with_file_and_line(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = jsonl(tmp_path / "j.jsonl", GOOD, GOOD | {"query_id": "13"} | change)
    with pytest.raises(BadInput, match=said) as caught:
        files.judgments(path)
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize("field", files.needed("judgments"))
def test_a_missing_field_is_named_with_file_and_line(tmp_path: Path, field: str) -> None:
    less = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(BadInput, match=f"{field} is missing") as caught:
        files.judgments(jsonl(tmp_path / "j.jsonl", less))
    assert caught.value.where.endswith("j.jsonl:1")
    with pytest.raises(BadInput, match=f"{field} is missing") as caught:
        files.judgments(csv(tmp_path / "j.csv", ",".join(less), ",".join(less.values())))
    assert caught.value.where.endswith("j.csv:2")


def test_a_key_that_occurs_twice_names_both_lines(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "j.jsonl", GOOD, GOOD | {"query_id": "13"}, GOOD | {"verdict": "B"})
    with pytest.raises(BadInput, match=rf"this repeats {path}:1: sw, 12, j, one, two") as caught:
        files.judgments(path)
    assert caught.value.where == f"{path}:3"


def test_all_wrong_lines_are_listed_up_to_ten_and_none_is_taken(tmp_path: Path) -> None:
    wrong = [GOOD | {"query_id": str(i), "verdict": "C"} for i in range(15)]
    path = jsonl(tmp_path / "j.jsonl", GOOD, *wrong)
    with pytest.raises(BadInput, match="15 of 16 records cannot be taken") as caught:
        files.judgments(path)
    listed = caught.value.where.splitlines()
    assert [f"{path}:{i}: there is no verdict" in line for i, line in enumerate(listed[:10], start=2)] == [True] * 10
    assert listed[10].strip() == "... and 5 more; mirage check lists them all"


@pytest.mark.parametrize(
    ("lines", "said", "line"),
    [
        (['{"language": "sw"', ""], "not JSON", 1),
        ([json.dumps(GOOD), "[]"], "a JSON list, not an object", 2),
        ([json.dumps(GOOD), "", "nonsense"], "not JSON", 3),
    ],
)
def test_a_line_that_is_no_record_is_refused(tmp_path: Path, lines: list[str], said: str, line: int) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        files.judgments(csv(tmp_path / "j.jsonl", *lines))
    assert caught.value.where == f"{tmp_path / 'j.jsonl'}:{line}"


HEAD = ",".join(GOOD)


@pytest.mark.parametrize(
    ("lines", "said", "line"),
    [
        ([HEAD, "sw,1,j,one,two"], "5 fields, the header 6", 2),
        ([HEAD, "", 'sw,"1\n2",j,one,two,A', "sw,1,j,one,two,A,A"], "7 fields, the header 6", 5),
        ([HEAD, 'sw,1,j,one,two,"A'], "not CSV", 2),
        ([HEAD + ",judge", ""], "the header names 'judge' twice", 1),
    ],
)
def test_a_row_that_is_no_csv_is_refused(tmp_path: Path, lines: list[str], said: str, line: int) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        files.judgments(csv(tmp_path / "j.csv", *lines))
    assert caught.value.where == f"{tmp_path / 'j.csv'}:{line}"


def test_a_wrong_line_before_a_broken_one_is_told_too(tmp_path: Path) -> None:
    path = csv(tmp_path / "j.csv", HEAD, "xx,1,j,one,two,A", "sw,1,j")
    with pytest.raises(BadInput, match="2 of 2 records") as caught:
        files.judgments(path)
    assert "no language 'xx'" in caught.value.where
    assert "3 fields" in caught.value.where


def test_a_file_of_another_kind_an_empty_one_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"named neither \.jsonl nor \.csv"):
        files.judgments(csv(tmp_path / "j.txt", HEAD))
    with pytest.raises(BadInput, match="holds no judgment"):
        files.judgments(csv(tmp_path / "j.csv", HEAD))
    with pytest.raises(BadInput, match="has no header"):
        files.judgments(csv(tmp_path / "e.csv", ""))
    with pytest.raises(BadInput, match="there is no file"):
        files.judgments(tmp_path / "none.jsonl")


def test_pitfall_44_a_name_the_arena_does_not_know_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    assert len(files.judgments(jsonl(path, GOOD), known=known())) == 1
    with pytest.raises(BadInput, match=r"no system in sw 'twoo'(.|\n)*did you mean: two") as caught:
        files.judgments(jsonl(path, GOOD | {"system_b": "twoo"}), known=known())
    assert caught.value.where == f"{path}:1"
    with pytest.raises(BadInput, match="no system in sw 'three'"):
        files.judgments(jsonl(path, GOOD | {"system_b": "three"}), known=known())
    with pytest.raises(BadInput, match="the arena has no question '99' in sw"):
        files.judgments(jsonl(path, GOOD | {"query_id": "99"}), known=known())
    with pytest.raises(BadInput, match="no system in fi 'one'"):
        files.judgments(jsonl(path, GOOD | {"language": "fi"}), known=known())


@given(st.text(min_size=1).filter(lambda t: "\x00" not in t), st.sampled_from(("A", "B", "tie", "unparsed")))
@settings(deadline=None, max_examples=60)
def test_any_text_is_an_id_and_a_reason_in_either_format(tmp_path_factory: Any, text: str, verdict: str) -> None:
    import csv as writer

    folder = tmp_path_factory.mktemp("any")
    record = GOOD | {"query_id": text, "rationale": text, "verdict": verdict}
    lines = files.judgments(jsonl(folder / "j.jsonl", record))
    with (folder / "j.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = writer.DictWriter(stream, record, quoting=writer.QUOTE_ALL, lineterminator="\n")
        rows.writeheader()
        rows.writerow(record)
    assert lines["query_id"].to_pylist() == [text]
    if "\r" not in text:  # a CSV reader may take a bare carriage return for the end of a line
        assert files.judgments(folder / "j.csv").equals(lines)
