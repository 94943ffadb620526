"""Inputs and results of RAGChecker: answers with their passages, and its metrics of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mirage.io.formats.fields import answer_text, need, number, system_of, text
from mirage.io.formats.logs import Answers, read_passages
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, Record, Sample

if TYPE_CHECKING:
    pass

_RATER = "ragchecker"
_FIELDS = ("query", "gt_answer", "response", "retrieved_context")
_CLAIMS = (
    "response_claims",
    "gt_answer_claims",
    "answer2response",
    "response2answer",
    "retrieved2response",
    "retrieved2answer",
)


def recognise(sample: Sample) -> str | None:
    """Detect results with a query, a response, the right answer and retrieved context."""
    for record in sample.records:
        inner = record.get("results")
        row = inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], Mapping) else record
        if row.keys() >= set(_FIELDS):
            return f"has {', '.join(_FIELDS)}, as RAGChecker"
    return None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each result as an answer; its metrics are scores, and the system is named after the file."""
    answers = Answers(builder)
    for record in records:
        query = builder.query(
            need(record, "query", "question"),
            where=record.where,
            query_id=text(record, "query_id"),
            language=text(record, "language"),
            reference=text(record, "gt_answer"),
        )
        passages = read_passages(record.value.get("retrieved_context"), record.where)
        shown = builder.passages(query, passages, where=record.where)
        system = system_of(record, builder)
        claims = [name for name in _CLAIMS if record.value.get(name)]
        for name in claims:
            builder.left_out(name, "claims of RAGChecker and their checks are not nuggets of the query")
        if not answers.add(
            query, GivenAnswer(system, answer_text(record, "response"), shown=shown), where=record.where
        ):
            continue
        metrics = record.value.get("metrics")
        for name, given in metrics.items() if isinstance(metrics, Mapping) else ():
            value = number(given)
            score = GivenScore(
                system,
                str(name),
                _RATER,
                value,
                person=False,
                reason=None if value is not None else "RAGChecker gave no value",
            )
            answers.score(query, score, where=record.where)


FORMAT = Format(
    name="ragchecker",
    title="RAGChecker: answers with passages and the right answer, and its metrics",
    source="amazon-science/RAGChecker, ragchecker/container.py at 0faca92 (RAGResults): input of ragchecker-cli, and "
    "its output",
    gives=("queries", "references", "passages", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
    lists=(("results",),),
)
