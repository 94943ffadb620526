"""Datasets of ragas: `user_input`, `retrieved_contexts`, `response`, `reference`, and its metrics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mirage.io.formats import rag, shapes, values
from mirage.io.formats.fields import answer_text, first, is_measure, list_field, number, system_of, text
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, QueryKey, Record, Sample
from mirage.io.formats.values import unpack

RATER = "ragas"
_QUERY = ("user_input", "question")
_ANSWER = ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_ID = ("query_id", "question_id", "id")
_NO_PLACE = {
    "rubrics": "an arena has no table of rubrics",
    "rubric": "an arena has no table of rubrics",
    "multi_responses": "an answer is one text of one system",
    "reference_tool_calls": "an arena has no table of calls of tools",
    "reference_topics": "an arena has no table of topics",
}
_KNOWN = frozenset(
    {*_QUERY, *_ANSWER, *_CONTEXTS, *_REFERENCE, *_ID, *_NO_PLACE, "system", "model", "model_name"}
    | {"reference_contexts", "language", "turns", "mirage", "index", "Unnamed: 0", ""}
)


def recognise(sample: Sample) -> str | None:
    """Detect ragas' field names, current or before 0.2."""
    if "user_input" in sample.fields and sample.fields & {*_ANSWER, *_CONTEXTS, "reference"}:
        return "has user_input with response, retrieved_contexts or reference"
    if {"question", "answer", "contexts"} <= sample.fields and sample.fields & {"ground_truth", "ground_truths"}:
        return "has question, answer, contexts and ground_truth"
    return None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each record as one answer of one system."""
    for record in records:
        _take(record, builder)


def _take(record: Record, builder: Builder) -> None:
    name, value = values.first(record.value, *_QUERY)
    asked = shapes.conversation(value, name, record.where)
    references = unpack(first(record.value, *_REFERENCE))
    reference = references[0] if isinstance(references, list) and references else references
    turns = asked.turns or shapes.turns(list_field(record, "turns"), "turns", record.where)
    query = builder.query(
        asked.question,
        where=record.where,
        query_id=text(record, *_ID),
        language=text(record, "language"),
        reference=shapes.text(reference, "reference", record.where),
        turns=turns,
    )
    answer = answer_text(record, *_ANSWER)
    answer = asked.answer if answer is None else answer
    shown = _passages(record, query, builder, answered=answer is not None)
    measures = {name: value for name, value in record.value.items() if name not in _KNOWN and is_measure(value)}
    if answer is not None or measures:
        system = system_of(record, builder)
        builder.answer(query, GivenAnswer(system, answer, shown=shown), where=record.where)
        for name, value in measures.items():
            score = number(value)
            reason = None if score is not None else "ragas gave no value"
            builder.score(
                query, GivenScore(system, name, RATER, score, person=False, reason=reason), where=record.where
            )
    for name, why in _NO_PLACE.items():
        if record.value.get(name) not in (None, "", [], {}):
            builder.left_out(name, why)


def _passages(record: Record, query: QueryKey, builder: Builder, *, answered: bool) -> tuple[str, ...]:
    """Add the passages of a record, and return their ids; in a test set, also those it refers to."""
    where = record.where
    name, value = values.first(record.value, *_CONTEXTS)
    retrieved, _ = rag.shown_passages(value, (), where, name)
    wanted, _ = rag.shown_passages(record.value.get("reference_contexts"), (), where, "reference_contexts")
    texts = {passage.text for passage in wanted}
    retrieved = [replace(passage, relevant=True) if passage.text in texts else passage for passage in retrieved]
    texts = {passage.text for passage in retrieved}
    others = [replace(passage, relevant=True, pooled=True) for passage in wanted if passage.text not in texts]
    if answered and others:
        builder.left_out("reference_contexts", "this system was not shown them", len(others))
    return builder.passages(query, retrieved if answered else [*retrieved, *others], where=where)


FORMAT = Format(
    name="ragas",
    title="ragas: an evaluation dataset, or the results of its metrics",
    source="explodinggradients/ragas, src/ragas/dataset_schema.py and messages.py at 01b7cac: the names of "
    "SingleTurnSample and MultiTurnSample, and results as EvaluationResult.to_pandas joins them; question, contexts, "
    "answer and ground_truth are the names before 0.2. ragas names neither systems nor queries: system, query_id and "
    "language are fields of ours.",
    gives=("queries", "turns", "references", "passages", "answers", "scores"),
    recognise=recognise,
    read=read,
)
