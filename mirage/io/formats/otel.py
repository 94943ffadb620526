"""Spans of OpenTelemetry with the conventions for generative AI, as OTLP JSON.

Attributes of three conventions are read: OpenTelemetry's own (`gen_ai.*`, also its earlier events), OpenInference's
(Phoenix, Arize) and those of OpenLLMetry (Traceloop) and Langfuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import first, number
from mirage.io.formats.logs import (
    entries,
    members,
    read_answer,
    read_passages,
    read_question,
)
from mirage.io.formats.open import LOG, elements
from mirage.io.formats.shapes import EMPTY, Conversation, parse_json, split_messages, text
from mirage.io.formats.spans import LLM, OTHER, RERANKER, RETRIEVER, Span, SpanRating, Traces
from mirage.io.formats.spec import Item, Record, Sample, Value
from mirage.io.values import identifier, shorten

_SPANS = ("scopeSpans", "instrumentationLibrarySpans")
_BATCHES = ("resourceSpans", "batches")
_LISTS = tuple((batch, "*", scope, "*", "spans") for batch in _BATCHES for scope in _SPANS)
_KINDS = {
    "llm": LLM,
    "chat": LLM,
    "generation": LLM,
    "text_completion": LLM,
    "generate_content": LLM,
    "completion": LLM,
    "retriever": RETRIEVER,
    "retrieval": RETRIEVER,
    "search": RETRIEVER,
    "reranker": RERANKER,
}
_KIND_OF = ("openinference.span.kind", "gen_ai.operation.name", "langfuse.observation.type", "traceloop.span.kind")
_MODELS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.model")
_INPUTS = ("question", "input.value", "langfuse.observation.input", "langfuse.trace.input", "traceloop.entity.input")
_OUTPUTS = ("answer", "output.value", "langfuse.observation.output", "langfuse.trace.output", "traceloop.entity.output")
_IN = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
_OUT = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
_DOCUMENTS = {
    RETRIEVER: ("contexts", "gen_ai.retrieval.documents", "retrieval.documents"),
    RERANKER: ("contexts", "reranker.output_documents"),
}
_QUERY = ("gen_ai.retrieval.query.text", "gen_ai.retrieval.query", "reranker.query")
_EVALUATION = "gen_ai.evaluation.result"
_ELEMENT = re.compile(
    r"(gen_ai\.prompt|gen_ai\.completion|llm\.(?:input|output)_messages|retrieval\.documents"
    r"|reranker\.output_documents)\.(\d+)\.(.+)"
)
"""Name of an attribute that is part of an element of a list."""
_WORD = re.compile(r"^gen_ai\.(?:user|system|assistant|tool)\.message$")


def recognise(sample: Sample) -> str | None:
    """Detect OTLP JSON: documents of resource spans, also one a line."""
    name = next((name for name in (*_BATCHES, *_SPANS) if name in sample.fields), None)
    return f"has {name}, as OTLP JSON" if name else None


def lines(file: Path) -> Iterator[tuple[Value, str]]:
    """Yield each span with its attributes, and those of its resource, as fields by name."""
    for value, where in elements(file, _LISTS):
        if LOG not in value:
            if not value.keys() & {*_BATCHES, "resourceLogs", "resourceMetrics"}:
                raise BadInput("this is no OTLP document: it has no resourceSpans", where=where, do="export OTLP JSON")
            continue
        head: Any = next((value[LOG][name] for name in _BATCHES if name in value[LOG]), {})
        span = {name: value[name] for name in value if name not in (LOG, "attributes")}
        yield (
            {
                **attributes(members(members(head).get("resource")).get("attributes")),
                **attributes(value.get("attributes")),
            }
            | span,
            where,
        )


def attributes(given: Any) -> dict[str, Any]:
    """Return OTLP's list of keys and typed values as an object."""
    if not isinstance(given, list):
        return dict(given) if isinstance(given, Mapping) else {}
    return {
        str(entry["key"]): _parse_typed(entry.get("value"))
        for entry in given
        if isinstance(entry, Mapping) and "key" in entry
    }


def _parse_typed(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    for name, content in value.items():
        if name == "arrayValue":
            return [_parse_typed(entry) for entry in content.get("values") or ()]
        if name == "kvlistValue":
            return attributes(content.get("values"))
        if name == "intValue":
            return int(content)
        return content
    return None


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Read each trace as one answer (`spans`)."""
    return read_spans(records, Traces(builder))


def read_spans(records: Iterable[Record], traces: Traces) -> Iterator[Item]:
    """Add spans, whose attributes are fields by name, to traces, and yield the content of these.

    Raises:
        BadInput: if no span is one of a model, a retriever or their caller.
    """
    where, n, other = "", 0, 0
    for record in records:
        where = record.where
        try:
            n += 1
            other += not _add(record, traces)
        except BadInput as error:
            traces.builder.refuse(error)
    if other:
        traces.builder.left_out("other spans", "they have no attribute of a model, a retriever or their caller", other)
    if n and other == n and not traces.builder.errors:
        raise BadInput(
            "no span is of a model or a retriever",
            where=where,
            do="export spans with attributes gen_ai.* or openinference.span.kind",
        )
    yield from traces.items()


def _add(record: Record, traces: Traces) -> bool:
    """Add one span, and return whether it has anything to read."""
    value = record.value
    trace = identifier(first(value, "traceId", "trace_id"), "traceId", record.where)
    if trace is None:
        raise BadInput("this span has no traceId", where=record.where, do="export the spans again, with their ids")
    kind = next((str(value[name]).lower() for name in _KIND_OF if value.get(name)), OTHER)
    span = Span(
        record.where,
        trace,
        span=str(first(value, "spanId", "span_id") or ""),
        parent=str(first(value, "parentSpanId", "parent_span_id") or "") or None,
        start=str(first(value, "startTimeUnixNano", "start_time") or "").rjust(20),
        kind=_KINDS.get(kind, OTHER),
        model=_name(value, record.where, *_MODELS),
        system=_name(value, record.where, "system"),
        service=_name(value, record.where, "service.name"),
        language=_name(value, record.where, "language"),
        reference=text(value.get("reference"), "reference", record.where),
    )
    fill(span, value)
    traces.add(span)
    return span.asked.question is not None or span.answer is not None or bool(span.passages) or span.kind != OTHER


def _name(value: Value, where: str, *names: str) -> str | None:
    name = next((name for name in names if value.get(name)), names[0])
    return identifier(value.get(name), name, where)


def fill(span: Span, value: Value) -> None:
    """Set question, answer, passages, ratings and error of a span from its attributes and events."""
    events = [event for event in entries(value.get("events")) if isinstance(event, Mapping)]
    merged, spoken = _with_events(_with_lists(value), events)
    span.asked, said = _question(span.kind, merged, spoken)
    span.answer, span.thoughts = _answer(span.kind, merged)
    if span.answer is None:
        span.answer = said
    for kind, names in _DOCUMENTS.items():
        for name in names:
            found = read_passages(merged[name], span.where) if merged.get(name) else ()
            if found and (kind == span.kind or name != "contexts" or span.kind == OTHER):
                span.passages = found
                span.kind = kind if span.kind in (OTHER, kind) else span.kind
    if span.kind == RETRIEVER and not span.passages:
        output = next((merged[name] for name in _OUTPUTS if merged.get(name)), None)
        span.passages = read_passages(output, span.where)
        span.answer = None
    span.ratings = list(_ratings(merged, events))
    status = value.get("status")
    if isinstance(status, Mapping) and str(status.get("code", "")) in ("2", "STATUS_CODE_ERROR", "ERROR"):
        span.failed = str(status.get("message") or merged.get("error.type") or "the span ended with an error")


def _with_events(value: Value, events: Sequence[Mapping[str, Any]]) -> tuple[Value, list[dict[str, Any]]]:
    """Return attributes with those of content events, and messages that are events of their own."""
    if not events:
        return value, []
    merged, spoken = dict(value), []
    for event in events:
        name, held = str(event.get("name", "")), attributes(event.get("attributes"))
        if _WORD.match(name):
            spoken.append({"role": name.split(".")[1], "content": parse_json(held.get("content"))})
        elif name == "gen_ai.choice":
            message = parse_json(held.get("message", held.get("content")))
            content = message.get("content") if isinstance(message, Mapping) else message
            spoken.append({"role": "assistant", "content": content})
        elif name.startswith(("gen_ai.client.inference", "gen_ai.content")):
            merged |= {key: content for key, content in held.items() if key not in merged}
    return merged, spoken


def _question(kind: str, value: Value, spoken: Sequence[Mapping[str, Any]]) -> tuple[Conversation, str | None]:
    """Return the question of a span; of events, also the answer."""
    if kind in (RETRIEVER, RERANKER):
        text = next((value[name] for name in (*_QUERY, *_INPUTS) if value.get(name)), None)
        return read_question(text), None
    given = next((value[name] for name in _INPUTS if value.get(name)), None)
    if kind != LLM and given is not None:
        return read_question(given), None
    for name in _IN:
        messages = _messages(parse_json(value.get(name)))
        if messages:
            conversation = split_messages(messages)
            if conversation.question is not None:
                return conversation, None
    if spoken:
        conversation = split_messages(spoken)
        return conversation, conversation.answer
    prompt = parse_json(value.get("gen_ai.prompt"))
    return (read_question(prompt if given is None else given) if prompt or given else EMPTY), None


def _answer(kind: str, value: Value) -> tuple[str | None, str | None]:
    """Return the answer of a span, and its reasoning."""
    given = next((value[name] for name in _OUTPUTS if value.get(name) is not None), None)
    if kind != LLM and given is not None:
        return read_answer(given)
    for name in _OUT:
        messages = _messages(parse_json(value.get(name)))
        if messages:
            conversation = split_messages([{"role": "assistant", **message} for message in messages])
            if conversation.answer is not None:
                return conversation.answer, conversation.thoughts
    return read_answer(value.get("gen_ai.completion") if given is None else given)


def _messages(value: Any) -> list[Mapping[str, Any]]:
    """Return messages, also of OpenInference, which puts each in an object `message`."""
    messages: list[Mapping[str, Any]] = []
    for entry in value if isinstance(value, list) else ():
        message = entry.get("message", entry) if isinstance(entry, Mapping) else {"role": "user", "content": entry}
        if isinstance(message, Mapping):
            message = {str(name).removeprefix("message."): content for name, content in message.items()}
            if isinstance(message.get("contents"), list):
                message["content"] = [
                    {"type": "text", **part.get("message_content", part)} for part in message["contents"]
                ]
            messages.append(message)
    return messages


def _with_lists(value: Value) -> Value:
    """Return attributes with the lists whose elements are attributes of their own, `NAME.0.role`, as lists."""
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for key, content in value.items():
        if (found := _ELEMENT.match(key)) is not None:
            _set(lists.setdefault(found[1], {}).setdefault(int(found[2]), {}), found[3], content)
    if not lists:
        return value
    return {
        **value,
        **{name: [_numbers_to_lists(entries[k]) for k in sorted(entries)] for name, entries in lists.items()},
    }


def _set(entry: dict[str, Any], path: str, content: Any) -> None:
    *outer, last = path.split(".")
    for name in outer:
        inner = entry.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        entry = inner
    entry[last] = content


def _numbers_to_lists(value: Any) -> Any:
    """Return nested objects whose names are all numbers as lists."""
    if not isinstance(value, dict):
        return value
    inner = {name: _numbers_to_lists(content) for name, content in value.items()}
    return list(inner.values()) if inner and all(name.isdigit() for name in inner) else inner


def _ratings(value: Value, events: Sequence[Mapping[str, Any]]) -> Iterator[SpanRating]:
    """Return the results of evaluations that are events of a span, or attributes `eval.NAME.score` of Phoenix."""
    for event in events:
        if event.get("name") == _EVALUATION:
            held = attributes(event.get("attributes"))
            why = f"there is only the label {shorten(held.get('gen_ai.evaluation.score.label'))}"
            name, score = held.get("gen_ai.evaluation.name"), number(held.get("gen_ai.evaluation.score.value"))
            yield SpanRating(str(name or "evaluation"), "otel", score, reason=why)
    for name, content in value.items():
        if name.startswith("eval.") and name.endswith(".score"):
            yield SpanRating(name[5:-6], "phoenix", number(content), reason="Phoenix gave no score")


FORMAT = Format(
    name="otel",
    title="OpenTelemetry: traces of models and retrievers, OTLP JSON",
    source="open-telemetry/opentelemetry-proto (OTLP JSON, as the file exporter of the collector writes it); "
    "open-telemetry/semantic-conventions, docs/gen-ai (gen_ai.input.messages, gen_ai.output.messages, "
    "gen_ai.retrieval.documents, gen_ai.evaluation.result and the events before them); Arize-ai/openinference, "
    "spec/semantic_conventions.md; traceloop/openllmetry (gen_ai.prompt.0.content, traceloop.entity.input)",
    gives=("queries", "turns", "references", "passages", "documents", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
    further="runs",
    lists=_LISTS,
    lines=lines,
)
