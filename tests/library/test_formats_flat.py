"""Flat files of anybody: failures, own scores, pairs, and columns that are no systems."""

import csv
import io
import json
import re
import shlex
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from commands import refuses
from flat_cases import CASES

from mirage.errors import BadInput
from mirage.io.formats.registry import format_named
from mirage.io.imports.formats import import_file, read_file
from mirage.io.options import Options
from mirage.text.data import load_words
from mirage.text.failures import failure

ASKED = ["Wann wurde die Brücke gebaut?", "Wie lang ist die Brücke heute?", "Wer hat die Brücke entworfen?"]


@pytest.fixture
def turn5(shared: Path) -> Path:
    return shared / "field" / "turn5"


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        text = io.StringIO()
        table = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
        table.writeheader()
        table.writerows(rows)
        path.write_text(text.getvalue(), "utf-8")
    else:
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
    return path


FAILURES = """Error code: 429 - {'error': {'message': 'slow down'}} · $ERROR$ · litellm.Timeout: APITimeoutError
HTTP 503 · Request timed out. · Read timed out. (read timeout=60) · openai.RateLimitError: quota · 502 Bad Gateway
HTTPConnectionPool(host='x', port=80): Read timed out. · {"error": {"code": 500}} · ValueError: could not parse
Rate limit exceeded. Try again in 20s. · Failed to generate response · An unexpected error occurred · 请求超时，请重试
google.api_core.exceptions.ResourceExhausted: 429 · **NETWORK ERROR DUE TO HIGH TRAFFIC.** · httpx.ReadTimeout
Traceback (most recent call last): File "x" · You exceeded your current quota, please check your plan. · [ERROR]"""
ANSWERS = """Error 404 means that the page was not found. · Timeout periods in basketball last 60 seconds. · none
Na · No. · None of the passages say so. · Forbidden. · System failure. · The error was found in 1902 by the town.
The request was refused by the king in 1431. · HTTP is a protocol. · Fehler 404 heißt: nicht gefunden. · Missing.
Connection failed because the bridge was washed away. · Quota systems were introduced in 1921. · Failed. · [1]
Exceptions: Tuesday. · The error code: 429 was introduced in 1997."""


def test_an_error_message_or_a_word_for_no_value_is_no_answer() -> None:
    for text in FAILURES.replace("\n", " · ").split(" · "):
        assert failure(text) == ("api_error", text)
    for text in ("nan", "None", "N/A", "<NA>", "null", "[no response]"):
        assert failure(text) == ("missing", f"the file has {text}")
    for text in ANSWERS.replace("\n", " · ").split(" · "):
        assert failure(text) is None, text


@pytest.mark.parametrize("case", CASES["FAILED"])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_record_that_says_so_is_a_failed_answer(tmp_path: Path, case: str, kind: str) -> None:
    if kind == "csv" and case in ("error", "object"):
        pytest.skip("an object is no cell")
    rows = [
        {"question": asked, "system": system, "answer": "Es war 1902.", **told}
        for asked in ASKED
        for system, told in zip(("nord", "süd"), CASES["FAILED"][case], strict=True)
    ]
    tables, summary = read_file(write(tmp_path / f"x.{kind}", rows))
    statuses = dict(zip(tables["answers"]["system"].to_pylist(), tables["answers"]["status"].to_pylist(), strict=True))
    assert statuses == {"nord": "ok", "süd": "api_error"}
    assert "süd 3" in summary.guessed["failed"]
    assert not summary.left_out


def test_failed_answers_of_the_field(turn5: Path) -> None:
    for file in ("answers", "error-column"):
        answers = read_file(turn5 / "12-errors-as-answers" / f"{file}.jsonl")[0]["answers"].to_pylist()
        assert {row["status"] for row in answers if row["system"] == "nord"} == {"ok"}
        assert {row["status"] for row in answers if row["system"] == "süd"} <= {"api_error", "missing"}
        assert all(row["reason"] for row in answers if row["system"] == "süd")


@pytest.mark.parametrize("case", CASES["SCORED"])
def test_numbers_beside_an_answer_are_scores_of_the_file(tmp_path: Path, case: str) -> None:
    about = {"difficulty": 3, "tokens": 40, "year": "1902", "row": 0, "latency_s": 1.5, "seed": 7, "note": "x"}
    rows = [
        {"question": asked, "system": system, "answer": f"Es war 19{place}.", **about, "year_built": place, **measured}
        for place, asked in enumerate(ASKED)
        for system, measured in zip(("x", "y"), CASES["SCORED"][case], strict=True)
    ]
    rows[0]["note"] = 1
    tables, summary = read_file(write(tmp_path / "x.jsonl", rows))
    wanted = next(
        (inner for inner in CASES["SCORED"][case][0].values() if isinstance(inner, dict)), CASES["SCORED"][case][0]
    )
    assert set(tables["scores"]["measure"].to_pylist()) == set(wanted)
    assert len(tables["scores"]) == len(ASKED) * 2 * len(wanted)
    assert {"difficulty", "tokens", "year", "row", "latency_s", "seed", "note"} <= {e.what for e in summary.left_out}


def test_what_a_table_or_a_log_packs_is_unpacked(tmp_path: Path) -> None:
    asked, said = json.dumps({"question": ASKED[0]}), json.dumps({"answer": "Im Jahr 1902."})
    case = {"actual_output": "Im Jahr 1902.", "success": False, "metricsData": [{"name": "Faithful", "score": 0.4}]}
    case |= {"context": ["Um 1902."], "retrieval_context": ["Es war 1902."]}
    rows = [{"input": {"question": ASKED[0]}, "response": "Im Jahr 1902."}, {"input": asked, "response": said}]
    for row in (*rows, {"input": ASKED[0], **case}):
        tables, _ = read_file(write(tmp_path / "x.jsonl", [row | {"system": "x"}]))
        assert tables["queries"]["text"].to_pylist() == ASKED[:1]
        assert tables["answers"].select(["text", "status"]).to_pylist() == [{"text": "Im Jahr 1902.", "status": "ok"}]
    assert set(tables["scores"]["measure"].to_pylist()) == {"Faithful", "passed"}, "success is of the test"
    assert tables["passages"]["text"].to_pylist() == ["Es war 1902."], "the context is the ideal one"


def test_scores_of_the_field_are_kept_and_those_of_epochs_averaged(turn5: Path) -> None:
    options = Options({"retriever": "system", "gold": "reference"})
    scores = read_file(turn5 / "03-own-scores-dropped" / "answers.jsonl", options=options)[0]["scores"]
    assert set(scores["measure"].to_pylist()) == {"f1", "faithfulness", "context_recall"}
    tables, summary = read_file(turn5 / "19-epochs-scores" / "log.json")
    assert tables["scores"]["value"].to_pylist() == [0.5] * 4
    assert "mean" in summary.guessed["averaged"]


def test_scores_of_samples_are_averaged_whatever_their_order(tmp_path: Path) -> None:
    rows = [{"question": ASKED[0], "system": "x", "answer": f"{n}", "sample": n, "score": n / 4} for n in range(4)]
    for order in (rows, rows[::-1], [*rows, rows[2]]):
        scores = read_file(write(tmp_path / "x.jsonl", order))[0]["scores"]
        assert scores["value"].to_pylist() == [0.375]
    made = import_file(write(tmp_path / "x.jsonl", rows), tmp_path / "arena")
    assert made.summary.guessed["averaged"]


@pytest.mark.parametrize(
    ("rater", "person", "told"),
    [("", False, "--set rater=human"), ("ana", False, "'rater:ana=human ana'"), ("human ana", True, "")],
)
def test_who_scored_is_told_where_it_is_assumed(tmp_path: Path, rater: str, person: bool, told: str) -> None:
    row = {"question": ASKED[0], "system": "x", "answer": "yes", "score": 1.0} | ({"rater": rater} if rater else {})
    tables, summary = read_file(write(tmp_path / "x.jsonl", [row]))
    assert tables["scores"]["person"].to_pylist() == [person]
    said = " ".join(summary.guessed.get(name, "") for name in ("score", "rater"))
    assert told in said
    assert bool(told) == bool(said.strip())


@pytest.mark.parametrize("case", CASES["PAIRS"])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_two_answers_in_places_are_a_pair(tmp_path: Path, case: str, kind: str) -> None:
    places, name, words = CASES["PAIRS"][case]
    rows = [
        {"question": asked, places[0]: "Im Jahr 1902.", places[1]: "Nach dem Krieg."} | ({name: word} if name else {})
        for asked, (word, _) in zip(ASKED, words, strict=True)
    ]
    file = write(tmp_path / f"x.{kind}", rows)
    with pytest.raises(BadInput) as refused:
        read_file(file)
    assert "--set system_a=NAME --set system_b=NAME" in refused.value.do
    assert all(place in str(refused.value) for place in places)
    options = Options(values={"system_a": "x", "system_b": "y"})
    if "" in (verdict for _, verdict in words):
        with pytest.raises(BadInput, match="does not say which"):
            read_file(file, options=options)
        return
    tables, _ = read_file(file, options=options)
    assert set(tables["answers"]["system"].to_pylist()) == {"x", "y"}
    assert len(tables["answers"]) == 2 * len(ASKED)
    verdicts = sorted(tables["judgments"]["verdict"].to_pylist())
    assert verdicts == sorted(verdict for _, verdict in words)


def test_a_pair_names_its_systems_and_its_judges(tmp_path: Path) -> None:
    rows = [
        {"id": n, "prompt": asked, "model_1": "x", "model_2": "y", "output_1": "!", "output_2": "?", "winner": winner}
        for n, (asked, winner) in enumerate(zip(ASKED, ("x", "y", "tie"), strict=True))
    ]
    rows = [{**row, "annotator_1": 1, "annotator_2": "2"} for row in rows]
    verdicts = read_file(write(tmp_path / "x.jsonl", rows))[0]["judgments"].to_pylist()
    assert {(row["judge"], row["verdict"], row["person"]) for row in verdicts} == {
        ("annotator_1", "A", True),
        ("annotator_2", "B", True),
    }
    rows = [{name: row[name] for name in ("id", "model_1", "model_2", "winner")} | {"language": "de"} for row in rows]
    verdicts = read_file(write(tmp_path / "y.jsonl", rows))[0]["judgments"].to_pylist()
    assert [row["verdict"] for row in verdicts] == ["A", "B", "tie"]


@pytest.mark.parametrize("case", CASES["NO_SYSTEMS"])
def test_languages_qualities_and_parts_are_no_systems(tmp_path: Path, case: str) -> None:
    names, told = CASES["NO_SYSTEMS"][case]
    rows = [{"question": asked, **dict.fromkeys(names, "Im Jahr 1902.")} for asked in ASKED]
    with pytest.raises(BadInput) as refused:
        read_file(write(tmp_path / "x.jsonl", rows))
    assert told in refused.value.do
    assert all(name in str(refused.value) for name in names)


def test_pairs_and_languages_of_the_field(turn5: Path) -> None:
    with pytest.raises(BadInput, match="response_a and response_b are the two places"):
        read_file(turn5 / "01-pair-as-systems" / "pairs.jsonl")
    with pytest.raises(BadInput, match="one answer in several languages"):
        read_file(turn5 / "02-columns-not-systems" / "bilingual.jsonl")


def test_columns_of_a_system_beside_its_answers_are_its_own(tmp_path: Path) -> None:
    rows = [
        {
            "question": asked,
            "yi_answer": "1902.",
            "phi_answer": "Nie.",
            "yi_f1": n / 4,
            "phi_f1": 0.1,
            "phi_error": "HTTP 500",
            "agreement": n / 4,
            "correct": True,
            "metrics": {"f1": 0.5},
        }
        for n, asked in enumerate(ASKED)
    ]
    tables, summary = read_file(write(tmp_path / "x.jsonl", rows))
    assert {"agreement", "correct", "metrics"} <= {entry.what for entry in summary.left_out}
    scores = {(row["system"], row["value"]) for row in tables["scores"].to_pylist()}
    assert scores == {("yi", 0.0), ("yi", 0.25), ("yi", 0.5), ("phi", 0.1)}
    statuses = {(row["system"], row["status"]) for row in tables["answers"].to_pylist()}
    assert statuses == {("yi", "ok"), ("phi", "api_error")}


def test_an_error_of_a_row_is_that_of_its_silent_systems_else_of_all(tmp_path: Path) -> None:
    told = [("", ""), ("", "timeout"), ("1903.", "HTTP 500")]
    rows = [
        {"question": asked, "yi_answer": "1902.", "phi_answer": answer or None, "gpt_answer": "Nie.", "error": error}
        for asked, (answer, error) in zip(ASKED, told, strict=True)
    ]
    tables, summary = read_file(write(tmp_path / "x.jsonl", rows))
    failed = [(row["system"], row["reason"]) for row in tables["answers"].to_pylist() if row["status"] == "api_error"]
    assert sorted(failed) == [("gpt", "HTTP 500"), ("phi", "HTTP 500"), ("phi", "timeout"), ("yi", "HTTP 500")]
    assert not summary.left_out


@pytest.mark.parametrize("second", ["gpt_output", "response gpt", "prediction_gpt"])
def test_two_columns_of_answers_of_one_system_are_refused_until_one_is_named(tmp_path: Path, second: str) -> None:
    rows = [{"question": asked, "gpt_answer": "1902.", second: "1903.", "phi_answer": "Nie."} for asked in ASKED]
    path = write(tmp_path / "x.jsonl", rows)
    with refuses(BadInput, f"gpt_answer and {second}", do="--map"):
        read_file(path)
    tables, _ = read_file(path, options=Options({second: "note_1"}))
    assert set(tables["answers"]["text"].to_pylist()) == {"1902.", "Nie."}


@pytest.mark.parametrize("case", CASES["UNKNOWN"])
def test_a_refusal_looks_at_the_file(tmp_path: Path, case: str) -> None:
    rows, wanted = CASES["UNKNOWN"][case]
    file = write(tmp_path / "x.jsonl", rows)
    with pytest.raises(BadInput, match="unknown format") as refused:
        read_file(file)
    assert all(part in refused.value.do for part in re.split(" (?=--)", wanted))
    if "--map" in wanted:
        words = shlex.split(refused.value.do.rpartition("alone: ")[2])
        given = {option: [b for a, b in pairwise(words) if a == option] for option in words}
        sets = [pair.replace("b=NAME", "b=OTHER") for pair in given.get("--set", [])]
        options = Options.parse(given.get("--map", []), sets, given.get("--value", []))
        assert read_file(file, name=given["--as"][0], options=options)[1].records == len(rows)


def test_lists_within_a_document_are_named(tmp_path: Path) -> None:
    document = {
        "model": "j",
        "cell_e": {"rows": [{"question": ASKED[0], "pred": "1902."}]},
        "f": {"rows": [{"question": "?"}]},
    }
    with refuses(BadInput, r"the records are in cell_e.rows and f.rows, with question, pred", do="'.cell_e.rows[]'"):
        read_file(write(tmp_path / "x.json", [document]))


def test_runs_numbered_by_another_name_are_samples_whose_scores_are_averaged(tmp_path: Path) -> None:
    rows = [
        {"question": asked, "answer": f"Im Jahr 190{run}.", "system": "s", "epoch": run, "score": run - 1}
        for asked in ASKED
        for run in (2, 1)
    ]
    with refuses(BadInput, do="--map epoch=sample"):
        read_file(path := write(tmp_path / "x.jsonl", rows))
    tables, _ = read_file(path, options=Options({"epoch": "sample"}))
    assert tables["answers"]["text"].to_pylist() == ["Im Jahr 1901."] * len(ASKED)
    assert tables["samples"]["sample"].to_pylist() == [2] * len(ASKED)
    assert tables["scores"]["value"].to_pylist() == [0.5] * len(ASKED)


def test_the_best_of_columns_of_answers_beats_the_others(tmp_path: Path) -> None:
    row = {"gpt_answer": "Im Jahr 1902.", "phi_answer": "Nie.", "yi_answer": "Heute."}
    rows = [{"question": asked, **row, "winner": best} for asked, best in zip(ASKED, ("phi", "gpt", ""), strict=True)]
    verdicts = read_file(write(tmp_path / "x.jsonl", rows))[0]["judgments"].to_pylist()
    assert sorted((v["system_a"], v["system_b"], v["verdict"]) for v in verdicts) == [
        ("gpt", "phi", "A"),
        ("gpt", "yi", "A"),
        ("phi", "gpt", "A"),
        ("phi", "yi", "A"),
    ]


@pytest.mark.parametrize("case", CASES["REPEATED"])
def test_two_answers_to_one_question_are_told_what_tells_them_apart(tmp_path: Path, case: str) -> None:
    told, wanted = CASES["REPEATED"][case]
    answers = ("Im Jahr 1902.", "Im Jahr 1903.", "Im Jahr 1903.")
    rows = [
        {"question": ASKED[0], "answer": answer, "system": "s", **row}
        for row, answer in zip(told, answers, strict=False)
    ]
    rows += [] if "=id" in wanted else [{**rows[0], "question": ASKED[1]}]
    path = write(tmp_path / "x.jsonl", rows)
    with pytest.raises(BadInput, match="two different answers of s") as refused:
        read_file(path)
    assert wanted in refused.value.do
    assert not [name for name in ("latency", "tokens", "ms=") if name in refused.value.do]
    if "=id" in wanted:
        assert len(read_file(path, options=Options.parse([wanted.split()[1]]))[0]["answers"]) == len(rows)


def test_a_file_of_verdicts_is_told_what_verdicts_need(turn5: Path) -> None:
    with refuses(
        BadInput,
        "winner holds verdicts, but no field names the two systems",
        do="--as judgments --map winner=verdict --map id=query_id --set system_a=NAME",
    ):
        read_file(turn5 / "16-remedy-for-answers-only" / "battles.json")


FLAT = {
    f"{name} {number}": (name, json.loads(shape["example"]))
    for name, about in load_words("flat", "mirage.io.formats").items()
    for number, shape in enumerate(about.get("shapes", [about]))
}


@pytest.mark.parametrize("case", FLAT)
def test_a_format_that_is_data_reads_its_example(tmp_path: Path, case: str) -> None:
    name, record = FLAT[case]
    for kind in ("jsonl", "csv") if all(isinstance(value, str | int) for value in record.values()) else ("jsonl",):
        tables, summary = read_file(write(tmp_path / f"x.{kind}", [{"language": "en", **record}]))
        assert summary.format == name
        assert not {entry.what for entry in summary.left_out} - {"idx", "answer.factuality"}
        assert set(tables) <= set(format_named(name).gives)


def test_formats_that_are_data_say_what_is_which() -> None:
    def read(case: str, table: str, **more: Any) -> list[dict[str, Any]]:
        rows = [{"language": "en", **FLAT[case][1], **more}]
        with tempfile.TemporaryDirectory() as folder:
            return read_file(write(Path(folder) / "x.jsonl", rows))[0][table].to_pylist()

    verdicts = read("pandalm 0", "judgments")
    assert {(row["judge"], row["system_a"], row["verdict"]) for row in verdicts} == {
        ("annotator1", "x", "A"),
        ("annotator2", "x", "tie"),
    }
    assert read("pandalm 0", "queries", input="The bridge.")[0]["text"] == "When?\n\nThe bridge."
    assert [read("auto-j 0", "judgments", label=label)[0]["verdict"] for label in (0, 1, "2")] == ["A", "B", "tie"]
    assert [(row["judge"], row["verdict"]) for row in read("judgebench 0", "judgments")] == [("label", "A")]
    assert [(row["system_b"], row["verdict"]) for row in read("ragelo 0", "judgments")] == [("y", "tie")]
    assert read("ragelo 2", "passages")[0]["passage_id"] == "d1"
    assert read("memerag 0", "answers")[0]["text"] == "In 1902."
    for case in ("chat 0", "chat 1", "chat 2"):
        assert [(row["system"], row["text"]) for row in read(case, "answers")] == [("x", "In 1902.")]
        assert read(case, "queries")[0]["text"].startswith("When")
    history = [{"role": "user", "content": "Hello"}]
    rows = read("chat 2", "turns", messages=history, question="When?", answer="In 1902.")
    assert rows[0]["text"] == "Hello"
