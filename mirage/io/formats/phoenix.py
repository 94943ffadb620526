"""Spans that Phoenix (Arize) exports: rows of its table of spans, or the objects of its REST API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import number
from mirage.io.formats.logs import members
from mirage.io.formats.otel import read_spans
from mirage.io.formats.shapes import parse_json
from mirage.io.formats.spans import SpanRating, Traces
from mirage.io.formats.spec import Item, Record, Sample

_PREFIXES = ("context.", "attributes.")
_RENAMED = {"span_kind": "openinference.span.kind", "parent_id": "parentSpanId"}
_CONTEXT = ("context", "context.trace_id")


def recognise(sample: Sample) -> str | None:
    """Detect rows with a span kind and the context of a span."""
    if "span_kind" in sample.fields and sample.fields & set(_CONTEXT):
        return "has span_kind and the context of a span, as Phoenix"
    return None


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Read each trace as one answer (`spans`); annotations of a span are scores of it."""
    traces = Traces(builder)
    return read_spans((_flatten(record, traces) for record in records), traces)


def _flatten(record: Record, traces: Traces) -> Record:
    """Return a span with its attributes as fields by name, and add its annotations to the traces."""
    value = dict(_fields(record.value))
    for annotation in parse_json(record.value.get("annotations")) or ():
        if isinstance(annotation, Mapping):
            traces.rate(str(value.get("trace_id")), _rating(annotation))
    return Record(value, record.where)


def _rating(annotation: Mapping[str, Any]) -> SpanRating:
    result = members(annotation.get("result")) or annotation
    person = str(annotation.get("annotator_kind", "")).upper() == "HUMAN"
    why, rater = f"there is only the label {result.get('label')!r}", "human" if person else "phoenix"
    return SpanRating(str(annotation.get("name") or "annotation"), rater, number(result.get("score")), person, why)


def _fields(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, content in row.items():
        if name in ("context", "attributes") or name.startswith(_PREFIXES):
            short = name.removeprefix("context").removeprefix("attributes").removeprefix(".")
            inner = parse_json(content)
            if isinstance(inner, Mapping):
                yield from _nested(inner, f"{short}." if short else "")
            elif inner is not None:
                yield short, inner
        elif name == "status_code":
            yield "status", {"code": content, "message": row.get("status_message")}
        elif name != "annotations":
            yield _RENAMED.get(name, name), parse_json(content) if name == "events" else content


def _nested(value: Mapping[str, Any], start: str) -> Iterator[tuple[str, Any]]:
    for name, content in value.items():
        if isinstance(content, Mapping):
            yield from _nested(content, f"{start}{name}.")
        else:
            yield f"{start}{name}", content


FORMAT = Format(
    name="phoenix",
    title="Phoenix (Arize): exported spans, as a table or from its REST API",
    source="Arize-ai/phoenix: the columns of Client.get_spans_dataframe (context.span_id, span_kind, "
    "attributes.input.value, attributes.retrieval.documents, eval.NAME.score) and the spans of its REST API v1",
    gives=("queries", "turns", "references", "passages", "documents", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
    further="runs",
    lists=(("data",),),
)
