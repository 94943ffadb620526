"""Spans of traces, and the query, passages and answer that a trace holds.

One trace is one answer: its question is the input of the outermost span, else that of the retriever, else the last
message of a user to the model; its answer is the output of the outermost span, else that of the last model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder
from mirage.io.formats.fields import stem
from mirage.io.formats.shapes import EMPTY, Conversation
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, ShownPassage

LLM, RETRIEVER, RERANKER, OTHER = "llm", "retriever", "reranker", "other"


@dataclass(slots=True)
class SpanRating:
    """One score of a span or a trace."""

    measure: str
    rater: str
    value: float | None
    person: bool = False
    reason: str | None = None


@dataclass(slots=True)
class Span:
    """One span of a trace, as far as it is needed."""

    where: str
    trace: str
    span: str = ""
    parent: str | None = None
    start: str = ""
    """Its start, comparable within a file."""
    kind: str = OTHER
    asked: Conversation = EMPTY
    answer: str | None = None
    thoughts: str | None = None
    model: str | None = None
    system: str | None = None
    """The system, if a field names it."""
    service: str | None = None
    language: str | None = None
    reference: str | None = None
    passages: Sequence[ShownPassage] = ()
    ratings: Sequence[SpanRating] = ()
    failed: str | None = None
    """Error message; null if it has none."""


@dataclass(slots=True)
class Traces:
    """Spans by trace, in the order of the file."""

    builder: Builder
    spans: dict[str, list[Span]] = field(default_factory=dict)
    ratings: dict[str, list[SpanRating]] = field(default_factory=dict)
    """Ratings that come without a span, by trace."""

    def add(self, span: Span) -> None:
        """Add a span."""
        self.spans.setdefault(span.trace, []).append(span)

    def rate(self, trace: str, rating: SpanRating) -> None:
        """Add a rating of a trace."""
        self.ratings.setdefault(trace, []).append(rating)

    def items(self) -> Iterator[Item]:
        """Yield what each trace holds.

        Raises:
            BadInput: if no trace has a question.
        """
        silent = 0
        for name, spans in self.spans.items():
            if (item := self._item(name, spans)) is not None:
                yield item
            else:
                silent += 1
        if silent and silent == len(self.spans) and not self.builder.errors:
            raise BadInput(
                "no span holds a question",
                where=next(iter(self.spans.values()))[0].where,
                do="record the content of messages (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or the "
                "option of your library), or name its field: --map THEIRS=question",
            )
        if silent:
            why = "no span of theirs has the text of a user or the input of a retriever"
            self.builder.left_out("traces without a question", why, silent)
        if lost := len(self.ratings.keys() - self.spans.keys()):
            self.builder.left_out("scores of other traces", "their traces are not in the file", lost)

    def _item(self, name: str, spans: list[Span]) -> Item | None:
        """Return the content of a trace; None if it has no question."""
        spans.sort(key=lambda span: span.start)
        known = {span.span for span in spans}
        top = next((span for span in spans if span.parent not in known), spans[0])
        models = [span for span in spans if span.kind == LLM]
        searches = [span for span in spans if span.kind in (RETRIEVER, RERANKER)]
        asked = next((s.asked for s in (top, *searches, *models[::-1], *spans) if s.asked.question), None)
        if asked is None:
            return None
        item = Item(
            asked.question,
            language=_first(span.language for span in spans),
            reference=_first(span.reference for span in spans),
            turns=asked.turns,
            passages=_shown_passages(spans),
            where=top.where,
        )
        said = next((s for s in (top, *models[::-1]) if s.answer is not None), None)
        failed = _first(span.failed for span in spans) if said is None else None
        if said is None and failed is None and not models:
            self.builder.left_out("traces without an answer", "neither the outermost span nor a model has an output")
            return item
        system = self._system(spans, top)
        text, status = (said.answer if said else None), "api_error" if failed else None
        thoughts = _first(span.thoughts for span in reversed(spans))
        item.answers = [GivenAnswer(system, text, status=status, reason=failed, thoughts=thoughts)]
        item.scores = [
            GivenScore(system, rating.measure, rating.rater, rating.value, rating.person, reason=rating.reason)
            for ratings in (*(span.ratings for span in spans), self.ratings.get(name, ()))
            for rating in ratings
        ]
        return item

    def _system(self, spans: Sequence[Span], top: Span) -> str:
        """Return the system of a trace: as named, else the model of its last call, else the service, else the file."""
        if named := top.system or _first(span.system for span in spans):
            return str(named)
        if model := _first(span.model for span in reversed(spans) if span.kind == LLM):
            self.builder.note_guess(
                "system", "named after the model that wrote the answer; for the service: --map service.name=system"
            )
            return str(model)
        name = _first(span.service for span in spans) or stem(top.where)
        self.builder.note_guess("system", f"no span names a model: named {name}; change it with --set system=NAME")
        return name


def _shown_passages(spans: Sequence[Span]) -> list[ShownPassage]:
    """Return the passages of a trace: of its last reranker, else of all its retrievers, without repetitions."""
    last = next((span for span in reversed(spans) if span.kind == RERANKER and span.passages), None)
    every = [passage for span in ([last] if last else spans) for passage in span.passages]
    return list({(passage.passage_id, passage.text): passage for passage in every}.values())


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value), None)
