"""Flat files of anybody: failures, own scores, pairs, and columns that are no systems."""

from __future__ import annotations

import csv
import io
import json
import shlex
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

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
    "type": ({"exception_type": None}, {"exception_type": "ReadTimeout"}),
    "object": ({}, {"answer": {"error": {"message": "slow down"}}}),
    "finish": ({"finish_reason": "stop"}, {"finish_reason": "error"}),
}


@pytest.mark.parametrize("case", FAILED)
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_record_that_says_so_is_a_failed_answer(tmp_path: Path, case: str, kind: str) -> None:
    if kind == "csv" and case in ("error", "object"):
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
    "flags": [{"correct": True, "answer_correct": True}, {"correct": False, "answer_correct": False}],
    "gaps": [{"f1": 0.5}, {"f1": float("nan")}],
    "shares": [{"grade": "4/5", "recall": "85%"}, {"grade": "2/5", "recall": "80 %"}],
    "words": [{"verdict": "CORRECT"}, {"verdict": "incorrect"}],
    "objects": [{"evals": {"f1": {"score": 0.5, "reason": "x"}}}, {"evals": {"f1": {"score": 0.2, "reason": "y"}}}],
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
    wanted = next((inner for inner in SCORED[case][0].values() if isinstance(inner, dict)), SCORED[case][0])
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


PAIRS: dict[str, tuple[list[str], str, list[tuple[Any, str]]]] = {
    "letters": (["response_a", "response_b"], "label", [("A>B", "A"), ("B>A", "B"), ("tie", "tie")]),
    "numbers": (["answer_1", "answer_2"], "winner", [("answer_1", "A"), ("2", "B"), ("none", "tie")]),
    "sides": (["left_output", "right_output"], "preference", [("left", "A"), ("right", "B"), ("draw", "tie")]),
    "letters x and y": (["output_X", "output_Y"], "rater_preference", [("X", "A"), ("Y", "B"), ("tie", "tie")]),
    "camel": (["responseA", "responseB"], "verdict", [("[[A]]", "A"), ("[[b]]", "B"), ("C", "")]),
    "qualities": (["chosen", "rejected"], "", [("", "A"), ("", "A"), ("", "A")]),
    "models": (
        ["model_a_response", "model_b_response"],
        "choice",
        [("model_a", "A"), ("Model B", "B"), ("both_bad", "both_bad")],
    ),
}


@pytest.mark.parametrize("case", PAIRS)
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_two_answers_in_places_are_a_pair(tmp_path: Path, case: str, kind: str) -> None:
    places, name, words = PAIRS[case]
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


NO_SYSTEMS = {
    "codes": (["answer_en", "answer_de"], "--set language="),
    "names": (["English answer", "German answer", "French answer"], "--set language="),
    "regions": (["pt-BR_response", "pt-PT_response"], "--set language="),
    "lengths": (["short_answer", "long_answer"], "--map"),
    "numbered": (["answer_1", "answer_2", "answer_3"], "--map"),
    "kinds": (["yes_no_answer", "best_answer"], "--map"),
}


@pytest.mark.parametrize("case", NO_SYSTEMS)
def test_languages_qualities_and_parts_are_no_systems(tmp_path: Path, case: str) -> None:
    names, told = NO_SYSTEMS[case]
    rows = [{"question": asked, **dict.fromkeys(names, "Im Jahr 1902.")} for asked in ASKED]
    with pytest.raises(BadInput) as refused:
        read_file(write(tmp_path / "x.jsonl", rows))
    assert told in refused.value.do
    assert all(name in str(refused.value) for name in names)


def test_pairs_and_languages_of_the_field(turn5: Path, tmp_path: Path) -> None:
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
    with pytest.raises(BadInput, match=f"gpt_answer and {second}") as refused:
        read_file(path)
    assert "--map" in refused.value.do
    tables, _ = read_file(path, options=Options({second: "note_1"}))
    assert set(tables["answers"]["text"].to_pylist()) == {"1902.", "Nie."}


UNKNOWN: dict[str, tuple[list[dict[str, Any]], str]] = {
    "winners by name": (
        [
            {"question": ASKED[0], "fw_a": "x", "fw_b": "y", "winner": "y", "margin": "clear"},
            {"question": ASKED[1], "fw_a": "x", "fw_b": "z", "winner": "x", "margin": "clear"},
        ],
        "--as pairs --map fw_a=system_a --map fw_b=system_b",
    ),
    "a verdict alone": (
        [{"item": 1, "outcome": "A"}, {"item": 2, "outcome": "TIE"}],
        "--as judgments --map outcome=verdict --set system_a=NAME --set system_b=NAME",
    ),
    "a verdict in words": (
        [{"no": 1, "vote": "left"}, {"no": 2, "vote": "right"}],
        "--as judgments --map vote=verdict --value verdict:left=A --value verdict:right=B --set system_a=NAME",
    ),
    "systems and a verdict": (
        [{"task": "x1", "left_model": "x", "right_model": "y", "decision": "B>A", "rater": "r"}],
        "--map rater=judge --map left_model=system_a --map right_model=system_b --value 'verdict:B>A=B'",
    ),
    "a question and a reply": (
        [{"frage": asked, "bot_reply": "Im Jahr 1902.", "engine": "x"} for asked in ASKED],
        "--as rag --map frage=question --map bot_reply=answer --map engine=system",
    ),
    "a pair in one field": (
        [{"key": "t1:x_vs_y", "votes": ["1"], "result": "loss"}, {"key": "t1:x_vs_z", "votes": [], "result": "win"}],
        "--as pairs --map key=systems --map result=verdict",
    ),
    "candidates": (
        [{"prompt_id": k, "fav": fav, "candidates": ["x y", "z"]} for k, fav in enumerate(("z", "x y"))],
        "--as pairs --map candidates=systems --map fav=verdict --map prompt_id=id",
    ),
    "places of any name": (
        [
            {"question": asked, "opcion_1": "Está aquí.", "opcion_2": "No lo sé.", "ganador": word}
            for asked, word in zip(ASKED, ("1", "2", "empate"), strict=True)
        ],
        "--map ganador=verdict --value verdict:1=A --value verdict:2=B --value verdict:empate=tie --set system_a=NAME",
    ),
    "answers that verdicts name": (
        [
            {"question": asked, "baseline_output": "1902 war es.", "model_output": "Nie.", "winner": word}
            for asked, word in zip(ASKED, ("model", "baseline", "tie"), strict=True)
        ],
        "--map baseline_output=answer_a --map model_output=answer_b --map winner=verdict --set system_a=baseline",
    ),
    "answers by system": (
        [
            {"question": asked, "answers": {"u": "Es war so.", "v": "Nie."}, "winner": "uvu"[k]}
            for k, asked in enumerate(ASKED)
        ],
        "--as pairs --map answers.u=answer_a --map answers.v=answer_b --map winner=verdict --set system_a=u",
    ),
    "an opponent": (
        [
            {"question": q, "model": "u", "opponent": "v", "result": w}
            for q, w in zip(ASKED, ("win", "loss", "tie"), strict=True)
        ],
        "--as pairs --map result=verdict --map model=system_a --map opponent=system_b",
    ),
    "winner and loser": (
        [{"question": ASKED[0], "winner": "u", "loser": "v"}, {"question": ASKED[1], "winner": "v", "loser": "u"}],
        "--as pairs --map winner=system_a --map loser=system_b --set verdict=A",
    ),
    "lists and a place": (
        [
            {"question": q, "responses": ["Ja.", "Nein."], "models": ["u", "v"], "winner": w}
            for w, q in enumerate(ASKED[:2])
        ],
        "--as pairs --map models=systems --map responses=answers --value winner:0=A --value winner:1=B",
    ),
    "a tie of any language": (
        [
            {"chat": k, "system_1": "u", "system_2": "v", "gewinner": w}
            for k, w in enumerate(("u", "v", "unentschieden"))
        ],
        "--map gewinner=verdict --value verdict:unentschieden=tie",
    ),
    "a flag": (
        [{"task": k, "a_is_better": k == 1} for k in range(3)],
        "--value verdict:false=B --value verdict:true=A --set system_a=NAME",
    ),
    "judges beside a pair": (
        [{"prompt_id": k, "human_winner": h, "ai_winner": "B", "models": "u vs v"} for k, h in enumerate(("A", "Tie"))],
        "--as pairs --map models=systems --map prompt_id=id",
    ),
    "an abbreviation": (
        [
            {"idx": 1, "question": asked, "gold": "Um 1902", "pred": "Im Jahr 1902.", "verdict": "CORRECT"}
            for asked in ASKED
        ],
        "--as rag --map pred=answer --map gold=reference --set system=NAME",
    ),
    "names that are texts": (
        [{"frage": asked, "assistant_a": "1902.", "assistant_b": "Nie?", "verdict": "[[B]]"} for asked in ASKED],
        "--as pairs --map assistant_a=answer_a --map assistant_b=answer_b --map frage=question --set system_a=NAME",
    ),
    "systems that are texts": (
        [{"query": asked, "system_a": "Im Jahr 1902.", "system_b": "1902 war es.", "verdict": "A"} for asked in ASKED],
        "--as pairs --map system_a=answer_a --map system_b=answer_b --map query=question --set system_a=NAME",
    ),
    "other spellings": (
        [{"Fragen": asked, "Antworten": "Im Jahr 1902.", "Modelle": "x", "Kontexte": ["Es."]} for asked in ASKED],
        "--map Fragen=question --map Antworten=answer --map Kontexte=contexts --map Modelle=system",
    ),
    "other scripts": (
        [{"问题": f"这座桥{k}是哪一年建成的？", "回答": "1902年。", "模型": x} for k in "12" for x in "xy"],
        "--as rag --map '问题=question' --map '回答=answer' --map '模型=system'",
    ),
    "nested": (
        [{"turn": {"utterance": asked}, "result": {"generated_text": "1902 war es."}} for asked in ASKED],
        "--as rag --map turn.utterance=question --map result.generated_text=answer --set system=NAME",
    ),
    "questions": ([{"q": asked, "topic": "x"} for asked in ASKED], "--as queries --map q=text"),
    "no texts": ([{"model": "x", "accuracy": 0.5}], "give the file with the answers themselves"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_a_refusal_looks_at_the_file(tmp_path: Path, case: str) -> None:
    rows, wanted = UNKNOWN[case]
    file = write(tmp_path / "x.jsonl", rows)
    with pytest.raises(BadInput, match="unknown format") as refused:
        read_file(file)
    assert wanted in refused.value.do
    if "--map" in wanted:
        words = shlex.split(refused.value.do.rpartition("alone: ")[2])
        given = {option: [b for a, b in pairwise(words) if a == option] for option in words}
        sets = [pair.replace("b=NAME", "b=OTHER") for pair in given.get("--set", [])]
        options = Options.parse(given.get("--map", []), sets, given.get("--value", []))
        assert read_file(file, name=given["--as"][0], options=options)[1].records == len(rows)


REPEATED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "turns": ([{"timestamp": f"2026-08-0{k}T15:10", "user": "x", "latency": k} for k in (1, 2)], "--map timestamp=id"),
    "numbers": ([{"messageId": 7, "tokens": 3}, {"messageId": 8, "tokens": 5}], "--map messageId=id"),
    "systems": ([{"reranker": "none", "ms": 1}, {"reranker": "ja", "ms": 2}, {"reranker": "ja", "ms": 2}], "reranker"),
}


def test_lists_within_a_document_are_named(tmp_path: Path) -> None:
    document = {
        "model": "j",
        "cell_e": {"rows": [{"question": ASKED[0], "pred": "1902."}]},
        "f": {"rows": [{"question": "?"}]},
    }
    with pytest.raises(BadInput, match=r"the records are in cell_e.rows and f.rows, with question, pred") as refused:
        read_file(write(tmp_path / "x.json", [document]))
    assert "'.cell_e.rows[]'" in refused.value.do


def test_runs_numbered_by_another_name_are_samples_whose_scores_are_averaged(tmp_path: Path) -> None:
    rows = [
        {"question": asked, "answer": f"Im Jahr 190{run}.", "system": "s", "epoch": run, "score": run - 1}
        for asked in ASKED
        for run in (2, 1)
    ]
    with pytest.raises(BadInput) as refused:
        read_file(path := write(tmp_path / "x.jsonl", rows))
    assert "--map epoch=sample" in refused.value.do
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


@pytest.mark.parametrize("case", REPEATED)
def test_two_answers_to_one_question_are_told_what_tells_them_apart(tmp_path: Path, case: str) -> None:
    told, wanted = REPEATED[case]
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
    with pytest.raises(BadInput, match="winner holds verdicts, but no field names the two systems") as refused:
        read_file(turn5 / "16-remedy-for-answers-only" / "battles.json")
    assert "--as judgments --map winner=verdict --map id=query_id --set system_a=NAME" in refused.value.do


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
