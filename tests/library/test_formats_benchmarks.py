"""Files of evaluation programs and benchmarks: each value lands where it should, and a damaged file is refused with the
file, the field and what to do.
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mirage import store
from mirage.errors import BadInput
from mirage.io.imports.formats import FileImport, import_file
from mirage.io.sources.files import Options

ASK = "Which birds nest in the harbour of the island in spring?"
OTHER = "When was the lighthouse on the northern mole lit for the first time?"
SAID = "Terns nest on the mole [1]."
PASSAGE = "Terns nest on the mole; gulls do not."
KEY = "sk-proj-abcdefghijklmnop0123456789"


def document(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


def jsonl(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return path


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def taken(path: Path, into: Path, name: str, **options: Mapping[str, Any]) -> FileImport:
    """Import a file that must be recognised, and check the arena."""
    result = import_file(path, into, options=Options(**options) if options else None)
    assert result.summary.format == name
    store.check(result.arena)
    return result


def column(result: FileImport, table: str, name: str) -> list[Any]:
    return result.arena.read(table)[name].to_pylist()


def answers(result: FileImport) -> dict[str, str | None]:
    return dict(zip(column(result, "answers", "system"), column(result, "answers", "text"), strict=True))


def verdicts(result: FileImport) -> set[tuple[str, str, str, str]]:
    rows = result.arena.read("judgments").to_pylist()
    return {(row["judge"], row["system_a"], row["system_b"], row["verdict"]) for row in rows}


def scores(result: FileImport) -> dict[tuple[str, str, str], float | None]:
    rows = result.arena.read("scores").to_pylist()
    return {(row["system"], row["measure"], row["rater"]): row["value"] for row in rows}


def left_out(result: FileImport) -> dict[str, int]:
    return {entry.what: entry.n for entry in result.summary.left_out}


# Inspect


def header(**more: Any) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-10-01T10:00:00+00:00",
            "task": "harbour",
            "dataset": {"name": "harbour", "samples": 2, "shuffled": False},
            "model": "openai/gpt-4o",
            "model_args": {"api_key": KEY},
            "model_base_url": "http://localhost:11434/v1",
            "config": {"epochs": 2},
        },
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "results": {"total_samples": 2, "completed_samples": 2, "scores": []},
        "stats": {"started_at": "2026-10-01T10:00:00+00:00", "completed_at": "2026-10-01T10:01:00+00:00"},
    } | more


def sample(number: int = 1, epoch: int = 1, said: Any = SAID, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "epoch": epoch,
        "input": ASK if number == 1 else [{"role": "user", "content": "Hello"}, {"role": "user", "content": OTHER}],
        "target": "Terns" if number == 1 else ["1902", "in 1902"],
        "messages": [{"role": "user", "content": ASK, "source": "input"}],
        "output": {
            "model": "gpt-4o",
            "choices": [
                {"message": {"role": "assistant", "content": said, "source": "generate"}, "stop_reason": "stop"}
            ],
            "usage": {"input_tokens": 66, "output_tokens": 3, "total_tokens": 69},
            "time": 1.9,
        },
        "scores": {
            "match": {"value": "C", "answer": "Terns", "explanation": SAID},
            "model_graded_qa": {"value": "P", "explanation": "partly"},
            "lengths": {"value": {"words": 5, "characters": 27}},
        },
        "metadata": {"contexts": [PASSAGE], "topic": "birds", "api_key": KEY},
        "store": {},
        "events": [{"event": "sample_init", "state": {"metadata": {"authorization": f"Bearer {KEY}"}}}],
        "attachments": {},
    } | more


def archive(path: Path, head: Mapping[str, Any], *samples: Mapping[str, Any], name: str = "header.json") -> Path:
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("_journal/start.json", json.dumps({"version": 2, "eval": head["eval"], "plan": head["plan"]}))
        for entry in samples:
            packed.writestr(f"samples/{entry['id']}_epoch_{entry['epoch']}.json", json.dumps(entry, indent=2))
        packed.writestr("summaries.json", json.dumps([]))
        packed.writestr(name, json.dumps(head, indent=2))
    return path


@pytest.mark.parametrize("form", ["eval", "json"])
def test_inspect_logs_become_answers_with_the_scores_of_scorers(tmp_path: Path, form: str) -> None:
    thinking = [{"type": "reasoning", "reasoning": "It was lit in 1902."}, {"type": "text", "text": "In 1902."}]
    samples = [sample(1), sample(1, 2, "Gulls."), sample(2, 1, thinking, scores={"match": {"value": 0.5}})]
    path = tmp_path / f"log.{form}"
    if form == "eval":
        archive(path, header(), *samples)
    else:
        document(path, header(samples=samples))
    result = taken(path, tmp_path / "arena", "inspect")
    rows = {row["query_id"]: row for row in result.arena.read("answers").to_pylist()}
    assert {query_id: row["text"] for query_id, row in rows.items()} == {"harbour:1": SAID, "harbour:2": "In 1902."}
    assert {row["system"] for row in rows.values()} == {"openai/gpt-4o"}
    assert rows["harbour:2"]["thoughts"] == "It was lit in 1902."
    assert sorted(column(result, "references", "text")) == ["1902", "Terns"]
    assert column(result, "passages", "text") == [PASSAGE, PASSAGE]
    assert scores(result) == {
        ("openai/gpt-4o", "match", "inspect"): 0.5,
        ("openai/gpt-4o", "model_graded_qa", "inspect"): 0.5,
        ("openai/gpt-4o", "lengths words", "inspect"): 5,
        ("openai/gpt-4o", "lengths characters", "inspect"): 27,
    }
    (further,) = result.arena.read("samples").to_pylist()
    assert (further["query_id"], further["sample"], further["text"]) == ("harbour:1", 1, "Gulls.")
    assert left_out(result)["keys and passwords"] == 3
    every = str([result.arena.read(name).to_pylist() for name in result.arena.tables])
    assert KEY not in every


def test_inspect_samples_that_failed_or_were_cut_say_so(tmp_path: Path) -> None:
    cut = sample(1)
    cut["output"]["choices"][0]["stop_reason"] = "max_tokens"
    failed = sample(2, output={"model": "gpt-4o", "choices": []}, scores=None, error={"message": "timeout"})
    result = taken(archive(tmp_path / "log.eval", header(), cut, failed), tmp_path / "arena", "inspect")
    assert column(result, "answers", "status") == ["truncated", "api_error"]
    assert column(result, "answers", "reason") == [None, "timeout"]


def test_inspect_texts_that_are_attachments_are_resolved(tmp_path: Path) -> None:
    held = sample(1, input="attachment://abc", attachments={"abc": ASK})
    result = taken(archive(tmp_path / "log.eval", header(), held), tmp_path / "arena", "inspect")
    assert column(result, "queries", "text") == [ASK]


def test_inspect_logs_of_another_version_and_damaged_archives_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="version 3") as refused:
        import_file(archive(tmp_path / "new.eval", header(version=3), sample(1)), tmp_path / "arena")
    assert "samples/1_epoch_1.json" in refused.value.where
    whole = archive(tmp_path / "log.eval", header(), sample(1))
    (tmp_path / "cut.eval").write_bytes(whole.read_bytes()[:-60])
    with pytest.raises(BadInput, match="damaged or incomplete") as refused:
        import_file(tmp_path / "cut.eval", tmp_path / "arena")
    assert "cut.eval" in refused.value.where
    data = bytearray(whole.read_bytes())
    at = data.index(b"samples/1_epoch_1.json") + 60
    data[at : at + 20] = bytes(20)
    (tmp_path / "bad.eval").write_bytes(data)
    with pytest.raises(BadInput, match="damaged or incomplete") as refused:
        import_file(tmp_path / "bad.eval", tmp_path / "arena")
    assert "samples/1_epoch_1.json" in refused.value.where
    with pytest.raises(BadInput, match="no samples"):
        import_file(document(tmp_path / "head.json", header()), tmp_path / "arena")
    assert not store.is_arena(tmp_path / "arena")


def test_inspect_archives_packed_with_zstd_are_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "log.eval", header(), sample(1))
    with zipfile.ZipFile(path) as packed:
        members = [(entry, packed.read(entry)) for entry in packed.infolist()]
    stored = tmp_path / "zstd.eval"
    with zipfile.ZipFile(stored, "w", compression=zipfile.ZIP_STORED) as packed:
        for entry, data in members:
            packed.writestr(entry.filename, pa.compress(data, codec="zstd", asbytes=True))
    raw = bytearray(stored.read_bytes())
    with zipfile.ZipFile(stored) as packed:
        places = [(entry.header_offset, entry.filename) for entry in packed.infolist()]
        start = packed.start_dir
    # Mark each member as packed with zstd, with the size and checksum of what it holds.
    for (at, name), (_, data) in zip(places, members, strict=True):
        for place, offset in ((at, 0), (raw.index(name.encode(), start) - 46, 2)):
            raw[place + 8 + offset : place + 10 + offset] = (93).to_bytes(2, "little")
            raw[place + 14 + offset : place + 18 + offset] = zipfile.crc32(data).to_bytes(4, "little")
            raw[place + 22 + offset : place + 26 + offset] = len(data).to_bytes(4, "little")
    stored.write_bytes(raw)
    assert answers(taken(stored, tmp_path / "arena", "inspect")) == {"openai/gpt-4o": SAID}


# lm-eval


def lm_eval_sample(**more: Any) -> dict[str, Any]:
    return {
        "doc_id": 0,
        "doc": {"id": "w1", "question": ASK, "answer": "Terns", "context": PASSAGE},
        "target": "Terns",
        "arguments": {"gen_args_0": {"arg_0": f"Context: {PASSAGE}\nQuestion: {ASK}", "arg_1": {"until": ["\n"]}}},
        "resps": [[SAID]],
        "filtered_resps": [SAID],
        "filter": "none",
        "metrics": ["exact_match", "f1"],
        "doc_hash": "a" * 64,
        "prompt_hash": "b" * 64,
        "target_hash": "c" * 64,
        "exact_match": 0.0,
        "f1": 0.4,
    } | more


def test_lm_eval_samples_are_named_by_folder_task_and_filter(tmp_path: Path) -> None:
    strict = lm_eval_sample(filter="strict-match", metrics=["exact_match"], exact_match=1.0)
    path = tmp_path / "out" / "meta-llama__Llama-3.1-8B" / "samples_harbour_qa_2026-10-01T10-00-00.123456.jsonl"
    result = taken(jsonl(path, lm_eval_sample(), strict), tmp_path / "arena", "lm-eval")
    system = "meta-llama/Llama-3.1-8B"
    assert answers(result) == {system: SAID}
    assert column(result, "queries", "query_id") == ["harbour_qa:0"]
    assert column(result, "references", "text") == ["Terns"]
    assert column(result, "passages", "text") == [PASSAGE]
    assert scores(result) == {
        (system, "exact_match", "lm-eval"): 0.0,
        (system, "f1", "lm-eval"): 0.4,
        (system, "exact_match,strict-match", "lm-eval"): 1.0,
    }


def test_lm_eval_repeats_are_samples_once_for_all_filters(tmp_path: Path) -> None:
    texts = [SAID, "Gulls.", SAID]
    records = [lm_eval_sample(filter=name, resps=[texts]) for name in ("none", "strict-match")]
    path = jsonl(tmp_path / "a__b" / "samples_harbour_2026-10-01T10-00-00.jsonl", *records)
    result = taken(path, tmp_path / "arena", "lm-eval")
    assert answers(result) == {"a/b": SAID}
    further = {row["sample"]: row["text"] for row in result.arena.read("samples").to_pylist()}
    assert further == {1: "Gulls.", 2: SAID}


def test_lm_eval_multiple_choice_answers_with_the_likeliest(tmp_path: Path) -> None:
    calls = {f"gen_args_{k}": {"arg_0": ASK, "arg_1": name} for k, name in enumerate((" Gulls", " Terns"))}
    record = lm_eval_sample(
        arguments=calls, resps=[[["-4.5", "False"]], [["-0.5", "True"]]], metrics=["acc"], acc=1.0, target="1"
    )
    result = taken(jsonl(tmp_path / "m" / "samples_t_2026-10-01T10-00-00.jsonl", record), tmp_path / "arena", "lm-eval")
    assert answers(result) == {"m": "Terns"}


def test_lm_eval_without_a_question_says_what_doc_has(tmp_path: Path) -> None:
    record = lm_eval_sample(doc={"x": 1, "y": 2}, arguments={})
    with pytest.raises(BadInput, match="doc has x, y") as refused:
        import_file(jsonl(tmp_path / "samples.jsonl", record), tmp_path / "arena")
    assert "--map doc." in refused.value.do


# Battles


def test_lmsys_battles_with_the_texts_of_their_turns(tmp_path: Path) -> None:
    rows = [
        {
            "id": 30192,
            "model_a": "gpt-4-1106-preview",
            "model_b": "koala-13b",
            "prompt": json.dumps(["Hello", ASK]),
            "response_a": json.dumps(["Hi.", SAID]),
            "response_b": json.dumps(["Yes?", None]),
            "winner_model_a": 1,
            "winner_model_b": 0,
            "winner_tie": 0,
        }
    ]
    result = taken(table(tmp_path / "train.csv", rows), tmp_path / "a", "lmsys")
    assert column(result, "queries", "text") == [ASK]
    assert column(result, "turns", "text") == ["Hello"]
    assert answers(result) == {"gpt-4-1106-preview": SAID, "koala-13b": None}
    assert verdicts(result) == {("human", "gpt-4-1106-preview", "koala-13b", "A")}
    assert left_out(result)["earlier answers"] == 2
    plain = {"id": "b1", "prompt": OTHER, "response_a": "1902", "response_b": "1903", "winner": "model_b"}
    named = plain | {"model_a": "x", "model_b": "y", "language": "English"}
    wsdm = taken(table(tmp_path / "wsdm.csv", [named]), tmp_path / "b", "lmsys")
    assert verdicts(wsdm) == {("human", "x", "y", "B")}
    assert column(wsdm, "queries", "language") == ["en"]


def test_lmsys_rows_with_two_winners_are_refused(tmp_path: Path) -> None:
    row = {"id": 1, "model_a": "x", "model_b": "y", "prompt": ASK, "response_a": "1", "response_b": "2"}
    wrong = row | {"winner_model_a": 1, "winner_model_b": 1, "winner_tie": 0}
    with pytest.raises(BadInput, match="more than one") as refused:
        import_file(table(tmp_path / "t.csv", [wrong]), tmp_path / "arena")
    assert refused.value.where.endswith("t.csv:2")


def test_arena_hard_of_both_versions(tmp_path: Path) -> None:
    jsonl(tmp_path / "v2" / "question.jsonl", {"uid": "u1", "category": "coding", "subcategory": "x", "prompt": ASK})
    for model in ("base", "mine"):
        said = {"role": "assistant", "content": {"answer": f"{SAID} {model}"}}
        message = {"uid": "u1", "ans_id": "z", "model": model, "messages": [{"role": "user", "content": ASK}, said]}
        jsonl(tmp_path / "v2" / "model_answer" / f"{model}.jsonl", {**message, "tstamp": 1.0, "metadata": {}})
    games = [
        {
            "score": "B>>A",
            "judgment": {"answer": "B is better. [[B>>A]]"},
            "prompt": [{"role": "user", "content": "..."}],
        },
        {"score": None, "judgment": {"answer": "?"}, "prompt": []},
    ]
    judged = {
        "uid": "u1",
        "category": "coding",
        "judge": "gpt-4.1",
        "model": "mine",
        "baseline": "base",
        "games": games,
    }
    jsonl(tmp_path / "v2" / "model_judgment" / "gpt-4.1" / "mine.jsonl", judged)
    result = taken(tmp_path / "v2", tmp_path / "a", "arena-hard", values={"language": "en"})
    assert answers(result) == {"base": f"{SAID} base", "mine": f"{SAID} mine"}
    assert verdicts(result) == {("gpt-4.1", "base", "mine", "B"), ("gpt-4.1", "mine", "base", "unparsed")}

    turns = [{"content": ASK}]
    jsonl(tmp_path / "v1" / "question.jsonl", {"question_id": "q", "category": "c", "cluster": "k", "turns": turns})
    choice = [{"index": k, "turns": [{"content": text}]} for k, text in enumerate((SAID, "Gulls."))]
    given = {"question_id": "q", "answer_id": "a", "model_id": "mine", "choices": choice, "tstamp": 1.0}
    jsonl(tmp_path / "v1" / "mine.jsonl", given)
    game = {"user_prompt": "...", "judgment": "My verdict: [[A=B]]", "score": "A=B"}
    jsonl(tmp_path / "v1" / "judged.jsonl", {"question_id": "q", "model": "mine", "judge": "g", "games": [game, game]})
    old = taken(tmp_path / "v1", tmp_path / "b", "arena-hard", values={"language": "en"})
    assert answers(old) == {"mine": SAID}
    assert column(old, "samples", "text") == ["Gulls."]
    assert verdicts(old) == {("g", "gpt-4-0314", "mine", "tie"), ("g", "mine", "gpt-4-0314", "tie")}


def test_pairs_of_pandalm_judgebench_and_auto_j(tmp_path: Path) -> None:
    pair = {
        "idx": 0,
        "motivation_app": "Guide",
        "cmp_key": "bloom-7b_llama-7b",
        "instruction": ASK,
        "input": float("nan"),
        "response1": "Terns.",
        "response2": "Gulls.",
        "annotator1": 1,
        "annotator2": 0,
        "annotator3": 2,
        "gpt_result": 1,
    }
    panda = taken(document(tmp_path / "testset.json", [pair]), tmp_path / "a", "pandalm")
    assert column(panda, "queries", "text") == [ASK]
    assert verdicts(panda) == {
        ("annotator1", "bloom-7b", "llama-7b", "A"),
        ("annotator2", "bloom-7b", "llama-7b", "tie"),
        ("annotator3", "bloom-7b", "llama-7b", "B"),
        ("gpt", "bloom-7b", "llama-7b", "A"),
    }
    with pytest.raises(BadInput, match="two models"):
        import_file(document(tmp_path / "no.json", [{**pair, "cmp_key": ""}]), tmp_path / "no")

    judged = {
        "pair_id": "p1",
        "original_id": "o1",
        "source": "mmlu-pro-history",
        "question": ASK,
        "response_model": "gpt-4o",
        "response_A": "Terns.",
        "response_B": "Gulls.",
        "label": "A>B",
        "judge_name": "arena_hard",
        "judgments": [
            {"judgment": {"response": "A wins"}, "decision": "A>B"},
            {"judgment": {}, "decision": "A>B"},
        ],
    }
    name = "dataset=judgebench,response_model=gpt-4o,judge_name=arena_hard,judge_model=o1-mini.jsonl"
    bench = taken(jsonl(tmp_path / name, judged), tmp_path / "b", "judgebench")
    assert {("label", "gpt-4o A", "gpt-4o B", "A"), ("o1-mini", "gpt-4o B", "gpt-4o A", "A")} <= verdicts(bench)

    auto = {"scenario": "chitchat", "label": 1, "prompt": ASK, "response 1": "Gulls.", "response 2": "Terns."}
    pairs = taken(jsonl(tmp_path / "testdata_pairwise.jsonl", auto), tmp_path / "c", "auto-j")
    assert verdicts(pairs) == {("human", "response 1", "response 2", "B")}
    with pytest.raises(BadInput, match="0, 1 or 2"):
        import_file(jsonl(tmp_path / "bad.jsonl", auto | {"label": 5}), tmp_path / "d")


def test_wildbench_scores_and_choices(tmp_path: Path) -> None:
    scored = {
        "session_id": "ae006110bb364606",
        "parsed_result": {"strengths": "s", "weaknesses": "w", "score": "7"},
        "meta_data": {"usage": {}, "error": None},
        "model_test": "google/gemma-2b-it",
        "score": "7",
        "model_output": "Terns.",
    }
    session = {"session_id": "ae006110bb364606", "primary_tag": "Info", "language": "English"}
    session |= {"conversation_input": [{"role": "user", "content": ASK}]}
    jsonl(tmp_path / "w" / "sessions.jsonl", session)
    document(tmp_path / "w" / "eval=gpt-4o" / "gemma.json", [scored])
    result = taken(tmp_path / "w", tmp_path / "a", "wildbench")
    assert scores(result) == {("google/gemma-2b-it", "rating", "gpt-4o"): 7}
    assert column(result, "queries", "text") == [ASK]
    pair = {
        "session_id": "s2",
        "history": "",
        "last_query": OTHER,
        "model_output": "1902",
        "generator": "mine",
        "ref_output": "1903",
        "ref_generator": "base",
        "eval_config": {"mode": "pairwise", "gpt": "gpt-4-turbo", "max_words": 1000},
        "assignment": {"A": "base", "B": "mine"},
        "result": "{}",
        "parsed_result": {"reason": "B is right", "choice": "B+"},
        "winner": "mine",
    }
    both = taken(document(tmp_path / "pairs.json", [pair]), tmp_path / "b", "wildbench")
    (row,) = both.arena.read("judgments").to_pylist()
    assert (row["judge"], row["system_a"], row["verdict"], row["points"]) == ("gpt-4-turbo", "base", "B", 0.25)


# RAG benchmarks


def ragchecker(**more: Any) -> dict[str, Any]:
    return {
        "query_id": "000",
        "query": ASK,
        "gt_answer": "Terns.",
        "response": SAID,
        "retrieved_context": [{"doc_id": "d1", "text": PASSAGE}],
        "response_claims": [["terns", "nest on", "mole"]],
        "retrieved2response": [["Entailment"]],
        "metrics": {"precision": 1.0, "recall": 0.5, "faithfulness": 1.0},
    } | more


def test_ragchecker_results(tmp_path: Path) -> None:
    value = {"results": [ragchecker()], "metrics": {"overall_metrics": {"precision": 100.0}}}
    result = taken(document(tmp_path / "bot.json", value), tmp_path / "a", "ragchecker")
    assert answers(result) == {"bot": SAID}
    assert scores(result)["bot", "recall", "ragchecker"] == 0.5
    assert column(result, "references", "text") == ["Terns."]


def test_rgb_and_alce(tmp_path: Path) -> None:
    row = {"id": 0, "query": ASK, "ans": [["Terns", "tern"]], "label": [1], "prediction": "Terns.", "docs": [PASSAGE]}
    row |= {"noise_rate": 0.4, "factlabel": 0}
    more = {**row, "id": 1, "query": OTHER, "label": [-1], "prediction": "insufficient information"}
    path = jsonl(tmp_path / "prediction_en_chatgpt_temp0.2_noise0.4_passage5_correct0.0.json", row, more)
    rgb = taken(path, tmp_path / "a", "rgb")
    assert set(answers(rgb)) == {"chatgpt"}
    assert column(rgb, "queries", "language") == ["en", "en"]
    assert column(rgb, "references", "text") == ["Terns", "Terns"]
    assert column(rgb, "scores", "value") == [1.0, None]

    item = {
        "question": ASK,
        "sample_id": "7",
        "qa_pairs": [{"question": "?", "short_answers": ["terns"]}],
        "annotations": [{"long_answer": "Terns nest there."}],
        "docs": [{"id": "9", "title": "Guide", "text": PASSAGE, "score": 0.5, "answers_found": [1]}],
        "prompt": "...",
        "output": SAID,
    }
    value = {"args": {"model": "gpt-3.5-turbo", "openai_api": True, "shot": 2}, "data": [item], "total_cost": 0}
    alce = taken(document(tmp_path / "asqa.json", value), tmp_path / "b", "alce")
    assert answers(alce) == {"gpt-3.5-turbo": SAID}
    assert column(alce, "passages", "title") == ["Guide"]
    assert column(alce, "references", "text") == ["Terns nest there."]
    assert column(alce, "answers", "numbered") == [True]


def test_runs_of_ranx_as_tables_objects_and_lz4(tmp_path: Path) -> None:
    rows = [{"q_id": "q1", "doc_id": "d2", "score": 0.5}, {"q_id": "q1", "doc_id": "d1", "score": 0.9}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "bm25.parquet")
    run = taken(tmp_path / "bm25.parquet", tmp_path / "a", "ranx")
    ranked = run.arena.read("retrieved").to_pylist()
    assert [(row["retriever"], row["passage_id"], row["rank"]) for row in ranked] == [
        ("bm25", "d1", 1),
        ("bm25", "d2", 2),
    ]
    packed = pa.compress(json.dumps({"q1": {"d1": 0.9}}).encode(), codec="lz4", asbytes=True)
    (tmp_path / "dense.json.lz4").write_bytes(packed)
    dense = import_file(tmp_path / "dense.json.lz4", tmp_path / "b", name="ranx")
    assert dense.arena.read("retrieved")["retriever"].to_pylist() == ["dense"]


def test_reports_of_ragtime_and_neuclir(tmp_path: Path) -> None:
    ragtime = {
        "metadata": {"team_id": "team", "run_id": "run", "topic_id": "700", "type": "automatic", "narrative": ASK},
        "responses": [{"text": "Terns nest there.", "citations": {"d2": 0.9, "d1": 0.4}}, {"text": "Gulls do not."}],
        "references": ["d1", "d2"],
    }
    ragtime["responses"][1]["citations"] = []
    report = taken(jsonl(tmp_path / "ragtime.jsonl", ragtime), tmp_path / "a", "trec-rag")
    assert answers(report) == {"run": "Terns nest there. [1, 2] Gulls do not."}
    neuclir = {
        "request_id": "300",
        "run_id": "r",
        "collection_ids": ["neuclir/1/zh"],
        "problem_statement": ASK,
        "sentences": [{"text": "Terns nest there.", "citations": ["doc-a", "doc-b"]}],
    }
    other = taken(jsonl(tmp_path / "neuclir.jsonl", neuclir), tmp_path / "b", "trec-rag")
    assert answers(other) == {"r": "Terns nest there. [1, 2]"}
    assert column(other, "passages", "passage_id") == ["doc-a", "doc-b"]
