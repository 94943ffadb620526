"""Inputs and results of RAGChecker: answers with their passages, and its metrics of each."""

from __future__ import annotations

from collections.abc import Iterator

from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import answer_text, need, number, system_of, text
from mirage.io.formats.logs import members, read_passages
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample

_FIELDS = ("query", "gt_answer", "response", "retrieved_context")
_CLAIMS = (
    *("response_claims", "gt_answer_claims", "answer2response", "response2answer"),
    *("retrieved2response", "retrieved2answer"),
)


def recognise(sample: Sample) -> str | None:
    """Detect results with a query, a response, the right answer and retrieved context."""
    for record in sample.records:
        inner = record.get("results")
        row = members(inner[0]) if isinstance(inner, list) and inner else record
        if row.keys() >= set(_FIELDS):
            return f"has {', '.join(_FIELDS)}, as RAGChecker"
    return None


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    system = system_of(record, builder)
    for name in _CLAIMS:
        if record.value.get(name):
            builder.left_out(name, "claims of RAGChecker and their checks are not nuggets of the query")
    yield Item(
        need(record, "query", "question"),
        query_id=text(record, "query_id"),
        reference=text(record, "gt_answer"),
        passages=read_passages(record.value.get("retrieved_context"), record.where),
        answers=[GivenAnswer(system, answer_text(record, "response"))],
        scores=[
            GivenScore(system, str(name), "ragchecker", number(given), reason="RAGChecker gave no value")
            for name, given in members(record.value.get("metrics")).items()
        ],
    )


FORMAT = Format(
    name="ragchecker",
    title="RAGChecker: answers with passages and the right answer, and its metrics",
    source="amazon-science/RAGChecker, ragchecker/container.py at 0faca92 (RAGResults): input of ragchecker-cli, and "
    "its output",
    gives=("queries", "references", "passages", "answers", "samples", "scores"),
    recognise=recognise,
    items=_items,
    further="texts",
    lists=(("results",),),
)
