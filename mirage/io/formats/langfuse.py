"""Exports of Langfuse: observations, traces and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.fields import number
from mirage.io.formats.logs import read_answer, read_passages, read_question
from mirage.io.formats.shapes import parse_json, text
from mirage.io.formats.spans import LLM, OTHER, RETRIEVER, Span, SpanRating, Traces
from mirage.io.formats.spec import Builder, Format, Record, Sample, Value
from mirage.io.formats.values import identifier

_TYPES = ("GENERATION", "SPAN", "EVENT", "RETRIEVER", "AGENT", "CHAIN", "TOOL", "EMBEDDING", "EVALUATOR", "GUARDRAIL")
_TRACE_OF = ("traceId", "trace_id")
_TIMES = ("startTime", "start_time", "timestamp")
_PARENTS = ("parentObservationId", "parent_observation_id")
_MODELS = ("model", "provided_model_name", "providedModelName", "internalModel")
_TRACES = (
    "sessionId",
    "session_id",
    "userId",
    "user_id",
    "latency",
    "htmlPath",
    "observations",
    "bookmarked",
    "release",
)
_REFERENCES = ("reference", "expectedOutput", "expected_output")


def recognise(sample: Sample) -> str | None:
    """Detect observations by their types, traces by input and output, and scores."""
    if any(_is_observation(record) for record in sample.records):
        return "has a trace and a type of observation, as Langfuse"
    if any(_is_trace(record) for record in sample.records):
        return "has id, timestamp, input and output of traces, as Langfuse"
    return None


def _is_observation(record: Value) -> bool:
    trace = any(record.get(name) for name in _TRACE_OF)
    return trace and str(record.get("type", "")).upper() in _TYPES and any(name in record for name in _TIMES)


def _is_trace(record: Value) -> bool:
    return {"id", "timestamp", "input", "output"} <= record.keys() and bool(record.keys() & set(_TRACES))


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each trace as one answer (`spans`); scores of people come from annotations."""
    traces = Traces(builder)
    errors: list[BadInput] = []
    for record in records:
        try:
            _take(record, traces)
        except BadInput as error:
            errors.append(error.with_traceback(None))
    traces.finish(errors)


def _take(record: Record, traces: Traces) -> None:
    value = record.value
    trace = identifier(_first(value, _TRACE_OF), "traceId", record.where)
    if _is_observation(value) and trace:
        _span(value, trace, traces, record.where)
    elif trace and "name" in value and "source" in value:
        traces.rate(trace, _rating(value))
    elif trace is None and value.get("id") and ("input" in value or "output" in value):
        trace = str(value["id"])
        _span(value, trace, traces, record.where, root=True)
        for observation in _objects(value.get("observations")):
            _span(observation, trace, traces, record.where)
        for score in _objects(value.get("scores")):
            traces.rate(trace, _rating(score))
    else:
        raise BadInput(
            "this is neither an observation, a trace nor a score of Langfuse",
            where=record.where,
            do="export traces or observations as JSON, JSON Lines or CSV",
        )


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    value = parse_json(value)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _span(value: Value, trace: str, traces: Traces, where: str, *, root: bool = False) -> None:
    kind = str(value.get("type", "")).upper()
    name = str(value.get("name") or "").lower()
    model = _first(value, _MODELS)
    searching = kind == "RETRIEVER" or (kind == "SPAN" and "retriev" in name)
    failed = str(value.get("level", "")).upper() == "ERROR"
    answer, thoughts = (None, None) if searching else read_answer(value.get("output"))
    metadata = parse_json(value.get("metadata"))
    held = metadata if isinstance(metadata, Mapping) else {}
    traces.add(
        Span(
            where,
            trace,
            span=str(value.get("id", "")),
            parent=str(_first(value, _PARENTS) or "") or (trace if not root else None),
            start=str(_first(value, _TIMES) or ""),
            kind=RETRIEVER if searching else LLM if kind == "GENERATION" else OTHER,
            asked=read_question(value.get("input")),
            answer=answer,
            thoughts=thoughts,
            model=identifier(model, "model", where),
            system=identifier(value.get("system"), "system", where),
            language=identifier(value.get("language"), "language", where),
            reference=text(_first(value, _REFERENCES) or _first(held, _REFERENCES), "reference", where),
            passages=read_passages(value.get("output"), where) if searching else (),
            failed=str(_first(value, ("statusMessage", "status_message")) or "it ended with an error")
            if failed
            else None,
            root=root,
        )
    )


def _rating(value: Mapping[str, Any]) -> SpanRating:
    person = str(value.get("source", "")).upper() == "ANNOTATION"
    score = number(value.get("value"))
    label = _first(value, ("stringValue", "string_value"))
    return SpanRating(
        str(value.get("name")),
        "human" if person else "langfuse",
        score,
        person,
        None if score is not None else f"there is only the label {label!r}",
    )


def _first(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


FORMAT = Format(
    name="langfuse",
    title="Langfuse: exported traces, observations and scores",
    source="langfuse/langfuse: the traces, observations and scores of its public API, and of its exports to files "
    "and to blob storage, where names are written with underscores",
    gives=("queries", "turns", "references", "passages", "documents", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
    lists=(("data",),),
)
