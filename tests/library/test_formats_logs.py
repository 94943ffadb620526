"""Logs of other programs: each value of a file of their shape lands where it should, and a damaged one is refused with
the file, the field and what to do.
"""

from __future__ import annotations

import copy
import json
import random
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from docs_data_cases import LOG_BLOCKS

from mirage import store
from mirage.errors import BadInput
from mirage.io.formats import run
from mirage.io.imports.formats import FileImport, import_file, plan_file
from mirage.io.sources.files import Options

ASK = "Which birds nest in the harbour of the island in spring?"
OTHER = "When was the lighthouse on the northern mole lit for the first time?"
SAID = "Terns nest on the mole [1]."
PASSAGE = "Terns nest on the mole; gulls do not."
KEY = "sk-proj-abcdefghijklmnop0123456789"


def document(path: Path, value: Any, *, indent: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent), encoding="utf-8")
    return path


def jsonl(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return path


def taken(path: Path, into: Path, name: str, **options: Mapping[str, Any]) -> FileImport:
    """Import a file that must be recognised, and check the arena."""
    result = import_file(path, into, options=Options(**options) if options else None)
    assert result.summary.format == name
    store.check(result.arena)
    return result


def column(result: FileImport, table: str, name: str) -> list[Any]:
    return result.arena.read(table)[name].to_pylist()


def scores(result: FileImport) -> dict[tuple[str, str, str], float | None]:
    rows = result.arena.read("scores").to_pylist()
    return {(row["system"], row["measure"], row["rater"]): row["value"] for row in rows}


def left_out(result: FileImport) -> dict[str, int]:
    return {entry.what: entry.n for entry in result.summary.left_out}


def holds(arena: store.Arena, text: str) -> bool:
    """Return whether any column of any table has a text."""
    return any(text in str(row) for table in arena.tables for row in arena.read(table).to_pylist())


# OpenTelemetry


def attribute(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"key": key, "value": {"boolValue": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    if isinstance(value, float):
        return {"key": key, "value": {"doubleValue": value}}
    if isinstance(value, list):
        return {"key": key, "value": {"arrayValue": {"values": [attribute("", entry)["value"] for entry in value]}}}
    if isinstance(value, dict):
        inner = [attribute(name, entry) for name, entry in value.items()]
        return {"key": key, "value": {"kvlistValue": {"values": inner}}}
    return {"key": key, "value": {"stringValue": value}}


def span(trace: str, number: int, parent: int | None, events: Iterable[Any] = (), **fields: Any) -> dict[str, Any]:
    attributes = {name.replace("__", "."): value for name, value in fields.items() if name not in ("status", "name")}
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": fields.get("name", "span"),
        "kind": 1,
        "startTimeUnixNano": str(1_760_000_000_000_000_000 + number),
        "endTimeUnixNano": str(1_760_000_000_000_000_100 + number),
        "attributes": [attribute(name, value) for name, value in attributes.items()],
        "events": list(events),
        "status": fields.get("status", {}),
    }


def otlp(*spans: Any, service: str = "harbour-bot") -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [attribute("service.name", service), attribute("api_key", KEY)]},
                "scopeSpans": [{"scope": {"name": "opentelemetry.instrumentation"}, "spans": list(spans)}],
            }
        ]
    }


def messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def test_spans_of_the_conventions_become_a_query_its_passages_and_an_answer(tmp_path: Path) -> None:
    documents = json.dumps([{"id": "doc_1", "score": 0.9, "content": PASSAGE}, {"id": "doc_2", "score": 0.5}])
    evaluation = {
        "name": "gen_ai.evaluation.result",
        "attributes": [
            attribute("gen_ai.evaluation.name", "Relevance"),
            attribute("gen_ai.evaluation.score.value", 0.75),
        ],
    }
    rag = span("t1", 1, None, gen_ai__operation__name="invoke_agent")
    search = span(
        "t1",
        2,
        1,
        gen_ai__operation__name="retrieval",
        gen_ai__retrieval__query__text=ASK,
        gen_ai__retrieval__documents=documents,
    )
    chat = span(
        "t1",
        3,
        1,
        [evaluation],
        gen_ai__operation__name="chat",
        gen_ai__request__model="gpt-4o-mini",
        gen_ai__input__messages=messages("user", f"Context: {PASSAGE}\n\n{ASK}"),
        gen_ai__output__messages=messages("assistant", SAID),
        gen_ai__usage__input_tokens=40,
    )
    http = span("t1", 4, 3, http__method="POST", http__request__header__authorization="Bearer " + KEY)
    path = jsonl(tmp_path / "traces.jsonl", otlp(rag, search), otlp(chat, http))
    result = taken(path, tmp_path / "arena", "otel")
    assert column(result, "queries", "text") == [ASK]
    assert column(result, "answers", "text") == [SAID]
    assert column(result, "answers", "system") == ["gpt-4o-mini"]
    assert sorted(column(result, "passages", "passage_id")) == ["doc_1", "doc_2"]
    assert PASSAGE in column(result, "passages", "text")
    assert scores(result) == {("gpt-4o-mini", "Relevance", "otel"): 0.75}
    assert left_out(result)["other spans"] == 2
    assert not holds(result.arena, KEY)
    named = taken(path, tmp_path / "named", "otel", names={"service.name": "system"})
    assert column(named, "answers", "system") == ["harbour-bot"]


def openinference(trace: str, ask: str, said: str, start: int = 1) -> list[dict[str, Any]]:
    chain = span(trace, start, None, openinference__span__kind="CHAIN", input__value=ask, output__value=said)
    search = span(
        trace,
        start + 1,
        start,
        openinference__span__kind="RETRIEVER",
        input__value=ask,
        retrieval__documents__0__document__id="a",
        retrieval__documents__0__document__content=PASSAGE,
        retrieval__documents__0__document__score=0.4,
        retrieval__documents__1__document__content="The mole is long.",
    )
    model = span(
        trace,
        start + 2,
        start,
        openinference__span__kind="LLM",
        llm__model_name="gpt-4o",
        llm__input_messages__0__message__role="system",
        llm__input_messages__0__message__content="Answer from the context.",
        llm__input_messages__1__message__role="user",
        llm__input_messages__1__message__content=f"{PASSAGE} {ask}",
        llm__output_messages__0__message__role="assistant",
        llm__output_messages__0__message__content=said,
    )
    return [chain, search, model]


def test_spans_of_openinference_and_openllmetry_are_read(tmp_path: Path) -> None:
    spans = openinference("t1", ASK, SAID)
    spans.append(
        span(
            "t2",
            9,
            None,
            llm__request__type="chat",
            gen_ai__request__model="small",
            gen_ai__operation__name="chat",
            gen_ai__prompt__0__role="user",
            gen_ai__prompt__0__content=OTHER,
            gen_ai__completion__0__role="assistant",
            gen_ai__completion__0__content="In 1902.",
        )
    )
    result = taken(document(tmp_path / "traces.json", otlp(*spans), indent=2), tmp_path / "arena", "otel")
    assert sorted(column(result, "queries", "text")) == sorted([ASK, OTHER])
    assert dict(zip(column(result, "answers", "system"), column(result, "answers", "text"), strict=True)) == {
        "gpt-4o": SAID,
        "small": "In 1902.",
    }
    assert set(column(result, "passages", "text")) == {PASSAGE, "The mole is long."}


def test_events_of_earlier_conventions_hold_the_messages(tmp_path: Path) -> None:
    events = [
        {"name": "gen_ai.system.message", "attributes": [attribute("content", "Be brief.")]},
        {"name": "gen_ai.user.message", "attributes": [attribute("content", ASK)]},
        {"name": "gen_ai.choice", "attributes": [attribute("message", json.dumps({"content": SAID}))]},
    ]
    chat = span("t1", 1, None, events, gen_ai__operation__name="chat", gen_ai__request__model="m")
    result = taken(document(tmp_path / "t.json", otlp(chat)), tmp_path / "arena", "otel")
    assert column(result, "queries", "text") == [ASK]
    assert column(result, "answers", "text") == [SAID]


def test_spans_without_a_question_are_refused_or_counted(tmp_path: Path) -> None:
    silent = span("t1", 1, None, gen_ai__operation__name="chat", gen_ai__request__model="m")
    path = document(tmp_path / "silent.json", otlp(silent))
    with pytest.raises(BadInput, match="no span holds a question") as refused:
        import_file(path, tmp_path / "arena")
    assert str(path) in refused.value.where
    assert "--map" in refused.value.do
    both = document(tmp_path / "both.json", otlp(silent, *openinference("t2", ASK, SAID)))
    assert left_out(taken(both, tmp_path / "arena", "otel"))["traces without a question"] == 1


def test_a_failed_call_is_an_answer_with_its_error(tmp_path: Path) -> None:
    failed = span(
        "t1",
        1,
        None,
        gen_ai__operation__name="chat",
        gen_ai__request__model="m",
        gen_ai__input__messages=messages("user", ASK),
        status={"code": 2, "message": "rate limit"},
    )
    result = taken(document(tmp_path / "t.json", otlp(failed)), tmp_path / "arena", "otel")
    (row,) = result.arena.read("answers").to_pylist()
    assert (row["status"], row["reason"], row["text"]) == ("api_error", "rate limit", None)


def test_a_span_without_a_trace_names_its_place(tmp_path: Path) -> None:
    bare = {**span("t1", 1, None, gen_ai__operation__name="chat"), "traceId": ""}
    with pytest.raises(BadInput, match="no traceId") as refused:
        import_file(document(tmp_path / "t.json", otlp(bare)), tmp_path / "arena")
    assert "spans[0]" in refused.value.where


def test_a_truncated_export_names_its_line(tmp_path: Path) -> None:
    path = document(tmp_path / "t.json", otlp(*openinference("t1", ASK, SAID)), indent=1)
    path.write_text(path.read_text()[:-80])
    with pytest.raises(BadInput, match="not JSON") as refused:
        import_file(path, tmp_path / "arena", name="otel")
    assert refused.value.where.startswith(f"{path}:")


# Phoenix and Langfuse


def phoenix_rows() -> list[dict[str, Any]]:
    context = {"trace_id": "t1", "span_id": "s"}
    return [
        {
            "id": "U3Bhbjox",
            "name": "query",
            "context": {**context, "span_id": "s1"},
            "span_kind": "CHAIN",
            "parent_id": None,
            "start_time": "2026-10-01T10:00:00+00:00",
            "end_time": "2026-10-01T10:00:03+00:00",
            "status_code": "OK",
            "status_message": "",
            "attributes": {"input.value": ASK, "output.value": SAID, "openinference.span.kind": "CHAIN"},
            "events": [],
        },
        {
            "id": "U3Bhbjoy",
            "name": "retrieve",
            "context": {**context, "span_id": "s2"},
            "span_kind": "RETRIEVER",
            "parent_id": "s1",
            "start_time": "2026-10-01T10:00:01+00:00",
            "status_code": "OK",
            "attributes": {
                "input.value": ASK,
                "retrieval.documents.0.document.content": PASSAGE,
                "retrieval.documents.0.document.id": "d1",
            },
            "annotations": [
                {"name": "useful", "annotator_kind": "HUMAN", "result": {"score": 1.0, "label": "yes"}},
            ],
        },
        {
            "id": "U3Bhbjoz",
            "name": "llm",
            "context": {**context, "span_id": "s3"},
            "span_kind": "LLM",
            "parent_id": "s1",
            "start_time": "2026-10-01T10:00:02+00:00",
            "status_code": "OK",
            "attributes": {"llm.model_name": "gpt-4o", "output.value": SAID},
        },
    ]


def test_spans_of_phoenix_as_objects_and_as_a_table(tmp_path: Path) -> None:
    result = taken(
        document(tmp_path / "spans.json", {"data": phoenix_rows(), "next_cursor": None}), tmp_path / "a", "phoenix"
    )
    assert column(result, "queries", "text") == [ASK]
    assert column(result, "answers", "system") == ["gpt-4o"]
    assert column(result, "passages", "passage_id") == ["d1"]
    assert scores(result) == {("gpt-4o", "useful", "human"): 1.0}
    rows = [
        {
            "name": "query",
            "span_kind": "CHAIN",
            "parent_id": None,
            "start_time": "2026-10-01",
            "status_code": "OK",
            "context.span_id": "s1",
            "context.trace_id": "t1",
            "attributes.input.value": ASK,
            "attributes.output.value": SAID,
            "attributes.llm.model_name": None,
            "attributes.retrieval.documents": None,
            "eval.Hallucination.score": 0.0,
        },
        {
            "name": "retrieve",
            "span_kind": "RETRIEVER",
            "parent_id": "s1",
            "start_time": "2026-10-02",
            "status_code": "OK",
            "context.span_id": "s2",
            "context.trace_id": "t1",
            "attributes.retrieval.documents": [{"document.content": PASSAGE, "document.score": 0.3}],
        },
        {
            "name": "llm",
            "span_kind": "LLM",
            "parent_id": "s1",
            "start_time": "2026-10-03",
            "status_code": "OK",
            "context.span_id": "s3",
            "context.trace_id": "t1",
            "attributes.llm.model_name": "gpt-4o",
        },
    ]
    pq.write_table(
        pa.Table.from_pylist(
            rows, pa.unify_schemas([pa.Table.from_pylist([row]).schema for row in rows], promote_options="permissive")
        ),
        tmp_path / "spans.parquet",
    )
    table = taken(tmp_path / "spans.parquet", tmp_path / "b", "phoenix")
    assert column(table, "answers", "text") == [SAID]
    assert column(table, "passages", "text") == [PASSAGE]
    assert scores(table) == {("gpt-4o", "Hallucination", "phoenix"): 0.0}


def observations() -> list[dict[str, Any]]:
    about = {"traceId": "t1", "level": "DEFAULT", "metadata": {"secret_key": KEY}}
    return [
        {
            **about,
            "id": "o1",
            "type": "SPAN",
            "name": "handle",
            "startTime": "2026-10-01T10:00:00.000Z",
            "parentObservationId": None,
            "input": {"args": [], "kwargs": {"question": ASK}},
            "output": SAID,
        },
        {
            **about,
            "id": "o2",
            "type": "RETRIEVER",
            "name": "search",
            "startTime": "2026-10-01T10:00:01.000Z",
            "parentObservationId": "o1",
            "input": ASK,
            "output": [{"page_content": PASSAGE, "metadata": {"source": "guide.pdf", "token": KEY}}],
        },
        {
            **about,
            "id": "o3",
            "type": "GENERATION",
            "name": "write",
            "startTime": "2026-10-01T10:00:02.000Z",
            "parentObservationId": "o1",
            "model": "gpt-4o-2024-08-06",
            "input": [{"role": "user", "content": f"{PASSAGE} {ASK}"}],
            "output": {"role": "assistant", "content": SAID},
            "usage": {"input": 20, "output": 8},
        },
    ]


def test_observations_traces_and_scores_of_langfuse(tmp_path: Path) -> None:
    rating = {"id": "s1", "traceId": "t1", "name": "helpful", "value": 1, "source": "ANNOTATION", "dataType": "BOOLEAN"}
    result = taken(jsonl(tmp_path / "observations.jsonl", *observations(), rating), tmp_path / "a", "langfuse")
    assert column(result, "queries", "text") == [ASK]
    assert column(result, "answers", "system") == ["gpt-4o-2024-08-06"]
    assert column(result, "passages", "text") == [PASSAGE]
    assert column(result, "scores", "person") == [True]
    assert not holds(result.arena, KEY)
    trace = {
        "id": "t9",
        "timestamp": "2026-10-01T10:00:00.000Z",
        "name": "chat",
        "input": {"messages": [{"role": "user", "content": OTHER}]},
        "output": "In 1902.",
        "sessionId": None,
        "userId": "u-17",
        "tags": [],
        "scores": [{"name": "accuracy", "value": 0.5, "source": "API"}],
        "observations": [],
    }
    whole = taken(
        document(tmp_path / "traces.json", {"data": [trace], "meta": {"page": 1}}), tmp_path / "b", "langfuse"
    )
    assert column(whole, "answers", "text") == ["In 1902."]
    assert list(scores(whole).values()) == [0.5]
    assert not holds(whole.arena, "u-17")


# promptfoo


def promptfoo_result(provider: str, output: str | None, **more: Any) -> dict[str, Any]:
    return {
        "cost": 0.0001,
        "error": None,
        "failureReason": 0,
        "gradingResult": {
            "pass": True,
            "score": 0.5,
            "reason": "All assertions passed",
            "namedScores": {},
            "tokensUsed": {"total": 0},
            "componentResults": [
                {
                    "pass": True,
                    "score": 1,
                    "reason": "Assertion passed",
                    "assertion": {"type": "contains", "value": "Terns"},
                },
                {
                    "pass": False,
                    "score": 0.25,
                    "reason": "not faithful",
                    "assertion": {"type": "context-faithfulness", "metric": "faithful"},
                },
                {"pass": True, "score": 1, "reason": "Manual result", "assertion": {"type": "human"}},
            ],
        },
        "id": f"{provider}-{output}",
        "latencyMs": 900,
        "namedScores": {},
        "prompt": {"raw": f"Answer from {PASSAGE}: {ASK}", "label": "Answer from {{context}}: {{question}}"},
        "promptId": "p1",
        "promptIdx": 0,
        "provider": {"id": provider, "label": ""},
        "response": {"output": output, "tokenUsage": {"total": 30}, "cached": False},
        "score": 0.5,
        "success": True,
        "testCase": {"vars": {"question": ASK, "context": PASSAGE, "expected": "Terns"}, "assert": [], "metadata": {}},
        "testIdx": 0,
        "vars": {"question": ASK, "context": PASSAGE, "expected": "Terns"},
        "metadata": {},
    } | more


def promptfoo(*results: Any, version: int = 3) -> dict[str, Any]:
    return {
        "evalId": "eval-abc-2026-10-01T10:00:00",
        "results": {
            "version": version,
            "timestamp": "2026-10-01T10:00:00.000Z",
            "prompts": [{"raw": "Answer from {{context}}: {{question}}", "label": "p", "id": "p1", "provider": "a"}],
            "results": list(results),
            "stats": {"successes": 1, "failures": 0, "errors": 0},
        },
        "config": {
            "providers": [{"id": "openai:gpt-4o-mini", "config": {"apiKey": KEY}}],
            "env": {"OPENAI_API_KEY": KEY},
        },
        "shareableUrl": None,
    }


def test_promptfoo_results_become_answers_of_providers_with_scores(tmp_path: Path) -> None:
    failed = promptfoo_result("b", None, error="429 too many requests", failureReason=2, response={"error": "429"})
    second = promptfoo_result("a", "Gulls.", promptId="p2", promptIdx=1)
    value = promptfoo(promptfoo_result("a", SAID), second, failed)
    result = taken(document(tmp_path / "results.json", value, indent=2), tmp_path / "arena", "promptfoo")
    rows = {row["system"]: row for row in result.arena.read("answers").to_pylist()}
    assert set(rows) == {"a", "a prompt 2", "b"}
    assert rows["a"]["text"] == SAID
    assert (rows["b"]["status"], rows["b"]["reason"]) == ("api_error", "429 too many requests")
    assert column(result, "queries", "text") == [ASK]
    assert column(result, "references", "text") == ["Terns"]
    assert column(result, "passages", "text") == [PASSAGE]
    found = scores(result)
    assert found["a", "faithful", "promptfoo"] == 0.25
    assert found["a", "human", "human"] == 1
    assert found["a", "score", "promptfoo"] == 0.5
    assert not holds(result.arena, KEY)
    assert "config and env" in left_out(result)
    lines = taken(jsonl(tmp_path / "results.jsonl", promptfoo_result("a", SAID)), tmp_path / "lines", "promptfoo")
    assert column(lines, "answers", "text") == [SAID]


def test_promptfoo_of_another_version_or_without_a_question_is_refused(tmp_path: Path) -> None:
    path = document(tmp_path / "new.json", promptfoo(promptfoo_result("a", SAID), version=9))
    with pytest.raises(BadInput, match="version 9"):
        import_file(path, tmp_path / "arena")
    bare = promptfoo_result("a", SAID, vars={"x": "one", "y": "two"}, prompt={"raw": ""}, testCase={})
    with pytest.raises(BadInput, match="no variable is a question") as refused:
        import_file(document(tmp_path / "bare.json", promptfoo(bare)), tmp_path / "arena")
    assert "--map vars." in refused.value.do


def samples(result: Any) -> list[tuple[str, int, str]]:
    return sorted((row["system"], row["sample"], row["text"]) for row in result.arena.read("samples").to_pylist())


def test_repeats_of_a_test_are_samples_also_where_their_texts_agree(tmp_path: Path) -> None:
    value = promptfoo(*(promptfoo_result("a", text) for text in (SAID, "Gulls.", SAID)))
    result = taken(document(tmp_path / "r.json", value), tmp_path / "arena", "promptfoo")
    assert column(result, "answers", "text") == [SAID]
    assert samples(result) == [("a", 1, "Gulls."), ("a", 2, SAID)]


# DeepEval


def deepeval_case(**more: Any) -> dict[str, Any]:
    return {
        "name": "test_case_0",
        "input": ASK,
        "actualOutput": SAID,
        "expectedOutput": "Terns",
        "context": [PASSAGE],
        "retrievalContext": [PASSAGE, "The mole is long."],
        "success": True,
        "metricsData": [
            {
                "name": "Faithfulness",
                "threshold": 0.5,
                "success": True,
                "score": 0.9,
                "reason": "It agrees.",
                "strictMode": False,
                "evaluationModel": "gpt-4.1",
                "evaluationCost": 0.01,
                "verboseLogs": "...",
            },
            {"name": "Answer Relevancy", "success": False, "error": "timeout", "evaluationModel": "gpt-4.1"},
        ],
        "runDuration": 2.5,
        "order": 0,
        "additionalMetadata": {"topic": "birds", "api_key": KEY},
    } | more


def test_deepeval_test_runs_with_their_metrics(tmp_path: Path) -> None:
    run = {
        "testFile": "test_bot.py",
        "testCases": [deepeval_case()],
        "conversationalTestCases": [],
        "metricsScores": [{"metric": "Faithfulness", "scores": [0.9], "passes": 1, "fails": 0, "errors": 0}],
        "hyperparameters": {"model": "gpt-4o-mini", "top_k": "2"},
        "testPassed": 1,
        "testFailed": 0,
    }
    result = taken(document(tmp_path / "20261001_100000", run), tmp_path / "a", "deepeval")
    assert column(result, "answers", "system") == ["gpt-4o-mini"]
    assert column(result, "references", "text") == ["Terns"]
    labels = dict(zip(column(result, "passages", "text"), column(result, "passages", "relevant"), strict=True))
    assert labels == {PASSAGE: True, "The mole is long.": None}
    assert scores(result) == {
        ("gpt-4o-mini", "Faithfulness", "gpt-4.1"): 0.9,
        ("gpt-4o-mini", "Answer Relevancy", "gpt-4.1"): None,
    }
    assert not holds(result.arena, KEY)
    latest = taken(
        document(tmp_path / "latest.json", {"testRunData": run, "testRunLink": None}), tmp_path / "b", "deepeval"
    )
    assert column(latest, "answers", "text") == [SAID]


def test_deepeval_results_in_snake_case_and_conversations(tmp_path: Path) -> None:
    plain = {
        "name": "t",
        "success": True,
        "metrics_data": [{"name": "Faithfulness", "score": 1.0, "evaluation_model": "gpt-4.1"}],
        "conversational": False,
        "input": ASK,
        "actual_output": SAID,
        "retrieval_context": [PASSAGE],
    }
    value = {"test_results": [plain], "confident_link": None}
    result = taken(document(tmp_path / "bot.json", value), tmp_path / "a", "deepeval")
    assert column(result, "answers", "system") == ["bot"]
    assert list(scores(result)) == [("bot", "Faithfulness", "gpt-4.1")]
    turns = [
        {"role": "user", "content": "Hello", "order": 0},
        {"role": "assistant", "content": "Hi.", "order": 1},
        {"role": "user", "content": ASK, "order": 2},
        {"role": "assistant", "content": SAID, "order": 3, "retrievalContext": [PASSAGE]},
    ]
    talk = {"name": "c", "success": True, "metricsData": [], "turns": turns}
    spoken = taken(
        document(tmp_path / "talk.json", {"testCases": [], "conversationalTestCases": [talk]}),
        tmp_path / "b",
        "deepeval",
    )
    assert column(spoken, "queries", "text") == [ASK]
    assert column(spoken, "turns", "text") == ["Hello", "Hi."]
    assert column(spoken, "passages", "text") == [PASSAGE]


def test_a_deepeval_case_without_input_is_refused_by_number(tmp_path: Path) -> None:
    run = {"testCases": [deepeval_case(), deepeval_case(input=None)], "conversationalTestCases": []}
    with pytest.raises(BadInput, match="no input") as refused:
        import_file(document(tmp_path / "run.json", run), tmp_path / "arena")
    assert "testCases[1]" in refused.value.where


# Files of no known format


@pytest.mark.parametrize(
    ("record", "command"),
    [
        (
            {"user_question": ASK, "bot_reply": {"answer_text": SAID}, "run": "mine"},
            ["rag", "--map", "user_question=question", "bot_reply.answer_text=answer", "--set", "system=NAME"],
        ),
        (
            {
                "left_model": "x",
                "right_model": "y",
                "query": ASK,
                "left_answer": "a",
                "right_answer": "b",
                "vote": "tie",
            },
            ["lmsys", "left_model=model_a", "right_model=model_b", "query=prompt", "vote=winner"],
        ),
    ],
)
def test_a_file_of_no_known_format_gets_the_command_that_reads_it(
    tmp_path: Path, record: dict[str, Any], command: list[str]
) -> None:
    path = jsonl(tmp_path / "mine.jsonl", record)
    with pytest.raises(BadInput, match="unknown format") as refused:
        import_file(path, tmp_path / "arena")
    line = shlex.split(refused.value.do.partition(": ")[2])
    assert line[:2] == ["mirage", "import"]
    assert set(command) <= set(line)
    names = dict(pair.split("=") for pair in line if "=" in pair)
    options = Options({theirs: ours for theirs, ours in names.items() if theirs != "system"}, {"system": "s"})
    name = line[line.index("--as") + 1]
    assert import_file(path, tmp_path / "arena", name=name, options=options).summary.records == 1


def test_a_file_that_resembles_nothing_lists_the_formats(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unknown format") as refused:
        import_file(jsonl(tmp_path / "x.jsonl", {"temperature": 1.5, "pressure": 3}), tmp_path / "arena")
    assert "promptfoo" in refused.value.do


# Plans


def test_a_plan_has_the_fields_of_records_and_shows_no_key(tmp_path: Path) -> None:
    path = document(tmp_path / "results.json", promptfoo(promptfoo_result("a", SAID, metadata={"api_key": KEY})))
    plan = plan_file(path)
    fields = {use.field: use.example for use in plan.fields}
    assert {"vars", "provider", "response", "metadata"} <= set(fields)
    assert "config" not in fields
    assert not any(KEY in example for example in fields.values())


# Large documents


def test_elements_of_a_long_document_are_read_one_by_one(tmp_path: Path) -> None:
    value = {"a": {"skip": [1, {"b": [2]}], "rows": [{"n": k, "text": "x" * 50} for k in range(40_000)], "z": None}}
    path = document(tmp_path / "long.json", value)
    members = list(store.json_members(path, [("a", "rows")]))
    rows = [member for member in members if member.place == ("a", "rows", "*")]
    assert [member.value["n"] for member in rows] == list(range(40_000))
    assert [(member.place, member.value) for member in members if member.place[-1:] != ("*",)] == [
        (("a", "skip"), value["a"]["skip"]),
        (("a", "z"), None),
        ((), None),
    ]
    assert "rows[39999]" in rows[-1].where


def test_a_large_log_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    results = [promptfoo_result("a", SAID, vars={"question": f"{ASK} {k} " + "x" * 1000}) for k in range(2_000)]
    path = document(tmp_path / "results.json", promptfoo(*results))
    assert path.stat().st_size > 4_000_000
    assert run.recognised(path)[0].format.name == "promptfoo"


# Values of another type

ODD = (None, 5, 1.5, True, "", "x", [], {}, [1], [None], {"a": 1}, [[]], [{}], "[", "{}", "\ud800", -1, {"text": 5})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a document."""
    yield path
    names = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        yield from places(value[name], (*path, name))


@pytest.mark.parametrize(("name", "content"), [(name, content) for kind, name, content in LOG_BLOCKS if kind == "json"])
def test_a_log_with_a_value_of_another_type_is_read_or_refused(tmp_path: Path, name: str, content: str) -> None:
    draw = random.Random(0)
    lines = [json.loads(line) for line in content.splitlines()] if name.endswith("l") else [json.loads(content)]
    path = tmp_path / Path(name).name
    path.write_text(content, encoding="utf-8")
    format_name = run.recognised(path)[0].format.name
    for _ in range(40):
        changed = copy.deepcopy(lines)
        *outer, last = draw.choice([place for place in places(changed) if len(place) > 1])
        inner: Any = changed
        for step in outer:
            inner = inner[step]
        inner[last] = draw.choice(ODD)
        path.write_text("".join(json.dumps(line) + "\n" for line in changed), encoding="utf-8")
        with suppress(BadInput):
            run.read(path, name=format_name)
