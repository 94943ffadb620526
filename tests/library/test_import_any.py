"""Any file comes in: arrays, lines, tables, packed, with marks of other programs; and nothing half of one."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arena_writer import read_rows
from commands import mirage
from commands import write_jsonl as write
from flat_cases import CASES
from hypothesis import given, settings
from hypothesis import strategies as st

from mirage.errors import BadInput, UnknownName
from mirage.io.imports.formats import import_file, read_file
from mirage.io.options import Options
from mirage.store import arena as arenas
from mirage.store.arena import open_arena

ROWS = [
    {"question": "When was the old bridge over the river built?", "answer": "In 1902.", "system": "a"},
    {"question": "Who was the engineer of the old bridge?", "answer": 'Ada "North", 1902;\nperhaps.', "system": "b"},
]


def table(delimiter: str, end: str = "\n") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(ROWS[0]), delimiter=delimiter, lineterminator=end)
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue().encode()


def sheet() -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows([["Question ", "ANSWER", "Model", "", ""]])
    csv.writer(out, delimiter=";").writerows([[*row.values(), "", ""] for row in ROWS] + [[""] * 5] * 2)
    return out.getvalue().encode()


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), out)
    return out.getvalue()


def zstd(data: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(data)
    return out.getvalue().to_pybytes()


BY_COLUMN = {name: {str(place): row[name] for place, row in enumerate(ROWS)} for name in ROWS[0]}
SPLIT = {"columns": [*ROWS[0]], "index": [0, 1], "data": [[*row.values()] for row in ROWS]}
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
FILES: dict[str, tuple[str, bytes]] = {
    "JSON Lines": ("x.jsonl", LINES),
    "JSON Lines with a BOM and CRLF": ("x.jsonl", b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n")),
    "JSON Lines under another name": ("x.txt", LINES),
    "an array": ("x.json", json.dumps(ROWS).encode()),
    "an array with a BOM": ("x.json", b"\xef\xbb\xbf" + json.dumps(ROWS, indent=2).encode()),
    "an array named jsonl": ("x.jsonl", json.dumps(ROWS).encode()),
    "objects one after the other": ("x.json", "\n".join(json.dumps(row, indent=1) for row in ROWS).encode()),
    "an object with a list": ("x.json", json.dumps({"version": 1, "data": ROWS}).encode()),
    "an object of columns": ("x.json", json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}).encode()),
    "columns of pandas": ("x.json", json.dumps(BY_COLUMN).encode()),
    "columns of pandas by name": (
        "x.json",
        json.dumps({n: dict(zip("ab", c.values(), strict=True)) for n, c in BY_COLUMN.items()}).encode(),
    ),
    "rows of pandas by index": ("x.json", json.dumps(dict(enumerate(ROWS))).encode()),
    "rows by their id": ("x.json", json.dumps({"q1": ROWS[0], "q2": {**ROWS[1], "note": "x"}}).encode()),
    "a table of pandas": ("x.json", json.dumps({"schema": {"fields": []}, "data": ROWS}).encode()),
    "a split table of pandas": ("x.json", json.dumps(SPLIT).encode()),
    "commas": ("x.csv", table(",")),
    "old line ends": ("x.csv", table(",", "\r")),
    "old line ends of lines": ("x.jsonl", LINES.replace(b"\n", b"\r")),
    "the line of Excel": ("x.csv", b"\xef\xbb\xbfsep=;\r\n" + table(";", "\r\n")),
    "the line of Excel with tabs": ("x.csv", b'"sep=\t"\n' + table("\t")),
    "pipes": ("x.csv", table("|")),
    "semicolons, a BOM and CRLF": ("x.csv", b"\xef\xbb\xbf" + table(";", "\r\n")),
    "tabs": ("x.tsv", table("\t")),
    "heads and empty columns of a spreadsheet": ("x.csv", sheet()),
    "UTF-16 of a console": ("x.jsonl", LINES.decode().encode("utf-16")),
    "UTF-16 of a spreadsheet": ("x.csv", b"\xfe\xff" + table("\t", "\r\n").decode().encode("utf-16-be")),
    "names in camel case": ("x.jsonl", LINES.replace(b'"question"', b'"userInput"').replace(b"system", b"modelName")),
    "Parquet": ("x.parquet", parquet()),
    "Parquet under another name": ("x.bin", parquet()),
    "packed by gzip": ("x.jsonl.gz", gzip.compress(LINES)),
    "gzip under another name": ("x.jsonl", gzip.compress(LINES)),
    "an array packed by zstd": ("x.json.zst", zstd(json.dumps(ROWS).encode())),
}


@pytest.mark.parametrize("case", FILES)
def test_every_form_of_the_same_records_makes_the_same_arena(case: str, tmp_path: Path) -> None:
    name, data = FILES[case]
    (tmp_path / name).write_bytes(data)
    arena = import_file(tmp_path / name, tmp_path / "arena").arena
    assert {row["text"] for row in read_rows(arena, "answers")} == {row["answer"] for row in ROWS}
    assert {row["text"] for row in read_rows(arena, "queries")} == {row["question"] for row in ROWS}


def test_fields_and_values_are_mapped_also_in_nested_objects(tmp_path: Path) -> None:
    record = {
        "q": {"text": ROWS[0]["question"]},
        "docs_": [{"body": "One."}, {"body": "Two."}],
        "out": "x",
        "lg": "Kisw",
    }
    options = Options.parse(
        ["q.text=question", "docs_.body=contexts", "out=answer", "lg=language"], ["system=s"], ["language:Kisw=sw"]
    )
    arena = import_file(write(tmp_path / "x.jsonl", record), tmp_path / "arena", name="rag", options=options).arena
    assert arena.read("passages")["text"].to_pylist() == ["One.", "Two."] or arena.rows("passages") == 2
    assert arena.read("queries")["language"].to_pylist() == ["sw"]


def test_a_map_that_names_no_field_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        import_file(write(tmp_path / "x.jsonl", *ROWS), tmp_path / "a", options=Options.parse(["anser=answer"]))


@pytest.mark.parametrize("further", [{}, {"ground_truth": "1902"}], ids=["rag", "ragas"])
@pytest.mark.parametrize(("right", "slip"), [("system", "sytem"), ("answer", "anwser"), ("contexts", "contxets")])
def test_a_misspelt_field_is_refused_and_named(tmp_path: Path, right: str, slip: str, further: dict[str, str]) -> None:
    rows = [{**row, "contexts": ["It was built in 1902."], **further} for row in ROWS]
    slipped = [{slip if name == right else name: value for name, value in row.items()} for row in rows]
    told = " ".join(mirage("evaluate", write(tmp_path / "x.jsonl", *slipped), code=2).stderr.split())
    assert f"{right} is missing" in told.replace("retrieved_contexts", "contexts")
    assert f"--map {slip}=" in told


def test_a_mapped_field_is_what_the_user_says(tmp_path: Path) -> None:
    record = {"question": "Who built it?", "response": {"text": "Ada."}, "hits": [{"doc": {"text": "Ada built it."}}]}
    rows = [{**record, "system": "a"}, {**record, "system": "b", "response": {"text": "Nobody."}}]
    file, path = write(tmp_path / "x.jsonl", *rows), tmp_path / "arena"
    maps = ("--set", "language=en", "--map", "response.text=answer", "--map")
    mirage("import", file, "--as", "rag", *maps, "hits[*].doc.text=contexts", "--into", path)
    arena = open_arena(path)
    assert arena.read("answers")["text"].to_pylist() == ["Ada.", "Nobody."]
    assert arena.read("passages")["text"].to_pylist() == ["Ada built it."]
    done = mirage("import", file, "--as", "rag", *maps, "hits[*].doc.body=contexts", code=2)
    assert "no field 'hits[*].doc.body'" in done.stderr


def test_a_score_is_one_of_the_answer_and_decides(tmp_path: Path) -> None:
    asked = {"question": ROWS[0]["question"]}
    rows = [{**row, **asked, "score": score} for row, score in zip(ROWS, ("0.9", 0.1), strict=True)]
    done = mirage("evaluate", write(tmp_path / "x.jsonl", *rows))
    assert "Decided by scores of score" in done.stderr
    assert open_arena(tmp_path / "x-arena").read("scores")["value"].to_pylist() == [0.9, 0.1]


def test_battles_that_rank_reads_reach_the_gate(tmp_path: Path) -> None:
    file = tmp_path / "battles.csv"
    lines = [
        f"q{k},{first},{second},{word}" for k in range(20) for first, second, word in (("x", "y", "a"), ("y", "x", "B"))
    ]
    file.write_text("\n".join(["query_id,system_a,system_b,verdict", *lines]), "utf-8")
    mirage("rank", file, "--draws", 20)
    assert "named judge" in mirage("evaluate", file).stderr
    assert "better" in mirage("compare", tmp_path / "battles-arena", "x", "y", "--require").stdout
    file.write_text("system_a,system_b,verdict\nx,y,0.5\n", "utf-8")
    assert "--map verdict=points" in mirage("import", file, code=2).stderr
    mirage("import", file, "--map", "verdict=points")


def test_a_winner_may_be_named_beside_two_models_and_a_question(tmp_path: Path) -> None:
    winners = {"Zephyr": "A", "zephyr ": "A", "Yi": "B", "tie": "tie"}
    rows = [
        {
            "question": f"Миллий кутубхона {k} қачон ташкил этилган?",
            "model_a": "Zephyr",
            "model_b": "Yi",
            "winner": winner,
        }
        for k, winner in enumerate(winners)
    ]
    for held in (rows, rows[:1]):
        tables, _ = read_file(write(tmp_path / "x.jsonl", *held))
        assert sorted(tables["judgments"]["verdict"].to_pylist()) == sorted([*winners.values()][: len(held)])
        assert {(row["language"], row["text"]) for row in tables["queries"].to_pylist()} == {
            ("uz", row["question"]) for row in held
        }
        assert "answers" not in tables


@pytest.mark.parametrize("case", CASES["WIDE"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_pitfall_177_a_column_a_system_is_read(tmp_path: Path, case: str, kind: str) -> None:
    text, systems = CASES["WIDE"][case]
    records = list(csv.DictReader(io.StringIO(text)))
    file = tmp_path / f"x.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(records), file)
    else:
        file.write_text(text if kind == "csv" else "".join(json.dumps(record) + "\n" for record in records))
    answers = read_rows(
        import_file(file, tmp_path / "arena", options=Options(values={"language": "de"})).arena, "answers"
    )
    assert {row["system"]: [row["text"]] for row in answers} == systems


HOSTILE: dict[str, dict[str, Any]] = {
    "right to left": {"question": "متى بُني الجسر القديم فوق النهر الكبير؟", "answer": "\u202eفي 1902\u202c"},
    "a megabyte": {"contexts": ["x" * 1_000_000]},
    "a NUL": {"answer": "a\0b"},
    "markup": {"answer": "<script>alert(1)</script>\n\n# =1+1"},
    "a number as an id": {"id": 12},
    "a list in a list": {"contexts": [{"text": "A", "tags": [["x", ["y"]]]}]},
    "an empty list": {"contexts": []},
    "an empty answer": {"answer": " \n"},
    "no answer": {"answer": None},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_content_comes_in_as_it_is(case: str, tmp_path: Path) -> None:
    record = ROWS[0] | HOSTILE[case]
    arena = import_file(write(tmp_path / "x.jsonl", record), tmp_path / "arena").arena
    (answer,) = read_rows(arena, "answers")
    assert answer["text"] == record["answer"]
    assert arenas.check(arena)


@pytest.mark.parametrize(
    ("change", "place"),
    [({"answer": "\ud800"}, "answer"), ({"question": "\ud800 long enough?"}, "query"), ({"system": True}, "system")],
)
def test_what_no_table_can_hold_is_refused_with_its_line(tmp_path: Path, change: dict[str, Any], place: str) -> None:
    with pytest.raises(BadInput) as caught:
        import_file(write(tmp_path / "x.jsonl", ROWS[0], ROWS[1] | change), tmp_path / "arena")
    assert caught.value.where.endswith("x.jsonl:2")
    assert place in caught.value.what
    assert not (tmp_path / "arena" / "manifest.json").exists()


@pytest.mark.parametrize("text", ['[{"question": "a"}, {"question": ]', '[{"a": 1}, 2]', '{"a": "b'])
def test_an_array_that_is_broken_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text("\n\n" + text)
    with pytest.raises(BadInput) as caught:
        import_file(tmp_path / "x.json", tmp_path / "arena", name="rag")
    assert "x.json:3" in caught.value.where


def test_fields_in_another_spelling_mean_what_they_mean_in_ours(tmp_path: Path) -> None:
    ours = [row | {"response": row["answer"], "answer": "Gold.", "ground_truth": None} for row in ROWS]
    theirs = [{name.replace("_", " ").title(): value for name, value in row.items()} for row in ours]
    (as_ours, _), (as_theirs, told) = (read_file(write(tmp_path / "x.jsonl", *rows)) for rows in (ours, theirs))
    assert as_theirs == as_ours, "an answer beside a response is the reference, as without capitals"
    assert "Answer" in told.guessed["fields"]


def test_records_on_one_line_have_places_of_their_own(tmp_path: Path) -> None:
    battle = {"system_a": "a", "system_b": "b", "verdict": "A"}
    (tmp_path / "x.json").write_text(json.dumps([battle] * 9))
    tables, _ = read_file(tmp_path / "x.json")
    assert len(set(tables["judgments"]["query_id"].to_pylist())) == 9, "without an id each battle is its own query"
    (tmp_path / "y.json").write_text(json.dumps([{"question": ROWS[0]["question"], "answer": "x"}] * 9))
    with pytest.raises(BadInput, match="9 of 9 records"):
        read_file(tmp_path / "y.json")


def test_half_a_file_in_utf_16_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(table(",").decode().encode("utf-16")[:-1])
    with pytest.raises(BadInput, match="UTF-8"):
        read_file(tmp_path / "x.csv")


def test_an_array_in_pieces_is_read_whole(tmp_path: Path) -> None:
    rows = [ROWS[0] | {"question": f"Question number {n} about the bridge? " + "é" * 5_000} for n in range(600)]
    (tmp_path / "x.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    result = import_file(tmp_path / "x.json", tmp_path / "arena", options=Options(values={"language": "en"}))
    assert result.arena.rows("queries") == 600


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["1", "2", " 3 "]),
            "contexts": st.lists(st.sampled_from(["A", "B", "C", "\u0627\u0644"]), max_size=4),
            "answer": st.one_of(TEXTS, st.sampled_from(["[1] and [2]", "[3, 1]", "[1-4]", ""])),
            "system": st.sampled_from(["x", "y", "z"]),
        }
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda record: (record["id"].strip(), record["system"]),
)


@settings(max_examples=12)
@given(records=RECORDS, order=st.randoms(use_true_random=False))
def test_any_records_make_an_arena_that_their_order_does_not_change(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], order: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    texts = {"1": "Which bridge is the oldest?", "2": "Who built it?", "3": "What did it cost?"}
    records = [record | {"question": texts[record["id"].strip()], "language": "en"} for record in records]
    arena = import_file(write(folder / "x.jsonl", *records), folder / "arena", name="rag").arena
    assert arenas.check(arena)
    assert import_file(folder / "x.jsonl", folder / "arena", name="rag").arena.version == arena.version
    order.shuffle(records)
    other = import_file(write(folder / "y.jsonl", *records), folder / "other", name="rag").arena
    for name in arena.tables:
        assert arena.read(name).equals(other.read(name)), name


def test_the_command_without_a_kind_looks_and_says_what_it_would_make(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", *ROWS)
    assert "read as rag" in mirage("import", file).stderr
    assert "2 records" in mirage("import", file, "--into", tmp_path / "arena").stderr
    assert open_arena(tmp_path / "arena").rows("answers") == 2
    mirage("import", "--as", "rag", file, "--into", tmp_path / "other")


def test_a_kind_of_import_that_is_none_is_refused_with_the_nearest(tmp_path: Path) -> None:
    assert "rag" in mirage("import", "--as", "raag", write(tmp_path / "x.jsonl", *ROWS), code=2).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("import", "judgements"), "judgments"),
        (("import", "mirage-bnch"), "mirage-bench"),
        (("evaluate", "nomircal"), "nomiracl"),
        (("import", "mine.jsonl"), "no file mine.jsonl"),
        (("evaluate", "mine.jsonl"), "no file mine.jsonl"),
    ],
)
def test_pitfall_167_a_missing_file_or_a_slip_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = mirage(*words, code=2)
    assert "there is no file" in done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("content", [b"", b" \n\n", b"PK\x03\x04" + bytes(50)], ids=["empty", "blank", "archive"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.xlsx", "x.zip"])
def test_a_file_without_records_is_refused_for_that(tmp_path: Path, name: str, content: bytes) -> None:
    """Nothing is said of fields where there is no record, and nothing is written."""
    (tmp_path / name).write_bytes(content)
    done = mirage("import", tmp_path / name, "--into", tmp_path / "arena", code=2)
    assert "--map" not in done.stderr
    assert not (tmp_path / "arena").exists()


def test_a_field_that_a_path_reads_is_not_left_out(tmp_path: Path) -> None:
    record = {"q": {"text": "Who built the bridge over the river?"}, "a": "Ada.", "model": "m", "further": "x"}
    options = Options.parse(["q.text=question", "a=answer"])
    _, summary = read_file(write(tmp_path / "x.jsonl", record), name="rag", options=options)
    assert [entry.what for entry in summary.left_out] == ["further"]


def test_numbers_beside_ground_truth_decide_nothing_and_labels_count(tmp_path: Path) -> None:
    record = {"question": "When was it built?", "contexts": ["In 1902.", "By Ada."], "ground_truth": "In 1902."}
    rows = [
        {**record, "system": name, "answer": answer, "latency_s": seconds, "relevant": [True, False], "language": "en"}
        for name, answer, seconds in (("new", "In 1902 [1].", 1), ("old", "By Ada [2].", 9), ("none", None, 5))
    ]
    read, summary = read_file(write(tmp_path / "x.jsonl", *rows))
    assert "scores" not in read
    assert any("latency_s" in line for line in summary.lines())
    assert read["passages"]["relevant"].to_pylist() == [True, False]
    measured = [{**row, "faithfulness": 0.5, "noise_sensitivity(mode=relevant)": 0.1} for row in rows]
    read, summary = read_file(write(tmp_path / "y.jsonl", *measured))
    scores = read["scores"].select(["measure", "low", "high"]).to_pylist()
    assert {tuple(row.values()) for row in scores} == {
        ("faithfulness", None, None),
        ("noise_sensitivity(mode=relevant)", 1.0, 0.0),
    }
    assert {"latency_s"} == {entry.what for entry in summary.left_out}
    assert read["passages"]["relevant"].to_pylist() == [True, False]
    assert len(read["answers"]) == 3
    with pytest.raises(BadInput, match="faithfulness is '1,000'"):
        read_file(write(tmp_path / "z.jsonl", *({**row, "faithfulness": "1,000"} for row in rows)))


def test_a_system_without_a_battle_is_named(tmp_path: Path) -> None:
    record = {"contexts": ["In 1902."], "reference": "In 1902.", "answer": "In 1902 [1].", "language": "en"}
    asked = [(f"When was bridge {k} built?", system) for k in range(2) for system in ("a", "b")] + [("And it?", "c")]
    rows = [{**record, "question": question, "system": system} for question, system in asked]
    done = mirage("evaluate", write(tmp_path / "x.jsonl", *rows), "--into", tmp_path / "arena")
    assert "not ranked: c (English: " in " ".join(done.stderr.split())
