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
import pytest

from mirage import store
from mirage.errors import BadInput
from mirage.io.imports.formats import FileImport, import_file
from mirage.io.options import Options

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
