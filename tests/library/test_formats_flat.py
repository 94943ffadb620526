"""Flat files of anybody: failures, own scores, pairs, and columns that are no systems."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from mirage.io.imports.formats import import_file, read_file
from mirage.io.options import Options
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
        path.write_text(text.getvalue(), encoding="utf-8")
    else:
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
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


FAILED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "error": ({"error": None}, {"error": {"code": 429, "message": "slow down"}}),
    "llm_error": ({"llm_error": ""}, {"llm_error": "HTTP 429"}),
    "success": ({"success": True}, {"success": False}),
    "status": ({"status": "success"}, {"status": "timeout"}),
    "code": ({"status_code": 200}, {"status_code": 503}),
    "flag": ({"is_error": "false"}, {"is_error": "true"}),
    "finish": ({"finish_reason": "stop"}, {"finish_reason": "error"}),
}


@pytest.mark.parametrize("case", FAILED)
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_record_that_says_so_is_a_failed_answer(tmp_path: Path, case: str, kind: str) -> None:
    if kind == "csv" and case == "error":
        pytest.skip("an object is no cell")
    rows = [
        {"question": asked, "system": system, "answer": "Es war 1902.", **told}
        for asked in ASKED
        for system, told in zip(("nord", "süd"), FAILED[case], strict=True)
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


SCORED: dict[str, list[dict[str, Any]]] = {
    "names": [{"f1": 0.9, "hit_at_k": 1}, {"f1": 0.2, "hit_at_k": 0}],
    "flags": [{"correct": True}, {"correct": False}],
    "object": [{"metrics": {"bleu": 31.5, "chrF++": 55}}, {"metrics": {"bleu": 12.0, "chrF++": 40}}],
}


@pytest.mark.parametrize("case", SCORED)
def test_numbers_beside_an_answer_are_scores_of_the_file(tmp_path: Path, case: str) -> None:
    about = {"difficulty": 3, "tokens": 40, "year": "1902", "row": 0, "latency_s": 1.5, "seed": 7, "note": "x"}
    rows = [
        {"question": asked, "system": system, "answer": f"Es war 19{place}.", **about, "year_built": place, **measured}
        for place, asked in enumerate(ASKED)
        for system, measured in zip(("x", "y"), SCORED[case], strict=True)
    ]
    rows[0]["note"] = 1
    tables, summary = read_file(write(tmp_path / "x.jsonl", rows))
    wanted = SCORED[case][0].get("metrics", SCORED[case][0])
    assert set(tables["scores"]["measure"].to_pylist()) == set(wanted)
    assert len(tables["scores"]) == len(ASKED) * 2 * len(wanted)
    assert {"difficulty", "tokens", "year", "row", "latency_s", "seed", "note"} <= {e.what for e in summary.left_out}


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
