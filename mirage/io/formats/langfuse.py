"""Exports of Langfuse: observations, traces and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import first, number
from mirage.io.formats.logs import entries, members
from mirage.io.formats.otel import ROOT, read_spans
from mirage.io.formats.shapes import parse_json
from mirage.io.formats.spans import SpanRating, Traces
from mirage.io.formats.spec import Record, Sample, Value
from mirage.io.values import identifier

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
    read_spans(records, traces, lambda record: _spans(record, traces))


def _spans(record: Record, traces: Traces) -> Iterator[Record]:
    """Yield the observations of a record under the names of OpenTelemetry, and add its scores to the traces."""
    value = record.value
    trace = identifier(first(value, *_TRACE_OF), "traceId", record.where)
    if _is_observation(value) and trace:
        yield Record(_span(value, trace, record.where), record.where)
    elif trace and "name" in value and "source" in value:
        traces.rate(trace, _rating(value))
    elif trace is None and value.get("id") and ("input" in value or "output" in value):
        trace = str(value["id"])
        yield Record(_span(value, trace, record.where) | {ROOT: True, "parentSpanId": None}, record.where)
        for observation in _objects(value.get("observations")):
            yield Record(_span(observation, trace, record.where), record.where)
        for score in _objects(value.get("scores")):
            traces.rate(trace, _rating(score))
    else:
        raise BadInput(
            "this is neither an observation, a trace nor a score of Langfuse",
            where=record.where,
            do="export traces or observations as JSON, JSON Lines or CSV",
        )


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in entries(parse_json(value)) if isinstance(entry, Mapping)]


def _span(value: Value, trace: str, where: str) -> dict[str, Any]:
    kind, name = str(value.get("type", "")).upper(), str(value.get("name") or "").lower()
    searching = kind == "RETRIEVER" or (kind == "SPAN" and "retriev" in name)
    failed = str(value.get("level", "")).upper() == "ERROR"
    message = first(value, "statusMessage", "status_message") or "it ended with an error"
    return {
        "traceId": trace,
        "spanId": value.get("id"),
        "parentSpanId": first(value, *_PARENTS) or trace,
        "startTimeUnixNano": first(value, *_TIMES),
        "langfuse.observation.type": "retriever" if searching else "generation" if kind == "GENERATION" else kind,
        "langfuse.observation.input": value.get("input"),
        "langfuse.observation.output": value.get("output"),
        "gen_ai.request.model": identifier(first(value, *_MODELS), "model", where),
        "system": value.get("system"),
        "language": value.get("language"),
        "reference": first(value, *_REFERENCES) or first(members(parse_json(value.get("metadata"))), *_REFERENCES),
        "status": {"code": "ERROR", "message": message} if failed else None,
    }


def _rating(value: Mapping[str, Any]) -> SpanRating:
    person = str(value.get("source", "")).upper() == "ANNOTATION"
    label = first(value, "stringValue", "string_value")
    why, rater = f"there is only the label {label!r}", "human" if person else "langfuse"
    return SpanRating(str(value.get("name")), rater, number(value.get("value")), person, why)


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
