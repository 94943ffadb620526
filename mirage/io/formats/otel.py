"""Spans of OpenTelemetry with the conventions for generative AI, as OTLP JSON.

Attributes of three conventions are read: OpenTelemetry's own (`gen_ai.*`), OpenInference's (Phoenix, Arize) and those
of OpenLLMetry (Traceloop) and Langfuse. One trace is one answer: its question is the input of the outermost span, else
that of the retriever, else the last message of a user to the model; its answer is the output of the outermost span,
else that of the last model.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import first, number, stem
from mirage.io.formats.logs import entries, members, read_answer, read_passages, read_question
from mirage.io.formats.open import LOG, elements
from mirage.io.formats.shapes import Conversation, parse_json, split_messages, text
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, ShownPassage, Value, load_names
from mirage.io.options import inner
from mirage.io.values import identifier, shorten

_LISTS = (("resourceSpans", "*", "scopeSpans", "*", "spans"),)
_LLM, _RETRIEVER, _RERANKER = "llm", "retriever", "reranker"
_KINDS = {word: kind for kind, words in load_names("otel_kinds").items() for word in words}
_DOCUMENTS = load_names("otel_documents")
_NAMES = load_names("otel")
_ELEMENT = re.compile(
    r"(gen_ai\.prompt|gen_ai\.completion|llm\.(?:input|output)_messages|retrieval\.documents"
    r"|reranker\.output_documents)\.(\d+\..+)"
)
"""Name of an attribute that is part of an element of a list."""


def recognise(sample: Sample) -> str | None:
    """Detect OTLP JSON: documents of resource spans, also one a line."""
    name = next((name for name in ("resourceSpans", "scopeSpans") if name in sample.fields), None)
    return f"has {name}, as OTLP JSON" if name else None


def lines(file: Path) -> Iterator[tuple[Value, str]]:
    """Yield each span with its attributes, and those of its resource, as fields by name."""
    for value, where in elements(file, _LISTS):
        if LOG not in value:
            if not value.keys() & {"resourceSpans", "resourceLogs", "resourceMetrics"}:
                raise BadInput("this is no OTLP document: it has no resourceSpans", where=where, do="export OTLP JSON")
            continue
        resource = _attributes(inner(value[LOG], ("resourceSpans", "resource", "attributes")))
        span = {name: value[name] for name in value if name not in (LOG, "attributes")}
        yield resource | _attributes(value.get("attributes")) | span, where


def _attributes(given: Any) -> dict[str, Any]:
    """Return OTLP's list of keys and typed values as an object."""
    if not isinstance(given, list):
        return dict(members(given))
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
            return _attributes(content.get("values"))
        return int(content) if name == "intValue" else content
    return None


@dataclass(slots=True)
class _Span:
    """One span of a trace."""

    where: str
    value: Value
    """Its attributes and fields by name, with their lists and the contents of its events."""
    events: Sequence[Mapping[str, Any]]
    kind: str
    """A model, a retriever or a reranker; empty for any other."""
    asked: Conversation
    answer: str | None
    thoughts: str | None
    passages: Sequence[ShownPassage]

    def name(self, *names: str) -> str | None:
        """Return the name under the first of some attributes that has one.

        Raises:
            BadInput: if it is not a name.
        """
        found = next((name for name in names if self.value.get(name)), names[0])
        return identifier(self.value.get(found), found, self.where)


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Read each trace as one answer; spans may be in any order.

    Raises:
        BadInput: if no trace has a question.
    """
    traces: dict[str, list[_Span]] = {}
    for record in records:
        try:
            trace = identifier(first(record.value, "traceId", "trace_id"), "traceId", record.where)
            if trace is None:
                do = "export the spans again, with their ids"
                raise BadInput("this span has no traceId", where=record.where, do=do)
            traces.setdefault(trace, []).append(_span(record))
        except BadInput as error:
            builder.refuse(error)
    spans = list(chain.from_iterable(traces.values()))
    if other := sum(not (s.kind or s.asked.question or s.answer is not None or s.passages) for s in spans):
        builder.left_out("other spans", "they have no attribute of a model, a retriever or their caller", other)
    silent = 0
    for of_trace in traces.values():
        if (item := _item(of_trace, builder)) is None:
            silent += 1
        else:
            yield item
    if silent and silent == len(traces) and not builder.errors:
        raise BadInput(
            "no span holds a question",
            where=spans[0].where,
            do="record the content of messages (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or the "
            "option of your library), or name its field: --map THEIRS=question",
        )
    if silent:
        why = "no span of theirs has the text of a user or the input of a retriever"
        builder.left_out("traces without a question", why, silent)


def _span(record: Record) -> _Span:
    """Read question, answer and passages of a span."""
    events = [event for event in entries(record.value.get("events")) if isinstance(event, Mapping)]
    value = _with_lists(record.value)
    for event in events:
        if str(event.get("name", "")).startswith(("gen_ai.client.inference", "gen_ai.content")):
            value = {**_attributes(event.get("attributes")), **value}
    kind = _KINDS.get(next((str(value[name]).lower() for name in _NAMES["kind"] if value.get(name)), ""), "")
    answer, thoughts = _answer(kind, value)
    span = _Span(record.where, value, events, kind, _question(kind, value), answer, thoughts, ())
    for of_kind, names in _DOCUMENTS.items():
        for name in names:
            found = read_passages(value[name], span.where) if value.get(name) else ()
            if found and (span.kind in ("", of_kind) or name != "contexts"):
                span.passages, span.kind = found, span.kind or of_kind
    if span.kind == _RETRIEVER and not span.passages:
        span.passages = read_passages(first(value, *_NAMES["output"]), span.where)
        span.answer = None
    return span


def _question(kind: str, value: Value) -> Conversation:
    given = next((value[name] for name in _NAMES["input"] if value.get(name)), None)
    if kind in (_RETRIEVER, _RERANKER):
        return read_question(next((value[name] for name in _NAMES["query"] if value.get(name)), given))
    if kind != _LLM and given is not None:
        return read_question(given)
    for name in _NAMES["input_messages"]:
        conversation = split_messages(_messages(parse_json(value.get(name))))
        if conversation.question is not None:
            return conversation
    return read_question(parse_json(value.get("gen_ai.prompt")) if given is None else given)


def _answer(kind: str, value: Value) -> tuple[str | None, str | None]:
    """Return the answer of a span, and its reasoning."""
    given = next((value[name] for name in _NAMES["output"] if value.get(name) is not None), None)
    if kind == _LLM or given is None:
        for name in _NAMES["output_messages"]:
            messages = _messages(parse_json(value.get(name)))
            conversation = split_messages([{"role": "assistant", **message} for message in messages])
            if conversation.answer is not None:
                return conversation.answer, conversation.thoughts
    return read_answer(value.get("gen_ai.completion") if given is None else given)


def _messages(value: Any) -> list[Mapping[str, Any]]:
    """Return messages, also of OpenInference, which puts each in an object `message`."""
    messages: list[Mapping[str, Any]] = []
    for entry in entries(value):
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
    lists: dict[str, Any] = {}
    for key, content in value.items():
        if (found := _ELEMENT.match(key)) is not None:
            entry: Any = lists.setdefault(found[1], {})
            *outer, last = found[2].split(".")
            for name in outer:
                entry = entry.setdefault(name, {}) if isinstance(entry, dict) else None
            if isinstance(entry, dict):
                entry[last] = content
    return {**value, **{name: _numbers_to_lists(parts) for name, parts in lists.items()}} if lists else value


def _numbers_to_lists(value: Any) -> Any:
    """Return nested objects whose names are all numbers as lists."""
    if not isinstance(value, dict):
        return value
    parts = {name: _numbers_to_lists(content) for name, content in value.items()}
    return [parts[name] for name in sorted(parts, key=int)] if all(map(str.isdecimal, parts)) else parts


def _item(spans: list[_Span], builder: Builder) -> Item | None:
    """Return the content of a trace; None if it has no question."""
    spans.sort(key=lambda span: str(first(span.value, "startTimeUnixNano", "start_time") or "").rjust(20))
    known = {str(first(span.value, "spanId", "span_id")) for span in spans}
    top = next((s for s in spans if str(first(s.value, "parentSpanId", "parent_span_id")) not in known), spans[0])
    models = [span for span in spans if span.kind == _LLM]
    searches = [span for span in spans if span.kind in (_RETRIEVER, _RERANKER)]
    asked = next((s.asked for s in (top, *searches, *models[::-1], *spans) if s.asked.question), None)
    if asked is None:
        return None
    item = Item(
        asked.question,
        language=_first(span.name("language") for span in spans),
        reference=_first(text(span.value.get("reference"), "reference", span.where) for span in spans),
        turns=asked.turns,
        passages=_shown_passages(spans),
        where=top.where,
    )
    said = next((span.answer for span in (top, *models[::-1]) if span.answer is not None), None)
    failed = _first(map(_failure, spans)) if said is None else None
    if said is None and failed is None and not models:
        builder.left_out("traces without an answer", "neither the outermost span nor a model has an output")
        return item
    system, status = _system(spans, top, builder), "api_error" if failed else None
    thoughts = _first(span.thoughts for span in reversed(spans))
    item.answers = [GivenAnswer(system, said, status=status, reason=failed, thoughts=thoughts)]
    item.scores = [score for span in spans for score in _scores(span, system)]
    return item


def _system(spans: Sequence[_Span], top: _Span, builder: Builder) -> str:
    """Return the system of a trace: as named, else the model of its last call, else the service, else the file."""
    if named := _first(span.name("system") for span in (top, *spans)):
        return str(named)
    if model := _first(span.name(*_NAMES["model"]) for span in reversed(spans) if span.kind == _LLM):
        why = "named after the model that wrote the answer; for the service: --map service.name=system"
        builder.note_guess("system", why)
        return str(model)
    name = _first(span.name("service.name") for span in spans) or stem(top.where)
    builder.note_guess("system", f"no span names a model: named {name}; change it with --set system=NAME")
    return str(name)


def _shown_passages(spans: Sequence[_Span]) -> list[ShownPassage]:
    """Return the passages of a trace: of its last reranker, else of all its retrievers, without repetitions."""
    last = next((span for span in reversed(spans) if span.kind == _RERANKER and span.passages), None)
    every = [passage for span in ([last] if last else spans) for passage in span.passages]
    return list({(passage.passage_id, passage.text): passage for passage in every}.values())


def _failure(span: _Span) -> str | None:
    """Return the error message of a span; None if it did not fail."""
    status = members(span.value.get("status"))
    if str(status.get("code", "")) not in ("2", "STATUS_CODE_ERROR", "ERROR"):
        return None
    return str(status.get("message") or span.value.get("error.type") or "the span ended with an error")


def _scores(span: _Span, system: str) -> Iterator[GivenScore]:
    """Return the results of evaluations that are events of a span."""
    for event in span.events:
        if event.get("name") == "gen_ai.evaluation.result":
            held = _attributes(event.get("attributes"))
            why = f"there is only the label {shorten(held.get('gen_ai.evaluation.score.label'))}"
            name, score = held.get("gen_ai.evaluation.name"), number(held.get("gen_ai.evaluation.score.value"))
            yield GivenScore(system, str(name or "evaluation"), "otel", score, reason=why)


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value), None)


FORMAT = Format(*describe("otel"), recognise=recognise, read=read, further="runs", lists=_LISTS, lines=lines)
